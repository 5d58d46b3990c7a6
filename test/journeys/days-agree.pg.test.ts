// Whoever asks how sure a day is, by SQL, from code, over HTTP, on a page or by a command, is told the same of every
// state that a day can be in: analytics.coverage decides it, and each door only words it (P7). That HTTP gives what the
// library gives: doors-agree.pg.test.ts.
import { describe, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Served } from '../../src/http/server.ts';
import { silentLog } from '../../src/log.ts';
import type { Exported } from '../../src/export/write-export.ts';
import type { Day, ListedResource, Proof, SliceState, Why } from '../../src/model.ts';
import { safetyOf } from '../../src/http/web/headline.ts';
import { readStatus } from '../../src/query/status.ts';
import { openDb, type Row } from '../../src/store/db.ts';
import { runHere } from '../support/command-here.ts';
import { freshFolder, setUp } from '../support/fresh.ts';
import { openEmpty, type Opened } from '../support/opened.ts';
import { serveArchive, textAt } from '../support/served.ts';
import { writeProjects, writeRow } from '../support/rows.ts';

/** The window is March and April. */
const now = Date.parse('2026-04-06T12:00:00Z');
const provedAt = '2026-04-01T00:00:00Z';
const today = '2026-04-06';

/** `sure`: what may be claimed. `never`: that it is held, for ever. */
type Sure = 'settled' | 'held' | 'not yet' | 'never';
type Given = {
  day: Day;
  is: [SliceState, Proof, Why | null];
  sure: Sure;
  resource?: ListedResource;
  owner?: string;
  pending?: number;
  rejects?: number;
  isBeingRead?: boolean;
};

const orders: Given[] = [
  { day: '2025-12-01', is: ['walked', 'none', 'shows nothing'], sure: 'not yet' },
  { day: '2025-12-02', is: ['final', 'none', 'shows nothing'], sure: 'never' },
  { day: '2025-12-03', is: ['final', 'readings', null], sure: 'settled' },
  { day: '2026-02-01', is: ['lost', 'none', 'month is going'], sure: 'never' },
  { day: '2026-02-02', is: ['lost', 'none', 'clock'], sure: 'never', rejects: 1 },
  { day: '2026-02-03', is: ['final', 'books', null], sure: 'settled' },
  { day: '2026-02-04', is: ['final', 'none', 'read once'], sure: 'never' },
  { day: '2026-02-05', is: ['final', 'books', 'pending'], sure: 'held', pending: 1 },
  { day: '2026-02-06', is: ['final', 'books', null], sure: 'never', rejects: 2 },
  { day: '2026-02-07', is: ['final', 'none', 'books do not balance'], sure: 'never', pending: 1 },
  { day: '2026-03-01', is: ['open', 'none', 'not read'], sure: 'not yet' },
  { day: '2026-03-02', is: ['open', 'none', 'not read'], sure: 'not yet', isBeingRead: true },
  { day: '2026-03-03', is: ['walked', 'none', 'read once'], sure: 'not yet' },
  { day: '2026-03-04', is: ['walked', 'none', 'showed less'], sure: 'not yet' },
  { day: '2026-03-05', is: ['walked', 'none', 'counts more'], sure: 'not yet' },
  { day: '2026-03-06', is: ['walked', 'none', 'books do not balance'], sure: 'not yet' },
  { day: '2026-03-07', is: ['walked', 'none', 'clock'], sure: 'not yet' },
  { day: '2026-03-08', is: ['walked', 'readings', 'pending'], sure: 'held', pending: 2 },
  { day: '2026-03-09', is: ['sealed', 'books', null], sure: 'settled' },
  { day: '2026-03-10', is: ['sealed', 'readings', null], sure: 'settled' },
  { day: '2026-03-11', is: ['sealed', 'books', null], sure: 'not yet', rejects: 1 },
  { day: '2026-03-12', is: ['sealed', 'books', null], sure: 'settled', isBeingRead: true },
  { day: '2026-03-13', is: ['walked', 'none', 'month is going'], sure: 'not yet' },
  {
    day: '2026-03-14',
    is: ['walked', 'books', 'pending'],
    sure: 'not yet',
    pending: 1,
    rejects: 1,
  },
  // Its tail was proved while it was today, and it was never read to its end.
  { day: '2026-03-15', is: ['open', 'books', 'not read'], sure: 'not yet' },
  { day: today, is: ['open', 'none', 'not over'], sure: 'not yet' },
];
/** The weaker of two owners' lists decides. */
const classes: Given[] = (
  [
    ['2026-02-03', ['final', 'books', null], ['lost', 'none', 'clock'], 'never'],
    ['2026-02-04', ['final', 'books', null], ['final', 'none', 'clock'], 'never'],
    ['2026-02-05', ['final', 'books', null], ['final', 'readings', null], 'settled'],
    ['2026-03-09', ['sealed', 'books', null], ['walked', 'none', 'read once'], 'not yet'],
    ['2026-03-10', ['sealed', 'books', null], ['open', 'none', 'not read'], 'not yet'],
    ['2026-03-12', ['sealed', 'books', null], ['sealed', 'readings', null], 'settled'],
  ] as const
).flatMap(([day, first, second, sure]): Given[] => [
  { day, is: [...first], sure, resource: 'nft_classes', owner: 'a' },
  { day, is: [...second], sure, resource: 'nft_classes', owner: 'b' },
]);

