// Who may name operations to ask for over HTTP, how many, and how: a key that may read may not thereby write. And that
// a signature which somebody caught opens the request it was made for, and one that writes once: real servers on one
// database, as replicas are.
import { hash } from 'node:crypto';
import { fresh, setUp } from '../support/fresh.ts';
import { isOnCluster } from '../support/postgres.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Served, ServerOptions } from '../../src/http/server.ts';
import { withTx } from '../../src/store/db.ts';
import { watchOperations, enterUpTo } from '../../src/store/operations/watch-operations.ts';
import { openEmpty, type Opened } from '../support/opened.ts';
import { writeProjects } from '../support/rows.ts';
import { serveArchive } from '../support/served.ts';
import { bearerKey, bearing as bearingOf, connectTo, signedHeaders } from './ask.ts';

let opened: Opened;
/** Bound to loopback, and beyond it. */
let served: Served;
let remote: Served;
/** Of two projects. */
let replicas: [Served, Served];
const projects = ['p'];
const keys = [
  { key: 'own', secret: 'own-secret', projects, mayWatch: true },
  { ...bearerKey('reads-bearer', projects), key: 'reads', secret: 's1' },
  { key: 'no', secret: 's2', projects, mayWatch: false },
  { ...bearerKey('watches-bearer', projects), key: 'watches', secret: 's3', mayWatch: true },
  { key: 'both', secret: 's4', projects: ['p', 'q'], mayWatch: true },
];

const mostOpen = 3;
const serveOn = (more: Partial<ServerOptions> = {}): Promise<Served> =>
  serveArchive(opened.archive, {
    keys,
    watch: (project, operations, signature) =>
      enterUpTo(mostOpen, opened.db, project, operations, signature),
    ...more,
  });
/** For one test. */
const freshOn = (more: Partial<ServerOptions>): Promise<Served> => fresh(serveOn(more));

setUp(async (keep) => {
  opened = await keep(openEmpty());
  await writeProjects(opened.db, ['p', 'q']);
  served = await keep(serveOn());
  remote = await keep(serveOn({ host: '0.0.0.0' }));
  replicas = [await keep(serveOn(ofReplicas)), await keep(serveOn(ofReplicas))];
});
const ofReplicas = { host: '0.0.0.0', projects: ['p', 'q'].map((id) => ({ id, classesOf: id })) };
beforeEach(() =>
  opened.db.query('delete from sync.watched_operations; delete from sync.taken_requests'),
);

const path = '/archive/v1/watch';
type Key = (body: string) => Record<string, string>;
const signed =
  (key: string, secret: string): Key =>
  (body) =>
    signedHeaders({ key, secret }, path, { body });
const bearing =
  (bearer: string): Key =>
  () =>
    bearingOf(bearer);
const nobodys: Key = () => ({});

