// What `outlast doctor` finds in the database and in its replica: what the server is, the way to it, whether a sync can
// work there, which is tried and taken back, and how fast it grows.
import type { DatabaseAddress } from '../database-address.ts';
import { codeOf, settingsError } from '../errors.ts';
import { silentLog } from '../log.ts';
import { checkSchema } from '../query/reader.ts';
import { readReplica } from '../query/status.ts';
import { databaseError, namedIfCut } from '../store/db-errors.ts';
import { onlyRow, openDb, withTx, type Db, type Queryable, type Tx } from '../store/db.ts';
import { migrateWithin } from '../store/migrate.ts';
import { inspectConnection } from '../store/pg-client.ts';
import { forbiddenHere, mayRunAs, missingRights } from '../store/roles.ts';
import { closing, ofStore, type Store } from './open-store.ts';
import { formatCount, formatMegabytes, formatSpan } from './print.ts';

/** What tells one archive from another, and how new it is. */
export type ArchiveIdentity = {
  /** By project, the salt of its key's fingerprint: made by chance when the project began. */
  salts: ReadonlyMap<string, string>;
  /** When the newest run began; null: there was none. */
  newestRunMs: number | null;
};

export type State = 'ok' | 'warn' | 'fail';
/** Hands on one finding; the text begins in lower case and has no full stop, unless it is an error's. */
export type Tell = (state: State, about: string, text: string) => void;

/** Tells of the database; gives back what it holds, null where that is no archive that this release can read. */
export const examineServer = (
  { connectionString, isEmbedded }: Store,
  tell: Tell,
): Promise<ArchiveIdentity | null> =>
  closing(async (keep) => {
    const how = { connectionString, isReadOnly: true, max: 2, log: silentLog() };
    const db = keep(await openDb(how));
    const server = await tellServer(db, isEmbedded, tell);
    if (!isEmbedded) await tellWay(db, tell);
    if (!server.standby) return tellSchema(connectionString, server.bytes, tell);
    await checkSchema(db);
    return heldIn(db);
  });

type Server = { version: string; standby: boolean; bytes: number };

async function tellServer(db: Db, isEmbedded: boolean, tell: Tell): Promise<Server> {
  const begun = Date.now();
  const server = await withTx(db, async (tx) => {
    // The size is told to whoever may connect, which our roles need not.
    await tx.query('set local role to default');
    return onlyRow(
      await tx.query<Server>(
        `select current_setting('server_version') as version, pg_is_in_recovery() as standby,
                pg_database_size(current_database())::float8 as bytes`,
      ),
    );
  });
  const tookMs = Date.now() - begun;
  const kind = isEmbedded ? 'embedded ' : '';
  tell(
    'ok',
    'database',
    `${kind}PostgreSQL ${server.version}, ${formatMegabytes(server.bytes)}, answers in ${tookMs} ms`,
  );
  if (server.standby) {
    tell(
      'fail',
      'database',
      'a standby takes no writing: point DATABASE_URL at the primary, and OUTLAST_READ_DATABASE_URL here',
    );
  }
  return server;
}

async function tellWay(db: Db, tell: Tell): Promise<void> {
  const { tls, isHere, pooler } = await inspectConnection(db.pool);
  if (tls !== null) {
    const checked = tls.isChecked ? 'the certificate is checked' : 'the certificate is not checked';
    tell('ok', 'TLS', `${tls.protocol}, ${checked}`);
  } else if (isHere) tell('ok', 'TLS', 'none, on this machine');
  else {
    tell(
      'warn',
      'TLS',
      'none: what is archived passes the network unencrypted. Ask for it with sslmode=verify-full in DATABASE_URL',
    );
  }
  if (pooler === 'none') tell('ok', 'pooler', 'none in front of the database');
  else {
    const pools = pooler === 'transactions' ? 'transactions' : 'sessions, or transactions';
    tell('ok', 'pooler', `one stands in front of the database and pools ${pools}: both are fine`);
  }
}

const schemas = {
  none: 'none yet: the first sync makes it',
  older: 'of an earlier release: the next sync brings it up to date',
  same: 'of this release',
};

