// Lists that move while they are read: between two pages a record goes, comes, moves or changes hands. P6: whatever is
// sealed then is true; and P9: a list that never stands still is given up, not read for ever.
import { expect, test } from 'vitest';
import type { SentPage } from '../../src/simulator/simulator-options.ts';
import type { ArchivedScope } from '../../src/sync/enter-days.ts';
import { differences, type Bench } from '../support/archive.ts';
import {
  classOf,
  missingIn,
  orderOf,
  recordsOf,
  saidOf,
  statesOf,
  threeDays,
  threeDaysOfRecords,
} from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const hour = 3_600_000;
const on = '2026-04-02';
type Move = (simulator: Bench['simulator']) => void;

/**
 * A bench whose platform makes a move when it has sent so many whole pages (of the probe none) of a day. Each move is
 * made once.
 */
async function moving(
  resource: SentPage['resource'],
  moves: Record<string, Record<number, Move>>,
  scope: ArchivedScope = { classes: resource === 'orders' ? 'none' : 'all' },
): Promise<void> {
  const pages = new Map(Object.keys(moves).map((day) => [day, 0]));
  const { dialect, days } = threeDaysOfRecords;
  let isOn = false;
  bench = await createBench(
    {
      dialect,
      days: [...new Set([...days, ...pages.keys()])],
      records: recordsOf([...new Set([...threeDays, ...pages.keys()])]),
      onPage: (page) => {
        if (!isOn || page.resource !== resource || page.records.length < 2) return;
        for (const [day, sent] of pages) {
          if (!page.records.every(({ id }) => id.includes(day))) continue;
          pages.set(day, sent + 1);
          moves[day]?.[sent + 1]?.(bench.simulator);
        }
      },
    },
    { scope },
  );
  // Facts first: what the probe reads is not what is meant here.
  await bench.run({ only: { resource, days: { from: '2026-04-06', to: '2026-04-07' } } });
  isOn = true;
  await bench.run();
  isOn = false;
  expect(Math.min(...pages.values())).toBeGreaterThan(1);
}

/** Records the platform shows and the archive does not hold as they are; of one list. */
async function unlike(field: 'operation_id' | 'owner'): Promise<unknown[]> {
  const found = await differences(bench);
  return found.filter(({ shown }) => shown?.includes(`"${field}"`));
}

/** Each on a day of its own, so that one archive shows them all. */
const movesOfOrders: Record<string, [name: string, move: (on: string) => Move, state: string]> = {
  '2026-03-29': ['one goes that was read', (on) => (s) => s.hide('orders', `o-${on}-2`), 'sealed'],
  '2026-03-30': ['one goes that was not', (on) => (s) => s.hide('orders', `o-${on}-9`), 'sealed'],
  '2026-03-31': [
    'one comes behind the reader',
    (on) => (s) => s.insert('orders', orderOf(on, 20, early(on))),
    'sealed',
  ],
  '2026-04-01': [
    'one comes before the reader',
    (on) => (s) => s.insert('orders', orderOf(on, 20, last(on))),
    'sealed',
  ],
  '2026-04-02': [
    'one moves from the end to the beginning',
    (on) => (s) => {
      s.hide('orders', `o-${on}-9`);
      s.insert('orders', orderOf(on, 9, early(on)));
    },
    'sealed',
  ],
  '2026-04-03': [
    'one moves from the beginning to the end',
    (on) => (s) => {
      s.hide('orders', `o-${on}-2`);
      s.insert('orders', orderOf(on, 2, last(on)));
    },
    'sealed',
  ],
  '2026-04-04': [
    'one settles and one is pending again',
    (on) => (s) => {
      for (const [i, status] of [
        [2, 3],
        [9, 1],
      ] as const) {
        s.mutate('orders', `o-${on}-${i}`, (one) => ({ ...one, status, update_time: lately }));
      }
    },
    'walked',
  ],
};
const lately = '2026-04-06T11:59:00Z';
const early = (on: string) => ({ create_time: `${on}T09:00:00Z` });
const last = (on: string) => ({ create_time: `${on}T22:00:00Z`, update_time: lately });

const movesOfClasses: Record<string, [name: string, move: (on: string) => Move]> = {
  '2026-03-31': ['one goes that was read', (on) => (s) => s.hide('nft_classes', `c-${on}-2`)],
  '2026-04-01': ['one goes that was not', (on) => (s) => s.hide('nft_classes', `c-${on}-9`)],
  '2026-04-02': [
    'one comes behind the reader',
    (on) => (s) => s.insert('nft_classes', classOf(on, 20, first(on))),
  ],
  '2026-04-03': [
    'one moves from the end to the beginning',
    (on) => (s) => {
      s.hide('nft_classes', `c-${on}-9`);
      s.insert('nft_classes', classOf(on, 9, first(on)));
    },
  ],
  '2026-04-04': [
    'one that was read changes hands',
    (on) => (s) => s.mutate('nft_classes', `c-${on}-2`, (one) => ({ ...one, owner: 'another' })),
  ],
};
const first = (on: string) => ({ timestamp: `${on} 09:00:00 +0000 UTC` });

