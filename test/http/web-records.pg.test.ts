// The pages of records: what can be asked of a list and of a record there, and that what records hold neither breaks a
// page nor is taken for more than text.
import { describe, expect, test } from 'vitest';
import type { Served } from '../../src/http/server.ts';
import type { Archive, Order, Version } from '../../src/index.ts';
import { parseJson } from '../../src/platform/json.ts';
import { readToken } from '../../src/platform/tokens.ts';
import { readTransaction } from '../../src/platform/transactions.ts';
import { collect } from '../support/collect.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { observe, observeUnlisted } from '../support/observe.ts';
import { openEmpty, type Opened } from '../support/opened.ts';
import { writeOrders, writeProjects } from '../support/rows.ts';
import { serveArchive, withPaths } from '../support/served.ts';
import { bearerKey, bearing } from './ask.ts';

let opened: Opened;
let served: Served;
/** Beyond loopback, where `key` opens project `q` alone. */
let remote: Served;
const key = 'a-key-of-its-own-for-q';
const first = '2026-03-05T10:00:00Z';
const later = '2026-03-05T11:00:00Z';

const long = 'x'.repeat(10_000);
const hostile = {
  id: 'a/b?<script>&\u202e',
  name: '<script>alert(1)</script>\u202e"\'',
  symbol: '🎉'.repeat(3),
  owner: 'owner',
  uri: 'nul\u0000',
  timestamp: '2026-03-05T09:00:00Z',
};
const change = (status: number, n: string): string =>
  `{"operation_id":"changes","status":${status},"amount":"1234","number":"12345678901234567890","order_type":1,"message":"余额不足","create_time":"2026-03-05T09:00:00Z","n":${n}}`;

setUp(async (keep) => {
  opened = await keep(openEmpty());
  const { db } = opened;
  const orders = { project: 'p', resource: 'orders' } as const;
  await writeOrders(db, { project: 'p', count: 70, from: '2026-03-01T00:00:00Z', perDay: 35 });
  await observe(db, orders, [change(1, '{"a":[1,{"b":1.50}],"gone":[true]}')], first);
  const changed = change(2, '{"a":[1,{"b":12345678901234567890.10}],"new key":"\\u202e"}');
  await observe(db, orders, [changed], later);
  const missing = { operation_id: 'missing', create_time: '2026-03-06T09:00:00Z', status: 2 };
  await observe(db, orders, [missing], first);
  await db.query(
    `update archive.orders set missing_since = '${later}' where operation_id = 'missing'`,
  );
  await observe(db, { ...orders, project: 'q' }, [{ ...missing, operation_id: 'of-q' }], first);
  const classes = [
    hostile,
    { ...hostile, id: 'dots', name: 'two dots' },
    { ...hostile, id: 'long', name: long },
  ];
  await observe(db, { project: 'p', resource: 'nft_classes' }, classes, first);
  for (const [status, at] of [
    [0, first],
    [1, later],
  ] as const) {
    const text = `{"status":${status},"module":"nft","type":"mint_nft","block_height":"9007199254740993"}`;
    const record = readTransaction(parseJson(text), text, 'op 1');
    await observeUnlisted(db, { project: 'p', lookup: 'v1beta1' }, record, at);
  }
  const element = '{"value":{"symbol":"gas","name":"Gas","scale":6,"min_unit":"ugas"}}';
  const token = readToken('gas', element, '{"mint_fee":{"denom":"ugas","amount":"46"}}', '7');
  await observeUnlisted(db, { project: 'p', lookup: 'tokens' }, token, first);
  await db.query(
    `insert into archive.certificate_files (project_id, operation_id, url, bytes, sha256, media_type, fetched_at)
     values ('p', 'op 1', 'javascript:alert(1)', 'abc', sha256('abc'), 'application/pdf', '${later}')`,
  );
  const keys = [bearerKey(key, ['q'])];
  const projects = ['p', 'q'].map((id) => ({ id, classesOf: id }));
  const now = (): number => Date.parse('2026-03-07T00:00:00Z');
  served = await keep(serveArchive(opened.archive, { now }));
  remote = await keep(serveArchive(opened.archive, { now, host: '0.0.0.0', keys, projects }));
});

