// `npm run bench -- --reading` on a small archive: every figure is there, of pages that have records, and nothing stays
// behind.
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Reading } from '../../bench/reading.ts';
import { freshFolder } from '../support/fresh.ts';

const bench = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url));

test('reading is measured from the first page to the last export', async () => {
  const folder = await freshFolder();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [bench, '--reading', '--orders', '600', '--runs', '1', '--json'],
    { env: { ...process.env, TMPDIR: folder } },
  );
  const { reading } = JSON.parse(stdout) as { reading: Reading };
  const { timed, exports } = reading;
  expect(timed).toHaveLength(19);
  for (const one of timed) {
    expect(one.medianMs, one.what).toBeGreaterThan(0);
    expect(one.p99Ms, one.what).toBeGreaterThanOrEqual(one.medianMs);
    // The one order still pending is behind most places.
    if (!one.what.includes('pending')) expect(one.records, one.what).toBeGreaterThan(0);
  }
  const recordsOf = (what: string): number =>
    timed.find((one) => one.what === what)?.records ?? Number.NaN;
  expect(recordsOf('total of all')).toBe(600);
  expect(recordsOf('page of 50')).toBeGreaterThan(45);
  expect(recordsOf('HTTP page of 50')).toBeGreaterThan(45);
  expect(recordsOf('HTTP first page and total of a day')).toBeLessThan(10);
  expect(exports.map(({ what, rows }) => [what, rows])).toEqual([
    ['outlast export', 101],
    ['DuckDB from CSV', 101],
    ['DuckDB again', 101],
  ]);
  for (const { seconds, processorSeconds } of exports) {
    expect(seconds).toBeGreaterThan(0);
    // Counted by the kernel, and only by Linux.
    if (process.platform === 'linux') expect(processorSeconds).toBeGreaterThan(0);
  }
  expect(await readdir(folder)).toEqual([]);
});
