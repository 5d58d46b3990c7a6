// The pages as a program sees them: who is let in, what the first page and a day's page say, and in which language.
// What a person sees is tested in a browser: test/browser.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ArchiveProblem, CoverageDay } from '../../src/catalogue.ts';
import { booksSentence, headlineOf, safetyOf } from '../../src/http/web/headline.ts';
import { languages, preferredLang } from '../../src/http/web/view.ts';
import { en } from '../../src/http/web/words.ts';
import { sentences } from '../../src/http/web/sentences-zh.ts';
import { zh } from '../../src/http/web/words-zh.ts';
import { problemKinds } from '../../src/problems.ts';
import { lists } from '../../src/query/lists.ts';
import { columnsOf } from '../../src/resources.ts';
import { settings } from '../../src/settings/table.ts';
import { openArchive, type Archive } from '../../src/index.ts';
import type { Served, ServerOptions } from '../../src/http/server.ts';
import { createBench, fiveDays, noon, type Bench } from '../support/archive.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { sealEmpty } from '../support/ledger.ts';
import { listenHere } from '../support/loopback.ts';
import { observe } from '../support/observe.ts';
import { serveArchive, textAt, withPaths } from '../support/served.ts';
import { bearerKey } from './ask.ts';

const bearer = 'a-key-for-people-0123456789';
const keys = [
  { key: 'own', secret: 'a secret of the project', projects: ['p'] },
  bearerKey(bearer, ['p']),
];

let bench: Bench;
let archive: Archive;
let served: Served;
let remote: Served;
let now = noon;

setUp(async (keep) => {
  bench = await keep(createBench(fiveDays));
  await bench.seal();
  await sealEmpty(bench.db);
  // The days that the bench leaves out.
  await bench.db.query(`delete from sync.slices where walked_at is null and day < '2026-04-06'`);
  archive = await keep(openArchive({ connectionString: bench.connectionString }));
  served = await keep(open({}));
  remote = await keep(open({ host: '0.0.0.0' }));
});

const open = (more: Partial<ServerOptions>): Promise<Served> =>
  serveArchive(archive, {
    keys,
    now: () => now,
    watch: () => Promise.reject(new Error()),
    ...more,
  });

const get = (path: string, headers: Record<string, string> = {}, at = served): Promise<Response> =>
  fetch(at.url + path, { headers, redirect: 'manual' });
const post = (path: string, body: string, headers: Record<string, string> = {}, at = remote) =>
  fetch(at.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body,
  });
const text = async (path: string, headers?: Record<string, string>): Promise<string> =>
  withPaths(await (await get(path, headers)).text());

