// What a database's error means to the person who runs Outlast: one sentence, what to do, and whether trying again
// may help. Told apart by SQLSTATE or the network's code, and by its words only where a pooler has one code for all.
// Knows no connection.
import {
  certificateProblem,
  codedCause,
  codeOf,
  fatal,
  OutlastError,
  settingsError,
  transient,
} from '../errors.ts';

/** What a failed connection means to the person who set DATABASE_URL. Never names the password (P10). */
export function connectionError(error: unknown): OutlastError {
  return databaseError(error) ?? tlsError(error) ?? passwordMissing(error) ?? unreachable(error);
}

/** pg gives it no code. A server that needs no password is fine without one. */
function passwordMissing(error: unknown): OutlastError | null {
  if (!(error instanceof Error) || !/password must be a (?:non-empty )?string/.test(error.message))
    return null;
  return settingsError(
    'database_password_missing',
    'The database asks for a password and DATABASE_URL has none. Write it as postgres://user:password@host:5432/database, or set DATABASE_PASSWORD.',
    error,
  );
}

/** pg gives it neither a code nor a class of its own. */
export const hasNoTls = (error: unknown): boolean =>
  error instanceof Error && error.message === 'The server does not support SSL connections';

/** The sentence where certificates are why there is no connection; null for anything else. */
function tlsError(error: unknown): OutlastError | null {
  if (hasNoTls(error)) {
    return settingsError(
      'database_tls_missing',
      'DATABASE_URL asks for TLS and the server has none. (Where it names no sslmode, PGSSLMODE asks for it.) Turn it on there (ssl = on), or write sslmode=disable into DATABASE_URL where the way to it is safe by itself.',
      error,
    );
  }
  const code = codeOf(error) ?? '';
  const problem = certificateProblem(code, advice);
  if (problem !== null) {
    return settingsError(
      'database_certificate',
      `The certificate of the database is not accepted ${problem}.`,
      error,
    );
  }
  if (!/^(?:ERR_SSL|ERR_OSSL|ERR_TLS|EPROTO|CERT_|UNABLE_TO)/.test(code)) return null;
  return settingsError(
    'database_certificate',
    `There is no TLS connection to the database (${code}). Check sslcert, sslkey and sslrootcert in DATABASE_URL.`,
    error,
  );
}

const advice = {
  authority: 'Name its certificate with sslrootcert in DATABASE_URL',
  host: 'Use the name that stands in it in DATABASE_URL; sslmode=verify-ca does not compare names',
};

/**
 * The sentence for an error that the database or the way to it explains; null for one that only a mistake of ours
 * does. SQLSTATEs: PostgreSQL manual, appendix A.
 */
export function databaseError(error: unknown): OutlastError | null {
  if (error instanceof OutlastError) return error;
  // drizzle wraps what its statement was answered with, also where that has its sentence already.
  if (error instanceof Error && error.cause instanceof OutlastError) return error.cause;
  // What drizzle wraps around it repeats the whole statement with its values, on several lines.
  const cause = codedCause(error);
  if (cause === undefined) return null;
  const { code } = cause;
  if (code === '42501') return forbidden(cause);
  const [kind, name, sentence] = saidByPooler(code, cause) ?? sentences[code] ?? [];
  if (kind !== undefined && name !== undefined && sentence !== undefined) {
    return kind(name, sentence, cause);
  }
  // Class 08: the connection; 28: the login; 53: the server's means; 57P: it stops or starts. The rest is the network.
  const isTheWay =
    /^(?:08|28|53|57P)...?$/.test(code) || /^E(?:CONN|PIPE|HOST|NET|TIME)/.test(code);
  return isTheWay ? unreachable(cause) : null;
}

/**
 * Gives a name to what fails with a broken connection, and every other error back as it is. pg gives no code, and a
 * plain Error, to what was in flight on it; mistakes in a call are of other types. `said`: how a connection in
 * use ended, in the server's own words if it had any; absent: there was none yet.
 */
export function namedIfCut(error: unknown, said?: Error): unknown {
  const isCut =
    error instanceof Error && error.constructor === Error && codeOf(error) === undefined;
  if (!isCut) return error;
  return said === undefined ? unreachable(error) : (databaseError(said) ?? endedConnection(said));
}

