// What an export is measured by: DuckDB makes Parquet of CSV with everything left to its own choice. A process of its
// own. Fails unless it wrote so many rows.
import { DuckDBInstance } from '@duckdb/node-api';

const [csv = '', parquet = '', rows = ''] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const written = await connection.run(
  `copy (from read_csv('${csv}', header = true)) to '${parquet}' (format parquet, compression zstd)`,
);
if (String(written.rowsChanged) !== rows) {
  throw new Error(`DuckDB wrote ${written.rowsChanged} of ${rows} rows`);
}
connection.closeSync();
instance.closeSync();