describe('the first page', () => {
  test('says how many days are safe, and leads to each', async () => {
    const answer = await get('/');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = withPaths(await answer.text());
    expect(page).toContain('<h1>All 6 days are safe.</h1>');
    expect(page).toContain(
      '<strong>March leaves the platform’s window in 24 days</strong>; nothing is at risk.',
    );
    for (const [, path = ''] of page.matchAll(/href="(\/days\/[^"]+)"/g)) {
      expect((await get(path)).status).toBe(200);
    }
    expect([...page.matchAll(/href="\/days\//g)]).toHaveLength(14);
    const [, month = ''] = /<h3><a href="([^"]+)">March 2026/.exec(page) ?? [];
    expect(month).toBe('/coverage?from=2026-03-01&amp;to=2026-03-31');
  });

  test('runs nothing but its own scripts, and loads nothing from elsewhere', async () => {
    const answer = await get('/');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const page = withPaths(await answer.text());
    expect(page).not.toMatch(/<script(?![^>]*src="\/web\/)|\sstyle=|\son[a-z]+=|https?:\/\//);
    const matches = page.matchAll(/(?:src|href)="(\/web\/[^"]+)"/g);
    const files = [...matches].map(([, path]) => path ?? '');
    expect(files.length).toBeGreaterThan(2);
    for (const path of files) {
      const file = await get(path);
      expect([path, file.status]).toEqual([path, 200]);
      const etag = file.headers.get('etag') ?? '';
      expect((await get(path, { 'if-none-match': etag })).status).toBe(304);
    }
  });
});

describe('a day', () => {
  test('shows both counts, its proof, its readings and what was written of it', async () => {
    const of = { project: 'p', resource: 'orders', from: '2026-04-03' } as const;
    const [report] = await archive.coverage(of);
    const page = await text('/days/orders/2026-04-03');
    expect(report?.shownTotal).toBeGreaterThan(0);
    const tile = (name: string): string | undefined =>
      new RegExp(`<b>([^<]*)</b><span>${name}</span>`).exec(page)?.[1];
    for (const name of ['held here', 'shown by the last reading', 'counted by the platform']) {
      expect(tile(name)).toBe(String(report?.shownTotal));
    }
    for (const part of ['Readings', 'What was written, entry by entry', en.proofs.books])
      expect(page).toContain(part);
  });

  test('says before all else that rows of it are gone, and only then', async () => {
    const { db } = bench;
    const day = '2026-04-03';
    const gone =
      /Fewer records are held than were shown: (.*? gone) from the database. Run <code>outlast verify/;
    const read = async () => {
      const page = await text(`/days/orders/${day}`);
      const said = gone.exec(page);
      const isFirst = said !== null && said.index < page.indexOf('<p class="lead">');
      return [said?.[1], isFirst, page.includes('<strong class="good">')];
    };
    const { rowCount: held } = await db.query(`select from archive.orders where slice_day = $1`, [
      day,
    ]);
    expect(await read()).toEqual([undefined, false, true]);
    // What the next day shows as well stands there: fewer are held here, and none is gone.
    const last = `(select max(operation_id) from archive.orders where slice_day = '${day}')`;
    const { rows } = await db.query(
      `update archive.orders set slice_day = '2026-04-04' where operation_id = ${last} returning operation_id as id`,
    );
    expect(await read()).toEqual([undefined, false, true]);
    const moved = [rows[0]?.['id']];
    await db.query(`update archive.orders set slice_day = '${day}' where operation_id = $1`, moved);
    await db.query(
      `update archive.orders set project_id = 'elsewhere' where operation_id = ${last}`,
    );
    expect(await read()).toEqual(['one is gone', true, false]);
    await db.query(`update archive.orders set project_id = 'elsewhere' where slice_day = $1`, [
      day,
    ]);
    expect(await read()).toEqual([`${held} are gone`, true, false]);
    expect(await text(`/days/orders/${day}?lang=zh`)).toContain(
      `有 ${held} 条已从数据库中消失。请运行 <code>outlast verify</code>`,
    );
    await db.query(`update archive.orders set project_id = 'p' where project_id = 'elsewhere'`);
    expect(await read()).toEqual([undefined, false, true]);
  });

  test('says of which reading its numbers are, where another one keeps it from being proved', async () => {
    const of = { project: 'p', resource: 'orders', day: '2026-04-03' } as const;
    const report = await archive.day(of);
    if (report === null) throw new Error('no day');
    const [newest] = report.readings.items;
    const ended = languages.en.format.time(newest?.endedAt ?? '');
    const said = `The last reading ended at ${ended}. Why the day is not proved`;
    const as = async (more: Partial<typeof report>): Promise<string> => {
      const day: Archive['day'] = () => Promise.resolve({ ...report, ...more });
      const at = await fresh(serveArchive({ ...archive, day }, { now: () => now }));
      return textAt(`${at.url}/days/orders/${of.day}`);
    };
    const less = { state: 'final', proof: 'none', why: 'showed less', isHeld: false } as const;
    const late = await as(less);
    expect(late).toContain(said);
    expect(late).toContain('<dt>Was proved at</dt>');
    for (const shownTotal of [0, report.shownTotal]) {
      const lacks = shownTotal === 0 ? 0 : 1;
      const items = report.readings.items.map((one) => ({ ...one, lacks }));
      expect(await as({ ...less, shownTotal, readings: { count: 2, items } })).not.toContain(said);
    }
    const proved = await as({});
    expect(proved).not.toContain(said);
    expect(proved).toContain('<dt>Proved at</dt>');
  });

  test('says which fields changed later, and leads to the rest of each record', async () => {
    const said = { operation_id: 'op-changed', create_time: '2026-04-04T09:00:00Z' };
    const orders = { project: 'p', resource: 'orders' } as const;
    await observe(bench.db, orders, [{ ...said, status: 1, a: 1 }], '2026-04-04T09:10:00Z');
    const later = { ...said, status: 2, a: 2, b: 3, c: 4, d: 5 };
    await observe(bench.db, orders, [later], '2026-04-04T10:00:00Z');
    await observe(bench.db, orders, [{ ...later, a: 7 }], '2026-04-04T11:00:00Z');
    const page = await text('/days/orders/2026-04-04');
    expect(page).toContain('href="/orders/op-changed#history"');
    const [, changes = ''] =
      new RegExp('<h2>What changed later(.*?)</section>', 's').exec(page) ?? [];
    expect(changes.replaceAll(/<[^>]*>/g, ' ').replaceAll(/ +/g, ' ')).toContain(
      '2026-04-04 11:00:00 a 2 → 7 op-changed 2026-04-04 10:00:00 a 1 → 2 b → 3 c → 4 and 2 more fields',
    );
  });

  test('that the archive has not is not found', async () => {
    const paths = ['orders/2020-01-01', 'orders/2026-02-30', 'tokens/2026-04-03', 'orders/x'];
    for (const path of paths) {
      const answer = await get(`/days/${path}`);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.text()).toContain('The archive has no such day.');
    }
  });
});

