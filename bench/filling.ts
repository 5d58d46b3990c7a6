// How fast an archive fills, run after run, and what is printed of it. What a run does: measure.ts.
import { printTable, type Cell } from '../src/cli/print.ts';
import { measure, type Measured, type What } from './measure.ts';

const round = (number: number, digits = 0): number => Number(number.toFixed(digits));

export type Spread = { median: number; min: number; max: number };

export type Filled = {
  runs: Measured[];
  /** Null where each run was another size. */
  medians: { rowsPerSecond: Spread; ratioToCopy: Spread; peakMb: Spread } | null;
};

export async function measureFilling(runs: What[], signal: AbortSignal): Promise<Filled> {
  const results: Measured[] = [];
  for (const what of runs) results.push(await measure(what, signal));
  const isOneSize = runs.every(({ orders }) => orders === runs[0]?.orders);
  return {
    runs: results,
    medians: isOneSize
      ? {
          rowsPerSecond: spread(results.map((one) => one.rowsPerSecond)),
          ratioToCopy: spread(
            results.map((one) => one.ratioToCopy ?? Number.NaN),
            2,
          ),
          peakMb: spread(results.map((one) => one.peakMb)),
        }
      : null,
  };
}

export function spread(numbers: number[], digits = 0): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (place: number): number => round(sorted[place] ?? Number.NaN, digits);
  return { median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) };
}

export const said = ({ median, min, max }: Spread): string =>
  min === max ? String(median) : `${median} (${min}–${max})`;

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

export function printFilling({ runs, medians }: Filled): void {
  printTable(
    ['orders', 'classes', 'sync s', 'COPY s', 'rows/s', 'ratio to COPY', 'peak MB', 'load before'],
    runs.map(row),
  );
  if (medians === null) return;
  process.stdout.write(
    `\nmedian (min–max): ${said(medians.rowsPerSecond)} rows/s, ${said(medians.ratioToCopy)} of COPY, ${said(medians.peakMb)} MB\n`,
  );
}
