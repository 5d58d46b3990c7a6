// Exports off the machine: to a real S3 server and back, over a wire that fails. Nothing is sent twice, nothing that
// lies there is lost, and nothing half is taken for whole (P3, P4, P12).
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createScheduledExports } from '../../src/cli/start-command.ts';
import type { DoctorFinding } from '../../src/cli/doctor-command.ts';
import { causeChain } from '../../src/errors.ts';
import { openBucket, partBytes, storeError, type Bucket } from '../../src/export/s3.ts';
import { silentLog } from '../../src/log.ts';
import type { FileFormat } from '../../src/model.ts';
import { openDb, withTx, type Db } from '../../src/store/db.ts';
import { lastDue, nextDue } from '../../src/sync/schedule.ts';
import { runCommand, startCommand, type Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { queryAt } from '../support/client.ts';
import { fresh, makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { replace } from '../support/replaced.ts';
import { enterOrders, writeOrders, writeProjects } from '../support/rows.ts';
import {
  busy,
  conflict,
  createS3Server,
  notImplemented,
  refused,
  taken,
  type S3Server,
} from '../support/s3-server.ts';

const day = 86_400_000;

let database: TestDatabase;
let owner: Db;
let s3: S3Server;
let bucket: Bucket;
let folder = '';

setUp(async (keep) => {
  database = await keep(createTestDatabase());
  s3 = await keep(createS3Server('backup'));
  const { connectionString } = database;
  owner = await keep(openDb({ connectionString, role: null, log: silentLog() }));
  await writeProjects(owner, ['p'], { firstDay: '2026-01-30' });
  await writeOrders(owner, { project: 'p', count: 2000, from: '2026-01-30', perDay: 50 });
  await enterOrders(owner, 'p');
  folder = await keep(makeFolder(), removeFolder);
  const putBack = replace(process, 'env', { ...process.env, ...s3.env });
  const { signal } = new AbortController();
  const opening = openBucket('s3://backup', { addressing: null, signal });
  bucket = await keep(opening, async (one) => {
    one.close();
    putBack();
  });
});
afterEach(() => s3.reset());

const outlast = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
  runHere(args, {
    env: { DATABASE_URL: database.connectionString, TMPDIR: folder, ...s3.env, ...env },
  });

const exported = (
  to: string,
  env: Record<string, string> = {},
  format: FileFormat = 'csv',
): Promise<Ended> => outlast(['export', to, '--format', format], env);

/** An export that ends well; how many files it says were written, and how many were there. */
async function exportedWell(to: string, format?: FileFormat): Promise<[number, number]> {
  const { code, stdout, stderr } = await exported(to, {}, format);
  expect(code, stderr).toBe(0);
  const [, written = '', kept = ''] = /(\d+) files written, (\d+) unchanged/.exec(stdout) ?? [];
  return [Number(written), Number(kept)];
}

/** What was put since the last look, but for what every export ends with. */
const put = (): string[] =>
  s3
    .requests()
    .filter((line) => line.startsWith('PUT ') && !/manifest|SHA256SUMS/.test(line))
    .map((line) => line.slice(4));

const below = async (prefix: string): Promise<Map<string, number>> =>
  new Map([...(await bucket.list())].filter(([name]) => name.startsWith(`${prefix}/`)));

/** One sentence on stderr, and no secret in it. */
function expectSentence({ code, stderr, stdout }: Ended, wanted: number, sentence: string): void {
  expect([code, stdout]).toEqual([wanted, '']);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain('hush');
}

/** What a command is told of an empty archive of the test's own. */
const inEmpty = async (): Promise<{ DATABASE_URL: string }> => ({
  DATABASE_URL: (await fresh(createTestDatabase())).connectionString,
});

const heldIn = async ({ DATABASE_URL }: { DATABASE_URL: string }): Promise<number> =>
  (await queryAt(DATABASE_URL, 'select from sync.projects')).length;

test.each(['csv', 'parquet'] as const)(
  'an archive comes back out of a bucket as %s, and a later export adds what changed and alters nothing',
  async (format) => {
    const whole = `whole-${format}`;
    const to = `s3://backup/${whole}`;
    const [written, kept] = await exportedWell(to, format);
    expect([written > 3, kept]).toEqual([true, 0]);
    const first = await below(whole);
    const hashed = String.raw`\.[0-9a-f]{16}\.${format}$`;
    expect([...first.keys()].filter((name) => name.includes('/orders/'))).toEqual(
      ['2026-01', '2026-02', '2026-03'].map((month): unknown =>
        expect.stringMatching(new RegExp(`^${whole}/p/orders/${month}${hashed}`)),
      ),
    );
    const env = await inEmpty();
    const imported = await outlast(['import', to], env);
    expect(imported.stdout, imported.stderr).toContain('All of it was read back');
    s3.requests();
    // What was restored says the same: nothing of it has to be sent.
    expect((await exported(to, env, format)).stdout).toContain(
      `0 files written, ${written} unchanged`,
    );
    expect(put()).toEqual([]);

    await owner.query(`update archive.orders set message = $1 where slice_day = '2026-02-10'`, [
      format,
    ]);
    expect(await exportedWell(to, format)).toEqual([1, written - 1]);
    expect(put()).toEqual([expect.stringContaining(`${whole}/p/orders/2026-02.`)]);
    const second = await below(whole);
    for (const [name, bytes] of first) {
      if (!/manifest.json|SUMS/.test(name)) expect([name, second.get(name)]).toEqual([name, bytes]);
    }
    expect([...second.keys()].filter((name) => name.includes('/manifests/'))).toHaveLength(3);
    const verified = await outlast(['verify', to]);
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringMatching(`${written} files, \\d MB. Every one is what was written.`),
    ]);
  },
);

