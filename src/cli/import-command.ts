// `outlast import`: an export brought into an empty database. All of it or nothing.
import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { checkEmpty, importArchive } from '../export/read-export.ts';
import type { Manifest } from '../export/manifest.ts';
import { makeScratch } from '../files.ts';
import { readSettings } from '../settings/settings.ts';
import { openMigrated, withStore } from './open-store.ts';
import { atPlace, readPlace } from './export-places.ts';
import { formatCount, momentText, print, printJson } from './print.ts';
import { inProgress } from './signals.ts';

export const importCommand = (command: Command): Command =>
  command
    .argument('<place>', 'what `outlast export` wrote: a folder, or s3://bucket/prefix', readPlace)
    .option('--json', 'print what was imported as JSON')
    .action(async (place: string, flags: { json?: true }) => {
      const settings = readSettings({ needs: 'database' });
      await inProgress(async (signal, progress) => {
        progress.update('Checking the files of the export');
        const manifest = await withStore(openMigrated, settings, ({ db }) => {
          const bringIn = (folder: string): Promise<Manifest> =>
            importArchive({
              db,
              folder,
              signal,
              onProgress: ({ file, rows, all }) =>
                progress.update({ name: 'Importing', done: rows, all, unit: 'rows', more: file }),
            });
          return atPlace(place, settings.exports, signal, {
            inFolder: bringIn,
            inBucket: async (bucket) => {
              // Before everything is fetched for nothing.
              await checkEmpty(db);
              const { downloadExport } = await import('../export/bucket.ts');
              const folder = await makeScratch('import');
              try {
                await downloadExport(bucket, folder, signal, ({ file, done, all }) =>
                  progress.update({ name: 'Fetching', done, all, unit: 'files', more: file }),
                );
                return await bringIn(folder);
              } finally {
                await rm(folder, { recursive: true, force: true });
              }
            },
          });
        });
        progress.end();
        if (flags.json === true) printJson(imported(manifest));
        else print(importText(manifest));
      });
    });

/** Rows by table, of all projects. */
function imported({ projects, exported_at: exportedAt, files }: Manifest): {
  projects: string[];
  exported_at: string;
  rows: Record<string, number>;
} {
  const rows: Record<string, number> = {};
  for (const file of files) rows[file.table] = (rows[file.table] ?? 0) + file.rows;
  return { projects: projects.map(({ project }) => project), exported_at: exportedAt, rows };
}

function importText(manifest: Manifest): string {
  const { projects, exported_at: exportedAt, rows } = imported(manifest);
  const count = (table: string): string => formatCount(rows[`archive.${table}`] ?? 0);
  return [
    `Imported ${projects.join(', ')} as of ${momentText(exportedAt)} (UTC): ${count('orders')} orders and ${count('nft_classes')} NFT classes, with ${count('order_versions')} and ${count('nft_class_versions')} earlier versions. All of it was read back and is what was exported.`,
    '`outlast verify` checks it against what the platform said; `outlast sync` goes on from here.',
  ].join('\n');
}
