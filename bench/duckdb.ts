// What an export is measured by: DuckDB makes Parquet of CSV with everything left to its own choice. A process of its
// own.
import { DuckDBInstance } from '@duckdb/node-api';

const [csv = '', parquet = ''] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
await connection.run(
  `copy (from read_csv('${csv}', header = true)) to '${parquet}' (format parquet, compression zstd)`,
);
connection.closeSync();
instance.closeSync();
