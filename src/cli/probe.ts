// `outlast probe`: asks the platform how it reads what its document leaves open, now and not only once a day.
import type { Command } from 'commander';
import { exitCode } from '../errors.ts';
import { readSettings } from '../settings/settings.ts';
import { makeContact } from '../sync/contact/contact.ts';
import { openMigrated } from './app.ts';
import { createWorker } from './create-workers.ts';
import { olderOffers } from './facts.ts';
import { openLog } from './log-lines.ts';
import { print, printError, printJson, printTable } from './print.ts';
import { stopOnSignals } from './signals.ts';

type Learned = { project: string; facts: Record<string, string> };

export const probeCommand = (command: Command): Command =>
  command.option('--json', 'print the facts as JSON').action(async (flags: { json?: true }) => {
    const learned = await probeAll();
    if (flags.json === true) printJson({ projects: learned });
    else {
      printTable(
        ['project', 'fact', 'value'],
        learned.flatMap(({ project, facts }) =>
          Object.entries(facts).map(([fact, value]) => [project, fact, value]),
        ),
      );
      for (const offer of learned.flatMap(({ facts }) => olderOffers(facts))) {
        print(`\n${offer}`);
      }
    }
    process.exitCode ??= exitCode.done;
  });

/** One project after the other. A list that does not answer is named, and the other one is probed all the same. */
async function probeAll(): Promise<Learned[]> {
  const settings = readSettings({ needs: 'platform' });
  const log = openLog(settings.logLevel);
  const stop = stopOnSignals();
  const archive = await openMigrated(settings, log);
  const learned: Learned[] = [];
  try {
    for (const project of settings.projects) {
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
