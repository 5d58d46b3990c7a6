// An empty archive of a test file's own: `db` writes it, `archive` reads it.
import { openArchive, type Archive } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { createTestDatabase } from './postgres.ts';

export type Opened = {
  connectionString: string;
  db: Db;
  archive: Archive;
  close(): Promise<void>;
};

/** `max`: connections of the reader. */
export async function openEmpty(max = 4): Promise<Opened> {
  const database = await createTestDatabase();
  const { connectionString } = database;
  const db = await openDb({ connectionString, log: silentLog() });
  const archive = await openArchive({ connectionString, max });
  return {
    connectionString,
    db,
    archive,
    async close() {
      await archive.close();
      await db.close();
      await database.drop();
    },
  };
}
