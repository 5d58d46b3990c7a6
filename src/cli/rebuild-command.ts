// `outlast rebuild`: derives every typed column afresh from what the records say, after the reader of records has
// changed. Needs no key; killed or stopped, it goes on where it was.
import { Option, type Command } from 'commander';
import { exitCode } from '../errors.ts';
import { resources, type Resource } from '../model.ts';
import { inSnakeCase } from '../query/record-text.ts';
import { readSettings } from '../settings/settings.ts';
import type { Db } from '../store/db.ts';
import { countRows } from '../store/read-held.ts';
import { archivedName, archivedOf, type Archived } from '../store/record-tables.ts';
import { rebuild, type Rebuilt } from '../sync/rebuild.ts';
import { openMigrated, wantedProjects, withStore } from './open-store.ts';
import { formatCount, print, printJson, printTable } from './print.ts';
import type { ProgressLine } from './progress.ts';
import { inProgress } from './signals.ts';

type Flags = { project?: string; resource?: Resource; afresh?: true; json?: true };
type ListRebuilt = Archived & Rebuilt;

export const rebuildCommand = (command: Command): Command =>
  command
    .option('--project <name>', 'only this project')
    .addOption(new Option('--resource <name>', 'only this resource').choices(resources))
    .option('--afresh', 'begin at the first record, also where another rebuild was cut off')
    .option('--json', 'print the report as JSON')
    .action(async (flags: Flags) => {
      const settings = readSettings({ needs: 'database' });
      process.exitCode = await inProgress((signal, progress) =>
        withStore(openMigrated, settings, ({ db }) => rebuildAll(db, flags, signal, progress)),
      );
    });

/** Returns the exit code: failed where records do not match their digests, try later where it was stopped. */
async function rebuildAll(
  db: Db,
  flags: Flags,
  signal: AbortSignal,
  progress: ProgressLine,
): Promise<number> {
  const lists: ListRebuilt[] = [];
  const wanted = flags.resource === undefined ? resources : [flags.resource];
  for (const projectId of await wantedProjects(db, flags.project)) {
    for (const of of wanted.flatMap((resource) => archivedOf(projectId, resource))) {
      const all = await countRows(db, of);
      const rebuilt = await rebuild(db, of, {
        signal,
        afresh: flags.afresh === true,
        onProgress: ({ rowsRead, rowsChanged }) =>
          progress.update({
            name: projectId,
            done: rowsRead,
            all,
            unit: archivedName(of),
            more: `${formatCount(rowsChanged)} changed`,
          }),
      });
      lists.push({ ...of, ...rebuilt });
    }
  }
  progress.end();
  if (flags.json === true) printJson({ lists: lists.map((one) => inSnakeCase(one)) });
  else printLists(lists);
  if (lists.some((list) => list.alteredCount > 0)) return exitCode.failed;
  return lists.every((list) => list.done) ? exitCode.done : exitCode.tryLater;
}

function printLists(lists: ListRebuilt[]): void {
  printTable(
    ['project', 'resource', 'records', 'changed', 'rejects returned', 'altered'],
    lists.map((list) => [
      list.projectId,
      archivedName(list),
      list.rowsRead,
      list.rowsChanged,
      list.returned,
      list.alteredCount,
    ]),
  );
  for (const list of lists) for (const line of linesOf(list)) print(line);
}

function linesOf(list: ListRebuilt): string[] {
  const { projectId, startedAt, changes } = list;
  const name = `${projectId}, ${archivedName(list)}`;
  const lines: string[] = [];
  if (list.resumed) {
    lines.push(`${name}: went on with the rebuild begun at ${startedAt}; --afresh begins anew.`);
  }
  const columns = Object.entries(changes).map(([column, rows]) => `${column} ${formatCount(rows)}`);
  if (columns.length > 0) lines.push(`${name}: changed ${columns.join(', ')}.`);
  if (list.alteredCount > 0) {
    const some = list.altered.slice(0, 5).join(', ');
    lines.push(
      `${name}: ${formatCount(list.alteredCount)} records do not match their digests and were left as they are (${some}${list.alteredCount > 5 ? ', …' : ''}): outlast verify says more.`,
    );
  }
  if (!list.done) lines.push(`${name}: stopped; outlast rebuild goes on from here.`);
  return lines;
}
