// One oddity of a platform at a time, each of which once made a proof false, a record lost or a sentence untrue.
import { expect, test } from 'vitest';
import { addDays, daysIn } from '../../src/day.ts';
import { OutlastError, transient } from '../../src/errors.ts';
import type { Platform } from '../../src/platform/platform.ts';
import type { Bench } from '../support/archive.ts';
import { classOf, missingIn, orderOf, saidOf } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { verified } from '../support/verified.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;
const pairMs = 2 * hour + 60_000;
const on = '2026-04-03';
const days = ['2026-04-02', on, '2026-04-04', '2026-04-06'];
const atTime = (id: number, time: string): ReturnType<typeof orderOf> =>
  orderOf(time.slice(0, 10), id, { create_time: time });

const said = (...days: string[]) => saidOf(bench.db, days);

/** A pattern by itself would be an object without fields, which whatever is said matches. */
const like = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

/** A platform with these orders and no classes, of which the days above are read unless told otherwise. */
async function open(
  orders: ReturnType<typeof orderOf>[],
  options: Parameters<typeof createBench>[0] = {},
  given: Parameters<typeof createBench>[1] = {},
): Promise<void> {
  bench = await createBench(
    { days, records: { orders, classes: [] }, ...options },
    { scope: { classes: 'none' }, ...given },
  );
}

async function openAndRead(...given: Parameters<typeof open>): Promise<void> {
  await open(...given);
  await bench.run();
}

/** So many orders of the day; `first`: how the first of them differs. */
const ordersOf = (count: number, first: object = {}) =>
  Array.from({ length: count }, (_, i) => orderOf(on, i, i === 0 ? first : {}));

/** Nothing was ever called missing. */
async function expectNoneMissing(): Promise<void> {
  const { rows } = await bench.db.query(`select from sync.journal where kind = 'missing'`);
  expect(rows).toEqual([]);
}

/** The platform, but for what `page` makes of each question. */
function through(page: (ask: Platform['page']) => Platform['page']): void {
  const { platform } = bench.worker;
  bench.worker.platform = { ...platform, page: page((...asked) => platform.page(...asked)) };
}

/** March's last day is shown no more when it is asked for with April's first one, until it is decided. */
async function readNextDayAlone({ run, skipTo, db, runLater }: Bench): Promise<void> {
  await run();
  await skipTo(at('2026-05-01T00:30:00Z'));
  await db.query(
    `update sync.slices set due_at = day, deadline_at = '2026-05-31' where day = '2026-04-01'`,
  );
  await run();
  await runLater(12 * hour + 60_000);
}

test('P7: a day of which the next one alone was shown, after its month had gone, is lost', async () => {
  const march = '2026-03-31';
  const orders = [13, 14].map((h) => atTime(h, `${march}T${h}:00:00Z`));
  orders.push(...[10, 11].map((h) => atTime(h, `2026-04-01T${h}:00:00Z`)));
  const startAt = at(`${march}T12:00:00Z`);
  await open(orders, { startAt, days: [march] });
  await readNextDayAlone(bench);
  expect(await said(march)).toEqual([
    { day: march, said: 'lost none month is going', held: 0, missing: 0 },
  ]);
});

test('P7: nor does a class of another owner keep such a day of an owner from being lost', async () => {
  const march = '2026-03-31';
  const classes = [classOf(march, 1, { owner: 'b' }), classOf('2026-04-01', 2, { owner: 'a' })];
  const startAt = at(`${march}T12:00:00Z`);
  const scope = { orders: 'none', classes: ['a', 'b'] } as const;
  await open([], { startAt, days: [march], records: { orders: [], classes } }, { scope });
  await readNextDayAlone(bench);
  const { rows } = await bench.db.query(
    `select state, shown_total from sync.slices where owner = 'a' and day = $1`,
    [march],
  );
  expect(rows).toEqual([{ state: 'lost', shown_total: '1' }]);
});

