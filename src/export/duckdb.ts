// The engine that writes and reads Parquet, in this process and with bounded memory. An optional package, for it is 70
// MB: whoever exports CSV or JSON lines does without.
import { join } from 'node:path';
import type { DuckDBInstance } from '@duckdb/node-api';
import { fatal, settingsError } from '../errors.ts';

export type Engine = {
  run(sql: string): Promise<void>;
  /** The one number that a statement gives. */
  count(sql: string): Promise<number>;
  close(): void;
};

/** `folder` takes what does not fit into memory. Throws settings `duckdb_missing`. */
export async function openEngine(folder: string): Promise<Engine> {
  const { DuckDBInstance: Instance } = await load();
  const instance = await Instance.create(':memory:', {
    memory_limit: '512MB',
    // Faster than Postgres hands out rows. A second thread would wait for the first without resting (a month of 50,000
    // rows lies in one buffer: 8 instead of 6 µs of processor time a row).
    threads: '1',
    // What is freed goes back to the system: else 100 MB of it stay (of 180 MB otherwise, beside ours).
    allocator_bulk_deallocation_flush_threshold: '4MB',
    temp_directory: join(folder, 'spill'),
    // Nothing is fetched from anywhere.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run(`set TimeZone = 'UTC'`);
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw fatal('parquet_failed', 'Parquet could not be written or read', error);
    }
  };
  return {
    run: async (sql) => void (await guarded(connection.run(sql))),
    count: async (sql) => {
      const rows = await guarded(connection.runAndReadAll(sql));
      return Number(rows.getRows()[0]?.[0]);
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function load(): Promise<{ DuckDBInstance: typeof DuckDBInstance }> {
  try {
    return await import('@duckdb/node-api');
  } catch (error) {
    throw settingsError(
      'duckdb_missing',
      'Parquet needs the optional package @duckdb/node-api, which is not installed here: install it (`npm install --include=optional`), or export with --format csv or --format jsonl, which need nothing.',
      error,
    );
  }
}
