// The package as its users meet it: the examples of docs/library.md run, and the declarations need no package but ours.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as face from '../src/index.ts';
import { silentLog } from '../src/log.ts';
import { openDb, type Db } from '../src/store/db.ts';
import * as example from './support/library-example.ts';
import { createTestDatabase, type TestDatabase } from './support/postgres.ts';
import { writeClass, writeOrder } from './support/rows.ts';

const root = resolve(import.meta.dirname, '..');
const project = 'p';
let database: TestDatabase;
let db: Db;
let archive: face.Archive;

beforeAll(async () => {
  database = await createTestDatabase();
  const { connectionString } = database;
  db = await openDb({ connectionString, log: silentLog() });
  archive = await face.openArchive({ connectionString });
  await writeOrder(db, { project, id: 'op_0001', amount: '9007199254740993', status: 3 });
  await writeOrder(db, { project, id: 'op_0002', createdAt: '2026-04-01T00:00:00Z' });
  await writeClass(db, { project, id: 'c', name: 'A Cat', owner: 'me' });
});
afterAll(async () => {
  await archive.close();
  await db.close();
  await database.drop();
});

describe('docs/library.md', () => {
  const squeezed = (text: string): string => text.replace(/\s+/g, '');

  test('shows code that is compiled and run here', () => {
    const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
    const source = squeezed(readFileSync(join(root, 'test/support/library-example.ts'), 'utf8'));
    const examples = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) =>
      code.replace(/^import .*$/gm, ''),
    );
    expect(examples).toHaveLength(7);
    for (const code of examples) expect(source).toContain(squeezed(code));
  });

  test('names every code that an argument can meet', () => {
    const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
    const codes = ['reader', 'arguments', 'cursor'].flatMap((name) => {
      const source = readFileSync(join(root, `src/query/${name}.ts`), 'utf8');
      return [...source.matchAll(/(?:settingsError|transient)\(\s*'([a-z_]+)'/g)].map(
        ([, code = '']) => code,
      );
    });
    expect(codes.length).toBeGreaterThan(5);
    for (const code of codes) expect(page).toContain(code.replace(/^database_.*/, 'database_'));
  });
});

describe('the examples', () => {
  test('stream a month', async () => {
    const lines = ['op_0001,2026-03-10T10:00:00Z,9007199254740993'];
    expect(await example.streaming(archive, project)).toEqual(lines);
  });

  test('page, get and find', async () => {
    const [page, more] = await example.paging(archive, project);
    expect(page.items.map((order) => order.operationId)).toEqual(['op_0001']);
    expect(more).toBeNull();
    expect(await example.one(archive, project)).toBe(9_007_199_254_740_993n);
    expect(await example.classesOf(archive, project, 'me')).toHaveLength(1);
  });

  test('tell what is certain, and which error it was', async () => {
    expect(await example.certainty(archive, project)).toEqual({ uncertain: [], summary: [] });
    await example.failing(archive, project);
  });
});

test('the face opens archives and tells errors apart, and exports nothing that writes', () => {
  expect(Object.keys(face).toSorted()).toEqual(['OutlastError', 'isOutlastError', 'openArchive']);
});

describe('the declarations', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outlast-declarations-'));
    const flags = ['--emitDeclarationOnly', '--incremental', 'false', '--outDir', folder];
    await new Promise<void>((done) => {
      // Whether all of it compiles is `npm run types`' business.
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      execFile(
        process.execPath,
        [compiler, '-p', 'tsconfig.build.json', ...flags],
        { cwd: root },
        () => done(),
      );
    });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The packages that a declaration file asks for, itself or through the files it asks for. */
  function packagesOf(file: string, seen = new Set<string>()): string[] {
    if (seen.has(file)) return [];
    seen.add(file);
    const source = readFileSync(file, 'utf8');
    const asked = [...source.matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)].map(
      ([, name = '']) => name,
    );
    return asked.flatMap((name) => {
      if (!name.startsWith('.')) return [name];
      const declared = join(dirname(file), name.replace(/\.[jt]s$/, '.d.ts'));
      expect(existsSync(declared)).toBe(true);
      return packagesOf(declared, seen);
    });
  }

  test('of the face ask for no other package', () => {
    expect(packagesOf(join(folder, 'src/index.d.ts'))).toEqual([]);
  });

  test('of a file inside do: the check above can see it', () => {
    expect(packagesOf(join(folder, 'src/query/records.d.ts'))).toContain('drizzle-orm');
  });
});
