// `outlast demo --time-lapse`: three months in about three minutes, in an archive of its own that is gone afterwards.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCode } from '../errors.ts';
import { createProcessMetrics } from '../http/metrics.ts';
import { readCalendar } from '../query/calendar-months.ts';
import { createSimulator } from '../simulator/simulator-server.ts';
import type { RunReport, Worker } from '../sync/worker.ts';
import { openMigrated } from './app.ts';
import { calendarLines } from './calendar-lines.ts';
import { openLog } from './log-lines.ts';
import { formatCount, print } from './print.ts';
import { startServing } from './start-serving.ts';
import { stopOnSignals, stopped } from './signals.ts';
import { createLeapingTime, liveThrough, threeMonths, type Story } from './time-lapse-story.ts';
import { rangesText, type Lived } from './time-lapse-teller.ts';
import { createWorker, openAlerts } from './create-workers.ts';
import { demoProjects, readDemoSettings } from './demo-settings.ts';

/** Few, so that a hundred days cost little; with the seed, the same ones each time. */
const world = { ordersPerDay: 6, pendingShare: 0.03 };
const seed = 7;
/** One look takes milliseconds. */
const alertsPatienceMs = 10_000;

/** On the terminal, until Ctrl-C unless `once`. Returns the exit code. */
export async function showTimeLapse(once: boolean, seconds: number): Promise<number> {
  const stop = stopOnSignals();
  const { signal } = stop;
  try {
    const whenOver = async ({ worker, lived, url, dataDir }: Over): Promise<void> => {
      if (signal.aborted) return;
      const months = await readCalendar(worker.db, worker.projectId);
      const calendar = calendarLines(months).map((line) => `  ${line}`);
      print(`\n${livedText(lived)}\n\n${calendar.join('\n')}`);
      if (once) return;
      print(`\nWhere to look, until Ctrl-C removes it all:
  ${url}/
  curl "${url}/v3/orders?end_date=2025-12-31&count_total=1"
  OUTLAST_DATA_DIR=${dataDir} npm run -s outlast -- status`);
      await stopped(signal);
    };
    await timeLapse({ seconds, say: print, signal, whenOver });
    if (signal.aborted) print('\nStopped, and the archive of the time-lapse removed.');
    return exitCode.done;
  } finally {
    stop.close();
  }
}

/** What there is when the story is over, while the archive is still served. */
export type Over = { worker: Worker; url: string; dataDir: string; lived: Lived };

type TimeLapse = {
  /** How long it takes at least. */
  seconds: number;
  story?: Story;
  /** An empty database; an embedded one unless given. */
  databaseUrl?: string;
  say: (text: string) => void;
  signal: AbortSignal;
  /** Awaited before everything is closed. */
  whenOver: (over: Over) => Promise<void>;
};

/** Throws what opening an embedded archive throws, and what a run throws. */
export async function timeLapse(options: TimeLapse): Promise<void> {
  const { seconds, story = threeMonths, say, signal } = options;
  const days = (story.endsAt - story.startsAt) / 86_400_000;
  const time = createLeapingTime(story.startsAt);
  const folder = await mkdtemp(join(tmpdir(), 'outlast-time-lapse-'));
  const open: { close(): Promise<void> }[] = [];
  try {
    say(`Outlast demo: ${Math.round(days)} days in about ${formatCount(seconds)} seconds`);
    say('  platform  simulated; its clock runs fast, and ours with it');
    say('  archive   an embedded PostgreSQL of its own, removed at the end');
    const projects = demoProjects;
    const simulator = await createSimulator({ projects, world, seed, now: time.now });
    open.push(simulator);
    const { databaseUrl: DATABASE_URL } = options;
    const more = { DATABASE_URL, OUTLAST_MAX_RPS: '1000', OUTLAST_TOKENS_HOURS: '0' };
    const { settings, inForce, ...read } = readDemoSettings(simulator.url, folder, more);
    // Orders alone: classes are read again so often that they would be most of the work.
    const project = { ...read.project, classes: 'none' as const };
    const log = openLog(settings.logLevel);
    const metrics = createProcessMetrics([project.id]);
    const archive = await openMigrated(settings, log, metrics.meter);
    open.push(archive);
    const clocks = { wallNow: time.now, monotonicNow: time.now };
    const meter = metrics.meter.of(project.id);
    const worker = createWorker(project, settings, archive.db, log, meter, clocks);
    open.push(worker);
    const { url, ...served } = await startServing(settings, archive.store.connectionString, log, {
      metrics,
      workers: [worker],
      inForce,
      now: time.now,
    });
    open.push(served);
    say(`\nOpen ${url}/ to watch it.\n\n${introduction}\n`);
    const msADay = (seconds * 1000) / days;
    // As after `outlast sync`: looked at to the end, before the clock leaps on. Nobody is told, for there is no webhook.
    const lookAfter = async (report: RunReport): Promise<void> => {
      const alerts = openAlerts(settings, archive.db, [worker], { mayBeat: false }, log);
      alerts.after(report);
      await alerts.close(alertsPatienceMs);
    };
    const lived = await liveThrough({
      story,
      time,
      worker,
      url,
      msADay,
      say,
      lookAfter,
      signal,
    });
    await options.whenOver({ worker, url, dataDir: folder, lived });
  } finally {
    for (const one of open.toReversed()) await one.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const introduction = `The platform answers for this month and the last, the window. Then it forgets.
Outlast reads each day when it is over, and seals it when the platform's totals
agree and no order is pending. When its month has left the window a day is
final: it was read in time. A day that was not is lost.`;

/** What was seen, in the end. */
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
