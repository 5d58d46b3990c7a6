// The only door to Postgres: every statement runs in a transaction, as the writer role and with settings and time-outs
// that the transaction names. What must run in a transaction takes `Tx`; what may open one takes `Db`.
// Statements go out before the answers to those ahead of them are in (pg's pipeline mode): a round trip costs more than
// most.
import type { Socket } from 'node:net';
import pg from 'pg';
import { currentAddress, type DatabaseAddress } from '../database-address.ts';
import { createDialingSocket } from '../dial.ts';
import { codeOf, fatal } from '../errors.ts';
import type { ProjectId } from '../model.ts';
import { inSpan } from '../tracing.ts';
import { checkServer } from './check-server.ts';
import { Client, readAddress, type Connection } from './pg-client.ts';
import { connectionError, databaseError, namedIfCut, standby } from './db-errors.ts';
import { inGroups, type InGroups } from './group-commit.ts';
import { beginOf, ourSettings, type TransactionSettings } from './transaction-settings.ts';

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
  /** Connections as the server gives them: without our role, settings and time-outs. Set nothing on them that stays. */
  readonly pool: pg.Pool;
  /** The role transactions run as; null where the database has no writer role for us (P4 is then weaker). */
  readonly role: string | null;
  /** How a transaction begins. */
  readonly begin: string;
  /** Where a project was taken: what a transaction that may write begins with besides, and how they are run. */
  readonly hold: { fence: string; transact: InGroups<Tx> } | null;
  /**
   * The same for whoever took a project under this epoch (P8): its transactions run one after another, several in one,
   * and fail with `lease_lost` once another has taken it. A statement by itself only reads.
   */
  asHolder(projectId: ProjectId, epoch: number): Db;
  /** Told of every transaction that ended; it must not throw. */
  readonly onTransaction?: OnTransaction | undefined;
  close(): Promise<void>;
};

/** How long it took from its begin to its end, in seconds. */
type OnTransaction = (isCommitted: boolean, seconds: number) => void;

