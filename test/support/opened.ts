// An empty archive of a test file's own: `db` writes it, `archive` reads it.
import { beforeEach } from 'vitest';
import { openArchive } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { fresh, setUp } from './fresh.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export type Opened = Awaited<ReturnType<typeof openEmpty>>;

/** `max`: connections of the reader. */
export async function openEmpty(max = 4) {
  const database = await createTestDatabase();
  const { connectionString } = database;
  const db = await openDb({ connectionString, log: silentLog() });
  const archive = await openArchive({ connectionString, max });
  return {
    connectionString,
    db,
    archive,
    async close(): Promise<void> {
      await archive.close();
      await db.close();
      await database.drop();
    },
  };
}

/**
 * Gives each test of a file the file's one archive and an empty project of its own. `max`: connections of the reader.
 */
export function eachInProject(give: (given: Opened & { project: string }) => void, max = 4): void {
  let opened: Opened;
  let projects = 0;
  setUp(async (keep) => void (opened = await keep(openEmpty(max))));
  beforeEach(() => give({ ...opened, project: `p${++projects}` }));
}

type Written = { database: TestDatabase; db: Db };
type Given = Partial<Parameters<typeof openDb>[0]>;

/** Gives each test an empty database of its own, and a connection that writes it. */
export const eachOnDatabase = (give: (given: Written) => void): void =>
  beforeEach(async () => give(await openWritten(fresh, {})));

/** Gives a test file one database, and a connection to it that is opened so. */
export const fileOnDatabase = (give: (given: Written) => void, options: Given = {}): void =>
  setUp(async (keep) => give(await openWritten(keep, options)));

async function openWritten(keep: typeof fresh, options: Given): Promise<Written> {
  const database = await keep(createTestDatabase());
  const { connectionString } = database;
  return { database, db: await keep(openDb({ connectionString, log: silentLog(), ...options })) };
}
