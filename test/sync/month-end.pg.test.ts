// Around the cliff absence proves nothing, and readings only add (docs/guarantee.md): a month that goes in another zone than UTC, copies of a
// platform of which one has let go of it and another has not, and answers that are empty for no reason. Nothing that
// was sealed is unsealed by it, nothing is called missing, no empty answer seals a day, and nothing is decided before
// the platform's own Date is twelve hours past the month's end.
import { describe, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Faults } from '../../src/simulator/faults.ts';
import type { ArchivedScope } from '../../src/sync/enter-days.ts';
import type { Bench } from '../support/archive.ts';
import { classOf, missingIn, orderOf } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;
/**
 * March leaves the window when April ends. Days of it with records, on its last one also in the hours that UTC+8 counts
 * as April; and a day of April.
 */
const loaded = ['2026-03-01', '2026-03-09', '2026-03-31', '2026-04-10'];
/** Those, an empty one, and the last of April. */
const days = [...loaded, '2026-03-30', '2026-04-30'];
const late = { create_time: '2026-03-31T20:00:00Z', timestamp: '2026-03-31 20:00:00 +0000 UTC' };
const records = {
  orders: [
    ...loaded.flatMap((on) => [1, 2, 3].map((i) => orderOf(on, i))),
    orderOf('2026-03-31', 9, late),
  ],
  classes: [
    ...loaded.flatMap((on) => [1, 2, 3].map((i) => classOf(on, i))),
    classOf('2026-03-31', 9, late),
  ],
};
/** How many records of each day of March there are. */
const counts: Record<string, number> = {
  '2026-03-01': 3,
  '2026-03-09': 3,
  '2026-03-31': 4,
};

type March = {
  day: string;
  resource: string;
  state: string;
  proof: string;
  shown: number;
  isProvedInTime: boolean;
  held: number;
};

async function march(): Promise<March[]> {
  const { rows } = await bench.db.query<March>(
    `select day, resource, state, proof, shown_total::int as shown,
            proved_at < '2026-04-30T10:00Z' as "isProvedInTime",
            (select count(*)::int from archive.orders o
              where o.project_id = s.project_id and o.slice_day = s.day and resource = 'orders')
            + (select count(*)::int from archive.nft_classes c
                where c.project_id = s.project_id and c.slice_day = s.day and resource = 'nft_classes') as held
       from sync.slices s where day between '2026-03-01' and '2026-03-31' and day = any ($1) order by resource, day`,
    [days],
  );
  return rows;
}

const stateNames = async (): Promise<string[]> =>
  [...new Set((await march()).map(({ state }) => state))].toSorted();

const missing = (): Promise<string[]> => missingIn(bench.db);

/** P6: every day of March that counts as proved or sealed is held as it was before the month began to go. */
async function expectNoEmptySeal(): Promise<void> {
  const proved = (await march()).filter(
    ({ state, proof }) => state === 'sealed' || proof !== 'none',
  );
  expect(proved.filter(({ day, held }) => held !== (counts[day] ?? 0))).toEqual([]);
}

const moments = ['04-30T16:30', '05-01T00:30', '05-01T08:30', '05-01T11:45'];
const decided = ['05-01T12:05', '05-01T16:30'];
const setNow = (moment: string): void => bench.simulator.setNow(at(`2026-${moment}:00Z`));

/** A run at each of these moments. */
async function runAt(
  of: readonly string[],
  look?: (moment: string) => Promise<void>,
): Promise<void> {
  for (const moment of of) {
    setNow(moment);
    await bench.run();
    await look?.(moment);
  }
}

/** Reads every day from both ends, those without records a day apart. */
async function sealAll(): Promise<void> {
  await bench.seal();
  bench.simulator.advance(24 * hour + 60_000);
  await bench.run();
}

/** A copy that lags by so much has the month for so much longer: it answers half of the requests. */
const copies = { stale: { share: 0.5, ms: 10 * hour } };
const both = { classes: 'all' } as const;
const ordersOnly = { classes: 'none' } as const;
const cases: [string, Partial<Dialect>, Partial<Faults>, ArchivedScope][] = [
  ['two copies, at UTC+8', { monthEnd: 'utc+8' }, copies, both],
  [
    'empty answers about March',
    {},
    { emptied: { share: 0.5, with: 'start_date=2026-03' } },
    ordersOnly,
  ],
];

