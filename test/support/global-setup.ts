// One Postgres for the whole test run, started when the first test asks for it and removed at the end:
// TEST_DATABASE_URL if set, else a container where Docker answers, else the embedded binaries.
// Tests reach it only through postgres.ts.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startTestServer, type TestServer } from './test-server.ts';

/** What the door answers: where the server is, or why there is none. */
export type Answer = { connectionString: string; prefix: string } | { problem: string };

declare module 'vitest' {
  // Merging into vitest's own declaration only works with an interface.
  // oxlint-disable-next-line typescript/consistent-type-definitions
  interface ProvidedContext {
    testPostgresDoor: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<TestServer> | undefined;
  // Workers cannot call us; a loopback door lets the first that needs Postgres start it, for all.
  const door = createServer((_request, response) => {
    server ??= startTestServer();
    void server.then(
      ({ connectionString, prefix }) => response.end(json({ connectionString, prefix })),
      (error: unknown) => response.end(json({ problem: String(error) })),
    );
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  project.provide('testPostgresDoor', `http://127.0.0.1:${(door.address() as AddressInfo).port}/`);
  return async () => {
    door.close();
    // A server that never started was reported by the tests that asked for it.
    const started = await server?.catch(() => undefined);
    await started?.stop();
  };
}

const json = (answer: Answer): string => JSON.stringify(answer);
