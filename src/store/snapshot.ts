// Reading what is too much for one answer: everything as of one instant, a cursor's rows some thousand at a time. It
// writes nothing, and holds no more than two pages of rows in memory.
import { withTx, type Db, type Row, type Tx, type TxTimeouts } from './db.ts';

const rowsAtATime = 2_000;

// The first rows of a sorted month of a million records take a while, and whoever is handed a page may be slow.
const patient = { statementMs: 600_000, lockMs: 10_000, idleMs: 600_000 };

/** Runs `work` on one snapshot of the database: whatever is committed meanwhile is not seen. */
export function withSnapshot<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  timeouts: TxTimeouts = patient,
): Promise<T> {
  return withTx(
    // It only reads: no matter who holds the project.
    { ...db, hold: null },
    async (tx) => {
      await tx.query('set transaction isolation level repeatable read, read only');
      return work(tx);
    },
    timeouts,
  );
}

let cursors = 0;

/** Hands the rows of a statement on in pages, in order. `onRows` may use the transaction too. */
export async function readInPages<R extends Row>(
  tx: Tx,
  sql: string,
  parameters: unknown[],
  onRows: (rows: R[]) => Promise<void> | void,
): Promise<void> {
  const cursor = `rows_${++cursors}`;
  const fetch = async (): Promise<R[]> =>
    (await tx.query<R>(`fetch ${rowsAtATime} from ${cursor}`)).rows;
  await tx.query(`declare ${cursor} no scroll cursor for ${sql}`, parameters);
  let next = fetch();
  // Ends: a page that is not full is the last.
  for (;;) {
    const rows = await next;
    const isLast = rows.length < rowsAtATime;
    if (!isLast) {
      // Postgres works on the next page while this one is looked at.
      next = fetch();
      // Should looking fail first, that is what is told.
      next.catch(() => undefined);
    }
    if (rows.length > 0) await onRows(rows);
    if (isLast) break;
  }
  await tx.query(`close ${cursor}`);
}
