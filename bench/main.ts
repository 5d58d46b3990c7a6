// `npm run bench`: how fast an archive fills, as rows a second and as a ratio to bare COPY of the same rows into the same
// table in the same run. `-- --memory`: whether memory grows with the archive. What it means: docs/performance.md.
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { printJson, printTable, type Cell } from '../src/cli/print.ts';
import { stopOnSignals } from '../src/cli/signals.ts';
import { measure, type Measured, type What } from './measure.ts';

const { values: flags } = parseArgs({
  options: {
    orders: { type: 'string', default: '200000' },
    classes: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '3' },
    memory: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const round = (number: number, digits = 0): number => Number(number.toFixed(digits));

type Spread = { median: number; min: number; max: number };

function spread(numbers: number[], digits = 0): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (place: number): number => round(sorted[place] ?? Number.NaN, digits);
  return { median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) };
}

const said = ({ median, min, max }: Spread): string => `${median} (${min}–${max})`;

const row = (one: Measured): Cell[] => [
  one.orders,
  one.classes,
  round(one.syncSeconds, 1),
  one.copySeconds === null ? '' : round(one.copySeconds, 1),
  round(one.rowsPerSecond),
  one.ratioToCopy === null ? '' : round(one.ratioToCopy, 2),
  round(one.peakMb),
  round(one.loadBefore, 1),
];

const runs: What[] = flags.memory
  ? [10_000, 100_000, 1_000_000].map((orders) => ({ orders, classes: 0, withCopy: false }))
  : Array.from({ length: Number(flags.runs) }, () => ({
      orders: Number(flags.orders),
      classes: Number(flags.classes),
      withCopy: true,
    }));

const stop = stopOnSignals();
const results: Measured[] = [];
for (const what of runs) results.push(await measure(what, stop.signal));
stop.close();

const machine = {
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: round(totalmem() / 2 ** 30),
  node: process.version,
  postgres: results[0]?.postgres ?? 'unknown',
};
const medians = {
  rowsPerSecond: spread(results.map((one) => one.rowsPerSecond)),
  ratioToCopy: spread(
    results.map((one) => one.ratioToCopy ?? Number.NaN),
    2,
  ),
  peakMb: spread(results.map((one) => one.peakMb)),
};
if (flags.json) {
  printJson({ machine, runs: results, ...(flags.memory ? {} : medians) });
} else {
  printTable(
    ['orders', 'classes', 'sync s', 'COPY s', 'rows/s', 'ratio to COPY', 'peak MB', 'load before'],
    results.map(row),
  );
  const { cpu, cores, memoryGb, node, postgres } = machine;
  const lines = [`${cores} × ${cpu}, ${memoryGb} GB, Node ${node}, Postgres ${postgres}`];
  if (!flags.memory) {
    lines.push(
      `median (min–max): ${said(medians.rowsPerSecond)} rows/s, ${said(medians.ratioToCopy)} of COPY, ${said(medians.peakMb)} MB`,
    );
  }
  process.stdout.write(`\n${lines.join('\n')}\n`);
}
