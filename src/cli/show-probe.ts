// `outlast status --probe`: asks the platform how it reads what its document leaves open, now and not only once a day.
import { exitCode, settingsError } from '../errors.ts';
import { readSettings } from '../settings/settings.ts';
import { makeContact } from '../sync/contact/contact.ts';
import { openMigrated } from './app.ts';
import { createWorker } from './create-workers.ts';
import { olderOffers } from './fact-lines.ts';
import { openLog } from './log-lines.ts';
import { print, printError, printJson, printTable } from './print.ts';
import { stopOnSignals } from './signals.ts';

type Learned = { project: string; facts: Record<string, string> };

export async function showProbed(flags: { project?: string; json?: true }): Promise<void> {
  const learned = await probeAll(flags.project);
  if (flags.json === true) printJson({ projects: learned });
  else {
    printTable(
      ['project', 'fact', 'value'],
      learned.flatMap(({ project, facts }) =>
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
  const wanted = settings.projects.filter(({ id }) => project === undefined || id === project);
  if (wanted.length === 0) {
    throw settingsError('unknown_project', `The settings name no project "${project}".`);
  }
  const log = openLog(settings.logLevel);
  const stop = stopOnSignals();
  const archive = await openMigrated(settings, log);
  const learned: Learned[] = [];
  try {
    for (const project of wanted) {
      const worker = createWorker(project, settings, archive.db, log);
      try {
        const contacts = await makeContact({
          ...worker,
          signal: stop.signal,
          acceptNewSource: false,
          evenIfParked: true,
          probesNow: true,
        });
        for (const [list, { problem }] of contacts?.problems ?? []) {
          printError(`${project.id}: ${list}: ${problem}`);
          process.exitCode = exitCode.tryLater;
        }
        const known = [...(contacts?.facts ?? [])]
          .filter(([fact]) => !/\.(?:probed|contact)$/.test(fact))
          .toSorted(([a], [b]) => (a < b ? -1 : 1));
        learned.push({ project: project.id, facts: Object.fromEntries(known) });
      } finally {
        await worker.close();
      }
    }
  } finally {
    await archive.close();
    stop.close();
  }
  return learned;
}
