// The pages of figures, runs, alerts, certificates, facts and settings: what they say is what the library says, what is
// incomplete is marked, and nothing foreign becomes markup.
import { describe, expect, test } from 'vitest';
import { problemAdvice, problemKinds } from '../../src/problems.ts';
import type { Served } from '../../src/http/server.ts';
import { createFormat, sumOf } from '../../src/http/web/format.ts';
import { grouped } from '../../src/http/web/parts.tsx';
import { languages } from '../../src/http/web/view.ts';
import { openArchive, type Archive } from '../../src/index.ts';
import { canonicalFile } from '../../src/platform/canonical.ts';
import type { Progress } from '../../src/query/reports.ts';
import { createBench, fiveDays, noon, type Bench } from '../support/archive.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { sealEmpty } from '../support/ledger.ts';
import { observe } from '../support/observe.ts';
import { fileText } from '../support/repository.ts';
import { serveArchive, textAt, withPaths } from '../support/served.ts';

const hostile = '"><script>alert(1)</script>&\u202e';
const escaped = '&quot;>&lt;script>alert(1)&lt;/script>&amp;\u202e';
const secret = { name: 'OUTLAST_API_SECRET', value: 'set', from: 'file', isSecret: true } as const;

const certificate =
  '{"b": "ü", "a":  [1.50], "lost_days": ["2026-03-01", "2026-03-02"], "days_not_held": ["2026-03-01", "2026-03-02", "2026-03-04"], "books": [{"from": "2026-03-01", "to": "2026-03-31", "total": 9, "shown": 8, "asked_at": "2026-04-01T03:00:00Z", "balance": "more"}, {"from": "2026-03-01", "to": "2026-04-02", "total": 12, "shown": null, "asked_at": "2026-04-03T03:00:00Z", "balance": "less or unknown"}], "days": [{"slices": [{"platform_total": 4, "shown_total": 3}]}, {"slices": [{"platform_total": 5, "shown_total": 5}]}]}';

let bench: Bench;
let archive: Archive;
let served: Served;
setUp(async (keep) => {
  bench = await keep(createBench(fiveDays));
  await bench.seal();
  await sealEmpty(bench.db);
  const { connectionString, db } = bench;
  archive = await keep(openArchive({ connectionString }));
  served = await keep(
    serveArchive(archive, {
      now: () => noon,
      settings: [{ ...secret, meaning: 'the secret' }],
      projects: [
        { id: 'p', classesOf: 'p' },
        { id: 'empty', classesOf: 'empty' },
      ],
    }),
  );
  const order = { operation_id: 'x', account: hostile, amount: '90071992547409931.5', status: 2 };
  const when = { create_time: '2026-04-03T09:00:00Z', update_time: '2026-04-03T09:00:00Z' };
  const orders = { project: 'p', resource: 'orders' } as const;
  await observe(db, orders, [{ ...order, ...when }], '2026-04-03T10:00:00Z');
  await db.query(
    `update sync.slices set state = 'lost' where project_id = 'p' and resource = 'orders' and day = '2026-04-02'`,
  );
  await db.query(
    `insert into sync.certificates (project_id, resource, month, certified_at, certificate, digest, leaves_sha256)
     select 'p', resource, '2026-03-01', '2026-05-01T00:10:00Z', $1, sha256('1'), sha256('2')
       from unnest(array['nft_classes', 'orders']) resource`,
    [certificate],
  );
  await db.query(
    `insert into sync.alerts (project_id, kind, subject, text, opened_at, resolved_at) values
       ('p', 'clock_disagrees', $1, '', '2026-04-05T10:00:00Z', null),
       ('p', 'of_a_later_release', '', $1, '2026-04-05T09:00:00Z', '2026-04-05T09:30:00Z'),
       ('p', 'run_failed', '', 'It was over soon.', '2026-04-04T10:00:00Z', '2026-04-04T11:00:00Z')`,
    [hostile],
  );
  await db.query(
    `insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at) values
       ('p', 'clock_disagrees', $1, '{"clock": "machine", "byMs": 3600000}', '2026-04-06T12:00:00Z')`,
    [hostile],
  );
  await db.query(
    `insert into sync.runs (project_id, run_id, started_at, ended_at, outcome, last_error)
     select 'p', 'run ' || i, '2026-03-01'::timestamptz + i * interval '1 minute', '2026-03-02', 'left', $1
       from generate_series(1, 60) i`,
    [hostile],
  );
});