test('P6: what is left of a day that was lost proves nothing', async () => {
  const march = '2026-03-09';
  const orders = [0, 1, 2, 3].map((i) => orderOf(march, i));
  const startAt = at(`${march}T00:00:00Z`);
  await openAndRead(orders, { startAt, days: [march], dialect: { ordersWindow: false } });
  for (const i of [1, 2, 3]) bench.simulator.hide('orders', `o-${march}-${i}`);
  // Read by hand before any tick has decided its month.
  await bench.skipTo(at('2026-05-02T10:00:00Z'));
  const only = { resource: 'orders', days: { from: march, to: '2026-03-10' } } as const;
  for (const ms of [0, pairMs, 25 * hour]) {
    bench.simulator.advance(ms);
    await bench.run({ only });
    await bench.run();
  }
  expect(await said(march)).toMatchObject([{ said: like(/^lost none/), held: 1 }]);
});

test('a record that no answer gets past is left out alone, not what shares its pages', async () => {
  await open(ordersOf(10), { dialect: { maxOrders: 4 } });
  through((ask) => async (query, ...rest) => {
    const page = await ask(query, ...rest);
    if (page.records.some(({ id }) => id === `o-${on}-5`)) {
      throw transient('platform_unavailable', 'it answered with 500');
    }
    return page;
  });
  for (let k = 0; k < 20; k++) await bench.runLater(hour);
  expect(await said(on)).toMatchObject([{ said: 'open none not read', held: 9 }]);
});

test('P6: a proof ends with the news that contradicts it, also where orders are pending', async () => {
  await openAndRead(ordersOf(6, { status: 1 }), { dialect: { maxOrders: 2 } });
  await bench.runLater(pairMs);
  expect(await said(on)).toMatchObject([{ said: 'walked books pending' }]);
  bench.simulator.insert('orders', atTime(50, `${on}T00:00:01Z`));
  bench.simulator.insert('orders', atTime(51, `${on}T23:50:00Z`));
  const stop = new AbortController();
  through((ask) => async (query, ...rest) => {
    if (query.startDate === on && typeof query.pageKey === 'string') stop.abort();
    return ask(query, ...rest);
  });
  bench.simulator.advance(25 * hour);
  await bench.run({ signal: stop.signal });
  expect(await said(on)).toMatchObject([{ said: 'walked none showed less', held: 7 }]);
});

test('P6: a record set aside that only the second reading shows keeps the day from a seal', async () => {
  await openAndRead(ordersOf(2));
  const text = `{"status":2,"create_time":"${on}T13:00:00Z"}`;
  bench.simulator.insert('orders', { text, at: at(`${on}T13:00:00Z`), id: 'none' });
  await bench.runLater(pairMs);
  expect(await said(on)).toMatchObject([{ said: 'walked none read once' }]);
  await bench.runLater(pairMs);
  expect(await said(on)).toMatchObject([{ said: like(/^sealed books/) }]);
});

// Days in UTC+8, of which the first is empty there: at first contact it is asked for with the next one as well.
test('a record that another day shows is not missing from the one that showed it once', async () => {
  const orders = [atTime(1, '2026-04-02T20:00:00Z'), atTime(2, `${on}T10:00:00Z`)];
  // By one lane: where the second day is read before the first, the record is missing until its next reading.
  await openAndRead(orders, { dialect: { dates: 'utc+8' } }, { lanes: 1 });
  for (const ms of [pairMs, pairMs, 25 * hour, 25 * hour]) {
    await bench.runLater(ms);
    expect(await said('2026-04-02', on)).toMatchObject([
      { held: 0, missing: 0 },
      { held: 2, missing: 0 },
    ]);
  }
  expect(await said('2026-04-02', on)).toMatchObject([
    { said: 'sealed books' },
    { said: 'sealed books' },
  ]);
});

