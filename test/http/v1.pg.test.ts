// The archive's own interface over HTTP: the same records as the library gives, page by page, whole, and one at a time.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Served, ServerOptions } from '../../src/http/server.ts';
import { openArchive, watch, type Archive } from '../../src/index.ts';
import { watchOperations } from '../../src/store/operations/watch-operations.ts';
import { createBench, tenDays, type Bench } from '../support/archive.ts';
import { observe } from '../support/observe.ts';
import { runHere } from '../support/command-here.ts';
import { serveArchive } from '../support/served.ts';

let bench: Bench;
let archive: Archive;
let served: Served;
const world = {
  ordersPerDay: 40,
  classesPerDay: 10,
  quietShare: 0.2,
  transactionsPerDay: 3,
  tokens: 3,
};

beforeAll(async () => {
  bench = await createBench(
    {
      world,
      days: [...daysIn({ from: '2026-03-01', to: '2026-03-07' }), ...tenDays.days.slice(-6)],
    },
    { tokensEveryMs: 86_400_000 },
  );
  await bench.seal();
  const operations = bench.simulator.oracle
    .operationIds('2026-04-02')
    .map((operationId) => ({ operationId }));
  await watch({ connectionString: bench.connectionString, project: 'p', operations });
  await bench.run();
  archive = await openArchive({ connectionString: bench.connectionString });
  served = await serveOn({});
});
afterAll(async () => {
  await served.close();
  await archive.close();
  await bench.close();
});

const serveOn = (more: Partial<ServerOptions>): Promise<Served> =>
  serveArchive(archive, {
    watch: (project, operations) => watchOperations(bench.db, project, operations),
    ...more,
  });

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${served.url}/archive/v1${path}`, init);
type Listed = {
  items: Record<string, unknown>[];
  next: string | null;
  previous: string | null;
  count?: number;
};
async function page(path: string): Promise<Listed> {
  const answer = await ask(path);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return JSON.parse(text) as Listed;
}

test('page by page every record once, and back again', async () => {
  for (const [list, key, of] of [
    ['/orders', 'operation_id', archive.orders],
    ['/nft_classes', 'id', archive.nftClasses],
  ] as const) {
    const pages: Listed[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const found: Listed = await page(
        `${list}?limit=31${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      pages.push(found);
      cursor = found.next;
    }
    const ids = pages.flatMap(({ items }) => items.map((item) => item[key]));
    expect(ids).toHaveLength(await of.count({ project: 'p' }));
    expect(new Set(ids).size).toBe(ids.length);
    expect(pages[0]?.previous).toBeNull();
    const back = await page(`${list}?limit=31&cursor=${pages.at(-1)?.previous}`);
    expect(back.items).toEqual(pages.at(-2)?.items);
    expect((await page(`${list}?limit=1&count=true`)).count).toBe(ids.length);
  }
});

test('a record has the names of the tables, exact numbers as text, and `raw` as the platform gave it', async () => {
  const [shown] = bench.simulator.oracle.shown('orders');
  const { items } = await page('/orders?limit=1');
  const order = await archive.orders.get('p', shown?.id ?? '');
  expect(items).toHaveLength(1);
  expect(items[0]).toEqual({
    project: 'p',
    operation_id: order?.operationId,
    status: order?.status,
    message: order?.message,
    account: order?.account,
    amount: order?.amount,
    number: order?.number,
    created_at: order?.createdAt,
    updated_at: order?.updatedAt,
    order_type: order?.orderType,
    slice_day: order?.sliceDay,
    observed_at: order?.observedAt,
    first_seen_at: order?.firstSeenAt,
    changed_at: order?.changedAt,
    missing_since: null,
    unread: [],
    raw_sha256: order?.rawSha256,
    raw_bytes: null,
    raw: JSON.parse(shown?.text ?? ''),
  });
  expect(await (await ask(`/orders/${shown?.id}`)).json()).toEqual(items[0]);
});

