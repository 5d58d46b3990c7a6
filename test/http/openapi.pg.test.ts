// /openapi.json says what the server does: the document is sound, and every route answers as it says there.
import { hash } from 'node:crypto';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import type { Document, OpenApiJson, OpenApiOperation } from '../../src/http/docs/openapi.ts';
import type { Served } from '../../src/http/server.ts';
import { openArchive, watch, type Archive } from '../../src/index.ts';
import { watchOperations } from '../../src/store/operations/watch-operations.ts';
import { createBench, type Bench } from '../support/archive.ts';
import { setUp } from '../support/fresh.ts';
import { serveArchive } from '../support/served.ts';
import { filledWith } from './document-paths.ts';

let bench: Bench;
let archive: Archive;
let served: Served;
let document: Document;
/** One id for each path that has one. */
let ids: Record<string, string>;
const days = ['2026-03-01', '2026-04-02', '2026-04-05', '2026-04-06'];
const records = { ordersPerDay: 20, classesPerDay: 6, quietShare: 0.2 };
const world = { ...records, transactionsPerDay: 3, tokens: 3 };

setUp(async (keep) => {
  bench = await keep(createBench({ world, days }, { tokensEveryMs: 86_400_000 }));
  await bench.seal();
  const operations = bench.simulator.oracle
    .operationIds('2026-04-02')
    .map((operationId) => ({ operationId }));
  await watch({ connectionString: bench.connectionString, project: 'p', operations });
  await bench.run();
  await bench.db.query(
    `insert into archive.certificate_files (project_id, operation_id, url, bytes, sha256, fetched_at)
     values ('p', $1, 'https://files.example/x', 'bytes', sha256('bytes'), now())`,
    [operations[0]?.operationId],
  );
  await bench.db.query(
    `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
     values ('p', 'orders', sha256('{"no":"id"}'), '{"no":"id"}', 'no id', '', '2026-03-05', now())`,
  );
  await bench.db.query(
    `insert into sync.certificates (project_id, resource, month, certified_at, certificate, digest, leaves_sha256)
     values ('p', 'orders', '2026-02-01', now(), '{"records": 0}', sha256('1'), sha256('2'))`,
  );
  archive = await keep(openArchive({ connectionString: bench.connectionString }));
  served = await keep(
    serveArchive(archive, {
      watch: (project, given) => watchOperations(bench.db, project, given),
    }),
  );
  document = (await (await fetch(`${served.url}/openapi.json`)).json()) as Document;
  ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  addFormats.default(ajv);
  const named = JSON.stringify({ $id: 'named', $defs: closed(document.components.schemas) });
  ajv.addSchema(JSON.parse(named.replaceAll('#/components/schemas/', '#/$defs/')) as OpenApiJson);
  const [order] = (await archive.orders.list({ project: 'p', limit: 1 })).items;
  const [nftClass] = (await archive.nftClasses.list({ project: 'p', limit: 1 })).items;
  const [token] = (await archive.tokens.list({ project: 'p' })).items;
  ids = {
    orders: order?.operationId ?? '',
    nft_classes: nftClass?.id ?? '',
    transactions: operations[0]?.operationId ?? '',
    tx: operations[0]?.operationId ?? '',
    tokens: token?.symbol ?? '',
  };
});

const gets = (): [path: string, operation: OpenApiOperation][] =>
  Object.entries(document.paths).flatMap(([path, { get }]) =>
    // What never ends by itself: test/http/now.pg.test.ts.
    get === undefined || path.endsWith('/events')
      ? []
      : [[path, get] as [string, OpenApiOperation]],
  );

const sha256 = hash('sha256', '{"no":"id"}', 'hex');
const filled = (path: string): string =>
  filledWith(path, { id: (list) => ids[list] ?? '', day: '2026-04-02', month: '2026-02', sha256 });
/** What names nothing. */
const nothing = { id: 'nothing', day: '2020-01-01', month: '2020-01', sha256: '0'.repeat(64) };
const unknown = (path: string): string => filledWith(path, nothing);

/** The document's schemas, with nothing allowed that they do not name: a field nobody described is a fault. */
function closed(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(closed);
  if (typeof json !== 'object' || json === null) return json;
  const all = Object.fromEntries(Object.entries(json).map(([name, one]) => [name, closed(one)]));
  return 'properties' in all && !('additionalProperties' in all)
    ? { ...all, additionalProperties: false }
    : all;
}

let ajv: Ajv2020;
/** By their text: many routes share one, and to compile them takes longer than to ask every route. */
const validators = new Map<string, ValidateFunction>();

