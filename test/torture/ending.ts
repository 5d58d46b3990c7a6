// The end of a world: faults off, the clock stands still, whoever is left leaves in order, and the archive is brought to
// its end by the policy alone, hour by hour and day by day. Then it must be exact, whole and at rest.
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dayOf, daysIn, monthStart, startOf, windowAt } from '../../src/day.ts';
import type { Queryable } from '../../src/store/db.ts';
import { differences } from '../support/differences.ts';
import type { Chance } from './chance.ts';
import { toldAtMost, withClient } from './evidence.ts';
import { calm, type Stage } from './stage.ts';
import { noFaults } from './world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Every wait of the policy lies below one of these: a failed slice's hour, a recount's day, twice for what vanished. */
const pausesMs = [61 * minuteMs, 25 * hourMs, 61 * minuteMs, 25 * hourMs];
const syncsAtMost = 30;
const leavesWithinMs = 30_000;
const endsWithinMs = 120_000;

/** Leaves the archive at rest; what is wrong is reported. */
export async function bringToRest(stage: Stage, chance: Chance): Promise<void> {
  const { simulator, memory } = stage;
  simulator.setFaults(noFaults);
  simulator.clock.setSpeed(0);
  simulator.setDialect({ keyLifeMs: 0, keyLifeRequests: 0 });
  await calm(stage);
  await everybodyLeaves(stage);
  await syncToTheEnd(stage, chance);
  // Around the end of a month absence proves nothing: the quiet days of the next one are waited for.
  const day = dayOf(simulator.clock.now());
  const isNearTheEnd = Number(day.slice(8)) > 20;
  const isNearTheBeginning = Number(day.slice(8)) === 1;
  if (isNearTheEnd || isNearTheBeginning) {
    memory.look();
    simulator.setNow(startOf(addDays(monthStart(day, isNearTheEnd ? 1 : 0), 2)) + 12 * hourMs);
  }
  for (const pauseMs of pausesMs) {
    memory.look();
    simulator.advance(pauseMs);
    await syncToTheEnd(stage, chance);
  }
  const byPolicy = await withClient(stage.address, async (db) => [
    ...(await notExact(stage, db, await daysWithPending(db))),
    ...(await notAccountedFor(stage, db)),
    ...(await notAtRest(stage, db)),
  ]);
  for (const sentence of byPolicy) stage.report(sentence);
  // And once more with every day read because a person asks for it.
  const { from, to } = windowAt(simulator.clock.now());
  await syncToTheEnd(stage, chance, ['--from', from, '--to', addDays(to, -1)]);
  const byOrder = await withClient(stage.address, (db) => notExact(stage, db, new Set()));
  for (const sentence of byOrder) stage.report(sentence);
}

/** Days that wait for orders are not counted meanwhile: what comes late there is found when their month closes. */
async function daysWithPending(db: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ day: string }>(
    'select distinct day::text from sync.slices where unresolved > 0',
  );
  return new Set(rows.map(({ day }) => day));
}

/** SIGTERM: each finishes the page in flight and ends with 0, or with 75 where it was at work. */
async function everybodyLeaves({ replicas, report }: Stage): Promise<void> {
  for (const replica of replicas.alive()) {
    replica.child.kill('SIGTERM');
    const ended = await Promise.race([
      replica.ended,
      sleep(leavesWithinMs, undefined, { ref: false }),
    ]);
    if (ended === undefined) report(`replica ${replica.number} does not leave when it is told to`);
  }
}

/** Until nothing due is left: what a killed process held is free again when its lease is over. */
export async function syncToTheEnd(
  stage: Stage,
  chance: Chance,
  more: string[] = [],
): Promise<void> {
  let said = '';
  // Ends: syncsAtMost.
  for (let i = 0; i < syncsAtMost; i++) {
    const replica = await stage.replicas.start(['sync', ...more], chance);
    const ended = await Promise.race([
      replica.ended,
      sleep(endsWithinMs, undefined, { ref: false }),
    ]);
    if (ended === undefined) {
      stage.report(`a sync does not end within ${endsWithinMs / 1000} s`);
      return;
    }
    if (ended.code === 0) return;
    ({ said } = ended);
    await sleep(400);
  }
  stage.report(`the sync comes to no end: ${said.trimEnd().split('\n').slice(-3).join(' | ')}`);
}

/** P1, P5: what the platform shows now is what is held, and nothing else but what it no longer shows. */
async function notExact(
  stage: Stage,
  db: Queryable,
  except: ReadonlySet<string>,
): Promise<string[]> {
  const { simulator, memory } = stage;
  const found = await differences({ simulator, db });
  const now = simulator.clock.now();
  const wrong = found.filter(({ id, shown }) =>
    shown === null ? !memory.isGone(id, now) : !except.has(memory.dayOf(id) ?? ''),
  );
  return wrong
    .slice(0, toldAtMost)
    .map(
      ({ id, archived, shown }) =>
        `in the end the archive is not exact: ${id} is shown as ${shown} and held as ${archived}`,
    );
}

/** P7: every day of the window is in the ledger. */
async function notAccountedFor({ simulator }: Stage, db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select resource || ' ' || day as name
       from unnest(array['orders', 'nft_classes']) resource, unnest($1::date[]) day
     except select resource || ' ' || day from sync.slices
      limit $2`,
    [daysIn(windowAt(simulator.clock.now())), toldAtMost],
  );
  return rows.map(({ name }) => `in the end ${name} is not in the ledger`);
}

/** P6, as far as the platform allows it: every past day of the window is sealed, but for orders that stay pending. */
async function notAtRest({ simulator, drawn }: Stage, db: Queryable): Promise<string[]> {
  const now = simulator.clock.now();
  const provable = [
    ...(drawn.dialect.totals === 'present' ? ['orders'] : []),
    ...(drawn.dialect.classTotals === 'present' ? ['nft_classes'] : []),
  ];
  const { rows } = await db.query<{ name: string }>(
    `select format('%s %s is %s by %s (%s)', resource, day, state, proof, last_error) as name
       from sync.slices
      where resource = any ($1::text[]) and day >= $2 and day < $3
        and state <> 'sealed' and unresolved = 0
      order by day limit $4`,
    [provable, windowAt(now).from, dayOf(now), toldAtMost],
  );
  return rows.map(({ name }) => `in the end ${name}`);
}
