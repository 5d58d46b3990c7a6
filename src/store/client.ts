// pg's client as every connection is made: told everything by its address, and nothing by the environment. The login is
// bound to the TLS connection (SCRAM-SHA-256-PLUS) where the address asks for channel_binding=require, so that nobody in
// between can pass it on; pg binds where a server offers it, and goes on without where none does.
import pg from 'pg';
import { wantsChannelBinding } from '../database-address.ts';
import { settingsError } from '../errors.ts';

/** What pg keeps of a connection and does not type. */
type Wire = {
  connection: NodeJS.EventEmitter & { stream: { destroy(): void } };
  saslSession: unknown;
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
export const Client = function (config: pg.ClientConfig & { connectionString: string }) {
  const isBound = wantsChannelBinding(config.connectionString);
  const client = withoutPgVariables(
    () => new pg.Client({ ...config, enableChannelBinding: isBound }),
  );
  if (isBound) bind(client);
  return client;
} as unknown as typeof pg.Client;
