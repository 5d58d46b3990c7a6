// One poison stops one slice: text that Postgres cannot hold, and errors that nobody foresaw. The other slices go on,
// the run ends as one that left something, and what came of it stands with the slice.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { transient } from '../../src/errors.ts';
import { byteBounds } from '../../src/platform/bytes.ts';
import { storable } from '../../src/platform/canonical.ts';
import type { PlatformPage } from '../../src/model.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { withTx } from '../../src/store/db.ts';
import { watchOperations } from '../../src/store/operations/watch-operations.ts';
import { rebuild, type Rebuilt } from '../../src/sync/rebuild.ts';
import { checkRejects } from '../../src/verify/check-records.ts';
import { createBench as openBench, differences, type Bench } from '../support/archive.ts';
import { queryAt } from '../support/client.ts';
import { statesOf, threeDaysOfRecords } from '../support/days.ts';
import { fresh } from '../support/fresh.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { isOnCluster } from '../support/postgres.ts';

const hour = 3_600_000;
const poisonedDay = '2026-04-02';
const read = 'walked none';

const createBench = benchesOnOneDatabase();
/** On a database of its own, whose schema is changed. */
const createBenchAlone: typeof createBench = (...given) => fresh(openBench(...given));
let bench: Bench;

/** What stands with the poisoned day of orders. */
async function noted(): Promise<{ attempts: number; last_error: string | null }> {
  const { rows } = await bench.db.query<{ attempts: number; last_error: string | null }>(
    `select attempts, last_error from sync.slices where resource = 'orders' and day = $1`,
    [poisonedDay],
  );
  return rows[0] ?? { attempts: -1, last_error: null };
}

/** Runs SQL as a superuser. */
const asOwner = (sql: string): Promise<unknown> => queryAt(bench.connectionString, sql);

/** Lets Postgres refuse the rows of `table` that hold `text`, as a mistake of ours or a limit of its would. */
const refuse = (table: string, text: string, sqlState: string): Promise<unknown> =>
  asOwner(
    `create function refuse() returns trigger language plpgsql as $$
       begin
         if new.raw::text like '%${text}%' then
           raise exception using errcode = '${sqlState}', message = 'refused: ' || new.raw::text;
         end if;
         return new;
       end $$;
     create trigger refuse before insert or update on ${table} for each row execute function refuse()`,
  );
const relent = (): Promise<unknown> => asOwner('drop function refuse cascade');

/** The poisoned day is left, all others are read, and the report says which. */
async function expectOneLeft(): Promise<void> {
  const report = await bench.run();
  expect(report).toMatchObject({ outcome: 'left', slicesLeft: 1 });
  expect(report.problem).toContain(`orders ${poisonedDay}: `);
  expect(await statesOf(bench.db)).toEqual({
    orders: [read, 'open none', read],
    nft_classes: [read, read, read],
  });
}

/** The poison is gone: what it kept back is read as if nothing had been. */
async function expectHealed(): Promise<void> {
  await bench.runLater(hour);
  expect(await statesOf(bench.db)).toEqual({
    orders: [read, read, read],
    nft_classes: [read, read, read],
  });
  expect(await differences(bench)).toEqual([]);
}