describe('language', () => {
  test('is what the browser prefers, or what was chosen last', async () => {
    const preferred = { 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' };
    expect(await text('/', preferred)).toContain('<html lang="zh-CN">');
    const chosen = await get('/?lang=zh');
    const cookie = (chosen.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    expect(await chosen.text()).toContain('全部 6 天都是安全的');
    expect(await text('/', { cookie })).toContain('全部 6 天都是安全的');
  });

  test.each([
    ['', 'en'],
    ['*', 'en'],
    ['zh', 'zh'],
    ['de,en;q=0.7,zh;q=0.3', 'en'],
    ['zh-Hant-TW;q=0.5, en;q=0.4', 'zh'],
    ['en, zh', 'en'],
    ['zh;q=0, en;q=0', 'en'],
    ['zh;q=x, en;q=0.1', 'en'],
  ])('%s is read as %s', (header, lang) => {
    expect(preferredLang(header)).toBe(lang);
  });

  test('has every sentence in both', () => {
    const leaves = (of: object): string[] =>
      Object.entries(of).flatMap(([key, value]: [string, unknown]) =>
        typeof value === 'object' && value !== null
          ? leaves(value).map((leaf) => `${key}.${leaf}`)
          : [key],
      );
    expect(leaves({ ...zh, meanings: {} }).toSorted()).toEqual(leaves(en).toSorted());
    const places = (text: string): string[] =>
      [...new Set(Array.from(text.matchAll(/\{ ?(\w+)/g), ([, name]) => name ?? ''))].toSorted();
    for (const [english, chinese] of Object.entries(sentences)) {
      expect(places(chinese)).toEqual(places(english));
    }
  });

  test('says in Chinese what each column of a page, each setting and each kind of problem is', () => {
    const withPage = lists.filter(({ key, name }) => key.length > 0 && name !== 'coverage');
    const columns = withPage.flatMap(({ name, fields }) =>
      columnsOf(fields)
        .map(({ column }) => column)
        .filter((column) => !['project_id', 'raw'].includes(column))
        .map((column) => (`${name}.${column}` in zh.meanings ? `${name}.${column}` : column)),
    );
    const names = settings.map(({ name }) => name);
    expect(Object.keys(zh.meanings).toSorted()).toEqual(
      [...new Set([...columns, ...names, ...problemKinds])].toSorted(),
    );
  });
});

describe('beyond loopback', () => {
  const signIn = async (key = bearer): Promise<Response> =>
    post('/sign-in?to=%2Fdays%2Forders%2F2026-04-03', new URLSearchParams({ key }).toString());
  const cookieFrom = (answer: Response): string =>
    (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

  test('whoever has no key is led to the door, and a key opens it', async () => {
    const refused = await get('/', {}, remote);
    expect([refused.status, refused.headers.get('location')]).toEqual([303, './sign-in?to=%2F']);
    const opened = await signIn();
    expect(opened.status).toBe(303);
    expect(opened.headers.get('location')).toBe('./days/orders/2026-04-03');
    expect(opened.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Lax/);
    expect(opened.headers.get('set-cookie')).not.toContain(bearer);
    const cookie = cookieFrom(opened);
    expect((await get('/', { cookie }, remote)).status).toBe(200);
    expect((await get('/archive/v1/orders?format=csv', { cookie }, remote)).status).toBe(200);
  });

  test('the cookie opens nothing that writes', async () => {
    const cookie = cookieFrom(await signIn());
    const answer = await post('/archive/v1/watch', '{"operation_ids":["a"]}', {
      cookie,
      'content-type': 'application/json',
    });
    expect(answer.status).toBe(401);
    expect((await get('/metrics', { cookie }, remote)).status).not.toBe(200);
  });

  test('a cookie that is forged, altered or over opens nothing', async () => {
    const cookie = cookieFrom(await signIn());
    const [name = '', value = ''] = cookie.split('=');
    const [until = '', seal = ''] = value.split('.');
    const otherKeys = [{ ...keys[0]!, secret: 'another' }, keys[1]!];
    const others = await fresh(open({ host: '0.0.0.0', keys: otherKeys }));
    const foreign = cookieFrom(await post('/sign-in', `key=${bearer}`, {}, others));
    const altered = [`${Number(until) + 1}.${seal}`, `${until}.${seal.slice(1)}A`, `${until}.`, ''];
    for (const forged of [...altered, foreign.split('=')[1] ?? '']) {
      const answer = await get('/', { cookie: `${name}=${forged}` }, remote);
      expect([forged, answer.status]).toEqual([forged, 303]);
    }
    now += 12 * 3_600_000 + 1;
    expect((await get('/', { cookie }, remote)).status).toBe(303);
    now = noon;
  });

  test('another site can neither sign anybody in nor out, nor send them elsewhere', async () => {
    const origin = 'https://evil.example';
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin }]) {
      const answer = await post('/sign-in', `key=${bearer}`, headers);
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    }
    for (const to of ['//evil.example', origin, '/\\evil.example', '/a\r\nx: y']) {
      const path = `/sign-in?${new URLSearchParams({ to }).toString()}`;
      const answer = await post(path, `key=${bearer}`);
      expect([to, answer.headers.get('location')]).toEqual([to, './']);
    }
  });

  test('after ten wrong keys a minute a wrong one is told to wait, and the right one opens', async () => {
    const later = await fresh(open({ host: '0.0.0.0' }));
    const wrong = () => post('/sign-in', 'key=wrong', {}, later);
    for (let i = 0; i < 10; i++) expect((await wrong()).status).toBe(403);
    expect((await wrong()).status).toBe(429);
    expect((await post('/sign-in', `key=${bearer}`, {}, later)).status).toBe(303);
    now += 61_000;
    expect((await wrong()).status).toBe(403);
    expect((await post('/sign-in', `key=${bearer}`, {}, later)).status).toBe(303);
    now = noon;
  });
});

describe('below a path of a reverse proxy', () => {
  let root = '';
  setUp(async (keep) => {
    const { port } = new URL(remote.url);
    const proxy = createServer((incoming, response) => {
      const { url = '', method, headers } = incoming;
      const [, path] = /^\/tools\/outlast(\/.*)$/.exec(url) ?? [];
      if (path === undefined) {
        response.writeHead(404).end();
        return;
      }
      const asked = request({ port, path, method, headers: { ...headers, via: '1.1 proxy' } });
      asked.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      response.on('close', () => asked.destroy());
      incoming.pipe(asked);
    });
    const here = await keep(listenHere(proxy));
    root = `http://127.0.0.1:${here.port}/tools/outlast/`;
  });

  test('a person signs in, and every link, form and file of every page stays below it', async () => {
    const ask = (url: string, init: RequestInit = {}): Promise<Response> =>
      fetch(url, { redirect: 'manual', ...init });
    const door = await ask(root);
    const signIn = new URL(door.headers.get('location') ?? '', root).href;
    const form = / method="post" action="([^"]*)"/.exec(await (await ask(signIn)).text())?.[1];
    const opened = await ask(new URL(form ?? '', signIn).href, {
      method: 'POST',
      body: new URLSearchParams({ key: bearer }),
    });
    expect(new URL(opened.headers.get('location') ?? '', signIn).href).toBe(root);
    // Without a Path, a browser sends it to what lies beside the page that set it, and to nothing else on this host.
    const [cookie = '', ...attributes] = (opened.headers.get('set-cookie') ?? '').split('; ');
    expect(attributes.join()).not.toMatch(/path/i);

    const asked = new Set<string>();
    const kinds = new Set<string>();
    const waiting = [root];
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      expect(url.startsWith(root), url).toBe(true);
      const kind = new URL(url).pathname.replaceAll(/(orders|nft_classes)\/[^/]+/g, '$1/*');
      if (asked.has(url) || kinds.has(kind) || kind.endsWith('/sign-out')) continue;
      asked.add(url);
      kinds.add(kind);
      const answer = await ask(url, { headers: { cookie, accept: 'text/html, */*' } });
      expect([url, answer.status]).toEqual([url, 200]);
      if (answer.headers.get('content-type')?.startsWith('text/html') !== true) {
        await answer.body?.cancel();
        continue;
      }
      const links = (await answer.text()).matchAll(/ (?:href|src|action|data-live)="([^"]*)"/g);
      for (const [, link = ''] of links) {
        if (link !== 'data:,') waiting.push(new URL(link.replaceAll('&amp;', '&'), url).href);
      }
    }
    const reached = [...kinds].map((kind) => kind.slice(new URL(root).pathname.length));
    expect(reached).toEqual(
      expect.arrayContaining(['days/orders/*', 'orders/*', 'docs', 'openapi.json', 'figures']),
    );
    expect(reached).toEqual(expect.arrayContaining(['web/page.js', 'archive/v1/events']));
  });

  test('what a program is led to is relative too', async () => {
    const { servers } = (await (await get('/openapi.json')).json()) as { servers: object[] };
    expect(servers).toEqual([{ url: '.' }]);
    // Lists are led on by a Link, which v1.pg.test.ts follows.
    expect(await text('/docs')).toContain("fetch('.' + target");
  });

  test('a page that is asked for with a slash too many leads to the same', async () => {
    const page = await get('//orders');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(' href="./web/style.css"');
  });
});