let opened: Opened;
let served: Served;
setUp(async (keep) => {
  opened = await keep(openEmpty());
  const { db } = opened;
  await writeProjects(db, ['p'], { addedAt: '2026-01-01', firstDay: '2025-12-01' });
  for (const of of [...orders, ...classes]) {
    const { day, is, resource = 'orders', owner = '', pending = 0, rejects = 0 } = of;
    const [state, proof, why] = is;
    const isDecided = state === 'final' || state === 'lost';
    await writeRow(db, 'sync.slices', {
      project_id: 'p',
      resource,
      owner,
      day,
      state,
      proof,
      why,
      proved_at: proof === 'none' ? null : provedAt,
      unresolved: pending,
      deadline_at: day < '2026' ? '9999-12-31' : `2026-0${Number(day.slice(6, 7)) + 1}-28`,
      due_at: isDecided ? null : '2026-04-06T14:00:00Z',
      walked_at: state === 'open' || state === 'lost' ? null : provedAt,
      whole_walk: 1,
      shown_total: 3,
      checkpoint: of.isBeingRead === true ? '{"next": {"number": 2}}' : null,
    });
    await db.query(
      `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
       select 'p', $1, sha256(($2 || n)::bytea), 'x', 'no id', $3, $2::date, $4 from generate_series(1, $5::int) n`,
      [resource, day, owner, provedAt, rejects],
    );
  }
  served = await keep(serveArchive(opened.archive, { now: () => now }));
});

const sql = async (text: string): Promise<Row[]> => (await opened.db.query(text)).rows;
const ask = (path: string): Promise<string> => textAt(served.url + path);
const command = (...args: string[]) =>
  runHere(args, {
    env: {
      DATABASE_URL: opened.connectionString,
      MACHINE_CLOCK_NOW: String(now),
      OUTLAST_LOG_LEVEL: 'error',
    },
  });
const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, '');
/** What a door says: true or false, and null where it does not say. */
type Said = { isHeld: boolean; isSettled?: boolean; isForGood?: boolean };
type Door = (resource: ListedResource, day: Day) => Promise<Said>;
const all = (said: readonly Said[]): Said => ({
  isHeld: said.every(({ isHeld }) => isHeld),
  isSettled: said.every(({ isSettled }) => isSettled),
});
const view =
  (name: string): Door =>
  async (resource, day) => {
    const rows = await sql(
      `select is_held, is_settled from analytics.${name}
        where project_id = 'p' and day = '${day}' ${name.startsWith('coverage') ? `and resource = '${resource}'` : ''}`,
    );
    expect(rows.length).toBeGreaterThan(0);
    return all(
      rows.map((row) => ({
        isHeld: row['is_held'] === true,
        isSettled: row['is_settled'] === true,
      })),
    );
  };
const libraryFigures =
  (then: { asOf?: string } = {}): Door =>
  async (resource, day) => {
    const { statistics } = opened.archive;
    const asked = { project: 'p', from: day, to: day, by: 'day', ...then } as const;
    return all(
      await (resource === 'orders' ? statistics.orders(asked) : statistics.nftClasses(asked)),
    );
  };
let statusText: Promise<string> | undefined;
let firstPage: Promise<string> | undefined;
const overview = (): Promise<string> => (firstPage ??= ask('/'));
const status = (): Promise<string> =>
  (statusText ??= command('status', '--all').then(({ stdout }) => stdout));

