// The oracle of seals: does what the ledger calls proved agree with what the platform shows? Asked while the platform
// stands still, right after a run. Needs no test runner.
import { addDays, monthStart, startOf } from '../../src/day.ts';
import type { Instant, ListedResource, Proof, SliceState } from '../../src/model.ts';
import { readTime } from '../../src/platform/times.ts';
import { windowStart } from '../../src/simulator/query.ts';
import type { Simulator } from '../../src/simulator/server.ts';
import type { Queryable } from '../../src/store/db.ts';
import { sorted } from './differences.ts';

type Both = { simulator: Pick<Simulator, 'oracle' | 'dialect' | 'clock'>; db: Queryable };

/**
 * A day that is called proved and is not what the platform shows: `missing` from the archive, `extra` in it, or
 * `other`.
 */
export type FalseSeal = {
  slice: string;
  missing: string[];
  extra: string[];
  other: string[];
  /** Sealed with so many orders pending, or before the day was over. */
  pending: number;
  early: boolean;
};

type Proved = {
  resource: ListedResource;
  owner: string;
  day: string;
  state: SliceState;
  proof: Proof;
};
type Known = { id: string; text: string; at: Instant; owner: string; pending: boolean };

const overAfterMs = 15 * 60_000;

/** What was proved in this last while of the platform's clock was proved by the run just ended. */
const justNowMs = 30_000;

/** Every slice that the run just ended proved, and whose proof is not true. */
export async function falseSeals(both: Both): Promise<FalseSeal[]> {
  const since = both.simulator.clock.now() - justNowMs;
  const { rows } = await both.db.query<Proved>(
    `select resource, owner, day, state, proof from sync.slices
      where (proof <> 'none' or state = 'sealed') and state <> 'lost' and day > '0001-01-01' and proved_at >= $1
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

function judge(
  one: Proved,
  shown: Known[],
  held: Known[],
  { dialect, clock }: Both['simulator'],
): FalseSeal | null {
  const { from, to } = rangeOf(one.day, dialect().dates);
  const isOfIt = ({ at, owner }: Known): boolean =>
    at >= from && at < to && (one.owner === '' || owner === one.owner);
  const shownHere = shown.filter(isOfIt);
  const heldHere = new Map(held.filter(isOfIt).map((record) => [record.id, record]));
  // What has left the window is held all the same, and missed by nobody.
  const windowFrom = windowStart(clock.now(), dialect());
  const shownIds = new Set(shownHere.map(({ id }) => id));
  const isSealed = one.state === 'sealed';
  const result: FalseSeal = {
    slice: `${one.resource} ${one.owner} ${one.day} ${one.state} ${one.proof}`,
    missing: shownHere.filter(({ id }) => !heldHere.has(id)).map(({ id }) => id),
    extra: [...heldHere.values()]
      .filter(({ id, at }) => !shownIds.has(id) && at >= windowFrom)
      .map(({ id }) => id),
    // A count proves how many there are, not what they say; so does a tail, but for the last page.
    other:
      !isSealed || one.proof === 'counts'
        ? []
        : shownHere
            .filter(({ id, text }) => heldHere.has(id) && heldHere.get(id)?.text !== text)
            .map(({ id }) => id),
    pending: isSealed ? shownHere.filter(({ pending }) => pending).length : 0,
    early: isSealed && clock.now() < to + overAfterMs,
  };
  const isFalse =
    result.missing.length + result.extra.length + result.other.length + result.pending > 0;
  return isFalse || result.early ? result : null;
}

/** The day as the platform reads it, or its month where it does not filter by date. */
function rangeOf(day: string, dates: string): { from: Instant; to: Instant } {
  if (dates === 'ignored') {
    return { from: startOf(monthStart(day)), to: startOf(monthStart(day, 1)) };
  }
  const aheadMs = ({ 'utc+8': 8, 'utc-8': -8 }[dates] ?? 0) * 3_600_000;
  return { from: startOf(day) - aheadMs, to: startOf(addDays(day, 1)) - aheadMs };
}

const isPending = (status: unknown): boolean => [1, '1', 'pending'].includes(status as string);

function known(text: string): Known {
  const record = JSON.parse(text) as Record<string, unknown>;
  const time = record['create_time'] ?? record['timestamp'];
  return {
    id: String(record['operation_id'] ?? record['id']),
    text: sorted(text),
    at: Date.parse(readTime(String(time)) ?? ''),
    owner: typeof record['owner'] === 'string' ? record['owner'] : '',
    pending: isPending(record['status']),
  };
}

/** What is held and not marked as missing. */
async function heldOf(db: Queryable, resource: ListedResource): Promise<Known[]> {
  const { rows } = await db.query<{ raw: string }>(
    `select raw::text from archive.${resource} where missing_since is null`,
  );
  return rows.map(({ raw }) => known(raw));
}