// No record tells whether an end date includes its day: each day is asked for with the next one as well.
test('days are proved though no time of their records is known', async () => {
  const two = [on, '2026-04-04'] as const;
  const zero = { create_time: '0001-01-01T00:00:00Z' };
  const orders = two.flatMap((day) =>
    [0, 1].map((i) => ({ ...orderOf(day, i, zero), at: at(`${day}T1${i}:00:00Z`) })),
  );
  await openAndRead(orders);
  for (const ms of [pairMs, 25 * hour]) await bench.runLater(ms);
  expect(await said(...two)).toMatchObject([
    { said: 'sealed books', held: 2, missing: 0 },
    { said: 'sealed books', held: 2, missing: 0 },
  ]);
});

// Days that were asked for with the next one showed that one's orders, too: counted twice, they hid the one that is kept
// back, as by a platform that takes an end date for its day's last whole second, of an order half a second later.
test('P6: a day keeps its doubt where the platform counts an order of it in a span and shows it nowhere', async () => {
  const late = atTime(99, `${on}T23:59:59.5Z`);
  await open([...days.slice(0, 3).flatMap((day) => [0, 1].map((i) => orderOf(day, i))), late]);
  through((ask) => async (query, ...rest) => {
    const page = await ask({ ...query, limit: 50, countTotal: true }, ...rest);
    const isLate = ({ id }: { id: string }): boolean => id === late.record.operation_id;
    const all = page.records.filter((one) => !isLate(one) || query.endDate !== on);
    const records = all.filter((one) => !isLate(one)).slice(0, query.limit);
    const [first = null, last = null] = [records[0]?.id, records.at(-1)?.id];
    const total = query.countTotal === true ? all.length : null;
    return { ...page, records, shown: records.length, total, first, last, nextKey: null };
  });
  await bench.run();
  await bench.runLater(pairMs);
  for (let k = 0; k < 4; k++) {
    await bench.runLater(25 * hour);
    expect(await said(on)).toMatchObject([{ said: 'walked none books do not balance', held: 2 }]);
  }
});

// Each day was asked for with the next one, whose first order it showed as well.
test('an order at each midnight leaves the books in balance where an end date is its first instant', async () => {
  const four = daysIn({ from: '2026-04-02', to: '2026-04-06' });
  const orders = [...four, '2026-04-06'].flatMap((day, i) => [
    atTime(i, `${day}T00:00:00Z`),
    atTime(10 + i, `${day}T12:00:00Z`),
  ]);
  await openAndRead(orders, { days: [...four, '2026-04-06'], dialect: { dayEnd: 'instant' } });
  for (const ms of [pairMs, pairMs]) await bench.runLater(ms);
  expect(await said(...four)).toEqual(
    four.map((day) => ({ day, said: 'sealed books', held: 2, missing: 0 })),
  );
});

// The order of a month's first midnight in UTC+8 stands under the day before it, which the books no longer cover once
// that day's month has gone.
test('days stay sealed when the month goes under whose last day their first order stands', async () => {
  const three = ['2026-02-28', '2026-03-01', '2026-03-02'];
  const orders = three.map((day, i) => atTime(i, `${day}T10:00:00Z`));
  orders.push(atTime(3, '2026-02-28T16:00:00Z'));
  const dialect = { dates: 'utc+8', dayEnd: 'instant', monthEnd: 'utc+8' } as const;
  const startAt = at('2026-03-04T03:00:00Z');
  await openAndRead(orders, { startAt, days: three, dialect });
  await bench.skipTo(at('2026-04-02T03:00:00Z'));
  for (const ms of [0, pairMs]) await bench.runLater(ms);
  expect(await said(...three)).toMatchObject([
    { said: like(/^final/), held: 2 },
    { said: 'sealed books', held: 1 },
    { said: 'sealed books', held: 1 },
  ]);
});

