// `npm run bench`: how fast an archive fills, as rows per second and as a ratio to bare COPY of the same rows into
// the same table in the same run. A table on stderr, JSON on stdout. Figures of different runs do not compare.
import { spawn, type ChildProcess } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { printTable } from '../src/cli/print.ts';
import { silentLog } from '../src/log.ts';
import { openEmbedded } from '../src/store/embedded/embedded.ts';

const command = fileURLToPath(new URL('../src/main.js', import.meta.url));
/** The window of the bench: two months of 31 days, but for their last hours. */
const windowDays = 62;

const { values: flags } = parseArgs({
  options: {
    orders: { type: 'string', default: '200000' },
    classes: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '3' },
    memory: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

type Simulated = { url: string; apiKey: string; apiSecret: string; process: ChildProcess };

async function simulate(orders: number, classes: number): Promise<Simulated> {
  const child = spawn(
    process.execPath,
    [
      command,
      'simulate',
      '--json',
      '--at',
      '2026-08-31T09:30:00Z',
      '--speed',
      '0',
      '--orders-per-day',
      String(Math.ceil(orders / windowDays)),
      '--classes-per-day',
      String(Math.ceil(classes / windowDays)),
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let text = '';
  for await (const part of child.stdout) {
    text += String(part);
    if (text.includes('\n')) break;
  }
  const ready = JSON.parse(text.split('\n')[0] ?? '') as Omit<Simulated, 'process'>;
  return { ...ready, process: child };
}

type Sync = { seconds: number; maxRssMb: number };

/** One `outlast sync` as a child process into an empty database. */
async function syncInto(connectionString: string, platform: Simulated): Promise<Sync> {
  const begun = performance.now();
  const child = spawn(process.execPath, [command, 'sync', '--json'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      DATABASE_URL: connectionString,
      OUTLAST_BASE_URL: platform.url,
      OUTLAST_API_KEY: platform.apiKey,
      OUTLAST_API_SECRET: platform.apiSecret,
      OUTLAST_MAX_RPS: '100000',
      OUTLAST_LOG_LEVEL: 'error',
    },
  });
  let maxRssMb = 0;
  const watching = setInterval(() => {
    void rssMb(child.pid).then((mb) => (maxRssMb = Math.max(maxRssMb, mb)));
  }, 100);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  clearInterval(watching);
  if (code !== 0) throw new Error(`outlast sync ended with ${String(code)}`);
  return { seconds: (performance.now() - begun) / 1000, maxRssMb };
}

/** Peak resident memory of a process; Linux only, 0 elsewhere. */
async function rssMb(pid: number | undefined): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

type Copied = { rows: number; seconds: number };

/** Bare COPY of the rows just archived into an empty table of the same shape, indexes included. */
async function copyAgain(client: pg.Client, table: string, folder: string): Promise<Copied> {
  const file = join(folder, 'rows.copy');
  await pipeline(client.query(copyTo(`copy archive.${table} to stdout`)), createWriteStream(file));
  await client.query(`create table public.copied (like archive.${table} including all)`);
  const begun = performance.now();
  await pipeline(createReadStream(file), client.query(copyFrom('copy public.copied from stdin')));
  const seconds = (performance.now() - begun) / 1000;
  const { rows } = await client.query<{ n: string }>('select count(*) as n from public.copied');
  await client.query('drop table public.copied');
  await rm(file);
  return { rows: Number(rows[0]?.n), seconds };
}

type Measured = {
  orders: number;
  classes: number;
  syncSeconds: number;
  copySeconds: number;
  rowsPerSecond: number;
  ratioToCopy: number;
  maxRssMb: number;
};

async function measure(orders: number, classes: number, withCopy: boolean): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-bench-'));
  const platform = await simulate(orders, classes);
  const embedded = await openEmbedded({ dataDir: join(folder, 'data'), log: silentLog() });
  try {
    const sync = await syncInto(embedded.connectionString, platform);
    const client = new pg.Client({ connectionString: embedded.connectionString });
    await client.connect();
    const held = await client.query<{ orders: number; classes: number }>(
      `select (select count(*)::int from archive.orders) as orders,
              (select count(*)::int from archive.nft_classes) as classes`,
    );
    const counts = held.rows[0] ?? { orders: 0, classes: 0 };
    let copySeconds = 0;
    if (withCopy) {
      copySeconds += (await copyAgain(client, 'orders', folder)).seconds;
      copySeconds += (await copyAgain(client, 'nft_classes', folder)).seconds;
    }
    await client.end();
    return {
      ...counts,
      syncSeconds: sync.seconds,
      copySeconds,
      rowsPerSecond: (counts.orders + counts.classes) / sync.seconds,
      ratioToCopy: withCopy ? copySeconds / sync.seconds : 0,
      maxRssMb: sync.maxRssMb,
    };
  } finally {
    platform.process.kill();
    await embedded.close();
    await rm(folder, { recursive: true, force: true });
    await stat(folder).catch(() => undefined);
  }
}

const median = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const round = (number: number, digits = 0): number => Number(number.toFixed(digits));

const results: Measured[] = [];
if (flags.memory) {
  for (const orders of [10_000, 100_000, 1_000_000]) results.push(await measure(orders, 0, false));
} else {
  for (let i = 0; i < Number(flags.runs); i++) {
    results.push(await measure(Number(flags.orders), Number(flags.classes), true));
  }
}
const summary = {
  machine: { cores: cpus().length, memoryGb: round(totalmem() / 2 ** 30) },
  runs: results,
  median: {
    rowsPerSecond: round(median(results.map((one) => one.rowsPerSecond))),
    ratioToCopy: round(median(results.map((one) => one.ratioToCopy)), 2),
    maxRssMb: round(median(results.map((one) => one.maxRssMb))),
  },
};
if (flags.json) process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
else {
  printTable(
    ['orders', 'classes', 'sync s', 'COPY s', 'rows/s', 'ratio to COPY', 'peak MB'],
    results.map((one) => [
      one.orders,
      one.classes,
      round(one.syncSeconds, 1),
      round(one.copySeconds, 1),
      round(one.rowsPerSecond),
      round(one.ratioToCopy, 2),
      round(one.maxRssMb),
    ]),
  );
}
