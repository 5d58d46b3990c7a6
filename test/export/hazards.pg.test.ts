// What can befall an export: it is cut off, it is altered, it meets another archive. Nothing is lost by it (P3, P12).
import { execFileSync } from 'node:child_process';
import {
  appendFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { onDisk } from '../../src/export/stage.ts';
import { readManifest, sha256Of, sumsText, type Manifest } from '../../src/export/manifest.ts';
import { importArchive } from '../../src/export/read-export.ts';
import { exportArchive, type Exported } from '../../src/export/write-export.ts';
import { silentLog } from '../../src/log.ts';
import type { FileFormat } from '../../src/model.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { fresh, makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  enterOrders,
  writeClass,
  writeOrder,
  writeOrders,
  writeProjects,
} from '../support/rows.ts';

let db: Db;
/** Of a database in which nothing is archived. */
let emptyDb: Db;
let owner: Db;
let folder = '';
/** A whole export as CSV, to be copied and spoilt. */
let whole = '';

const open = ({ connectionString }: TestDatabase, role?: null): Promise<Db> =>
  openDb({ connectionString, log: silentLog(), ...(role === null ? { role } : {}) });

setUp(async (keep) => {
  const database = await keep(createTestDatabase());
  db = await keep(open(database));
  owner = await keep(open(database, null));
  emptyDb = await keep(open(await keep(createTestDatabase())));
  folder = await keep(makeFolder(), removeFolder);
  await addProject(db, 'p', '2026-04-06T12:00:00Z');
  await writeOrders(db, { project: 'p', count: 2000, from: '2026-01-30', perDay: 50 });
  await writeClass(db, { project: 'p', id: 'c' });
  whole = join(folder, 'whole');
  await exported(whole);
});

const addProject = (to: Db, id: string, addedAt: string): Promise<unknown> =>
  writeProjects(to, [id], { addedAt, firstDay: '2026-01-30' });

const exported = (
  to: string,
  given: { format?: FileFormat; from?: Db; projects?: string[]; stopAfter?: number } = {},
): Promise<Exported> => {
  const stop = new AbortController();
  let files = 0;
  return exportArchive({
    db: given.from ?? db,
    to,
    format: given.format ?? 'csv',
    projects: given.projects ?? ['p'],
    now: Date.parse('2026-04-07T00:00:00Z'),
    signal: stop.signal,
    onProgress: () => {
      files += 1;
      if (files === given.stopAfter) stop.abort();
    },
  });
};

const imported = (from: string, to: Db = emptyDb): Promise<Manifest> =>
  importArchive({
    db: to,
    folder: from,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });

const manifestOf = async (of: string): Promise<string> =>
  readFile(join(of, 'manifest.json'), 'utf8');

let copies = 0;
async function copied(): Promise<string> {
  const copy = join(folder, `copy-${++copies}`);
  await cp(whole, copy, { recursive: true });
  return copy;
}

const heldIn = async (of: Db): Promise<number> =>
  (await of.query('select from sync.projects')).rows.length +
  (await of.query('select from archive.orders')).rows.length;