test('what is downloaded by other means is imported as a folder', async () => {
  for (const name of (await below('whole-csv')).keys()) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await bucket.read(name, async (body) => writeFile(path, await text(body)));
  }
  expect((await outlast(['verify', join(folder, 'whole-csv')])).code).toBe(0);
  const env = await inEmpty();
  expect((await outlast(['import', join(folder, 'whole-csv')], env)).code).toBe(0);
});

test('a reset in the middle of a file, SlowDown and errors of the server are got over', async () => {
  s3.fault(/^PUT .*orders\/2026-02/, { kind: 'reset', after: 10_000 });
  s3.fault(/^PUT .*orders\/2026-03/, busy(503), 2);
  s3.fault(/^PUT .*manifest.json/, busy(500));
  s3.fault(/^GET faults\/manifest.json/, busy(500));
  s3.fault(/^HEAD .*orders\/2026-01/, { kind: 'reset', after: 0 });
  const [written] = await exportedWell('s3://backup/faults');
  expect(put().length).toBe(written + 3);
  expect((await outlast(['verify', 's3://backup/faults'])).code).toBe(0);
});

test.each([400, 501] as const)(
  'a store that knows no conditions, and says so with %i, is asked without',
  async (status) => {
    s3.fault(/^PUT .*orders/, notImplemented(status));
    const [written] = await exportedWell(`s3://backup/plain-${status}`);
    expect(put().length).toBe(written + 1);
    expect((await outlast(['verify', `s3://backup/plain-${status}`])).code).toBe(0);
  },
);

