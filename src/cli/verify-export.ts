// `outlast verify PLACE`: whether an export is what was written, every byte of it, where it lies. Asks no database.
import { exitCode } from '../errors.ts';
import { alteredIn, openFolder, type OpenedExport } from '../export/read-export.ts';
import { readSettings } from '../settings/settings.ts';
import { atPlace, readPlace } from './export-places.ts';
import { formatCount, momentText, print, printJson } from './print.ts';
import { inProgress } from './signals.ts';

/** Returns the exit code: failed where a file is not what the manifest says. Throws what opening the export does. */
export async function verifyExport(place: string, isJson: boolean): Promise<number> {
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
      if (isJson) {
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
