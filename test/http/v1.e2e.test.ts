// `outlast start` bound beyond loopback, as a team puts it up for a program that reads: a readers file with a bearer
// key, and a stop while somebody reads.
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openDb } from '../../src/store/db.ts';
import { smallWorld } from '../support/archive.ts';
import { startCommand, type Running } from '../support/command.ts';
import { makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { practise } from '../support/practise.ts';
import { writeOrders } from '../support/rows.ts';

const key = 'a-key-as-openssl-would-make-it';
let service: Running;
let url: string;

setUp(async (keep) => {
  const { database, env: given } = await practise({ world: smallWorld, days: [] }, keep);
  const { connectionString } = database;
  // Enough for a list that no socket's buffer holds.
  const db = await openDb({ connectionString, log: silentLog() });
  await writeOrders(db, { project: 'default', count: 14_000, from: '2026-03-01', perDay: 400 });
  await db.close();
  const folder = await keep(makeFolder('outlast readers '), removeFolder);
  const readers = join(folder, 'readers.json');
  const reader = { id: 'bi', bearer_sha256: hash('sha256', key, 'hex'), projects: ['default'] };
  await writeFile(readers, JSON.stringify([reader]), { mode: 0o600 });
  const env = {
    ...given(),
    OUTLAST_HOST: '0.0.0.0',
    OUTLAST_READERS_FILE: readers,
  };
  const starting = Promise.resolve(startCommand(['start'], { env }));
  service = await keep(starting, (one) => one.stop('SIGKILL'));
  const [, port = ''] = await service.waitFor(/"url":"http:\/\/0\.0\.0\.0:(\d+)"/);
  url = `http://127.0.0.1:${port}`;
});

const ask = (path: string, authorization?: string): Promise<Response> =>
  fetch(`${url}/archive/v1${path}`, {
    headers: authorization === undefined ? {} : { authorization },
  });

test('the bearer key opens it, no key and another do not', async () => {
  expect((await ask('/orders')).status).toBe(401);
  expect((await ask('/orders', 'Bearer another')).status).toBe(403);
  expect(await (await ask('/projects', `Bearer ${key}`)).json()).toEqual({
    items: [{ project_id: 'default' }],
  });
});

test('a stop does not wait for a reader who takes his time, and leaves him no half for a whole', async () => {
  const answer = await ask('/orders?format=ndjson', `Bearer ${key}`);
  const reader = answer.body?.getReader();
  await reader?.read();
  // A reader who takes nothing is waited for five minutes otherwise: before they are over the service is killed.
  const ended = await service.stop('SIGTERM');
  expect([ended.code, ended.signal]).toEqual([0, null]);
  const rest = async (): Promise<void> => {
    for (;;) if ((await reader?.read())?.done !== false) return;
  };
  await expect(rest()).rejects.toThrow();
  expect(ended.stderr).not.toContain(key);
});