function validator(schema: OpenApiJson): ValidateFunction {
  const text = JSON.stringify(closed(schema)).replaceAll('#/components/schemas/', 'named#/$defs/');
  const known = validators.get(text);
  if (known !== undefined) return known;
  const validate = ajv.compile(JSON.parse(text) as OpenApiJson);
  validators.set(text, validate);
  return validate;
}

type Content = { [type: string]: { schema: OpenApiJson } };
const contentOf = (operation: OpenApiOperation, status: number): Content =>
  (operation.responses[status]?.['content'] ?? {}) as Content;

async function holds(operation: OpenApiOperation, answer: Response): Promise<void> {
  const content = contentOf(operation, answer.status);
  const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const text = await answer.text();
  expect(Object.keys(operation.responses), text).toContain(String(answer.status));
  if (answer.status === 304) return;
  expect(Object.keys(content)).toContain(type);
  if (type !== 'application/json') return;
  const validate = validator(content[type]?.schema ?? {});
  validate(JSON.parse(text));
  expect(validate.errors, text.slice(0, 300)).toBeNull();
}

describe('the document', () => {
  test('names every operation once, and every parameter of a path', () => {
    const operations = Object.values(document.paths).flatMap(({ get, post }) => get ?? post ?? []);
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const [path, { parameters }] of gets()) {
      const inPath = parameters.filter((one) => one.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every(({ required }) => required)).toBe(true);
    }
  });

  test('has sound schemas only, and says something of each parameter that is ours', () => {
    for (const [path, { parameters, responses }] of gets()) {
      for (const { schema, description } of parameters) {
        validator(schema);
        if (path.startsWith('/archive/')) expect(description).toBeTruthy();
      }
      for (const status of Object.keys(responses)) {
        expect(responses[status]?.['description']).toBeTruthy();
      }
    }
    for (const schema of Object.values(document.components.schemas))
      validator(schema as OpenApiJson);
  });
});

describe('every route answers as the document says', () => {
  test('what is there, in every form', async () => {
    for (const [path, operation] of gets()) {
      const ask = (accept?: string): Promise<Response> =>
        fetch(served.url + filled(path), accept === undefined ? {} : { headers: { accept } });
      const plain = await ask();
      expect(plain.status, path).toBe(200);
      await holds(operation, plain);
      for (const type of Object.keys(contentOf(operation, 200))) {
        const answer = await ask(type);
        expect(answer.headers.get('content-type')?.split(';')[0]).toBe(type);
        await holds(operation, answer);
      }
      if (!path.startsWith('/archive/')) continue;
      const refused = await ask('image/png');
      expect(refused.status).toBe(406);
      await holds(operation, refused);
    }
  });

  test('what is not there, and what makes no sense', async () => {
    for (const [path, operation] of gets()) {
      if (path.includes('{')) {
        await holds(operation, await fetch(served.url + unknown(path)));
      }
      const odd = await fetch(`${served.url}${filled(path)}?limit=many&no_such=1`);
      if (path.startsWith('/archive/')) expect(odd.status).toBe(400);
      await holds(operation, odd);
    }
  });

  test('what is entered', async () => {
    const post = document.paths['/archive/v1/watch']?.post;
    if (post === undefined) throw new Error('nothing can be entered');
    for (const body of ['{"operation_ids":["new-1"]}', '{}', '{']) {
      for (const type of ['application/json', 'text/plain']) {
        const given = { method: 'POST', headers: { 'content-type': type }, body };
        await holds(post, await fetch(`${served.url}/archive/v1/watch`, given));
      }
    }
  });

  test('a document that leaves a field out is found out', async () => {
    const { properties } = document.components.schemas['Order'] as { properties: OpenApiJson };
    const { raw_sha256: _, ...others } = properties;
    const validate = validator({ type: 'object', properties: others });
    const order = await (await fetch(served.url + filled('/archive/v1/orders/{id}'))).json();
    expect(validate(order)).toBe(false);
  });
});

describe('the page of /docs', () => {
  test('names every operation, needs nothing from elsewhere, and lets nothing else run', async () => {
    const answer = await fetch(`${served.url}/docs`);
    const page = await answer.text();
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    for (const [, { operationId }] of gets()) expect(page).toContain(`id="${operationId}"`);
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(page).not.toMatch(/\son\w+=|style="/);
    // A screen or two an operation: it grows with their number, and with nothing else.
    expect(page.length).toBeLessThan(4_000 * gets().length);
  });
});
