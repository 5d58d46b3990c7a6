// Whether a sync could work on a database: what it begins with, done in one transaction and taken back.
import type { DatabaseAddress } from '../database-address.ts';
import { codeOf, settingsError } from '../errors.ts';
import { silentLog } from '../log.ts';
import { mayBecome } from './check-server.ts';
import { databaseError, namedIfCut } from './db-errors.ts';
import { onlyRow, openDb, withTx, type Tx } from './db.ts';
import { migrateWithin } from './migrate.ts';
import { forbiddenHere, missingRights } from './roles.ts';

const takenBack = new Error('Taken back');

type Found<T> = Awaited<ReturnType<typeof migrateWithin>> & { held: T | null };

/**
 * Makes the schema where there is none, reads every view, and looks what rights are missing. Of an older
 * schema it tries no more than that it may be changed: what a migration does to much data takes long, and locks it.
 * Returns what is there, what `migrate` notes, and of a schema of this release what `look` found as whoever syncs.
 * Throws settings `database_forbidden` with what to do, and what `migrate` throws.
 */
export async function rehearse<T>(
  connectionString: DatabaseAddress,
  look: (tx: Tx) => Promise<T>,
): Promise<Found<T>> {
  const db = await openDb({
    connectionString,
    role: null,
    max: 1,
    applicationName: 'outlast doctor',
    log: silentLog(),
  });
  let found: Found<T> | undefined;
  try {
    return await withTx<never>(db, async (tx) => {
      const { schema, notes } = await migrateWithin(tx);
      found = { schema, notes, held: null };
      if (schema === 'older') await tx.query('comment on schema sync is null');
      else {
        // First: a cluster does not let one role read what another has just written.
        await runAs(tx, 'outlast_reader');
        await readAll(tx);
        const writer = await runAs(tx, 'outlast_writer');
        const missing = await missingRights(tx, writer);
        if (missing.length > 0) {
          throw settingsError(
            'database_forbidden',
            `The database user lacks a right that Outlast needs: ${missing.slice(0, 3).join('; ')}. Let the owner of the archive run \`outlast migrate\`.`,
          );
        }
        if (schema === 'same') found.held = await look(tx);
      }
      throw takenBack;
    });
  } catch (error) {
    if (error === takenBack && found !== undefined) return found;
    if (codeOf(error) === '42501') throw await forbiddenHere(db, error);
    throw databaseError(error) ?? namedIfCut(error);
  } finally {
    await db.close();
  }
}

/** As `openDb` would have it: as the role where the login may become it, else as the login. Returns as whom. */
async function runAs(tx: Tx, role: string): Promise<string> {
  const { rows } = await tx.query(
    `select from pg_roles where rolname = $1 and ${mayBecome('oid')}`,
    [role],
  );
  await tx.query(`set local role ${rows.length > 0 ? role : 'to default'}`);
  return onlyRow(await tx.query<{ name: string }>('select current_user as name')).name;
}

/** To be let in counts: no row is read. */
async function readAll(tx: Tx): Promise<void> {
  const { rows } = await tx.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relnamespace = any (array['archive', 'analytics']::regnamespace[]) and relkind in ('r', 'v')`,
  );
  for (const { name } of rows) await tx.query(`select * from ${name} limit 0`);
}
