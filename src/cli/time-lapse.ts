// `outlast demo --time-lapse`: three months in about three minutes, lived through by the archive's own parts on a clock
// that leaps, in an archive of its own that is gone afterwards. The story decides when the service runs and when it is
// off, and nothing of what a run does.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCode } from '../errors.ts';
import { makeScratch } from '../files.ts';
import { createProcessMetrics } from '../http/metrics.ts';
import { createLists } from '../query/ask-question.ts';
import { calendarOf } from '../query/day-marks.ts';
import { createSimulator, type Simulator } from '../simulator/simulator-server.ts';
import type { RunReport, Worker } from '../sync/worker.ts';
import type { Instant } from '../model.ts';
import { run } from '../sync/run.ts';
import { closing, openMigrated } from './open-store.ts';
import { calendarLines } from './calendar-lines.ts';
import { openLog } from './log-lines.ts';
import { formatCount, print, shellWord } from './print.ts';
import { startServing } from './start-serving.ts';
import { stopped, untilSignal } from './signals.ts';
import { createTeller, rangesText, type Lived, type Telling } from './time-lapse-teller.ts';
import { createWorker, openAlerts } from './create-workers.ts';
import { demoProjects, readDemoSettings } from './demo-settings.ts';

/** Few, so that a hundred days cost little; with the seed, the same ones each time. */
const world = { ordersPerDay: 6, pendingShare: 0.03 };
const seed = 7;
/** One look takes milliseconds. */
const alertsPatienceMs = 10_000;

const dayMs = 86_400_000;
/** Twice a day it is looked at what is due. */
const leapMs = dayMs / 2;

/** The service is off in `[from, to)`. */
type Outage = { from: Instant; to: Instant };
export type Story = {
  startsAt: Instant;
  /** The first run is cut short when it has read so many days. */
  cutAfterDays: number;
  outages: Outage[];
  endsAt: Instant;
};

/**
 * It begins three days before a month leaves the window, and the service is off for a week before it has read all of
 * that month; the second outage leaves a month's end behind as well, but finds nothing unread.
 */
export const threeMonths: Story = {
  startsAt: Date.parse('2026-01-29T06:30:00Z'),
  cutAfterDays: 25,
  outages: [
    { from: Date.parse('2026-01-29T06:30:00Z'), to: Date.parse('2026-02-05T06:30:00Z') },
    { from: Date.parse('2026-03-29T06:30:00Z'), to: Date.parse('2026-04-05T06:30:00Z') },
  ],
  endsAt: Date.parse('2026-05-02T00:00:00Z'),
};

/** On the terminal, until Ctrl-C unless `once`. Returns the exit code. */
export const showTimeLapse = (once: boolean, seconds: number): Promise<number> =>
  untilSignal(async (signal) => {
    const whenOver = async ({ worker, lived, url, dataDir }: Over): Promise<void> => {
      if (signal.aborted) return;
      const coverage = await createLists(worker.db).coverage({ project: worker.projectId });
      const calendar = calendarLines(calendarOf(coverage)).map((line) => `  ${line}`);
      print(`\n${livedText(lived)}\n\n${calendar.join('\n')}`);
      if (once) return;
      print(`\nWhere to look, until Ctrl-C removes it all:
  ${url}/
  curl "${url}/v3/orders?end_date=2025-12-31&count_total=1"
  OUTLAST_DATA_DIR=${shellWord(dataDir)} outlast verify`);
      await stopped(signal);
    };
    await timeLapse({ seconds, say: print, signal, whenOver });
    if (signal.aborted) print('\nStopped, and the archive of the time-lapse removed.');
    return exitCode.done;
  });

/** What there is when the story is over, while the archive is still served. */
export type Over = { worker: Worker; url: string; dataDir: string; lived: Lived };

type TimeLapse = {
  /** How long it takes at least. */
  seconds: number;
  story?: Story;
  say: (text: string) => void;
  signal: AbortSignal;
  /** Awaited before everything is closed. */
  whenOver: (over: Over) => Promise<void>;
};

