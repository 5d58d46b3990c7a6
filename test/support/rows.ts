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

/** One row, by its columns; the others have their defaults. */
export async function writeRow(
  db: Queryable,
  table: string,
  row: Record<string, unknown>,
): Promise<void> {
  const names = Object.keys(row);
  await db.query(
    `insert into ${table} (${names.join()}) values (${names.map((_, i) => `$${i + 1}`).join()})`,
    Object.values(row),
  );
}

const seenThen = (at: string) => ({ observed_at: at, first_seen_at: at, changed_at: at });

type OneOrder = {
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

export function writeOrder(db: Queryable, order: OneOrder): Promise<void> {
  const { createdAt = '2026-03-10T10:00:00Z' } = order;
  return writeRow(db, 'archive.orders', {
    project_id: order.project,
    operation_id: order.id,
    status: order.status ?? 2,
    account: order.account,
    amount: order.amount,
    created_at: createdAt,
    slice_day: order.day ?? createdAt?.slice(0, 10) ?? '2026-03-10',
    raw: order.raw ?? '{}',
    raw_sha256: Buffer.from([0xab]),
    ...seenThen(order.firstSeenAt ?? '2026-03-11T00:00:00Z'),
  });
}

type OneClass = {
  project: string;
  id: string;
  name?: string;
  owner?: string;
  txHash?: string;
  nftCount?: string;
};

export const writeClass = (
  db: Queryable,
  { project, txHash, nftCount, ...same }: OneClass,
): Promise<void> =>
  writeRow(db, 'archive.nft_classes', {
    project_id: project,
    symbol: '',
    uri: '',
    tx_hash: txHash,
    nft_count: nftCount,
    created_at: '2026-03-10T10:00:00Z',
    slice_day: '2026-03-10',
    raw: '{}',
    raw_sha256: Buffer.from([0xab]),
    ...seenThen('2026-03-11T00:00:00Z'),
    ...same,
  });

/** SQL that enters a reject of project `p`, shown on the first page of the day's last whole walk. */
export const enterReject = (day: string): string =>
  `insert into sync.rejects select 'p', 'orders', '\\x01', 'x', 'no id', '', '${day}', '${day}';
   update sync.pages p set rejects = '{"\\\\x01"}' from sync.slices s
    where s.resource = 'orders' and s.day = '${day}' and p.page = 0
      and (p.project_id, p.resource, p.owner, p.day, p.walk) = (s.project_id, s.resource, s.owner, s.day, s.whole_walk)`;
