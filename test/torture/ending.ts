// The end of a world: faults off, the clock stands still, whoever is left leaves in order, and the archive is brought
// to its end by the policy alone, hour by hour and day by day. Then it must be exact, whole and at rest.
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dayOf, monthStart, startOf, windowAt } from '../../src/day.ts';
import type { Chance } from './chance.ts';
import { withClient } from './evidence.ts';
import { notAtRest, notExact } from './rest.ts';
import { calm, insist, type Stage } from './stage.ts';
import { noFaults } from './world.ts';

const hourMs = 3_600_000;

/**
 * The second reading comes two hours after the first, a day where nothing is shown; what vanished is waited for a day, and
 * then two more readings are.
 */
const pausesMs = [3, 25, 3, 25, 3, 25].map((hours) => hours * hourMs);
const syncsAtMost = 30;
/** Of those that are asked for all days, where some of them are left whatever is done. */
const enoughSyncs = 3;
const leavesWithinMs = 30_000;
const endsWithinMs = 120_000;

/** Leaves the archive at rest; what is wrong is reported. */
export async function bringToRest(stage: Stage, chance: Chance): Promise<void> {
  const { simulator, memory, note } = stage;
  simulator.setFaults(noFaults);
  simulator.clock.setSpeed(0);
  simulator.setDialect({ keyLifeRequests: 0, lagMs: 0 });
  await calm(stage);
  await everybodyLeaves(stage);
  // What failed lately waits, and time stands still.
  await syncToTheEnd(stage, chance, [], true);
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
    note(`at rest: ${new Date(simulator.clock.now()).toISOString()}`);
    await syncToTheEnd(stage, chance);
  }
  const byPolicy = await insist(stage, () =>
    withClient(stage.address, (db) => notAtRest(stage, db)),
  );
  for (const sentence of byPolicy) stage.report(sentence);
  note('at rest: every day is read because a person asks');
  // And once more with every day read because a person asks for it.
  const { from, to } = windowAt(simulator.clock.now());
  await syncToTheEnd(stage, chance, ['--from', from, '--to', addDays(to, -1)]);
  const byOrder = await insist(stage, () => withClient(stage.address, (db) => notExact(stage, db)));
  for (const sentence of byOrder) stage.report(sentence);
  await verify(stage, chance);
}

/** Outlast's own opinion of what it holds, certificates included. */
async function verify({ replicas, report }: Stage, chance: Chance): Promise<void> {
  const { code, said } = await (await replicas.start(['verify'], chance)).ended;
  if (code !== 0) report(`in the end outlast verify says ${code}: ${said}`);
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

/**
 * Until nothing due is left. Where nothing can be
 * proved, a sync that was asked to read all days leaves some of them, and says so each time. `mayWait`: the newest day
 * may be waiting after a failure, which a sync says as well.
 */
export async function syncToTheEnd(
  stage: Stage,
  chance: Chance,
  more: string[] = [],
  mayWait = false,
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
    const mayBeLeft = more.length > 0 && stage.drawn.hardship?.isProvable === false;
    if (i >= enoughSyncs && (mayWait || mayBeLeft)) return;
    ({ said } = ended);
    await sleep(400);
  }
  stage.report(`the sync comes to no end: ${said.trimEnd().split('\n').slice(-3).join(' | ')}`);
}
