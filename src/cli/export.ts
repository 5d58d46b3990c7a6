// `outlast export`: everything held, as files. Needs no key. Killed or stopped, the next one goes on.
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { exitCode } from '../errors.ts';
import { fileFormats, type FileFormat } from '../export/manifest.ts';
import { exportArchive, type Exported } from '../export/write.ts';
import { readSettings } from '../settings/settings.ts';
import { openToRead, wantedProjects, withStore } from './app.ts';
import { formatCount, print, printJson, table } from './print.ts';
import { createProgress } from './progress.ts';
import { stopOnSignals } from './signals.ts';

type Flags = { format: FileFormat; project?: string; json?: true };

export const exportCommand = (command: Command): Command =>
  command
    .argument('<folder>', 'a new folder, or that of an earlier export, which is brought up to date')
    .addOption(
      new Option('--format <format>', 'what to write').choices(fileFormats).default('parquet'),
    )
    .option('--project <name>', 'only this project')
    .option('--json', 'print the manifest as JSON')
    .action(async (folder: string, flags: Flags) => {
      await run(resolve(folder), flags);
      process.exitCode = exitCode.done;
    });

async function run(folder: string, flags: Flags): Promise<void> {
  const settings = readSettings({ needs: 'database' });
  const stop = stopOnSignals();
  const progress = createProgress(process.stderr);
  progress.update('Exporting');
  try {
    const exported = await withStore(openToRead, settings, async ({ db }) =>
      exportArchive({
        db,
        folder,
        format: flags.format,
        projects: await wantedProjects(db, flags.project),
        now: Date.now(),
        signal: stop.signal,
        onProgress: ({ file, rows, done, all }) =>
          progress.update({
            name: 'Exporting',
            done,
            all,
            unit: 'parts',
            paced: { count: rows, unit: 'rows' },
            more: file,
          }),
      }),
    );
    progress.end();
    if (flags.json === true) printJson({ folder, ...exported });
    else print(exportText(folder, exported));
  } finally {
    progress.end();
    stop.close();
  }
}

/** What was exported, as a person reads it. */
export function exportText(folder: string, { manifest, written, kept }: Exported): string {
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
    `${folder}: ${formatCount(written)} files written, ${formatCount(kept)} unchanged, ${formatCount(Math.ceil(bytes / 1e6))} MB in all.`,
    'sha256sum -c SHA256SUMS checks them; `outlast import` brings them into an empty database.',
  ].join('\n');
}
