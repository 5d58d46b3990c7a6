// Every question of docs/cookbook.md, taken from the page and asked as outlast_reader of an archive that has something
// to tell.
import { isOnCluster } from '../support/postgres.ts';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createUncertified, observe, type Certified } from '../support/certified.ts';
import { connectReader } from '../support/client.ts';
import { setUp } from '../support/fresh.ts';
import { blocksIn, fileText } from '../support/repository.ts';
import { enterReject } from '../support/rows.ts';

const page = fileText('docs/cookbook.md');
const questions = [...page.matchAll(/^### (\d+)\. (.*)\n\n```sql\n([\s\S]*?)```/gm)].map(
  ([, number, question, sql]) => ({ number: Number(number), question, sql: sql ?? '' }),
);

let archive: Certified;
let reader: pg.Client;
setUp(async (keep) => {
  archive = await keep(createUncertified());
  const late = {
    operation_id: '----late',
    status: 1,
    amount: '300',
    create_time: '2026-03-10T22:00:00Z',
  };
  for (const [text, at] of [
    [late, '2026-03-10T23:00:00Z'],
    [{ ...late, status: 2, update_time: '2026-03-12T06:00:00Z' }, '2026-03-12T06:00:00Z'],
    [
      { ...late, operation_id: 'odd', amount: 'much', status: 3, message: 'refused' },
      '2026-03-12T06:00:00Z',
    ],
    [{ ...late, operation_id: 'still pending' }, '2026-04-20T00:00:00Z'],
  ] as const) {
    await observe(archive, JSON.stringify(text), at);
  }
  await archive.owner.query(
    `update archive.orders set missing_since = '2026-04-28' where operation_id = 'odd';
     ${enterReject('2026-03-14')}`,
  );
  const connecting = connectReader(archive.connectionString, 'Asia/Kathmandu');
  reader = await keep(connecting, (one) => one.end());
});

const answer = async (number: number): Promise<Record<string, unknown>[]> => {
  const sql = questions.find((one) => one.number === number)?.sql ?? '';
  return (await reader.query(sql.replaceAll(`'default'`, `'p'`))).rows as Record<string, unknown>[];
};

test('there are twenty, in order', () => {
  expect(questions.map(({ number }) => number)).toEqual(
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
});

test.each(questions)('$number: $question', async ({ number, sql }) => {
  expect(sql).toMatch(/^select/);
  expect(await answer(number)).not.toEqual([]);
});

/** Figures from the views that know about coverage. */
const figures = questions.filter(({ sql }) =>
  /analytics\.(orders_by|spend_by|order_lead|nft_classes_by|coverage_by_month)/.test(sql),
);

// P7
test.each(figures)('question $number shows the coverage of its figures', async ({ number }) => {
  const [row] = await answer(number);
  expect(row).toHaveProperty('is_settled');
});

test('the days of a time zone add up to its month', async () => {
  const [, days = ''] = blocksIn(page, 'sql')
    .map((sql) => sql.replace(/;\n$/, '').replaceAll(`'default'`, `'p'`))
    .filter((sql) => sql.includes('coverage_by_day_in') || sql.includes('orders_by_day'));
  expect(days).toContain('coverage_by_day_in');
  const { rows } = await reader.query(
    `select count(*)::int as days, sum(spent_units) as spent_units, bool_and(is_settled) as is_settled from (${days}) d`,
  );
  const months = `select days_in_month as days, spent_units, is_settled
                    from analytics.orders_by_month_in('p', 'Asia/Shanghai') where month = '2026-03-01'`;
  expect(rows).toEqual((await reader.query(months)).rows);
});

describe('the answers are right', () => {
  test('a month, what it would have said then, and what changed since', async () => {
    const [month] = await answer(1);
    const [held] = (
      await archive.owner.query<{ spent: string; none: string }>(
        `select round(sum(amount) filter (where status = 2) / 100, 2)::text as spent,
                count(*) filter (where amount is null)::text as none
           from archive.orders where slice_day between '2026-03-01' and '2026-03-31'`,
      )
    ).rows;
    // The reject of 14 March is in no figure.
    expect(month).toMatchObject({
      spent_units: held?.spent,
      without_amount: held?.none,
      is_settled: false,
    });
    const [then] = await answer(17);
    expect(then).toMatchObject({ orders: '2', pending: '0', spent_units: '3.00' });
    const changes = await answer(16);
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({
      operation_id: '----late',
      was: 'pending',
      became: 'succeeded',
      changed_fields: ['status', 'update_time'],
      hours_after_day: '30.0',
    });
  });

  test('what is odd is named', async () => {
    const rows = await answer(11);
    expect(rows.map(({ what, id }) => [what, id])).toEqual([
      ['unreadable: amount', 'odd'],
      ['no usable id', '01'],
      ['missing', 'odd'],
    ]);
    const days = await answer(7);
    expect(days).toContainEqual(expect.objectContaining({ resource: 'orders', rejected: '1' }));
  });

  test('the history of an order goes from content to content', async () => {
    const rows = await answer(18);
    expect(
      rows.map(({ status_name: status, is_current: isCurrent }) => [status, isCurrent]),
    ).toEqual([
      ['pending', false],
      ['succeeded', true],
    ]);
    expect(rows[0]?.['in_force_until']).toEqual(rows[1]?.['in_force_from']);
  });
});

// The last one: it changes the archive.
// A table is partitioned before it is distributed.
test.skipIf(isOnCluster)(
  'docs/scale.md: partitions by project give the same answers, to the same roles',
  async () => {
    const [partition = '', drop = ''] = blocksIn(fileText('docs/scale.md'), 'sql');
    const all = async (): Promise<unknown[]> => {
      const answers: unknown[] = [];
      for (const { number } of questions) answers.push(await answer(number));
      return answers;
    };
    const before = await all();
    const held = await archive.owner.query(
      'select * from archive.order_versions order by 1, 2, 15',
    );
    await archive.owner.pool.query(partition);
    await migrate(archive.connectionString, silentLog());
    await archive.owner.pool.query(drop);
    expect(await all()).toEqual(before);
    const after = await archive.owner.query(
      'select * from archive.order_versions order by 1, 2, 15',
    );
    expect(after.rows).toEqual(held.rows);
    expect(held.rows).not.toEqual([]);
    // P4, P5: the writer writes through the tables that it has rights on, and reaches no part by itself.
    const { rows } = await archive.owner.query(
      `select has_table_privilege('outlast_writer', 'archive.orders', 'insert, update') as may_write,
            has_table_privilege('outlast_writer', 'archive.orders', 'delete') as may_delete,
            has_table_privilege('outlast_writer', 'archive.order_versions', 'update') as may_rewrite,
            has_schema_privilege('outlast_writer', 'partitions', 'usage') as may_reach`,
    );
    expect(rows).toEqual([
      { may_write: true, may_delete: false, may_rewrite: false, may_reach: false },
    ]);
    const { rows: indexes } = await archive.owner.query(
      `select indexname from pg_indexes where schemaname = 'archive' and tablename = 'orders' order by 1`,
    );
    expect(indexes.map(({ indexname }) => indexname)).toContain('orders_listed');
  },
);