// Sabotage: with the door open it still stops its slice alone.
test.each<[string, (text: string) => string, RegExp]>([
  ['as the door lets it in', storable, /^a page key was refused$/],
  ['with the door open', (text) => text, /the database refused it \(22(?:021|P05), /],
])('P12: a page key that Postgres cannot hold stops its slice alone, %s', async (_, door, says) => {
  bench = await createBench(threeDaysOfRecords);
  const { platform } = bench.worker;
  bench.worker.platform = poisonedAt(poisonedDay, platform, (page) => ({
    ...page,
    nextKey: page.nextKey === null ? null : door(`\0${page.nextKey}`),
  }));
  await expectOneLeft();
  expect((await noted()).last_error).toMatch(says);
  bench.worker.platform = platform;
  await expectHealed();
});

/** A platform whose walks of one day meet `poison`. */
function poisonedAt(
  day: string,
  platform: Platform,
  poison: (page: PlatformPage) => PlatformPage,
): Platform {
  return {
    ...platform,
    page: async (query, signal) => {
      const page = await platform.page(query, signal);
      const { resource, startDate, endDate, sortBy, countTotal = false } = query;
      const isWalk = startDate === day && endDate === day && sortBy === 'DATE_ASC' && countTotal;
      return isWalk && page.shown > 1 && resource === 'orders' ? poison(page) : page;
    },
  };
}

describe('P12: what is too long', () => {
  const id = `o-${poisonedDay}-7`;
  type Held = { sha256: string; length: number; whole_length: string; reason: string };
  const rejects = async (): Promise<Held[]> => {
    const { rows } = await bench.db.query<Held>(
      `select encode(sha256, 'hex') as sha256, octet_length(bytes) as length, whole_length, reason
         from sync.rejects`,
    );
    return rows;
  };
  const counted = async (): Promise<number | undefined> => {
    const { rows } = await bench.db.query<{ rejected: number }>(
      `select rejected::int from analytics.coverage where resource = 'orders' and day = $1`,
      [poisonedDay],
    );
    return rows[0]?.rejected;
  };
  const of = { projectId: 'p', resource: 'orders' } as const;
  const rebuilt = (): Promise<Rebuilt> =>
    rebuild(bench.db, of, {
      signal: new AbortController().signal,
      afresh: true,
      onProgress: () => undefined,
    });
  const altered = async (): Promise<string[]> => {
    const found: string[] = [];
    const report = (finding: { says: string }): void => void found.push(finding.says);
    await withTx(bench.db, (tx) => checkRejects(tx, of, null, report));
    return found;
  };

  test('a record of 2 million quotation marks is a reject, and its day is whole', async () => {
    let text = '';
    bench = await createBench({
      ...threeDaysOfRecords,
      faults: { giant: { ids: [id], bytes: 4_000_000, path: '/v3/orders' } },
      onPage: ({ records }) => (text = records.find((one) => one.id === id)?.text ?? text),
    });
    expect(await bench.run()).toMatchObject({ outcome: 'done', recordsRejected: 1 });
    expect(await statesOf(bench.db)).toMatchObject({ orders: [read, read, read] });
    const sha256 = createHash('sha256').update(text).digest('hex');
    expect(await rejects()).toMatchObject([
      { sha256, length: byteBounds.beginning, whole_length: String(text.length) },
    ]);
    expect(text.length).toBeGreaterThan(4_000_000);
    const { rows } = await bench.db.query('select from archive.orders where slice_day = $1', [
      poisonedDay,
    ]);
    expect(rows).toHaveLength(11);
    expect(await altered()).toEqual([]);
    expect(await rebuilt()).toMatchObject({ returned: 0, done: true });
    // It counts against its day until a whole walk is without it, and is kept.
    await bench.runLater(2 * hour + 60_000);
    expect((await statesOf(bench.db)).orders?.[1]).toBe('sealed books');
    expect(await counted()).toBe(1);
    bench.simulator.setFaults({ giant: null });
    await bench.runLater(25 * hour);
    expect(await counted()).toBe(0);
    expect(await rejects()).toHaveLength(1);
  });

  test('sabotage: its beginning passes for the whole where nothing says otherwise', async () => {
    bench = await createBench(threeDaysOfRecords);
    await bench.run();
    // A beginning that happens to be a record: no reader of JSON would make one.
    await bench.db.query(
      `insert into sync.rejects (project_id, resource, owner, day, sha256, bytes, reason, seen_at, whole_length)
       values ('p', 'orders', '', $1, sha256('all of it'), '{"operation_id":"new"}', 'long', now(), 1000000)`,
      [poisonedDay],
    );
    expect(await altered()).toEqual([]);
    expect((await rebuilt()).returned).toBe(0);
    await bench.db.query('update sync.rejects set whole_length = null');
    expect(await altered()).toHaveLength(1);
    expect((await rebuilt()).returned).toBe(1);
  });

  test('an answer that nobody can read leaves its slice, also where it has the newest record', async () => {
    // As the client says it of one that is too long (test/platform/client.test.ts).
    const says = 'the answer of /v3/orders is of no use';
    bench = await createBench(threeDaysOfRecords);
    const { platform } = bench.worker;
    bench.worker.platform = {
      ...platform,
      page: async (query, ...rest) => {
        const page = await platform.page(query, ...rest);
        const isPoison = page.records.some((one) => one.id === 'o-2026-04-03-11');
        if (isPoison) throw transient('platform_unusable', says);
        return page;
      },
    };
    const report = await bench.run();
    expect(report).toMatchObject({ outcome: 'left', slicesLeft: 1 });
    expect(report.problem).toContain(says);
    const { rows } = await bench.db.query('select from archive.orders');
    expect(rows.length).toBeGreaterThanOrEqual(24);
    bench.worker.platform = platform;
    await expectHealed();
  });
});

// A cluster takes no triggers.
describe.skipIf(isOnCluster)('what nobody foresaw concerns its slice', () => {
  test('Postgres refuses a row', async () => {
    // As a trigger that raises does; its data (22P02) are refused below.
    const sqlState = 'P0001';
    bench = await createBenchAlone(threeDaysOfRecords);
    await refuse('archive.orders', `o-${poisonedDay}-7`, sqlState);
    await expectOneLeft();
    const { attempts, last_error: text } = await noted();
    expect(attempts).toBe(1);
    expect(text).toContain(`something unforeseen: the database refused it (${sqlState}, `);
    // P10: Postgres quotes rows.
    expect(text).not.toContain('operation_id');
    // It is let rest first: the second tick asks for nothing of it.
    expect(await bench.run()).toMatchObject({ outcome: 'done' });
    expect((await noted()).attempts).toBe(1);
    await relent();
    await expectHealed();
  });

  test('a mistake in a reader, whatever it quotes', async () => {
    bench = await createBench(threeDaysOfRecords);
    const { platform, source } = bench.worker;
    bench.worker.platform = poisonedAt(poisonedDay, platform, () => {
      throw new TypeError(`"{a record}" of '${source.apiKey} ' is\0 no ${source.apiKey}`);
    });
    await expectOneLeft();
    const text = 'something unforeseen: TypeError: "…" of "…" is\ufffd no [hidden]';
    expect((await noted()).last_error).toBe(text);
    bench.worker.platform = platform;
    await expectHealed();
  });

  test('what concerns all stops all, as before', async () => {
    bench = await createBenchAlone(threeDaysOfRecords);
    await refuse('archive.orders', `o-${poisonedDay}-7`, '53100');
    await expect(bench.run()).rejects.toMatchObject({ code: '53100' });
    expect((await noted()).attempts).toBe(0);
  });

  test('P11: where all fail alike, no run goes through all of them', async () => {
    const days = daysIn({ from: '2026-03-01', to: '2026-03-21' });
    const orders = days.map((on, i) => ({
      record: { operation_id: `o-${i}`, status: 2, create_time: `${on}T10:00:00Z` },
    }));
    bench = await createBenchAlone(
      { days, records: { orders, classes: [] } },
      { scope: { classes: 'none' }, lanes: 1 },
    );
    await refuse('archive.orders', 'o-', '22P02');
    const failed = async (): Promise<number> =>
      (await bench.db.query('select from sync.slices where attempts > 0')).rows.length;
    const report = await bench.run({ only: { resource: 'orders' } });
    expect(report).toMatchObject({ outcome: 'left' });
    expect(report.problem).toMatch(/^orders [\d-]+, orders [\d-]+, orders [\d-]+ and 7 more: /);
    expect(await failed()).toBe(10);
    // The next ticks go on behind them, and let those rest that have failed.
    await bench.run();
    expect(await failed()).toBe(20);
    expect(await bench.run()).toMatchObject({ outcome: 'done' });
  });
});

describe.skipIf(isOnCluster)('what nobody foresaw beside the slices stops none of them', () => {
  test('watched operations and tokens', async () => {
    const world = { ordersPerDay: 1, classesPerDay: 1, quietShare: 0, transactionsPerDay: 5 };
    bench = await createBenchAlone({
      days: threeDaysOfRecords.days,
      world: { ...world, tokens: 3 },
    });
    await bench.run();
    bench.worker.tokensEveryMs = 24 * hour;
    const ids = bench.simulator.oracle.operationIds('2026-04-01').slice(0, 3);
    await watchOperations(
      bench.db,
      'p',
      ids.map((operationId) => ({ operationId })),
    );
    await asOwner(
      `create function refuse() returns trigger language plpgsql as $$
         begin raise exception using errcode = '22P05'; end $$;
       create trigger refuse before insert on archive.transactions for each row
         when (new.operation_id = '${ids[1]}') execute function refuse();
       create trigger refuse before insert on archive.tokens for each row execute function refuse()`,
    );
    const report = await bench.run();
    expect(report).toMatchObject({ outcome: 'left', slicesLeft: 0 });
    expect(report.problem).toContain('something unforeseen: the database refused it (22P05');
    const { rows } = await bench.db.query<{ id: string; last_error: string | null }>(
      `select operation_id as id, last_error from sync.watched_operations where last_error is not null
       union all select 'tokens', last_error from sync.token_snapshots`,
    );
    expect(rows.map(({ id }) => id)).toEqual([ids[1], 'tokens']);
    for (const row of rows) expect(row.last_error).toContain('22P05');
    const { rows: slices } = await bench.db.query(
      `select from sync.slices where attempts > 0 or (whole_walk = 0 and due_at is not null and day > '0001-01-01')`,
    );
    expect(slices).toEqual([]);
    await relent();
    expect(await bench.runLater(hour)).toMatchObject({ outcome: 'done', problem: null });
  });
});
