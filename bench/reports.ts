// Reports as a BI tool asks for them: SQL over the views for people, through the reader's role.
import { silentLog } from '../src/log.ts';
import { openDb } from '../src/store/db.ts';
import type { BenchArchive, Filling } from './archive.ts';
import { time, type Timed } from './timing.ts';

const aimMs = 200;

export async function measureReports(
  { connectionString }: BenchArchive,
  { project, from, to }: Filling,
  signal: AbortSignal,
): Promise<Timed[]> {
  const db = await openDb({ connectionString, max: 1, role: 'outlast_reader', log: silentLog() });
  const months = monthsOf(from, to);
  const rowsOf = async (sql: string, parameters: string[]): Promise<number> =>
    (await db.query(sql, parameters)).rows.length;
  const report = (what: string, view: string, aim: number | null): Promise<Timed> =>
    time(
      { what: `${what}, one month`, aimMs: aim },
      months,
      (month) =>
        rowsOf(`select * from analytics.${view} where project_id = $1 and month = $2`, [
          project,
          month,
        ]),
      signal,
    );
  try {
    return [
      await report('orders by month', 'orders_by_month', aimMs),
      await report('orders by day', 'orders_by_day', aimMs),
      await report('spend by account', 'spend_by_account', null),
      await time(
        { what: 'orders by month, all three years' },
        [1, 2, 3],
        () => rowsOf('select * from analytics.orders_by_month where project_id = $1', [project]),
        signal,
      ),
    ];
  } finally {
    await db.close();
  }
}

function monthsOf(from: string, to: string): string[] {
  const months: string[] = [];
  const at = new Date(from);
  // Ends: a month further each time.
  while (at.toISOString().slice(0, 10) < to) {
    months.push(at.toISOString().slice(0, 10));
    at.setUTCMonth(at.getUTCMonth() + 1);
  }
  return months;
}
