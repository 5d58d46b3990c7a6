// Who may log in: one user, whose password lies in a file (0600) of the home. A lost file locks nobody out
// of the only copy of their data: the next start gives the user a new one.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { settingsError } from '../../errors.ts';
import { textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import { accountIds, serverEnvironment, writeFor } from './account.ts';
import type { Binaries } from './binaries.ts';
import type { Home } from './home.ts';

const exec = promisify(execFile);

export const user = 'outlast';
export const workDatabase = 'outlast';

export const passwordPath = (home: Home): string => join(home.folder, 'password');

/** The address of a database of the home's server. It carries the password: never log it (P10). */
export async function addressOf(home: Home, port: number, database: string): Promise<string> {
  const password = await findPassword(home);
  if (password === null) {
    throw settingsError(
      'embedded_password_wrong',
      `The file ${passwordPath(home)} is missing while the embedded Postgres runs. Put it back, or stop the server (pg_ctl stop, or end its process): the next start makes a new one.`,
    );
  }
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}

/** Makes the file unless it is there. */
export async function makePassword(home: Home): Promise<void> {
  if ((await findPassword(home)) !== null) return;
  await writeFor(home.account, passwordPath(home), `${randomBytes(18).toString('base64url')}\n`);
}

async function findPassword(home: Home): Promise<string | null> {
  const text = (await textOfFile(passwordPath(home)))?.trim() ?? '';
  return text === '' ? null : text;
}

/** Makes a lost file anew and tells the cluster. Only while no server runs, under the home's lock. */
export async function restorePassword(home: Home, binaries: Binaries, log: Log): Promise<void> {
  if ((await findPassword(home)) !== null) return;
  const password = randomBytes(18).toString('base64url');
  const single = exec(binaries.postgres, ['--single', '-D', home.pgdata, 'postgres'], {
    ...accountIds(home.account),
    cwd: home.folder,
    env: serverEnvironment(),
  });
  // P10: by standard input, never in a command line. The file comes last: killed before, we do it again.
  single.child.stdin?.end(`alter role ${user} password '${password}'\n`);
  await single;
  await writeFor(home.account, passwordPath(home), `${password}\n`);
  log.warn({ file: passwordPath(home) }, 'The password file was missing: a new password was made');
}
