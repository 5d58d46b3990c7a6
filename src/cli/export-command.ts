// `outlast export`: everything held, as files. Needs no key of the platform. Killed or stopped, the next one goes on.
import { Option, type Command } from 'commander';
import { exitCode } from '../errors.ts';
import { fileFormats, type FileFormat, type ProjectId } from '../model.ts';
import type { Db } from '../store/db.ts';
import type { Exported } from '../export/write-export.ts';
import { readSettings } from '../settings/settings.ts';
import { exportTo, readPlace } from './export-places.ts';
import { openToRead, wantedProjects, withStore } from './open-store.ts';
import { formatCount, print, printError, printJson, table, shellWord } from './print.ts';
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
    const { exported, behind } = await withStore(openToRead, settings, async ({ db }) => {
      const projects = await wantedProjects(db, flags.project);
      const made = await exportTo(
        {
          db,
          to,
          format: flags.format,
          projects,
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
      );
      return { exported: made, behind: await classesLeftBehind(db, projects) };
    });
    progress.end();
    if (flags.json === true) printJson({ place: to, ...exported });
    else print(exportText(to, exported));
    for (const project of behind) {
      printError(
        `The NFT classes of the platform are held by project "${project}", which is not in this export: they are not either. Keep them before you remove that project.`,
      );
    }
  });
}

/** One project of a platform archives the classes for all (docs/http.md): whoever exports the others has none. */
async function classesLeftBehind(db: Db, exported: readonly ProjectId[]): Promise<ProjectId[]> {
  const { rows } = await db.query<{ project: ProjectId }>(
    `select p.project_id as project
       from sync.projects p
      where p.project_id <> all ($1)
        and exists (select from archive.nft_classes c where c.project_id = p.project_id)
        and exists (select from sync.projects e
                     where e.project_id = any ($1) and e.base_url = p.base_url
                       and not exists (select from archive.nft_classes c where c.project_id = e.project_id))
      order by 1`,
    [exported],
  );
  return rows.map(({ project }) => project);
}

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
