// `outlast doctor`: looks at everything a sync needs and says of each what is so and what to do. It changes nothing: a
// platform is asked one question, the database only reads.
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { exitCode, isOutlastError } from '../errors.ts';
import { exists } from '../files.ts';
import { silentLog } from '../log.ts';
import { agreeMs } from '../platform/clock.ts';
import { createPlatform } from '../platform/client.ts';
import type { Limiter } from '../platform/platform.ts';
import { UnansweredError } from '../platform/refusal.ts';
import { checkSchema } from '../query/reader.ts';
import type { Environment } from '../settings/environment.ts';
import { readSettings, type ProjectSettings, type Settings } from '../settings/settings.ts';
import { onlyRow, openDb, type Db } from '../store/db.ts';
import { findPackage } from '../store/embedded/binaries.ts';
import { holdsArchive } from '../store/embedded/home.ts';
import { inspectWay } from '../store/way.ts';
import { openStore } from './app.ts';
import { verdictOn } from './exit.ts';
import { formatCount, formatSpan, printJson } from './print.ts';

type State = 'ok' | 'warn' | 'fail';
export type Finding = { about: string; state: State; text: string };
type Tell = (state: State, about: string, text: string) => void;

export const doctorCommand = (command: Command): Command =>
  command.option('--json', 'print the findings as JSON').action(async (flags: { json?: true }) => {
    const findings = await examine(flags.json === true ? () => undefined : printFinding);
    const worst = findings.some(({ state }) => state === 'fail');
    if (flags.json === true) printJson({ findings });
    else
      process.stdout.write(
        `\n${worst ? 'Something keeps Outlast from working.' : 'Outlast can work here.'}\n`,
      );
    process.exitCode = worst ? exitCode.failed : exitCode.done;
  });

const lineOf = ({ about, state, text }: Finding): string =>
  `${state.padEnd(4)}  ${about.padEnd(16)}  ${text.replaceAll('\n', `\n${' '.repeat(24)}`)}`;

export function printFinding(finding: Finding): void {
  process.stdout.write(`${lineOf(finding)}\n`);
}

/** Looks at everything these variables lead to; hands each finding on as it is made, and all of them back. */
export async function examine(
  onFinding: (finding: Finding) => void,
  env?: Environment,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const tell: Tell = (state, about, text) => {
    findings.push({ about, state, text });
    onFinding({ about, state, text });
  };
  tellNode(tell);
  const settings = await settingsOf(tell, env);
  if (settings !== null) await examineAll(settings, tell);
  return findings;
}

async function examineAll(settings: Settings, tell: Tell): Promise<void> {
  await guarded(tell, 'database', () => examineDatabase(settings, tell));
  for (const project of settings.projects) {
    const about = settings.projects.length === 1 ? 'platform' : project.id;
    await guarded(tell, about, () => examinePlatform(project, settings, about, tell));
  }
}

/** What keeps one thing from being looked at is a finding, and the next is looked at all the same. */
async function guarded(tell: Tell, about: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    tell('fail', about, (await verdictOn(error)).text);
  }
}

/** Releases that are tried: package.json names the oldest. */
const triedNode = ['20', '22', '24'];

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

async function examineDatabase(settings: Settings, tell: Tell): Promise<void> {
  const { database } = settings;
  if (database.kind === 'embedded') {
    const isThere = await holdsArchive(database.dataDir);
    await findPackage();
    await tellRoom(database.dataDir, tell);
    if (!isThere) {
      tell('ok', 'database', `embedded, none in ${database.dataDir} yet: the first sync makes it`);
      return;
    }
  }
  const store = await openStore(database, silentLog());
  try {
    const { connectionString } = store;
    const db = await openDb({ connectionString, isReadOnly: true, max: 2, log: silentLog() });
    try {
      await tellServer(db, store.isEmbedded, tell);
      if (!store.isEmbedded) await tellWay(db, new URL(connectionString).hostname, tell);
      await tellSchema(db, tell);
    } finally {
      await db.close();
    }
  } finally {
    await store.close();
  }
}

type Server = {
  version: string;
  standby: boolean;
  mayCreate: boolean;
  bytes: number;
  nowMs: number;
};

async function tellServer(db: Db, isEmbedded: boolean, tell: Tell): Promise<void> {
  const begun = Date.now();
  const server = onlyRow(
    await db.query<Server>(
      `select current_setting('server_version') as version, pg_is_in_recovery() as standby,
              has_database_privilege(session_user, current_database(), 'create') as "mayCreate",
              pg_database_size(current_database())::float8 as bytes,
              extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"`,
    ),
  );
  const tookMs = Date.now() - begun;
  const kind = isEmbedded ? 'embedded ' : '';
  tell(
    'ok',
    'database',
    `${kind}PostgreSQL ${server.version}, ${megabytes(server.bytes)}, answers in ${tookMs} ms`,
  );
  if (server.standby) {
    tell(
      'fail',
      'database',
      'a standby takes no writing: point DATABASE_URL at the primary, and OUTLAST_READ_DATABASE_URL here',
    );
  }
  const offMs = Math.abs(server.nowMs - (begun + tookMs / 2));
  if (offMs > agreeMs + tookMs) {
    tell(
      'warn',
      'clock',
      `the database’s clock and this machine’s differ by ${formatSpan(offMs)}: set the wrong one right`,
    );
  }
  if (!server.mayCreate) {
    tell(
      'warn',
      'rights',
      'the database user may not create schemas: let the owner run `outlast migrate` before each new release',
    );
  }
}