async function page(path: string, lang = 'en'): Promise<string> {
  const query = path.includes('project=') ? '' : `${path.includes('?') ? '&' : '?'}project=p`;
  const answer = await fetch(served.url + path + query, { headers: { 'accept-language': lang } });
  expect([path, answer.status]).toEqual([path, 200]);
  return withPaths(await answer.text());
}

const paths = ['/', '/figures', '/runs', '/alerts', '/certificates', '/facts', '/settings'];

/** Its cells as text, a line each. */
function rowsOf(html: string, caption: string): string[][] {
  const table =
    html.split(/<table[^>]*>/).find((one) => one.startsWith(`<caption>${caption}<`)) ?? '';
  const [body = ''] = table.split('</tbody>');
  return [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, '').trim(),
    ),
  );
}

const format = createFormat('en');
const ended = ['succeeded', 'failed', 'pending'] as const;

describe('figures', () => {
  const range = { from: '2026-04-01', to: '2026-04-06' };

  test('are the library’s, exactly, in sum and by period', async () => {
    const html = await page(`/figures?from=${range.from}&to=${range.to}`);
    const orders = await archive.statistics.orders({ project: 'p', ...range, by: 'day' });
    const text = (values: (string | number)[]): string => grouped(sumOf(values));
    const rows = rowsOf(html, 'Orders by outcome');
    expect(rows.slice(1).map((row) => row.slice(0, 4))).toEqual([
      ...orders.map((row) => [format.day(row.period), ...ended.map((name) => text([row[name]]))]),
      ['Sum', ...ended.map((name) => text(orders.map((row) => row[name])))],
    ]);
    const spent = rowsOf(html, 'Spent, in currency units');
    expect(spent.at(-1)?.[1]).toBe(text(orders.map((row) => row.spentUnits)));
    // More than a double can hold.
    expect(spent.find(([day]) => day === '3 Apr 2026')?.[1]).toMatch(
      /^900,719,925,\d{3},\d{3}\.\d{3}$/,
    );
    const made = await archive.statistics.nftClasses({ project: 'p', ...range, by: 'day' });
    const classes = rowsOf(html, 'Classes made').at(-1);
    expect(classes?.[1]).toBe(text(made.map((row) => row.classes)));
    expect(classes?.[2]).toBe(text(made.map((row) => row.nfts)));
    const [most] = await archive.statistics.accounts({ project: 'p', ...range, limit: 1 });
    expect(most).toMatchObject({ account: hostile, orders: 1, spentFen: '90071992547409931.5' });
    expect(rowsOf(html, 'Accounts that spent most')[1]?.[1]).toBe(text([most?.spentUnits ?? '']));
    const [owner] = await archive.statistics.owners({ project: 'p', limit: 1 });
    expect(rowsOf(html, 'Owners with the most classes')[1]).toEqual([
      owner?.owner,
      String(owner?.classes),
      format.number(owner?.nfts ?? ''),
    ]);
  });

  test('mark a period with a hole, in the chart and in the table, and no day before the first', async () => {
    const html = await page(`/figures?from=2026-01-01&to=${range.to}`);
    const [, plot = ''] = /<div class="plot">(.*?)<\/section>/s.exec(html) ?? [];
    const columns = new Map(
      [...plot.matchAll(/<div class="column ([^"]*)" title="([^\n]*)/g)].map(
        ([, marks = '', name = '']) => [name, marks],
      ),
    );
    // The archive begins on the first of March.
    expect([...columns.keys()][0]).toBe('1 Mar 2026');
    expect(columns.get('1 Apr 2026')).toBe('');
    expect([...columns].filter(([, marks]) => marks.includes('lost'))).toEqual([
      ['2 Apr 2026', 'doubt lost'],
    ]);
    expect(html).toContain(
      'Red: a day is lost for ever. The platform had forgotten it before it was read whole.',
    );
    const rows = rowsOf(html, 'Orders by outcome');
    const coverage = (day: string): string | undefined =>
      rows.find(([name]) => name === day)?.at(-1);
    expect(coverage('1 Apr 2026')).toBe('all held and settled');
    expect(coverage('2 Apr 2026')).toBe('lost for ever');
    expect(rows.at(-1)?.at(-1)).toContain('not all held one day lost for ever');
    const months = rowsOf(await page('/figures?by=month'), 'Orders by outcome');
    const names = months.map(([month]) => month);
    expect(names).toEqual(['Period', 'March 2026', 'April 2026', 'Sum']);
    // Of this month only the days so far, also where its end was typed.
    expect(months.at(-1)?.at(-1)).toContain(' of 37 days ');
    const toItsEnd = await page('/figures?by=month&to=2026-04-30');
    expect(rowsOf(toItsEnd, 'Orders by outcome')).toEqual(months);
  });

  test("are those of a zone's days where that is asked", async () => {
    const zone = 'Asia/Shanghai';
    const asked = { project: 'p', by: 'month', zone } as const;
    const html = await page('/figures?by=month&zone=Asia/Shanghai');
    const months = await archive.statistics.orders(asked);
    const rows = rowsOf(html, 'Orders by outcome').slice(1, -1);
    expect(rows.map((row) => row.slice(1, 4))).toEqual(
      months.map((row) => ended.map((name) => format.number(row[name]))),
    );
    expect(html).toContain(`Days and months are those of ${zone}. A day`);
    expect(html).not.toContain('All days and times are UTC.');
    expect(html).toContain('<option value="Asia/Shanghai" selected>');
    expect(html).toContain(
      'by=month&amp;to=2026-04-06&amp;zone=Asia%2FShanghai&amp;group_by=order_type&amp;format=sheet',
    );
    expect(html).toContain('or lie partly before the archive’s first day');
    // It is noon of the 6th in UTC: evening in Shanghai, and the 7th where a day begins first.
    for (const [there, end] of [
      [zone, '2026-04-06'],
      ['Pacific/Kiritimati', '2026-04-07'],
    ]) {
      expect(await page(`/figures?zone=${there}`)).toContain(`type="date" value="${end}"`);
    }
    // A list has UTC's days alone.
    expect(html).not.toContain('href="/orders?from=');
  });

  test.each([
    ['by=week', 'by must be one of day, month'],
    ['zone=Nowhere', 'zone must be UTC or the name of a time zone'],
  ])('of %s are refused in words', async (asked, sentence) => {
    const answer = await fetch(`${served.url}/figures?project=p&${asked}`);
    const html = await answer.text();
    expect(answer.status).toBe(400);
    expect(html).toContain(sentence);
    // Asked again it would be no better.
    expect(html).toContain('<h1>This cannot be asked</h1>');
    expect(html).not.toContain('Try again');
  });

  test('lead to the records they are made of', async () => {
    const html = await page('/figures');
    expect(html).toContain(`account=${encodeURIComponent('"><script>').replaceAll('%20', '+')}`);
    expect(html).toContain('href="/orders?from=2026-04-03&amp;to=2026-04-03&amp;project=p"');
  });
});

