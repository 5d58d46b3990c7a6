// What is read beside the days of the window. Days that left it, on a platform that answers for them all the same:
// offered, archived as slices like any other, and overtaken by nothing while it does. And lists without dates: an
// owner's, which also shows what was transferred in, holds what it shows and proves nothing.
import { beforeEach, describe, expect, test } from 'vitest';
import { untilToday } from '../../src/sync/enter-days.ts';
import { differences, type Bench } from '../support/archive.ts';
import { classOf } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { verified } from '../support/verified.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const hour = 3_600_000;
const day = 24 * hour;
/** A world that began in the middle of February: the window of 6 April begins with March. */
const world = { ordersPerDay: 5, classesPerDay: 10, quietShare: 0.3, since: '2026-02-15' };

const lately = ['2026-03-01', '2026-04-05', '2026-04-06'];

async function facts(): Promise<Record<string, string>> {
  const { rows } = await bench.db.query<{ fact: string; value: string }>(
    'select fact, value from sync.facts',
  );
  return Object.fromEntries(rows.map(({ fact, value }) => [fact, value]));
}

/** How many slices of classes before March are in each state, and how many of them are proved. */
async function olderStates(): Promise<Record<string, number>> {
  const { rows } = await bench.db.query<{ state: string; slices: number }>(
    `select state || case when proof = 'none' then ' unproved' else '' end as state, count(*)::int as slices
       from sync.slices where resource = 'nft_classes' and day between '0001-01-02' and '2026-02-28' group by 1`,
  );
  return Object.fromEntries(rows.map(({ state, slices }) => [state, slices]));
}

const older = {
  only: { resource: 'nft_classes', days: { from: '2022-01-01', to: '2026-03-01' } },
} as const;

describe('classes that outlive their month', () => {
  beforeEach(async () => {
    bench = await createBench({ world, days: lately, dialect: { classesWindow: false } });
    await bench.run();
  });

  test('are learned of, archived back to the oldest when someone asks, proved, and final', async () => {
    const known = await facts();
    expect(known['nft_classes.older_days']).toBe('answered');
    expect(known['orders.older_days']).toBe('not shown');
    expect(await olderStates()).toEqual({});

    expect(await bench.run(older)).toMatchObject({ outcome: 'done', problem: null });
    const found = (await differences(bench)).flatMap(
      ({ archived, shown }) => archived ?? shown ?? [],
    );
    const classes = found.filter((text) => text.includes('"timestamp"'));
    expect(classes.filter((text) => created(text) < '2026-03-01')).toEqual([]);
    const oldest = known['nft_classes.oldest_day'] ?? '';
    const days = (Date.parse('2026-03-01') - Date.parse(oldest)) / day;
    expect(await olderStates()).toEqual({ 'walked unproved': days });
    // What proves them is a day apart, and that a day shows nothing proves nothing.
    await bench.runLater(2 * hour + 60_000);
    await bench.runLater(day + hour);
    const shown = [...bench.simulator.oracle.shown('nft_classes')].map(({ text }) => created(text));
    const full = new Set(shown.filter((at) => at < '2026-03-01')).size;
    expect(await olderStates()).toEqual({ final: full, 'final unproved': days - full });
    // P7: the months of the window still have their deadlines; what is older has none.
    const { rows } = await bench.db.query(
      `select count(*)::int as wrong from sync.slices
        where (day < '2026-03-01' or day = any ($1)) and (day < '2026-03-01') <> (deadline_at > '9999-01-01')`,
      [lately],
    );
    expect(rows).toEqual([{ wrong: 0 }]);
  });

  // P6: one record that outlives its month says nothing of the others.
  test('what five weeks of silence lost is held when someone asks for it, and stays lost', async () => {
    const off = 65 * day;
    expect((await bench.runLater(off)).outcome).toBe('done');
    const { rows } = await bench.db.query<{ resource: string; lost: number }>(
      `select resource, count(*) filter (where state = 'lost')::int as lost
         from sync.slices where day > '0001-01-01' group by 1 order by 1`,
    );
    // April from the 6th on went by unread, and left the window on 1 June; 10 June is today.
    expect(rows).toEqual([
      { resource: 'nft_classes', lost: 25 },
      { resource: 'orders', lost: 25 },
    ]);
    const only = {
      resource: 'nft_classes',
      days: { from: '2026-04-05', to: '2026-05-01' },
    } as const;
    expect(await bench.run({ only })).toMatchObject({ outcome: 'done', problem: null });
    const unseen = (await differences(bench)).filter(({ archived }) => archived === null);
    const classes = unseen.filter(({ shown }) => shown?.includes('"timestamp"') === true);
    expect(classes.filter(({ shown }) => created(shown ?? '') >= '2026-04-05')).toEqual([]);
  });

  test('P7: are not lost because one question for them was answered with nothing', async () => {
    await bench.run(older);
    bench.simulator.setFaults({ emptied: { with: 'start_date=2000-01-01' } });
    await bench.runLater(day + hour);
    expect((await facts())['nft_classes.older_days']).toBe('not shown');
    bench.simulator.setFaults({ emptied: null });
    await bench.runLater(day + hour);
    expect((await facts())['nft_classes.older_days']).toBe('answered');
    expect((await olderStates())['final']).toBeGreaterThan(3);
  });

  test('P6: once the platform stops answering, an empty answer seals nothing, and what was open is lost', async () => {
    const [some] = [...bench.simulator.oracle.shown('nft_classes')];
    expect(created(some?.text ?? '') < '2026-03-01').toBe(true);
    // Stopped in the middle of the older days.
    const stop = new AbortController();
    let done = 0;
    await bench.run({
      ...older,
      signal: stop.signal,
      onProgress: ({ slicesDone }) => {
        done = slicesDone;
        if (slicesDone > 5) stop.abort();
      },
    });
    expect(done).toBeGreaterThan(5);
    bench.simulator.setDialect({ classesWindow: true });
    // The fact is unlearned by the probe of that day, and by the next one believed.
    await bench.runLater(day + hour);
    expect(Object.keys(await olderStates()).filter((state) => state.startsWith('lost'))).toEqual(
      [],
    );
    for (const ms of [day + hour, hour]) await bench.runLater(ms);
    const states = await olderStates();
    expect(states['lost unproved']).toBeGreaterThan(3);
    const held = Object.keys(states).filter((state) => state !== 'lost unproved');
    expect(held).toEqual(['final unproved']);
    // That they have a deadline now is in the journal.
    expect((await verified(bench.db)).findings).toEqual([]);
  });
});

