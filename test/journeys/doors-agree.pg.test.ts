// Whoever asks, by SQL, from code, over HTTP or as the platform's client, is told the same of every record and every
// figure, now and as of any instant: an archive whose doors disagree is believed by nobody (P5, P7).
import { describe, expect, test } from 'vitest';
import { questions, type AnyQuestion, type Page, type QuestionName } from '../../src/catalogue.ts';
import type { Served } from '../../src/http/server.ts';
import { openArchive, type Archive } from '../../src/index.ts';
import { lists, questionNames, recordList, recordsOf, type List } from '../../src/query/lists.ts';
import { columnOf } from '../../src/query/selected-columns.ts';
import { everyPage, filtersOf } from '../../src/query/ask-question.ts';
import { hundredths } from '../../src/query/record-text.ts';
import { snake } from '../../src/resources.ts';
import type { Row } from '../../src/store/db.ts';
import { signedHeaders } from '../http/ask.ts';
import { createBench, tenDays, type Bench } from '../support/archive.ts';
import { collect } from '../support/collect.ts';
import type { Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { setUp } from '../support/fresh.ts';
import { observe } from '../support/observe.ts';
import { createUnlistedSource, type UnlistedSource } from '../support/unlisted.ts';
import { serveArchive, textAt } from '../support/served.ts';
import { writeProjects } from '../support/rows.ts';

const hourMs = 3_600_000;
const secret = 'a secret of no value';
let source: UnlistedSource;
let bench: Bench;
let archive: Archive;
let served: Served;
const instants: (string | null)[] = [null];

const noted = (): void => {
  instants.push(new Date(bench.simulator.clock.now()).toISOString());
};

setUp(async (keep) => {
  source = await keep(createUnlistedSource());
  const world = { ordersPerDay: 12, classesPerDay: 5, quietShare: 0.1, since: '2026-03-28' };
  bench = await keep(
    createBench({ world, days: tenDays.days, records: source.records }, source.worker),
  );
  await bench.seal();
  noted();
  // What a platform may do to its records within four days.
  const { simulator } = bench;
  const [first, second, third, gone] = [...simulator.oracle.shown('orders')].slice(40);
  const edited = { amount: '90071992547409931234.005', account: 'another' };
  simulator.mutate('orders', first?.id ?? '', (was) => ({ ...was, ...edited, status: 3 }));
  simulator.mutate('orders', second?.id ?? '', (was) => ({
    ...was,
    message: 'a\u0000b \ud800',
    amount: 'much',
  }));
  simulator.mutate('orders', third?.id ?? '', (was) => ({ ...was, status: 9, order_type: null }));
  simulator.hide('orders', gone?.id ?? '');
  simulator.insert('nft_classes', '{"id":"","name":"none","timestamp":"2026-04-02T10:00:00Z"}');
  simulator.insert('orders', '{"operation_id":"","status":2,"create_time":"2026-04-02T10:00:00Z"}');
  simulator.insert(
    'orders',
    '{"operation_id":"new, \\"quoted\\"\\n=1+1","status":1,"amount":"1","create_time":"2026-04-02T10:00:00Z"}',
  );
  const [owned, counted] = [...simulator.oracle.shown('nft_classes')].slice(20);
  simulator.mutate('nft_classes', owned?.id ?? '', (was) => ({ ...was, owner: 'somebody' }));
  simulator.mutate('nft_classes', counted?.id ?? '', (was) => ({ ...was, nft_count: 1e6 }));
  await source.fill(bench);
  noted();
  await bench.runLater(30 * hourMs);
  noted();
  // What came late, moved its day, or lies outside every window.
  const of = { project: 'p', resource: 'orders' } as const;
  const late = (more: object) => ({
    operation_id: 'late',
    status: 2,
    amount: '7',
    create_time: '2026-03-05T08:00:00Z',
    ...more,
  });
  await observe(bench.db, of, [late({ update_time: '2026-04-05T00:00:00Z' })], '2026-04-08T00:00Z');
  await observe(bench.db, of, [late({ status: 1, amount: '6' })], '2026-04-08T06:00Z');
  await observe(
    bench.db,
    of,
    [late({ update_time: '2026-04-09T00:00:00Z', create_time: '2026-03-07T23:59:59.999999Z' })],
    '2026-04-09T03:00Z',
  );
  // The same ids, in another project.
  const others = [...simulator.oracle.shown('orders')].slice(0, 30);
  for (const [i, { text }] of others.entries()) {
    await observe(
      bench.db,
      { project: 'q', resource: 'orders' },
      [text],
      new Date(Date.UTC(2026, 3, 7, i)).toISOString(),
    );
  }
  instants.push('2026-04-07T14:00:00Z', '2026-04-08T06:00:00Z', '2026-04-08T05:59:59.999999Z');
  instants.push('2026-04-09T03:00:00Z', '2026-03-31T00:00:00Z', '9999-12-31T23:59:59Z');
  await writeProjects(bench.db, ['q', 'r']);
  await bench.db.query(
    `insert into sync.certificates (project_id, resource, month, certified_at, certificate, digest, leaves_sha256)
     select 'p', resource, month, now(), '{"records": 1, "n": 1.5}', sha256('1'), sha256('2')
       from unnest('{orders,nft_classes}'::text[]) resource, unnest('{2026-01-01,2026-02-01}'::date[]) month`,
  );
  await bench.db.query(
    `insert into sync.alerts (project_id, kind, subject, text, opened_at)
     values ('p', 'day_lost', 'orders', 'A day, "lost"', now())`,
  );
  archive = await keep(openArchive({ connectionString: bench.connectionString }));
  served = await keep(
    serveArchive(archive, {
      keys: ['p', 'q', 'r'].map((id) => ({ key: `of-${id}`, secret, projects: [id] })),
      // `p` carries the classes of both projects of its platform.
      projects: [
        { id: 'p', classesOf: 'p' },
        { id: 'q', classesOf: 'q' },
        { id: 'r', classesOf: 'p' },
      ],
    }),
  );
});

const sql = async (text: string, parameters: unknown[] = []): Promise<Row[]> =>
  (await bench.db.query(text, parameters)).rows;
const ask = (path: string): Promise<string> => textAt(served.url + path);
const withInstant = (asOf: string | null): string =>
  asOf === null ? '' : `&as_of=${encodeURIComponent(asOf)}`;
const moment = (asOf: string | null) => (asOf === null ? {} : { asOf });

type Flat = Record<string, unknown>;
/** As the library and HTTP name it both. */
const flat = (item: object): Flat =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name.replace(/Json$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name.endsWith('Json') && value !== null
        ? (JSON.parse(String(value)) as unknown)
        : value instanceof Uint8Array
          ? Buffer.from(value).toString('hex')
          : (value as unknown),
    ]),
  );