// Of two that are alike, to the byte, the first is kept, under its day.
test('records set aside of two days that are each asked for with the next one leave the books in balance', async () => {
  const rejects = ['2026-04-02', on].map((day) => ({
    text: '{"status":2}',
    at: at(`${day}T13:00:00Z`),
    id: day,
  }));
  const orders = days.slice(0, 3).map((day) => orderOf(day, 1));
  const records = { orders: [...orders, ...rejects], classes: [] };
  await openAndRead([], { records, dialect: { dayEnd: 'exclusive' } });
  for (const ms of [pairMs, pairMs]) await bench.runLater(ms);
  expect(await said('2026-04-02', on)).toMatchObject([
    { said: 'sealed books' },
    { said: 'sealed books' },
  ]);
});

// Its list is seen from the other end than was asked for, whichever that was.
test('a day whose last record has a time before that of its first one is proved', async () => {
  const zero = { create_time: '0001-01-01T00:00:00Z' };
  const last = { ...orderOf(on, 2, zero), at: at(`${on}T12:00:00Z`) };
  await openAndRead([...ordersOf(2), last]);
  for (const ms of [pairMs, pairMs]) await bench.runLater(ms);
  expect(await said(on)).toMatchObject([{ said: 'sealed books', held: 3, missing: 0 }]);
});

test('an end date that means another hour keeps no record from being held', async () => {
  const orders = ['01', '02', '10', '12'].map((h) => atTime(Number(h), `${on}T${h}:00:00Z`));
  await open(orders);
  through((ask) => async (query, ...rest) => {
    if (query.endDate === undefined) return ask(query, ...rest);
    const { pageKey: _key, ...of } = query;
    const page = await ask({ ...of, limit: 50, countTotal: true }, ...rest);
    const until = `${query.endDate}T05:00:00Z`;
    const before = page.records.filter(({ columns }) => String(columns['created_at']) < until);
    const records = before.slice(0, query.limit);
    const [first = null, last = null] = [records[0]?.id, records.at(-1)?.id];
    const total = query.countTotal === true ? before.length : null;
    return { ...page, records, shown: records.length, total, first, last, nextKey: null };
  });
  await bench.run();
  for (const ms of [pairMs, pairMs, 25 * hour]) await bench.runLater(ms);
  expect(await said(on)).toMatchObject([{ held: 4 }]);
});

// A total may count what its page shows alone.
test.each([null, 0])(
  'a list with pages between, whose total is %j, is read to its end',
  async (total) => {
    await open(ordersOf(6), { dialect: { maxOrders: 2, totals: 'absent' } });
    through((ask) => async (query, ...rest) => {
      const key = query.pageKey ?? '';
      if (key.startsWith('after '))
        return ask({ ...query, pageKey: key.slice(6) || null }, ...rest);
      const page = await ask(query, ...rest);
      if (page.shown === 0) return page;
      const nextKey = `after ${key}`;
      return { ...page, records: [], shown: 0, total, first: null, last: null, nextKey };
    });
    await bench.run();
    await bench.runLater(pairMs);
    expect(await said(on)).toMatchObject([{ said: 'sealed readings', held: 6, missing: 0 }]);
  },
);

// As those who keep a table for each month may, of months that are gone.
test.each([
  ['403', { forbidden: { with: 'start_date=2000' } }],
  ['404', { textNotFound: { with: 'start_date=2000' } }],
  ['500', { serverError: { with: 'start_date=2000' } }],
])('a platform that answers %s for days before its window is read', async (_, faults) => {
  await open(ordersOf(2), { faults });
  expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null });
  expect(await said(on)).toMatchObject([{ held: 2 }]);
});

// Today is asked for with the next day where it shows nothing.
test('a platform that refuses dates to come is read, also where there is nothing yet', async () => {
  const faults = { serverError: { status: 400, with: 'end_date=2026-04-07' } };
  await open([], { faults });
  expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null });
});

