// The write path of stripe's sync-engine, its PostgresClient, fed with the same pages by a plain loop.
import { readPages } from './read-pages.mjs';

const { DATABASE_URL, STRIPE_ENGINE } = process.env;
const { PostgresClient } = await import(STRIPE_ENGINE);
const client = new PostgresClient({
  schema: 'peer',
  poolConfig: { connectionString: DATABASE_URL, max: 10 },
});
const properties =
  'id status message account amount number create_time update_time order_type'.split(' ');
await client.query('create schema peer');
await client.query(`
  create table peer.orders (
    id text primary key, status integer, message text, account text, amount text, number text, create_time text,
    update_time text, order_type integer, last_synced_at timestamptz)`);
for await (const { data } of readPages()) {
  const rows = data.order_infos.map(({ operation_id: id, ...rest }) => ({ id, ...rest }));
  await client.upsertManyWithTimestampProtection(rows, 'orders', { properties });
}
await client.pool.end();