type Answered = { status: number; text: string };
async function send(
  to: Served,
  body: string,
  headers: Record<string, string> = {},
  query = '',
): Promise<Answered> {
  const answer = await fetch(to.url + path + query, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}
function post(to: Served, ids: string[], key: Key = nobodys): Promise<Answered> {
  const body = JSON.stringify({ operation_ids: ids });
  return send(to, body, key(body));
}
async function watched(): Promise<string[]> {
  const { rows } = await opened.db.query<{ id: string }>(
    'select operation_id as id from sync.watched_operations order by 1',
  );
  return rows.map(({ id }) => id);
}

test('a key that reads and has no right to watch is told so, wherever the server is bound', async () => {
  for (const to of [served, remote]) {
    for (const key of [signed('reads', 's1'), bearing('reads-bearer'), signed('no', 's2')]) {
      const { status, text } = await post(to, ['op'], key);
      expect(status).toBe(403);
      expect(JSON.parse(text)).toEqual({
        error: {
          code_space: 'outlast',
          code: 'FORBIDDEN',
          message:
            'this key may read and not watch: its entry in the readers file needs "watch": true',
        },
      });
    }
  }
  const reads = await fetch(`${served.url}/archive/v1/projects`, {
    headers: bearing('reads-bearer')(''),
  });
  expect(reads.status).toBe(200);
  expect(await watched()).toEqual([]);
});

test('one that has it, the project’s own pair, and nobody’s key at this machine enter operations', async () => {
  expect((await post(remote, ['by-sign'], signed('watches', 's3'))).status).toBe(200);
  expect((await post(remote, ['by-bearer'], bearing('watches-bearer'))).status).toBe(200);
  await opened.db.query('delete from sync.watched_operations');
  expect((await post(remote, ['by-own'], signed('own', 'own-secret'))).status).toBe(200);
  expect((await post(served, ['by-nobody'])).status).toBe(200);
  expect((await post(remote, ['from-outside'])).status).toBe(401);
  expect(await watched()).toEqual(['by-nobody', 'by-own']);
});

test('whoever may not write is answered before the body has come', async () => {
  const ask = (key: Key, headers = key('')): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTo(remote);
      socket.setEncoding('utf8').once('data', (head: string) => {
        resolve(head.split('\r\n')[0] ?? '');
        socket.destroy();
      });
      socket.once('error', reject);
      const lines = Object.entries({ ...headers, 'content-type': 'application/json' });
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`,
      );
    });
  expect(await ask(nobodys)).toContain(' 401 ');
  expect(await ask(bearing('wrong'))).toContain(' 403 ');
  expect(await ask(bearing('reads-bearer'))).toContain(' 403 ');
  expect(await ask(signed('nobody', 's1'))).toContain(' 403 ');
  const old = { ...signed('watches', 's3')(''), 'x-timestamp': String(Date.now() - 16 * 60_000) };
  expect(await ask(nobodys, old)).toContain(' 403 ');
});

test('no more are open than may be, and what is open may be given again', async () => {
  expect((await post(served, ['a', 'b', 'c'])).status).toBe(200);
  const { status, text } = await post(served, ['a', 'd']);
  expect(status).toBe(429);
  expect(text).toContain('TOO_MANY_REQUESTS');
  expect(text).toContain('At most 3 operations of a project may be open, and 3 are');
  expect(await watched()).toEqual(['a', 'b', 'c']);
  expect((await post(served, ['c', 'a'])).status).toBe(200);
  // The other doors are the owner's: they are not counted, and what came by them may be given again.
  await watchOperations(opened.db, 'p', [{ operationId: 'd' }]);
  expect((await post(served, ['d'])).status).toBe(200);
  await opened.db.query(
    `update sync.watched_operations set state = 'done' where operation_id in ('a', 'b')`,
  );
  expect((await post(served, ['e'])).status).toBe(200);
  expect((await post(served, ['f'])).status).toBe(429);
  // Given again when it is lost, an operation is open again: that counts too.
  await opened.db.query(
    `update sync.watched_operations set state = 'lost' where operation_id = 'a'`,
  );
  expect((await post(served, ['a'])).status).toBe(429);
  expect((await post(served, ['b'])).status).toBe(200);
});

const together = async (to: Served): Promise<number> => {
  await Promise.all(Array.from({ length: 8 }, (_, i) => post(to, [`t-${i}`, `u-${i}`])));
  return (await watched()).length;
};

test('nor when many come together', async () => {
  expect(await together(served)).toBeLessThanOrEqual(mostOpen);
  await opened.db.query('delete from sync.watched_operations');
  // As several replicas would.
  const ends = await Promise.allSettled(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((operationId) =>
      enterUpTo(mostOpen, opened.db, 'p', [{ operationId }]),
    ),
  );
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(mostOpen);
  expect(await watched()).toHaveLength(mostOpen);
});

test('however many come together, one enters at a time: the runs keep their connections', async () => {
  let under = 0;
  let most = 0;
  const server = await freshOn({
    watch: async (project, operations) => {
      most = Math.max(most, ++under);
      const entered = await watchOperations(opened.db, project, operations);
      under -= 1;
      return entered;
    },
  });
  expect(await together(server)).toBe(16);
  expect(most).toBe(1);
});

// A worker waits as long as its role says.
test.skipIf(isOnCluster)(
  'entering that waits too long for another is answered as a time-out, and enters nothing',
  async () => {
    const answer = await withTx(opened.db, async (tx) => {
      await tx.query(`select from sync.projects where project_id = 'p' for update`);
      return post(served, ['late']);
    });
    expect(answer.status).toBe(503);
    expect(answer.text).toContain('"TIMEOUT"');
    expect(await watched()).toEqual([]);
    expect((await post(served, ['late'])).status).toBe(200);
  },
);

test('sabotaged, a door without the ceiling is noticed', async () => {
  const server = await freshOn({
    watch: (project, operations) => watchOperations(opened.db, project, operations),
  });
  expect(await together(server)).toBeGreaterThan(mostOpen);
});

test('ids are taken in, each once, with the day they are of', async () => {
  const given = '{"operation_ids":["new-1","new-2","new-1"],"created_on":"2026-04-01"}';
  for (const added of [2, 0]) {
    const { status, text } = await send(served, given);
    expect([status, JSON.parse(text)]).toEqual([200, { data: { given: 2, added, changed: 0 } }]);
  }
  const { rows } = await opened.db.query(
    `select operation_id, created_on from sync.watched_operations order by 1`,
  );
  expect(rows).toEqual([
    { operation_id: 'new-1', created_on: '2026-04-01' },
    { operation_id: 'new-2', created_on: '2026-04-01' },
  ]);
});

test.each([
  ['no JSON', '{"operation_ids":'],
  ['nothing', ''],
  ['a byte order mark', '\ufeff{}'],
  ['no object', '[]'],
  ['null', 'null'],
  ['a prototype', '{"__proto__":{"a":1},"operation_ids":["fine"]}'],
  ['no list', {}],
  ['an empty list', { operation_ids: [] }],
  ['too many', { operation_ids: Array.from({ length: 1001 }, (_, i) => `many-${i}`) }],
  ['no texts', { operation_ids: [1] }],
  ['objects', { operation_ids: [{}] }],
  ['an id with a blank', { operation_ids: ['fine', 'not fine'] }],
  ['no day', { operation_ids: ['fine'], created_on: '2026-02-30' }],
  ['no lookup', { operation_ids: ['fine'], api_version: 'v2' }],
  ['a field nobody knows', { operation_ids: ['fine'], createdOn: '2026-04-01' }],
])('P12: %s is answered 400, and nothing is entered', async (_, body) => {
  const given = typeof body === 'string' ? body : JSON.stringify(body);
  const { status, text } = await send(served, given);
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({ error: { code: 'BAD_REQUEST' } });
  expect(await watched()).toEqual([]);
});

test('no page of the web can post to it, a key alone is no signature, and nobody posts for another project or without end', async () => {
  const body = '{"operation_ids":["foreign"]}';
  expect((await send(served, body, { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await send(remote, body, { 'x-api-key': 'watches' })).status).toBe(403);
  expect((await send(served, body, {}, '?project=other')).status).toBe(403);
  const { status, text } = await send(served, `"${'x'.repeat(2 << 20)}"`);
  expect([status, text]).toEqual([413, expect.stringContaining('"code_space":"outlast"')]);
  expect(await watched()).toEqual([]);
});

/** A request as it went over the wire, headers and all. */
type Caught = { method: string; target: string; headers: Record<string, string>; body?: string };

function caughtOf(target: string, body?: string, timestamp = String(Date.now())): Caught {
  const both = { key: 'both', secret: 's4' };
  const given = body === undefined ? {} : { body };
  const headers = {
    'content-type': 'application/json',
    ...signedHeaders(both, target, { ...given, timestamp }),
  };
  return { method: body === undefined ? 'GET' : 'POST', target, headers, ...given };
}

async function repeat({ target, ...init }: Caught, [to] = replicas): Promise<number> {
  const answer = await fetch(to.url + target, init);
  await answer.text();
  return answer.status;
}

describe('a caught request that reads', () => {
  const target = '/archive/v1/orders?project=p&limit=2';
  test('may be repeated: nothing changes by it', async () => {
    const caught = caughtOf(target);
    expect([await repeat(caught), await repeat(caught)]).toEqual([200, 200]);
    // The platform's scheme signs names and values: neither their order nor HEAD for GET asks for anything else.
    expect(await repeat({ ...caught, target: '/archive/v1/orders?limit=2&project=p' })).toBe(200);
    expect(await repeat({ ...caught, method: 'HEAD' })).toBe(200);
  });

  test.each([
    '/archive/v1/orders?project=q&limit=2',
    '/archive/v1/orders?project=p&limit=3',
    '/archive/v1/orders?project=p',
    '/archive/v1/orders?project=p&limit=2&order=desc',
    '/archive/v1/orders?project=p&limit=2&limit=2',
    '/archive/v1/orders?project=p&limit=2&limit=50',
    '/archive/v1/orders?project=p&limit=2&%6Cimit=50',
    '/archive/v1/orders?project=p&limit=2&project=q',
    '/archive/v1/orders?project=p&limit=2&x=',
    '/archive/v1/orders?project=p&limit=2&=',
    '/archive/v1/orders/?project=p&limit=2',
    '/archive/v1/order%73?project=p&limit=2',
    '/archive/v1/nft_classes?project=p&limit=2',
    '/archive/v1/',
    '/v3/orders?project=p&limit=2',
  ])('does not open %s', async (other) => {
    expect(await repeat({ ...caughtOf(target), target: other })).toBe(403);
  });

  test('nor the platform’s own paths with a parameter said twice', async () => {
    const headers = signedHeaders({ key: 'watches', secret: 's3' }, '/v3/orders?limit=2');
    const caught: Caught = { method: 'GET', target: '/v3/orders?limit=2', headers };
    expect(await repeat(caught)).toBe(200);
    expect(await repeat({ ...caught, target: '/v3/orders?limit=2&limit=50' })).toBe(403);
    expect(await repeat({ ...caught, target: '/v3/orders?limit=2&status=1' })).toBe(403);
  });

  test('is no request of another key, another moment, or with another method', async () => {
    const caught = caughtOf('/archive/v1/watch?project=p');
    const later = { 'x-timestamp': String(Number(caught.headers['x-timestamp']) + 1) };
    expect(
      await repeat({
        ...caughtOf(target),
        headers: { ...caughtOf(target).headers, 'x-api-key': 'watches' },
      }),
    ).toBe(403);
    expect(await repeat({ ...caught, headers: { ...caught.headers, ...later } })).not.toBe(200);
    for (const body of ['{}', '{"operation_ids":["a"]}']) {
      expect(await repeat({ ...caught, method: 'POST', body })).toBe(403);
    }
    expect(await watched()).toEqual([]);
  });
});

describe('a caught request that writes', () => {
  const target = '/archive/v1/watch?project=p';
  const body = '{"operation_ids":["a"]}';

  test.each<[string, Partial<Caught>]>([
    ['another body', { body: '{"operation_ids":["b"]}' }],
    ['a body with a space more', { body: `${body} ` }],
    ['an empty list of members', { body: '{}' }],
    ['another project', { target: '/archive/v1/watch?project=q' }],
    ['a project said twice', { target: `${target}&project=p` }],
    ['a parameter more', { target: `${target}&limit=1` }],
    [
      'the digest as a parameter',
      { target: `${target}&body_sha256=${hash('sha256', body, 'hex')}` },
    ],
  ])('does not pass with %s', async (_, change) => {
    expect(await repeat({ ...caughtOf(target, body), ...change })).toBe(403);
    expect(await watched()).toEqual([]);
  });

  test('does not open what is read', async () => {
    const { headers } = caughtOf('/archive/v1/projects', '');
    expect(await repeat({ method: 'GET', target: '/archive/v1/projects', headers })).toBe(403);
  });

  test('is taken once, by one of all replicas, and as long as it could pass', async () => {
    const caught = caughtOf(target, body);
    const answers = await Promise.all(
      [0, 1, 0, 1].map((n) => repeat(caught, [replicas[n] ?? replicas[0], replicas[0]])),
    );
    expect(answers.toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    await opened.db.query(`update sync.watched_operations set state = 'lost'`);
    expect(await repeat(caught)).toBe(409);
    const { rows } = await opened.db.query('select state from sync.watched_operations');
    expect(rows).toEqual([{ state: 'lost' }]);
    // Signed anew it is another request.
    expect(await repeat(caughtOf(target, body, String(Date.now() + 1)))).toBe(200);
  });

  test('is taken where it enters something, and only there', async () => {
    expect(await repeat(caughtOf(target, '{"operation_ids":["1","2","3"]}'))).toBe(200);
    const fourth = caughtOf(target, body);
    expect(await repeat(fourth)).toBe(429);
    await opened.db.query('delete from sync.watched_operations');
    expect([await repeat(fourth), await repeat(fourth)]).toEqual([200, 409]);
  });

  test('is forgotten when its signature is too old to open anything', async () => {
    const memory = async (): Promise<number> =>
      (await opened.db.query('select from sync.taken_requests')).rows.length;
    await repeat(caughtOf(target, body));
    await opened.db.query(
      `update sync.taken_requests set taken_at = now() - interval '31 minutes'`,
    );
    await repeat(caughtOf(target, body, String(Date.now() + 1)));
    expect(await memory()).toBe(2);
    await opened.db.query(
      `update sync.taken_requests set taken_at = now() - interval '61 minutes'`,
    );
    await repeat(caughtOf(target, body, String(Date.now() + 2)));
    expect(await memory()).toBe(1);
    const old = String(Date.now() - 15 * 60_000 - 1000);
    expect(await repeat(caughtOf(target, body, old))).toBe(403);
  });

  test('with a bearer key is nobody’s to catch: it may be sent again', async () => {
    const headers = { 'content-type': 'application/json', ...bearingOf('watches-bearer') };
    const sent: Caught = { method: 'POST', target, headers, body };
    expect([await repeat(sent), await repeat(sent)]).toEqual([200, 200]);
  });

  test('sabotaged, a door that does not remember is noticed', async () => {
    const forgetful = await freshOn({
      ...ofReplicas,
      watch: (project, operations) => watchOperations(opened.db, project, operations),
    });
    const caught = caughtOf(target, body);
    const to: [Served, Served] = [forgetful, forgetful];
    expect([await repeat(caught, to), await repeat(caught, to)]).toEqual([200, 200]);
  });
});
