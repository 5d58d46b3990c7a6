// What a server must be before anything is written to it: new enough, and able to hold any text and to write. What is
// wrong is told in a sentence.
import type { Socket } from 'node:net';
import type pg from 'pg';
import { settingsError } from '../errors.ts';
import { Client, type Connection } from './pg-client.ts';
import { connectionError, databaseError, hasNoTls, namedIfCut, standby } from './db-errors.ts';
import type { TransactionSettings } from './transaction-settings.ts';

type ServerFound = {
  /** The wanted role where the login may run as it; otherwise null. */
  role: string | null;
  /** What transactions on this server name besides. */
  settings: TransactionSettings;
  /** What every connection is told besides its address: TLS was optional, and the server has none. */
  instead: pg.ClientConfig;
};

/** Connects once to tell a person what is wrong before any work starts. It leaves nothing behind in the connection. */
export async function checkServer(
  config: Connection,
  wanted: { role: string | null; isReadOnly: boolean },
): Promise<ServerFound> {
  const { client, instead } = await connect(config);
  try {
    return { ...judged(await ask(client, wanted.role), wanted), instead };
  } catch (error) {
    // Cut while we asked: as passing a fault as one that was refused.
    throw databaseError(error) ?? namedIfCut(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Nothing here takes a server long; one that takes connections and says nothing would keep every command waiting. */
const answerMs = 30_000;

async function connect(
  config: Connection,
  instead: pg.ClientConfig = {},
): Promise<{ client: pg.Client; instead: pg.ClientConfig }> {
  let client: pg.Client | undefined;
  try {
    client = new Client({ ...config, ...instead, query_timeout: answerMs });
    client.on('error', () => undefined);
    await client.connect();
    return { client, instead };
  } catch (error) {
    // pg gives up for want of a password and leaves the server waiting for one: until then no database is dropped
    // there.
    (
      client as unknown as { connection: { stream: Socket } } | undefined
    )?.connection.stream.destroy();
    if (hasNoTls(error) && config.sslmode === 'prefer') {
      // Whoever has been told of it is not asked again.
      return connect({ ...config, sslmode: 'disable' }, { ssl: false });
    }
    throw connectionError(error);
  }
}

type Server = {
  version: number;
  server: string;
  encoding: string;
  standby: boolean;
  asynchronous: boolean;
  becomes: boolean;
  citus: boolean;
};

/**
 * Whether the login may run as the role with this oid, an expression. From PostgreSQL 16 on not every member may: who
 * creates a role is one that may only admit others.
 */
export const mayBecome = (oid: string): string =>
  `pg_has_role(session_user, ${oid}, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)`;

async function ask(client: pg.Client, role: string | null): Promise<Server | undefined> {
  const { rows } = await client.query<Server>(
    // Of the login itself: in a pooler's connection another client may have left a role behind.
    `select current_setting('server_version_num')::int as version,
            current_setting('server_version') as server,
            current_setting('server_encoding') as encoding,
            pg_is_in_recovery() as standby,
            current_setting('synchronous_commit') = 'off' as asynchronous,
            exists (select from pg_roles where rolname = $1 and ${mayBecome('oid')}) as becomes,
            exists (select from pg_extension where extname = 'citus') as citus`,
    [role],
  );
  if (rows[0]?.citus === true) await refuseWorker(client);
  return rows[0];
}

/** The functions that write the journal are the coordinator's alone. */
async function refuseWorker(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ coordinates: boolean }>(
    'select citus_is_coordinator() as coordinates',
  );
  if (rows[0]?.coordinates === true) return;
  throw settingsError(
    'database_worker',
    'The database is a worker of a Citus cluster: point DATABASE_URL at its coordinator.',
  );
}

function judged(
  server: Server | undefined,
  wanted: { role: string | null; isReadOnly: boolean },
): Omit<ServerFound, 'instead'> {
  if (server === undefined || server.version < 150_000) {
    throw settingsError(
      'database_too_old',
      `The database is PostgreSQL ${server?.server}; Outlast needs 15 or newer. Point DATABASE_URL at a newer server.`,
    );
  }
  if (server.encoding !== 'UTF8') {
    throw settingsError(
      'database_encoding',
      `The database's encoding is ${server.encoding}, which cannot hold every text of a platform. Create one with \`create database outlast encoding 'UTF8' template template0\` and point DATABASE_URL at it.`,
    );
  }
  if (server.standby && !wanted.isReadOnly) throw standby();
  return {
    role: server.becomes ? wanted.role : null,
    settings: {
      // Workers have theirs from the role (distribute.ts): told of one, Citus repeats this whole message, for each.
      ...(server.citus ? { 'citus.propagate_set_commands': 'none' } : {}),
      // P3: what is told as committed is on the disk. Stricter levels than this one are left as they are.
      ...(server.asynchronous && !wanted.isReadOnly ? { synchronous_commit: 'local' } : {}),
      // It ends a transaction that is at work, and came with PostgreSQL 17.
      ...(server.version >= 170_000 ? { transaction_timeout: '0' } : {}),
    },
  };
}
