// The archive that reading is measured on: the real tables after the real migrations in an embedded Postgres of its
// own, with orders of three years made up by SQL, and a ledger that says so. Gone when it is closed. And where pages of it
// begin: positions at random depths of the whole list, and the cursors that lead there without reading their way.
import { silentLog } from '../src/log.ts';
import type { Day } from '../src/model.ts';
import { fingerprintOf } from '../src/query/cursor.ts';
import { writeCursor } from '../src/query/record-methods.ts';
import { sources } from '../src/query/record-sql.ts';
import { below, mix } from '../src/simulator/world.ts';
import { openDb, type Db } from '../src/store/db.ts';
import { migrate } from '../src/store/migrate.ts';
import type { BenchServer } from './server.ts';

/** Orders of a project spread evenly over days `[from, to)`, the last two months of them in the window. */
export type Filling = { project: string; from: Day; to: Day; orders: number };

/** What pages and reports are read from: three years. */
export const yearsOf = (orders: number): Filling => ({
  project: 'bench',
  from: '2023-09-01',
  to: '2026-09-01',
  orders,
});

/** What is exported: half a year of months as full as the others, 184 of 1,096 days. */
export const halfYearOf = (orders: number): Filling => ({
  project: 'bench-export',
  from: '2026-03-01',
  to: '2026-09-01',
  orders: Math.round((orders * 184) / 1096),
});

/** Orders a statement makes: each can be waited for when the bench is to stop. */
const madeAtOnce = 250_000;

/** `db` runs as the owner. */
export type BenchArchive = Pick<BenchServer, 'connectionString' | 'folder'> & { db: Db };

/** For filling alone: what is read is the same with fewer checkpoints. */
export const fillingSettings = { max_wal_size: '8GB' };

export async function openBenchArchive(server: BenchServer): Promise<BenchArchive> {
  const { connectionString, folder } = server;
  await migrate(connectionString, silentLog());
  const db = await openDb({ connectionString, role: null, log: silentLog() });
  server.atEnd(() => db.close());
  return { connectionString, folder, db };
}

/** Ids are UUIDs, so that they come in no order, as clients make them. `n` is the order's number, from 0. */
const idSql = (n: string): string => `md5(${n}::text)::uuid::text`;

/**
 * Orders in the order of their times, as an archive grows: of 5,000 accounts, all settled within minutes but for one of
 * 5,000 that is pending for ever, three of a hundred failed.
 */
export async function fill(
  { db }: BenchArchive,
  { project, from: firstDay, to: lastDay, orders }: Filling,
  signal: AbortSignal,
): Promise<void> {
  await db.query(
    `insert into sync.projects (project_id, base_url, key_salt, key_fingerprint, added_at, first_day)
     values ($1, 'https://platform.example', '\\x00', '\\x00', $2::date, $2)`,
    [project, firstDay],
  );
  await db.query(
    `insert into sync.facts (project_id, fact, value, confirmed_at, changed_at)
     values ($1, 'orders.day_end', 'inclusive', $2::date, $2::date)`,
    [project, lastDay],
  );
  for (let from = 0; from < orders; from += madeAtOnce) {
    signal.throwIfAborted();
    await db.query(ordersSql, [
      project,
      from,
      Math.min(orders, from + madeAtOnce) - 1,
      orders,
      firstDay,
      lastDay,
    ]);
  }
  await db.query(slicesSql, [project, lastDay]);
  await db.query(chainsSql, [project]);
}

/** What autovacuum and the checkpointer do by themselves a few minutes later. */
export async function rest({ db }: BenchArchive): Promise<void> {
  await db.pool.query('vacuum (analyze) archive.orders');
  await db.pool.query('vacuum (analyze) sync.slices');
  await db.pool.query('checkpoint');
}

