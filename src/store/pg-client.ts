// pg's client as every connection is made: told everything by its address, and nothing by the environment. The login is
// bound to the TLS connection (SCRAM-SHA-256-PLUS) where the address asks for channel_binding=require, so that nobody in
// between can pass it on; pg binds where a server offers it, and goes on without where none does.
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { heeded, mistakesIn, urlOf } from '../database-address.ts';
import { codeOf, settingsError } from '../errors.ts';

/** What an address asks pg for. */
export type Connection = pg.ClientConfig & { sslmode?: string };

/**
 * What pg is to be told. Throws settings `database_address`, or `database_certificate_file` for a file that cannot be
 * read.
 */
export function readAddress(connectionString: string): Connection {
  const url = urlOf(connectionString);
  const [mistake] = mistakesIn(connectionString);
  if (url === null || mistake !== undefined) {
    throw settingsError(
      'database_address',
      `DATABASE_URL ${mistake}. (What it leaves out, PGSSLMODE, PGHOST and their like add to it.)`,
    );
  }
  const { searchParams: given } = url;
  // JDBC's way of asking, which libpq takes as well.
  if (given.get('ssl') === 'true' && !given.has('sslmode')) given.set('sslmode', 'require');
  if (given.get('sslmode') === 'allow') given.set('sslmode', 'prefer');
  if (given.get('sslrootcert') === 'system') {
    given.delete('sslrootcert');
    given.set('sslmode', 'verify-full');
  }
  // pg would make something else of some of them.
  const names = [...given.keys()];
  for (const name of names.filter((one) => !heeded.includes(one))) given.delete(name);
  let connection: Connection;
  try {
    connection = toClientConfig(parse(url.href, { useLibpqCompat: true }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    if (codeOf(error) === undefined) {
      throw settingsError('database_address', `DATABASE_URL cannot be used: ${reason}.`, error);
    }
    throw settingsError(
      'database_certificate_file',
      `A certificate file that DATABASE_URL names cannot be read (${reason}). Check its path and rights.`,
      error,
    );
  }
  const authority = given.get('sslrootcert') ?? '';
  const { ssl } = connection;
  // pg takes an empty file for none, and of any other text TLS would only say that it could not begin.
  if (
    authority !== '' &&
    typeof ssl === 'object' &&
    !/BEGIN [A-Z0-9 ]*CERTIFICATE/.test(String(ssl.ca))
  ) {
    throw settingsError(
      'database_certificate_file',
      `The file ${authority}, which DATABASE_URL names as sslrootcert, holds no certificate: it is to begin with -----BEGIN CERTIFICATE-----.`,
    );
  }
  // As libpq: there is no TLS on a socket.
  if (connection.host?.startsWith('/') === true) connection.ssl = false;
  // A login that is not bound to TLS is to be refused.
  return { ...connection, enableChannelBinding: given.get('channel_binding') === 'require' };
}

/** What pg keeps of a connection and does not type. */
type Wire = {
  connection: NodeJS.EventEmitter & { stream: Socket };
  saslSession: unknown;
  processID: number | null;
};

const refusal = (): Error =>
  settingsError(
    'database_channel_binding',
    'DATABASE_URL asks for channel_binding=require and who answers does not bind the login to TLS: a pooler may stand in between. Ask for sslmode=verify-full instead, which checks who answers.',
  );

/** Any other login than a bound one ends the connection before a password or a proof is sent. */
function bind(client: pg.Client): void {
  const wire = client as unknown as Wire;
  const { connection } = wire;
  let isOffered = false;
  const refuse = (): void => {
    connection.emit('error', refusal());
    connection.stream.destroy();
  };
  // Before pg's own listeners, which it adds as it connects: what they then write goes nowhere.
  connection.on('authenticationCleartextPassword', refuse);
  connection.on('authenticationMD5Password', refuse);
  connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: readonly string[] }) => {
    isOffered = mechanisms.includes('SCRAM-SHA-256-PLUS');
    if (!isOffered) refuse();
  });
  connection.on('authenticationOk', () => {
    // Null once pg has found the server's own proof right.
    if (!isOffered || wire.saslSession !== null) refuse();
  });
}

/**
 * pg takes from PGSSLMODE, PGOPTIONS, PGREPLICATION and their like what it is not told, as it makes a client and at no
 * other time. They may be meant for another server than the one in the address, such as the embedded one. Telling it
 * all would not do: `options` and `replication` are taken from there wherever they are empty, and would be sent. Only what
 * JavaScript sees is changed: to unset a variable while another thread looks up a host may end the process.
 */
function withoutPgVariables<T>(make: () => T): T {
  const { env } = process;
  process.env = {};
  try {
    return make();
  } finally {
    process.env = env;
  }
}

/** As the class that pools make their connections of; called with `new`. */
export const Client = function (config: pg.ClientConfig) {
  const client = withoutPgVariables(() => new pg.Client(config));
  if (config.enableChannelBinding === true) bind(client);
  return client;
} as unknown as typeof pg.Client;

/** The way to the database as this side sees it. */
type ConnectionFound = {
  /** Null without TLS. */
  tls: { protocol: string; isChecked: boolean } | null;
  /** It does not leave this machine, as far as can be seen from here. */
  isHere: boolean;
  /** `pooler`: one that pools sessions, or transactions unseen. */
  pooler: 'none' | 'transactions' | 'pooler';
};

/** Takes two connections of the pool for a moment. */
export async function inspectConnection(pool: pg.Pool): Promise<ConnectionFound> {
  const first = await pool.connect();
  let second: pg.PoolClient | undefined;
  try {
    second = await pool.connect();
    const { connection, processID } = first as unknown as Wire;
    const { stream } = connection;
    const [one, other] = [await backendOf(first), await backendOf(second)];
    // A pooler gives its clients numbers of its own; one that pools transactions gives the next one who is free.
    const seen = one === other ? 'transactions' : 'pooler';
    return {
      tls:
        stream instanceof TLSSocket
          ? { protocol: stream.getProtocol() ?? 'TLS', isChecked: stream.authorized }
          : null,
      // A Unix socket has no address.
      isHere: /^(?:undefined|127\..*|::1)$/.test(String(stream.remoteAddress)),
      pooler: one === processID ? 'none' : seen,
    };
  } finally {
    first.release();
    second?.release();
  }
}

async function backendOf(client: pg.PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}
