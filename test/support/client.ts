// Connections of nobody in particular, for what a test asks or does behind Outlast's back. Needs no test runner.
import pg from 'pg';

/** Works on a connection of its own. A server that goes down is told by the statement in flight. */
export async function withClient<T>(
  connection: string | pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** As an auditor or a BI tool connects: it may read, in whatever zone. The caller ends it. */
export async function connectReader(connectionString: string, zone = 'UTC'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`set role outlast_reader; set timezone = '${zone}'`);
  return client;
}

/** What a statement returns. */
export const queryAt = <R extends Record<string, unknown> = Record<string, unknown>>(
  connection: string | pg.ClientConfig,
  sql: string,
  parameters: unknown[] = [],
): Promise<R[]> =>
  withClient(connection, async (client) => (await client.query<R>(sql, parameters)).rows);
