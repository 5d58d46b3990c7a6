// What the archive says of itself: coverage with every reservation (P7), and the summary.
import { describe, expect, test } from 'vitest';
import { type Archive, type Reservation } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import type { Proof, SliceState } from '../../src/model.ts';
import { reservationNames } from '../../src/catalogue.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { openEmpty } from '../support/opened.ts';
import { writeClass, writeOrder, writeProjects, writeRow } from '../support/rows.ts';

let connectionString: string;
let db: Db;
let archive: Archive;

const deadline = '2026-04-30T00:00:00Z';

const writeSlice = (slice: {
  day: string;
  state?: SliceState;
  proof?: Proof;
  [column: string]: unknown;
}): Promise<void> =>
  writeRow(db, 'sync.slices', {
    project_id: 'p',
    resource: 'orders',
    why: (slice.proof ?? 'none') === 'none' ? 'read once' : null,
    deadline_at: deadline,
    platform_total: 7,
    shown_total: 7,
    walked_at: '2026-03-12T00:00:00Z',
    ...slice,
  });

setUp(async (keep) => {
  ({ connectionString, db, archive } = await keep(openEmpty()));
  await writeProjects(db, ['p', 'q']);
  const early = '2026-04-26T00:00:00Z';
  await writeSlice({ day: '2026-03-01', state: 'lost' });
  await writeSlice({ day: '2026-03-02', state: 'final', proof: 'books', proved_at: early });
  await writeSlice({ day: '2026-03-03', state: 'final', proof: 'readings', proved_at: early });
  await writeSlice({ day: '2026-03-04', state: 'final', unresolved: 2 });
  await writeSlice({ day: '2026-03-05', state: 'sealed', proof: 'books', proved_at: early });
  await writeSlice({ day: '2026-03-06', state: 'walked', unresolved: 1 });
  await writeSlice({ day: '2026-03-07' });
  for (const owner of ['b', 'a']) {
    await writeSlice({ day: '2026-03-01', resource: 'nft_classes', owner, state: 'walked' });
  }
  await writeSlice({ day: '2026-03-01', project_id: 'other' });
  await writeOrder(db, { project: 'p', id: 'a', createdAt: '2026-03-02T10:00:00Z' });
  await writeOrder(db, { project: 'p', id: 'b', createdAt: '2026-03-06T10:00:00Z' });
  await writeClass(db, { project: 'p', id: 'c' });
  await db.query(
    `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
     select 'p', 'orders', sha256(n::text::bytea), 'x', 'no id', '', '2026-03-06', now() from generate_series(1, 3) n`,
  );
});

describe('coverage', () => {
  const expected: Record<string, Reservation[]> = {
    '2026-03-01': ['lost'],
    '2026-03-02': [],
    '2026-03-03': [],
    '2026-03-04': ['no_proof', 'unresolved_orders'],
    '2026-03-05': [],
    '2026-03-06': ['no_proof', 'unresolved_orders'],
    '2026-03-07': [],
  };
  const shown = async (): Promise<Record<string, Reservation[]>> => {
    const days = await archive.coverage({ project: 'p', resource: 'orders' });
    return Object.fromEntries(days.map((one) => [one.day, one.reservations]));
  };

  // P7
  test('names every reservation of every day', async () => {
    expect(await shown()).toEqual(expected);
  });

  test.each(reservationNames)('sabotaged, a view that hides %s is noticed', async (hidden) => {
    const owner = await fresh(openDb({ connectionString, role: null, log: silentLog() }));
    const { rows } = await owner.query<{ sql: string }>(
      `select pg_get_viewdef('analytics.coverage'::regclass) as sql`,
    );
    const sql = rows[0]?.sql ?? '';
    const replace = 'create or replace view analytics.coverage as';
    await owner.query(`${replace} ${sql.replace(`THEN '${hidden}'::text`, 'THEN null::text')}`);
    expect(await shown()).not.toEqual(expected);
    await owner.query(`${replace} ${sql}`);
  });

  test('every view that sums reservations up knows each of them by name', async () => {
    const { rows } = await db.query<{ view: string; names: string[] }>(
      `select view, array(select distinct m[1] from regexp_matches(says, $$THEN '(\\w+)'::text$$, 'g') m order by 1) as names
         from (select c.oid::regclass::text as view,
                      substring(pg_get_viewdef(c.oid) from 'array_remove\\(ARRAY\\[(.*?)\\], ') as says
                 from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'reservations'
                where c.relkind = 'v' and c.relnamespace = 'analytics'::regnamespace) views
        where says is not null`,
    );
    expect(rows.length).toBeGreaterThanOrEqual(5);
    for (const { view, names } of rows)
      expect([view, names]).toEqual([view, [...reservationNames]]);
  });

  test('says of a day what the ledger says', async () => {
    const [day] = await archive.coverage({ project: 'p', from: '2026-03-06', to: '2026-03-06' });
    expect(day).toMatchObject({
      state: 'walked',
      proof: 'none',
      why: 'read once',
      walkedAt: '2026-03-12T00:00:00Z',
      unresolved: 1,
      rejected: 3,
      deadlineAt: deadline,
    });
  });

  test('goes by resource, day and owner, of one project only', async () => {
    const days = await archive.coverage({ project: 'p', to: '2026-03-01' });
    expect(days.map((one) => [one.resource, one.owner])).toEqual([
      ['orders', ''],
      ['nft_classes', 'a'],
      ['nft_classes', 'b'],
    ]);
  });
});

describe('the summary', () => {
  const none = { open: 0, walked: 0, sealed: 0, final: 0, lost: 0 };

  test('adds up each resource of a project', async () => {
    const of = { projectId: 'p', nextDeadlineAt: deadline };
    const days = { open: 1, walked: 1, sealed: 1, final: 3, lost: 1 };
    const sure = { held: 3, settled: 3, unresolved: 3, rejected: 3 };
    const unsure = { held: 0, settled: 0, unresolved: 0, rejected: 0 };
    const march = { oldestDay: '2026-03-02', newestDay: '2026-03-06' };
    const tenth = { oldestDay: '2026-03-10', newestDay: '2026-03-10' };
    expect(await archive.summary({ project: 'p' })).toEqual([
      { ...of, resource: 'orders', records: 2, ...march, days, ...sure },
      {
        ...of,
        resource: 'nft_classes',
        records: 1,
        ...tenth,
        days: { ...none, walked: 2 },
        ...unsure,
      },
    ]);
  });

  test('shows a project that holds nothing yet', async () => {
    const all = await archive.summary();
    expect(all.map((one) => [one.projectId, one.resource, one.records])).toEqual([
      ['p', 'orders', 2],
      ['p', 'nft_classes', 1],
      ['q', 'orders', 0],
      ['q', 'nft_classes', 0],
    ]);
    expect(all.at(-1)).toMatchObject({ oldestDay: null, days: none, nextDeadlineAt: null });
  });
});

test('what a reader sees holds no key and no address', async () => {
  const { rows } = await db.query('select * from analytics.projects');
  expect(JSON.stringify(rows)).not.toMatch(/secret|salt|print/);
});