const doors: Record<string, Door> = {
  'analytics.coverage': view('coverage'),
  'analytics.coverage_by_day': view('coverage_by_day'),
  'analytics.incomplete_days': async (resource, day) => {
    const rows = await sql(
      `select why from analytics.incomplete_days where resource = '${resource}' and day = '${day}'`,
    );
    for (const { why } of rows) expect(['pending', null]).not.toContain(why);
    return { isHeld: rows.length === 0 };
  },
  'analytics.…_by_day': (resource, day) => view(`${resource}_by_day`)(resource, day),
  'the library’s coverage': async (resource, day) =>
    all(await opened.archive.coverage({ project: 'p', resource, from: day, to: day })),
  'the library’s figures': libraryFigures(),
  'the same as of later': libraryFigures({ asOf: new Date(now).toISOString() }),
  'the library’s report': async (resource, day) => {
    const read = (more: { owner?: string } = {}) =>
      opened.archive.day({ project: 'p', resource, day, ...more });
    const owners = (await read())?.owners ?? [];
    return all(await Promise.all(owners.map(async (owner) => (await read({ owner })) as Said)));
  },
  'the page of the day': async (resource, day) => {
    const owners = resource === 'orders' ? [''] : ['a', 'b'];
    const said = await Promise.all(
      owners.map(async (owner) => {
        const html = await ask(`/days/${resource}/${day}?owner=${owner}`);
        const [, kind = '', lead = ''] =
          /<p class="lead"><strong(?: class="(\w+)")?>(.*?)<\/p>/s.exec(html) ?? [];
        const isForGood = kind === 'bad';
        // What is over is told as what is over, and what is not as what is not.
        expect(lead).not.toMatch(isForGood ? /\byet\b|so far|comes/ : /for good, never|lost/);
        if (lead.startsWith('lost')) expect(lead).toContain('it was not read in time');
        return { isHeld: kind === 'good', isForGood };
      }),
    );
    return {
      isHeld: said.every(({ isHeld }) => isHeld),
      isForGood: said.some(({ isForGood }) => isForGood),
    };
  },
  'the calendar of the first page': async (resource, day) => {
    const [, mark = ''] =
      new RegExp(`class="cell (\\w+)" href="\\./days/${resource}/${day}`).exec(await overview()) ??
      new RegExp(`class="cell (\\w+)" href="/days/${resource}/${day}`).exec(await overview()) ??
      [];
    const isHeld = ['sealed', 'final', 'proved'].includes(mark);
    return { isHeld, isForGood: ['lost', 'doubtful'].includes(mark) };
  },
  'the list of the day': async (resource, day) => {
    const html = await ask(`/${resource}?from=${day}&to=${day}`);
    const [, kind = '', line = ''] =
      /<p class="([\w ]+)">([^<]*(?:All is held|all held yet|proved whole|of the archive’s)[^<]*)/.exec(
        html,
      ) ?? [];
    return { isHeld: kind === 'good', isForGood: /will not be|for good/.test(line) };
  },
  'the figures of the day': async (resource, day) => {
    const html = await ask(`/figures?by=day&from=${day}&to=${day}`);
    const id = resource === 'orders' ? 'orders' : 'classes';
    const section = new RegExp(`<section aria-labelledby="${id}">.*?</section>`, 's').exec(
      html,
    )?.[0];
    const row = textOf(/<tr class="sum".*?<\/tr>/s.exec(section ?? '')?.[0] ?? '');
    expect(row).toMatch(/all held|lost for ever/);
    return {
      isHeld: /(?<!not )all held/.test(row),
      isSettled: row.includes('all held and settled'),
    };
  },
  'outlast query': async (resource, day) => {
    const { stderr } = await command('query', resource, '--from', day, '--to', day);
    return { isHeld: stderr === '', ...(stderr.includes('lost') ? { isForGood: true } : {}) };
  },
  'outlast status': async (resource, day) => {
    const line = (await status())
      .split('\n')
      .map((one) => one.trim())
      .find((one) => one.startsWith(`${day.slice(0, 7)}  ${resource}  `) && !/\d$/.test(one));
    const sign = line?.slice(9 + 'nft_classes'.length + 2)[Number(day.slice(8)) - 1] ?? '';
    return { isHeld: 'sfp'.includes(sign), isForGood: 'LN'.includes(sign) };
  },
};

const given = [
  ...new Map([...orders, ...classes].map((one) => [`${one.resource} ${one.day}`, one])).values(),
];

describe.each(Object.entries(doors))('%s', (_, door) => {
  test('says of every day what the view says', async () => {
    for (const { resource = 'orders', day, sure } of given) {
      const said = await door(resource, day);
      const isHeld = sure === 'held' || sure === 'settled';
      expect({ resource, day, ...said }).toEqual({
        resource,
        day,
        isHeld,
        ...(said.isSettled === undefined ? {} : { isSettled: sure === 'settled' }),
        ...(said.isForGood === undefined ? {} : { isForGood: sure === 'never' }),
      });
    }
  });
});