test('while a store stays busy or away nothing half is an export: try again later', async () => {
  s3.fault(/^PUT .*orders\/2026-03/, busy(503), 100);
  expectSentence(await exported('s3://backup/away'), 75, 'does not take this now (SlowDown, 503)');
  expect((await below('away')).has('away/manifest.json')).toBe(false);
  s3.reset();
  s3.fault(/^PUT .*orders\/2026-03/, conflict);
  expectSentence(await exported('s3://backup/away'), 75, 'another request was in its way');
  expectSentence(await outlast(['verify', 's3://backup/away']), 2, 'holds no whole export');
  const gone = await exported('s3://backup/away', { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' });
  expectSentence(gone, 75, 'could not be reached, or broke off (ECONNREFUSED)');
});

test('killed while it sends, the next one sends what is missing and nothing else', async () => {
  const to = 's3://backup/killed';
  s3.fault(/^PUT .*orders\/2026-02/, { kind: 'hold' });
  const running = startCommand(['export', to, '--format', 'csv'], {
    env: { DATABASE_URL: database.connectionString, TMPDIR: folder, ...s3.env },
  });
  await s3.held();
  await running.stop('SIGKILL');
  const there = [...(await below('killed')).keys()];
  expect(there.length).toBeGreaterThan(1);
  s3.requests();
  const [written, kept] = await exportedWell(to);
  expect(kept).toBe(there.length);
  expect(put()).toHaveLength(written);
  expect((await outlast(['verify', to])).code).toBe(0);
});

test('a download that breaks off is made again; nothing is imported of one that always does', async () => {
  const from = 's3://backup/whole-csv';
  const cut = { kind: 'truncate', after: 1000 } as const;
  s3.fault(/^GET .*orders\/2026-02/, cut, 2);
  expect((await outlast(['verify', from])).code).toBe(0);
  const env = await inEmpty();
  s3.fault(/^GET .*orders\/2026-02/, cut, 3);
  expectSentence(await outlast(['import', from], env), 75, 'broke off');
  expect(await heldIn(env)).toBe(0);
  expect((await outlast(['import', from], env)).code).toBe(0);
});

test('where no temporary file can be made, what to do is said', async () => {
  const TMPDIR = join(folder, 'no such folder');
  const refused = async (args: string[], { DATABASE_URL }: { DATABASE_URL: string }) =>
    expectSentence(
      await runCommand(args, { env: { ...s3.env, DATABASE_URL, TMPDIR } }),
      2,
      'the folder for temporary files: make it writable, or name another in TMPDIR',
    );
  const filled = { DATABASE_URL: database.connectionString };
  await refused(['export', 's3://backup/none', '--format', 'csv'], filled);
  const empty = await inEmpty();
  await refused(['import', join(folder, 'whole-csv')], empty);
  await refused(['import', 's3://backup/whole-csv'], empty);
});

test('what was altered or lost there is named, and not written over', async () => {
  const to = 's3://backup/altered';
  await exportedWell(to);
  const name =
    [...(await below('altered')).keys()].find((one) => one.includes('orders/2026-02')) ?? '';
  const { bytes = 0 } = (await bucket.find(name)) ?? {};
  await bucket.putText(name, 'x'.repeat(bytes), null);
  // It is as long as it was: an export takes it for what it sent, and leaves it.
  expect((await exportedWell(to))[0]).toBe(0);
  const verified = await outlast(['verify', to]);
  expect([verified.code, verified.stdout]).toEqual([
    1,
    expect.stringContaining(`${name.slice('altered/'.length)} was altered or cut off`),
  ]);
  const env = await inEmpty();
  expectSentence(await outlast(['import', to], env), 2, 'was altered or cut off');
  expect(await heldIn(env)).toBe(0);
  expect(verified.stdout).toContain('Move each altered object named above out of the bucket');
  // Whose it is nobody knows: it is not written over.
  await bucket.putText(name, 'other', null);
  expectSentence(await exported(to), 2, 'is not what an export puts there. It was not touched');
  const hand = new S3Client({ forcePathStyle: true });
  await hand.send(new DeleteObjectCommand({ Bucket: 'backup', Key: name }));
  hand.destroy();
  expect((await exportedWell(to))[0]).toBe(1);
  expect((await outlast(['verify', to])).code).toBe(0);
});

test('wrong keys, no keys, no bucket and no address end with 2 and a sentence without a secret', async () => {
  const to = 's3://backup/refused';
  const hush = { AWS_ACCESS_KEY_ID: 'AKIAhush', AWS_SECRET_ACCESS_KEY: 'hush' };
  expectSentence(await exported(to, hush), 2, 'refused the credentials (InvalidAccessKeyId)');
  const none = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
  expectSentence(await exported(to, none), 2, 'No credentials for s3://backup/refused were found');
  expectSentence(await exported(to, { AWS_REGION: '' }), 2, 'set AWS_REGION');
  expectSentence(await exported('s3://nowhere/x'), 2, 'There is no bucket');
  expectSentence(await exported('s3://key:hush@backup'), 2, 'it has the form s3://bucket/prefix');
  for (const place of ['gs://b/x', 'oss://b', 'COS://b', 'http://key:hush@b/x']) {
    const [scheme] = place.toLowerCase().split('b');
    const begins = `The place begins with ${scheme?.replace('key:hush@', '')}: give the path`;
    for (const command of ['export', 'import', 'verify']) {
      expectSentence(await outlast([command, place]), 2, begins);
    }
  }
  await bucket.putText('photos/a.jpg', 'a', null);
  expectSentence(await exported('s3://backup/photos'), 2, 'holds other things and no export');
  expect([...(await below('photos')).keys()]).toEqual(['photos/a.jpg']);
});

test('doctor writes there and removes it, or says that it may not', async () => {
  const doctor = async (to: string): Promise<string[]> => {
    const pair = { OUTLAST_API_KEY: 'k', OUTLAST_API_SECRET: 's' };
    const platform = { OUTLAST_BASE_URL: 'http://127.0.0.1:1', OUTLAST_PORT: '0', ...pair };
    const exports = { OUTLAST_EXPORT_TO: to, OUTLAST_EXPORT_FORMAT: 'csv' };
    const { stdout } = await outlast(['doctor', '--json'], { ...platform, ...exports });
    const { findings } = JSON.parse(stdout) as { findings: DoctorFinding[] };
    return findings.flatMap(({ about, state, text }) =>
      about === 'export' ? [`${state} ${text}`] : [],
    );
  };
  const to = 's3://backup/tried';
  expect(await doctor(to)).toEqual([`ok ${to} takes what is written`]);
  expect((await below('tried')).size).toBe(0);
  s3.fault(/^DELETE/, refused);
  expect(await doctor(to)).toEqual([
    `ok ${to} takes what is written; manifests/trial.json stays there, for these credentials may not delete`,
  ]);
  expect([...(await below('tried')).keys()]).toEqual(['tried/manifests/trial.json']);
  // What stays is in no export's way.
  expect((await exportedWell(to))[0]).toBeGreaterThan(0);
  s3.fault(/^PUT tried/, refused);
  expect(await doctor(to)).toEqual([expect.stringMatching(/^fail The store of .* refused this/)]);
  expect(await doctor('s3://nowhere/x')).toEqual([expect.stringContaining('There is no bucket')]);
});

test.each([
  ['AccessDenied', 403, 'settings', 'store_refused'],
  ['AuthorizationHeaderMalformed', 400, 'settings', 'no_region'],
  ['XAdminUserNotFound', 404, 'settings', 'store_refused'],
  ['XAmzContentSHA256Mismatch', 400, 'transient', 'store_busy'],
  ['InvalidRequest', 400, 'fatal', 'store_failed'],
])('%s of a store is told without what it says', (name, httpStatusCode, kind, code) => {
  const said = Object.assign(new Error('hush'), { name, $metadata: { httpStatusCode } });
  const told = storeError('s3://backup/refused', said);
  expect(told).toMatchObject({ kind, code, message: expect.stringContaining(name) as string });
  expect(causeChain(told)).not.toContain('hush');
});

test.each(['hush', 'Call\nhush', '\u001b[2Jhush', 'Your keys are void, hush', 'h'.repeat(65)])(
  'a sentence in the place of a code is not shown: %j',
  (said) => {
    const $metadata = { httpStatusCode: 400 };
    const told = storeError('s3://b', Object.assign(new Error(said), { name: said, $metadata }));
    const shown = said === 'hush' ? said : 'UnknownError';
    expect(causeChain(told)).toBe(`The store of s3://b refused a request (${shown}, 400).`);
    const code = `ECONN${said}`;
    const cut = storeError('s3://b', Object.assign(new Error('aborted'), { code }));
    expect(causeChain(cut)).toContain(`broke off (${said === 'hush' ? code : 'Error'})`);
  },
);

/** An export on a schedule, not started yet; of the file's archive unless told. `ended`: told how each ended. */
async function scheduled(
  given: { to: string; schedule: string; on?: TestDatabase },
  ended: (isDone: boolean) => void = () => undefined,
) {
  const { on = database, ...asked } = given;
  const log = silentLog();
  const db = await fresh(openDb({ connectionString: on.connectionString, log }));
  const settings = { ...asked, format: 'csv', addressing: null } as const;
  return createScheduledExports(settings, db, log, { exported: ended });
}

test('on a schedule: once over two replicas, and again after one that failed', async () => {
  const counted: boolean[] = [];
  const to = 's3://backup/nightly';
  s3.fault(/^GET nightly\/manifest.json/, refused, Infinity);
  const replica = () =>
    scheduled({ to, schedule: '* * * * * *' }, (isDone) => void counted.push(isDone));
  const replicas = [await replica(), await replica()];
  const stop = new AbortController();
  try {
    for (const one of replicas) one.start(stop.signal);
    const failed = () => replicas.map(({ lastExport }) => lastExport()?.trouble);
    await expect.poll(failed).toEqual(['failed', 'failed']);
    s3.reset();
    await expect.poll(failed).toEqual([null, null]);
  } finally {
    stop.abort();
    for (const one of replicas) await one.close();
  }
  expect(counted.filter(Boolean)).toHaveLength(1);
  expect((await outlast(['verify', to])).code).toBe(0);
});

test('one whose time passed while no service ran is made up at the start, and told; one that is a day late is told', async () => {
  const to = join(folder, 'nightly');
  const schedule = '20 3 * * *';
  const stop = new AbortController();
  const started = async () => {
    const service = await scheduled({ to, schedule });
    service.start(stop.signal);
    await expect.poll(() => service.lastExport()).not.toBeNull();
    return service;
  };
  const first = await started();
  // Nobody had asked for one before.
  expect(first.lastExport()).toEqual({ trouble: null });
  await first.close();
  const again = await started();
  expect(again.lastExport()).toEqual({ trouble: null });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * day });
  onTestFinished(() => void vi.useRealTimers());
  expect(again.lastExport()).toEqual({ trouble: 'late' });
  await again.close();
  const late = await started();
  const dueAt = lastDue(schedule, Date.now());
  expect(late.lastExport()).toEqual({ trouble: 'missed', dueAt });
  const { exported_at: at } = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8')) as {
    exported_at: string;
  };
  expect(Date.parse(at)).toBeGreaterThan(Date.now() - 60_000);
  stop.abort();
  await late.close();
});

