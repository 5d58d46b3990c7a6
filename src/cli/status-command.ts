// `outlast status`: what the archive holds, how sure it is, and what is due until when. Needs no key.
import { InvalidArgumentError, Option, type Command } from 'commander';
import { currentAddress } from '../database-address.ts';
import { exitCode, settingsError, transient } from '../errors.ts';
import { inSnakeCase } from '../query/record-text.ts';
import { readReplica, type Replica } from '../query/status.ts';
import { checkProxies, readSettings } from '../settings/settings.ts';
import {
  closing,
  configuredProjects,
  openMigrated,
  openToRead,
  withStore,
  type OpenedStore,
  type Store,
} from './open-store.ts';
import { forecastJson } from './forecast-lines.ts';
import { formatSpan, print, printError, printJson, printTable } from './print.ts';
import { untilSignal } from './signals.ts';
import { readStandings } from './standing.ts';
import { configuredIds, notConfigured, printCheck } from './status-check.ts';
import { olderOffers, statusText } from './status-text.ts';

type StatusFlags = {
  project?: string;
  all?: true;
  json?: true;
  check?: true;
  plan?: true;
  rps?: number;
  probe?: true;
  testAlert?: true;
};

export const statusCommand = (command: Command): Command =>
  command
    .option('--project <name>', 'only this project')
    .option(
      '--all',
      'and all the rest: every month in the calendar, what was observed of the platform, the head of the journal, and the address of an embedded PostgreSQL',
    )
    .option('--json', 'print it as JSON')
    .option(
      '--check',
      'print one line for a monitor: exits with 0 if all is well, apart from what was lost more than a day ago, 1 for a warning, 2 if something is at risk, 3 if it cannot tell',
    )
    .addOption(
      new Option(
        '--plan',
        'show instead what will be asked, and whether it fits before the deadlines',
      ).conflicts(['all', 'check', 'probe']),
    )
    .addOption(
      new Option('--rps <number>', '--plan at this many requests a second')
        .argParser(readRate)
        .implies({ plan: true }),
    )
    .addOption(
      new Option(
        '--probe',
        'ask the platform now what limits and totals it gives, and show that instead',
      ).conflicts(['all', 'check']),
    )
    .addOption(
      new Option('--test-alert', 'send the webhook of alerts a test message instead').conflicts([
        'all',
        'check',
        'plan',
        'probe',
      ]),
    )
    .action(async (flags: StatusFlags) => {
      if (flags.testAlert === true) return sendTestAlert(flags);
      if (flags.check === true) return printCheck(flags.project);
      if (flags.plan === true) return (await import('./show-plan.ts')).showPlan(flags);
      if (flags.probe === true) return showProbed(flags);
      const settings = readSettings({ needs: 'database' });
      await withStore(openToRead, settings, async ({ db, store }) => {
        const { standings } = await readStandings(db, flags.project, settings);
        const replica = await readReplica(db);
        if (flags.json === true) {
          printJson({
            replica,
            deleting_is_prevented: db.role !== null,
            projects: standings.map(({ status, forecast }) => ({
              ...status,
              books: status.books.map((one) => inSnakeCase(one)),
              forecast: forecastJson(forecast),
            })),
          });
        } else {
          if (replica !== null) print(`${replicaText(replica)}\n`);
          if (db.role === null) print(`${unprotectedText}\n`);
          print(statusText(standings, flags.all));
          const configured = configuredIds();
          for (const { status } of standings) {
            if (configured?.includes(status.project_id) === false) {
              print(`\nProject ${status.project_id} is ${notConfigured}.`);
            }
          }
          if (store.isEmbedded && flags.all === true) print(whereItIs(store));
        }
      });
    });

/** Requests a second. */
function readRate(text: string): number {
  const rate = Number(text);
  if (!(rate >= 0.01 && rate <= 100_000)) {
    throw new InvalidArgumentError('It must be a number from 0.01 to 100000.');
  }
  return rate;
}