test('as of a moment before its proof no day is held, whoever is asked', async () => {
  const asOf = '2026-03-31T00:00:00Z';
  for (const { day, resource = 'orders' } of given.filter(({ sure }) => sure === 'settled')) {
    const said = await libraryFigures({ asOf })(resource, day);
    expect(said).toEqual({ isHeld: false, isSettled: false });
    expect(await ask(`/${resource}?from=${day}&to=${day}&as_of=${asOf}`)).toContain(
      'the proof is younger than that',
    );
    const asked = ['query', resource, '--from', day, '--to', day, '--as-of', asOf];
    const { stderr } = await command(...asked);
    expect(stderr).toContain('not all held, or not proved by then');
  }
});

test('all count as many days', async () => {
  const held = (month: string, resource: ListedResource): number =>
    given.filter(
      (one) =>
        (one.resource ?? 'orders') === resource &&
        one.day.startsWith(month) &&
        ['held', 'settled'].includes(one.sure),
    ).length;
  const months = await sql(
    `select resource, to_char(month, 'YYYY-MM') as month, days_held from analytics.coverage_by_month`,
  );
  expect(months).toHaveLength(6);
  for (const { resource, month, days_held: count } of months) {
    expect([month, count]).toEqual([month, held(String(month), resource as ListedResource)]);
  }
  const [project] = await readStatus(opened.db, 'p');
  const [list] = project?.lists ?? [];
  const pending = orders.reduce((total, one) => total + (one.pending ?? 0), 0);
  expect(list?.pending).toBe(pending);
  expect(textOf(await overview())).toContain(`${pending} pending`);
  expect(textOf(await ask('/days/orders/2026-03-08'))).toMatch(/2\s*still pending/);
  // What is held and not settled is named, also where nothing will settle it.
  expect((await status()).replaceAll(/\s+/g, ' ')).toContain(
    '1 kept for good with orders pending when their month went',
  );
  const written = await command('export', await freshFolder(), '--format', 'csv', '--json');
  const { months: exported } = (JSON.parse(written.stdout) as Exported).manifest;
  const summary = (await opened.archive.summary({ project: 'p' })).find(
    ({ resource }) => resource === 'orders',
  );
  const sum = (of: readonly { held: number }[] = []): number =>
    of.reduce((total, one) => total + one.held, 0);
  const expected = held('', 'orders');
  expect(sum(list?.months)).toBe(expected);
  expect(sum(exported.filter(({ resource }) => resource === 'orders'))).toBe(expected);
  expect(summary?.held).toBe(expected);
  const figure = await opened.archive.statistics.orders({ project: 'p', by: 'month' });
  expect(figure.reduce((total, { daysHeld }) => total + daysHeld, 0)).toBe(expected);
  // Of all lists of a day the least sure decides.
  const isSafe = (day: Day): boolean =>
    given.every((one) => one.day !== day || one.sure === 'held' || one.sure === 'settled');
  const past = new Set(given.map(({ day }) => day).filter((day) => day < today));
  const safe = [...past].filter(isSafe).length;
  const notYet = past.size - safe - 3 - 4;
  const headline = `${safe} of ${past.size} days are safe; 3 are lost for ever; 4 were never proved whole; ${notYet} are not safe yet.`;
  expect(await overview()).toContain(`<h1 class="bad">${headline}</h1>`);
  expect((await status()).split('\n')[0]).toBe(`Project p: ${headline}`);
  expect(safetyOf(await opened.archive.coverage({ project: 'p' }), now)).toMatchObject({
    days: past.size,
    safe,
    lost: ['2026-02-01', '2026-02-02', '2026-02-03'],
    doubtful: 4,
    notYet,
    readOnce: 2,
    readAgainAt: '2026-04-06T14:00:00Z',
    unsettled: 2,
    closing: { month: '2026-03-01' },
  });
});

test('sabotaged, a door that lets the surest list decide is noticed', async () => {
  const owner = await openDb({
    connectionString: opened.connectionString,
    role: null,
    log: silentLog(),
  });
  const { rows } = await owner.query<{ sql: string }>(
    `select pg_get_viewdef('analytics.coverage_by_day'::regclass) as sql`,
  );
  const replace = 'create or replace view analytics.coverage_by_day as';
  const said = rows[0]?.sql ?? '';
  // PostgreSQL 15 says of which view a column is.
  const surest = said.replace(/bool_and\(((?:\w+\.)*is_held)\)/, 'bool_or($1)');
  expect(surest).not.toBe(said);
  await owner.query(`${replace} ${surest}`);
  const [day] = daysIn({ from: '2026-03-09', to: '2026-03-10' });
  expect(await view('coverage_by_day')('nft_classes', day ?? '')).toMatchObject({ isHeld: true });
  await owner.query(`${replace} ${said}`);
  await owner.close();
});