test.each(['there is nothing to export yet', 'another replica exports'])(
  'on a schedule: while %s, nothing is late',
  async (what) => {
    const on = what.startsWith('there') ? await fresh(createTestDatabase()) : database;
    const to = join(folder, 'unfinished');
    const schedule = `20 3 * * ${new Date(Date.now() - 2 * day).getDay()}`;
    const service = await scheduled({ to, schedule, on });
    onTestFinished(() => void vi.useRealTimers());
    await withTx(owner, async (tx) => {
      const running = `hashtextextended('outlast export ' || $1, 0)`;
      await tx.query(`select pg_advisory_xact_lock(${running})`, [to]);
      service.start(new AbortController().signal);
      const dueAt = nextDue(schedule);
      await service.close();
      expect(service.lastExport()).toBeNull();
      vi.useFakeTimers({ toFake: ['Date'], now: dueAt + day / 2 });
      expect(service.lastExport()).toBeNull();
      vi.setSystemTime(dueAt + 2 * day);
      expect(service.lastExport()).toEqual({ trouble: 'late' });
    });
  },
);

test('a file of several parts arrives whole, and is put once', async () => {
  const path = join(folder, 'large');
  const bytes = Buffer.alloc(1.5 * partBytes, 'outlast ');
  await writeFile(path, bytes);
  s3.fault(/^PUT large/, { kind: 'reset', after: 10_000 });
  expect(await bucket.putFile('large', path, { sha256: 'noted' })).toBe(true);
  expect(await bucket.find('large')).toEqual({ bytes: bytes.length, notes: { sha256: 'noted' } });
  s3.fault(/^PUT lost/, refused);
  await expect(bucket.putFile('lost', path, {})).rejects.toMatchObject({ code: 'store_refused' });
  expect(s3.requests().at(-1)).toBe('DELETE lost');
  expect(await bucket.find('lost')).toBeNull();
  s3.fault(/^POST late\?uploadId/, taken);
  expect(await bucket.putFile('late', path, {})).toBe(false);
  expect(s3.requests().at(-1)).toBe('DELETE late');
});
