// Rows written straight into the tables, for tests of reading: many in one statement, or one as exact as needed.
import type { Queryable } from '../../src/store/db.ts';

/** Projects as a first run enters them, now unless told. */
export const writeProjects = (
  db: Queryable,
  ids: string[],
  { addedAt = new Date().toISOString(), firstDay = '2026-03-01' } = {},
): Promise<unknown> =>
  db.query(
    `insert into sync.projects (project_id, base_url, key_salt, key_fingerprint, added_at, first_day)
     select id, 'https://secret.example', 'salt', 'print', $2, $3 from unnest($1::text[]) id`,
    [ids, addedAt, firstDay],
  );

/** `count` orders a millisecond apart from the start of a day on, ids not in the order of their times. */
export async function writeOrders(
  db: Queryable,
  given: { project: string; count: number; from: string; perDay: number },
): Promise<void> {
  await db.query(
    `insert into archive.orders (project_id, operation_id, status, message, account, amount, number, created_at,
                                 updated_at, order_type, slice_day, raw, raw_sha256, observed_at, first_seen_at, changed_at)
     select $1, 'op_' || md5(n::text), 1 + n % 3, '', 'account_' || n % 100, n, n, t, t, 1, t::date,
            jsonb_build_object('operation_id', 'op_' || md5(n::text), 'number', n, 'filling', repeat('x', 200)),
            sha256(n::text::bytea), '2026-04-06T12:00:00Z', '2026-04-06T12:00:00Z', '2026-04-06T12:00:00Z'
       from generate_series(0, $2::int - 1) n,
            lateral (select $3::timestamptz + (n / $4::int) * interval '1 day'
                            + (n % $4::int) / 3 * interval '1 millisecond' as t) at`,
    [given.project, given.count, given.from, given.perDay],
  );
}

/** Enters in the journal what a project's orders hold, a day at a time. */
export async function enterOrders(db: Queryable, project: string): Promise<void> {
  await db.query(
    `select sync.journal_append($1, 'orders', '', slice_day, 'contents', body, ids, shas)
       from (select slice_day, array_agg(operation_id order by operation_id) as ids,
                    string_agg(raw_sha256, ''::bytea order by operation_id) as shas,
                    format('{"first":%1$s,"observed":[["%2$s",%1$s]]}', count(*), sync.utc(observed_at)) as body
               from archive.orders where project_id = $1
              group by slice_day, observed_at
              order by 1) days`,
    [project],
  );
}

export type OneOrder = {
  project: string;
  id: string;
  createdAt?: string | null;
  day?: string;
  status?: number;
  account?: string | null;
  amount?: string | null;
  raw?: string;
  firstSeenAt?: string;
};

export async function writeOrder(db: Queryable, order: OneOrder): Promise<void> {
  const createdAt = order.createdAt === undefined ? '2026-03-10T10:00:00Z' : order.createdAt;
  await db.query(
    `insert into archive.orders (project_id, operation_id, status, account, amount, created_at, slice_day,
                                 raw, raw_sha256, observed_at, first_seen_at, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, '\\xab', $9, $9, $9)`,
    [
      order.project,
      order.id,
      order.status ?? 2,
      order.account ?? null,
      order.amount ?? null,
      createdAt,
      order.day ?? createdAt?.slice(0, 10) ?? '2026-03-10',
      order.raw ?? '{}',
      order.firstSeenAt ?? '2026-03-11T00:00:00Z',
    ],
  );
}

export async function writeClass(
  db: Queryable,
  given: {
    project: string;
    id: string;
    name?: string;
    owner?: string;
    txHash?: string;
    nftCount?: string;
  },
): Promise<void> {
  await db.query(
    `insert into archive.nft_classes (project_id, id, name, symbol, nft_count, uri, owner, tx_hash, created_at, slice_day,
                                      raw, raw_sha256, observed_at, first_seen_at, changed_at)
     values ($1, $2, $3, '', $4, '', $5, $6, '2026-03-10T10:00:00Z', '2026-03-10', '{}', '\\xab',
             '2026-03-11T00:00:00Z', '2026-03-11T00:00:00Z', '2026-03-11T00:00:00Z')`,
    [
      given.project,
      given.id,
      given.name ?? null,
      given.nftCount ?? null,
      given.owner ?? null,
      given.txHash ?? null,
    ],
  );
}

/** SQL that enters a reject of project `p`, shown on the first page of the day's last whole walk. */
export const enterReject = (day: string): string =>
  `insert into sync.rejects select 'p', 'orders', '\\x01', 'x', 'no id', '', '${day}', '${day}';
   update sync.pages p set rejects = '{"\\\\x01"}' from sync.slices s
    where s.resource = 'orders' and s.day = '${day}' and p.page = 0
      and (p.project_id, p.resource, p.owner, p.day, p.walk) = (s.project_id, s.resource, s.owner, s.day, s.whole_walk)`;
