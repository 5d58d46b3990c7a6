// The only door to Postgres: a pool whose connections run as the writer role, and transactions with
// time-outs of their own. What must run in a transaction takes `Tx`; what may open one takes `Db`.
import pg from 'pg';
import { codeOf, fatal, settingsError } from '../errors.ts';
import { connectionError, databaseError, namedIfCut } from './db-errors.ts';

export type Row = Record<string, unknown>;

/** Something that runs SQL: the pool or a transaction. */
export type Queryable = {
  query<R extends Row = Row>(
    sql: string,
    parameters?: unknown[],
  ): Promise<{ rows: R[]; rowCount: number | null }>;
};

declare const inTransaction: unique symbol;
/** Proof that a transaction is open; `withTx` is the only place that makes one. */
export type Tx = Queryable & { readonly [inTransaction]: true };

export type Db = Queryable & {
  readonly pool: pg.Pool;
  /** The role connections run as; null where the database has no writer role for us (P4 is then weaker). */
  readonly role: string | null;
  close(): Promise<void>;
};

export type DbOptions = {
  connectionString: string;
  /** Connections at most. */
  max?: number;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  /** The role to run as: `outlast_writer` unless told. Null: as whoever connects, for migrations. */
  role?: string | null;
  /** Further SQL that every new connection runs before its first use. */
  setUp?: string;
  log: { warn(fields: object, sentence: string): void };
};

// Times as RFC 3339 text and dates as text: JavaScript's Date would lose microseconds.
const timestamptzOid = 1184;
const dateOid = 1082;
/** `text[]`. */
const textArrayOid = 1009;
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === timestamptzOid) return timeText;
    if (oid === dateOid) return (text: string) => text;
    if (format === 'binary') return pg.types.getTypeParser(oid, format);
    const parse = pg.types.getTypeParser(oid);
    // `unread` of nearly every record has nothing in it.
    return oid === textArrayOid ? (text: string) => (text === '{}' ? [] : parse(text)) : parse;
  },
};

/** `2026-03-01 10:00:00.5+00`, as Postgres prints it in UTC, as RFC 3339 text. */
export function timeText(text: string): string {
  // Of the years that everybody has; by hand, for every record read has several.
  if (text.charAt(10) === ' ' && text.endsWith('+00')) {
    return `${text.slice(0, 10)}T${text.slice(11, -3)}Z`;
  }
  return text.replace(' ', 'T').replace(/\+00$/, 'Z');
}

/**
 * Opens the pool. Every connection runs in UTC and, where the database allows it, as `outlast_writer`,
 * which cannot delete anything archived (P4).
 * Throws settings `database_…` with what to do, or transient `database_unreachable`.
 */
