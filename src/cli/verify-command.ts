// `outlast verify`: recomputes from what is held whether every record is what the platform said, and names what is not;
// of an export, whether every byte is what was written.
import { readFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { monthStart } from '../day.ts';
import { codeOf, exitCode, settingsError } from '../errors.ts';
import type { OpenedExport } from '../export/read-export.ts';
import { resources, type DayRange, type Resource } from '../model.ts';
import { month as oneMonth } from '../query/arguments.ts';
import { readSettings, type Settings } from '../settings/settings.ts';
import type { Db } from '../store/db.ts';
import { countRows } from '../store/read-held.ts';
import { archivedOf } from '../store/record-tables.ts';
import type { ChainsVerified } from '../verify/check-journal.ts';
import type { Finding } from '../verify/finding.ts';
import { headsIn } from '../verify/publish-heads.ts';
import {
  isAnythingKnown,
  unnamedProjects,
  verifyChains,
  verifyProject,
  type ListVerified,
  type Verifying,
} from '../verify/verify.ts';
import {
  openMigrated,
  openToRead,
  wantedProjects,
  withStore,
  type OpenedStore,
} from './open-store.ts';
import { readOptions } from './command-options.ts';
import { formatCount, momentText, print, printJson } from './print.ts';
import type { ProgressLine } from './progress.ts';
import { inProgress } from './signals.ts';
import { asJson, nothingAsked, textPrinter, type VerifyPrinter } from './verify-print.ts';

type Flags = {
  project?: string;
  resource?: Resource;
  month?: string;
  fromMonth?: string;
  platform?: true;
  head?: string[];
  heads?: string;
  json?: true;
};

export const verifyCommand = (command: Command): Command =>
  command
    .argument('[place]', 'an export instead of the database: a folder, or s3://bucket/prefix')
    .option('--project <name>', 'only this project')
    .addOption(new Option('--resource <name>', 'only this resource').choices(resources))
    .option('--month <month>', 'only this month, yyyy-MM')
    .option('--from-month <month>', 'only from this month on, yyyy-MM')
    .option(
      '--platform',
      'also count every proved day of the window against the platform now; with --resource transactions, look up every final result again',
    )
    .option(
      '--head <digest...>',
      'a head of the journal that was kept elsewhere: this archive must have passed it',
    )
    .option('--heads <file>', 'the same for every head in a file, such as one of OUTLAST_HEADS_DIR')
    .option('--json', 'print everything as JSON, each finding included')
    .action(async (place: string | undefined, flags: Flags) => {
      if (place !== undefined) {
        process.exitCode = await verifyExport(place, flags);
        return;
      }
      const months = monthsToVerify(flags);
      if (flags.resource === 'tokens' && months !== null) {
        throw settingsError('bad_month', 'Tokens belong to no month: leave the month out.');
      }
      if (flags.platform === true && flags.resource === 'tokens') {
        throw settingsError(
          'bad_resource',
          'Tokens are compared with the platform by their next look: leave --platform out.',
        );
      }
      const settings = readSettings({ needs: flags.platform === true ? 'platform' : 'database' });
      process.exitCode = await verify(settings, flags, months);
    });

/**
 * Whether an export is what was written, every byte of it, where it lies. Asks no database. Returns the exit code:
 * failed where a file is not what the manifest says. Throws settings `argument_invalid` for what is asked of a database
 * only, and what opening the export does.
 */
async function verifyExport(place: string, { json, ...others }: Flags): Promise<number> {
  if (Object.keys(others).length > 0) {
    throw settingsError(
      'argument_invalid',
      'An export is verified as a whole: give no option but --json with it.',
    );
  }
  const { alteredIn, openFolder } = await import('../export/read-export.ts');
  const { atPlace, readPlace } = await import('./export-places.ts');
  const settings = readSettings({ needs: 'database' });
  return inProgress((signal, progress) => {
    const look = async (found: OpenedExport, advice: string): Promise<number> => {
      const all = found.parts.length;
      let done = 0;
      const altered = await alteredIn(found, signal, ({ path }) => {
        progress.update({ name: 'Reading', done: ++done, all, unit: 'files', more: path });
      });
      progress.end();
      const { projects, exported_at: exportedAt, files } = found.manifest;
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      if (json === true) {
        const names = projects.map(({ project }) => project);
        printJson({ place, projects: names, exported_at: exportedAt, files: all, bytes, altered });
      } else {
        for (const one of altered) print(one);
        const what = `${place}, ${projects.map(({ project }) => project).join(', ')} as of ${momentText(exportedAt)} (UTC): ${formatCount(all)} files, ${formatCount(Math.ceil(bytes / 1e6))} MB`;
        print(
          altered.length === 0
            ? `${what}. Every one is what was written.`
            : `${what}. Not as written: ${formatCount(altered.length)}. ${advice}`,
        );
      }
      return altered.length === 0 ? exitCode.done : exitCode.failed;
    };
    return atPlace(readPlace(place), settings.exports, signal, {
      inFolder: async (folder) =>
        look(await openFolder(folder), 'Take another copy, or export again.'),
      inBucket: async (bucket) =>
        look(
          await (await import('../export/bucket.ts')).openBucketExport(bucket),
          // Nothing there is written over: an export only adds what is not there.
          'Move each altered object named above out of the bucket, or to another prefix, and export again: that adds what is not there.',
        ),
    });
  });
}

/** The months as half-open days; null: all. Throws settings `argument_invalid` or `bad_month`. */
function monthsToVerify(flags: Flags): DayRange | null {
  const given = readOptions({ month: oneMonth, fromMonth: oneMonth }, flags);
  if (given.month !== undefined && given.fromMonth !== undefined) {
    throw settingsError('bad_month', '--month and --from-month are two ways to say it: give one.');
  }
  const month = given.month ?? given.fromMonth;
  if (month === undefined) return null;
  const from = `${month}-01`;
  return { from, to: given.month === undefined ? '9999-12-31' : monthStart(from, 1) };
}

/** Returns the exit code: failed where anything does not follow. */
async function verify(settings: Settings, flags: Flags, months: DayRange | null): Promise<number> {
  const heads = readHeads(flags);
  // What asks the platform counts its requests in the database.
  const open = flags.platform === true ? openMigrated : openToRead;
  const platform = flags.platform === true ? await import('./verify-with-platform.ts') : null;
  const output = flags.json === true ? asJson() : textPrinter();
  // Findings that stream to the same terminal leave no line for it.
  const isQuiet = flags.json === true && process.stdout.isTTY;
  const out = isQuiet ? { write: () => undefined } : process.stderr;
  const work = async (
    { db, log }: OpenedStore,
    signal: AbortSignal,
    progress: ProgressLine,
  ): Promise<number> => {
    const projects = await wantedProjects(db, flags.project);
    if (heads.length > 0 && projects.length > 1) {
      throw settingsError(
        'bad_head',
        'Each project has heads of its own: name the one with --project.',
      );
    }
    if (months !== null && projects.length > 0 && !(await isAnythingKnown(db, projects, months))) {
      throw settingsError(
        'bad_month',
        `Nothing of ${flags.month ?? `${flags.fromMonth} or later`} was ever archived here: \`outlast status\` names the months that are.`,
      );
    }
    const unnamed = flags.project === undefined ? await unnamedProjects(db) : [];
    const wanted = { projects, unnamed, months, resource: flags.resource, heads };
    const { lists, journals } = await verifyHeld(db, settings, wanted, signal, output, progress);
    const asked =
      (await platform?.verifyWithPlatform(settings, wanted, db, log, signal, {
        output,
        progress,
      })) ?? nothingAsked();
    progress.end();
    await output.end(lists, journals, asked);
    // What is held was verified all the same, and is told first.
    if (asked.failure !== null) throw asked.failure;
    const isOther =
      [...lists, ...journals].some(({ findings }) => findings > 0) ||
      asked.slices.some(({ outcome }) => outcome === 'differs') ||
      asked.results.differs > 0;
    if (isOther) return exitCode.failed;
    return asked.isComplete ? exitCode.done : exitCode.tryLater;
  };
  return inProgress(
    (signal, progress) => withStore(open, settings, (opened) => work(opened, signal, progress)),
    out,
  );
}

type Wanted = {
  projects: string[];
  unnamed: string[];
  months: DayRange | null;
  resource: Resource | undefined;
  heads: string[];
};

/** Heads in lower-case hex. Throws settings `bad_head`. */
function readHeads({ head = [], heads }: Flags): string[] {
  const given = head.map((text) => {
    const [found] = headsIn(text);
    if (found !== undefined) return found;
    throw settingsError('bad_head', `--head "${text}" is no head: give its 64 hex digits.`);
  });
  if (heads === undefined) return given;
  let text: string;
  try {
    text = readFileSync(heads, 'utf8');
  } catch (error) {
    throw settingsError('bad_head', `--heads ${heads} cannot be read (${codeOf(error) ?? '?'}).`);
  }
  const listed = headsIn(text);
  if (listed.length === 0) throw settingsError('bad_head', `--heads ${heads} names no head.`);
  return [...given, ...listed];
}

async function verifyHeld(
  db: Db,
  settings: Settings,
  wanted: Wanted,
  signal: AbortSignal,
  output: VerifyPrinter,
  progress: ProgressLine,
): Promise<{ lists: ListVerified[]; journals: ChainsVerified[] }> {
  const lists: ListVerified[] = [];
  const journals: ChainsVerified[] = [];
  for (const projectId of [...wanted.projects, ...wanted.unnamed]) {
    const all = await countAll(db, projectId, wanted);
    let before = 0;
    const verifying: Verifying = {
      db,
      projectId,
      ...(wanted.resource === undefined ? {} : { resources: [wanted.resource] }),
      months: wanted.months,
      certificatesDir: settings.certificatesDir,
      heads: wanted.heads,
      signal,
      onFinding: (finding) => output.finding(finding),
      onProgress: (resource, { records }, at) =>
        progress.update({
          name: projectId,
          done: before + records,
          all,
          unit: 'records',
          more: at === 'journal' ? `${resource}: the journal` : resource,
        }),
      onVerified: ({ records }) => (before += records),
    };
    lists.push(...(await verifyProject(verifying)));
    progress.update(`${projectId}: the journal`);
    const chains = await verifyChains(verifying);
    if (wanted.unnamed.includes(projectId)) {
      chains.findings += 1;
      await output.finding(isUnnamed(projectId));
    }
    journals.push(chains);
  }
  return { lists, journals };
}

const isUnnamed = (projectId: string): Finding => ({
  kind: 'ledger',
  project_id: projectId,
  resource: null,
  when: null,
  id: null,
  says: 'something of it is held, and its line in sync.projects is gone, or never was there',
});

/** How many records there are to be verified; null where only some months are: nobody has counted those. */
async function countAll(
  db: Db,
  projectId: string,
  { resource, months }: Wanted,
): Promise<number | null> {
  if (months !== null) return null;
  const wanted = resource === undefined ? resources : [resource];
  const counts = wanted.flatMap((one) => archivedOf(projectId, one)).map((of) => countRows(db, of));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