/** Whether a sync can work there. Throws what says that it cannot. */
async function tellSchema(
  connectionString: DatabaseAddress,
  bytes: number,
  tell: Tell,
): Promise<ArchiveIdentity | null> {
  const { schema, notes, identity, recent, untold } = await rehearse(connectionString);
  tell('ok', 'schema', schemas[schema]);
  if (recent !== null) {
    const growth = formatMegabytes(bytes * recent);
    tell('ok', 'growth', `the last 30 days take about ${growth} of the database`);
  }
  if (untold > 0) {
    // The webhook is not tried: people would be sent a message.
    const alerts = untold === 1 ? 'an alert' : `${formatCount(untold)} alerts`;
    tell(
      'warn',
      'alerts',
      `the webhook has not taken ${alerts}: \`outlast status --test-alert\` says why`,
    );
  }
  for (const note of notes) tell('warn', 'rights', note);
  if (notes.length === 0) {
    tell('ok', 'rights', 'a sync runs as outlast_writer, which cannot delete what is archived');
  }
  return identity;
}

/** The part of the archive that came in the last 30 days, null where it holds nothing; and alerts that nobody took. */
type Figures = { recent: number | null; untold: number };

const figuresOf = async (db: Queryable): Promise<Figures> =>
  onlyRow(
    await db.query<Figures>(
      `select (sum(shown_total) filter (where day > current_date - 31 and day < current_date)
               / nullif(sum(shown_total), 0))::float8 as recent,
              (select count(*)::int from sync.alerts where attempts > 0) as untold
         from sync.slices`,
    ),
  );

async function heldIn(db: Queryable): Promise<ArchiveIdentity> {
  const projects = await db.query<{ project: string; salt: string }>(
    `select project_id as project, encode(key_salt, 'hex') as salt from sync.projects`,
  );
  const run = await db.query<{ newest: number | null }>(
    'select extract(epoch from max(started_at))::float8 * 1000 as newest from sync.runs',
  );
  return {
    salts: new Map(projects.rows.map(({ project, salt }) => [project, salt])),
    newestRunMs: onlyRow(run).newest,
  };
}

/** Longer than a run and a tick: what the primary has had for so long, a replica that keeps up has as well. */
const tolerableLagMs = 300_000;

/** Tells of the replica, beside what its primary holds. */
export async function examineReplica(
  store: Store,
  primary: ArchiveIdentity | null,
  tell: Tell,
): Promise<void> {
  const examine = async (db: Db): Promise<void> => {
    await checkSchema(db);
    const { salts, newestRunMs } = await heldIn(db);
    if (primary !== null && [...salts].some(([id, salt]) => primary.salts.get(id) !== salt)) {
      tell(
        'fail',
        'replica',
        'holds another archive than DATABASE_URL: point OUTLAST_READ_DATABASE_URL at a replica of that',
      );
      return;
    }
    const behindMs = (primary?.newestRunMs ?? 0) - (newestRunMs ?? 0);
    const kind = (await readReplica(db)) === null ? 'no standby' : 'a standby';
    if (behindMs <= tolerableLagMs) tell('ok', 'replica', `${kind}, has the newest run`);
    else {
      const since = newestRunMs === null ? 'has no run yet' : `is ${formatSpan(behindMs)} behind`;
      tell('warn', 'replica', `${kind}, ${since}: see what keeps it from following its primary`);
    }
  };
  const { connectionString } = store;
  const how = { connectionString, isReadOnly: true, max: 1, log: silentLog() };
  await ofStore(
    store,
    closing(async (keep) => examine(keep(await openDb(how)))),
  );
}

const takenBack = new Error('Taken back');

/** `identity`: null where the schema is not of this release. */
type Found = Awaited<ReturnType<typeof migrateWithin>> &
  Figures & { identity: ArchiveIdentity | null };

/**
 * Whether a sync could work on a database: what it begins with, done in one transaction and taken back.
 * Makes the schema where there is none, reads every view, and looks what rights are missing. Of an older
 * schema it tries no more than that it may be changed: what a migration does to much data takes long, and locks it.
 * Returns what is there, what `migrate` notes, and of a schema of this release what is held, as whoever syncs reads it.
 * Throws settings `database_forbidden` with what to do, and what `migrate` throws.
 */
async function rehearse(connectionString: DatabaseAddress): Promise<Found> {
  const db = await openDb({
    connectionString,
    role: null,
    max: 1,
    applicationName: 'outlast doctor',
    log: silentLog(),
  });
  let found: Found | undefined;
  try {
    return await withTx<never>(db, async (tx) => {
      const { schema, notes } = await migrateWithin(tx);
      found = { schema, notes, identity: null, recent: null, untold: 0 };
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
        if (schema === 'same') {
          found = { ...found, ...(await figuresOf(tx)), identity: await heldIn(tx) };
        }
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
  await tx.query(`set local role ${(await mayRunAs(tx, role)) ? role : 'to default'}`);
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
