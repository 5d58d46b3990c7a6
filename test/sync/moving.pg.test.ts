// Lists that move while they are read: between two pages a record goes, comes, moves or changes hands. P6: whatever is
// sealed then is true; and P9: a list that never stands still is given up, not read for ever.
import { afterEach, describe, expect, test } from 'vitest';
import type { SentPage } from '../../src/simulator/options.ts';
import type { Scope } from '../../src/sync/plan.ts';
import { createBench, differences, type Bench } from '../support/archive.ts';
import { classOf, orderOf, statesOf, threeDaysOfRecords } from '../support/days.ts';
import { falseSeals } from '../support/seals.ts';

let bench: Bench;
afterEach(() => bench.close());

const hour = 3_600_000;
const on = '2026-04-02';
type Move = (simulator: Bench['simulator']) => void;

/**
 * A bench whose platform makes a move when it has sent so many whole pages (of the probe none) of the second day. Each
 * move is made once.
 */
async function moving(
  resource: SentPage['resource'],
  moves: Record<number, Move>,
  scope: Scope = { classes: resource === 'orders' ? 'none' : 'all' },
): Promise<void> {
  let pages = 0;
  let isOn = false;
  bench = await createBench(
    {
      ...threeDaysOfRecords,
      onPage: (page) => {
        const isOfIt = page.records.length > 1 && page.records.every(({ id }) => id.includes(on));
        if (isOn && page.resource === resource && isOfIt) moves[++pages]?.(bench.simulator);
      },
    },
    { scope },
  );
  // Facts first: what the probe reads is not what is meant here.
  await bench.run({ only: { resource, days: { from: '2026-04-06', to: '2026-04-07' } } });
  isOn = true;
  await bench.run();
  isOn = false;
  expect(pages).toBeGreaterThan(1);
}

/** Records the platform shows and the archive does not hold as they are; of one list. */
async function unlike(field: 'operation_id' | 'owner'): Promise<unknown[]> {
  const found = await differences(bench);
  return found.filter(({ shown }) => shown?.includes(`"${field}"`));
}

const order = (i: number): string => `o-${on}-${i}`;
const nftClass = (i: number): string => `c-${on}-${i}`;
const early = { create_time: `${on}T09:00:00Z` };
const last = { create_time: `${on}T22:00:00Z`, update_time: '2026-04-06T11:59:00Z' };

describe('orders, read by keys: after the first page of three', () => {
  const moves: [string, Move, string][] = [
    ['one goes that was read', (s) => s.hide('orders', order(2)), 'sealed'],
    ['one goes that was not read yet', (s) => s.hide('orders', order(9)), 'sealed'],
    ['one comes behind the reader', (s) => s.insert('orders', orderOf(on, 20, early)), 'sealed'],
    ['one comes before the reader', (s) => s.insert('orders', orderOf(on, 20, last)), 'sealed'],
    [
      'one moves from the end to the beginning',
      (s) => {
        s.hide('orders', order(9));
        s.insert('orders', orderOf(on, 9, early));
      },
      'sealed',
    ],
    [
      'one moves from the beginning to the end',
      (s) => {
        s.hide('orders', order(2));
        s.insert('orders', orderOf(on, 2, last));
      },
      'sealed',
    ],
    [
      'one settles and one is pending again',
      (s) => {
        s.mutate('orders', order(2), (one) => ({
          ...one,
          status: 3,
          update_time: '2026-04-06T11:59:00Z',
        }));
        s.mutate('orders', order(9), (one) => ({
          ...one,
          status: 1,
          update_time: '2026-04-06T11:59:00Z',
        }));
      },
      'walked',
    ],
  ];
  test.each(moves)('%s', async (_name, move, state) => {
    await moving('orders', { 1: move });
    const found = (await falseSeals(bench)).filter(({ other }) => other.length === 0);
    expect(found).toEqual([]);
    // What was missed meanwhile is missed by the next walk, a day later at most, or nothing was.
    await bench.runLater(25 * hour);
    await bench.runLater(25 * hour);
    expect(await falseSeals(bench)).toEqual([]);
    expect((await statesOf(bench.db))['orders']?.[1]?.split(' ')[0]).toBe(state);
    expect(await unlike('operation_id')).toEqual([]);
  });
});

describe('classes, read by offset: after the first page of three', () => {
  const first = { timestamp: `${on} 09:00:00 +0000 UTC` };
  const moves: [string, Move][] = [
    ['one goes that was read', (s) => s.hide('nft_classes', nftClass(2))],
    ['one goes that was not read yet', (s) => s.hide('nft_classes', nftClass(9))],
    ['one comes behind the reader', (s) => s.insert('nft_classes', classOf(on, 20, first))],
    [
      'one moves from the end to the beginning',
      (s) => {
        s.hide('nft_classes', nftClass(9));
        s.insert('nft_classes', classOf(on, 9, first));
      },
    ],
    [
      'one that was read changes hands',
      (s) => s.mutate('nft_classes', nftClass(2), (one) => ({ ...one, owner: 'another' })),
    ],
  ];
  test.each(moves)('%s', async (_name, move) => {
    await moving('nft_classes', { 1: move });
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
});

describe('an owner’s classes, while they change hands', () => {
  const scope = { classes: ['somebody'] };
  const give = (to: string) => (one: Record<string, unknown>) => ({ ...one, owner: to });

  test('one that leaves behind the reader shifts the rest: the walk starts over', async () => {
    await moving(
      'nft_classes',
      { 1: (s) => s.mutate('nft_classes', nftClass(1), give('another')) },
      scope,
    );
    expect(await falseSeals(bench)).toEqual([]);
    const { rows } = await bench.db.query('select owner from archive.nft_classes where id = $1', [
      nftClass(1),
    ]);
    // The first reading had seen it; asked for by its id, it is found with its new owner.
    expect(rows).toEqual([{ owner: 'another' }]);
  });

  test('one leaves and one arrives behind the reader: no page shows it, the next refresh does', async () => {
    await moving(
      'nft_classes',
      {
        1: (s) => {
          s.mutate('nft_classes', nftClass(1), give('another'));
          s.insert('nft_classes', classOf(on, 20, { timestamp: `${on} 09:00:00 +0000 UTC` }));
        },
      },
      scope,
    );
    // Totals before and after, rows shown and the overlap all agree: this is what a walk cannot notice.
    expect(await falseSeals(bench)).toMatchObject([{ extra: [nftClass(1)] }]);
    await bench.runLater(7 * hour);
    expect(await falseSeals(bench)).toEqual([]);
    await bench.runLater(25 * hour);
    expect(await falseSeals(bench)).toEqual([]);
    const { rows } = await bench.db.query(`select owner from archive.nft_classes where id = $1`, [
      nftClass(1),
    ]);
    expect(rows).toEqual([{ owner: 'another' }]);
  });
});

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
    await moving(
      resource,
      Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i + 1, move])),
    );
    expect((await statesOf(bench.db))[resource]).toEqual([
      'sealed walk',
      // A list read by keys is read to its end all the same; one read by offsets lost its place.
      resource === 'orders' ? 'walked none' : 'open none',
      'sealed walk',
    ]);
    expect(await falseSeals(bench)).toEqual([]);
    expect(added).toBeLessThan(20);
    await bench.runLater(hour);
    expect((await statesOf(bench.db))[resource]?.[1]).toMatch(/^sealed/);
    expect(await falseSeals(bench)).toEqual([]);
    expect(await unlike(resource === 'orders' ? 'operation_id' : 'owner')).toEqual([]);
  },
);
