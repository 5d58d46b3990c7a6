// The oracle of seals: does what the ledger calls proved agree with what the platform shows? Asked while the platform
// stands still, right after a run. Needs no test runner.
import { addDays, startOf } from '../../src/day.ts';
import type { Instant, ListedResource, Proof, SliceState } from '../../src/model.ts';
import { readTime } from '../../src/platform/times.ts';
import { windowStart } from '../../src/simulator/list-query.ts';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import type { Queryable } from '../../src/store/db.ts';
import { sorted } from './differences.ts';

type Both = { simulator: Pick<Simulator, 'oracle' | 'dialect' | 'clock'>; db: Queryable };

/** A day that is called proved and is not what the platform shows. */
export type FalseSeal = NonNullable<ReturnType<typeof judge>>;

type Proved = {
  resource: ListedResource;
  owner: string;
  day: string;
  state: SliceState;
  proof: Proof;
};
type Known = ReturnType<typeof known>;

const overAfterMs = 15 * 60_000;

/** What was proved in this last while of the platform's clock was proved by the run just ended. */
const justNowMs = 30_000;

/** Every slice that the run just ended proved, and whose proof is not true. */
export async function falseSeals(both: Both): Promise<FalseSeal[]> {
  const since = both.simulator.clock.now() - justNowMs;
  const { rows } = await both.db.query<Proved>(
    `select resource, owner, day, state, proof from sync.slices
      where (proof <> 'none' or state = 'sealed') and state <> 'lost' and day > '0001-01-01' and proved_at >= $1
        -- A reading that went on from an earlier run may have shown what has gone since.
        and (project_id, resource, owner, day) not in
            (select project_id, resource, owner, day from sync.readings where ended_at >= $1 and began_at < $1)
      order by resource, owner, day`,
    [new Date(since).toISOString()],
  );
  const found: FalseSeal[] = [];
  for (const resource of ['orders', 'nft_classes'] as const) {
    const proved = rows.filter((row) => row.resource === resource);
    if (proved.length === 0) continue;
    const shown = [...both.simulator.oracle.shown(resource)].map(({ text }) => known(text));
    const held = await heldOf(both.db, resource);
    for (const one of proved) {
      const judged = judge(one, shown, held, both.simulator);
      if (judged !== null) found.push(judged);
    }
  }
  return found;
}

function judge(one: Proved, shown: Known[], held: Known[], { dialect, clock }: Both['simulator']) {
  const { from, to } = rangeOf(one.day, dialect().dates);
  const isOfIt = ({ at, owner }: Known): boolean =>
    at >= from && at < to && (one.owner === '' || owner === one.owner);
  const shownHere = shown.filter(isOfIt);
  const heldById = new Map(held.map((record) => [record.id, record]));
  const isUnderIt = ({ day, owner }: Known): boolean =>
    day === one.day && (one.owner === '' || owner === one.owner);
  // What has left the window is held all the same, and missed by nobody.
  const windowFrom = windowStart(clock.now(), dialect());
  const shownIds = new Set(shown.map(({ id }) => id));
  const isSealed = one.state === 'sealed';
  const result = {
    slice: `${one.resource} ${one.owner} ${one.day} ${one.state} ${one.proof}`,
    /** From the archive. */
    missing: shownHere.filter(({ id }) => !heldById.has(id)).map(({ id }) => id),
    /** In the archive. */
    extra: held
      .filter((record) => isUnderIt(record) && !shownIds.has(record.id) && record.at >= windowFrom)
      .map(({ id }) => id),
    other: shownHere
      .filter(({ id, text }) => heldById.has(id) && heldById.get(id)?.text !== text)
      .map(({ id }) => id),
    /** Sealed with so many orders pending, or before the day was over. */
    pending: isSealed ? shownHere.filter(({ pending }) => pending).length : 0,
    early: isSealed && clock.now() < to + overAfterMs,
  };
  const isFalse =
    result.missing.length + result.extra.length + result.other.length + result.pending > 0;
  return isFalse || result.early ? result : null;
}

/** The day as the platform reads it; where it does not filter by date, as its own time names it. */
function rangeOf(day: string, dates: string): { from: Instant; to: Instant } {
  const aheadMs = dates === 'utc+8' ? 8 * 3_600_000 : 0;
  return { from: startOf(day) - aheadMs, to: startOf(addDays(day, 1)) - aheadMs };
}

const isPending = (status: unknown): boolean => [1, '1', 'pending'].includes(status as string);

function known(text: string, day: string | null = null) {
  const record = JSON.parse(text) as Record<string, unknown>;
  const time = record['create_time'] ?? record['timestamp'];
  return {
    id: String(record['operation_id'] ?? record['id']),
    text: sorted(text),
    at: Date.parse(readTime(String(time)) ?? ''),
    owner: typeof record['owner'] === 'string' ? record['owner'] : '',
    pending: isPending(record['status']),
    /** Under which it is held. */
    day,
  };
}

/** What is held and not marked as missing. */
async function heldOf(db: Queryable, resource: ListedResource): Promise<Known[]> {
  const { rows } = await db.query<{ raw: string; day: string }>(
    `select raw::text, slice_day as day from archive.${resource} where missing_since is null`,
  );
  return rows.map(({ raw, day }) => known(raw, day));
}
