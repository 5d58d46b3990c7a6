// One statement as a transaction of its own, in one round trip: `begin`, what the transaction names, the statement and
// `commit` go out together under one Sync. Where any of them fails, Postgres passes over all that follow: the statement
// never runs without what comes before it.
import pg from 'pg';
import type { Row } from './db.ts';

/** What pg's client calls of a query; its types leave most of it out. */
type Handlers = {
  submit(connection: pg.Connection): unknown;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleEmptyQuery(connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
  handleError(error: unknown, connection: pg.Connection): void;
};

export type Statement = { text: string; values: unknown[]; types: pg.CustomTypesConfig };

type QueryWithCallback = new (
  config: Statement & { queryMode: 'extended' },
  values: undefined,
  callback: (error: Error | null, result: unknown) => void,
) => Handlers;

/**
 * `steps` come before it, one command each, and return nothing to anybody. After an error the transaction is still open
 * and failed: the caller rolls back.
 */
export function runSingle<R extends Row>(
  client: pg.ClientBase,
  steps: readonly string[],
  statement: Statement,
): Promise<pg.QueryResult<R>> {
  return new Promise((resolve, reject) => {
    // pg's own query reads the answer; it is shown what belongs to the statement.
    const query = new (pg.Query as unknown as QueryWithCallback)(
      { ...statement, queryMode: 'extended' },
      undefined,
      (error, result) => {
        if (error === null) resolve(result as pg.QueryResult<R>);
        else reject(error);
      },
    );
    let done = 0;
    const isItsTurn = (): boolean => done === steps.length;
    const chained: pg.Submittable & Record<keyof Handlers, unknown> & Record<string, unknown> = {
      submit: (connection: pg.Connection) => {
        connection.stream.cork();
        try {
          for (const step of steps) sendStep(connection, step);
          query.submit(withoutSync(connection));
          sendStep(connection, 'commit');
          connection.sync();
        } finally {
          connection.stream.uncork();
        }
      },
      handleRowDescription: (message: unknown) => query.handleRowDescription(message),
      handleDataRow: (message: unknown) => {
        if (isItsTurn()) query.handleDataRow(message);
      },
      handleCommandComplete: (message: unknown, connection: pg.Connection) => {
        if (isItsTurn()) query.handleCommandComplete(message, connection);
        done += 1;
      },
      handleEmptyQuery: () => {
        done += 1;
      },
      handleReadyForQuery: (connection: pg.Connection) => query.handleReadyForQuery(connection),
      handleError: (error: unknown, connection: pg.Connection) =>
        query.handleError(error, connection),
    };
    client.query(chained);
  });
}

function sendStep(connection: pg.Connection, text: string): void {
  connection.parse({ text, name: '', types: [] }, true);
  connection.bind({}, true);
  connection.execute(null, true);
}

/** The connection as pg's query is to see it: what it sends is not yet the end. */
function withoutSync(connection: pg.Connection): pg.Connection {
  return Object.create(connection, { sync: { value: () => undefined } }) as pg.Connection;
}