test('a certificate comes as the file that is certified, byte for byte', async () => {
  const html = await page('/certificates');
  expect(html).toContain('<span class="bad">One day was never proved whole</span>');
  const days =
    '2 days are lostOne day was never proved wholeDay by day the platform counted 9, its lists showed 8';
  expect(rowsOf(html, languages.en.words.lists['certificates'] ?? '')[1]?.[4]).toBe(
    `${days}From 1 Mar 2026 to 31 Mar 2026 the platform counted 9, its lists showed 8: asked at 2026-04-01 03:00` +
      'From 1 Mar 2026 to 2 Apr 2026 the platform counted 12, and not all of these days had been read: asked at 2026-04-03 03:00',
  );
  const [, href = ''] = /href="([^"]*\/v1\/certificates\/orders[^"]*)"/.exec(html) ?? [];
  const answer = await fetch(served.url + href.replaceAll('&amp;', '&'));
  const { rows } = await bench.db.query(`select certificate::text as text from sync.certificates`);
  // As it is written under OUTLAST_CERTIFICATES_DIR: the digest that verify prints is of these bytes.
  expect(await answer.text()).toBe(canonicalFile(String(rows[0]?.['text'])));
  expect(answer.headers.get('content-disposition')).toBe(
    'attachment; filename="orders-2026-03.certificate.json"',
  );
  const commandOf = (resource: string): string =>
    `outlast verify --project p --resource ${resource} --month 2026-03`;
  for (const resource of ['orders', 'nft_classes'])
    expect(html.replaceAll(/<[^>]*>/g, '')).toContain(commandOf(resource));
  expect(html.indexOf('/certificates/orders/')).toBeLessThan(
    html.indexOf('/certificates/nft_classes/'),
  );
  expect(html).toMatch(/\/orders\?from=2026-03-01&amp;to=2026-03-31&amp;as_of=2026-05-01T00/);
  // Its own page says the same, above figures that are pages long.
  const own = (await page('/certificates/orders/2026-03')).replaceAll(/<[^>]*>/g, '');
  const [above] = own.split('certified_at');
  for (const said of [days, commandOf('orders')]) expect(above).toContain(said);
  // One that takes the place of another says so before all else.
  await bench.db.query(
    `insert into sync.certificates (project_id, resource, month, issue, certified_at, certificate, digest, leaves_sha256)
     select project_id, resource, month, 2, certified_at,
            jsonb_build_object('issue', 2, 'replaces', jsonb_build_object('issue', 1, 'sha256', 'ab12', 'why', 'it is no longer held'))
              || certificate::jsonb, digest, leaves_sha256
       from sync.certificates where resource = 'orders'`,
  );
  const second = (await page('/certificates/orders/2026-03')).replaceAll(/<[^>]*>/g, '');
  expect(second).toContain(
    'Certificate 2 of this month: it replaces certificate 1, which is no longer held. SHA-256: ab122 days are lost',
  );
  const none = await fetch(`${served.url}/archive/v1/certificates/orders/2026-02?project=p`);
  expect(none.status).toBe(404);
  const asPage = await fetch(`${served.url}/certificates/orders/2026-02?project=p`);
  expect(await asPage.text()).toContain('This month has no certificate');
});