test('days the platform does not answer for are refused, with what it does answer; and days that have not come, but for the end of a range', async () => {
  bench = await createBench({ world, days: lately });
  await bench.run();
  await expect(bench.run(older)).rejects.toThrow(
    /2022-01-01 lies before the window.*nft_classes.*from 2026-03-01 on/,
  );
  const monthEnd = '2026-05-01';
  await expect(bench.run({ only: { days: { from: '2026-04-07', to: monthEnd } } })).rejects.toThrow(
    '2026-04-07 has not come yet: today is 2026-04-06 (UTC)',
  );
  await bench.run({ only: { days: { from: '2026-04-06', to: monthEnd } } });
  const { rows } = await bench.db.query(`select from sync.slices where day > '2026-04-06'`);
  expect(rows).toEqual([]);
});

test('orders may be answered for as well, also where lists leave out a status: they are proved as those of the window are', async () => {
  const dialect = { ordersWindow: false, statusUnasked: 3 } as const;
  bench = await createBench({ world, days: lately, dialect }, { scope: { classes: 'none' } });
  await bench.run();
  const only = { resource: 'orders', days: { from: '2026-02-20', to: untilToday } } as const;
  expect((await bench.run({ only })).outcome).toBe('done');
  await bench.runLater(2 * hour + 60_000);
  await bench.runLater(day + hour);
  const { rows } = await bench.db.query(
    `select distinct state, proof, why from sync.slices
      where resource = 'orders' and day < '2026-03-01' order by proof`,
  );
  expect(rows).toEqual([
    { state: 'final', proof: 'books', why: null },
    { state: 'final', proof: 'none', why: 'shows nothing' },
  ]);
});

const created = (text: string): string =>
  (JSON.parse(text) as { timestamp: string }).timestamp.slice(0, 10);

describe('the list of an owner', () => {
  const own = (id: string, owner: string, on: string) => classOf(on, 1, { id, owner });
  const owned = ['a', 'b', 'c'].map((id, i) => own(id, 'mine', `2026-04-0${i + 1}`));
  const others = [own('x', 'theirs', '2026-03-10'), own('old', 'theirs', '2025-11-10')];
  const days = ['2026-03-01', '2026-04-01', '2026-04-02', '2026-04-03', '2026-04-06'];
  const give = (to: string) => (record: Record<string, unknown>) => ({ ...record, owner: to });
  const start = async (): Promise<void> => {
    const records = { orders: [], classes: [...owned, ...others] };
    bench = await createBench(
      { days, records, dialect: { classesWindow: false } },
      { scope: { classes: ['mine'] } },
    );
    await bench.run();
  };

  test('shows what is transferred in, whenever it was created; what is transferred away is kept, and marked like what vanished', async () => {
    await start();
    bench.simulator.mutate('nft_classes', 'x', give('mine'));
    bench.simulator.mutate('nft_classes', 'b', give('theirs'));
    bench.simulator.hide('nft_classes', 'c');
    await bench.runLater(7 * hour);
    const { rows } = await bench.db.query(
      `select concat_ws(' ', id, owner, case when missing_since is not null then 'missing' end) as class
         from archive.nft_classes order by id`,
    );
    const held = rows.map((row) => row['class']);
    expect(held).toEqual(['a mine', 'b mine missing', 'c mine missing', 'x mine']);
  });

  const refusal = { status: 400, with: 'start_date=2000', without: 'owner=theirs' };
  test.each([
    ['whichever owner has them', ['mine', 'theirs'], null],
    ['whoever is refused after the one who has them', ['theirs', 'mine'], refusal],
  ])('tells of older days, %s', async (_, classes, serverError) => {
    await start();
    bench.worker.scope = { classes };
    bench.simulator.setFaults({ serverError });
    await bench.runLater(25 * hour);
    const { 'nft_classes.older_days': answers, 'nft_classes.oldest_day': from } = await facts();
    expect([answers, from]).toEqual(['answered', '2025-11-10']);
  });

  test('is no day: it is in no coverage, has no deadline and costs a walk a period', async () => {
    await start();
    const { rows } = await bench.db.query(
      `select (select count(*)::int from sync.slices where day = '0001-01-01')        as slices,
              (select count(*)::int from analytics.coverage where day < '2000-01-01') as covered`,
    );
    expect(rows).toEqual([{ slices: 1, covered: 0 }]);
    await bench.runLater(hour);
    const undated = () =>
      bench.simulator.requests
        .recent()
        .filter(({ query }) => query.includes('owner=mine') && !query.includes('start_date'))
        .length;
    const before = undated();
    await bench.runLater(hour);
    expect(undated() - before).toBe(0);
    await bench.runLater(5 * hour);
    // Its total says that the page shows all of it.
    expect(undated() - before).toBe(1);
  });
});
