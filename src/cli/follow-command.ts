// `outlast follow`: every change once, a line each, as it comes. Where it got to is kept in a file once the lines are
// out: whoever is killed in between is told the last of them again, and none is ever left out.
import { Option, type Command } from 'commander';
import { codeOf, settingsError, transient } from '../errors.ts';
import { textOfFile, writeWhole } from '../files.ts';
import { resources } from '../model.ts';
import { openArchive } from '../query/archive.ts';
import { changeFilters } from '../query/changes.ts';
import { jsonText } from '../query/record-text.ts';
import type { Change } from '../query/types.ts';
import { readSettings } from '../settings/settings.ts';
import { withReader } from './app.ts';
import { readOptions } from './command-options.ts';
import { projectOf } from './query-command.ts';
import { stopOnSignals } from './signals.ts';

type FollowFlags = {
  project?: string;
  resource?: string;
  after?: string;
  positionFile?: string;
  fromNow?: true;
  once?: true;
};

/** Changes that are handed on before their position is kept. */
const atOnce = 1000;
/** Less than the longest a question may wait, so that a connection that broke is noticed. */
const waitMs = 30_000;

export const followCommand = (command: Command): Command =>
  command
    .option('--project <name>', 'of this project; needed where there are several')
    .addOption(new Option('--resource <name>', 'of this resource only').choices(resources))
    .option('--after <position>', 'start after this position; from the beginning by default')
    .option(
      '--position-file <path>',
      'go on from the position in this file, and keep it there once the lines are written',
    )
    .option('--from-now', 'only what is to come')
    .option('--once', 'print what there is, then exit')
    .addHelpText(
      'after',
      '\nA line of JSON each, as GET /archive/v1/changes gives them. docs/follow.md has more.',
    )
    .action(follow);

async function follow(flags: FollowFlags): Promise<void> {
  const { resource, after } = readOptions(changeFilters, flags);
  const { positionFile } = flags;
  if (after !== undefined && (positionFile !== undefined || flags.fromNow === true)) {
    throw settingsError('bad_filter', '--after stands alone: it says where to begin.');
  }
  const settings = readSettings({ needs: 'database' });
  const stop = stopOnSignals();
  try {
    await withReader(settings, openArchive, async (archive) => {
      const query = {
        project: await projectOf(archive, flags.project),
        ...(resource === undefined ? {} : { resource }),
      };
      const keepIn =
        positionFile === undefined ? null : { path: positionFile, of: resource ?? 'all' };
      let saved = keepIn === null ? null : await kept(keepIn);
      let position = after ?? saved;
      if (position === null && flags.fromNow === true) {
        position = await archive.changes.newest(query);
      }
      // P9: ends when it is told to, or, with --once, when nothing is left.
      while (!stop.signal.aborted) {
        const page = await archive.changes.list({
          ...query,
          ...(position === null ? {} : { after: position }),
          limit: atOnce,
          // The first page shows where it begins, which is kept before anything is waited for.
          waitMs: flags.once === true || (keepIn !== null && position !== saved) ? 0 : waitMs,
          signal: stop.signal,
        });
        if (!(await put(page.items))) return;
        ({ position } = page);
        if (keepIn !== null && position !== null && position !== saved) {
          await keep(keepIn, position);
          saved = position;
        }
        if (flags.once === true && page.isUpToDate) return;
      }
    });
  } finally {
    stop.close();
  }
}

/** Resolves when the lines are out of this process; false: their reader has left (`| head`). */
async function put(changes: Change[]): Promise<boolean> {
  if (changes.length === 0) return true;
  const text = changes.map((change) => `${jsonText(change, Object.keys(change) as never[])}\n`);
  return new Promise((resolve, reject) => {
    process.stdout.write(text.join(''), (error) => {
      if (error instanceof Error && codeOf(error) !== 'EPIPE') reject(error);
      else resolve(!(error instanceof Error));
    });
  });
}

/** `of`: the resource that was followed, or all of them. Of another one the position would skip what was not asked. */
type PositionFile = { path: string; of: string };

/** Null where there is no such file. Throws settings `position_file`. */
async function kept({ path, of }: PositionFile): Promise<string | null> {
  const text = await textOfFile(path);
  if (text === null) return null;
  const [position, followed] = text.trim().split(' ');
  if (position !== undefined && position !== '' && followed === of) return position;
  throw settingsError(
    'position_file',
    `${path} holds no position of ${of === 'all' ? 'all resources' : of}${followed === undefined ? '' : `, but of ${followed}`}. Give each follower a file of its own; without the file it starts from the beginning.`,
  );
}

/** Throws transient `position_not_kept`: the lines are out, and come again. */
async function keep({ path, of }: PositionFile, position: string): Promise<void> {
  try {
    await writeWhole(path, async (write) => {
      await write(`${position} ${of}\n`);
      return true;
    });
  } catch (error) {
    throw transient(
      'position_not_kept',
      `The position cannot be kept in ${path}. What was printed since it was kept last comes again.`,
      error,
    );
  }
}