type Shown = { status: number; html: string; location: string | null };
async function page(
  path: string,
  headers: Record<string, string> = {},
  at = served,
): Promise<Shown> {
  const answer = await fetch(`${at.url}${path}`, { headers, redirect: 'manual' });
  const html = withPaths(await answer.text());
  // What the policy forbids would not work, and whoever widens it is found here.
  expect(html).not.toMatch(/<script(?! src="\/web\/)|<style|\sstyle=|\son\w+=/);
  const location = answer.headers.get('location')?.replace(/^\.\.?\/(?:\.\.\/)*/, '/') ?? null;
  return { status: answer.status, html, location };
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
/** The ids of a list, from the heads of its rows. */
const idsIn = (html: string): string[] =>
  [...html.matchAll(/<th scope="row"[^>]*><a [^>]*><bdi>([^<]*)/g)].map(([, id]) =>
    unescaped(id ?? ''),
  );
const linkIn = (html: string, rel: string): string | undefined =>
  unescaped(new RegExp(`<a href="([^"]*)" rel="${rel}"`).exec(html)?.[1] ?? '') || undefined;
const twinIn = (html: string): string =>
  unescaped(/<link rel="alternate" type="application\/json" href="([^"]*)"/.exec(html)?.[1] ?? '');
const csvIn = (html: string): string =>
  unescaped(/<a href="([^"]*format=sheet[^"]*)"/.exec(html)?.[1] ?? '');

async function held(query: object = {}): Promise<string[]> {
  const stream = opened.archive.orders.stream({ project: 'p', order: 'desc', ...query });
  return (await collect(stream)).map((one) => one.operationId);
}

describe('a list', () => {
  test('goes through all records once, the newest first, and back again; CSV and JSON give the same', async () => {
    const pages: string[] = [];
    for (let path: string | undefined = '/orders?limit=25'; path !== undefined;) {
      const { status, html } = await page(path);
      expect(status).toBe(200);
      pages.push(html);
      const json = await (await fetch(served.url + twinIn(html))).json();
      const { items } = json as { items: { operation_id: string }[] };
      expect(items.map(({ operation_id: id }) => id)).toEqual(idsIn(html));
      path = linkIn(html, 'next');
    }
    const all = await held();
    expect(pages.flatMap(idsIn)).toEqual(all);
    expect(pages).toHaveLength(3);
    const back = await page(linkIn(pages[2] ?? '', 'prev') ?? '');
    expect(idsIn(back.html)).toEqual(idsIn(pages[1] ?? ''));
    expect(linkIn(pages[0] ?? '', 'prev')).toBeUndefined();
    expect(linkIn(pages[2] ?? '', 'start')).toBe('/orders?limit=25');
    const download = await fetch(served.url + csvIn(pages[1] ?? ''));
    const bytes = Buffer.from(await download.arrayBuffer());
    // Without it Excel reads a download as the code page of its machine.
    expect(bytes.subarray(0, 3).toString('hex')).toBe('efbbbf');
    const lines = bytes.toString().trim().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',')[1])).toEqual(all);
  });

  test('is narrowed as the library narrows it, and its CSV with it', async () => {
    const query = { from: '2026-03-02', to: '2026-03-02', status: [1, 3] as const };
    const { html } = await page(
      '/orders?from=2026-03-02&to=2026-03-02&status=1&status=3&account=&order=asc',
    );
    const expected = await held({ ...query, order: 'asc' });
    expect(idsIn(html)).toEqual(expected);
    expect(html).toContain(`<strong>${expected.length} records</strong>`);
    expect(html.match(/name="status" value="\d" checked/g)).toHaveLength(2);
    expect(html).toContain('value="2026-03-02"');
    expect(
      (await (await fetch(served.url + csvIn(html))).text()).trim().split('\r\n'),
    ).toHaveLength(expected.length + 1);
    const [one] = await held({ account: 'account_7' });
    expect(idsIn((await page('/orders?account=account_7')).html)).toEqual([one]);
    expect(idsIn((await page('/nft_classes?name=TWO')).html)).toEqual(['dots']);
    expect(idsIn((await page('/transactions?status=1&module=nft')).html)).toEqual(['op 1']);
    expect((await page('/transactions?status=0')).html).toContain('Nothing matches.');
    expect(idsIn((await page('/tokens')).html)).toEqual(['gas']);
  });

  test('is as it was known at an instant, and so are the records that it leads to', async () => {
    const { html } = await page('/orders?from=2026-03-05&as_of=2026-03-05T10:30:00Z');
    expect(idsIn(html)).toEqual(['missing', 'changes']);
    expect(html).not.toContain('no longer shown');
    expect(html).toContain('/orders/changes?as_of=2026-03-05T10%3A30%3A00Z');
    expect((await page('/orders?from=2026-03-05')).html).toContain('no longer shown');
  });

  test('says whether the chosen days are covered, and which are not', async () => {
    expect((await page('/orders?from=2026-03-01&to=2026-03-03')).html).toContain(
      'None of these days is in the archive.',
    );
    await writeProjects(opened.db, ['p']);
    await opened.db.query(
      `insert into sync.slices (project_id, resource, day, deadline_at, state, proof, proved_at)
       select 'p', 'orders', day, '2026-04-30', state, proof, case proof when 'none' then null else '${later}'::timestamptz end
         from (values ('2026-03-01'::date, 'sealed', 'books'), ('2026-03-02', 'walked', 'none')) days (day, state, proof)`,
    );
    const { html } = await page('/orders?from=2026-03-01&to=2026-03-03');
    expect(html).toContain('1 of 2 days is not all held yet');
    expect(html).toContain('href="/days/orders/2026-03-02"');
    expect(html).not.toContain('href="/days/orders/2026-03-01"');
    expect(html).toContain('One day is none of the archive');
    expect((await page('/orders?from=2026-03-01&to=2026-03-01')).html).toContain(
      'All is held of this day.',
    );
  });

  test.each([
    ['/orders?from=2026-02-30', 'from must be a UTC day'],
    [
      '/orders?from=2026-03-04&to=2026-03-01',
      'from (2026-03-04) must not be after to (2026-03-01)',
    ],
    ['/orders?status=9', 'status must be one of 1, 2, 3'],
    ['/orders?limit=501', 'limit must be a whole number from 1 to 500'],
    ['/orders?cursor=bm9uZQ', 'The cursor was not given by this query'],
    ['/orders?as_of=yesterday', 'as_of must be an instant'],
    ['/nft_classes?name=%00', 'name must be text'],
    ['/tokens?colour=red', '"colour" is not taken here'],
  ])('of %s is refused with its form and the sentence', async (path, sentence) => {
    const { status, html } = await page(path);
    expect(status).toBe(400);
    expect(unescaped(html)).toContain(sentence);
    expect(html).toContain('<button>Filter</button>');
  });

  test('of what changed leads to each record by its id, and says in words what became of it', async () => {
    const { html } = await page('/changed_records?lang=zh');
    expect(html).toMatch(
      /<th scope="row"[^>]*><a href="\/orders\/changes"[^]*?<bdi>changes<\/bdi>/,
    );
    expect(html).toContain(`data-head="变更" role="cell">新增<`);
    expect(html).toContain('<option value="late">较晚到达</option>');
    expect(html).toContain('<option value="transactions.v3">交易结果 v3</option>');
  });

  test('leads to a record by its id, and says where there is none', async () => {
    expect(await page('/orders?find=changes')).toMatchObject({
      status: 303,
      location: '/orders/changes',
    });
    for (const path of [
      '/orders?find=no%3Cb%3E',
      '/orders/no%3Cb%3E',
      `/orders?find=${'x'.repeat(9000)}`,
    ]) {
      const { status, html } = await page(path);
      expect(status).toBe(404);
      expect(html).toContain('The archive holds no such record.');
      expect(html).not.toContain('no<b>');
      expect(idsIn(html)).toHaveLength(50);
    }
  });
});

