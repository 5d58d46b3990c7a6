// An archive to look at: whole days, a lost week, pending orders, changes, rejects, alerts, names that mean harm.
import { openArchive } from '../../src/index.ts';
import { bearerKey } from '../http/ask.ts';
import { createBench, noon, tenDays } from '../support/archive.ts';
import type { Keep } from '../support/fresh.ts';
import { observe } from '../support/observe.ts';
import { serveArchive } from '../support/served.ts';

export const bearer = 'a-key-for-people-0123456789';

/** What a platform might call an account, a class or an order. */
export const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(2)>',
  'right-to-left \u202e txt.exe',
  'عربي 数字藏品 👩‍🚀',
  'x'.repeat(10_000),
  '{{7*7}} ${7*7}',
];

export type World = Awaited<ReturnType<typeof createWorld>>;

/** `keep`: what closes it in the end. */
export async function createWorld(keep: Keep) {
  const bench = await keep(createBench(tenDays));
  await bench.seal();
  const { db, connectionString } = bench;
  await db.query(`delete from sync.slices where walked_at is null and day < '2026-04-06'`);
  await db.query(
    `insert into sync.slices (project_id, resource, day, state, proof, deadline_at, last_error)
     select 'p', resource, '2026-01-10'::date + n, case when n < 7 then 'lost' else 'final' end,
            case when n < 7 then 'none' else 'readings' end, '2026-02-28', case n when 3 then '<b>trouble</b>' end
       from generate_series(0, 12) n, unnest(array['orders', 'nft_classes']) resource`,
  );
  const orders = { project: 'p', resource: 'orders' } as const;
  const harmful = hostile.map((name, i) => ({
    operation_id: `op-${i}-${name}`.slice(0, 500),
    account: name,
    message: name,
    status: 1 + (i % 3),
    amount: '123456789012345678901234567890',
    create_time: '2026-04-05T10:00:00Z',
    order_type: 1 + (i % 2),
  }));
  await observe(db, orders, harmful, '2026-04-05T11:00:00Z');
  const changed = { operation_id: 'op-changed', create_time: '2026-04-05T09:00:00Z' };
  await observe(db, orders, [{ ...changed, status: 1, amount: '5' }], '2026-04-05T09:10:00Z');
  const later = { ...changed, status: 2, amount: '7', message: hostile[0] };
  await observe(db, orders, [later], '2026-04-05T12:00:00Z');
  const classes = hostile.map((name, i) => ({
    id: `class-${i}`,
    name,
    symbol: name,
    owner: name,
    nft_count: i,
    timestamp: '2026-04-05 10:00:00 +0000 UTC',
  }));
  await observe(db, { ...orders, resource: 'nft_classes' }, classes, '2026-04-05T11:00:00Z');
  await db.query(
    `insert into sync.alerts (project_id, kind, subject, text, opened_at)
     values ('p', 'deadline_at_risk', '<i>orders</i>', 'At risk: <script>alert(3)</script>', '2026-04-06T10:00:00Z')`,
  );
  const archive = await keep(openArchive({ connectionString }));
  const keys = [
    { key: 'own', secret: 'a secret of the project', projects: ['p'] },
    bearerKey(bearer, ['p']),
  ];
  const timeOf = (): number => noon;
  return {
    bench,
    archive,
    served: await keep(serveArchive(archive, { timeOf })),
    remote: await keep(serveArchive(archive, { host: '0.0.0.0', keys, timeOf })),
  };
}
