// What .ci/bi.sh asks Superset, started by the commands of docs/bi.md: its lists of views, what it takes columns for,
// a chart by month, and the schema `sync`, each compared with Postgres. Usage: node bi-ask.mjs <the archive's address>
// <file of commands>. Prints what Superset said where it did something else.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import pg from 'pg';

const [, , address, commands] = process.argv;
const archive = new pg.Client({ connectionString: address });
await archive.connect();
const sql = async (text) => (await archive.query(text)).rows;
const operations = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
const [login] = /^create role reports login .*$/m.exec(operations);
await sql(login.replace('reports', 'bi_tool'));

const lines = readFileSync(commands, 'utf8').replace('host:5432', new URL(address).host);
const superset = spawn('bash', ['-euxc', lines], {
  detached: true,
  stdio: ['ignore', 'pipe', 'pipe'],
  env: { ...process.env, FLASK_RUN_PORT: '0' },
});
let said = '';
const url = new Promise((resolve, reject) => {
  function listen(chunk) {
    said += chunk;
    const running = /Running on (http:\S+)/.exec(said);
    if (running !== null) resolve(`${running[1]}/api/v1`);
  }
  superset.stdout.on('data', listen);
  superset.stderr.on('data', listen);
  superset.once('exit', () => reject(new Error('Superset ended')));
});
process.once('exit', (status) => {
  if (status !== 0) process.stderr.write(said.slice(-5_000));
  if (superset.pid !== undefined && superset.exitCode === null) process.kill(-superset.pid);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const headers = { 'content-type': 'application/json' };
async function ask(path, body) {
  const answer = await fetch((await url) + path, {
    headers,
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) headers.cookie = cookies.map((cookie) => cookie.split(';')[0]).join('; ');
  return answer.json();
}
const [, username, password] = /--username (\S+) --password (\S+)/.exec(lines);
const session = await ask('/security/login', { username, password, provider: 'db' });
headers.authorization = `Bearer ${session.access_token}`;
headers['x-csrftoken'] = (await ask('/security/csrf_token/')).result;

async function tablesOf(schema) {
  const { result } = await ask(`/database/1/tables/?q=(schema_name:${schema})`);
  return result.map(({ value }) => value).toSorted();
}
for (const schema of ['analytics', 'archive']) {
  const [{ tables }] = await sql(
    `select array_agg(relname::text order by relname) as tables
       from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind in ('r', 'v')`,
  );
  assert.deepEqual(await tablesOf(schema), tables);
}

const datasets = {};
for (const view of ['orders_by_day', 'orders_by_month']) {
  const { id } = await ask('/dataset/', { database: 1, schema: 'analytics', table_name: view });
  datasets[view] = id;
  const { result } = await ask(`/dataset/${id}`);
  const columns = await sql(
    `select attname as name, col_description(attrelid, attnum) as comment, atttypid::regtype::text in ('date', 'timestamp with time zone') as is_time
       from pg_attribute
      where attrelid = 'analytics.${view}'::regclass and attnum > 0
      order by attnum`,
  );
  assert.deepEqual(
    result.columns.map((column) => [column.column_name, column.description, column.is_dttm]),
    columns.map(({ name, comment, is_time }) => [name, comment, is_time]),
  );
}

const metrics = ['sum(spent_units)', 'bool_and(is_settled)', 'min(reservations)'];
const chart = await ask('/chart/data', {
  datasource: { id: datasets.orders_by_month, type: 'table' },
  queries: [
    {
      columns: ['month'],
      orderby: [['month', true]],
      metrics: metrics.map((one) => ({ expressionType: 'SQL', sqlExpression: one, label: one })),
    },
  ],
});
const months = await sql(
  `select extract(epoch from month)::float8 * 1000 as time, sum(spent_units)::float8 as spent,
          bool_and(is_settled) as settled, min(reservations) as list
     from analytics.orders_by_month
    group by month
    order by month`,
);
assert.deepEqual(
  chart.result[0].data.map((row) => [row.month, ...metrics.map((metric) => row[metric])]),
  months.map(({ time, spent, settled, list }) => [
    time,
    spent,
    settled,
    `["${list.join('", "')}"]`,
  ]),
);

const readable = [];
for (const table of await tablesOf('sync')) {
  const query = `select * from sync.${table} limit 1`;
  const answer = await ask('/sqllab/execute/', { database_id: 1, sql: query });
  if (answer.status === 'success') readable.push(table);
  else assert.match(answer.errors[0].message, /permission denied/);
}
assert.deepEqual(readable, ['books', 'chains', 'journal', 'readings']);

await archive.end();
process.exit();
