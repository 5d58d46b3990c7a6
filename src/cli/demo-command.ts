// `outlast demo`: the main job with nothing installed: a simulated platform, an embedded Postgres, both resources
// archived, and then kept up to date until Ctrl-C.
import { InvalidArgumentError, type Command } from 'commander';
import { addDays, dayOf } from '../day.ts';
import { currentAddress } from '../database-address.ts';
import { exitCode, isOutlastError, settingsError } from '../errors.ts';
import type { ProjectMeter } from '../meter.ts';
import { createProcessMetrics } from '../http/metrics.ts';
import { liveOrderPrefix, startLiveOrders } from '../simulator/live-orders.ts';
import { createSimulator, type Simulator } from '../simulator/simulator-server.ts';
import type { Db } from '../store/db.ts';
import { holdsAnything } from '../store/projects.ts';
import { run } from '../sync/run.ts';
import { startSchedule } from '../sync/schedule.ts';
import type { RunReport, Worker } from '../sync/worker.ts';
import { closing, openMigrated, type Keep } from './open-store.ts';
import { createWorker, openAlerts } from './create-workers.ts';
import { demoProjects, readDemoSettings } from './demo-settings.ts';
import { startServing } from './start-serving.ts';
import { openLog } from './log-lines.ts';
import { formatCount, print } from './print.ts';
import { createProgress } from './progress.ts';
import { stopped, untilSignal } from './signals.ts';
import { readStandings } from './standing.ts';
import { statusText } from './status-text.ts';
import { exitCodeOfReports } from './sync-command.ts';

const dataDir = './.outlast-demo';
/** Small enough for half a minute on a slow machine, large enough to be worth looking at. */
const world = { ordersPerDay: 240, classesPerDay: 60 };
const everyTenSeconds = '*/10 * * * * *';

const stoppedText = 'Stopped. Nothing is lost: run the demo again and it goes on from here.';

export const demoCommand = (command: Command): Command =>
  command
    .option('--once', 'stop after the first full sync, or after the time-lapse')
    .option('--time-lapse', 'live through three months in three minutes, in an archive of its own')
    .option('--seconds <n>', 'how long the time-lapse takes', readSeconds, 185)
    .action(async ({ once = false, timeLapse: isFast = false, seconds }: Flags) => {
      if (!isFast) process.exitCode = await demo(once);
      else {
        const { showTimeLapse } = await import('./time-lapse.ts');
        process.exitCode = await showTimeLapse(once, seconds);
      }
    });

type Flags = { once?: boolean; timeLapse?: boolean; seconds: number };

function readSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of seconds.');
}

const demo = (once: boolean): Promise<number> =>
  untilSignal((signal) => closing((keep) => demonstrate(once, signal, keep)));

async function demonstrate(once: boolean, signal: AbortSignal, keep: Keep): Promise<number> {
  const begun = performance.now();
  const simulator = keep(await createSimulator({ projects: demoProjects, world }));
  const { settings, project, inForce } = readDemoSettings(simulator.url, dataDir, {
    OUTLAST_MAX_RPS: '200',
    OUTLAST_REFRESH_HOURS: '1',
  });
  const log = openLog(settings.logLevel);
  print('Outlast demo');
  print(`  platform  simulated, on ${simulator.url}`);
  const metrics = createProcessMetrics([project.id]);
  const archive = await openMigrated(settings, log, keep, metrics.meter);
  print(`  archive   embedded PostgreSQL under ${dataDir}`);
  keep(startLiveOrders(simulator, await liveOrdersOf(archive.db)));
  const news = createNews(metrics.meter.of(project.id));
  const now = (): number => simulator.clock.now();
  const clocks = { wallNow: now, monotonicNow: now };
  const worker = keep(createWorker(project, settings, archive.db, log, news.meter, clocks));
  let url: string | null = null;
  if (!once) {
    const how = { metrics, workers: [worker], settings: inForce };
    ({ url } = keep(await startServing(settings, archive.store.connectionString, log, how)));
    print(`\nOpen ${url}/ to watch it.\n`);
  }
  const { report, isReadTwice } = await firstSync(worker, simulator, signal);
  if (signal.aborted) {
    print(`\n${stoppedText}`);
    return exitCode.done;
  }
  print('');
  print(firstSyncText(report, performance.now() - begun));
  if (isReadTwice) print(readTwiceText);
  print('');
  print(statusText((await readStandings(archive.db, project.id, settings)).standings));
  if (url === null) {
    print(
      `\nThe archive stays under ${dataDir}; run the demo again and it goes on from here. To look at it: \`OUTLAST_DATA_DIR=${dataDir} outlast status\``,
    );
    return exitCodeOfReports([report]);
  }
  const address = currentAddress(archive.store.connectionString);
  print(`\n${whereToLook(address, url, simulator)}\n`);
  print(
    'A few orders come every minute. To practise everything else, also what goes wrong: `outlast simulate`. Ctrl-C ends the demo; the archive stays.',
  );
  news.take();
  let trouble: string | null = null;
  const sayNews = ({ problem }: RunReport): void => {
    const left = problem === null || problem === trouble ? '' : `left: ${problem}`;
    trouble = problem;
    const text = [news.take(), left].filter((part) => part !== '').join('; ');
    if (text !== '') print(`${new Date().toTimeString().slice(0, 8)}  ${text}`);
  };
  const alerts = openAlerts(settings, archive.db, [worker], { mayBeat: false }, log);
  const schedule = startSchedule([worker], everyTenSeconds, signal, log, sayNews, (turn) =>
    alerts.after(turn),
  );
  await stopped(signal);
  await schedule.close();
  await alerts.close(1000);
  print(`\n${stoppedText}`);
  return exitCode.done;
}

