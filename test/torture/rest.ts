// What an archive must be when the platform has come to rest and all that was due is done: exact, whole, and proved as
// far as the platform allows it.
import { dayOf, daysIn, startOf, windowAt } from '../../src/day.ts';
import type { Simulator } from '../../src/simulator/server.ts';
import type { Queryable } from '../../src/store/db.ts';
import { differences } from '../support/differences.ts';
import { toldAtMost } from './evidence.ts';
import type { Memory } from './memory.ts';
import type { Drawn } from './world.ts';

const dayMs = 86_400_000;

export type World = {
  simulator: Simulator;
  memory: Memory;
  drawn: Pick<Drawn, 'dialect' | 'hardship'>;
};

/** Everything that is not as it must be, after the policy alone has decided what to do. */
export async function notAtRest(world: World, db: Queryable): Promise<string[]> {
  return [
    ...(await notExact(world, db)),
    ...(await notAccountedFor(world, db)),
    ...(await notSealed(world, db)),
  ];
}

const overAfterMs = 4 * 3_600_000;

/** P1, P5: what the platform shows now is what is held, and nothing else but what it no longer shows. */
export async function notExact(
  { simulator, memory, drawn }: World,
  db: Queryable,
): Promise<string[]> {
  const found = await differences({ simulator, db });
  // Also what came into being since the last look.
  memory.look();
  const now = simulator.clock.now();
  const { from } = windowAt(now);
  const wrong = found.filter((one) => {
    const { id, shown } = one;
    // What lies in the middle of a list that is cut at both ends is shown to nobody, or not any more.
    if (shown !== null && drawn.hardship?.showsAll === false) return false;
    const had = memory.find(id);
    if (had === null) return true;
    // Today is read by its list alone, and by status once it is over, in a zone that may be known to be some hours less.
    const isByStatus = (drawn.dialect.statusUnasked ?? 0) > 0;
    if (isByStatus && shown !== null && had.day >= memory.sliceOf(now - overAfterMs)) return false;
    if (shown === null) return had.hiddenAt === null && !memory.isOutOfWindow(had, now);
    // Where classes outlive their month, older ones are read when somebody asks for them; where days end before UTC's,
    // tomorrow's are read when UTC's tomorrow has come.
    return (drawn.dialect.classesWindow !== false || had.day >= from) && had.day <= dayOf(now);
  });
  return wrong
    .slice(0, toldAtMost)
    .map(
      ({ id, archived, shown }) =>
        `in the end the archive is not exact: ${id} is shown as ${shown} and held as ${archived}`,
    );
}

/** P7: every day of the window is in the ledger. */
async function notAccountedFor({ simulator, memory }: World, db: Queryable): Promise<string[]> {
  const now = simulator.clock.now();
  const { rows } = await db.query<{ name: string }>(
    `select resource || ' ' || day as name
       from unnest(array['orders', 'nft_classes']) resource, unnest($1::date[]) day
     except select resource || ' ' || day from sync.slices
      limit $2`,
    [
      // At noon it is the same day in every zone that a platform may count by. Behind UTC today may not have begun.
      daysIn(windowAt(now))
        .filter((day) => day <= memory.sliceOf(now))
        .map((day) => memory.sliceOf(startOf(day) + dayMs / 2)),
      toldAtMost,
    ],
  );
  return rows.map(({ name }) => `in the end ${name} is not in the ledger`);
}

/**
 * P6: every day of the window that was over two days ago is sealed, but for orders that stay pending: where a day shows
 * nothing, its second reading comes a day after the first. Where the platform cannot be proved, it is read whole at least: walked, and never lost.
 */
async function notSealed({ simulator, memory, drawn }: World, db: Queryable): Promise<string[]> {
  const now = simulator.clock.now();
  const { rows } = await db.query<{ name: string }>(
    `select format('%s %s is %s: %s (%s)', resource, day, state, why, last_error) as name
       from sync.slices
      where day >= $1 and day < $2 and state <> all ($3) and (unresolved = 0 or state <> 'walked')
      order by day limit $4`,
    [
      windowAt(now).from,
      memory.sliceOf(now - 2 * dayMs),
      drawn.hardship?.isProvable === false ? ['sealed', 'walked'] : ['sealed'],
      toldAtMost,
    ],
  );
  return rows.map(({ name }) => `in the end ${name}`);
}
