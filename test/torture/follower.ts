// Somebody who keeps a copy in step with the archive, through everything that is done to it: reads the feed of changes,
// breaks off anywhere, and goes on from the position of the last change taken. In the end the copy is the archive.
import { setTimeout as sleep } from 'node:timers/promises';
import { openArchive, type Archive, type Change } from '../../src/index.ts';
import { onlyRow } from '../../src/store/db.ts';
import type { Chance } from './chance.ts';
import { withClient } from './evidence.ts';
import type { Stage } from './stage.ts';

export type Follower = {
  /** Reads what is left, and reports every difference between the copy and the archive. */
  check(): Promise<void>;
  close(): Promise<void>;
};

type Copied = { sha256: string | null; isMissing: boolean };

/** Reads the database past the wires: what the feed tells is the subject, not how a connection breaks. */
export function createFollower({ address, report }: Stage, chance: Chance): Follower {
  const copy = new Map<string, Copied>();
  const taken = new Set<string>();
  let position: string | undefined;
  let isClosed = false;
  let archive: Archive | null = null;

  const take = (change: Change): void => {
    const { id, resource, apiVersion, rawSha256 } = change;
    const key = `${resource} ${apiVersion ?? ''} ${id}`;
    const held = copy.get(key) ?? { sha256: null, isMissing: false };
    if (taken.has(change.position)) report(`the feed told twice: ${change.change} ${key}`);
    taken.add(change.position);
    ({ position } = change);
    if (change.change === 'missing') held.isMissing = true;
    else if (change.change === 'found') held.isMissing = false;
    else if (change.change !== 'late') held.sha256 = rawSha256;
    copy.set(key, held);
  };

  async function read(share: number): Promise<boolean> {
    archive ??= await openArchive({ connectionString: address, max: 1 });
    const { items, isUpToDate } = await archive.changes.list({
      project: 'p',
      limit: chance.between(1, 300),
      ...(position === undefined ? {} : { after: position }),
    });
    const most = Math.ceil(items.length * share);
    for (const change of items.slice(0, most)) take(change);
    return isUpToDate && most === items.length;
  }

  const reading = (async () => {
    for (;;) {
      if (isClosed) return;
      // The server is stopped and started as well: whoever reads asks again.
      await read(chance.unit()).catch(() => undefined);
      await sleep(chance.between(1, 60));
    }
  })();

  return {
    async check() {
      isClosed = true;
      await reading;
      const held = await withClient(address, async (db) => {
        // Ends: nobody writes any more.
        while (!(await read(1))) await sleep(1);
        return onlyRow(
          await db.query<{ changes: number; records: Record<string, string> }>(
            `select (select count(*)::int from analytics.changes where project_id = 'p') as changes,
                    (select coalesce(json_object_agg(key, sha || case when missing_since is null then '' else ' missing' end), '{}')
                       from (select 'orders  ' || operation_id as key, encode(raw_sha256, 'hex') as sha, missing_since
                               from archive.orders where project_id = 'p'
                              union all
                             select 'nft_classes  ' || id, encode(raw_sha256, 'hex'), missing_since
                               from archive.nft_classes where project_id = 'p'
                              union all
                             select concat_ws(' ', 'transactions', api_version, operation_id), encode(raw_sha256, 'hex'), null
                               from archive.transactions where project_id = 'p'
                              union all
                             select 'tokens  ' || symbol, encode(raw_sha256, 'hex'), missing_since
                               from archive.tokens where project_id = 'p') r) as records`,
          ),
        );
      });
      if (taken.size !== held.changes) {
        report(`the feed told ${taken.size} of ${held.changes} changes`);
      }
      const { records } = held;
      for (const key of new Set([...copy.keys(), ...Object.keys(records)])) {
        const one = copy.get(key);
        const copied = one && `${String(one.sha256)}${one.isMissing ? ' missing' : ''}`;
        if (copied !== records[key]) {
          report(`a copy by the feed differs: ${key} is ${String(copied)}, not ${records[key]}`);
        }
      }
    },
    async close() {
      isClosed = true;
      await reading;
      await archive?.close();
    },
  };
}
