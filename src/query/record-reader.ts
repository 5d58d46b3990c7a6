// Reading one list of days: its pages, its stream and its single records, the same for orders and classes, now and as
// of an instant. Arguments are checked and cursors are read and written here; what is read is list-now.ts and
// list-as-of.ts.
import type { ListedResource } from '../model.ts';
import { contentArguments, parseArguments, recordArguments } from './arguments.ts';
import { historyOf } from './contents.ts';
import { readCursor, writeCursor } from './list-order.ts';
import { fingerprintOf } from './cursor.ts';
import { seenBy } from './list-order.ts';
import { createListNow } from './list-now.ts';
import { createListThen, isThen } from './list-as-of.ts';
import type { Reader } from './reader.ts';
import type { ListedItem, ListedSource } from './source.ts';
import type { Records } from './types.ts';

export function createRecords<Item extends ListedItem, Filters extends object, PublicFilters>(
  reader: Reader,
  source: ListedSource<Item, Filters>,
): Records<Item, PublicFilters> {
  const { name, resource } = source;
  const now = createListNow(reader, source);
  const then = createListThen(reader, source);
  return {
    list: async (given) => {
      const query = parseArguments(`${name}.list`, source.arguments.list, given);
      const { limit, cursor, offset, ...scope } = query;
      const fingerprint = fingerprintOf(resource, scope);
      const from = cursor === undefined ? null : readCursor(cursor, fingerprint, scope);
      const { items, previous, next } = isThen(query)
        ? await then.page(query, from, limit)
        : await now.page(query, from, limit, offset);
      return {
        items,
        next: next === null ? null : writeCursor(fingerprint, 'after', next),
        previous: previous === null ? null : writeCursor(fingerprint, 'before', previous),
      };
    },
    count: async (given) => {
      const scope = parseArguments(`${name}.count`, source.arguments.stream, given);
      return isThen(scope) ? then.count(scope) : now.count(scope);
    },
    stream: (given) => {
      // Checked at the call, not at the first step: that is where the mistake stands.
      const scope = parseArguments(`${name}.stream`, source.arguments.stream, given);
      return (async function* () {
        const seen = seenBy(source.table, await horizon(reader, scope.project, resource));
        yield* isThen(scope) ? then.stream(scope, seen) : now.stream(scope, seen);
      })();
    },
    get: async (project, id, at = {}) => {
      const key = parseArguments(`${name}.get`, contentArguments, { project, id, ...at });
      const { asOf } = key;
      return asOf === undefined
        ? now.get(key.project, key.id)
        : then.get(key.project, key.id, asOf);
    },
    history: async (project, id) => {
      const key = parseArguments(`${name}.history`, recordArguments, { project, id });
      return historyOf(reader, source.contents, key.project, key.id);
    },
  };
}

/**
 * The instant a stream is of: nothing held by now is first seen later. Our own clock alone would not do, for
 * `first_seen_at` is the platform's, which may be ahead; the newest page held is the platform's word for now.
 */
async function horizon(reader: Reader, project: string, resource: ListedResource): Promise<string> {
  const { rows } = await reader.query<{ horizon: string }>(
    `select greatest(clock_timestamp(), max(newest_page_at)) as horizon
       from analytics.coverage where project_id = $1 and resource = $2`,
    [project, resource],
  );
  return rows[0]?.horizon ?? 'infinity';
}
