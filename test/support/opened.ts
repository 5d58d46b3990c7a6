// An empty archive of a test file's own: `db` writes it, `archive` reads it.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { openArchive } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import { openDb, type Db } from '../../src/store/db.ts';
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
  beforeAll(async () => {
    opened = await openEmpty(max);
  });
  afterAll(() => opened.close());
  beforeEach(() => give({ ...opened, project: `p${++projects}` }));
}

type Written = { database: TestDatabase; db: Db };

/** Gives each test an empty database of its own, and a connection that writes it. */
export const eachOnDatabase = (give: (given: Written) => void): void =>
  onDatabase(beforeEach, afterEach, give, {});

/** Gives a test file one database, and a connection to it that is opened so. */
export const fileOnDatabase = (
  give: (given: Written) => void,
  options: Partial<Parameters<typeof openDb>[0]> = {},
): void => onDatabase(beforeAll, afterAll, give, options);

function onDatabase(
  before: typeof beforeEach,
  after: typeof afterEach,
  give: (given: Written) => void,
  options: Partial<Parameters<typeof openDb>[0]>,
): void {
  let database: TestDatabase;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    const { connectionString } = database;
    db = await openDb({ connectionString, log: silentLog(), ...options });
    give({ database, db });
  });
  after(async () => {
    await db.close();
    await database.drop();
  });
}
