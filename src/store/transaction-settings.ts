// What every transaction names for itself. Nothing of ours rests on a session: behind a pooler in transaction mode the
// next client would run as our role, and what a server, a database or a login has for defaults is an administrator's.

/** Names of settings and their values, each one word or a list that Postgres splits itself. */
export type TransactionSettings = Readonly<Record<string, string>>;

type TransactionOptions = {
  /** The role to run as; null: as whoever connects, or as that login is told to. */
  role: string | null;
  isReadOnly: boolean;
  settings: TransactionSettings;
};

/** What the answer to a statement, or the meaning of one, depends on. */
export const ourSettings: TransactionSettings = {
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  // Every table of ours is named with its schema.
  search_path: 'pg_catalog',
  // Rows that a policy hides would pass for rows that are not there: with it off such a statement fails.
  row_security: 'off',
  client_min_messages: 'warning',
  // Compiling a plan takes longer than any statement of ours: 0.3 s of every run on a server that does it.
  jit: 'off',
};

/**
 * The commands that open a transaction, as one message. Read committed, where nothing else is asked for: under a
 * stricter default every rival's commit would end a claim. None takes a snapshot, so that the level may still be
 * changed. Together they take 65 µs; as calls of set_config in one statement they take more, and five times that as
 * messages of the extended protocol.
 */
export function beginOf({ role, isReadOnly, settings }: TransactionOptions): string {
  return [
    `begin isolation level read committed, read ${isReadOnly ? 'only' : 'write'}, not deferrable`,
    // The default is what the login began with, whatever another client left behind in a pooler's connection.
    `set local role ${role ?? 'to default'}`,
    ...Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`),
  ].join('; ');
}
