// Who may read /archive/v1, and what: every route of the document is asked by those who may not, so that no new one is
// forgotten.
import { hash } from 'node:crypto';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readReaders } from '../../src/cli/start-serving.ts';
import type { Document } from '../../src/http/docs/openapi.ts';
import type { Served, ServerOptions } from '../../src/http/server.ts';
import type { Archive } from '../../src/index.ts';
import type { Settings } from '../../src/settings/settings.ts';
import type { Db } from '../../src/store/db.ts';
import { watchOperations } from '../../src/store/operations/watch-operations.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { observe } from '../support/observe.ts';
import { openEmpty } from '../support/opened.ts';
import { writeProjects } from '../support/rows.ts';
import { serveArchive } from '../support/served.ts';
import { bearerKey, bearing, signedHeaders } from './ask.ts';
import { archivePaths } from './document-paths.ts';

let db: Db;
let archive: Archive;
/** Bound to loopback, and beyond it. */
let served: Served;
let remote: Served;
let document: Document;

const bearer = 'Qk9_a.long~random+key/of-its-own==';
const digest = hash('sha256', bearer, 'hex');
const pair = { key: 'signs', secret: 'a secret of its own', projects: ['mine', 'ours'] };
const keys = [
  pair,
  { ...bearerKey(bearer, ['mine']), key: 'bears' },
  { ...bearerKey('both-key', ['mine', 'ours']), secret: 'another' },
];

setUp(async (keep) => {
  ({ db, archive } = await keep(openEmpty()));
  await writeProjects(db, ['mine', 'ours', 'theirs']);
  for (const project of ['mine', 'ours', 'theirs']) {
    const order = { operation_id: `of-${project}`, create_time: '2026-03-05T09:00:00Z', status: 2 };
    await observe(db, { project, resource: 'orders' }, [order], '2026-03-05T10:00:00Z');
  }
  served = await keep(serveOn({}));
  remote = await keep(serveOn({ host: '0.0.0.0' }));
  document = (await (await fetch(`${served.url}/openapi.json`)).json()) as Document;
});

const serveOn = (more: Partial<ServerOptions>): Promise<Served> =>
  serveArchive(archive, {
    keys,
    projects: ['mine', 'ours', 'theirs'].map((id) => ({ id, classesOf: id })),
    watch: async () => ({ given: 0, added: 0, changed: 0 }),
    ...more,
  });

const signed = (target: string, other: Partial<typeof pair> = {}): Record<string, string> =>
  signedHeaders({ ...pair, ...other }, target);
const outside = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(remote.url + path, { headers });
const inside = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(served.url + path, { headers });

/** Every path under /archive/v1, with an id where it wants one. */
const paths = (): { path: string; takesProject: boolean }[] =>
  archivePaths(document, { id: 'of-theirs' }).map(({ path, operation: { parameters } }) => ({
    path,
    takesProject: parameters.some(({ name }) => name === 'project'),
  }));

test('beyond loopback every route wants a key: 401 without one, 403 with a wrong one', async () => {
  for (const { path } of [{ path: '/archive/v1' }, { path: '/archive/v1/' }, ...paths()]) {
    const none = await outside(path);
    expect([path, none.status]).toEqual([path, 401]);
    expect(none.headers.get('www-authenticate')).toBe('Bearer realm="outlast"');
    expect(await none.json()).toMatchObject({
      error: { code_space: 'outlast', code: 'UNAUTHORIZED' },
    });
    for (const headers of [
      bearing(`${bearer}x`),
      bearing(digest),
      { authorization: `Basic ${btoa(`bears:${bearer}`)}` },
      { authorization: '' },
      signed(path, { secret: 'wrong' }),
      signed(path, { key: 'bears', secret: bearer }),
    ]) {
      expect([path, (await outside(path, headers)).status]).toEqual([path, 403]);
    }
  }
});

test('a present but wrong key is refused on loopback too', async () => {
  for (const { path } of paths()) {
    for (const headers of [bearing('wrong'), signed(path, { secret: 'wrong' })]) {
      expect((await inside(path, headers)).status).toBe(403);
    }
  }
  const both = { ...bearing(bearer), ...signed('/archive/v1/projects') };
  expect((await inside('/archive/v1/projects', both)).status).toBe(400);
});

test('another’s project and one that does not exist are told apart on no route', async () => {
  for (const { path, takesProject } of paths()) {
    if (!takesProject) continue;
    const answers = await Promise.all(
      ['theirs', 'nobody'].map(async (project) => {
        const answer = await outside(`${path}?project=${project}`, bearing(bearer));
        return { path, status: answer.status, body: await answer.text() };
      }),
    );
    expect(answers[0]?.status).toBe(403);
    expect(answers[1]).toEqual(answers[0]);
    // What is another's is not found under one's own either.
    if (path.endsWith('/events')) continue;
    const own = await outside(path, bearing(bearer));
    expect([200, 404]).toContain(own.status);
    expect(await own.text()).not.toContain('of-theirs"');
  }
});

