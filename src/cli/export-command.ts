// `outlast export`: everything held, as files. Needs no key of the platform. Killed or stopped, the next one goes on.
import { Option, type Command } from 'commander';
import { exitCode } from '../errors.ts';
import { fileFormats, type FileFormat } from '../model.ts';
import type { Exported } from '../export/write-export.ts';
import { readSettings } from '../settings/settings.ts';
import { exportTo, readPlace } from './export-places.ts';
import { openToRead, wantedProjects, withStore } from './open-store.ts';
import { formatCount, print, printJson, table, shellWord } from './print.ts';
import { inProgress } from './signals.ts';

type Flags = { format: FileFormat; project?: string[]; json?: true };

export const exportCommand = (command: Command): Command =>
  command
    .argument(
      '<place>',
      'a new folder or s3://bucket/prefix, or that of an earlier export, which is brought up to date',
      readPlace,
    )
    .addOption(
      new Option('--format <format>', 'what to write').choices(fileFormats).default('parquet'),
    )
    .option(
      '--project <name>',
      'only this project; may be given several times',
      (name, before: string[] | undefined): string[] => [...(before ?? []), name],
    )
    .option('--json', 'print the manifest as JSON')
    .action(async (place: string, flags: Flags) => {
      await run(place, flags);
      process.exitCode = exitCode.done;
    });

async function run(to: string, flags: Flags): Promise<void> {
  const settings = readSettings({ needs: 'database' });
  await inProgress(async (signal, progress) => {
    progress.update('Exporting');
    const exported = await withStore(openToRead, settings, async ({ db }) =>
      exportTo(
        {
          db,
          to,
          format: flags.format,
          projects: await wantedProjects(db, flags.project),
          now: Date.now(),
          signal,
          onProgress: ({ file, rows, done, all }) =>
            progress.update({
              name: 'Exporting',
              done,
              all,
              unit: 'parts',
              paced: { count: rows, unit: 'rows' },
              more: file,
            }),
          onSend: ({ file, done, all }) =>
            progress.update({ name: 'Sending', done, all, unit: 'files', more: file }),
        },
        settings.exports,
      ),
    );
    progress.end();
    if (flags.json === true) printJson({ place: to, ...exported });
    else print(exportText(to, exported));
  });
}

/** What was exported, as a person reads it. */
function exportText(place: string, { manifest, written, kept }: Exported): string {
  const held = manifest.files.filter((file) => file.table.startsWith('archive.'));
  const lists = [...new Set(held.map(({ project, table: of }) => `${project} ${of}`))];
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  return [
    table(
      ['project', 'table', 'rows', 'files', 'MB'],
      lists.map((list) => {
        const files = held.filter(({ project, table: of }) => `${project} ${of}` === list);
        const sum = (field: 'rows' | 'bytes'): number =>
          files.reduce((all, one) => all + one[field], 0);
        const [project = '', of = ''] = list.split(' ');
        return [project, of, sum('rows'), files.length, Math.ceil(sum('bytes') / 1e6)];
      }),
    ),
    '',
    `${place}: ${formatCount(written)} files written, ${formatCount(kept)} unchanged, ${formatCount(Math.ceil(bytes / 1e6))} MB in all, journal and books included.`,
    `\`outlast verify ${shellWord(place)}\` checks them; \`outlast import ${shellWord(place)}\` brings them into an empty database.`,
  ].join('\n');
}
