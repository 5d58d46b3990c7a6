// One Postgres for the whole test run, started when the first test asks for it and removed at the end:
// TEST_CITUS_URL or TEST_DATABASE_URL if set, else a container where Docker answers, else the embedded binaries.
// Tests reach it only through postgres.ts. And one built command, linked when the first test asks for it.
import { createServer } from 'node:http';
import type { TestProject } from 'vitest/node';
import { linkCommand } from './linked-command.ts';
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
