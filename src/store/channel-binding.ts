// `channel_binding=require` of an address: the login is bound to the TLS connection (SCRAM-SHA-256-PLUS), so that
// nobody in between can pass it on. pg binds where a server offers it, and goes on without where none does.
import pg from 'pg';
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

/** pg's client, for one connection; any other login than a bound one ends it before a password or a proof is sent. */
function boundClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client({ ...config, enableChannelBinding: true });
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
  return client;
}

/** As the class that pools make their connections of; called with `new`. */
export const BoundClient = function (config: pg.ClientConfig) {
  return boundClient(config);
} as unknown as typeof pg.Client;