/** P4 as far as the database itself holds it. */
const unprotectedText =
  'UNPROTECTED  Nothing keeps this database user from deleting what is archived. `outlast migrate` prints the SQL for an administrator.';

const replicaText = ({ newest_change_at: at, behind_seconds: seconds }: Replica): string =>
  at === null || seconds === null
    ? 'Read from a replica that has taken no change from its primary since it started.'
    : `Read from a replica: its newest change is of ${at.slice(0, 19).replace('T', ' ')} (UTC), ${formatSpan(seconds * 1000)} ago.`;

/** The embedded database's address, password included: whoever may start it may read it (P10). */
const whereItIs = ({ connectionString }: Store): string =>
  `\nThe embedded PostgreSQL, for psql and BI tools while \`outlast start\` keeps it up:\n  ${currentAddress(connectionString)}`;

/** Sends the webhook a test message. Throws settings `no_webhook`, and transient `webhook_failed`. */
async function sendTestAlert({ json }: StatusFlags): Promise<void> {
  const { webhookUrl: url, format, secret } = readSettings({ needs: 'database' }).alerts;
  if (url === null) {
    throw settingsError(
      'no_webhook',
      'OUTLAST_ALERT_WEBHOOK is not set: give the address that alerts are to be posted to, or the file that holds it as OUTLAST_ALERT_WEBHOOK_FILE.',
    );
  }
  checkProxies();
  const { deliver } = await import('../alert/deliver.ts');
  const { testBody } = await import('../alert/message.ts');
  const problem = await deliver({ url, format, secret, body: testBody(format) });
  if (problem !== null) {
    throw transient('webhook_failed', `The webhook did not take the test message: ${problem}.`);
  }
  if (json === true) printJson({ taken: true });
  else print('The webhook took the test message: look whether it arrived.');
}

type Learned = { project_id: string; facts: Record<string, string> };

/** Asks the platform how it reads what its document leaves open, now and not only once a day. */
async function showProbed(flags: StatusFlags): Promise<void> {
  const learned = await probeAll(flags.project);
  if (flags.json === true) printJson({ projects: learned });
  else {
    printTable(
      ['project', 'fact', 'value'],
      learned.flatMap(({ project_id: project, facts }) =>
        Object.entries(facts).map(([fact, value]) => [project, fact, value]),
      ),
    );
    for (const offer of learned.flatMap(({ facts }) => olderOffers(facts))) print(`\n${offer}`);
  }
  process.exitCode ??= exitCode.done;
}

/** One project after the other. A list that does not answer is named, and the other one is probed all the same. */
async function probeAll(project: string | undefined): Promise<Learned[]> {
  const settings = readSettings({ needs: 'platform' });
  const { makeContact } = await import('../sync/contact/contact.ts');
  const { createWorker } = await import('./create-workers.ts');
  const wanted = configuredProjects(settings, project);
  const learned: Learned[] = [];
  const probe = async ({ db, log }: OpenedStore, signal: AbortSignal): Promise<void> => {
    for (const project of wanted) {
      const how = { signal, acceptNewSource: false, evenIfParked: true, probesNow: true };
      const contacts = await closing((keep) =>
        makeContact({ ...keep(createWorker(project, settings, db, log)), ...how }),
      );
      for (const [list, { problem }] of contacts?.problems ?? []) {
        printError(`${project.id}: ${list}: ${problem}`);
        process.exitCode = exitCode.tryLater;
      }
      const known = [...(contacts?.facts ?? [])]
        .filter(([fact]) => !/\.(?:probed|contact)$/.test(fact))
        .toSorted(([a], [b]) => (a < b ? -1 : 1));
      learned.push({ project_id: project.id, facts: Object.fromEntries(known) });
    }
  };
  await untilSignal((signal) =>
    withStore(openMigrated, settings, (opened) => probe(opened, signal)),
  );
  return learned;
}