describe('an export that is cut off', () => {
  test.each(['csv', 'parquet'] as const)('goes on where it was (%s)', async (format) => {
    const to = join(folder, `cut ${format}`);
    await expect(exported(to, { format, stopAfter: 3 })).rejects.toMatchObject({ code: 'aborted' });
    await expect(imported(to)).rejects.toMatchObject({ code: 'no_export' });
    // As a process that died while it noted a file leaves it.
    await appendFile(join(to, '.unfinished', 'journal.jsonl'), '{"path":"p/orders/2026-0');
    const { written, kept, manifest } = await exported(to, { format });
    expect({ written, kept }).toEqual({ written: manifest.files.length - 3, kept: 3 });
    await expect(stat(join(to, '.unfinished'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('leaves the one before as it was, and finds a file that was spoilt meanwhile', async () => {
    const to = await copied();
    const before = await manifestOf(to);
    await writeFile(join(to, 'p/orders/2026-02.csv'), 'spoilt');
    await expect(exported(to, { stopAfter: 3 })).rejects.toMatchObject({ code: 'aborted' });
    expect(await manifestOf(to)).toBe(before);
    const { manifest } = await exported(to);
    expect(manifest.files).toEqual((JSON.parse(before) as Manifest).files);
    expect(await readFile(join(to, 'p/orders/2026-02.csv'), 'utf8')).toContain('op_');
  });

  test('while it was put in place is put there by the next one, and not imported before', async () => {
    const to = await copied();
    const path = 'p/orders/2026-02.csv';
    await mkdir(dirname(join(to, '.unfinished/files', path)), { recursive: true });
    await rename(join(to, path), join(to, '.unfinished/files', path));
    await rename(join(to, 'manifest.json'), join(to, '.unfinished/manifest.json'));
    await expect(imported(to)).rejects.toMatchObject({ code: 'export_unfinished' });
    expect(await exported(to)).toMatchObject({ written: 0 });
  });
});

describe('a second export', () => {
  test('writes only what changed, and says so', async () => {
    const to = await copied();
    const march = (await stat(join(to, 'p/orders/2026-03.csv'))).mtimeMs;
    expect(await exported(to)).toMatchObject({ written: 0 });
    await owner.query(
      `update archive.orders set message = 'changed' where slice_day = '2026-02-10'`,
    );
    expect(await exported(to)).toMatchObject({ written: 1 });
    await owner.query(`update archive.orders set message = '' where slice_day = '2026-02-10'`);
    expect((await stat(join(to, 'p/orders/2026-03.csv'))).mtimeMs).toBe(march);
  });

  test('never takes the place of another archive’s', async () => {
    const before = await manifestOf(whole);
    const told = async (given: Parameters<typeof exported>[1], code: string): Promise<void> => {
      await expect(exported(whole, given)).rejects.toMatchObject({ kind: 'settings', code });
      expect(await manifestOf(whole)).toBe(before);
    };
    await told({ format: 'parquet' }, 'other_format');
    const from = await fresh(open(await fresh(createTestDatabase())));
    await told({ from }, 'nothing_archived');
    await addProject(from, 'q', '2026-04-06T12:00:00Z');
    await told({ from, projects: ['q'] }, 'other_archive');
    await addProject(from, 'p', '2026-04-06T12:00:01Z');
    await told({ from }, 'other_archive');
    await from.query(`update sync.projects set added_at = '2026-04-06T12:00:00Z'`);
    await writeOrder(from, { project: 'p', id: 'one' });
    // Of the same beginning, but with fewer records.
    await told({ from }, 'other_archive');
  });

  test('P4: nor of what an older backup of the same archive lacks, however much it holds by now', async () => {
    const database = await fresh(createTestDatabase());
    const from = await fresh(open(database, null));
    await addProject(from, 'p', '2026-04-06T12:00:00Z');
    const archive = async (...ids: string[]): Promise<void> => {
      for (const id of ids) await writeOrder(from, { project: 'p', id });
      await enterOrders(from, 'p');
    };
    const to = join(folder, 'branch');
    await archive('one');
    await exported(to, { from });
    await archive('two');
    await exported(to, { from });
    const before = await manifestOf(to);
    // As it was before the second.
    await from.query(`
      delete from archive.orders where operation_id = 'two';
      delete from sync.journal where no > 1;
      update sync.chains c set no = 1, head = j.head from sync.journal j`);
    await archive('three', 'four');
    await expect(exported(to, { from })).rejects.toMatchObject({
      code: 'other_archive',
      message: expect.stringContaining(
        'an older backup was restored, or it is a replica that lags',
      ) as string,
    });
    expect(await manifestOf(to)).toBe(before);
  });

  test('does not touch a folder of other things', async () => {
    const other = join(folder, 'other');
    await mkdir(other);
    await writeFile(join(other, 'photo.jpg'), '');
    await expect(exported(other)).rejects.toMatchObject({ code: 'not_an_export' });
    await expect(exported(join(other, 'photo.jpg'))).rejects.toMatchObject({
      code: 'not_an_export',
    });
    await rm(join(other, 'photo.jpg'));
    await writeFile(join(other, 'manifest.json'), '{"name": "an app"}');
    await expect(exported(other)).rejects.toMatchObject({ code: 'manifest_invalid' });
  });
});

test.runIf(process.platform === 'linux')(
  'a place where no folder can be made is told',
  async () => {
    await expect(exported('/proc/outlast/export')).rejects.toThrow(
      '/proc/outlast/export cannot be written (ENOENT): check its rights',
    );
  },
);

test('what a disk refuses is told in a sentence', async () => {
  const refused = (code: string): Promise<never> =>
    onDisk('/backup', () => Promise.reject(Object.assign(new Error('refused'), { code })));
  await expect(refused('ENOSPC')).rejects.toMatchObject({ kind: 'transient', code: 'disk_full' });
  await expect(refused('EROFS')).rejects.toThrow(
    '/backup cannot be written (EROFS): check its rights',
  );
  await expect(refused('57014')).rejects.toThrow('refused');
});

/** Changes a file as somebody would who makes every digest fit again. */
async function forged(path: string, change: (text: string) => string): Promise<string> {
  const copy = await copied();
  const manifest = JSON.parse(await manifestOf(copy)) as Manifest;
  const text = change(await readFile(join(copy, path), 'utf8'));
  await writeFile(join(copy, path), text);
  for (const file of manifest.files) if (file.path === path) file.sha256 = sha256Of(text);
  await writeManifest(copy, manifest);
  return copy;
}

async function writeManifest(copy: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest);
  await writeFile(join(copy, 'manifest.json'), text);
  await writeFile(join(copy, 'SHA256SUMS'), sumsText(manifest.files, sha256Of(text)));
}

describe('a folder that somebody else prepared', () => {
  /** Everything beside the folder that the attempts are made on: nothing of it may be read, written or deleted. */
  let outside = '';
  beforeAll(async () => {
    outside = join(folder, 'outside');
    await mkdir(join(outside, 'orders'), { recursive: true });
    await writeFile(join(outside, 'victim.csv'), 'mine');
    await cp(join(whole, 'p/orders'), join(outside, 'orders'), { recursive: true });
    await cp(join(whole, 'manifest.json'), join(outside, 'manifest.json'));
    await mkdir(join(outside, 'scratch'));
  });
  const outsideIs = async (): Promise<string[]> => {
    const entries = await readdir(outside, { recursive: true });
    const seen = await Promise.all(
      entries.toSorted().map(async (name) => {
        const { size, mtimeMs } = await stat(join(outside, name));
        return `${name} ${size} ${mtimeMs}`;
      }),
    );
    return [...seen, await readFile(join(outside, 'victim.csv'), 'utf8').catch(() => 'gone')];
  };
  /** Told in one sentence by both commands, before anything is done. */
  async function refused(copy: string, code: string): Promise<void> {
    const before = await outsideIs();
    for (const work of [() => exported(copy), () => imported(copy)]) {
      const error = await work().then(
        () => expect.unreachable('it should have been refused'),
        (caught: unknown) => caught as Error,
      );
      expect(error).toMatchObject({ kind: 'settings', code });
      expect(error.message).toMatch(/^\S.*\.$/);
    }
    expect(await outsideIs()).toEqual(before);
    expect(await heldIn(emptyDb)).toBe(0);
  }
  async function hostile(path: string, at = 'manifest.json'): Promise<string> {
    const copy = await copied();
    const manifest = JSON.parse(await manifestOf(copy)) as Manifest;
    const [first] = manifest.files;
    if (first === undefined) throw new Error('an export without files');
    await mkdir(join(copy, '.unfinished'), { recursive: true });
    await writeManifest(copy, manifest);
    const named = { ...manifest, files: [...manifest.files, { ...first, path }] };
    await writeFile(join(copy, at), JSON.stringify(named));
    return copy;
  }

  test.each([
    '../outside/victim.csv',
    '../../etc/passwd',
    'p/../../outside/victim.csv',
    '/outside/victim.csv',
    'C:\\outside\\victim.csv',
    '..\\outside\\victim.csv',
    'p/orders/2026-02.csv\0',
    './p/projects.csv',
    'p//projects.csv',
    'p/orders/CON.csv',
    'manifest.json',
    '.unfinished',
    '',
  ])('and whose manifest names %j is not touched', async (path) => {
    const named = path.startsWith('/') ? join(folder, path) : path;
    await refused(await hostile(named), 'manifest_invalid');
    await refused(await hostile(named, '.unfinished/manifest.json'), 'manifest_invalid');
  });

  test.each([
    ['p', ''],
    ['p/orders', 'orders'],
    ['p/orders/2026-02.csv', 'orders/2026-02.csv'],
    ['manifest.json', 'manifest.json'],
  ])('and in which %s is a link is not followed', async (path, to) => {
    const copy = await copied();
    await rm(join(copy, path), { recursive: true });
    await symlink(join(outside, to), join(copy, path));
    await refused(copy, 'export_unsafe');
  });

  test('nor where what an export writes to is a link or a pipe', async () => {
    const before = await outsideIs();
    for (const path of ['.unfinished', '.unfinished/scratch', '.unfinished/journal.jsonl', 'p']) {
      const copy = join(folder, `linked-${path.replaceAll('/', '-')}`);
      await mkdir(join(copy, '.unfinished'), { recursive: true });
      if (path === '.unfinished') await rm(join(copy, path), { recursive: true });
      await symlink(join(outside, path.endsWith('l') ? 'victim.csv' : ''), join(copy, path));
      await expect(exported(copy)).rejects.toMatchObject({ code: 'export_unsafe' });
    }
    const piped = await copied();
    await rm(join(piped, 'p/orders/2026-02.csv'));
    execFileSync('mkfifo', [join(piped, 'p/orders/2026-02.csv')]);
    await refused(piped, 'export_unsafe');
    expect(await outsideIs()).toEqual(before);
  });

  test('sabotaged, a manifest believed as it stands would be noticed', async () => {
    const before = await outsideIs();
    const copy = await hostile('../outside/victim.csv');
    const read = await readManifest(join(copy, 'manifest.json'));
    for (const { path } of read?.manifest.files ?? []) await rm(join(copy, path));
    expect(await outsideIs()).not.toEqual(before);
  });
});

describe('an import', () => {
  test.each(['p/orders/2026-02.csv', 'p/projects.csv', 'manifest.json', 'SHA256SUMS'])(
    'of a copy with one byte altered in %s is refused, and nothing is imported',
    async (path) => {
      const copy = await copied();
      const bytes = await readFile(join(copy, path));
      const at = bytes.lastIndexOf('0');
      bytes.writeUInt8('1'.charCodeAt(0), at);
      await writeFile(join(copy, path), bytes);
      await expect(imported(copy)).rejects.toMatchObject({
        kind: 'settings',
        code: 'export_altered',
      });
      expect(await heldIn(emptyDb)).toBe(0);
    },
  );

  test('of a copy that lacks a file names it', async () => {
    const copy = await copied();
    await rm(join(copy, 'p/orders/2026-02.csv'));
    await expect(imported(copy)).rejects.toThrow('p/orders/2026-02.csv is missing');
  });

  test('of rows that are not those that were exported is undone, although every file’s digest fits', async () => {
    const altered = await forged('p/orders/2026-02.csv', (text) =>
      text.replace('account_0', 'account_1'),
    );
    await expect(imported(altered)).rejects.toMatchObject({
      kind: 'fatal',
      code: 'import_differs',
    });
    const shorter = await forged('p/orders/2026-02.csv', (text) =>
      text.split('\n').slice(0, -2).join('\n'),
    );
    await expect(imported(shorter)).rejects.toMatchObject({ code: 'import_differs' });
    expect(await heldIn(emptyDb)).toBe(0);
  });

  test('takes no newer format', async () => {
    const copy = await copied();
    const manifest = JSON.parse(await manifestOf(copy)) as Manifest;
    await writeManifest(copy, { ...manifest, schema: manifest.schema + 1 });
    await expect(imported(copy)).rejects.toMatchObject({ code: 'export_newer' });
    await writeManifest(copy, { ...manifest, format: 'outlast-export-2' as Manifest['format'] });
    await expect(imported(copy)).rejects.toThrow('use the release that wrote it or a later one');
  });

  test('is for an empty database only', async () => {
    const before = await heldIn(db);
    await expect(imported(whole, db)).rejects.toMatchObject({ code: 'database_not_empty' });
    expect(await heldIn(db)).toBe(before);
    await imported(whole);
    expect(await heldIn(emptyDb)).toBe(before);
    await expect(imported(whole)).rejects.toMatchObject({ code: 'database_not_empty' });
  });
});
