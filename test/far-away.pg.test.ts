// A host with an address that is of no use here, and with one that is far away, is reached through every door.
import dns from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { deliver } from '../src/alert/deliver.ts';
import { dial } from '../src/dial.ts';
import { openArchive } from '../src/index.ts';
import { silentLog } from '../src/log.ts';
import { createPlatform } from '../src/platform/client.ts';
import { openDb } from '../src/store/db.ts';
import { setUp } from './support/fresh.ts';
import { listenHere } from './support/loopback.ts';
import { createTestDatabase, type TestDatabase } from './support/postgres.ts';
import { replaceInModule } from './support/replaced.ts';

let database: TestDatabase;
let web: Awaited<ReturnType<typeof listenHere>>;
let far: Awaited<ReturnType<typeof startFarHost>> | undefined;
let putBack = (): void => undefined;

setUp(async (keep) => {
  database = await keep(createTestDatabase());
  const empty = createServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"data":{"order_infos":[]}}'),
  );
  web = await keep(listenHere(empty));
});
afterEach(async () => {
  putBack();
  await far?.close();
});

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
    baseUrl: `http://far.test:${await farFrom(web.port)}`,
    apiKey: 'key',
    apiSecret: 'secret',
    timeoutMs: 60_000,
    maxAttempts: 1,
    limiter: { permit: async () => undefined, pause: async () => undefined },
    log: silentLog(),
  });
  const { records } = await platform.page({
    resource: 'orders',
    limit: 1,
    sortBy: 'DATE_DESC',
    countTotal: true,
  });
  expect(records).toEqual([]);
  await platform.close();
});

test('the webhook and the heartbeat', async () => {
  const url = `http://far.test:${await farFrom(web.port)}/in`;
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
    dial({ host: 'hole.test', port: web.port }, 50_000, settle);
  });
  expect(reached.remoteAddress).toBe('127.0.0.1');
  reached.destroy();
});

test('a host of which no address answers says what each said', async () => {
  const { port, close } = await listenHere(createServer());
  await close();
  putBack = nameHost('shut.test', ['127.0.0.1', '127.0.0.1']);
  const failed = await new Promise<Error | null>((resolve) => {
    dial({ host: 'shut.test', port }, 50_000, resolve);
  });
  const one = `connect ECONNREFUSED 127.0.0.1:${port}`;
  expect(failed).toMatchObject({ code: 'ECONNREFUSED', message: `${one}; ${one}` });
});

/** A name for `addresses`, until it is put back. `onAsked` is told of each look-up. */
function nameHost(name: string, addresses: string[], onAsked = (): void => undefined) {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const own = dns.lookup as (...args: unknown[]) => void;
  const lookup = (host: string, options: dns.LookupOptions, done: (...args: unknown[]) => void) => {
    if (host !== name) return own(host, options, done);
    onAsked();
    const [first] = found;
    setImmediate(() =>
      options.all === true ? done(null, found) : done(null, first?.address, first?.family),
    );
  };
  return replaceInModule(dns, 'lookup', lookup);
}

const thread = `
const { connect, createServer } = require('node:net');
const { parentPort, workerData: { port, gate } } = require('node:worker_threads');
const server = createServer((socket) => {
  const onward = connect(port, '127.0.0.1');
  socket.on('error', () => onward.destroy()).pipe(onward);
  onward.on('error', () => socket.destroy()).pipe(socket);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(gate), 0, 0);
});`;

/**
 * Far until half a second after `near` was called, on 127.0.0.1; it leads to `port`. A handshake with it takes about a
 * second, so that an attempt of 250 ms reaches it never: a thread that takes no connections and has its queue full
 * leaves the first packet of another without an answer; when it goes on, the packet that is sent again after a second
 * gets one.
 */
async function startFarHost(
  port: number,
): Promise<{ port: number; near: () => void; close: () => Promise<void> }> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(thread, { eval: true, workerData: { port, gate: gate.buffer } });
  const [own] = (await once(worker, 'message')) as [number];
  // More than fit: the last of them stands for all that come.
  const full = Array.from({ length: 3 }, () =>
    connect(own, '127.0.0.1').on('error', () => undefined),
  );
  await Promise.all(full.slice(0, 2).map((socket) => once(socket, 'connect')));
  const open = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return {
    port: own,
    near: () => void setTimeout(open, 500),
    close: async () => {
      for (const socket of full) socket.destroy();
      open();
      await worker.terminate();
    },
  };
}
