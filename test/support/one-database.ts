// Benches of a test file that share a database, one after the other: its connections are warm, which saves a third of
// the work of a small first sync. Not for tests that change the schema.
import { afterAll, afterEach, beforeEach } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { createBench, newHome, type Bench, type Home } from './archive.ts';

type Kept = Home & { empty: () => Promise<void>; close: () => Promise<void> };

/**
 * `createBench` as archive.ts has it. A bench finds an empty archive; two at a time have a database each. What a test
 * opened is closed after it.
 */
export function benchesOnOneDatabase(): typeof createBench {
  const free: Kept[] = [];
  const all: Kept[] = [];
  let opened: Bench[] = [];
  // What was opened before all tests is theirs who did so.
  beforeEach(() => void (opened = []));
  afterEach(() => Promise.all(opened.map((one) => one.close())));
  afterAll(() => Promise.all(all.map((one) => one.close())));
  const openHome = async (): Promise<Home> => {
    const taken = free.pop();
    if (taken !== undefined) await taken.empty();
    const home = taken ?? (await keptHome());
    if (taken === undefined) all.push(home);
    return { ...home, leave: async () => void free.push(home) };
  };
  return async (options, given) => {
    const bench = await createBench(options, given, openHome);
    opened.push(bench);
    return bench;
  };
}

async function keptHome(): Promise<Kept> {
  const home = await newHome();
  // The service itself can remove nothing.
  const owner = await openDb({
    connectionString: home.connectionString,
    role: null,
    max: 1,
    settings: { lock_timeout: '10000' },
    log: silentLog(),
  });
  const statement = await emptyingAll(owner);
  return {
    ...home,
    empty: async () => void (await owner.query(statement)),
    close: async () => {
      await owner.close();
      await home.leave();
    },
  };
}

/** Leaves each table as it was made, with no trace of what stood there in its order of rows. */
async function emptyingAll(owner: Db): Promise<string> {
  const { rows } = await owner.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name
       from pg_tables where schemaname in ('archive', 'sync') and tablename <> 'migrations'`,
  );
  // To truncate costs a file: only where there is a row.
  const each = rows.map(
    ({ name }) => `if exists (select 1 from ${name}) then truncate ${name} cascade; end if;`,
  );
  return `do $$ begin ${each.join(' ')} end $$`;
}