export async function openDb(options: DbOptions): Promise<Db> {
  const wanted = options.role === undefined ? 'outlast_writer' : options.role;
  const base: pg.PoolConfig = {
    connectionString: options.connectionString,
    application_name: options.applicationName ?? 'outlast',
    connectionTimeoutMillis: 10_000,
    // Behind a network that is gone without a word, a statement that was sent would wait for its answer for ever: the
    // server takes its time-outs with it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  };
  const role = await checkServer(base, wanted);
  const setUp = `set timezone = 'UTC'; set datestyle = 'ISO'; set client_min_messages = 'warning'; ${
    role === null ? '' : `set role ${role};`
  } ${wanted === null ? '' : `set lock_timeout = ${defaultTxTimeouts.lockMs};`} ${options.setUp ?? ''}`;
  const pool = new pg.Pool({
    ...base,
    max: options.max ?? 10,
    // A returned promise is awaited before the connection is handed out; the type says void.
    onConnect: (client): Promise<unknown> => client.query(setUp),
  });
  // An idle connection that breaks is replaced by the pool; without this the process would die of it.
  // At the end it is no news: the pool forgets its connections before their sockets are closed.
  let isClosing = false;
  pool.on('error', (error) => {
    if (!isClosing) options.log.warn({ code: codeOf(error) }, 'An idle database connection broke');
  });
  return {
    pool,
    role,
    query: async <R extends Row>(sql: string, parameters?: unknown[]) => {
      try {
        return await pool.query<R>(sql, parameters);
      } catch (error) {
        throw namedIfCut(error);
      }
    },
    close: () => {
      isClosing = true;
      return pool.end();
    },
  };
}

/** Connects once to tell a person what is wrong before any work starts; returns the role to run as. */
async function checkServer(config: pg.PoolConfig, wanted: string | null): Promise<string | null> {
  let client: pg.Client;
  try {
    client = new pg.Client(config);
    client.on('error', () => undefined);
    await client.connect();
  } catch (error) {
    throw connectionError(error);
  }
  try {
    const { rows } = await client.query<{ version: number; server: string; member: boolean }>(
      `select current_setting('server_version_num')::int as version,
              current_setting('server_version') as server,
              exists (select from pg_roles
                       where rolname = $1 and pg_has_role(current_user, oid, 'member')) as member`,
      [wanted],
    );
    const [row] = rows;
    if (row === undefined || row.version < 150_000) {
      throw settingsError(
        'database_too_old',
        `The database is PostgreSQL ${row?.server}; Outlast needs 15 or newer. Point DATABASE_URL at a newer server.`,
      );
    }
    return row.member ? wanted : null;
  } catch (error) {
    // Cut while we asked: as passing a fault as one that was refused.
    throw databaseError(error) ?? namedIfCut(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export type TxTimeouts = { statementMs: number; lockMs: number; idleMs: number };

export const defaultTxTimeouts: TxTimeouts = {
  statementMs: 30_000,
  lockMs: 10_000,
  idleMs: 10_000,
};

/** Well below the lease, so that a transaction hardly outlives the right to commit it; the epoch decides all the same. */
export function timeoutsWithin(leaseMs: number): TxTimeouts {
  const most = Math.floor(leaseMs / 3);
  return {
    statementMs: Math.min(most, defaultTxTimeouts.statementMs),
    lockMs: Math.min(most, defaultTxTimeouts.lockMs),
    idleMs: Math.min(most, defaultTxTimeouts.idleMs),
  };
}

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. No network inside. */
export async function withTx<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  timeouts: TxTimeouts = defaultTxTimeouts,
): Promise<T> {
  const { client, isBroken, release } = await takeConnection(db);
  try {
    await client.query(
      `begin; set local statement_timeout = ${timeouts.statementMs};` +
        ` set local lock_timeout = ${timeouts.lockMs};` +
        ` set local idle_in_transaction_session_timeout = ${timeouts.idleMs}`,
    );
    const result = await work(client as unknown as Tx);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => release(true));
    throw isBroken() ? namedIfCut(error) : error;
  } finally {
    release(false);
  }
}

type Taken = {
  client: pg.PoolClient;
  /** The server has ended it, or it was released for good. */
  isBroken: () => boolean;
  /** Gives it back to the pool, or away for good; the first call counts. */
  release: (forGood: boolean) => void;
};

/** One connection of the pool for several statements; the caller releases it. */
export async function takeConnection(db: Db): Promise<Taken> {
  const client = await db.pool.connect().catch((error: unknown) => {
    throw namedIfCut(error);
  });
  let broken = false;
  let released = false;
  // The server may end the connection while we hold it: the query in flight then fails, which is enough. Without
  // this the process would die of it.
  const onError = (): void => {
    broken = true;
  };
  client.on('error', onError);
  return {
    client,
    isBroken: () => broken,
    release: (forGood) => {
      if (released) return;
      released = true;
      broken ||= forGood;
      client.off('error', onError);
      client.release(broken);
    },
  };
}

/** The one row a statement must return. */
export function onlyRow<R extends Row>(result: { rows: R[] }): R {
  const [row] = result.rows;
  if (row === undefined || result.rows.length > 1) {
    throw fatal(
      'unexpected_rows',
      `A statement returned ${result.rows.length} rows instead of one`,
    );
  }
  return row;
}