/** Throws what opening an embedded archive throws, and what a run throws. */
export const timeLapse = (options: TimeLapse): Promise<void> =>
  closing(async (keep) => {
    const { seconds, story = threeMonths, say, signal } = options;
    const days = (story.endsAt - story.startsAt) / dayMs;
    const dataDir = await makeScratch('time-lapse');
    keep({ close: () => rm(dataDir, { recursive: true, force: true }) });
    say(`Outlast demo: ${Math.round(days)} days in about ${formatCount(seconds)} seconds`);
    say('  platform  simulated; its clock runs fast, and ours with it');
    say('  archive   an embedded PostgreSQL of its own, removed at the end');
    const projects = demoProjects;
    const simulator = keep(
      await createSimulator({ projects, world, seed, startAt: story.startsAt }),
    );
    // For the platform and this machine alike: it goes as real time does, and leaps when told. One that ran thousands of
    // times faster would be hours on before an answer came, and no two clocks would agree.
    const { clock } = simulator;
    const more = { OUTLAST_MAX_RPS: '1000', OUTLAST_TOKENS_HOURS: '0' };
    const { settings, inForce, ...read } = readDemoSettings(simulator.url, dataDir, more);
    // Orders alone: classes are read again so often that they would be most of the work.
    const project = { ...read.project, classes: 'none' as const };
    const log = openLog(settings.logLevel);
    const metrics = createProcessMetrics([project.id]);
    const archive = await openMigrated(settings, log, keep, metrics.meter);
    const clocks = { wallNow: clock.now, monotonicNow: clock.now };
    const meter = metrics.meter.of(project.id);
    const worker = keep(createWorker(project, settings, archive.db, log, meter, clocks));
    const how = { metrics, workers: [worker], settings: inForce, now: clock.now };
    const { url } = keep(await startServing(settings, archive.store.connectionString, log, how));
    say(`\nOpen ${url}/ to watch it.\n\n${introduction}\n`);
    const msADay = (seconds * 1000) / days;
    // As after `outlast sync`: looked at to the end, before the clock leaps on. Nobody is told, for there is no webhook.
    const lookAfter = async (report: RunReport): Promise<void> => {
      const alerts = openAlerts(settings, archive.db, [worker], { mayBeat: false }, log);
      alerts.after(report);
      await alerts.close(alertsPatienceMs);
    };
    const lived = await liveThrough({ story, clock, worker, url, msADay, say, lookAfter, signal });
    await options.whenOver({ worker, url, dataDir, lived });
  });

type Lapse = Omit<Telling, 'now'> & {
  story: Story;
  clock: Pick<Simulator['clock'], 'now' | 'advance'>;
  /** Looks after the alerts when a run has ended. */
  lookAfter: (report: RunReport) => Promise<void>;
  signal: AbortSignal;
};

/**
 * Lives through the story and returns what has become of the days. Ends: each turn leaps on towards the story's end, or
 * the signal is aborted. Throws what a run throws.
 */
async function liveThrough(lapse: Lapse): Promise<Lived> {
  const { story, clock, worker, msADay, lookAfter, signal } = lapse;
  const teller = createTeller({ ...lapse, now: clock.now });
  teller.begin();
  await runUntil(worker, story.cutAfterDays, signal);
  await teller.notice(0);
  let wasOff = false;
  for (;;) {
    const begun = performance.now();
    const outage = story.outages.find(({ from, to }) => clock.now() >= from && clock.now() < to);
    if (outage !== undefined && !wasOff) teller.goesOff(outage.to);
    if (outage === undefined) {
      if (wasOff) teller.comesBack();
      const report = await run(worker, { signal });
      if (signal.aborted) break;
      await lookAfter(report);
      await teller.notice(report.recordsNew);
    }
    wasOff = outage !== undefined;
    const leftMs = msADay * (leapMs / dayMs) - (performance.now() - begun);
    if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => undefined);
    // It stands after a run, with all done that was due.
    if (clock.now() + leapMs >= story.endsAt || signal.aborted) break;
    clock.advance(leapMs);
  }
  return teller.lived();
}

/** A first run that is cut short when so many days are read, as by somebody who turns the machine off. */
async function runUntil(worker: Worker, days: number, outside: AbortSignal): Promise<void> {
  const off = new AbortController();
  await run(
    // One day at a time, so that it is the same days each time.
    { ...worker, lanes: 1 },
    {
      signal: AbortSignal.any([outside, off.signal]),
      onProgress: ({ slicesDone }) => {
        if (slicesDone >= days) off.abort();
      },
    },
  );
}

const introduction = `The platform answers for this month and the last, the window. Then it forgets.
Outlast reads each day when it is over, and hours later from its other end. It
is sealed when both readings showed all that is held, the platform counts no
more, and no order is pending. When its month has left the window a day is
final: it was read in time. A day that was not is lost.`;

export function livedText({ days, sealed, final, lost, orders, certificates }: Lived): string {
  const others = days - sealed - final - lost.length;
  return [
    `What you saw: ${formatCount(days)} days, each accounted for, with ${formatCount(orders)} orders.`,
    `  final        ${formatCount(final)}, under ${formatCount(certificates)} certificates`,
    `  sealed       ${formatCount(sealed)}`,
    `  not yet      ${formatCount(others)}: today, and what is pending`,
    `  lost         ${formatCount(lost.length)}: ${rangesText(lost)}`,
  ].join('\n');
}