test('runs are paged, and told in words how they ended', async () => {
  const html = await page('/runs');
  expect(rowsOf(html, languages.en.words.lists['runs'] ?? '')).toHaveLength(1 + 50);
  const [, next = ''] = /href="([^"]*)" rel="next"/.exec(html) ?? [];
  const older = await page(next.replaceAll('&amp;', '&'));
  expect(older).toContain(languages.en.words.outcomes['left']);
  expect(older).toContain('First page');
  expect(older).not.toContain(' rel="next"');
});

/** The page of runs, at noon, while these go on. */
async function runsWhile(goesOn: Partial<Progress>): Promise<string> {
  const progress: Archive['progress'] = async (query) => {
    const found = await archive.progress(query);
    return found && { ...found, ...goesOn };
  };
  const during = await fresh(serveArchive({ ...archive, progress }, { now: () => noon }));
  return textAt(`${during.url}/runs`);
}

test('what goes on is shown with its pace and its end', async () => {
  const html = await runsWhile({
    run: { runId: 'r', startedAt: '2026-04-06T11:50:00Z', slicesDone: 20, recordsShown: 1 },
    inHand: [{ resource: 'orders', owner: '', day: '2026-04-03', pages: 7 }],
    slicesDue: 40,
    parked: {
      at: '2026-04-06T12:00:00Z',
      reason: `${hostile} \`outlast doctor\``,
      askAgainAt: null,
    },
  });
  expect(html).toContain('20 days done, 40 still due · 2 days a minute · about 20 min left');
  expect(html).toContain('<progress class="bar" value="20" max="60"');
  expect(html).toContain('7 pages so far');
  expect(html).toContain('The platform has refused the key since 2026-04-06 12:00.');
  expect(html).toContain('<code>outlast doctor</code>');
});

