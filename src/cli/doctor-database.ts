// What `outlast doctor` finds in the database and in its replica: what the server is, the way to it, whether a sync may
// make and change there what it needs, and how fast it grows. Every statement only reads.
import { isOutlastError } from '../errors.ts';
import { silentLog } from '../log.ts';
import { agreeMs } from '../platform/clock.ts';
import { checkSchema } from '../query/reader.ts';
import { readReplica } from '../query/status.ts';
import { onlyRow, openDb, type Db } from '../store/db.ts';
import { inspectWay } from '../store/connection-way.ts';
import { ofReplica, type Store } from './app.ts';
import type { Tell } from './doctor.ts';
import { formatMegabytes, formatSpan } from './print.ts';

/** What tells one archive from another, and how new it is. */
export type ArchiveIdentity = {
  /** By project, the salt of its key's fingerprint: made by chance when the project began. */
  salts: ReadonlyMap<string, string>;
  /** When the newest run began; null: there was none. */
  newestRunMs: number | null;
};

/** Tells of the database; gives back what it holds, null where that is no archive that this release can read. */
export async function examineServer(store: Store, tell: Tell): Promise<ArchiveIdentity | null> {
  const { connectionString, isEmbedded } = store;
  const db = await openDb({ connectionString, isReadOnly: true, max: 2, log: silentLog() });
  try {
    await tellServer(db, isEmbedded, tell);
    if (!isEmbedded) await tellWay(db, new URL(connectionString).hostname, tell);
    return (await tellSchema(db, tell)) ? await heldIn(db) : null;
  } finally {
    await db.close();
  }
}

type Server = { version: string; standby: boolean; bytes: number; nowMs: number };

async function tellServer(db: Db, isEmbedded: boolean, tell: Tell): Promise<void> {
  const begun = Date.now();
  const server = onlyRow(
    await db.query<Server>(
      `select current_setting('server_version') as version, pg_is_in_recovery() as standby,
              pg_database_size(current_database())::float8 as bytes,
              extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"`,
    ),
  );
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
  const offMs = Math.abs(server.nowMs - (begun + tookMs / 2));
  if (offMs > agreeMs + tookMs) {
    tell(
      'warn',
      'clock',
      `the database’s clock and this machine’s differ by ${formatSpan(offMs)}: set the wrong one right`,
    );
  }
}

async function tellWay(db: Db, host: string, tell: Tell): Promise<void> {
  const { tls, pooler } = await inspectWay(db);
  if (tls !== null) {
    const checked = tls.isChecked ? 'the certificate is checked' : 'the certificate is not checked';
    tell('ok', 'TLS', `${tls.protocol}, ${checked}`);
  } else if (isHere(host)) tell('ok', 'TLS', 'none, on this machine');
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

const isHere = (host: string): boolean =>
  host === '' ||
  host === 'localhost' ||
  host === '[::1]' ||
  host.startsWith('127.') ||
  /^%2f/i.test(host);

/** Whether it is of this release. Throws what `checkSchema` throws of a database that is of no use. */
async function tellSchema(db: Db, tell: Tell): Promise<boolean> {
  const rights = await rightsIn(db);
  try {
    await checkSchema(db);
  } catch (error) {
    const isMissing = isOutlastError(error, 'schema_missing');
    if (!isMissing && !isOutlastError(error, 'schema_older')) throw error;
    tellMigration(isMissing, rights, tell);
    return false;
  }
  tell('ok', 'schema', 'of this release');
  await tellGrowth(db, tell);
  if (!rights.mayCreate) {
    tell(
      'warn',
      'rights',
      'the database user may not create schemas: let the owner run `outlast migrate` before each new release',
    );
  }
  if (db.role === null) tell('warn', 'rights', unprotected);
  else tell('ok', 'rights', `statements run as ${db.role}, which cannot delete what is archived`);
  return true;
}

const unprotected =
  'nothing keeps this database user from deleting what is archived: `outlast migrate` prints the SQL for an administrator';

type Rights = {
  /** As SQL writes it. */
  login: string;
  database: string;
  mayCreate: boolean;
  /** Of the schema there is; true where there is none. */
  isOwner: boolean;
  /** Whether it is a member of the roles that cannot delete, or can make itself one. */
  isProtectable: boolean;
};

async function rightsIn(db: Db): Promise<Rights> {
  return onlyRow(
    await db.query<Rights>(
      // A user that may make roles may join those it makes; those that are there only if it administers them, or as of
      // PostgreSQL 15.
      `select quote_ident(session_user) as login, quote_ident(current_database()) as database,
              has_database_privilege(session_user, current_database(), 'create') as "mayCreate",
              coalesce((select pg_has_role(session_user, nspowner, 'usage')
                          from pg_namespace where nspname = 'archive'), true) as "isOwner",
              case when there.role is null then me.rolsuper or me.rolcreaterole
                   else pg_has_role(session_user, there.role, 'member')
                        or pg_has_role(session_user, there.role, 'member with admin option')
                        or me.rolcreaterole and current_setting('server_version_num')::int < 160000
               end as "isProtectable"
         from pg_roles me
         left join (select oid as role from pg_roles where rolname = 'outlast_writer') there on true
        where me.rolname = session_user`,
    ),
  );
}

/** What the next sync has to make or to change, and whether it may. */
function tellMigration(isMissing: boolean, rights: Rights, tell: Tell): void {
  const { login, database, mayCreate, isOwner, isProtectable } = rights;
  const found = isMissing ? 'none yet' : 'of an earlier release';
  if (mayCreate && isOwner) {
    tell(
      'ok',
      'schema',
      `${found}: the ${isMissing ? 'first sync makes it' : 'next sync brings it up to date'}`,
    );
  } else if (mayCreate || !isOwner) {
    tell(
      'fail',
      'schema',
      `${found}, and it belongs to another user: let that one run \`outlast migrate\``,
    );
  } else {
    tell(
      'fail',
      'schema',
      `${found}, and the database user may not create schemas: let an administrator run \`grant create on database ${database} to ${login}\``,
    );
  }
  if (!isProtectable) tell('warn', 'rights', unprotected);
}

/** What the disk of the database has to take. Nothing is said of an archive without a record. */
async function tellGrowth(db: Db, tell: Tell): Promise<void> {
  const { bytes } = onlyRow(
    await db.query<{ bytes: number | null }>(
      `select (pg_database_size(current_database()) / nullif(sum(shown_total), 0)
               * sum(shown_total) filter (where day > current_date - 31 and day < current_date))::float8 as bytes
         from sync.slices`,
    ),
  );
  if (bytes === null) return;
  tell('ok', 'growth', `the last 30 days take about ${formatMegabytes(bytes)} of the database`);
}

async function heldIn(db: Db): Promise<ArchiveIdentity> {
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
  try {
    const { connectionString } = store;
    const db = await openDb({ connectionString, isReadOnly: true, max: 1, log: silentLog() });
    try {
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
    } finally {
      await db.close();
    }
  } catch (error) {
    throw ofReplica(error);
  }
}