async function tellWay(db: Db, host: string, tell: Tell): Promise<void> {
  const { tls, pooler } = await inspectWay(db);
  if (tls !== null) {
    const checked = tls.isChecked ? 'the certificate is checked' : 'the certificate is not checked';
    tell('ok', 'TLS', `${tls.protocol}, ${checked}`);
  } else if (isHere(host)) tell('ok', 'TLS', 'none, on this machine');
  else {
    tell(
      'warn',
      'TLS',
      'none: what is archived passes the network unencrypted. Ask for it with sslmode=verify-full in DATABASE_URL',
    );
  }
  if (pooler === 'none') tell('ok', 'pooler', 'none in front of the database');
  else {
    const pools = pooler === 'transactions' ? 'transactions' : 'sessions, or transactions';
    tell('ok', 'pooler', `one stands in front of the database and pools ${pools}: both are fine`);
  }
}

const isHere = (host: string): boolean =>
  host === '' ||
  host === 'localhost' ||
  host === '[::1]' ||
  host.startsWith('127.') ||
  /^%2f/i.test(host);

async function tellSchema(db: Db, tell: Tell): Promise<void> {
  try {
    await checkSchema(db);
    tell('ok', 'schema', 'of this release');
    await tellGrowth(db, tell);
  } catch (error) {
    if (isOutlastError(error, 'schema_missing')) {
      tell('ok', 'schema', 'none yet: the first sync makes it');
      return;
    }
    if (isOutlastError(error, 'schema_older')) {
      tell('ok', 'schema', 'of an earlier release: the next sync brings it up to date');
      return;
    }
    throw error;
  }
  if (db.role === null) {
    tell(
      'warn',
      'rights',
      'nothing keeps this database user from deleting what is archived: `outlast migrate` prints the SQL for an administrator',
    );
  } else tell('ok', 'rights', `statements run as ${db.role}, which cannot delete what is archived`);
}

/** Enough for years of most archives; less is worth a thought. */
const littleBytes = 5e9;

async function tellRoom(dataDir: string, tell: Tell): Promise<void> {
  let folder = resolve(dataDir);
  // Ends: the root is there.
  while (!(await exists(folder))) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const text = `${megabytes(free)} free for ${dataDir}`;
  const advice = ': an order takes about 1 KB with its indexes and proofs';
  tell(free < littleBytes ? 'warn' : 'ok', 'disk', free < littleBytes ? text + advice : text);
}

/** What the disk of the database has to take. Nothing is said of an archive without a record. */
async function tellGrowth(db: Db, tell: Tell): Promise<void> {
  const { bytes } = onlyRow(
    await db.query<{ bytes: number | null }>(
      `select (pg_database_size(current_database()) / nullif(sum(shown_total), 0)
               * sum(shown_total) filter (where day > current_date - 31 and day < current_date))::float8 as bytes
         from sync.slices`,
    ),
  );
  if (bytes === null) return;
  tell('ok', 'growth', `the last 30 days take about ${megabytes(bytes)} of the database`);
}

const megabytes = (bytes: number): string => `${formatCount(Math.round(bytes / 1e6))} MB`;

/** Two questions are no burden, and the database that counts them may not be there. */
const unlimited: Limiter = { permit: async () => undefined, pause: async () => undefined };

async function examinePlatform(
  project: ProjectSettings,
  settings: Settings,
  about: string,
  tell: Tell,
): Promise<void> {
  const platform = createPlatform({
    baseUrl: project.baseUrl,
    apiKey: project.apiKey,
    apiSecret: project.apiSecret,
    timeoutMs: settings.timeoutMs,
    limiter: unlimited,
    maxAttempts: 2,
    log: silentLog(),
  });
  try {
    const begun = performance.now();
    const { total } = await platform.orders({ limit: 1, sortBy: 'DATE_DESC', countTotal: true });
    const took = Math.round(performance.now() - begun);
    const shown = total === null ? 'and gives no totals' : `and shows ${formatCount(total)} orders`;
    tell('ok', about, `${project.baseUrl} takes the key, answers in ${took} ms, ${shown}`);
    const date = platform.clock.lastDate();
    if (date === null)
      tell(
        'warn',
        'clock',
        'the platform’s answers carry no usable Date: only this machine’s clock tells the time',
      );
    else tellClock(Date.now() - date, tell);
  } catch (error) {
    if (!(error instanceof UnansweredError) || error.status !== 404) throw error;
    tell(
      'fail',
      about,
      `${project.baseUrl} knows no list of orders (404): check the address and its path`,
    );
  } finally {
    await platform.close();
  }
}

function tellClock(aheadMs: number, tell: Tell): void {
  // A Date has whole seconds, and the answer took its time.
  if (Math.abs(aheadMs) <= agreeMs)
    tell('ok', 'clock', 'this machine’s agrees with the platform’s');
  else {
    const which = aheadMs > 0 ? 'ahead of' : 'behind';
    tell(
      'warn',
      'clock',
      `this machine’s is ${formatSpan(Math.abs(aheadMs))} ${which} the platform’s: while they disagree nothing is sealed, final or lost. Set it right`,
    );
  }
}
