// The query module's connections: they cannot write, end statements that take too long, and belong to a database
// whose schema this release knows. What goes wrong in a statement is named here.
import { causeChain, codeOf, settingsError, transient, type OutlastError } from '../errors.ts';
import { silentLog } from '../log.ts';
import { openDb, type Db, type Queryable } from '../store/db.ts';
import { connectionError } from '../store/db-errors.ts';
import { compareSchemas, knownMigrations, refuseForeign, schemaOther } from '../store/migrate.ts';
import { rowSecurity, wayInto } from '../store/roles.ts';
import type { TransactionSettings } from '../store/transaction-settings.ts';
import type { ArchiveOptions } from './types.ts';

export type Reader = Queryable & {
  /** Throws what `checkSchema` throws. */
  ready(): Promise<void>;
  /** The role connections run as; null where the user is no member of outlast_reader, and merely cannot write. */
  readonly role: string | null;
  close(): Promise<void>;
};

type ReaderOptions = Required<Omit<ArchiveOptions, 'log'>> & {
  log?: ArchiveOptions['log'] | undefined;
};

/**
 * Throws what `checkSchema` throws, settings `database_…` and transient `database_unreachable`.
 */
export async function openReader(options: ReaderOptions): Promise<Reader> {
  const db = await openDb({
    connectionString: options.connectionString,
    max: options.max,
    applicationName: 'outlast reader',
    role: 'outlast_reader',
    isReadOnly: true,
    settings: planned(options.statementTimeoutMs),
    log: options.log ?? silentLog(),
  });
  try {
    await checkSchema(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  const whileOpen = <T>(statement: () => PromiseLike<T>): Promise<T> => {
    if (closing === undefined) return answer(db, statement);
    return Promise.reject(
      settingsError('archive_closed', 'The archive was closed. Open it again.'),
    );
  };
  return {
    query: (sql, parameters) => whileOpen(() => db.query(sql, parameters)),
    ready: () => whileOpen(() => checkSchema(db)),
    role: db.role,
    close: () => (closing ??= db.close()),
  };
}

/**
 * Read-only twice over: the role has no right to write, and the transaction refuses to. No plan that sorts where an
 * index has the order: on a table not yet analysed the planner takes a list for 150 rows and sorts all of it for every
 * page (200,000 orders, a page of 100: 100,000 blocks instead of 11).
 */
const planned = (statementTimeoutMs: number): TransactionSettings => ({
  statement_timeout: String(statementTimeoutMs),
  enable_sort: 'off',
});

/** Runs a read and gives its failure a name. The statement's parameters stay out of the message (P10). */
async function answer<T>(db: Db, statement: () => PromiseLike<T>): Promise<T> {
  try {
    return await statement();
  } catch (error) {
    throw codeOf(error) === '42501' ? await forbidden(db, error) : named(error);
  }
}

function named(error: unknown): unknown {
  const code = codeOf(error);
  if (code === '57014') {
    return transient(
      'query_timed_out',
      'The query took longer than its time-out and was ended. Narrow it by its days, or, in the library, raise statementTimeoutMs.',
      error,
    );
  }
  // Class 08: the connection; 40001: a standby's duty to its primary; 53: the server's means; 57P: the server is stopping
  // or starting; no SQLSTATE: the network below them.
  const isPassing = code === undefined || /^(?:08|40001|53|57P|E[A-Z])/.test(code);
  return isPassing && error instanceof Error ? connectionError(error) : error;
}

async function forbidden(db: Db, error: unknown): Promise<OutlastError> {
  const [hidden] = await rowSecurity(db);
  if (hidden !== undefined) return settingsError('database_forbidden', hidden, error);
  return settingsError(
    'database_forbidden',
    `The database user may not read the archive (${causeChain(error)}): ${await wayInto(db, 'analytics', 'outlast_reader')}.`,
    error,
  );
}

/**
 * P12: a database without our tables, or with another release's, is named before the first query fails of it. Throws
 * settings `schema_missing`, `schema_foreign`, `schema_older` or `schema_newer`, fatal `schema_other`.
 */
export async function checkSchema(db: Db): Promise<void> {
  const found = await answer(db, () =>
    db.query<{ archive: boolean; version: boolean }>(
      `select exists (select from pg_namespace where nspname = 'archive') as archive,
              exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                       where n.nspname = 'analytics' and c.relname = 'schema_version') as version`,
    ),
  );
  if (found.rows[0]?.version !== true) await answer(db, () => refuseForeign(db));
  if (found.rows[0]?.archive !== true) {
    throw settingsError(
      'schema_missing',
      'This database holds no Outlast archive. Check that its address names the right database, or run `outlast migrate` on it.',
    );
  }
  const digests = found.rows[0].version ? await digestsIn(db) : null;
  const compared = digests === null ? 'other' : compareSchemas(digests, knownMigrations());
  if (compared === 'other') throw schemaOther();
  if (compared === 'newer') {
    throw settingsError(
      'schema_newer',
      'This archive was written by a newer release of Outlast. Use that release of the package or a later one to read it.',
    );
  }
  if (compared === 'older') {
    throw settingsError(
      'schema_older',
      'This archive was written by an older release of Outlast. Run `outlast migrate` with this release first.',
    );
  }
}

/** Null: the view is another state's, and knows none. */
async function digestsIn(db: Db): Promise<string[] | null> {
  const { rows } = await answer(db, () =>
    db.query<{ migrations: number; digests?: string[] | null }>(
      'select * from analytics.schema_version',
    ),
  );
  return rows[0]?.migrations === 0 ? [] : (rows[0]?.digests ?? null);
}
