// `npm run bench`: how fast an archive fills beside bare COPY, and the aims that one figure answers. One of the others
// by its flag, all of them by `-- --full`; with `--write` into docs/benchmarks.md, which says what they mean.
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { printJson } from '../src/cli/print.ts';
import { stopOnSignals } from '../src/cli/signals.ts';
import { aimTables, measureAims } from './aims.ts';
import { fillingTables, measureFilling } from './filling.ts';
import { growthTables, measureGrowth } from './growth.ts';
import { measurePeers, peerTables } from './peers.ts';
import { measureProjects, projectTables, type Projects } from './projects.ts';
import { measureReading, readingTables } from './reading.ts';
import { printTables, withTables, type Table } from './tables.ts';

const { values: flags } = parseArgs({
  options: {
    filling: { type: 'boolean', default: false },
    aims: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    reading: { type: 'boolean', default: false },
    projects: { type: 'string' },
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
const isAlone =
  flags.filling ||
  flags.aims ||
  flags.growth ||
  flags.peers ||
  flags.reading ||
  flags.projects !== undefined;

type Measured = { results: object; tables: Table[]; postgres: string };

/** One after the other: what is measured is kept, whatever becomes of the next. */
async function* measureAll(signal: AbortSignal): AsyncGenerator<Measured> {
  if (!isAlone || flags.filling) {
    const what = { orders: ordersOr(200_000), classes: Number(flags.classes) };
    const filled = await measureFilling(what, runs, signal);
    yield { results: { filling: filled.runs }, tables: fillingTables(filled), ...filled };
  }
  if (!isAlone || flags.aims) {
    const aims = await measureAims(runs, signal);
    yield { results: { aims: aims.aims }, tables: aimTables(aims), ...aims };
  }
  if (flags.full || flags.growth) {
    const most = ordersOr(10_000_000);
    const sizes = [most / 1000, most / 100, most / 10, most].filter(
      (size) => size >= Math.min(most, 10_000),
    );
    const growth = await measureGrowth(sizes.map(Math.round), signal);
    yield { results: { growth: growth.sizes }, tables: growthTables(growth), ...growth };
  }
  if (flags.full || flags.peers) {
    const compared = await measurePeers(ordersOr(100_000), runs, signal);
    yield { results: { peers: compared.figures }, tables: peerTables(compared), ...compared };
  }
  if (flags.full || flags.reading) {
    const reading = await measureReading(ordersOr(10_000_000), runs, signal);
    yield { results: { reading }, tables: readingTables(reading), ...reading };
  }
  if (flags.full || flags.projects !== undefined) {
    const measured: Projects['measured'] = [];
    for (const asked of (flags.projects ?? '500,100:1:4').split(',')) {
      const [projects = 0, ...replicas] = asked.split(':').map(Number);
      const newest = await measureProjects(projects, replicas.length > 0 ? replicas : [1], signal);
      measured.push(...newest.measured);
      yield { results: { projects: measured }, tables: projectTables(measured), ...newest };
    }
  }
}

const cpu = cpus()[0]?.model ?? 'unknown';
const cores = cpus().length;
const memoryGb = Math.round(totalmem() / 2 ** 30);

async function write(tables: Table[], origin: string): Promise<void> {
  // From dist/bench.
  const page = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));
  const text = withTables(await readFile(page, 'utf8'), tables, origin);
  await writeFile(page, await format(text, { ...(await resolveConfig(page)), filepath: page }));
}

const stop = stopOnSignals();
const begunAt = new Date().toISOString().slice(0, 10);
const machine = { cpu, cores, memoryGb, node: process.version, postgres: 'unknown' };
let all = {};
for await (const measured of measureAll(stop.signal)) {
  machine.postgres = measured.postgres;
  all = { ...all, ...measured.results };
  const origin = `${begunAt}: ${cores} × ${cpu}, ${memoryGb} GB, Node ${process.version}, Postgres ${machine.postgres}.`;
  if (!flags.json) {
    printTables(measured.tables);
    process.stdout.write(`${origin}\n\n`);
  }
  if (flags.write) await write(measured.tables, origin);
}
if (flags.json) printJson({ machine, ...all });
stop.close();