test('numbers in `raw` are not rounded', async () => {
  const exact =
    '{"operation_id": "exact", "amount": 12345678901234567890.123456789, "create_time": "2020-01-01T00:00:00Z"}';
  const of = { project: 'p', resource: 'orders' } as const;
  await observe(bench.db, of, [exact], '2026-03-05T10:00:00Z');
  expect(await (await ask('/orders/exact')).text()).toContain('12345678901234567890.123456789');
  const lines = await (await ask('/orders?to=2020-02-01&format=ndjson')).text();
  expect(lines).toContain('12345678901234567890.123456789');
});

test('filters narrow: days half-open, several statuses, an account, a name, a hash', async () => {
  const march = await page('/orders?from=2026-03-02&to=2026-03-04&limit=1000');
  expect(new Set(march.items.map((item) => item['slice_day']))).toEqual(
    new Set(['2026-03-02', '2026-03-03']),
  );
  const failed = await page('/orders?status=3,1&limit=1000&order=desc');
  expect(new Set(failed.items.map((item) => item['status']))).toEqual(new Set([1, 3]));
  expect(failed.items).toHaveLength(await archive.orders.count({ project: 'p', status: [1, 3] }));
  const [one] = (await page('/nft_classes?limit=1')).items;
  const same = await page(
    `/nft_classes?tx_hash=${String(one?.['tx_hash'])}&owner=${String(one?.['owner'])}`,
  );
  expect(same.items).toEqual([one]);
});