test('between two ticks today is due, and another day later', async () => {
  const nextDueAt = '2026-04-06T14:00:00Z';
  const html = await runsWhile({ run: null, inHand: [], parked: null, nextDueAt, slicesDue: 1 });
  expect(html).toContain('One day is due at the next tick, as today always is.');
  expect(html).toContain('Another day is due at 2026-04-06 14:00.');
});

test('what is wrong comes first, with what to do, and the overview says it and leads there', async () => {
  const html = await page('/alerts');
  const places = ['The clock of ', 'It was over soon.'].map((text) => html.indexOf(text));
  expect(places.toSorted((a, b) => a - b)).toEqual(places);
  expect(places).not.toContain(-1);
  expect(html).toContain(problemAdvice('clock_disagrees', 'en'));
  expect(html).toContain('told nobody yet');
  expect(html).toContain('Nobody is told of these: no webhook is set. To set one:');
  const home = await page('/');
  expect(home).toContain('The clock of ');
  expect(home).toContain('href="/alerts?project=p"');
});

test('a page of the documentation is there as it is, and what is none is not', async () => {
  const [, href = ''] = /href="(\/web\/docs\/[^"]*)"/.exec(await page('/alerts')) ?? [];
  const answer = await fetch(served.url + href);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await answer.text()).toBe(fileText('docs/alerts.md'));
  expect((await fetch(`${served.url}/web/docs/..%2Fpackage.json`)).status).toBe(404);
});

test('every kind of alert is documented', () => {
  const page = fileText('docs/alerts.md');
  const documented = [...page.matchAll(/^- `(\w+)` \((?:critical|warning)\): /gm)];
  expect(new Set<string>(problemKinds)).toEqual(new Set(documented.map(([, kind]) => kind)));
});

test('what stays English on a Chinese page says that it is', async () => {
  const english = async (path: string): Promise<string> => {
    const headers = { 'accept-language': 'zh' };
    const html = await (await fetch(`${served.url}${path}project=p`, { headers })).text();
    return [...html.matchAll(/ lang="en">([^<]*)</g)].map(([, text]) => text).join('\n');
  };
  expect(await page('/settings', 'zh')).toContain(
    languages.zh.words.meanings['OUTLAST_API_SECRET'],
  );
  expect(await page('/alerts', 'zh')).toContain(languages.zh.words.meanings['run_failed']);
  expect(await english('/alerts?')).toContain('It was over soon.');
  expect(await page('/alerts', 'zh')).toContain('的时钟比平台慢 60 分钟');
  expect(await english('/figures?by=week&')).toContain('by must be one of day, month');
  expect(await english('/orders?status=9&')).toContain('status must be one of 1, 2, 3');
});

describe.each(['en', 'zh'] as const)('in %s', (lang) => {
  test.each(paths)('%s is whole, and says nothing foreign but as text', async (path) => {
    const html = await page(path, lang === 'zh' ? 'zh-CN' : 'en');
    expect(html).toContain(`<html lang="${lang === 'zh' ? 'zh-CN' : 'en'}">`);
    expect(html).not.toContain(hostile);
    expect(html).not.toMatch(/ style=|<script>|undefined|\[object/);
    if (lang === 'zh') expect(html).not.toMatch(/ aria-label="[^"]*[,:;](?: |")/);
    if (['/figures', '/runs', '/alerts'].includes(path)) expect(html).toContain(escaped);
    const [, twin = ''] =
      /rel="alternate" type="application\/json" href="([^"]*)"/.exec(html) ?? [];
    expect((await fetch(served.url + twin.replaceAll('&amp;', '&'))).status).toBe(200);
  });

  test.each([...paths, '/transactions', '/rejects', '/watched_operations', '/tokens', '/problems'])(
    '%s of an archive without anything says so',
    async (path) => {
      const html = await page(`${path}?project=empty`, lang);
      const { t, words } = languages[lang];
      const byPath: Record<string, string> = {
        '/': t('Nothing is archived yet.'),
        '/figures': t('Nothing came in within these days.'),
        '/runs': t('No run has begun yet.'),
        '/alerts': t('Nothing is wrong.'),
        '/settings': t('Settings in force'),
      };
      expect(html).toContain(byPath[path] ?? words.empty[path.slice(1)]);
    },
  );
});
