// `npm run bench`: how fast an archive fills beside bare COPY, and the aims that one figure answers. One of the others
// by its flag, all of them by `-- --full`; with `--write` into docs/benchmarks.md, which says what they mean.
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { printJson } from '../src/cli/print.ts';
import { stopOnSignals } from '../src/cli/signals.ts';
import { measureAims } from './aims.ts';
import { measureFilling } from './filling.ts';
import { measureGrowth } from './growth.ts';
import { measurePeers } from './peers.ts';
import { measureProjects } from './projects.ts';
import { measureReading } from './reading.ts';
import { postgresVersion } from './server.ts';
import { measureSmall } from './small.ts';
import { printTables, withTables, type Measured, type Table } from './tables.ts';

const { values: flags } = parseArgs({
  options: {
    filling: { type: 'boolean' },
    aims: { type: 'boolean' },
    growth: { type: 'boolean' },
    peers: { type: 'boolean' },
    reading: { type: 'boolean' },
    projects: { type: 'string' },
    small: { type: 'boolean' },
    full: { type: 'boolean', default: false },
    orders: { type: 'string' },
    classes: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const runs = Number(flags.runs);
/** `--orders` is for one of the parts. */
const ordersOr = (standard: number): number =>
  flags.full ? standard : Number(flags.orders ?? standard);

const stop = stopOnSignals();
const { signal } = stop;
const parts = {
  filling: () => measureFilling(ordersOr(200_000), Number(flags.classes), runs, signal),
  aims: () => measureAims(runs, signal),
  growth: () => measureGrowth(ordersOr(10_000_000), signal),
  peers: () => measurePeers(ordersOr(100_000), runs, signal),
  reading: () => measureReading(ordersOr(10_000_000), runs, signal),
  projects: () => measureProjects(flags.projects ?? '500,100:1:4', signal),
  small: () => measureSmall(runs, signal),
} satisfies Record<string, () => Promise<Measured>>;
const names = Object.keys(parts) as (keyof typeof parts)[];
const named = names.filter((name) => flags[name] !== undefined);
const chosen = flags.full ? names : named.length > 0 ? named : (['filling', 'aims'] as const);

const cpu = cpus()[0]?.model ?? 'unknown';
const cores = cpus().length;
const memoryGb = Math.round(totalmem() / 2 ** 30);

async function write(tables: Table[], origin: string): Promise<void> {
  // From dist/bench.
  const page = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));
  const text = withTables(await readFile(page, 'utf8'), tables, origin);
  await writeFile(page, await format(text, { ...(await resolveConfig(page)), filepath: page }));
}

const begunAt = new Date().toISOString().slice(0, 10);
let all = {};
// One after the other: what is measured is kept, whatever becomes of the next.
for (const name of chosen) {
  const { results, tables } = await parts[name]();
  all = { ...all, [name]: results };
  const origin = `${begunAt}: ${cores} × ${cpu}, ${memoryGb} GB, Node ${process.version}, Postgres ${postgresVersion}.`;
  if (!flags.json) {
    printTables(tables);
    process.stdout.write(`${origin}\n\n`);
  }
  if (flags.write) await write(tables, origin);
}
if (flags.json) {
  const machine = { cpu, cores, memoryGb, node: process.version, postgres: postgresVersion };
  printJson({ machine, ...all });
}
stop.close();