const afterPageOne = (
  moves: Record<string, readonly [string, (on: string) => Move, ...string[]]>,
) => Object.fromEntries(Object.entries(moves).map(([on, [, move]]) => [on, { 1: move(on) }]));

test('orders, read by keys, that go, come, move and settle after the first page of three', async () => {
  await moving('orders', afterPageOne(movesOfOrders));
  const found = (await falseSeals(bench)).filter(({ other }) => other.length === 0);
  expect(found).toEqual([]);
  // What was missed meanwhile is missed by the next walk, a day later at most, or nothing was.
  for (const laterH of [25, 25, 3]) {
    await bench.runLater(laterH * hour);
    expect(await falseSeals(bench)).toEqual([]);
  }
  const rows = await saidOf(bench.db, Object.keys(movesOfOrders));
  expect(rows.map(({ day, said }) => [movesOfOrders[day]?.[0], said.split(' ')[0]])).toEqual(
    Object.values(movesOfOrders).map(([name, , state]) => [name, state]),
  );
  expect(await unlike('operation_id')).toEqual([]);
});

test('classes, read by offset, that go, come, move and change hands after the first page of three', async () => {
  await moving('nft_classes', afterPageOne(movesOfClasses));
  const found = (await falseSeals(bench)).filter(
    ({ missing, extra }) => missing.length + extra.length > 0,
  );
  expect(found).toEqual([]);
  // What changes hands is seen by the next refresh.
  await bench.runLater(25 * hour);
  await bench.runLater(25 * hour);
  expect(await falseSeals(bench)).toEqual([]);
  expect(await unlike('owner')).toEqual([]);
});

test('an owner’s classes: one leaves and one arrives behind the reader; the next reading is without it', async () => {
  const leaves: Move = (s) => {
    s.mutate('nft_classes', `c-${on}-1`, (one) => ({ ...one, owner: 'another' }));
    s.insert('nft_classes', classOf(on, 20, first(on)));
  };
  await moving('nft_classes', { [on]: { 1: leaves } }, { classes: ['somebody'] });
  for (const laterH of [25, 25, 3]) {
    await bench.runLater(laterH * hour);
    expect(await falseSeals(bench)).toEqual([]);
  }
  expect((await statesOf(bench.db))['nft_classes']?.[1]).toMatch(/^sealed/);
  // It is kept, and marked as no longer in the owner's list.
  expect(await missingIn(bench.db)).toEqual([`c-${on}-1`]);
});

test.each(['fails', 'is stopped'])(
  'P6: a record that a sealed day shows for the first time ends its seal, though the reading %s',
  async (how) => {
    const stop = new AbortController();
    let hasShown = false;
    bench = await createBench(
      {
        ...threeDaysOfRecords,
        onPage: ({ records }) => {
          if (hasShown) stop.abort();
          hasShown ||= records.some(({ id }) => id === `o-${on}-20`);
          if (hasShown && how === 'fails') bench.simulator.setFaults({ serverError: {} });
        },
      },
      { scope: { classes: 'none' } },
    );
    await bench.seal();
    expect((await statesOf(bench.db))['orders']?.[1]).toBe('sealed books');
    // On the first of its pages.
    bench.simulator.insert('orders', orderOf(on, 20, { create_time: `${on}T09:00:00Z` }));
    const only = { resource: 'orders', days: { from: on, to: threeDays[2] } } as const;
    await bench.run({ only, signal: stop.signal });
    const { rows } = await bench.db.query(
      `select state, why, checkpoint is not null as begun from sync.slices
        where resource = 'orders' and day = $1`,
      [on],
    );
    expect(rows).toEqual([{ state: 'walked', why: 'showed less', begun: true }]);
  },
);

test.each(['orders', 'nft_classes'] as const)(
  'P9: %s that move with every page are given up for now, and nothing of that day is sealed',
  async (resource) => {
    const move: Move = (s) => {
      added += 1;
      const time = {
        create_time: `${on}T09:00:0${added % 10}Z`,
        timestamp: `${on} 09:00:0${added % 10} +0000 UTC`,
      };
      s.insert(
        resource,
        resource === 'orders' ? orderOf(on, 20 + added, time) : classOf(on, 20 + added, time),
      );
    };
    let added = 0;
    await moving(resource, {
      [on]: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i + 1, move])),
    });
    expect((await statesOf(bench.db))[resource]).toEqual([
      'walked none',
      // A list read by keys is read to its end all the same; one read by offsets lost its place.
      resource === 'orders' ? 'walked none' : 'open none',
      'walked none',
    ]);
    expect(await falseSeals(bench)).toEqual([]);
    expect(added).toBeLessThan(20);
    for (let i = 0; i < 3; i++) {
      await bench.runLater(2.1 * hour);
      expect(await falseSeals(bench)).toEqual([]);
    }
    expect((await statesOf(bench.db))[resource]?.[1]).toMatch(/^sealed/);
    expect(await unlike(resource === 'orders' ? 'operation_id' : 'owner')).toEqual([]);
  },
);