/** A seal takes two readings, two hours apart: the demo's first one lies so much before its second. */
const apartMs = 2 * 3_600_000 + 60_000;
const readTwiceText =
  'Each day was read twice, the first time by clocks set back two hours: a seal takes two readings two hours apart, or a whole day apart where they show nothing.';

/**
 * Reads every day twice, the first time by clocks that are two hours behind; an archive that is there already is only
 * brought up to date.
 */
async function firstSync(
  worker: Worker,
  simulator: Simulator,
  signal: AbortSignal,
): Promise<{ report: RunReport; isReadTwice: boolean }> {
  if (await holdsAnything(worker.db, worker.projectId)) {
    return { report: await syncOnce(worker, signal), isReadTwice: false };
  }
  simulator.advance(-apartMs);
  const first = await syncOnce(worker, signal);
  simulator.advance(apartMs);
  if (signal.aborted) return { report: first, isReadTwice: false };
  const second = await syncOnce(worker, signal);
  const report = {
    ...second,
    requests: first.requests + second.requests,
    recordsNew: first.recordsNew + second.recordsNew,
    recordsChanged: first.recordsChanged + second.recordsChanged,
  };
  return { report, isReadTwice: true };
}

/** Runs once; what another demo holds is asked of that one. */
async function syncOnce(worker: Worker, signal: AbortSignal): Promise<RunReport> {
  const progress = createProgress(process.stderr);
  try {
    return await run(worker, {
      signal,
      // The simulator listens on another port each time; it is the same platform.
      acceptNewSource: true,
      onProgress: ({ recordsShown, slicesDone }) =>
        progress.update(
          `  reading   ${formatCount(recordsShown)} records, ${formatCount(slicesDone)} days of orders and classes done`,
        ),
    });
  } catch (error) {
    // Nobody gave an address: each demo's platform has its own.
    if (!isOutlastError(error, 'other_address')) throw error;
    const advice = 'stop it first, or open the address that it printed';
    throw settingsError('demo_runs', `A demo runs already in this folder: ${advice}.`, error);
  } finally {
    progress.end();
  }
}

function firstSyncText(report: RunReport, ms: number): string {
  const seconds = (ms / 1000).toFixed(1);
  const news =
    report.recordsNew + report.recordsChanged === 0
      ? 'nothing was new'
      : `${formatCount(report.recordsNew)} records are new, ${formatCount(report.recordsChanged)} changed`;
  return `Synced in ${seconds} s with ${formatCount(report.requests)} requests: ${news}.${report.problem === null ? '' : ` Left: ${report.problem}.`}`;
}

/** What comes in, by list: `take` says what has come since it was last asked, `3 new orders, 1 changed`, or nothing. */
function createNews(meter: ProjectMeter): { meter: ProjectMeter; take(): string } {
  const counting = (one: string, several: string) => ({
    inserted: 0,
    changed: 0,
    named: (count: number): string => (count === 1 ? one : several),
  });
  const [orders, classes] = [counting('order', 'orders'), counting('class', 'classes')];
  const takeOf = (list: typeof orders): string => {
    const { inserted, changed, named } = list;
    Object.assign(list, { inserted: 0, changed: 0 });
    if (inserted + changed === 0) return '';
    if (inserted === 0) return `${formatCount(changed)} ${named(changed)} changed`;
    const also = changed === 0 ? '' : `, ${formatCount(changed)} changed`;
    return `${formatCount(inserted)} new ${named(inserted)}${also}`;
  };
  return {
    meter: {
      ...meter,
      records: (resource, effects) => {
        meter.records(resource, effects);
        const list = { orders, nft_classes: classes, transactions: null, tokens: null }[resource];
        if (list === null) return;
        list.inserted += effects.inserted;
        list.changed += effects.changed;
      },
    },
    take: () => [takeOf(orders), takeOf(classes)].filter((text) => text !== '').join('; '),
  };
}

/** What the simulated platform of an earlier demo showed beside its world. */
async function liveOrdersOf(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ raw: string }>(
    `select raw::text as raw from archive.orders where project_id = 'demo' and starts_with(operation_id, $1)`,
    [liveOrderPrefix],
  );
  return rows.map(({ raw }) => raw);
}

function whereToLook(connectionString: string, url: string, { clock, oracle }: Simulator): string {
  const day = addDays(dayOf(clock.now()), -1);
  const [operation = ''] = oracle.operationIds(day);
  return [
    'Where to look, while this runs:',
    `  ${url}/ in a browser`,
    `  psql "${connectionString}"`,
    '    select status, count(*), sum(amount) from archive.orders group by 1;',
    '    select day, state, proof from sync.slices order by day desc limit 10;',
    '  the platform’s own interface, answered from the archive for any date:',
    `    curl "${url}/v3/orders?limit=2&count_total=1"`,
    `    curl "${url}/v1beta1/nft/classes?limit=2"`,
    `  everything else over HTTP, to read and to try: ${url}/docs`,
    `  for Prometheus: ${url}/metrics`,
    `  OUTLAST_DATA_DIR=${dataDir} outlast status`,
    '  what becomes of an operation, a few seconds after you ask for it:',
    `    OUTLAST_DATA_DIR=${dataDir} outlast watch ${operation} --created-on ${day}`,
    `    ${url}/transactions`,
  ].join('\n');
}