type DbOptions = {
  connectionString: DatabaseAddress;
  /** Connections at most. */
  max?: number;
  /** Whoever finds all of them at work waits two minutes, not ten seconds: a sync has more lanes than these. */
  waitsInLine?: boolean;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  /** The role to run as: `outlast_writer` by default. Null: as whoever connects, for migrations. */
  role?: string | null;
  /** Every transaction begins as one that only reads. */
  isReadOnly?: boolean;
  /** What every transaction names besides. */
  settings?: TransactionSettings;
  /** Told of every transaction that ended; it must not throw. */
  onTransaction?: OnTransaction | undefined;
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
function timeText(text: string): string {
  // Of the years that everybody has; by hand, for every record read has several.
  if (text.charAt(10) === ' ' && text.endsWith('+00')) {
    return `${text.slice(0, 10)}T${text.slice(11, -3)}Z`;
  }
  return text.replace(' ', 'T').replace(/\+00$/, 'Z');
}

/**
 * Opens the pool. Every statement runs in UTC and, where the database allows it, as `outlast_writer`, which cannot
 * delete anything archived (P4). Several statements in one text are a transaction together. Throws settings
 * `database_…` with what to do, or transient `database_unreachable`.
 */
export async function openDb(options: DbOptions): Promise<Db> {
  const wanted = options.role === undefined ? 'outlast_writer' : options.role;
  const isReadOnly = options.isReadOnly ?? false;
  const applicationName = options.applicationName ?? 'outlast';
  let connection = readAddress(currentAddress(options.connectionString));
  const newest = (): Connection => {
    try {
      connection = readAddress(currentAddress(options.connectionString));
    } catch {
      // Its file is just being written, or is gone: the last one, and the login decides.
    }
    return connection;
  };
  const singleMs = Number(
    options.settings?.['statement_timeout'] ?? (wanted === null ? 0 : longestMs),
  );
  const asked = {
    ...connection,
    application_name: applicationName,
    connectionTimeoutMillis: connectingMs,
    stream: () => createDialingSocket(connectingMs),
    // Behind a network that is gone without a word, a statement that was sent would wait for its answer for ever: the
    // server takes its time-outs with it. Where somebody in between still answers for the server, `lend` gives up.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  };
  const found = await checkServer(asked, { role: wanted, isReadOnly });
  const begin = beginOf({
    role: found.role,
    isReadOnly,
    settings: {
      ...found.settings,
      ...ourSettings,
      application_name: applicationName,
      statement_timeout: String(singleMs),
      lock_timeout: String(wanted === null ? 0 : defaultTxTimeouts.lockMs),
      idle_in_transaction_session_timeout: String(defaultTxTimeouts.idleMs),
      ...options.settings,
    },
  });
  const pool = new pg.Pool({
    ...asked,
    ...(options.waitsInLine === true
      ? { connectionTimeoutMillis: inLineMs, idleTimeoutMillis: keptMs }
      : {}),
    Client: function (config: pg.ClientConfig) {
      return new Client({
        ...config,
        ...newest(),
        ...found.instead,
        // The pool has one time-out for making a connection and for waiting for one: here each connection has its own.
        connectionTimeoutMillis: connectingMs,
      });
    } as unknown as typeof pg.Client,
    max: options.max ?? 10,
    pipeline: true,
    onConnect: (client) => answered(client, pool),
  });
  // One that the server ends as soon as it is made belongs to nobody for a moment: whoever asked for it is told.
  pool.on('connect', (client) => client.on('error', () => undefined));
  // An idle connection that breaks is replaced by the pool; without this the process would die of it.
  // At the end it is no news: the pool forgets its connections before their sockets are closed.
  let isClosing = false;
  pool.on('error', (error) => {
    // idle_session_timeout, which an administrator set: it is for connections like these, a sync's once a minute.
    if (isClosing || codeOf(error) === '57P05') return;
    options.log.warn({ code: codeOf(error) }, 'An idle database connection broke');
  });
  const single =
    (beginning: string): Db['query'] =>
    <R extends Row>(sql: string, parameters: unknown[] = []) =>
      onConnection(db, silenceAfter(singleMs, 0), async (client) => {
        await begun(client, beginning);
        const answered = client.query<R>(sql, parameters);
        // After an error it is a rollback.
        const ended = client.query('commit');
        ended.catch(() => undefined);
        const answer = await answered;
        await ended;
        return answer;
      });
  const db: Db = {
    pool,
    role: found.role,
    begin,
    hold: null,
    onTransaction: options.onTransaction,
    query: single(begin),
    asHolder: (projectId, epoch) => {
      // The name has letters, digits, _ and - alone (settings/).
      const fence = `; select sync.write_as_holder('${projectId}', ${epoch})`;
      const transact = inGroups<Tx>((work) => transactBy(db, fence, work, defaultTxTimeouts));
      return {
        ...db,
        hold: { fence, transact },
        query: single(`${begin}; set transaction read only`),
      };
    },
    close: () => {
      isClosing = true;
      return pool.end();
    },
  };
  return db;
}

/**
 * A pooler of sessions lets everybody in and leaves whoever is one too many waiting for another to go, which none of
 * ours may do for minutes: that is crowded, too. Throws so where there are others of ours.
 */
async function answered(client: pg.ClientBase, pool: pg.Pool): Promise<void> {
  if (pool.totalCount === 1) return;
  let isSilent = false;
  const giveUp = (): void => {
    isSilent = true;
    // At its end it is no error that it ends.
    void (client as pg.Client).end();
    (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
  };
  const timer = setTimeout(giveUp, answeringMs);
  try {
    await client.query('');
  } catch (error) {
    throw isSilent ? Object.assign(new Error('let in and not served'), { code: '53300' }) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** How long the first answer on a connection may take. */
const answeringMs = 5000;

/** How long a connection may take to be made. */
const connectingMs = 10_000;
/** And how long the line for one may be, for a sync of many projects: requests over HTTP may be in it, too. */
const inLineMs = 120_000;
/**
 * A sync's are kept from one tick to the next, a minute later: a new one has to learn the tables first, up to a
 * third of what a quiet tick costs Postgres (docs/benchmarks.md).
 */
const keptMs = 90_000;

/** How much longer than the server's own time-outs an answer may be on its way. */
const graceMs = 30_000;
/** How long nothing may come before nobody is there any more; 0: where the server would wait for ever, so do we. */
const silenceAfter = (statementMs: number, idleMs: number): number =>
  statementMs === 0 ? 0 : statementMs + idleMs + graceMs;

/** How long a statement by itself may take. What may take longer is a transaction that says so, and a migration. */
const longestMs = 900_000;

export type TxTimeouts = { statementMs: number; lockMs: number; idleMs: number };

export const defaultTxTimeouts: TxTimeouts = {
  statementMs: 30_000,
  lockMs: 10_000,
  idleMs: 10_000,
};

/** As long as it takes, but nobody is waited for. */
export const noStatementTimeout: TxTimeouts = { statementMs: 0, lockMs: 10_000, idleMs: 0 };

/**
 * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. No network inside. Statements
 * that do not need each other's answers may be sent together; each is to be awaited. A holder's may run twice
 * (group-commit.ts), unless time-outs are given: then it is a transaction of its own. They are set here alone: how long
 * the connection may be silent follows from them.
 */
export function withTx<T>(db: Db, work: (tx: Tx) => Promise<T>, timeouts?: TxTimeouts): Promise<T> {
  if (timeouts === undefined && db.hold !== null) return db.hold.transact(work);
  return transactBy(db, db.hold?.fence ?? '', work, timeouts ?? defaultTxTimeouts);
}

/**
 * The same for a work of a holder that reads nothing of what another such work may write: their statements are sent as
 * they come (group-commit.ts).
 */
export const withMixedTx = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.hold === null ? withTx(db, work) : db.hold.transact(work, true);

/** `fence`: what the transaction begins with besides. */
function transactBy<T>(
  db: Db,
  fence: string,
  work: (tx: Tx) => Promise<T>,
  timeouts: TxTimeouts,
): Promise<T> {
  const begin =
    `${db.begin}; set local statement_timeout = ${timeouts.statementMs};` +
    ` set local lock_timeout = ${timeouts.lockMs};` +
    ` set local idle_in_transaction_session_timeout = ${timeouts.idleMs}${fence}`;
  const silenceMs = silenceAfter(timeouts.statementMs, timeouts.idleMs);
  return onConnection(db, silenceMs, async (client) => {
    // Waited for: behind a `begin` that failed a statement would run by itself, as whoever connects.
    await begun(client, begin);
    const result = await work(client as unknown as Tx);
    await client.query('commit');
    return result;
  });
}

/** A begin itself is refused where writing is asked of a standby: with 0A000, which elsewhere means other things. */
const begun = (client: pg.PoolClient, beginning: string): Promise<unknown> =>
  client.query(beginning).catch((error: unknown) => {
    throw codeOf(error) === '0A000' ? standby() : error;
  });

/**
 * The answers to statements that were sent together, once all of them are in: a COPY under way must not be spoken over.
 * Throws what the first of those that failed threw.
 */
export async function sentTogether<T extends unknown[]>(statements: {
  [K in keyof T]: Promise<T[K]>;
}): Promise<T> {
  await Promise.allSettled(statements);
  return Promise.all(statements);
}

/** Lends a connection of the pool; a transaction that `work` left open when it threw is rolled back. */
function onConnection<T>(
  db: Db,
  silenceMs: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return inSpan('transaction', ofPostgres, () => lend(db, silenceMs, work));
}

/** Where the server gives no more than the pool has, one of those is waited for: small plans allow fifteen in all. */
async function takeConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  let crowded: Error | undefined;
  // Ends: each turn lowers how many are tried, down to those that there are, for which the line is bounded.
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      const told = connectionError(error);
      if (told.code !== 'database_crowded' || pool.totalCount === 0) throw crowded ?? told;
      crowded = told;
      const { max } = pool.options;
      pool.options.max = Math.min(max, pool.totalCount);
      // Others want some as well: they find one free between two ticks.
      pool.options.idleTimeoutMillis = briefMs;
      setTimeout(() => (pool.options.max = Math.max(max, pool.options.max)), crowdedMs).unref();
    }
  }
}

/** For how long no more connections are tried than there were. */
const crowdedMs = 60_000;
/** And how long an idle one is kept from then on. */
const briefMs = 10_000;

const ofPostgres = { kind: 'client', attributes: { 'db.system.name': 'postgresql' } } as const;

/** `silenceMs`: when no byte has passed for so long, nobody is there any more; 0: however long it takes. */
async function lend<T>(
  db: Db,
  silenceMs: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await takeConnection(db.pool);
  let isBroken = false;
  let said: Error | undefined;
  // The server may end the connection while we hold it: the query in flight then fails, which is enough; between two
  // statements only this tells why. Without it the process would die of it.
  const onError = (error: Error): void => {
    isBroken = true;
    said ??= error;
  };
  client.on('error', onError);
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const giveUp = (): void => {
    const error = new Error(`nothing came from it for ${silenceMs / 1000} s`);
    stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  };
  stream.setTimeout(silenceMs, giveUp);
  const begunAt = performance.now();
  const ended = (isCommitted: boolean): void =>
    db.onTransaction?.(isCommitted, (performance.now() - begunAt) / 1000);
  try {
    const result = await work(client);
    ended(true);
    return result;
  } catch (error) {
    ended(false);
    await client.query('rollback').catch(() => (isBroken = true));
    // After a failover a name may lead to the old primary for a moment. Kept, its connection would be lent for ever.
    if (databaseError(error)?.code === 'database_read_only') isBroken = true;
    throw isBroken ? namedIfCut(error, said ?? (error as Error)) : error;
  } finally {
    stream.setTimeout(0, giveUp);
    client.off('error', onError);
    client.release(isBroken);
  }
}

/** Makes statistics of tables that have grown and have none yet, for Postgres to plan by. */
export async function analyzeNew(db: Queryable): Promise<void> {
  await db.query('select sync.analyze_new()');
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

/** A `text[]` as Postgres reads it: a page's hundreds by hand, for pg's own way costs a microsecond each. */
export function textArray(items: string[]): string {
  if (items.length === 0) return '{}';
  const isPlain = !items.some((item) => item.includes('"') || item.includes('\\'));
  const quoted = isPlain ? items : items.map((item) => item.replaceAll(/["\\]/g, '\\$&'));
  return `{"${quoted.join('","')}"}`;
}
