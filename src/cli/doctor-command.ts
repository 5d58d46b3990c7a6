// `outlast doctor`: looks at everything that a sync and `start` need and says of each what is so and what to do. It
// leaves nothing behind: a platform is asked for one order and one class, what a sync does to the database is taken
// back, a port is given back, and what is written to a folder or an export's place is removed.
import { open, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { codeOf, exitCode } from '../errors.ts';
import { ifThere, nearestFolder, tryFolder } from '../files.ts';
import { silentLog } from '../log.ts';
import { agreeMs } from '../platform/clock.ts';
import { createPlatform } from '../platform/client.ts';
import type { Limiter, Platform } from '../platform/platform.ts';
import { refusalOf, UnansweredError } from '../platform/refusal.ts';
import type { Environment } from '../settings/environment.ts';
import { readSettings, type ProjectSettings, type Settings } from '../settings/settings.ts';
import { checkPrograms, findPackage } from '../store/embedded/programs.ts';
import { checkDataDir, holdsArchive } from '../store/embedded/home.ts';
import { archivedLists } from '../sync/enter-days.ts';
import { headsName } from '../verify/publish-heads.ts';
import { closing, openStore } from './open-store.ts';
import { exportFound, portFound, readersFound } from './start-needs.ts';
import {
  examineReplica,
  examineServer,
  type ArchiveIdentity,
  type State,
  type Tell,
} from './doctor-database.ts';
import { verdictOn } from './exit.ts';
import {
  formatCount,
  formatMegabytes,
  formatSpan,
  painted,
  print,
  printJson,
  screenWidth,
  typeable,
  wrapped,
} from './print.ts';

export type DoctorFinding = { about: string; state: State; text: string };

export const doctorCommand = (command: Command): Command =>
  command.option('--json', 'print the findings as JSON').action(async (flags: { json?: true }) => {
    const findings = await examine(flags.json === true ? () => undefined : printFinding);
    const worst = findings.some(({ state }) => state === 'fail');
    if (flags.json === true) printJson({ findings });
    else print(`\n${worst ? 'Something keeps Outlast from working.' : 'Outlast can work here.'}`);
    process.exitCode = worst ? exitCode.failed : exitCode.done;
  });

const paints = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** The state, what it is about, and the text in a column of its own. */
export function printFinding({ about, state, text }: DoctorFinding): void {
  const left = `${state.padEnd(4)}  ${about.padEnd(16)}  `;
  const lines = wrapped(typeable(text), screenWidth() - left.length).split('\n');
  const shown = lines.join(`\n${' '.repeat(left.length)}`);
  process.stdout.write(`${painted(paints[state], left.slice(0, 4))}${left.slice(4)}${shown}\n`);
}

/** Looks at everything these variables lead to; hands each finding on as it is made, and all of them back. */
export async function examine(
  onFinding: (finding: DoctorFinding) => void,
  env?: Environment,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  const tell: Tell = (state, about, text) => {
    findings.push({ about, state, text });
    onFinding({ about, state, text });
  };
  tellNode(tell);
  const settings = await settingsOf(tell, env);
  if (settings !== null) await examineAll(settings, tell);
  return findings;
}

/**
 * What keeps the platform's address, the key or the database from being used, in sentences; the others may be unset.
 */
export async function failuresOf(
  part: 'address' | 'key' | 'database',
  env: Environment,
): Promise<string[]> {
  const failures: string[] = [];
  const tell: Tell = (state, _about, text) => {
    if (state === 'fail') failures.push(text);
  };
  await guarded(tell, part, async () => {
    if (part === 'database') {
      await examineDatabase(readSettings({ needs: 'database' }, env), tell);
      return;
    }
    const nobody = { OUTLAST_API_KEY: 'nobody', OUTLAST_API_SECRET: 'nobody' };
    const settings = readSettings(
      { needs: 'platform' },
      part === 'key' ? env : { OUTLAST_BASE_URL: env['OUTLAST_BASE_URL'], ...nobody },
    );
    for (const project of settings.projects) {
      if (part === 'key') await examinePlatform(project, settings, part, tell);
      else await examineAddress(project, settings);
    }
  });
  return failures;
}

/** Throws unless somebody answers there; that a key is refused is an answer. */
const examineAddress = (project: ProjectSettings, settings: Settings): Promise<unknown> =>
  closing((keep) =>
    keep(platformOf(project, settings))
      .page({ resource: 'orders', limit: 1, sortBy: 'DATE_DESC' })
      .catch((error: unknown) => {
        if (refusalOf(error) === null) throw error;
      }),
  );

async function examineAll(settings: Settings, tell: Tell): Promise<void> {
  const { database, readDatabase, certificatesDir, headsDir, projects, proxies } = settings;
  if (proxies !== null) tell('ok', 'proxy', proxies);
  let held: ArchiveIdentity | null = null;
  await guarded(tell, 'database', async () => {
    held = await examineDatabase(settings, tell);
  });
  if (readDatabase !== database) {
    await guarded(tell, 'replica', async () => {
      await examineReplica(await openStore(readDatabase, silentLog()), held, tell);
    });
  }
  if (projects.length > 0) {
    await guarded(tell, 'readers', async () => readersFound(settings));
    await guarded(tell, 'export', () => exportFound(settings));
    await guarded(tell, 'HTTP', () => portFound(settings, tell));
  }
  const ids = projects.map(({ id }) => id);
  await tellFolder('OUTLAST_CERTIFICATES_DIR', certificatesDir, ids, tell);
  if (headsDir !== null) await tellFolder('OUTLAST_HEADS_DIR', headsDir, ids.map(headsName), tell);
  for (const project of projects) {
    const about = projects.length === 1 ? 'platform' : project.id;
    await guarded(tell, about, () => examinePlatform(project, settings, about, tell));
  }
}

/**
 * What the work throws is a finding, and the next thing is looked at all the same. A text that it returns is a finding
 * that all is well.
 */
async function guarded(
  tell: Tell,
  about: string,
  work: () => Promise<string | null | void>,
): Promise<void> {
  try {
    const found = await work();
    if (typeof found === 'string') tell('ok', about, found);
  } catch (error) {
    // Whoever holds a lock just now keeps a sync waiting, not from working.
    const state = codeOf(error) === 'database_busy' ? 'warn' : 'fail';
    tell(state, about, (await verdictOn(error)).text);
  }
}

/** Releases that are tried: package.json names the oldest. */
const triedNode = ['20', '22', '24', '26'];

function tellNode(tell: Tell): void {
  const [major = ''] = process.versions.node.split('.');
  const isTried = triedNode.includes(major);
  const tried = `it is tried with ${triedNode.join(', ')}`;
  tell(isTried ? 'ok' : 'warn', 'node', `${process.versions.node}${isTried ? '' : `: ${tried}`}`);
}

/** With the platform's settings where they are right, else without. */
async function settingsOf(tell: Tell, env?: Environment): Promise<Settings | null> {
  try {
    const settings = readSettings({ needs: 'platform' }, env);
    const names = settings.projects.map(({ id }) => id).join(', ');
    tell('ok', 'settings', `${settings.projects.length === 1 ? 'project' : 'projects'} ${names}`);
    return settings;
  } catch (error) {
    tell('fail', 'settings', (await verdictOn(error)).text);
  }
  try {
    return readSettings({ needs: 'database' }, env);
  } catch {
    // Told above, with all other mistakes.
    return null;
  }
}

async function examineDatabase(
  { database }: Settings,
  tell: Tell,
): Promise<ArchiveIdentity | null> {
  if (database.kind === 'embedded') {
    const isThere = await holdsArchive(database.dataDir);
    await checkPrograms(await findPackage());
    await tellRoom(database.dataDir, tell);
    if (!isThere) {
      await checkDataDir(database.dataDir);
      tell('ok', 'database', `embedded, none in ${database.dataDir} yet: the first sync makes it`);
      return null;
    }
  }
  return closing(async (keep) => examineServer(keep(await openStore(database, silentLog())), tell));
}

/** Whether a folder, and what a sync adds to in it, can be written, by writing there; said only where it cannot. */
async function tellFolder(
  setting: string,
  folder: string,
  inside: string[],
  tell: Tell,
): Promise<void> {
  let path = folder;
  try {
    await tryFolder(folder);
    for (const name of inside) {
      path = join(folder, name);
      const there = await ifThere(stat(path));
      if (there?.isDirectory() === true) await tryFolder(path);
      else if (there !== null) await (await open(path, 'a')).close();
    }
  } catch (error) {
    tell(
      'fail',
      'folders',
      `${path} cannot be written (${codeOf(error) ?? 'unknown'}): give this user the right to, or set ${setting} to a folder of its own`,
    );
  }
}

/** Enough for years of most archives; less is worth a thought. */
const littleBytes = 5e9;

async function tellRoom(dataDir: string, tell: Tell): Promise<void> {
  const { bavail, bsize } = await statfs(await nearestFolder(dataDir));
  const free = bavail * bsize;
  const text = `${formatMegabytes(free)} free for ${dataDir}`;
  const advice = ': an order takes about 1 KB with its indexes and proofs';
  tell(free < littleBytes ? 'warn' : 'ok', 'disk', free < littleBytes ? text + advice : text);
}

/** Three questions are no burden, and the database that counts them may not be there. */
const unlimited: Limiter = { permit: async () => undefined, pause: async () => undefined };

const platformOf = (
  { baseUrl, apiKey, apiSecret }: ProjectSettings,
  { timeoutMs }: Settings,
): Platform =>
  createPlatform({
    baseUrl,
    apiKey,
    apiSecret,
    timeoutMs,
    limiter: unlimited,
    maxAttempts: 2,
    log: silentLog(),
  });

const listNames = { orders: 'orders', nft_classes: 'NFT classes' };

const examinePlatform = (
  project: ProjectSettings,
  settings: Settings,
  about: string,
  tell: Tell,
): Promise<void> =>
  closing(async (keep) => {
    const platform = keep(platformOf(project, settings));
    const { baseUrl } = project;
    const lists = archivedLists(project);
    const shown: string[] = [];
    const failures: string[] = [];
    const begun = performance.now();
    // Each list by itself: of two, one may be refused or out of order.
    for (const resource of lists) {
      const list = listNames[resource];
      try {
        const query = { resource, limit: 1, sortBy: 'DATE_DESC', countTotal: true } as const;
        const { total } = await platform.page(query);
        shown.push(total === null ? `${list} without a total` : `${formatCount(total)} ${list}`);
      } catch (error) {
        const isThere = !(error instanceof UnansweredError) || error.status !== 404;
        const advice = `check the address and its path, or set this list to "none" (OUTLAST_PROJECTS_FILE) if there is none`;
        const none = `${baseUrl} knows no list of ${list} (404): ${advice}`;
        failures.push(isThere ? (await verdictOn(error)).text : none);
      }
    }
    const took = Math.round((performance.now() - begun) / Math.max(1, lists.length));
    if (shown.length > 0) {
      const says = `takes the key, answers in ${took} ms, and shows ${shown.join(' and ')}`;
      tell('ok', about, `${baseUrl} ${says}`);
    }
    for (const text of failures) tell('fail', about, text);
    const date = platform.clock.lastDate();
    if (date !== null) tellClock(Date.now() - date, tell);
    else if (shown.length > 0) {
      tell(
        'warn',
        'clock',
        'the platform’s answers carry no usable Date: days are read, and nothing is sealed, final or lost',
      );
    }
  });

function tellClock(aheadMs: number, tell: Tell): void {
  // A Date has whole seconds, and the answer took its time.
  if (Math.abs(aheadMs) <= agreeMs)
    tell('ok', 'clock', 'this machine’s agrees with the platform’s');
  else {
    const which = aheadMs > 0 ? 'ahead of' : 'behind';
    tell(
      'warn',
      'clock',
      `this machine’s is ${formatSpan(Math.abs(aheadMs))} ${which} the platform’s: while they disagree no day is proved, and none is final or lost before both say that its month is gone. Set the wrong one right`,
    );
  }
}
