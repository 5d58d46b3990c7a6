// How fast an archive fills, run after run, and what is printed of it. What a run does: measure.ts.
import type { Cell } from '../src/cli/print.ts';
import { measure, type Measured, type What } from './measure.ts';
import type { Table } from './tables.ts';

const round = (number: number, digits = 0): number => Number(number.toFixed(digits));

export type Spread = { median: number; min: number; max: number };

export type Filled = {
  runs: Measured[];
  medians: { rowsPerSecond: Spread; ratioToCopy: Spread; peakMb: Spread };
  postgres: string;
};

export async function measureFilling(runs: What[], signal: AbortSignal): Promise<Filled> {
  const results: Measured[] = [];
  for (const what of runs) results.push(await measure(what, signal));
  return {
    runs: results,
    medians: {
      rowsPerSecond: spread(results.map((one) => one.rowsPerSecond)),
      ratioToCopy: spread(
        results.map((one) => one.ratioToCopy),
        2,
      ),
      peakMb: spread(results.map((one) => one.peakMb)),
    },
    postgres: results[0]?.postgres ?? 'unknown',
  };
}

export function spread(numbers: number[], digits = 0): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  const at = (place: number): number => sorted[place] ?? Number.NaN;
  const median = (at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2;
  return { median: round(median, digits), min: round(at(0), digits), max: round(at(last), digits) };
}

export const said = ({ median, min, max }: Spread): string =>
  min === max ? String(median) : `${median} (${min}–${max})`;

const row = (one: Measured): Cell[] => [
  one.orders,
  one.classes,
  round(one.syncSeconds, 1),
  round(one.copySeconds, 1),
  round(one.copyAgainSeconds, 1),
  round(one.rowsPerSecond),
  round(one.ratioToCopy, 2),
  `${round(one.processUs)} + ${round(one.postgresUs)} + ${round(one.platformUs)}`,
  round(one.peakMb),
  round(one.loadBefore, 1),
];

export const fillingTables = ({ runs, medians }: Filled): Table[] => [
  {
    name: 'filling',
    head: [
      'orders',
      'classes',
      'sync s',
      'COPY s',
      'COPY again s',
      'rows/s',
      'ratio to COPY',
      'processor µs a row',
      'peak MB',
      'load before',
    ],
    rows: runs.map(row),
    notes: [
      'Processor time: of the sync process, of Postgres, and of the simulated platform.',
      `Median (min–max): ${said(medians.rowsPerSecond)} rows/s, ${said(medians.ratioToCopy)} of COPY, ${said(medians.peakMb)} MB.`,
    ],
  },
];
