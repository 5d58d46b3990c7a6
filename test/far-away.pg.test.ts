// A host with an address that is of no use here, and with one that is far away, is reached through every door.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { deliver } from '../src/alert/deliver.ts';
import { dial } from '../src/dial.ts';
import { openArchive } from '../src/index.ts';
import { silentLog } from '../src/log.ts';
import { createPlatform } from '../src/platform/client.ts';
import { openDb } from '../src/store/db.ts';
import { nameHost, startFarHost } from './support/far-host.ts';
import { createTestDatabase, type TestDatabase } from './support/postgres.ts';

let database: TestDatabase;
let web: Server;
let far: Awaited<ReturnType<typeof startFarHost>> | undefined;
let putBack = (): void => undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  web = createServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"data":{"order_infos":[]}}'),
  );
  await new Promise<void>((resolve) => {
    web.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(async () => {
  web.close();
  await database.drop();
});
afterEach(async () => {
  putBack();
  await far?.close();
});

const webPort = (): number => (web.address() as AddressInfo).port;

/** The port of the host `far.test` that leads to this one: a second away, with another address that takes nobody. */
async function farFrom(port: number): Promise<number> {
  far = await startFarHost(port);
  putBack = nameHost('far.test', ['127.0.0.1', '::1'], far.near);
  return far.port;
}

const farDatabase = async (): Promise<string> => {
  const address = new URL(database.connectionString);
  const port = await farFrom(Number(address.port));
  address.hostname = 'far.test';
  address.port = String(port);
  return address.href;
};

test('the platform', async () => {
  const platform = createPlatform({
    baseUrl: `http://far.test:${await farFrom(webPort())}`,
    apiKey: 'key',
    apiSecret: 'secret',
    timeoutMs: 10_000,
    maxAttempts: 1,
    limiter: { permit: async () => undefined, pause: async () => undefined },
    log: silentLog(),
  });
  const { records } = await platform.orders({ limit: 1, sortBy: 'DATE_DESC', countTotal: true });
  expect(records).toEqual([]);
  await platform.close();
});

test('the webhook and the heartbeat', async () => {
  const url = `http://far.test:${await farFrom(webPort())}/in`;
  expect(await deliver({ url, body: null })).toBeNull();
});

test('the database', async () => {
  const db = await openDb({ connectionString: await farDatabase(), log: silentLog() });
  expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await db.close();
});

test('the library, which leaves its program as it was', async () => {
  const archive = await openArchive({ connectionString: await farDatabase() });
  expect(await archive.projects()).toEqual([]);
  await archive.close();
});

test('an address that answers nothing holds up none of the others', async () => {
  putBack = nameHost('hole.test', ['192.0.2.1', '127.0.0.1']);
  const reached = await new Promise<Socket>((resolve, reject) => {
    const settle = (error: Error | null, socket: Socket | null): void =>
      socket === null ? reject(error) : resolve(socket);
    dial({ host: 'hole.test', port: webPort() }, 50_000, settle);
  });
  expect(reached.remoteAddress).toBe('127.0.0.1');
  reached.destroy();
});

test('a host of which no address answers says what each said', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  await once(free.close(), 'close');
  putBack = nameHost('shut.test', ['127.0.0.1', '127.0.0.1']);
  const failed = await new Promise<Error | null>((resolve) => {
    dial({ host: 'shut.test', port }, 50_000, resolve);
  });
  const one = `connect ECONNREFUSED 127.0.0.1:${port}`;
  expect(failed).toMatchObject({ code: 'ECONNREFUSED', message: `${one}; ${one}` });
});
