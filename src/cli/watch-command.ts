// `outlast watch`: enters operations whose results are to be asked for, for there is no list of them. Asks the platform
// nothing: the next sync does, or `outlast start` within a minute.
import { readFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { addDays, dayOf, windowAt } from '../day.ts';
import { causeChain, settingsError } from '../errors.ts';
import {
  apiVersions,
  type ApiVersion,
  type Day,
  type Instant,
  type NewOperation,
  type Watched,
} from '../model.ts';
import { day } from '../query/arguments.ts';
import { readSettings } from '../settings/settings.ts';
import { checkNewOperations, watchOperations } from '../store/operations/watch-operations.ts';
import { isAnyOpen } from '../store/operations/watched.ts';
import { projectIds } from '../store/projects.ts';
import { oneProject, openMigrated, refuseMissingArchive, withStore } from './open-store.ts';
import { readOptions } from './command-options.ts';
import { formatCount, print, printJson } from './print.ts';

type WatchFlags = {
  file?: string;
  project?: string;
  createdOn?: Day;
  apiVersion?: ApiVersion;
  json?: true;
};

export const watchCommand = (command: Command): Command =>
  command
    .argument('[id...]', 'operation ids, as their caller chose them')
    .option('--file <path>', 'a file with an id a line; - reads them from stdin')
    .option('--project <name>', 'the project they belong to, where there are several')
    .option('--created-on <day>', 'the day they were begun, yyyy-MM-dd (UTC)')
    .addOption(
      new Option('--api-version <name>', 'only this lookup; both unless given').choices(
        apiVersions,
      ),
    )
    .option('--json', 'print what was entered as JSON')
    .action(async (ids: string[], flags: WatchFlags) => {
      const operations = readOperations(ids, flags);
      checkNewOperations(operations);
      const settings = readSettings({ needs: 'database' });
      await refuseMissingArchive(
        settings.database,
        'There is no archive to put the operations into',
      );
      await withStore(openMigrated, settings, async ({ db }) => {
        const project = oneProject(await projectIds(db), flags.project);
        const watched = await watchOperations(db, project, operations);
        if (flags.json === true) printJson({ project_id: project, ...watched });
        else {
          const isOpen = await isAnyOpen(db, project, operations);
          const odd = oddText(operations[0]?.createdOn, isOpen, Date.now());
          print(sentenceOf(project, watched) + odd);
        }
      });
    });

function sentenceOf(project: string, { given, added, changed }: Watched): string {
  const known = given - added;
  const put = changed === 0 ? '' : `, and ${formatCount(changed)} of them changed by this`;
  const rest =
    known === 0 ? '' : `; ${formatCount(known)} of those given were watched before${put}`;
  const more = added === 1 ? '1 more operation is' : `${formatCount(added)} more operations are`;
  return `${project}: ${more} watched${rest}.`;
}

/** What is to be expected of a day outside the window and the days to come, by this machine's clock. */
function oddText(createdOn: Day | undefined, isOpen: boolean, now: Instant): string {
  if (createdOn === undefined) return '';
  const putRight = 'If the day is mistyped, type this again with the right one.';
  const { from } = windowAt(now);
  if (createdOn < from) {
    // What is done stays done.
    if (!isOpen) return '';
    return `\n${createdOn} has left the platform's window, which begins on ${from}: unless it still answers, \`outlast status\` will name them as lost. ${putRight}`;
  }
  if (createdOn > addDays(dayOf(now), 31)) {
    return `\n${createdOn} is more than a month ahead: it counts as not given. ${putRight}`;
  }
  // A day ahead may be another clock's.
  return createdOn > addDays(dayOf(now), 1) ? `\n${createdOn} has not begun yet. ${putRight}` : '';
}

function readOperations(ids: string[], flags: WatchFlags): NewOperation[] {
  const { apiVersion, file } = flags;
  const createdOn = readOptions({ createdOn: day }, flags);
  const given = [...ids, ...(file === undefined ? [] : readLines(file))];
  return given.map((operationId) => ({
    operationId,
    ...createdOn,
    ...(apiVersion === undefined ? {} : { apiVersion }),
  }));
}

/** The lines of a file that are not blank, without the blanks around them. */
function readLines(file: string): string[] {
  try {
    const text = readFileSync(file === '-' ? 0 : file, 'utf8').replace(/^\ufeff/, '');
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  } catch (error) {
    throw settingsError('bad_file', `--file cannot be read: ${causeChain(error)}.`);
  }
}