const endedConnection = (error: unknown): OutlastError => {
  const code = codeOf(error);
  return transient(
    'database_unreachable',
    `The database ended the connection${code === undefined ? '' : ` (${code})`}: it was stopped, it crashed, or somebody ended the session. Run Outlast again once it is there; the next command starts the embedded one.`,
    error,
  );
};

function unreachable(error: unknown): OutlastError {
  const code = codeOf(error);
  // A SQLSTATE of another class: the server was reached and could not go on.
  if (code !== undefined && /^(?!08|28|53|57)[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')) {
    return transient(
      'database_failing',
      `The database takes no connection (${code}). Its own log says why: look for a full disk first.`,
      error,
    );
  }
  // EPIPE is of a write: before it there was a connection.
  if (code === 'EPIPE' || code?.startsWith('57P0') === true) return endedConnection(error);
  return transient(
    'database_unreachable',
    `The database cannot be reached${code === undefined ? '' : ` (${code})`}. Check that it runs (the embedded one is started again by the next command), that a pooler in front reaches it, and that DATABASE_URL names the right host and port.`,
    error,
  );
}

/** Poolers have one code for all that they refuse, so that only their words tell it apart. */
function saidByPooler(code: string, cause: object): Sentence | undefined {
  if (!codesOfPoolers.has(code) || !(cause instanceof Error)) return undefined;
  return ofPoolers.find(([said]) => said.test(cause.message))?.[1];
}

/** In the server's own words, which name the thing and no value. */
const forbidden = (cause: unknown): OutlastError =>
  settingsError(
    'database_forbidden',
    `The database user lacks a right that Outlast needs: ${cause instanceof Error ? cause.message : '42501'}. \`outlast migrate\`, run as the owner of the archive, grants what it can and says what is left; CONNECT on the database it must have.`,
    cause,
  );

/** For a writer that met a server which only repeats another. */
export const standby = (): OutlastError => settingsError(readOnly[1], readOnly[2]);

type Sentence = [
  kind: typeof transient | typeof settingsError | typeof fatal,
  name: string,
  sentence: string,
];

const refused: Sentence = [
  settingsError,
  'database_login_refused',
  'The database refused the login. Check the user and the password in DATABASE_URL: the password may have been changed (a pooler in front has its own copy). A running service takes a new one from DATABASE_PASSWORD_FILE or DATABASE_URL_FILE by itself; from anywhere else it needs a restart.',
];
const hostUnknown: Sentence = [
  settingsError,
  'database_host_unknown',
  'The host in DATABASE_URL cannot be found. Check its name.',
];
const busy: Sentence = [
  transient,
  'database_busy',
  'The database kept Outlast waiting for too long: something else holds a lock or keeps it busy (pg_stat_activity shows what). What was not committed is read again; try again later.',
];

const slept: Sentence = [
  transient,
  'database_busy',
  'This process did not go on for longer than the database keeps a transaction open, as where the machine slept, is overloaded, or what reads the output waits. What was not committed is read again; try again.',
];

const missing: Sentence = [
  settingsError,
  'database_missing',
  'The database named in DATABASE_URL does not exist. Create it first, or correct the name.',
];
const crowded: Sentence = [
  transient,
  'database_crowded',
  'The database takes no more connections. Close some, raise its limit (max_connections, that of the user, or that of a pooler in front), or lower OUTLAST_CONCURRENCY.',
];

const readOnly: Sentence = [
  settingsError,
  'database_read_only',
  'The database takes no writing: it is a standby, or set to read only. Point DATABASE_URL at the primary.',
];
const damaged: Sentence = [
  fatal,
  'database_damaged',
  'The database cannot read or write its own files. Look into its log before anything else; Outlast goes on where it was once they are whole.',
];

/** PgBouncer's, and that of Supabase's and Neon's, which Postgres has as well. */
const codesOfPoolers = new Set(['08P01', 'XX000']);

const ofPoolers: readonly (readonly [said: RegExp, Sentence])[] = [
  [/authentication failed|no such user/, refused],
  [/no such database|database ".*" does not exist/, missing],
  [/no more connections|query_wait_timeout|max client|checkout timeout|too many conn/i, crowded],
  [
    /tenant|endpoint ID/i,
    [
      settingsError,
      'database_login_refused',
      'The pooler in front of the database does not know which one is meant. Copy host, port and user of DATABASE_URL from where its provider shows them: on Supabase the user is called `postgres.PROJECT`, and a role of yours `ROLE.PROJECT`.',
    ],
  ],
  [
    /server login|server down|cannot connect to server|connection to database closed|compute node/,
    [
      transient,
      'database_unreachable',
      'The pooler in front of the database gets no connection to it. Start Postgres if it is down; else the log of the pooler says why, such as a password or a certificate that is refused.',
    ],
  ],
  [
    /SSL (?:connection is )?required/,
    [
      settingsError,
      'database_tls_wanted',
      'The pooler in front of the database wants TLS. Add sslmode=verify-full and sslrootcert to DATABASE_URL, or sslmode=require.',
    ],
  ],
  [
    /unsupported startup parameter/,
    [
      settingsError,
      'database_address',
      'The pooler in front of the database refuses a parameter of DATABASE_URL, most likely `options`. Take it out there.',
    ],
  ],
];
const sentences: Readonly<Record<string, Sentence>> = {
  '08P01': [
    transient,
    'database_unreachable',
    'The way to the database refused the connection (08P01), most likely a pooler. Its log says why; it must pool sessions or transactions, not statements.',
  ],
  '28P01': refused,
  '28000': [
    settingsError,
    'database_login_refused',
    'The database has no rule that lets this user in from here (pg_hba.conf). Check the user in DATABASE_URL, and whether the server wants TLS (sslmode=require) or a certificate of yours (sslcert, sslkey).',
  ],
  '3D000': missing,
  '57P04': [
    settingsError,
    'database_missing',
    'The database named in DATABASE_URL was dropped while Outlast was at work. Create or restore it, or correct the name.',
  ],
  '25006': readOnly,
  '0A000': [
    settingsError,
    'database_unsuitable',
    'The database refuses a statement that Outlast needs: it is no PostgreSQL of its own. Point DATABASE_URL at PostgreSQL 15 or newer.',
  ],
  '53100': [
    fatal,
    'database_full',
    'The disk of the database is full. Free some space there and run Outlast again; it goes on where it was.',
  ],
  '53200': [
    transient,
    'database_out_of_memory',
    'The database has no memory left for a statement. Give its server more, or lower work_mem or OUTLAST_CONCURRENCY; what was not committed is done again.',
  ],
  '53400': [
    settingsError,
    'database_limit',
    'A statement needs more room for temporary files than the database allows. Raise temp_file_limit for the user (`alter role … set temp_file_limit`, as a superuser) and run Outlast again; it goes on where it was.',
  ],
  '53300': crowded,
  // Nothing of ours is serializable, and what reads one snapshot writes nothing: only a standby ends it like this.
  '40001': [
    transient,
    'database_conflict',
    'The standby ended the reading, for it stood in the way of what the primary wrote. Set hot_standby_feedback = on there, or raise max_standby_streaming_delay, and try again.',
  ],
  // Raised by sync.write_as_holder.
  OL001: [
    transient,
    'lease_lost',
    'Another process has taken this project: nothing more of it was written here. What was not committed is read there again.',
  ],
  // Lock and statement time-outs, and deadlocks.
  '55P03': busy,
  '57014': busy,
  '40P01': busy,
  '25P03': slept,
  '25P04': slept,
  '58030': damaged,
  '58P01': damaged,
  // Also of a cluster that lost a worker while it committed, and of a provider whose quota is used up.
  XX000: [
    transient,
    'database_failing',
    'The database failed within itself, or what its provider has in front of it refused (XX000). Its own log says why: look for a full disk first. What was not committed is read again.',
  ],
  XX001: damaged,
  XX002: damaged,
  ENOTFOUND: hostUnknown,
  // Also where a machine has begun before its network has: no mistake in a setting.
  EAI_AGAIN: [
    transient,
    'database_host_unknown',
    'The host in DATABASE_URL cannot be found at the moment, for no name server answers. Check the network, and its name.',
  ],
  ERR_INVALID_URL: [
    settingsError,
    'database_url_invalid',
    'DATABASE_URL is no valid address. It has the form postgres://user:password@host:5432/database.',
  ],
};