describe.each(cases)('%s', (_name, dialect, faults, scope) => {
  test('what was sealed stays sealed until it is final', async () => {
    bench = await createBench(
      { records, days, dialect, startAt: at('2026-04-28T05:00:00Z') },
      { scope },
    );
    await sealAll();
    expect(await stateNames()).toEqual(['sealed']);
    bench.simulator.setFaults(faults);
    await runAt(moments, async (moment) =>
      expect([moment, await stateNames(), await missing()]).toEqual([moment, ['sealed'], []]),
    );
    bench.simulator.setFaults({ stale: null, emptied: null });
    await runAt(decided);
    expect(await stateNames()).toEqual(['final']);
    expect(await missing()).toEqual([]);
    const ended = await march();
    expect(ended.filter(({ proof }) => proof === 'none')).toEqual([]);
    // What stands of it is what was shown while the month was there, and when that proved it.
    expect(ended.filter((one) => one.shown !== one.held || !one.isProvedInTime)).toEqual([]);
    await expectNoEmptySeal();
  });

  test('who starts in the last hours seals no day because it is answered empty', async () => {
    bench = await createBench(
      { records, days, dialect, faults, startAt: at('2026-04-30T19:00:00Z') },
      { scope },
    );
    const isDecided = (state: string): boolean => state === 'lost' || state === 'final';
    await runAt(['04-30T19:00', '04-30T21:00', ...moments.slice(1)], async (moment) => {
      await expectNoEmptySeal();
      expect([moment, (await stateNames()).filter(isDecided)]).toEqual([moment, []]);
      expect(await missing()).toEqual([]);
    });
    await runAt(decided);
    expect((await stateNames()).every(isDecided)).toBe(true);
    await expectNoEmptySeal();
  });
});

test('P7: where lists leave out a status, what is read in the last minutes is held, and not lost', async () => {
  const orders = records.orders.map(({ record }, i) => ({
    record: { ...record, status: 2 + (i % 2) },
  }));
  bench = await createBench(
    {
      records: { ...records, orders },
      days,
      dialect: { statusUnasked: 3 },
      startAt: at('2026-04-30T23:50:00Z'),
    },
    { scope: ordersOnly },
  );
  await bench.run();
  expect((await march()).map(({ day, state, held }) => `${day} ${state} ${held}`)).toEqual([
    '2026-03-01 walked 3',
    '2026-03-09 walked 3',
    // What it was shown of the day after it may stand there by now.
    expect.stringMatching(/^2026-03-30 (walked|open) 0$/),
    '2026-03-31 walked 4',
  ]);
  await runAt(['05-01T12:05']);
  expect((await march()).map(({ day, state }) => `${day} ${state}`)).toEqual([
    '2026-03-01 final',
    '2026-03-09 final',
    // That it is empty is not believed now, whatever the next day's list shows beside it.
    '2026-03-30 lost',
    '2026-03-31 final',
  ]);
  expect((await march()).filter(({ proof }) => proof !== 'none')).toEqual([]);
});

// As those who keep a table for each month may answer: the list is not down for that.
test('a month that is answered with errors once it has gone holds up no day of the next one', async () => {
  const ofMarch = daysIn({ from: '2026-03-05', to: '2026-03-15' });
  bench = await createBench(
    { records, days: [...days, ...ofMarch], startAt: at('2026-04-28T05:00:00Z') },
    { scope: ordersOnly },
  );
  await bench.seal();
  setNow('05-01T00:30');
  bench.simulator.setFaults({ serverError: { with: 'start_date=2026-03' } });
  await bench.run();
  const { rows } = await bench.db.query(
    `select (select state from sync.slices where day = '2026-04-30') as state,
            (select value from sync.facts where fact = 'orders.contact') as contact`,
  );
  expect(rows).toEqual([{ state: 'walked', contact: 'answers' }]);
});

test('P6: a record that appears in the last hours is held, and its day no longer called sealed', async () => {
  bench = await createBench({ records, days, startAt: at('2026-04-28T05:00:00Z') });
  await sealAll();
  bench.simulator.insert('orders', orderOf('2026-03-09', 8));
  setNow('04-30T23:00');
  await bench.run({ only: { days: { from: '2026-03-09', to: '2026-03-10' } } });
  const unsealed = (await march()).filter(({ state }) => state !== 'sealed');
  expect(unsealed).toMatchObject([{ day: '2026-03-09', resource: 'orders', held: 4 }]);
});