// As many interfaces take a month at most.
test('a platform that refuses a span of more than 31 days is read, and its days are proved', async () => {
  await open([...ordersOf(2), orderOf('2026-03-02', 0)], {
    days: daysIn({ from: '2026-03-01', to: '2026-04-07' }),
  });
  through((ask) => (query, ...rest) => {
    const { startDate, endDate = '2026-04-06' } = query;
    const isLong = (span: number): boolean => span > 31 * 24 * hour;
    if (startDate === undefined || !isLong(at(endDate) - at(startDate))) return ask(query, ...rest);
    return Promise.reject(new OutlastError('fatal', 'platform_refused', 'a month at most'));
  });
  expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null });
  await bench.runLater(pairMs);
  expect(await said('2026-03-02', on)).toMatchObject([
    { said: 'sealed books', held: 1 },
    { said: 'sealed books', held: 2 },
  ]);
});

// As firewalls refuse what looks to them like an attack, and a page key may: it is not the key that is refused.
test('a page that is answered with 403 holds up no other day, and parks no project', async () => {
  const next = '2026-04-04';
  const faults = { forbidden: { with: 'page_key=' } };
  const orders = [...ordersOf(10), orderOf(next, 0)];
  await open(orders, { dialect: { maxOrders: 4 }, faults }, { lanes: 1 });
  expect(await bench.run()).toMatchObject({ outcome: 'left', refused: [] });
  await bench.runLater(pairMs);
  expect(await said(on, next)).toMatchObject([
    { said: 'open none not read' },
    { said: 'sealed books', held: 1 },
  ]);
});

// Each act gets on by some pages before one fails.
test('a long day of a platform that fails now and then is read to its end, with whole pages', async () => {
  await open(ordersOf(60), { dialect: { maxOrders: 4 } });
  const limits = new Set<number>();
  let asked = 0;
  through((ask) => async (query, ...rest) => {
    if (query.startDate === on && query.limit > 1) limits.add(query.limit);
    if (query.startDate === on && ++asked % 4 === 0) {
      throw transient('platform_unavailable', 'it answered with 500');
    }
    return ask(query, ...rest);
  });
  for (let k = 0; k < 10; k++) await bench.runLater(hour);
  expect(await said(on)).toMatchObject([{ held: 60 }]);
  expect((await said(on))[0]?.said).toMatch(/^(?:walked|sealed)/);
  expect([...limits]).toEqual([4]);
});

test('days on which a list was switched off have no line, and are not lost', async () => {
  await openAndRead(ordersOf(1), {}, { scope: { classes: 'all' } });
  bench.worker.scope = { orders: 'none', classes: 'all' };
  await bench.runLater(10 * 24 * hour);
  await bench.runLater(24 * hour);
  await bench.skipTo(at('2026-08-01T13:00:00Z'));
  bench.worker.scope = { classes: 'all' };
  await bench.run();
  expect(await said('2026-04-10', '2026-04-15')).toEqual([]);
  expect((await verified(bench.db)).findings).toEqual([]);
});

// The books are of the lists that are named: without them its days were read daily, and never proved.
test('an owner that is named no more is asked for no more, until it is named again', async () => {
  const classes = ['a', 'b'].map((owner, i) => classOf(on, i, { owner }));
  const named = { orders: 'none', classes: ['a', 'b'] } as const;
  await openAndRead([], { records: { orders: [], classes } }, { scope: named });
  bench.worker.scope = { ...named, classes: ['a'] };
  const asked = () =>
    bench.simulator.requests.recent().filter(({ query }) => query.includes('owner=b')).length;
  const before = asked();
  for (const ms of [pairMs, 25 * hour]) await bench.runLater(ms);
  expect(asked()).toBe(before);
  bench.worker.scope = named;
  for (const ms of [pairMs, pairMs]) await bench.runLater(ms);
  const { rows } = await bench.db.query(
    `select owner, state from sync.slices where day = $1 order by owner`,
    [on],
  );
  expect(rows).toEqual([
    { owner: 'a', state: 'sealed' },
    { owner: 'b', state: 'sealed' },
  ]);
});