describe('what is said besides', () => {
  const overviewWith = async (problems: ArchiveProblem[]): Promise<string> => {
    const troubled = { ...archive, problems: () => Promise.resolve(problems) };
    const other = await fresh(serveArchive(troubled, { now: () => now }));
    return (await get('/', {}, other)).text();
  };
  const problem = (more: Partial<ArchiveProblem>): ArchiveProblem => ({
    projectId: 'p',
    kind: 'parked',
    level: 'critical',
    subject: '',
    numbersJson: '{}',
    isNews: false,
    since: null,
    until: null,
    ...more,
  });

  test('what is wrong is said before anything else, in the page’s language, and then nobody says that nothing is at risk', async () => {
    const page = await overviewWith([
      problem({}),
      problem({ kind: 'work_left', level: 'warning', numbersJson: '{"since": "2026-04-05"}' }),
    ]);
    expect(page).toContain('The platform refused the key.');
    expect(page).toContain('or by <code>outlast sync</code>.');
    expect(page).toContain('No run has done all that was due since 2026-04-05 00:00 UTC.');
    expect(page).toContain('<h1 class="bad">');
    expect(page).not.toContain('nothing is at risk.');
    const many = Array.from({ length: 5 }, () => problem({}));
    expect(await overviewWith(many)).toContain('And 2 more.');
  });

  test.each([
    [{ safe: 90 }, 'All 90 days are safe.', '全部 90 天都是安全的。'],
    [
      { safe: 88, notYet: 2, readOnce: 2 },
      'All 90 days are read; 2 wait for another reading.',
      '全部 90 天均已读取；其中 2 天等待另一次读取。',
    ],
    [
      { safe: 61, doubtful: 28, notYet: 1, readOnce: 1 },
      '61 of 90 days are safe; 28 were never proved whole; one is not safe yet.',
      '90 天中有 61 天是安全的；28 天从未全部证实；1 天尚不安全。',
    ],
    [
      { safe: 1, lost: ['2026-01-01' as const], notYet: 88 },
      '1 of 90 days is safe; one is lost for ever; 88 are not safe yet.',
      '90 天中有 1 天是安全的；1 天永久丢失；88 天尚不安全。',
    ],
  ])('of %j every kind of day is named', (kinds, english, chinese) => {
    const safety = { ...safetyOf([], now), entered: 90, days: 90, ...kinds };
    expect(headlineOf(languages.en.t, safety)).toBe(english);
    expect(headlineOf(languages.zh.t, safety)).toBe(chinese);
  });

  test('a day that was never proved colours the headline, though another is open', async () => {
    const [first, second, ...others] = await archive.coverage({ project: 'p' });
    if (first === undefined || second === undefined) throw new Error('no days');
    const unproved = { ...first, state: 'final', isHeld: false } as const;
    const open = { ...second, state: 'open', isHeld: false } as const;
    const coverage = (): Promise<CoverageDay[]> => Promise.resolve([unproved, open, ...others]);
    const other = await fresh(serveArchive({ ...archive, coverage }, { now: () => now }));
    expect(await (await get('/', {}, other)).text()).toContain(
      '<h1 class="bad">4 of 6 days are safe; one was never proved whole; one is not safe yet.</h1>',
    );
  });

  test('in Chinese no blank stands after a sentence, and one before Latin letters', async () => {
    const page = await (await get('/?lang=zh')).text();
    expect(page).toMatch(/ 条订单/);
    expect(page).toMatch(/ 条 NFT 类别/);
    expect(page).toMatch(/。\p{Script=Han}/u);
    expect(page).not.toMatch(/。 +\p{Script=Han}/u);
  });

  test.each([
    [100, ': 90 succeeded, 5 failed, 1 pending, 4 of another status. '],
    [96, ': 90 succeeded, 5 failed, 1 pending. '],
    // It stops at a cap.
    [50, ': 90 succeeded, 5 failed, 1 pending. '],
  ])('of %i orders counted each is named by its status', (total, sentence) => {
    const writing = { day: String, days: String, time: String };
    const said = booksSentence(languages.en, writing, {
      resource: 'orders',
      owner: '',
      firstDay: '2026-03-01',
      lastDay: '2026-03-02',
      askedAt: '2026-03-03T00:00:00Z',
      total,
      succeeded: 90,
      failed: 5,
      pending: 1,
      shown: 100,
      balance: 'equal',
      more: [],
      moreSince: null,
    });
    expect(said).toContain(`counts ${total} orders${sentence}`);
  });

  test('what has been known for a day alarms nobody', async () => {
    const known = problem({ kind: 'rejects', subject: 'orders', level: 'info', isNews: true });
    expect(await overviewWith([known])).toContain('nothing is at risk.');
  });

  test('what the platform no longer shows is held all the same', async () => {
    const [one] = (await archive.orders.list({ project: 'p', limit: 1 })).items;
    const gone = `update archive.orders set missing_since = now() where operation_id = $1`;
    await bench.db.query(gone, [one?.operationId]);
    const held = await archive.orders.count({ project: 'p' });
    expect(await text('/')).toContain(`<b>${held}</b><a href="/orders">`);
  });

  test('an address of nothing is a page for people, and a refusal for programs', async () => {
    const page = await get('/nothing', { accept: 'text/html,*/*' });
    expect(page.status).toBe(404);
    expect(await page.text()).toContain('There is no such page.');
    expect((await get('/nothing')).headers.get('content-type')).toContain('application/json');
  });

  test('every sentence is used', () => {
    const folder = new URL('../../src/http/web/', import.meta.url);
    const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('sentences'))
      .map((name) => readFileSync(new URL(name, folder), 'utf8'))
      .join('\n');
    const unused = Object.keys(sentences).filter((sentence) => !code.includes(`'${sentence}'`));
    expect(unused).toEqual([]);
  });
});

test('while the database is down the page says so, and shows the archive again afterwards', async () => {
  const down = async (): Promise<never> => {
    throw Object.assign(new Error('gone'), { code: 'database_unreachable' });
  };
  const broken = await fresh(serveArchive({ ...archive, coverage: down, day: down }));
  for (const path of ['/', '/days/orders/2026-04-03']) {
    const answer = await get(path, {}, broken);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('The archive’s database does not answer.');
  }
});
