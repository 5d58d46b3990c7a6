// `outlast follow`: every change once, a line each, as it comes. Where it got to is kept in a file once the lines are
// out: whoever is killed in between is told the last of them again, and none is ever left out.
import { Option, type Command } from 'commander';
import { causeChain, codeOf, settingsError, transient } from '../errors.ts';
import { textOfFile, writeWhole } from '../files.ts';
import { resources } from '../model.ts';
import { openArchive } from '../query/archive.ts';
import { changeFilters } from '../query/changes.ts';
import type { Archive } from '../query/types.ts';
import { readSettings } from '../settings/settings.ts';
import { oneProject, withReader } from './open-store.ts';
import { readOptions } from './command-options.ts';
import { untilSignal } from './signals.ts';

type FollowFlags = {
  project?: string;
  resource?: string;
  after?: string;
  positionFile?: string;
  fromNow?: true;
  once?: true;
};

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
  const keepIn = positionFile === undefined ? null : { path: positionFile, of: resource ?? 'all' };
  const follow = async (archive: Archive, signal: AbortSignal): Promise<void> => {
    const query = {
      project: oneProject(await archive.projects(), flags.project),
      ...(resource === undefined ? {} : { resource }),
    };
    let from = after ?? (keepIn === null ? null : await kept(keepIn));
    if (from === null && flags.fromNow === true) {
      from = await archive.changes.newest(query);
      // Where it begins is kept before anything is waited for.
      if (keepIn !== null && from !== null) await keep(keepIn, from);
    }
    const lines = archive.changes.lines({
      ...query,
      ...(from === null ? {} : { after: from }),
      once: flags.once === true,
      signal,
    });
    for await (const { text, position } of lines) {
      if (!(await put(text))) return;
      if (keepIn !== null) await keep(keepIn, position);
      if (signal.aborted) return;
    }
  };
  // Two connections: on one the next entries are read, on the other what their records say.
  const open: typeof openArchive = (options) => openArchive({ ...options, max: 2 });
  await untilSignal((signal) => withReader(settings, open, (archive) => follow(archive, signal)));
}

/** Resolves when the lines are out of this process; false: their reader has left (`| head`). */
async function put(text: Buffer): Promise<boolean> {
  if (text.length === 0) return true;
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error instanceof Error && codeOf(error) !== 'EPIPE') reject(error);
      else resolve(!(error instanceof Error));
    });
  });
}

/** `of`: the resource that was followed, or all of them. Of another one the position would skip what was not asked. */
type PositionFile = { path: string; of: string };

/** Null where there is no such file. Throws settings `position_file`. */
async function kept({ path, of }: PositionFile): Promise<string | null> {
  const text = await textOfFile(path).catch((error: unknown) => {
    throw settingsError(
      'position_file',
      `${path} cannot be read (${codeOf(error) ?? causeChain(error)}).`,
      error,
    );
  });
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