test('a filter by status that is refused from some day on keeps no day from a proof for long', async () => {
  await openAndRead(ordersOf(3));
  await bench.runLater(pairMs);
  bench.simulator.insert('orders', atTime(60, `${on}T15:00:00Z`));
  bench.simulator.setFaults({ serverError: { status: 400, with: 'status=', without: 'limit=50' } });
  await bench.runLater(25 * hour);
  await bench.runLater(pairMs);
  expect(await said(on)).toMatchObject([{ said: like(/^sealed/), held: 4 }]);
});

test.each([
  ['refused', { serverError: { status: 400, with: 'status=3', without: 'limit=50', next: 1 } }],
  [
    'refused to a reading',
    {
      serverError: { status: 400, with: `status=3&start_date=${on}`, without: 'limit=1&', next: 1 },
    },
  ],
  ['hollow', { hollow: { without: 'limit=50' } }],
] as const)(
  'an answer by status that is %s once hides no status that the list leaves out',
  async (_, fault) => {
    const orders = [0, 1, 2, 3].map((i) => orderOf(on, i, i < 2 ? { status: 3 } : {}));
    await openAndRead(orders, { dialect: { statusUnasked: 3 } });
    await bench.runLater(pairMs);
    bench.simulator.setFaults(fault);
    bench.simulator.advance(25 * hour);
    await bench.run();
    bench.simulator.setFaults({ serverError: null, hollow: null });
    await bench.runLater(25 * hour);
    await expectNoneMissing();
    expect(await said(on)).toMatchObject([{ said: 'sealed books', held: 4 }]);
  },
);

test('P7: days of a list that was switched off while it failed have a line again when it is back', async () => {
  await openAndRead(ordersOf(1), {}, { scope: { classes: 'all' } });
  bench.simulator.setFaults({ serverError: { path: '/v3/orders' } });
  await bench.runLater(3 * 24 * hour);
  bench.worker.scope = { orders: 'none', classes: 'all' };
  await bench.runLater(hour);
  expect(await said('2026-04-07', '2026-04-08')).toEqual([]);
  bench.worker.scope = { classes: 'all' };
  bench.simulator.setFaults({ serverError: null });
  await bench.skipTo(at('2026-06-01T13:00:00Z'));
  await bench.run();
  await bench.runLater(60_000);
  expect((await said('2026-04-07', '2026-04-08')).map((one) => one.said)).toEqual([
    expect.stringMatching(/^lost/),
    expect.stringMatching(/^lost/),
  ]);
});

// As a project's first failed order may: the books saw that the list has all, and none that failed.
test('P4: an order that comes to a status which the list leaves out is not missing', async () => {
  await openAndRead(ordersOf(4, { status: 1 }), { dialect: { statusUnasked: 3 } });
  await bench.runLater(pairMs);
  bench.simulator.mutate('orders', `o-${on}-0`, (order) => ({ ...order, status: 3 }));
  for (const ms of [hour, hour, pairMs, 25 * hour]) await bench.runLater(ms);
  await expectNoneMissing();
  expect(await said(on)).toMatchObject([{ said: 'sealed books', held: 4 }]);
});

// It may show less of a day beside the next one than of the day alone.
test('P4: a list that is cut makes no record missing while a span of days is doubted', async () => {
  const two = ['2026-04-02', on] as const;
  const orders = two.flatMap((day) => [0, 1, 2, 3, 4, 5].map((i) => orderOf(day, i)));
  await openAndRead(orders, {
    days: [...two, '2026-04-06'],
    dialect: { listCap: 8, totalsCap: 8 },
  });
  await bench.runLater(pairMs);
  through((ask) => async (query, ...rest) => {
    const page = await ask(query, ...rest);
    const isSpan = query.limit === 1 && query.startDate === two[0] && query.endDate === on;
    return isSpan && page.total !== null ? { ...page, total: 13 } : page;
  });
  await bench.runLater(25 * hour);
  expect(await said(...two)).toMatchObject([
    { said: 'walked none books do not balance' },
    { said: 'walked none books do not balance' },
  ]);
  await bench.runLater(25 * hour);
  await expectNoneMissing();
});

