// The archive's own interface over HTTP: the same records as the library gives, page by page, whole, and one at a time.
import { expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Served } from '../../src/http/server.ts';
import { openArchive, type Archive } from '../../src/index.ts';
import { createBench, tenDays, type Bench } from '../support/archive.ts';
import { setUp } from '../support/fresh.ts';
import { observe } from '../support/observe.ts';
import { serveArchive, textAt } from '../support/served.ts';

let bench: Bench;
let archive: Archive;
let served: Served;

setUp(async (keep) => {
  const days = [...daysIn({ from: '2026-03-01', to: '2026-03-07' }), ...tenDays.days.slice(-6)];
  bench = await keep(createBench({ days }));
  await bench.run();
  archive = await keep(openArchive({ connectionString: bench.connectionString }));
  served = await keep(serveArchive(archive));
});

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${served.url}/archive/v1${path}`, init);
type Listed = { items: Record<string, unknown>[]; previous: string | null };
const textOf = (path: string): Promise<string> => textAt(`${served.url}/archive/v1${path}`);
const page = async (path: string): Promise<Listed> => JSON.parse(await textOf(path)) as Listed;

test('numbers in `raw` are not rounded', async () => {
  const exact =
    '{"operation_id": "exact", "amount": 12345678901234567890.123456789, "create_time": "2020-01-01T00:00:00Z"}';
  const of = { project: 'p', resource: 'orders' } as const;
  await observe(bench.db, of, [exact], '2026-03-05T10:00:00Z');
  expect(await textOf('/orders/exact')).toContain('12345678901234567890.123456789');
  const lines = await textOf('/orders?to=2020-01-01&format=ndjson');
  expect(lines).toContain('12345678901234567890.123456789');
});

test('a sheet has units beside fen, words beside numbers, and no raw', async () => {
  expect((await textOf('/orders?format=ndjson&limit=5')).split('\n')).toHaveLength(6);
  const answer = await ask('/orders?format=sheet&status=2&limit=1');
  expect(answer.headers.get('content-type')).toContain('text/csv');
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="orders.csv"');
  const [head = '', line = ''] = (await answer.text()).split('\r\n');
  const row = Object.fromEntries(head.split(',').map((name, i) => [name, line.split(',')[i]]));
  expect(head).not.toContain('raw');
  expect(row).toMatchObject({ status: '2', status_name: 'succeeded' });
  expect(['gas', 'business fee']).toContain(row['order_type_name']);
  expect(Number(row['amount_units']) * 100).toBe(Number(row['amount_fen']));
  const tokens = (await textOf('/tokens?format=sheet')).split('\r\n')[0];
  expect(tokens).toContain(',mintable,owner,issue_fee_denom,issue_fee_amount,mint_fee_denom,');
  const figures = await textOf('/statistics/orders?group_by=status&format=sheet');
  expect(figures).toContain(',status,status_name,orders,');
  expect(figures).toContain(',2,succeeded,');
});

test('ETags spare what is known already; HEAD tells the same without a body', async () => {
  const first = await ask('/orders?limit=3');
  const etag = first.headers.get('etag') ?? '';
  expect(first.headers.get('cache-control')).toBe('private, no-cache');
  expect(etag).toMatch(/^"[\w-]+"$/);
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const again = await ask('/orders?limit=3', { headers: { 'if-none-match': known } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
  }
  const other = await ask('/orders?limit=4', { headers: { 'if-none-match': etag } });
  expect(other.status).toBe(200);
  const head = await ask('/orders?limit=3', { method: 'HEAD' });
  expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', etag]);
  expect(head.headers.get('content-length')).toBe(first.headers.get('content-length'));
  const stream = await ask('/orders?format=csv', { method: 'HEAD' });
  expect([stream.status, stream.headers.get('content-length')]).toEqual([200, null]);
});

test('a Link leads to the next page, and the way back is there', async () => {
  const answer = await ask('/orders?limit=3&status=2');
  const [, target = ''] = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
  const first = (await answer.json()) as Listed;
  expect(first.previous).toBeNull();
  // Relative to what was asked.
  const { items, previous } = (await (await fetch(new URL(target, answer.url))).json()) as Listed;
  expect(items).toHaveLength(3);
  expect((await page(`/orders?limit=3&status=2&cursor=${previous}`)).items).toEqual(first.items);
});

test('an instant may come with a plus sign that nobody encoded, which is a space on the wire', async () => {
  const of = { project: 'p', resource: 'orders' as const };
  const said = { operation_id: 'told-twice', create_time: '2026-03-05T09:00:00Z' };
  await observe(bench.db, of, [{ ...said, status: 1 }], '2026-03-05T10:00:00Z');
  const paid = { ...said, status: 2, update_time: '2026-03-05T11:00:00Z' };
  await observe(bench.db, of, [paid], '2026-03-05T12:00:00Z');
  const at = (instant: string) => ask(`/orders/told-twice?as_of=${instant}`);
  expect(await (await at('2026-03-05T19:59:59+08:00')).json()).toMatchObject({ status: 1 });
  expect((await at('2026-03-05T09:59:59Z')).status).toBe(404);
  expect((await ask('/orders/none/history')).status).toBe(404);
});

test('figures have a column for each group, and the others none', async () => {
  const range = { project: 'p', from: '2026-03-01', to: '2026-03-31', by: 'day' } as const;
  const query = 'from=2026-03-01&to=2026-03-31&by=day';
  const csv = await textOf(`/statistics/orders?${query}&group_by=order_type,account&format=csv`);
  const [head, ...rows] = csv.trimEnd().split('\r\n');
  expect(head).toMatch(/^period,account,order_type,orders,/);
  const groupBy = ['order_type', 'account'] as const;
  expect(rows).toHaveLength((await archive.statistics.orders({ ...range, groupBy })).length);
  const plain = await textOf(`/statistics/orders?${query}&format=csv`);
  expect(plain).toMatch(/^period,orders,/);
});

test('a reject is a row, and a file of its bytes', async () => {
  const bytes = Buffer.from('{"operation_id": \u0000');
  await bench.db.query(
    `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
     values ('p', 'orders', sha256($1), $1, 'no id', '', '2026-03-05', now())`,
    [bytes],
  );
  const [reject] = (await page('/rejects')).items;
  expect(reject).toMatchObject({ reason: 'no id', byte_count: bytes.length });
  const answer = await ask(`/rejects/orders/${String(reject?.['sha256'])}`);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="reject-orders-/,
  );
});

test('the file behind a certificate link comes as bytes that no browser runs', async () => {
  const bytes = Buffer.from('<script>alert(1)</script>\0\xff', 'latin1');
  await bench.db.query(
    `insert into archive.certificate_files (project_id, operation_id, url, bytes, sha256, media_type, fetched_at)
     values ('p', 'op "odd', 'https://files.example/x', $1, sha256($1), 'text/html', now())`,
    [bytes],
  );
  const answer = await ask(`/transactions/${encodeURIComponent('op "odd')}/certificate_file`);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  expect(answer.headers.get('content-type')).toBe('application/octet-stream');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('content-disposition')).toBe(
    'attachment; filename="certificate-op__odd"',
  );
  expect((await ask('/transactions/none/certificate_file')).status).toBe(404);
});

test('the index leads to every list', async () => {
  for (const path of ['', '/']) {
    const { items } = JSON.parse(await textOf(path)) as { items: { href: string }[] };
    for (const { href } of items) expect((await fetch(served.url + href)).status).toBe(200);
  }
});
