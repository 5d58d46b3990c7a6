// `outlast status --probe`: asks the platform how it reads what its document leaves open, now and not only once a day.
import { exitCode } from '../errors.ts';
import { readSettings } from '../settings/settings.ts';
import { makeContact } from '../sync/contact/contact.ts';
import { configuredProjects, openMigrated, withStore } from './app.ts';
import { createWorker } from './create-workers.ts';
import { olderOffers } from './fact-lines.ts';
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
  const wanted = configuredProjects(settings, project);
  const stop = stopOnSignals();
  const learned: Learned[] = [];
  await withStore(openMigrated, settings, async ({ db, log }) => {
    for (const project of wanted) {
      const worker = createWorker(project, settings, db, log);
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
  }).finally(() => stop.close());
  return learned;
}
