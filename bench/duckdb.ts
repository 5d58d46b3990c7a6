// What an export is measured by: DuckDB, told the columns' types and nothing else, makes Parquet of CSV. A process of its own.
import { DuckDBInstance } from '@duckdb/node-api';

const [csv = '', parquet = ''] = process.argv.slice(2);
const types = {
  project_id: 'varchar',
  operation_id: 'varchar',
  status: 'integer',
  message: 'varchar',
  account: 'varchar',
  amount: 'decimal(38, 9)',
  number: 'decimal(38, 9)',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  order_type: 'integer',
  slice_day: 'date',
  raw: 'varchar',
  raw_bytes: 'varchar',
  raw_sha256: 'varchar',
  unread: 'varchar',
  observed_at: 'timestamptz',
  first_seen_at: 'timestamptz',
  changed_at: 'timestamptz',
  missing_since: 'timestamptz',
};
const columns = Object.entries(types).map(([name, type]) => `'${name}': '${type}'`);
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
await connection.run(
  `copy (from read_csv('${csv}', header = true, columns = {${columns.join(', ')}}))
     to '${parquet}' (format parquet, compression zstd)`,
);
connection.closeSync();
instance.closeSync();
