// What reads or cleans all of an archive, and so takes as long as it is large: `outlast verify`, an export in each form,
// and VACUUM of a table of which one row in twenty is dead.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { runCommand } from './children.ts';
import type { Table } from './tables.ts';

/** Seconds, and the peak memory of the process in MB; `bytes`: of the files that it wrote. */
type Done = { seconds: number; peakMb: number; bytes: number };

export type Upkeep = { verify: Done; csv: Done; parquet: Done; vacuumSeconds: number };

/** `folder`: where the exports go for a moment. One row in twenty is written anew. */
export async function measureUpkeep(
  client: pg.Client,
  folder: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Upkeep> {
  const exported = async (format: string): Promise<Done> => {
    const to = join(folder, 'export');
    const done = await runCommand(['export', to, '--format', format, '--json'], env, signal);
    const { files } = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8')) as {
      files: { bytes: number }[];
    };
    await rm(to, { recursive: true });
    return { ...done, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  };
  const verify = { ...(await runCommand(['verify', '--json'], env, signal)), bytes: 0 };
  const csv = await exported('csv');
  const parquet = await exported('parquet');
  return { verify, csv, parquet, vacuumSeconds: await vacuum(client) };
}

async function vacuum(client: pg.Client): Promise<number> {
  // Not by another process meanwhile.
  await client.query('alter table archive.orders set (autovacuum_enabled = off)');
  await client.query(
    'update archive.orders set changed_at = changed_at where hashtext(operation_id) % 20 = 0',
  );
  await client.query('checkpoint');
  const begun = performance.now();
  await client.query('vacuum archive.orders');
  return (performance.now() - begun) / 1000;
}

export const upkeepTable = (sizes: { orders: number; upkeep: Upkeep }[]): Table => ({
  name: 'upkeep',
  head: [
    'orders',
    'verify, µs',
    'verify, peak MB',
    'CSV, µs',
    'CSV, bytes',
    'CSV, peak MB',
    'Parquet, µs',
    'Parquet, bytes',
    'Parquet, peak MB',
    'VACUUM, µs',
  ],
  rows: sizes.map(({ orders, upkeep: { verify, csv, parquet, vacuumSeconds } }) => {
    const us = (seconds: number): number => Number(((seconds * 1e6) / orders).toFixed(1));
    const written = ({ seconds, bytes, peakMb }: Done): number[] => [
      us(seconds),
      Math.round(bytes / orders),
      Math.round(peakMb),
    ];
    return [
      orders,
      us(verify.seconds),
      Math.round(verify.peakMb),
      ...written(csv),
      ...written(parquet),
      us(vacuumSeconds),
    ];
  }),
  notes: ['Microseconds by the clock, and bytes of files, an order.'],
});
