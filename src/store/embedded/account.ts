// Who runs the server. Postgres refuses to run as root, so root hands it to another user: the owner of
// the data folder if that is not root, else `postgres`, else `nobody`. Everyone else runs it themselves.
import { execFile } from 'node:child_process';
import { chown, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, settingsError } from '../../errors.ts';
import { textOfFile, writeWhole } from '../../files.ts';

const exec = promisify(execFile);

/** Null: the server runs as we do. */
export type Account = { uid: number; gid: number; name: string } | null;

/**
 * The account for a data folder that exists or is about to be made.
 * Throws settings `embedded_no_account` when root has nobody to hand the server to.
 */
export async function accountFor(folder: string): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  const users = await knownUsers();
  const owner = await nearestOwner(folder);
  const user =
    // initdb wants a user with a name; a nameless owner (a container's volume) is passed over.
    (owner === 0 ? undefined : users.find(({ uid }) => uid === owner)) ??
    users.find(({ name, uid }) => name === 'postgres' && uid !== 0) ??
    users.find(({ name, uid }) => name === 'nobody' && uid !== 0);
  if (user !== undefined) return user;
  throw settingsError(
    'embedded_no_account',
    'The embedded Postgres cannot run as root, and there is no user `postgres` or `nobody` to run it as. Run Outlast as an ordinary user, or set DATABASE_URL.',
  );
}

async function knownUsers(): Promise<NonNullable<Account>[]> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n');
  return lines
    .map((line) => line.split(':'))
    .filter((parts) => parts.length >= 4 && /^\d+$/.test(parts[2] ?? ''))
    .map(([name, , uid, gid]) => ({ name: name ?? '', uid: Number(uid), gid: Number(gid) }));
}

async function nearestOwner(folder: string): Promise<number> {
  // Ends: every step goes one folder up, and the root exists.
  for (let at = folder; ; at = dirname(at)) {
    try {
      return (await stat(at)).uid;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || at === dirname(at)) throw error;
    }
  }
}

/** Runs a program as the account, with nothing of our environment: a stray PGPORT or secret must not leak in. */
export function runAs(
  account: Account,
  file: string,
  args: string[],
  cwd: string,
): Promise<{ stdout: string; stderr: string }> {
  return exec(file, args, { ...accountIds(account), cwd, env: serverEnvironment() });
}

export function accountIds(account: Account): { uid: number; gid: number } | Record<string, never> {
  return account === null ? {} : { uid: account.uid, gid: account.gid };
}

export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'USERPROFILE'].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]] as const],
  );
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}

/** Whether the account gets into a folder: tried, not computed, so that ACLs and mounts count as well. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  if (account === null) return true;
  try {
    await runAs(account, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder], '/');
    return true;
  } catch {
    return false;
  }
}

export async function giveTo(account: Account, path: string): Promise<void> {
  if (account !== null) await chown(path, account.uid, account.gid);
}

/** A file of the account's, whole or as it was before; only for its owner's eyes. */
export async function writeFor(account: Account, path: string, text: string): Promise<void> {
  if ((await textOfFile(path)) === text) return;
  const fill = async (write: (piece: string) => Promise<void>): Promise<boolean> => {
    await write(text);
    return true;
  };
  // One draft, written over next time: a kill leaves no litter, which may hold a password.
  const draft = `${path}.draft`;
  await writeWhole(path, fill, { mode: 0o600, draft, prepare: () => giveTo(account, draft) });
}
