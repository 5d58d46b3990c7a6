// `outlast demo`: the main job with nothing installed: a simulated platform, an embedded Postgres, both resources
// archived, and then kept up to date until Ctrl-C.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { exitCode } from '../errors.ts';
import { createLog } from '../log.ts';
import { readStatus } from '../query/status.ts';
import { readSettings, type Settings } from '../settings/settings.ts';
import { createProcessMetrics } from '../http/metrics/process-metrics.ts';
import type { Served } from '../http/server.ts';
import { createSimulator, type Simulator } from '../simulator/server.ts';
import { run } from '../sync/run.ts';
import { startSchedule } from '../sync/schedule.ts';
import type { RunReport, Worker } from '../sync/worker.ts';
import { createWorker, openMigrated, type OpenedStore } from './app.ts';
import { startServing } from './serving.ts';
import { createProgress, formatCount } from './print.ts';
import { stopOnSignals, stopped } from './signals.ts';
import { foreseeAll } from './forecast.ts';
import { statusText } from './status.ts';
import { exitCodeOfReports } from './sync.ts';

const dataDir = './.outlast-demo';
/** Small enough for half a minute on a slow machine, large enough to be worth looking at. */
const world = { ordersPerDay: 240, classesPerDay: 60 };
const everyTenSeconds = '*/10 * * * * *';
const key = { apiKey: 'demo-key', apiSecret: 'demo-secret-of-no-value' };

const stoppedText = 'Stopped. Nothing is lost: run the demo again and it goes on from here.';
/** What a demo that was killed held is free again after this long; whoever tries that should not wait for long. */
const leaseSeconds = 6;

export const demoCommand = (command: Command): Command =>
  command
    .option('--once', 'stop after the first full sync')
    .action(async (flags: { once?: true }) => {
      process.exitCode = await demo(flags.once === true);
    });

async function demo(once: boolean): Promise<number> {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const stop = stopOnSignals();
  const begun = performance.now();
  const simulator = await createSimulator({ projects: [{ name: 'demo', ...key }], world });
  let archive: OpenedStore | null = null;
  let worker: (Worker & { close(): Promise<void> }) | null = null;
  let served: Served | null = null;
  try {
    const settings = demoSettings(simulator);
    const log = createLog(settings.logLevel);
    say('Outlast demo');
    say(`  platform  simulated, on ${simulator.url}`);
    const metrics = createProcessMetrics(settings.projects.map(({ id }) => id));
    archive = await openMigrated(settings, log, metrics.meter);
    say(`  archive   embedded PostgreSQL under ${dataDir}`);
    const [project] = settings.projects;
    if (project === undefined) throw new Error('the demo has one project');
    worker = createWorker(project, settings, archive.db, log, metrics.meter.of(project.id));
    const report = await firstSync(worker, stop.signal);
    if (stop.signal.aborted) {
      say(`\n${stoppedText}`);
      return exitCode.done;
    }
    say('');
    say(firstSyncText(report, performance.now() - begun));
    say('');
    const now = Date.now();
    const foreseen = await foreseeAll(archive.db, ['demo'], settings, now);
    say(statusText(await readStatus(archive.db), now, foreseen));
    if (once) {
      say(`\nThe archive stays under ${dataDir}; run the demo again and it goes on from here.`);
      return exitCodeOfReports([report]);
    }
    served = await startServing(settings, archive.store.connectionString, log, {
      metrics,
      workers: [worker],
    });
    say(`\n${whereToLook(archive.store.connectionString, served.url)}\n`);
    say('New orders arrive as you watch. Ctrl-C ends the demo; the archive stays.');
    const schedule = startSchedule([worker], everyTenSeconds, stop.signal, log, (tick) => {
      if (tick.recordsNew + tick.recordsChanged > 0) say(tickText(tick));
    });
    await stopped(stop.signal);
    await schedule.close();
    say(`\n${stoppedText}`);
    return exitCode.done;
  } finally {
    await served?.close();
    await worker?.close();
    await archive?.close();
    await simulator.close();
    stop.close();
  }
}

function demoSettings(simulator: Simulator): Settings {
  // The demo takes nothing from the environment: it must not touch a real project.
  return readSettings(
    { needs: 'platform' },
    {
      OUTLAST_PROJECT: 'demo',
      OUTLAST_BASE_URL: simulator.url,
      OUTLAST_API_KEY: key.apiKey,
      OUTLAST_API_SECRET: key.apiSecret,
      OUTLAST_DATA_DIR: dataDir,
      OUTLAST_CERTIFICATES_DIR: `${dataDir}/certificates`,
      OUTLAST_PORT: '0',
      OUTLAST_MAX_RPS: '200',
      OUTLAST_REFRESH_HOURS: '1',
      OUTLAST_LEASE_SECONDS: String(leaseSeconds),
      OUTLAST_LOG_LEVEL: 'error',
    },
  );
}

/** Runs until nothing due is left; what another demo holds, or one that was killed, is waited for. */
async function firstSync(worker: Worker, signal: AbortSignal): Promise<RunReport> {
  const progress = createProgress(process.stderr);
  const tries = leaseSeconds + 2;
  const sofar = { requests: 0, recordsNew: 0, recordsChanged: 0 };
  try {
    // Ends: a try a second, until the leases have run out for certain.
    for (let i = 1; ; i++) {
      const report = await run(worker, {
        signal,
        // The simulator listens on another port each time; it is the same platform.
        acceptNewSource: true,
        onProgress: ({ recordsShown, slicesDone }) =>
          progress.update(
            `  reading   ${formatCount(recordsShown)} records, ${formatCount(slicesDone)} days of orders and classes done`,
          ),
      });
      sofar.requests += report.requests;
      sofar.recordsNew += report.recordsNew;
      sofar.recordsChanged += report.recordsChanged;
      if (report.outcome !== 'left' || i === tries) return { ...report, ...sofar };
      progress.update(`  waiting   ${report.problem ?? 'for what is left'}`);
      await sleep(1000, undefined, { signal }).catch(() => undefined);
    }
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

function tickText(report: RunReport): string {
  const at = new Date().toTimeString().slice(0, 8);
  return `${at}  ${formatCount(report.recordsNew)} new, ${formatCount(report.recordsChanged)} changed`;
}

function whereToLook(connectionString: string, url: string): string {
  return [
    'Where to look, while this runs:',
    `  psql "${connectionString}"`,
    '    select status, count(*), sum(amount) as fen from archive.orders group by 1 order by 1;',
    '    select day, state, proof, shown_total from sync.slices order by day desc limit 10;',
    '  the platform’s own interface, answered from the archive for any date:',
    `    curl "${url}/v3/orders?limit=2&count_total=1"`,
    `    curl "${url}/v1beta1/nft/classes?limit=2"`,
    `  everything else over HTTP, to read and to try: ${url}/docs`,
    `  for Prometheus: ${url}/metrics`,
    `  OUTLAST_DATA_DIR=${dataDir} npm run -s outlast -- status`,
  ].join('\n');
}
