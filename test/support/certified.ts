// An archive with a month that is over and certified, and the means to spoil it: a connection that may do everything.
import { cp } from 'node:fs/promises';
import type { Day } from '../../src/model.ts';
import type { LiteralRecords } from '../../src/simulator/simulator-options.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import type { Worker } from '../../src/sync/worker.ts';
import { createBench, type Bench } from './archive.ts';
import { makeFolder, removeFolder } from './fresh.ts';
import { settle } from './ledger.ts';
import { observe as observeIn, parsed } from './observe.ts';
import { verified } from './verified.ts';

/** March has left the window, and what became of it is decided. */
export const marchIsOver = Date.parse('2026-05-01T12:05:00Z');

export type Certified = Awaited<ReturnType<typeof createUncertified>>;

export const certifiedWorld = { ordersPerDay: 12, classesPerDay: 5, quietShare: 0.2 };

/** The days that are read. The others of March, which is certified, are as if they had been read, and found empty. */
// prettier-ignore
const standardDays = [
  '2026-03-01', '2026-03-05', '2026-03-06', '2026-03-07', '2026-03-08', '2026-03-09', '2026-03-10', '2026-03-20', '2026-03-31',
  '2026-04-01', '2026-04-02', '2026-04-03', '2026-04-10', '2026-04-12', '2026-04-28', '2026-04-29',
];

/** Days of a month that are never due are as if they had been read, and decided. */
export const decideUnread = (db: Db, month: Day): Promise<void> =>
  settle(
    db,
    `update sync.slices set state = 'final', proof = 'readings', why = null, whole_walk = 1, platform_total = 0, shown_total = 0
      where due_at is null and state = 'open' and date_trunc('month', day::timestamp) = $1::date`,
    [month],
  );

/** An archive filled in April while March is still shown; `days`: those that are read. */
export async function createUncertified(
  records?: LiteralRecords,
  given: Partial<Worker> & { dialect?: Partial<Dialect>; days?: readonly Day[] } = {},
) {
  const folder = await makeFolder('outlast certificates ü ');
  const { dialect, days = standardDays, ...worker } = given;
  const startAt = Date.parse('2026-04-29T12:00:00Z');
  // The machine's time is set back with the platform's when what was kept is put back.
  let wallNow = (): number => startAt;
  const time = {
    wallNow: () => wallNow(),
    monotonicNow: () => wallNow() + performance.now(),
  };
  const bench = await createBench(
    {
      world: certifiedWorld,
      startAt,
      time,
      days,
      ...(records === undefined ? {} : { records }),
      ...(dialect === undefined ? {} : { dialect }),
    },
    { certificatesDir: folder, ...worker },
  );
  wallNow = () => bench.simulator.clock.now();
  await bench.seal();
  await decideUnread(bench.db, '2026-03-01');
  const owner = await openDb({
    connectionString: bench.connectionString,
    role: null,
    log: bench.worker.log,
  });
  const copies: string[] = [];
  return {
    ...bench,
    folder,
    /** As a superuser, who can do what the service itself cannot. */
    owner,
    verify: (heads: string[] = []) => verified(bench.db, { certificatesDir: folder, heads }),
    /**
     * Keeps rows, files and the hour as they are now, under a name, and gives what puts them back: quicker by far than
     * another archive. What the platform has changed meanwhile stays changed.
     */
    keep: async (name: string): Promise<() => Promise<void>> => {
      const now = bench.simulator.clock.now();
      const copy = `${folder} ${name}`;
      copies.push(copy);
      await cp(folder, copy, { recursive: true });
      const { rows } = await owner.query<{ from: string; to: string }>(
        `select format('%I.%I', schemaname, tablename) as from, format('%I.%I', $1::text, tablename) as to
           from pg_tables where schemaname in ('archive', 'sync')`,
        [name],
      );
      const creations = rows.map(({ from, to }) => `create table ${to} as table ${from};`);
      // Without statistics each verify would take twice as long.
      await owner.query(`create schema "${name}"; ${creations.join('\n')} analyze`);
      // To truncate costs more than to delete, and loses the statistics.
      const statements = rows.map(
        ({ from, to }) => `delete from ${from}; insert into ${from} select * from ${to};`,
      );
      return async () => {
        await owner.query(`set local session_replication_role = replica; ${statements.join('\n')}`);
        await removeFolder(folder);
        await cp(copy, folder, { recursive: true });
        bench.simulator.setNow(now);
        await bench.restart();
        // No certificate is made before the platform was heard.
        await bench.worker.platform.page({ resource: 'orders', limit: 1, sortBy: 'DATE_DESC' });
      };
    },
    close: async (): Promise<void> => {
      await owner.close();
      await bench.close();
      for (const path of [folder, ...copies]) await removeFolder(path);
    },
  };
}

/** Archives an order as if it had been shown at a moment, whatever it says, by the list of a day: of its own unless given. */
export const observe = ({ db }: Bench, text: string, at: string, day?: Day): Promise<void> => {
  const own = String(parsed('orders', text).columns['slice_day']);
  return observeIn(db, { project: 'p', resource: 'orders', shownBy: day ?? own }, [text], at);
};

/** An archive a moment after March was certified. */
export async function createCertified(
  records?: LiteralRecords,
  given?: Parameters<typeof createUncertified>[1],
): Promise<Certified> {
  const archive = await createUncertified(records, given);
  await archive.runLater(marchIsOver - archive.simulator.clock.now());
  return archive;
}
