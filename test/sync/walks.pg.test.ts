// Lists of classes without dates: an owner's, which also shows what was transferred in. They hold what they show and
// prove nothing.
import { afterEach, describe, expect, test } from 'vitest';
import type { Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const hour = 60 * minute;

describe('given owners', () => {
  const classOf = (id: string, owner: string, day: string) => ({
    record: { id, owner, name: id, nft_count: 1, timestamp: `${day} 10:00:00 +0000 UTC` },
  });
  const owned = ['a', 'b', 'c'].map((id, i) => classOf(id, 'mine', `2026-04-0${i + 1}`));
  const others = [classOf('x', 'theirs', '2026-03-10'), classOf('old', 'theirs', '2025-11-10')];
  const scope = { classes: ['mine'] };
  const days = ['2026-03-01', '2026-04-01', '2026-04-02', '2026-04-03', '2026-04-06'];
  const give = (to: string) => (record: Record<string, unknown>) => ({ ...record, owner: to });
  const held = async (): Promise<unknown[]> => {
    const { rows } = await bench.db.query(
      'select id, owner, missing_since is not null as missing from archive.nft_classes order by id',
    );
    return rows;
  };

  test('a class that is transferred in is found, whenever it was created', async () => {
    bench = await createBench(
      {
        days,
        records: { orders: [], classes: [...owned, ...others] },
        dialect: { classesWindow: false },
      },
      { scope },
    );
    await bench.run();
    expect(await held()).toHaveLength(3);
    bench.simulator.mutate('nft_classes', 'x', give('mine'));
    await bench.runLater(7 * hour);
    expect(await held()).toContainEqual({ id: 'x', owner: 'mine', missing: false });
  });

  test('one that is transferred away is kept as it was, and marked like one that vanished', async () => {
    bench = await createBench(
      { days, records: { orders: [], classes: [...owned, ...others] } },
      { scope },
    );
    await bench.run();
    bench.simulator.mutate('nft_classes', 'b', give('theirs'));
    bench.simulator.hide('nft_classes', 'c');
    await bench.runLater(7 * hour);
    expect(await held()).toEqual([
      { id: 'a', owner: 'mine', missing: false },
      { id: 'b', owner: 'mine', missing: true },
      { id: 'c', owner: 'mine', missing: true },
    ]);
  });

  test('the whole list is no day: it is in no coverage, has no deadline and costs a walk a period', async () => {
    bench = await createBench({ days, records: { orders: [], classes: owned } }, { scope });
    await bench.run();
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