/** Of each list of records: what names one, its history in SQL, and how many are compared at least. */
const records = [
  { resource: 'orders', key: 'operation_id', history: 'order_history', least: 100 },
  { resource: 'nft_classes', key: 'id', history: 'nft_class_history', least: 100 },
  { resource: 'transactions', key: 'operation_id', history: 'transaction_history', least: 50 },
  { resource: 'tokens', key: 'symbol', history: 'token_history', least: 10 },
] as const;

describe.each(['p', 'q'])('records of project %s', (project) => {
  test.each(records)('$resource are told alike by every door', async (given) => {
    const { resource, key, history, least } = given;
    const { isPaged } = recordList(resource);
    let compared = 0;
    for (const asOf of instants) {
      const stream = recordsOf(archive, resource).stream({ project, ...moment(asOf) });
      const fromCode = (await collect(stream)).map(flat);
      const at = withInstant(asOf);
      const path = `/archive/v1/${resource}?project=${project}${at}`;
      expect(parsedLines(await ask(`${path}&format=ndjson`))).toEqual(fromCode);
      const paged: Flat[] = [];
      for (let cursor: string | null | undefined = ''; typeof cursor === 'string';) {
        const limit = isPaged ? '&limit=37&count=true' : '';
        const text = await ask(`${path}${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        const page = JSON.parse(text) as { items: Flat[]; next?: string | null; count?: number };
        if (isPaged) expect(page.count).toBe(fromCode.length);
        paged.push(...page.items);
        cursor = page.next;
      }
      expect(paged).toEqual(fromCode);
      const asRead = `analytics.${resource}_as_of($1, coalesce($2::timestamptz, 'infinity'))`;
      const inForce = `analytics.${history} where project_id = $1
          and case when $2::timestamptz is null then is_current
                   else in_force_from <= $2 and (in_force_until is null or in_force_until > $2) end`;
      const hasDays = resource === 'orders' || resource === 'nft_classes';
      const said = Object.entries(recordList(resource).fields).flatMap(([name, field]) =>
        'column' in field && ['key', 'record'].includes(field.part) ? [snake(name)] : [],
      );
      const names = [...said, 'raw', 'raw_sha256', ...(hasDays ? ['observed_at'] : [])];
      const held = await sql(`select ${names.join()} from ${hasDays ? asRead : inForce}`, [
        project,
        asOf,
      ]);
      const inCode = fromCode.map((item) =>
        Object.fromEntries(names.map((name) => [name, item[name]])),
      );
      expect(inAnyOrder(held)).toEqual(inAnyOrder(inCode));
      for (const item of fromCode.slice(0, 3)) {
        const id = encodeURIComponent(String(item[key]));
        const text = await ask(`/archive/v1/${resource}/${id}?project=${project}${at}`);
        const found = JSON.parse(text) as Flat;
        // Of an operation there may be two results.
        expect(resource === 'transactions' ? found['items'] : [found]).toContainEqual(item);
      }
      compared += fromCode.length;
    }
    expect(compared).toBeGreaterThan(resource === 'orders' || project === 'p' ? least : -1);
  });
});

test.each(records)('$resource are printed as they are sent', async ({ resource, key }) => {
  for (const asOf of instants.slice(0, 3)) {
    const then = asOf === null ? [] : ['--as-of', asOf];
    const printed = async (...args: string[]): Promise<string> =>
      (await command(resource, ...then, ...args)).stdout;
    const sent = (format: string): Promise<string> =>
      ask(`/archive/v1/${resource}?project=p&format=${format}${withInstant(asOf)}`);
    const lines = parsedLines(await sent('ndjson'));
    expect(parsedLines(await printed())).toEqual(lines);
    expect(await printed('--count')).toBe(`${lines.length}\n`);
    const csv = await sent('csv');
    expect(csv.split('\r\n')[0]).toBe(
      Object.keys(recordList(resource).fields).map(snake).join(','),
    );
    expect(await printed('--format', 'csv')).toBe(csv);
    for (const one of lines.slice(0, 1)) {
      expect(parsedLines(await printed('--id', String(one[key])))).toContainEqual(one);
    }
  }
});

const inAnyOrder = (rows: object[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();

/** The rows of a question of project `p`, spelt as the tables are. */
const doors = {
  library: async (name: QuestionName): Promise<Flat[]> => {
    const list = archive[name] as unknown as (query: object) => Promise<Page<Flat> | Flat[]>;
    const { isPaged }: AnyQuestion = questions[name];
    const rows =
      isPaged === true
        ? collect(everyPage(list as (query: object) => Promise<Page<Flat>>, { project: 'p' }))
        : ((await list({ project: 'p' })) as Flat[]);
    return (await rows).map(flat);
  },
  sql: async (name: QuestionName): Promise<Flat[]> => {
    const { view, fields }: AnyQuestion = questions[name];
    const columns = Object.values(fields);
    const rows = await sql(
      `select ${columns.map(({ column }) => column).join(', ')} from ${view} where project_id = 'p'`,
    );
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([column, value]) => {
          const isCount = columns.some((one) => one.column === column && one.isCount === true);
          return [column, isCount && value !== null ? Number(value) : value];
        }),
      ),
    );
  },
  json: async (name: QuestionName): Promise<Flat[]> => {
    const { isPaged }: AnyQuestion = questions[name];
    const limit = isPaged === true ? '&limit=10000' : '';
    const text = await ask(`/archive/v1/${snake(name)}?project=p${limit}`);
    return (JSON.parse(text) as { items: Flat[] }).items;
  },
  ndjson: async (name: QuestionName): Promise<Flat[]> =>
    parsedLines(await ask(`/archive/v1/${snake(name)}?project=p&format=ndjson`)),
  command: async (name: QuestionName): Promise<Flat[]> =>
    parsedLines((await command(snake(name))).stdout),
};
const parsedLines = (text: string): Flat[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Flat);
const command = (name: string, ...args: string[]): Promise<Ended> =>
  runHere(['query', name, '--project', 'p', ...args], {
    env: { DATABASE_URL: bench.connectionString, OUTLAST_LOG_LEVEL: 'error' },
  });

const names = questionNames;

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

/** A list's page and its JSON, asked the same: each row of one stands in the other, field by field, in its place. */
async function expectPageAgrees(list: List, query = ''): Promise<void> {
  // Of records a person sees the newest first.
  const order = list.resource !== null && list.hasDays ? '&order=asc' : '';
  const asked = `${list.name}?project=p${list.isPaged ? '&limit=500' : ''}${order}${query}`;
  const { items: listed } = JSON.parse(await ask(`/archive/v1/${asked}`)) as { items: Flat[] };
  // A person sees the newest days and months first.
  const when = ({ day, month }: Flat): string =>
    list.isPaged ? '' : ((day ?? month ?? '') as string);
  const items = listed.toSorted((a, b) => (when(a) < when(b) ? 1 : when(a) > when(b) ? -1 : 0));
  const html = await ask(`/${asked}`);
  const rows = [...html.matchAll(/<tr[^>]*>(?:(?!<th scope="col").)*?<\/tr>/gs)].map(([row]) =>
    textOf(row).replaceAll(',', ''),
  );
  expect(rows.length, asked).toBe(items.length);
  for (const [i, item] of items.entries()) {
    for (const name of list.shown) {
      const column = columnOf(list.fields, name);
      const value = item[snake(name)];
      if (column === null || value === null || typeof value === 'boolean') continue;
      // These are told in words.
      const isWord = column.values !== undefined || column.words !== undefined;
      if (isWord || typeof value === 'object' || ['month', 'outcome'].includes(name)) continue;
      const text = `${value as string | number}`.replaceAll(',', '').slice(0, 200);
      const isTime = column.type === 'timestamptz';
      // Money stands in units.
      const isFen = name === 'amountFen' || (name === 'number' && item['order_type'] === 2);
      const inUnits = isFen ? `${hundredths(text)} units` : text;
      const shown = isTime ? `${text.slice(0, 10)} ${text.slice(11, 19)}` : inUnits;
      expect(rows[i], `${asked}: ${name} of row ${i}`).toContain(shown);
    }
  }
}

test.each(names.filter((name) => 'isPaged' in questions[name]))(
  '%s is the same in pages of one row',
  async (name) => {
    const list = archive[name] as (query: object) => Promise<Page<Flat>>;
    const inPages = everyPage((query) => list({ ...query, limit: 1 }), { project: 'p' });
    expect((await collect(inPages)).map(flat)).toEqual(await doors.library(name));
  },
);

describe.each(names)('the list %s', (name) => {
  const { view, summary, fields, shown }: AnyQuestion = questions[name];

  test('is told alike by every door', async () => {
    const rows = await doors.library(name);
    expect(rows.length).toBeGreaterThan(0);
    expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(fields).map(snake));
    expect(await doors.json(name)).toEqual(rows);
    expect(await doors.ndjson(name)).toEqual(rows);
    expect(await doors.command(name)).toEqual(rows);
    const inSql = await doors.sql(name);
    expect(inSql).toHaveLength(rows.length);
    expect(inSql).toEqual(expect.arrayContaining(rows));
    const shell = snake(name).replaceAll('_', '-');
    const csv = await ask(`/archive/v1/${snake(name)}?project=p&format=csv`);
    expect((await command(shell, '--format', 'csv')).stdout).toBe(csv);
    const sheet = await ask(`/archive/v1/${snake(name)}?project=p&format=sheet`);
    // Reading the answer as text takes the byte order mark off.
    expect((await command(shell, '--format', 'sheet')).stdout).toBe(`\uFEFF${sheet}`);
    expect(csv.split('\r\n')[0]).toBe(Object.keys(fields).map(snake).join(','));
    expect((await command(snake(name), '--count')).stdout).toBe(`${rows.length}\n`);
    const { stdout: table } = await command(snake(name), '--format', 'table');
    expect(table).toContain(
      snake(shown[0] ?? '')
        .replace(/_at$/, '')
        .replaceAll('_', ' '),
    );
  });

  test('is what its filters say, and its view says what it means', async () => {
    const rows = await doors.library(name);
    for (const filter of Object.keys(filtersOf(questions[name]))) {
      const column = fields[filter]?.column ?? 'day';
      const value = String(rows.find((row) => row[column] !== null)?.[column]);
      const asked = filter === 'month' ? value.slice(0, 7) : value;
      const path = `/archive/v1/${snake(name)}?project=p&format=ndjson&${snake(filter)}=${asked}`;
      const matching = rows.filter(({ [column]: given }) => {
        if (typeof given !== 'string' && typeof given !== 'boolean') return false;
        const text = String(given);
        return filter === 'from' ? text >= value : filter === 'to' ? text <= value : text === value;
      });
      expect(parsedLines(await ask(path)), filter).toEqual(matching);
    }
    const [said] = await sql(`select obj_description($1::regclass) as view`, [view]);
    expect(said?.['view']).toContain(summary);
  });
});

describe.each(
  lists.filter(({ name }) => name !== 'alerts').map((list) => [list.name, list] as const),
)('the page of %s', (_, list) => {
  test('shows what its JSON gives', async () => {
    await expectPageAgrees(list);
  });

  test('is narrowed by each filter as its JSON is', async () => {
    const path = `/archive/v1/${list.name}?project=p${list.isPaged ? '&limit=500' : ''}`;
    const all = JSON.parse(await ask(path)) as { items: Flat[] };
    const { items } = all;
    const ofRecord = list.resource === null ? [] : list.key;
    for (const filter of Object.keys(list.filters).filter((name) => !ofRecord.includes(name))) {
      const day = list.resource === null ? 'day' : 'slice_day';
      const field = filter === 'from' || filter === 'to' ? day : snake(filter);
      const value = items.map((item) => item[field]).findLast((one) => (one ?? '') !== '');
      const given = encodeURIComponent(String(value).slice(0, filter === 'month' ? 7 : undefined));
      await expectPageAgrees(list, `&${snake(filter)}=${given}`);
      if (list.resource === null) continue;
      const narrowed = JSON.parse(await ask(`${path}&${snake(filter)}=${given}`)) as typeof all;
      const isMeant = ({ [field]: one }: Flat): boolean =>
        filter === 'from'
          ? String(one) >= String(value)
          : filter === 'to'
            ? String(one) <= String(value)
            : filter === 'name'
              ? String(one).includes(String(value))
              : one === value;
      expect(narrowed.items, filter).toEqual(items.filter(isMeant));
    }
  });

  test('leads to a page of each row that has one, with all that it says', async () => {
    const html = await ask(`/${list.name}?project=p`);
    const link = new RegExp(`<th scope="row"[^>]*><a[^>]* href="\\.(/[^"]*)"`).exec(html)?.[1];
    const isOfAnother = ['coverage', 'changed_records'].includes(list.name);
    if (list.key.length === 0 && !isOfAnother) expect(link).toBeUndefined();
    else expect(await ask((link ?? '').replaceAll('&amp;', '&'))).toContain('<h1');
    if (list.key.length === 0) return;
    const row = textOf(await ask((link ?? '').replaceAll('&amp;', '&')));
    expect(row).not.toContain('slice_day');
    if (list.resource !== null) return;
    for (const field of Object.keys(list.fields).filter((one) => one !== 'projectId')) {
      expect(row).toContain(snake(field));
    }
  });
});

test('a day is an instant, too: its end', async () => {
  for (const path of [
    'orders?project=p',
    'nft_classes?project=p',
    'statistics/orders?project=p&by=day',
  ]) {
    const asked = `/archive/v1/${path}`;
    expect(await ask(`${asked}&as_of=2026-04-07`)).toBe(
      await ask(`${asked}&as_of=2026-04-07T23:59:59.999999Z`),
    );
  }
  expect(await collect(archive.orders.stream({ project: 'p', asOf: '2026-03-01' }))).toEqual([]);
});

test('what is wrong is a sentence for a person, and that of classes another project archives is there, too', async () => {
  const wrong = `insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at)
                 values ('p', 'deadline_at_risk', $1, '{"days": 2, "deadline": "2026-05-30"}', now())`;
  await bench.db.query(wrong, ['nft_classes 2026-04']);
  await bench.db.query(wrong, ['orders 2026-04']);
  const said = (of: string): string => `${of}: 2 days are still without proof`;
  const { items } = JSON.parse(await ask('/archive/v1/problems?project=r')) as { items: Flat[] };
  expect(items.map(({ project_id: project, subject }) => [project, subject])).toEqual([
    ['p', 'nft_classes 2026-04'],
    ['p', 'nft_classes'],
  ]);
  const html = await ask('/problems?project=r');
  expect(html).toContain(said('nft_classes 2026-04'));
  expect(html).not.toContain(said('orders 2026-04'));
  const { stdout } = await command('problems', '--format', 'table');
  expect(stdout).toContain(said('orders 2026-04'));
  await bench.db.query(`delete from sync.reported_problems where subject like '% 2026-04'`);
});

/** As the platform's client asks. */
async function askSigned<Answer>(project: string, target: string): Promise<Answer> {
  const headers = signedHeaders({ key: `of-${project}`, secret }, target);
  return JSON.parse(await textAt(served.url + target, headers)) as Answer;
}

test('the platform’s own interface gives the same records in the same order, and counts as many', async () => {
  for (const project of ['p', 'q', 'r']) {
    for (const [direction, order] of [
      ['DATE_ASC', 'asc'],
      ['DATE_DESC', 'desc'],
    ] as const) {
      const orders = await collect(archive.orders.stream({ project, order }));
      const shown: unknown[] = [];
      let key: unknown;
      do {
        const next = key === undefined ? '' : `&page_key=${key as string}`;
        const { data } = await askSigned<{ data: Flat }>(
          project,
          `/v3/orders?limit=50&sort_by=${direction}&count_total=1${next}`,
        );
        expect(data['total_count']).toBe(orders.length);
        shown.push(...(data['order_infos'] as unknown[]));
        key = data['next_page_key'];
      } while (key !== '');
      const said = orders.map(
        ({ rawBytes, rawJson }) =>
          JSON.parse(rawBytes === null ? rawJson : Buffer.from(rawBytes).toString()) as unknown,
      );
      expect(shown).toEqual(said);
      const classes = await collect(
        archive.nftClasses.stream({ project: project === 'r' ? 'p' : project, order }),
      );
      const listed: unknown[] = [];
      for (let offset = 0; offset <= classes.length; offset += 200) {
        const path = `/v1beta1/nft/classes?limit=200&offset=${offset}&sort_by=${direction}`;
        const { data } = await askSigned<{ data: Flat }>(project, path);
        expect(data['total_count']).toBe(classes.length);
        listed.push(...(data['classes'] as unknown[]));
      }
      expect(listed).toEqual(classes.map(({ rawJson }) => JSON.parse(rawJson) as unknown));
    }
  }
  const { data } = await askSigned<{ data: Flat }>('p', '/v1beta1/tx/plain');
  const [plain] = await archive.transactions.get('p', 'plain');
  expect(data).toEqual(JSON.parse(plain?.rawJson ?? ''));
});

test('histories are told alike, and each content was what was read as of its moment', async () => {
  let contents = 0;
  for (const { resource, key, history } of records) {
    const changed = await sql(
      `select ${key} as id, count(*) from analytics.${history} where project_id = 'p' group by 1 having count(*) > 1`,
    );
    expect(changed.length).toBeGreaterThan(0);
    for (const [i, { id }] of changed.slice(0, 25).entries()) {
      const versions = await recordsOf(archive, resource).history('p', String(id));
      const fromCode = versions.map(({ item, ...inForce }) => flat({ ...inForce, ...item }));
      const path = `/archive/v1/${resource}/${encodeURIComponent(String(id))}`;
      const { items } = JSON.parse(await ask(`${path}/history?project=p`)) as { items: Flat[] };
      expect(items).toEqual(fromCode);
      const names = 'in_force_from, in_force_until, is_current, raw_sha256, raw, unread';
      const held = await sql(
        `select ${names} from analytics.${history} where project_id = 'p' and ${key} = $1`,
        [id],
      );
      const said = fromCode.map((item) =>
        Object.fromEntries(names.split(', ').map((name) => [name, item[name]])),
      );
      expect(inAnyOrder(said)).toEqual(inAnyOrder(held));
      if (i === 0) {
        const asked = ['--id', String(id), '--history'];
        expect(parsedLines((await command(resource, ...asked)).stdout)).toEqual(fromCode);
        expect((await command(resource, ...asked, '--count')).stdout).toBe(`${items.length}\n`);
        const { stdout: table } = await command(resource, ...asked, '--format', 'table');
        expect(table).toMatch(/^in force from \(UTC\) +until[^]* {2}now/);
      }
      for (const { in_force_from: from, in_force_until: until, raw_sha256: digest } of fromCode) {
        contents += 1;
        if (from === null || from === until) continue;
        const then = JSON.parse(
          await ask(`${path}?project=p${withInstant(from as string)}`),
        ) as Flat;
        const found = resource === 'transactions' ? (then['items'] as Flat[]) : [then];
        expect(found.map((one) => one['raw_sha256'])).toContain(digest);
      }
    }
    expect((await command(resource, '--id', 'unheld', '--history')).stdout).toBe('');
  }
  expect(contents).toBeGreaterThan(60);
});

// What the figures say is held against a recount and against the views in test/analytics and test/query.
test('figures are told alike, and count the records that the same instant shows', async () => {
  const total = (counts: number[]): number => counts.reduce((sum, one) => sum + one, 0);
  for (const asOf of instants) {
    const then = { project: 'p', ...moment(asOf) };
    const orders = await collect(archive.orders.stream(then));
    const classes = await collect(archive.nftClasses.stream(then));
    for (const by of ['day', 'month'] as const) {
      const told = async (list: string, rows: object[]): Promise<void> => {
        const path = `/archive/v1/statistics/${list}?project=p&by=${by}${withInstant(asOf)}`;
        const { items } = JSON.parse(await ask(path)) as { items: Flat[] };
        expect(items).toEqual(rows.map((row) => expect.objectContaining(flat(row)) as unknown));
      };
      const made = await archive.statistics.orders({ ...then, by });
      await told('orders', made);
      expect(total(made.map((row) => row.orders))).toBe(orders.length);
      const begun = await archive.statistics.nftClasses({ ...then, by });
      await told('nft_classes', begun);
      expect(total(begun.map((row) => row.classes))).toBe(classes.length);
    }
  }
});

test('a project whose classes another carries is told of them alike on every route', async () => {
  const read = async (path: string): Promise<Flat[]> =>
    (await askSigned<{ items: Flat[] }>('r', `/archive/v1${path}`)).items;
  const classes = await collect(archive.nftClasses.stream({ project: 'p' }));
  expect(await read('/nft_classes?limit=10000')).toEqual(classes.map(flat));
  for (const one of classes.slice(0, 1)) {
    expect(await askSigned('r', `/archive/v1/nft_classes/${one.id}`)).toEqual(flat(one));
    expect(await read(`/nft_classes/${one.id}/history`)).not.toEqual([]);
  }
  expect(await read('/statistics/nft_owners')).not.toEqual([]);
  const summary = await read('/summary');
  expect(summary.map((row) => [row['project_id'], row['resource'], row['records']])).toEqual([
    ['r', 'orders', 0],
    ['p', 'nft_classes', classes.length],
  ]);
  const rejects = await read('/rejects?resource=nft_classes');
  expect(rejects.map((row) => row['resource'])).toEqual(['nft_classes']);
  const own = await read('/coverage?resource=orders');
  expect(own).toEqual([]);
  expect((await read('/coverage')).length).toBe(
    (await archive.coverage({ project: 'p', resource: 'nft_classes' })).length,
  );
});
