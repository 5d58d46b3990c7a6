// Contents written as a page's commit writes them, whenever they are said to have been observed: for tests of what was
// known when.
import { expect } from 'vitest';
import { parseJson } from '../../src/platform/json.ts';
import { isReject, readListed } from '../../src/platform/parse.ts';
import { withTx, type Db, type Tx } from '../../src/store/db.ts';
import { writeInto } from '../../src/store/records.ts';
import type { Archived } from '../../src/store/record-tables.ts';
import type { ApiVersion, Day, ListedResource, ParsedRecord } from '../../src/model.ts';

/** What the code makes of a record: an object, or its JSON text where that matters. */
export function parsed(
  resource: ListedResource,
  record: object | string,
  askedDay = '2026-03-05',
): ParsedRecord {
  const text = typeof record === 'string' ? record : JSON.stringify(record);
  const read = readListed(resource, parseJson(text), text, askedDay);
  if (isReject(read)) throw new Error(read.reason);
  return read;
}

/**
 * Archives what a page showed at a moment; `shownBy`: a page of that day's list. `meanwhile` is what happens before that
 * is committed.
 */
export async function observe(
  db: Db,
  of: { project: string; resource: ListedResource; shownBy?: Day },
  records: (object | string)[],
  at: string,
  meanwhile?: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  const { project: projectId, resource, shownBy: day } = of;
  const told = { kind: 'contents' as const, says: {} };
  const entry =
    day === undefined ? undefined : { place: { projectId, resource, owner: '', day }, told };
  const observed = records.map((record) => ({
    record: parsed(resource, record),
    observedAt: Date.parse(at),
  }));
  await withTx(db, async (tx) => {
    await writeInto(tx, { projectId, resource }, observed, Date.parse(at), entry);
    await meanwhile?.(tx);
  });
}

/** Resolves once somebody waits for what this transaction ends with. */
export const waitedFor = (tx: Tx): Promise<void> =>
  expect
    .poll(async () => {
      const { rows } = await tx.query(
        `select from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`,
      );
      return rows.length;
    })
    .toBe(1);

/** The same for what no list shows: a result of a lookup, or a token. */
export async function observeUnlisted(
  db: Db,
  of: { project: string; lookup: ApiVersion | 'tokens' },
  record: ParsedRecord,
  at: string,
): Promise<void> {
  const { project: projectId, lookup } = of;
  const archived: Archived =
    lookup === 'tokens'
      ? { projectId, resource: 'tokens' }
      : { projectId, resource: 'transactions', apiVersion: lookup };
  const observed = [{ record, observedAt: Date.parse(at) }];
  await withTx(db, (tx) => writeInto(tx, archived, observed, Date.parse(at)));
}