// Of today its list alone is read: a status that the list leaves out would be missing.
test('P4: a walk of today that is cut short makes no record missing when the day is over', async () => {
  const orders = ordersOf(6, { status: 1 });
  const dialect = { maxOrders: 2, statusUnasked: 3 } as const;
  const startAt = at(`${on}T23:40:00Z`);
  await openAndRead(orders, { startAt, days: ['2026-04-02', on], dialect });
  bench.simulator.mutate('orders', `o-${on}-0`, (order) => ({ ...order, status: 3 }));
  bench.simulator.setFaults({ serverError: { with: 'page_key=' } });
  await bench.runLater(34 * 60_000);
  bench.simulator.setFaults({ serverError: null });
  bench.simulator.advance(2 * 60_000);
  await bench.run();
  expect(await said(on)).toMatchObject([{ said: 'walked none read once', held: 6, missing: 0 }]);
  await expectNoneMissing();
});

// Of a span it shows and counts the first seven days.
test('a platform that cuts spans hides no order that comes late to a day which showed nothing', async () => {
  const late = '2026-03-28';
  await open([orderOf(on, 1)], { days: daysIn({ from: '2026-03-15', to: '2026-04-07' }) });
  through((ask) => (query, ...rest) => {
    const { startDate, endDate } = query;
    if (startDate === undefined || endDate === undefined) return ask(query, ...rest);
    const seventh = addDays(startDate, 6);
    return ask({ ...query, endDate: endDate < seventh ? endDate : seventh }, ...rest);
  });
  await bench.run();
  await bench.runLater(25 * hour);
  expect(await said(late)).toMatchObject([{ said: 'sealed readings', held: 0 }]);
  bench.simulator.insert('orders', orderOf(late, 1));
  for (let k = 0; k < 4; k++) await bench.runLater(25 * hour);
  expect(await said(late)).toMatchObject([{ held: 1 }]);
});

// Days first read by totals of the list, which end it after a short page.
test('a list whose totals come to count their page alone is read to its end once that was seen', async () => {
  const classes = Array.from({ length: 12 }, (_, i) => classOf(on, i));
  bench = await createBench(
    { days, records: { orders: [], classes }, dialect: { maxClasses: 4 } },
    { scope: { orders: 'none', classes: 'all' } },
  );
  await bench.run();
  bench.simulator.setDialect({ totals: 'page' });
  const later = Array.from({ length: 10 }, (_, i) => classOf(on, 20 + i));
  for (const one of later) bench.simulator.insert('nft_classes', one);
  for (const ms of [25 * hour, pairMs]) await bench.runLater(ms);
  const [day] = await saidOf(bench.db, [on], 'nft_classes');
  expect(day).toMatchObject({ said: like(/^sealed/), held: 22, missing: 0 });
});

// Addresses of bech32 mean the same in lower case and in upper case.
test('P6: what an owner named in capitals shows no more is missing, and keeps the day from a seal', async () => {
  const classes = [0, 1, 2].map((i) => classOf(on, i, { owner: 'iaa1mine' }));
  bench = await createBench(
    { days, records: { orders: [], classes }, dialect: { totals: 'absent' } },
    { scope: { orders: 'none', classes: ['IAA1MINE'] } },
  );
  through(
    (ask) =>
      (query, ...rest) =>
        ask({ ...query, owner: 'iaa1mine' }, ...rest),
  );
  await bench.run();
  bench.simulator.hide('nft_classes', `c-${on}-1`);
  await bench.runLater(pairMs);
  const [day] = await saidOf(bench.db, [on], 'nft_classes');
  expect([day?.said, await missingIn(bench.db)]).toEqual([
    'walked none showed less',
    [`c-${on}-1`],
  ]);
});
