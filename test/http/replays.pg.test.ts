// A signature that somebody caught opens the request it was made for, and one that writes once. Real servers on one
// database, as replicas are.
import { hash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Served, ServerOptions } from '../../src/http/server.ts';
import { watchOperations, enterUpTo } from '../../src/store/operations/watch-operations.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { openEmpty, type Opened } from '../support/opened.ts';
import { writeProjects } from '../support/rows.ts';
import { serveArchive } from '../support/served.ts';
import { bearerKey, bearing, signedHeaders } from './ask.ts';

let opened: Opened;
let replicas: [Served, Served];
const keys = [
  { key: 'one', secret: 's1', projects: ['p', 'q'], mayWatch: true },
  { ...bearerKey('b2', ['p']), key: 'two', secret: 's2', mayWatch: true },
];
const serveOn = (more: Partial<ServerOptions> = {}): Promise<Served> =>
  serveArchive(opened.archive, {
    host: '0.0.0.0',
    keys,
    projects: ['p', 'q'].map((id) => ({ id, classesOf: id })),
    watch: (project, operations, signature) =>
      enterUpTo(3, opened.db, project, operations, signature),
    ...more,
  });

setUp(async (keep) => {
  opened = await keep(openEmpty());
  await writeProjects(opened.db, ['p', 'q']);
  replicas = [await keep(serveOn()), await keep(serveOn())];
});
beforeEach(() =>
  opened.db.query('delete from sync.watched_operations; delete from sync.taken_requests'),
);

/** A request as it went over the wire, headers and all. */
type Caught = { method: string; target: string; headers: Record<string, string>; body?: string };

function signed(target: string, body?: string, timestamp = String(Date.now())): Caught {
  const one = { key: 'one', secret: 's1' };
  const given = body === undefined ? {} : { body };
  const headers = {
    'content-type': 'application/json',
    ...signedHeaders(one, target, { ...given, timestamp }),
  };
  return { method: body === undefined ? 'GET' : 'POST', target, headers, ...given };
}

async function send({ target, ...init }: Caught, [to] = replicas): Promise<number> {
  const answer = await fetch(to.url + target, init);
  await answer.text();
  return answer.status;
}

async function watched(): Promise<string[]> {
  const { rows } = await opened.db.query<{ id: string }>(
    `select project_id || '/' || operation_id as id from sync.watched_operations order by 1`,
  );
  return rows.map(({ id }) => id);
}

describe('a caught request that reads', () => {
  const target = '/archive/v1/orders?project=p&limit=2';
  test('may be repeated: nothing changes by it', async () => {
    const caught = signed(target);
    expect([await send(caught), await send(caught)]).toEqual([200, 200]);
    // The platform's scheme signs names and values: neither their order nor HEAD for GET asks for anything else.
    expect(await send({ ...caught, target: '/archive/v1/orders?limit=2&project=p' })).toBe(200);
    expect(await send({ ...caught, method: 'HEAD' })).toBe(200);
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
    expect(await send({ ...signed(target), target: other })).toBe(403);
  });

  test('nor the platform’s own paths with a parameter said twice', async () => {
    const headers = signedHeaders({ key: 'two', secret: 's2' }, '/v3/orders?limit=2');
    const caught: Caught = { method: 'GET', target: '/v3/orders?limit=2', headers };
    expect(await send(caught)).toBe(200);
    expect(await send({ ...caught, target: '/v3/orders?limit=2&limit=50' })).toBe(403);
    expect(await send({ ...caught, target: '/v3/orders?limit=2&status=1' })).toBe(403);
  });

  test('is no request of another key, another moment, or with another method', async () => {
    const caught = signed('/archive/v1/watch?project=p');
    const later = { 'x-timestamp': String(Number(caught.headers['x-timestamp']) + 1) };
    expect(
      await send({ ...signed(target), headers: { ...signed(target).headers, 'x-api-key': 'two' } }),
    ).toBe(403);
    expect(await send({ ...caught, headers: { ...caught.headers, ...later } })).not.toBe(200);
    for (const body of ['{}', '{"operation_ids":["a"]}']) {
      expect(await send({ ...caught, method: 'POST', body })).toBe(403);
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
    expect(await send({ ...signed(target, body), ...change })).toBe(403);
    expect(await watched()).toEqual([]);
  });

  test('does not open what is read', async () => {
    const { headers } = signed('/archive/v1/projects', '');
    expect(await send({ method: 'GET', target: '/archive/v1/projects', headers })).toBe(403);
  });

  test('is taken once, by one of all replicas, and as long as it could pass', async () => {
    const caught = signed(target, body);
    const answers = await Promise.all(
      [0, 1, 0, 1].map((n) => send(caught, [replicas[n] ?? replicas[0], replicas[0]])),
    );
    expect(answers.toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    await opened.db.query(`update sync.watched_operations set state = 'lost'`);
    expect(await send(caught)).toBe(409);
    const { rows } = await opened.db.query('select state from sync.watched_operations');
    expect(rows).toEqual([{ state: 'lost' }]);
    // Signed anew it is another request.
    expect(await send(signed(target, body, String(Date.now() + 1)))).toBe(200);
  });

  test('is taken where it enters something, and only there', async () => {
    expect(await send(signed(target, '{"operation_ids":["1","2","3"]}'))).toBe(200);
    const fourth = signed(target, body);
    expect(await send(fourth)).toBe(429);
    await opened.db.query('delete from sync.watched_operations');
    expect([await send(fourth), await send(fourth)]).toEqual([200, 409]);
  });

  test('is forgotten when its signature is too old to open anything', async () => {
    const memory = async (): Promise<number> =>
      (await opened.db.query('select from sync.taken_requests')).rows.length;
    await send(signed(target, body));
    await opened.db.query(
      `update sync.taken_requests set taken_at = now() - interval '31 minutes'`,
    );
    await send(signed(target, body, String(Date.now() + 1)));
    expect(await memory()).toBe(2);
    await opened.db.query(
      `update sync.taken_requests set taken_at = now() - interval '61 minutes'`,
    );
    await send(signed(target, body, String(Date.now() + 2)));
    expect(await memory()).toBe(1);
    const old = String(Date.now() - 15 * 60_000 - 1000);
    expect(await send(signed(target, body, old))).toBe(403);
  });

  test('with a bearer key is nobody’s to catch: it may be sent again', async () => {
    const headers = { 'content-type': 'application/json', ...bearing('b2') };
    const sent: Caught = { method: 'POST', target, headers, body };
    expect([await send(sent), await send(sent)]).toEqual([200, 200]);
  });

  test('sabotaged, a door that does not remember is noticed', async () => {
    const forgetful = await fresh(
      serveOn({
        watch: (project, operations) => watchOperations(opened.db, project, operations),
      }),
    );
    const caught = signed(target, body);
    const to: [Served, Served] = [forgetful, forgetful];
    expect([await send(caught, to), await send(caught, to)]).toEqual([200, 200]);
  });
});
