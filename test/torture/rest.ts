// The end of a world: faults off, the clock stands still, whoever is left leaves in order, and the archive is brought to
// its end by the policy alone, hour by hour and day by day. Then it must be exact, whole and sealed.
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dayOf, daysIn, monthStart, startOf, windowAt } from '../../src/day.ts';
import { onlyRow, type Queryable } from '../../src/store/db.ts';
import { differences } from '../support/differences.ts';
import { toldAtMost } from './checks.ts';
import { lastLines, type Ended, type Replica } from './replicas.ts';
import { calm, inCalm, type Stage } from './stage.ts';
import { dayMs, hourMs, noFaults, type Drawn } from './world.ts';

/**
 * The second reading comes two hours after the first, a day where nothing is shown; what vanished is waited for a day,
 * and then two more readings are.
 */
const pausesMs = [3, 25, 3, 25, 3, 25].map((hours) => hours * hourMs);
const syncsAtMost = 10;
const endsWithinMs = 120_000;

/** Leaves the archive at rest; what is wrong is reported. */
export async function bringToRest(stage: Stage): Promise<void> {
  const { simulator, memory, replicas, note, report } = stage;
  simulator.setFaults(noFaults);
  simulator.clock.setSpeed(0);
  simulator.setDialect({ keyLifeRequests: 0, lagMs: 0 });
  await calm(stage);
  // SIGTERM: each finishes what is in flight.
  for (const replica of replicas.alive()) {
    replica.child.kill('SIGTERM');
    await endOf(stage, replica);
  }
  // Around the end of a month absence proves nothing: the quiet days of the next one are waited for.
  const day = dayOf(simulator.clock.now());
  const isNearTheEnd = Number(day.slice(8)) > 20;
  if (isNearTheEnd || day.endsWith('-01')) {
    memory.look();
    simulator.setNow(startOf(addDays(monthStart(day, isNearTheEnd ? 1 : 0), 2)) + 12 * hourMs);
  }
  for (const pauseMs of pausesMs) {
    memory.look();
    simulator.advance(pauseMs);
    note(`at rest: ${new Date(simulator.clock.now()).toISOString()}`);
    await syncToTheEnd(stage);
  }
  for (const sentence of await inCalm(stage, (db) => notAtRest(stage, db))) report(sentence);
  // Outlast's own opinion of what it holds, certificates included.
  const verified = await endOf(stage, await replicas.start('verify'));
  if (verified !== null && verified.code !== 0) {
    report(`in the end outlast verify says ${verified.code}: ${lastLines(verified.said)}`);
  }
}

/** Until nothing due is left: time stands still, so what failed a moment ago is soon done. */
async function syncToTheEnd(stage: Stage): Promise<void> {
  // Ends: syncsAtMost.
  for (let i = 1; ; i++) {
    const ended = await endOf(stage, await stage.replicas.start('sync'));
    if (ended === null || ended.code === 0) return;
    if (i === syncsAtMost) {
      return stage.report(`the sync comes to no end: ${lastLines(ended.said)}`);
    }
    await sleep(400);
  }
}

/** Null, and a finding, where it does not end. */
export async function endOf({ report }: Stage, replica: Replica): Promise<Ended | null> {
  const timeUp = sleep(endsWithinMs, null, { ref: false });
  const ended = await Promise.race([replica.ended, timeUp]);
  if (ended === null) report(`replica ${replica.number} (${replica.args.join(' ')}) does not end`);
  return ended;
}

type World = Pick<Stage, 'simulator' | 'memory'> & { drawn: Pick<Drawn, 'oddity'> };

/** Everything that is not as it must be, after the policy alone has decided what to do. */
export async function notAtRest(world: World, db: Queryable): Promise<string[]> {
  const found = [...(await notExact(world, db)), ...(await notSealed(world, db))];
  return found.map((sentence) => `in the end ${sentence}`);
}

/** P1, P5: what the platform shows now is what is held, and nothing else but what it no longer shows. */
async function notExact({ simulator, memory, drawn }: World, db: Queryable): Promise<string[]> {
  const found = await differences({ simulator, db });
  // Also what came into being since the last look.
  memory.look();
  const now = simulator.clock.now();
  const { first } = onlyRow(
    await db.query<{ first: string }>('select first_day::text as first from sync.projects'),
  );
  const wrong = found.filter(({ id, shown, archived }) => {
    const had = memory.find(id);
    if (had === null) return true;
    if (shown === null) return had.hiddenAt === null && !memory.isOutOfWindow(had, now);
    // By its own zone's clock it still shows some of a month that has gone in UTC, and is not asked for that any more:
    // what is held of it may be older, and of what had gone before the archive began nothing is.
    if (had.createdAt < startOf(windowAt(now).from))
      return archived === null && had.createdAt >= startOf(first);
    // Today is read by its list alone, and by status once it is over.
    const isByStatus = drawn.oddity.statusUnasked !== undefined;
    return !(isByStatus && dayOf(had.createdAt) >= dayOf(now - hourMs));
  });
  return wrong
    .slice(0, toldAtMost)
    .map(({ id, archived, shown }) => `${id} is shown as ${shown} and held as ${archived}`);
}

/**
 * P6, P7: every day of the window is in the ledger, and each that was over two days ago is sealed, but for orders that
 * stay pending: where a day shows nothing, its second reading comes a day after the first.
 */
async function notSealed({ simulator }: World, db: Queryable): Promise<string[]> {
  const now = simulator.clock.now();
  const { rows } = await db.query<{ sentence: string }>(
    `select case when state is null then format('%s %s is not in the ledger', resource, day)
                 else format('%s %s is %s: %s (%s)', resource, day, state, why, last_error) end as sentence
       from unnest(array['orders', 'nft_classes']) resource
      cross join unnest($1::date[]) day
       left join sync.slices using (resource, day)
      where state is null or (day < $2 and state <> 'sealed' and (unresolved = 0 or state <> 'walked'))
      order by day limit $3`,
    [daysIn(windowAt(now)).filter((day) => day <= dayOf(now)), dayOf(now - 2 * dayMs), toldAtMost],
  );
  return rows.map(({ sentence }) => sentence);
}