const ordersSql = `
insert into archive.orders (project_id, operation_id, status, message, account, amount, number, created_at, updated_at, order_type,
                            slice_day, raw, raw_sha256, observed_at, first_seen_at, changed_at)
select $1, id, status, message, account, amount, number, created_at, updated_at, order_type,
       (created_at at time zone 'UTC')::date, raw::jsonb, sha256(convert_to(raw, 'UTF8')), seen_at, seen_at, seen_at
  from generate_series($2::int, $3::int) n,
       lateral (select ${idSql('n')} as id,
                       hashint4extended(n, 1) & 1023 as chance,
                       hashint4extended(n, 2) & 1048575 as other) a,
       lateral (select case when n % 5000 = 0 then 1 when chance < 30 then 3 else 2 end as status,
                       case when chance < 30 then 'recharge failed: account not found on chain' else '' end as message,
                       'iaa1' || substr(md5((other % 5000)::text) || md5((other % 5000)::text), 1, 38) as account,
                       (100 * 10 ^ (chance % 4) * (1 + other % 8))::bigint as amount,
                       1 + (chance % 10) / 8 as order_type,
                       date_trunc('second', $5::date::timestamp at time zone 'UTC'
                                            + n * (($6::date - $5::date) * interval '1 day' / $4::int)) as created_at) b,
       lateral (select created_at + (other % 600) * interval '1 second' as updated_at,
                       created_at + interval '20 minutes' as seen_at,
                       amount * case order_type when 1 then 10000 else 1 end as number) c,
       lateral (select format('{"operation_id":"%s","status":%s,"message":"%s","account":"%s","amount":"%s","number":"%s","create_time":"%s","update_time":"%s","order_type":%s}',
                              id, status, message, account, amount, number, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
                              to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), order_type) as raw) d
 order by n`;

/** How many orders the journal's entries stored. */
const chainsSql = `
insert into sync.chains (project_id, head, orders)
select project_id, sha256('made up'), count(*) from archive.orders where project_id = $1 group by project_id`;

/** Every day proved: final where its month left the window, else sealed unless something is pending. */
const slicesSql = `
insert into sync.slices (project_id, resource, day, state, proof, proved_at, walked_at, deadline_at, walk, whole_walk, observed_at,
                         platform_total, shown_total, unresolved)
select project_id, 'orders', slice_day,
       case when gone_at <= $2::date then 'final' when pending > 0 then 'walked' else 'sealed' end,
       'books', gone_at - interval '1 day', gone_at - interval '1 day', gone_at - interval '1 day', 1, 1, gone_at - interval '1 day',
       held, held, pending
  from (select project_id, slice_day, date_trunc('month', slice_day::timestamp) + interval '2 months' as gone_at,
               count(*) as held, count(*) filter (where status = 1) as pending
          from archive.orders where project_id = $1 group by project_id, slice_day) days`;

export type Place = {
  position: Record<'sliceDay' | 'createdAt' | 'operationId', string>;
  account: string;
};

/** How often a page is read: often enough for a 99th of a hundred, and less where there are few to read. */
export const timesOf = ({ orders }: Filling): number => Math.min(1_000, Math.ceil(orders / 10));

/** The same places for the same seed. */
export async function randomPlaces(
  db: Db,
  { project, orders }: Filling,
  count: number,
  seed: number,
): Promise<Place[]> {
  const numbers = Array.from({ length: count }, (_, i) => below(mix(seed, i), orders));
  const { rows } = await db.query<{ day: string; at: string; id: string; account: string }>(
    `select slice_day as day, created_at as at, operation_id as id, account
       from unnest($2::int[]) with ordinality as wanted (n, place)
       join archive.orders on project_id = $1 and operation_id = ${idSql('n')}
      order by place`,
    [project, numbers],
  );
  return rows.map(({ day, at, id, account }) => ({
    position: { sliceDay: day, createdAt: at, operationId: id },
    account,
  }));
}

/** The cursor that a page ending there would have given. `query` is all of the list's arguments but its limit. */
export const cursorAt = (query: object, { position }: Place): string =>
  writeCursor(sources.orders, fingerprintOf('orders', query), 'after', position);