describe('a record', () => {
  test('says its fields exactly, in words and units, and what changed from content to content', async () => {
    const { html } = await page('/orders/changes');
    expect(html).toContain('12.34 currency units = 1,234 fen');
    expect((await page('/orders')).html).toContain('>12.34 units<');
    expect(html).toContain('12,345,678,901,234,567,890 ugas');
    expect(html).toContain('The price in fen');
    expect(html).toContain('The platform says: <bdi>余额不足</bdi>');
    const rows = [
      ...html.matchAll(
        /<th scope="row"[^>]*><code class="value">(.*?)<\/code><\/th><td[^>]*>(.*?)<\/td><td[^>]*>(.*?)<\/td>/g,
      ),
    ];
    const text = (cell = ''): string => unescaped(cell.replaceAll(/<[^>]*>/g, ''));
    expect(rows.map((row) => row.slice(1).map(text))).toEqual([
      ['n.a[1].b', '1.50', '12345678901234567890.10'],
      ['n["new key"]', 'new', String.raw`"\u202e"`],
      ['n.gone', '[true]', 'gone'],
      ['status', '1', '2'],
    ]);
    expect(unescaped(html)).toContain('"b": 12345678901234567890.10');
    expect(html.match(/>in force now</g)).toHaveLength(1);
    expect(html).toContain('in force 2026-03-05 10:00:00 – 2026-03-05 11:00:00');
    expect(twinIn(html)).toBe('/archive/v1/orders/changes');
    expect((await page('/orders/missing')).html).toContain(
      'The platform no longer shows it, since',
    );
  });

  test('is shown as it was known at an instant', async () => {
    const before = await page('/orders/changes?as_of=2026-03-05T18:59:00%2B08:00');
    expect(before.status).toBe(200);
    expect(before.html).toContain('pending<span class="soft"> 1</span>');
    expect(before.html).toContain('As it was known at');
    expect(twinIn(before.html)).toContain('as_of=2026-03-05T18');
    const dayEnd = 'As it was known at the end of 2026-03-05.';
    for (const path of ['/orders/changes', '/orders']) {
      expect((await page(`${path}?as_of=2026-03-05`)).html).toContain(dayEnd);
    }
    const never = await page('/orders/changes?as_of=2026-03-01T00:00:00Z');
    expect(never.status).toBe(404);
    expect(never.html).toContain('nothing was known of it yet');
    const wrong = await page('/orders/changes?as_of=soon');
    expect(wrong.status).toBe(400);
    expect(wrong.html).toContain('as_of must be an instant');
    expect(wrong.html).toContain('1,234 fen');
  });

  test('shows the newest of many contents, and of long ones the beginning', async () => {
    const { archive } = opened;
    const [version] = await archive.orders.history('p', 'changes');
    if (version === undefined) throw new Error('it has a history');
    const saying = (n: number, text = ''): Version<Order> => ({
      ...version,
      // The last but one came late.
      inForceFrom: n === 148 ? null : version.inForceFrom,
      item: { ...version.item, rawJson: `{"n":${n},"text":"${text}"}` },
    });
    const histories: Record<string, Version<Order>[]> = {
      many: Array.from({ length: 150 }, (_, n) => saying(n)),
      long: [1, 2, 3].map((n) => saying(n, 'x'.repeat(900_000))),
    };
    const orders: Archive['orders'] = {
      ...archive.orders,
      history: async (_, id) => histories[id] ?? [],
    };
    const other = await fresh(serveArchive({ ...archive, orders }));
    const { html: many } = await page('/orders/many', {}, other);
    const { html: longOnes } = await page('/orders/long', {}, other);
    expect(many).toContain('50 earlier contents are not shown here');
    expect(many).toContain('<ol class="versions" start="51">');
    // All but the last five are folded, so that the page ends somewhere.
    expect(many.match(/<details>/g)).toHaveLength(101);
    expect(many).toMatch(
      /<summary>95 earlier contents<[\s\S]*<\/details><ol class="versions" start="146">/,
    );
    expect(many.match(/never in force/g)).toHaveLength(1);
    const became = [
      ...many.matchAll(/<del class="value">(\d+)<\/del><\/td><td[^>]*><ins class="value">149</g),
    ];
    expect(became.map(([, was]) => was)).toEqual(['147']);
    expect(longOnes.match(/<details>/g)).toHaveLength(2);
    expect(longOnes).toContain('more characters: the JSON has all of them');
    expect(longOnes.length).toBeLessThan(500_000);
  });

  test('of a lookup, of a token and of a class has all that belongs to it', async () => {
    const { html } = await page('/transactions/op%201');
    expect(html).toContain('9,007,199,254,740,993');
    expect(html).toContain('href="/archive/v1/transactions/op%201/certificate_file"');
    expect(html).not.toContain('href="javascript:');
    expect((await page('/tokens/gas')).html).toContain('mint_fee_amount');
    expect(html).toContain('<a href="/transactions?module=nft">');
    expect((await page('/nft_classes/dots')).html).toContain('<bdi class="name">dots</bdi>');
  });

  test('may hold anything: it stays text, apart from its surroundings', async () => {
    const list = await page('/nft_classes');
    const link = unescaped(/href="(\/nft_classes\/a[^"]*)"/.exec(list.html)?.[1] ?? '');
    const { status, html } = await page(link);
    expect(status).toBe(200);
    for (const text of [list.html, html]) {
      expect(text).toContain('&lt;script>alert(1)&lt;/script>');
      expect(text).not.toContain('\0');
      const apart = /<(\w+)(?:[^>"]|"[^"]*")*>([^<]*\u202e)/g;
      expect(new Set([...text.matchAll(apart)].map(([, tag]) => tag))).toEqual(
        new Set(text === html ? ['title', 'bdi'] : ['bdi']),
      );
    }
    expect(html).toContain(String.raw`alert(1)&lt;/script>\u202e`);
    expect(html).toMatch(/<title>NFT class \u2068.*\u2069 · Outlast<\/title>/);
    expect(list.html).toContain(`title="${long}"`);
  });
});

test('everything is there in Chinese too', async () => {
  const headers = { 'accept-language': 'zh-CN,zh;q=0.9' };
  const { html: list } = await page('/orders?from=2026-03-05', headers);
  for (const text of ['<html lang="zh-CN">', '全部导出为 CSV', '成功'])
    expect(list).toContain(text);
  const { html: record } = await page('/orders/changes', headers);
  for (const text of ['当前有效', '12.34 元 = 1,234 分', '<small>价格，单位为分'])
    expect(record).toContain(text);
  expect(record).not.toContain('<small lang="en">');
});

test('a reader of one project sees no record of another', async () => {
  const get = (path: string) => page(path, bearing(key), remote);
  expect(idsIn((await get('/orders')).html)).toEqual(['of-q']);
  expect((await get('/orders/changes')).status).toBe(404);
  expect((await get('/orders?find=changes')).status).toBe(404);
  expect((await get('/orders/of-q')).status).toBe(200);
  const other = await get('/orders/changes?project=p');
  expect(other.status).toBe(403);
  expect(other.html).not.toContain('1234');
});