test('the same questions tell both apart where a reader may read the other: the check can fail', async () => {
  const server = await fresh(serveOn({ keys: [bearerKey(bearer, ['theirs'])] }));
  const read = async (project: string) => {
    const url = `${server.url}/archive/v1/orders?project=${project}`;
    const answer = await fetch(url, { headers: bearing(bearer) });
    return { status: answer.status, text: await answer.text() };
  };
  const [theirs, nobody] = [await read('theirs'), await read('nobody')];
  expect(theirs).not.toEqual(nobody);
  expect(theirs.text).toContain('of-theirs"');
});

test('routes of all projects show those one may read and no other', async () => {
  for (const { path, takesProject } of paths()) {
    // The settings are those of all projects: test/http/now.pg.test.ts.
    if (takesProject || path.endsWith('/settings')) continue;
    const text = await (await outside(path, bearing(bearer))).text();
    expect(text).toContain('"mine"');
    expect(text).not.toMatch(/theirs|ours/);
  }
});

test('a reader of classes that another project archives reads nothing else of it', async () => {
  const projects = [{ id: 'ours', classesOf: 'mine' }];
  const shared = await fresh(serveOn({ projects, keys: [bearerKey(bearer, ['ours'])] }));
  for (const list of ['orders', 'nft_classes']) {
    const path = `/archive/v1/${list}?project=mine`;
    const answer = await fetch(shared.url + path, { headers: bearing(bearer) });
    expect([path, answer.status]).toEqual([path, 403]);
  }
});

test('whoever may watch a project learns no other’s name', async () => {
  const server = await fresh(
    serveOn({
      projects: [{ id: 'new', classesOf: 'new' }],
      watch: (project, operations) => watchOperations(db, project, operations),
    }),
  );
  const answer = await fetch(`${server.url}/archive/v1/watch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"operation_ids":["a"]}',
  });
  expect(answer.status).toBe(400);
  expect(await answer.text()).not.toMatch(/mine|ours|theirs/);
});

test('the document says whether a key is needed', async () => {
  const told = (await (await outside('/openapi.json')).json()) as Document;
  const security = (from: Document) => from.paths['/archive/v1/orders']?.get?.security;
  expect(security(told)).toEqual([{ bearer: [] }, { key: [], timestamp: [], signature: [] }]);
  expect(security(document)).toContainEqual({});
});

test('a reader of several projects says which; one of one need not', async () => {
  const unnamed = await outside('/archive/v1/orders', bearing('both-key'));
  expect(unnamed.status).toBe(400);
  expect(await unnamed.text()).toContain('mine, ours');
  const named = await outside('/archive/v1/orders?project=ours', bearing('both-key'));
  expect(await named.text()).toContain('of-ours');
  expect(await (await outside('/archive/v1/orders', bearing(bearer))).text()).toContain('of-mine');
});

test('a bearer key opens nothing but /archive/v1', async () => {
  const platforms = ['/v3/orders', '/v1beta1/nft/classes', '/v1beta1/tx/a', '/token/tokens'];
  for (const path of platforms) {
    expect((await outside(path, bearing(bearer))).status).toBe(403);
    expect((await outside(path, { 'x-api-key': 'bears' })).status).toBe(403);
    expect((await outside(path, signed(path, { key: 'bears', secret: '' }))).status).toBe(403);
    expect((await outside(path, signed(path, { key: 'bears', secret: digest }))).status).toBe(403);
  }
});

test('what describes the interface needs no key and names no project', async () => {
  for (const path of ['/openapi.json', '/docs', '/sign-in', '/']) {
    const answer = await outside(path);
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toMatch(/\bmine\b|\btheirs\b/);
  }
});

describe('the readers file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'outlast-readers-'));
  const read = (readers: unknown) => {
    const readersFile = join(folder, 'readers.json');
    writeFileSync(readersFile, JSON.stringify(readers), { mode: 0o600 });
    chmodSync(readersFile, 0o600);
    const projects = [{ id: 'mine', apiKey: 'own', apiSecret: 'own-secret' }];
    return readReaders({ projects, readersFile } as unknown as Settings);
  };
  const projects = ['mine'];

  test('takes a secret, a bearer key’s digest, or both, and the right to watch, which the project’s own has', () => {
    const signs = { id: 'a', secret: 's', projects, watch: true };
    expect(read([signs, { id: 'b', bearer_sha256: digest, projects }])).toMatchObject([
      { key: 'own', secret: 'own-secret', mayWatch: true },
      { key: 'a', secret: 's', mayWatch: true },
      { key: 'b', bearerSha256: digest, mayWatch: false },
    ]);
  });

  test.each([
    ['neither', [{ id: 'a', projects }], /needs a secret, a bearer_sha256, or both/],
    ['no right', [{ id: 'a', secret: 's', projects, watch: 'yes' }], /watch must be true or false/],
    ['no digest', [{ id: 'a', bearer_sha256: bearer, projects }], /64 lower-case hex digits/],
    ['upper case', [{ id: 'a', bearer_sha256: digest.toUpperCase(), projects }], /64 lower-case/],
    [
      'one key for two',
      ['a', 'b'].map((id) => ({ id, bearer_sha256: digest, projects })),
      /same bearer_sha256/,
    ],
  ])('P12: %s is refused with a sentence, without the secret (P10)', (_, readers, sentence) => {
    expect(() => read(readers)).toThrow(sentence);
    try {
      read(readers);
    } catch (error) {
      expect(String(error)).not.toContain(bearer);
    }
  });
});