describe('the whole list as a stream', () => {
  test('of lines is what the library gives', async () => {
    const answer = await ask('/orders', { headers: { accept: 'application/x-ndjson' } });
    expect(answer.headers.get('content-type')).toContain('application/x-ndjson');
    const lines = (await answer.text()).trimEnd().split('\n');
    expect(lines).toHaveLength(await archive.orders.count({ project: 'p' }));
    expect(JSON.parse(lines[7] ?? '')).toEqual((await page('/orders?limit=8')).items[7]);
    expect((await (await ask('/orders?format=ndjson&limit=5')).text()).split('\n')).toHaveLength(6);
  });

  test('of CSV is what `outlast query` prints, byte for byte', async () => {
    for (const resource of ['orders', 'nft_classes', 'transactions', 'tokens']) {
      const answer = await ask(`/${resource}?format=csv`);
      expect(answer.headers.get('content-type')).toContain('text/csv');
      expect(await answer.text()).toBe(await printed(resource));
    }
  });

  test('of CSV begins with a byte order mark in a sheet, and nowhere else', async () => {
    const bytesOf = async (format: string): Promise<Buffer> =>
      Buffer.from(await (await ask(`/orders?format=${format}`)).arrayBuffer());
    expect((await bytesOf('csv')).subarray(0, 8).toString()).toBe('project,');
    expect((await bytesOf('sheet')).subarray(0, 11).toString()).toBe('\uFEFFproject,');
  });

  test('of a sheet has units beside fen, words beside numbers, and no raw', async () => {
    const answer = await ask('/orders?format=sheet&status=2&limit=1');
    expect(answer.headers.get('content-type')).toContain('text/csv');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="orders.csv"');
    const [head = '', line = ''] = (await answer.text()).split('\r\n');
    const row = Object.fromEntries(head.split(',').map((name, i) => [name, line.split(',')[i]]));
    expect(head).not.toContain('raw');
    expect(row).toMatchObject({ status: '2', status_name: 'succeeded' });
    expect(['gas', 'business fee']).toContain(row['order_type_name']);
    expect(Number(row['amount_units']) * 100).toBe(Number(row['amount_fen']));
    // Reading an answer as text takes the byte order mark off.
    const all = await (await ask('/orders?format=sheet')).text();
    expect(await printed('orders', 'sheet')).toBe(`\uFEFF${all}`);
    const tokens = (await (await ask('/tokens?format=sheet')).text()).split('\r\n')[0];
    expect(tokens).toContain(',mintable,owner,issue_fee_denom,issue_fee_amount,mint_fee_denom,');
    const figures = await (await ask('/statistics/orders?group_by=status&format=sheet')).text();
    expect(figures).toContain(',status,status_name,orders,');
    expect(figures).toContain(',2,succeeded,');
  });

  const printed = async (resource: string, format = 'csv'): Promise<string> => {
    const env = { DATABASE_URL: bench.connectionString };
    const { code, stdout, stderr } = await runHere(['query', resource, '--format', format], {
      env,
    });
    expect(code, stderr).toBe(0);
    return stdout;
  };

  test('has every list in it', async () => {
    for (const list of ['/tokens', '/summary', '/projects']) {
      const [head, ...rows] = (await (await ask(`${list}?format=csv`)).text())
        .trimEnd()
        .split('\r\n');
      const { items } = (await (await ask(list)).json()) as Listed;
      expect(head?.split(',')).toEqual(Object.keys(items[0] ?? {}));
      expect(rows).toHaveLength(items.length);
    }
  });
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

test('a Link leads to the next page', async () => {
  const answer = await ask('/orders?limit=3&status=2');
  const [, target = ''] = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
  // Relative to what was asked.
  const { items, previous } = (await (await fetch(new URL(target, answer.url))).json()) as Listed;
  expect(items).toHaveLength(3);
  expect(previous).not.toBeNull();
});

test('what was known at an instant, and everything that was ever said', async () => {
  const of = { project: 'p', resource: 'orders' as const };
  const said = { operation_id: 'told-twice', create_time: '2026-03-05T09:00:00Z', account: 'a' };
  const pending = { ...said, status: 1, update_time: '2026-03-05T09:00:00Z' };
  await observe(bench.db, of, [pending], '2026-03-05T10:00:00Z');
  const paid = { ...said, status: 2, update_time: '2026-03-05T11:00:00Z' };
  await observe(bench.db, of, [paid], '2026-03-05T12:00:00Z');

  const history = (await (await ask('/orders/told-twice/history')).json()) as Listed;
  expect(history.items).toMatchObject([
    { status: 1, in_force_from: '2026-03-05T10:00:00Z', in_force_until: '2026-03-05T12:00:00Z' },
    { status: 2, is_current: true, in_force_until: null, raw: paid },
  ]);
  const csv = (await (await ask('/orders/told-twice/history?format=csv')).text()).split('\r\n');
  expect(csv[0]?.split(',').slice(0, 5)).toEqual([
    'in_force_from',
    'in_force_until',
    'is_current',
    'project',
    'operation_id',
  ]);
  expect((await ask('/orders/none/history')).status).toBe(404);

  const at = async (instant: string) =>
    (await ask(`/orders/told-twice?as_of=${instant}`)).json() as Promise<Record<string, unknown>>;
  expect((await at('2026-03-05T11:59:59.999999Z'))['status']).toBe(1);
  expect((await at('2026-03-05T12:00:00Z'))['status']).toBe(2);
  // A plus sign that nobody encoded is a space on the wire.
  expect((await at('2026-03-05T19:59:59+08:00'))['status']).toBe(1);
  expect((await ask('/orders/told-twice?as_of=2026-03-05T09:59:59Z')).status).toBe(404);
  const then = await page('/orders?account=a&as_of=2026-03-05T11:00:00Z');
  expect(then.items.map((item) => item['status'])).toEqual([1]);
  const lines = await (
    await ask('/orders?account=a&as_of=2026-03-05T11:00:00Z&format=ndjson')
  ).text();
  expect((JSON.parse(lines) as Record<string, unknown>)['status']).toBe(1);
});

test('both results of an operation, a token and the sums are there', async () => {
  const [id = ''] = bench.simulator.oracle.operationIds('2026-04-02');
  const results = (await (await ask(`/transactions/${id}`)).json()) as Listed;
  expect(results.items.map((one) => one['api_version'])).toEqual(['v1beta1', 'v3']);
  const tokens = (await (await ask('/tokens')).json()) as Listed & { taken_at: string };
  expect(tokens.items).toHaveLength(3);
  expect(tokens.taken_at).toMatch(/Z$/);
  const symbol = String(tokens.items[0]?.['symbol']);
  expect(await (await ask(`/tokens/${symbol}`)).json()).toEqual(tokens.items[0]);
  const sums = (await (await ask('/summary')).json()) as Listed;
  expect(sums.items.map((one) => one['resource'])).toEqual(['orders', 'nft_classes']);
  expect(await (await ask('/projects')).json()).toEqual({ items: [{ project: 'p' }] });
});

test('results of operations in pages and whole', async () => {
  const all = await archive.transactions.count({ project: 'p' });
  expect(all).toBeGreaterThan(3);
  const first = (await (await ask('/transactions?limit=2&count=true')).json()) as Listed;
  expect(first).toMatchObject({ count: all, next: expect.any(String) as string });
  expect('previous' in first).toBe(false);
  const second = (await (
    await ask(`/transactions?limit=1000&cursor=${first.next}`)
  ).json()) as Listed;
  expect(second.next).toBeNull();
  const lines = (await (await ask('/transactions?format=ndjson')).text()).trimEnd().split('\n');
  const read = lines.map((line) => JSON.parse(line) as unknown);
  expect(read).toEqual([...first.items, ...second.items]);
  await bench.db.query(
    `update archive.transactions set status = 17
      where (project_id, operation_id, api_version) in
            (select project_id, operation_id, api_version from archive.transactions order by 2, 3 limit 1)`,
  );
  const odd = (await (await ask('/transactions?status=17,18&count=true')).json()) as Listed;
  expect(odd).toMatchObject({ count: 1, items: [{ status: 17 }] });
  const none = (await (await ask('/transactions?status=2&module=nothing')).json()) as Listed;
  expect(none.items).toEqual([]);
  const id = String(first.items[0]?.['operation_id']);
  const history = (await (await ask(`/transactions/${id}/history`)).json()) as Listed;
  expect(history.items.map((one) => one['api_version'])).toEqual(['v1beta1', 'v3']);
});

test('figures are those of the library, each with its coverage', async () => {
  const range = { project: 'p', from: '2026-03-01', to: '2026-04-01' };
  const query = 'from=2026-03-01&to=2026-04-01';
  const [month] = ((await (await ask(`/statistics/orders?${query}`)).json()) as Listed).items;
  const [same] = await archive.statistics.orders({ ...range, by: 'month' });
  expect(month).toMatchObject({
    period: '2026-03-01',
    orders: same?.orders,
    spent_fen: same?.spentFen,
    days: 31,
    is_held: same?.isHeld,
    is_settled: same?.isSettled,
    reservations: same?.reservations,
  });
  expect('account' in (month ?? {})).toBe(false);
  const grouped = await (
    await ask(`/statistics/orders?${query}&by=day&group_by=order_type,account&format=csv`)
  ).text();
  const [head, ...rows] = grouped.trimEnd().split('\r\n');
  expect(head).toMatch(/^period,account,order_type,orders,/);
  const groupBy = ['order_type', 'account'] as const;
  expect(rows).toHaveLength(
    (await archive.statistics.orders({ ...range, by: 'day', groupBy })).length,
  );
  const of = { project: 'p', resource: 'nft_classes' as const };
  const grown = { id: 'grown', owner: 'a', timestamp: '2026-03-05T09:00:00Z' };
  await observe(bench.db, of, [{ ...grown, nft_count: 1 }], '2026-03-05T10:00:00Z');
  await observe(bench.db, of, [{ ...grown, nft_count: 4 }], '2026-03-06T10:00:00Z');
  const growth = (await (await ask('/statistics/nft_growth')).json()) as Listed;
  expect(growth.items[0]).toMatchObject({ period: '2026-03-01', nfts_minted: '3' });
  for (const list of [
    'nft_classes?by=day',
    'nft_classes?group_by=owner',
    'nft_growth?by=day',
    'nft_owners?limit=3',
  ]) {
    const { items } = (await (await ask(`/statistics/${list}`)).json()) as Listed;
    expect([list, items.length > 0]).toEqual([list, true]);
  }
  const then = (await (
    await ask('/statistics/orders?as_of=2026-01-01T00:00:00Z')
  ).json()) as Listed;
  expect(new Set(then.items.map((item) => item['orders']))).toEqual(new Set([0]));
});

test('a reject is a row, and a file of its bytes', async () => {
  const bytes = Buffer.from('{"operation_id": \u0000');
  await bench.db.query(
    `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
     values ('p', 'orders', sha256($1), $1, 'no id', '', '2026-03-05', now())`,
    [bytes],
  );
  const [reject] = ((await (await ask('/rejects')).json()) as Listed).items;
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
    const { items } = (await (await ask(path)).json()) as { items: { href: string }[] };
    for (const { href } of items) expect((await fetch(served.url + href)).status).toBe(200);
  }
});
