// Certificates: issued once, for months that are over, of what was in force; and their files, which may be lost and
// made again but never fail a run. Records may be as odd as a platform can send them.
import { execFileSync } from 'node:child_process';
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { sha256 } from '../../src/platform/canonical.ts';
import type { Certificate } from '../../src/verify/certificate.ts';
import { certifyMonths } from '../../src/verify/certify.ts';
import { readLeafLine } from '../../src/verify/digest.ts';
import {
  createUncertified,
  decideUnread,
  marchIsOver,
  observe,
  type Certified,
} from '../support/certified.ts';
import { succeedHere } from '../support/command-here.ts';
import { settle } from '../support/ledger.ts';

const ids = [
  'a\tb',
  'a\nb',
  'a\\nb',
  'a',
  '\u2028',
  '\u{1f600}',
  '\uffff',
  'b\r',
  '2026-03-05\tx\t0',
  'settled',
];
const order = (id: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ operation_id: id, create_time: '2026-03-05T10:00:00Z', status: 2, ...more });
const owned = (id: string, owner: string) => ({
  record: { id, owner, timestamp: '2026-03-05 10:00:00 +0000 UTC' },
});
const when = '"create_time":"2026-03-05T10:00:00Z"';
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** Records as odd as a platform may send them: by id, what else the order says. */
const odd: Record<string, string> = {
  nul: `"message":"a\\u0000b",${when}`,
  surrogate: `"message":"\\ud800","account":"\\udfff",${when}`,
  'huge number': `"amount":1e999999,"n":[1e131072,-1E-99999],${when}`,
  deep: `"n":${deep(300)},${when}`,
  repeated: `"status":1,"status":2,${when}`,
  'repeated and unstorable': `"message":"\\u0000","message":"held",${when}`,
  'odd numbers': `"amount":"+007.50","number":1.50e2,"status":"2","order_type":1.0,${when}`,
  'negative nothing': `"amount":"-0","number":-0.0,"status":-0,${when}`,
  'long number': `"amount":"${'9'.repeat(999)}","number":0.${'1'.repeat(900)},${when}`,
  'too long a number': `"amount":"${'9'.repeat(1001)}","number":"1e5",${when}`,
  words: `"status":"Success ","amount":"12 fen","number":true,"order_type":[],${when}`,
  nothing: `"status":null,"message":null,"account":"","amount":"","number":null,"update_time":"",${when}`,
  'long account': `"account":"${'x'.repeat(600)}",${when}`,
  'no time': `"status":2`,
  'no readable time': `"create_time":"yesterday","update_time":"2026-02-30"`,
  'another zone': `"create_time":"2026-03-05 23:30:00 -0800 PST","update_time":1772704800123`,
  microseconds: `"create_time":"2026-03-05 10:00:00.1234567","update_time":"2026-03-05T10:00:00.500Z"`,
  'unknown fields': `"":{"b":1,"a":[1.0,{}]},"__proto__":1,"\\u0061\\ud83d\\ude00":"\\/",${when}`,
};

/** Times at the ends of what a column can hold: no platform could show them among the orders of a day. */
const ends: Record<string, string> = {
  'the first day': `"create_time":"0001-01-01T00:00:00Z"`,
  'the last moment': `"create_time":"9999-12-31T23:59:59.999999Z"`,
};

const textOf = (id: string, fields: string): string =>
  `{"operation_id":${JSON.stringify(id)},${fields}}`;

/** Odd orders and those with ids of any kind, one of them pending, and classes of three owners. */
const literals = {
  orders: [
    ...[...ids.map((id) => order(id)), order('pending', { status: 1 })].map((text) => ({ text })),
    ...Object.entries(odd).map(([id, fields]) => ({
      id,
      text: textOf(id, fields),
      at: Date.parse('2026-03-05T10:00:00Z'),
    })),
  ],
  classes: [owned('a', 'x'), owned('b', 'y'), owned('c', 'z')],
};
const fewDays = ['2026-03-01', '2026-03-05', '2026-03-20', '2026-04-28', '2026-04-29'];
const moreDays = [...fewDays, '2026-03-07', '2026-03-09', '2026-04-10'];

/** One archive for several tests, in April and a moment after March was certified. */
type Shared = { archive: Certified; backToApril(): Promise<void>; backToMay(): Promise<void> };

async function share(archive: Certified): Promise<Shared> {
  const backToApril = await archive.keep('april');
  await archive.runLater(marchIsOver - archive.simulator.clock.now());
  return { archive, backToApril, backToMay: await archive.keep('may') };
}

let archive: Certified;
/** Of the simulator's records, and of those above, where two of the three owners are asked for. */
let whole: Shared;
let literal: Shared;
beforeAll(async () => {
  whole = await share(await createUncertified(undefined, { days: moreDays }));
  literal = await share(
    await createUncertified(literals, { days: fewDays, scope: { classes: ['x', 'y'] } }),
  );
});
afterEach(async () => {
  if (![whole.archive, literal.archive].includes(archive)) await archive.close();
});
afterAll(async () => {
  await whole.archive.close();
  await literal.archive.close();
});

/** `certificatesDir` is the archive's folder unless given. */
async function uncertified(
  of: Shared = whole,
  certificatesDir: string | null = of.archive.folder,
): Promise<Certified> {
  await of.backToApril();
  of.archive.worker.certificatesDir = certificatesDir;
  return of.archive;
}

async function certified(of: Shared = whole): Promise<Certified> {
  await of.backToMay();
  of.archive.worker.certificatesDir = of.archive.folder;
  return of.archive;
}

const hour = 3_600_000;
const signal = new AbortController().signal;

type Row = { resource: string; month: string; text: string; certificate: Certificate };

async function certificates(): Promise<Row[]> {
  const { rows } = await archive.db.query<Row>(
    `select resource, month, certificate::text || digest || leaves_sha256 || certified_at as text, certificate
       from sync.certificates order by month, resource desc, issue`,
  );
  return rows;
}

/** March is over and decided, and nobody has certified it. */
async function marchEnds(): Promise<void> {
  archive.simulator.setNow(marchIsOver);
  await archive.worker.platform.page({ resource: 'orders', limit: 1, sortBy: 'DATE_ASC' });
  await settle(
    archive.db,
    `update sync.slices set state = 'final', due_at = null where day < '2026-04-01'`,
  );
}

const fileOf = (name: string): string => join(archive.folder, 'p', name);
const leavesOf = async (name: string): Promise<string[]> =>
  (await readFile(fileOf(name), 'utf8')).split('\n').slice(0, -1);

describe('a month that is over', () => {
  test('gets one certificate a list, with its files, and neither ever changes', async () => {
    archive = await certified();
    const first = await certificates();
    expect(first.map(({ resource, month }) => [resource, month])).toEqual([
      ['orders', '2026-03-01'],
      ['nft_classes', '2026-03-01'],
    ]);
    const names = (await readdir(join(archive.folder, 'p'))).toSorted();
    expect(names).toEqual([
      'nft_classes-2026-03.certificate.json',
      'nft_classes-2026-03.leaves.txt',
      'orders-2026-03.certificate.json',
      'orders-2026-03.leaves.txt',
    ]);
    const bytes = await Promise.all(names.map((name) => readFile(fileOf(name), 'utf8')));
    const { certificate } = first[0] as Row;
    expect(certificate).toMatchObject({
      format: 'outlast-certificate-1',
      project: 'p',
      resource: 'orders',
      month: '2026-03',
      lost_days: [],
      previous: null,
    });
    expect(certificate.days).toHaveLength(31);
    expect(certificate.facts.map(({ fact }) => fact)).toContain('orders.contact');
    expect(JSON.parse(bytes[2] ?? '')).toEqual(certificate);
    const held = await archive.db.query(
      `select 1 from archive.orders where slice_day < '2026-04-01'`,
    );
    expect(certificate.records).toBe(held.rows.length);
    expect(certificate.days.reduce((sum, day) => sum + day.records, 0)).toBe(held.rows.length);

    await archive.runLater(hour);
    expect(await certificates()).toEqual(first);
    expect(await Promise.all(names.map((name) => readFile(fileOf(name), 'utf8')))).toEqual(bytes);
  });

  test('is not certified before', async () => {
    archive = await uncertified();
    await archive.runLater(Date.parse('2026-05-01T11:55:00Z') - archive.simulator.clock.now());
    expect(await certificates()).toEqual([]);
  });

  test('costs no request to certify, and two rivals make the same one of it', async () => {
    archive = await uncertified(whole, null);
    const { worker } = archive;
    await marchEnds();
    const before = worker.platform.requests();
    await Promise.all([certifyMonths(worker, signal), certifyMonths({ ...worker }, signal)]);
    expect(worker.platform.requests()).toBe(before);
    expect(await certificates()).toHaveLength(2);
    expect((await archive.verify()).findings).toEqual([]);
  });

  test('says by name which of its days are lost, and what is uncertain of the others', async () => {
    archive = await uncertified();
    await settle(
      archive.db,
      `update sync.slices set state = 'open', proof = 'none', why = 'not read', whole_walk = 0, due_at = '2026-04-30', deadline_at = '2026-05-01'
        where resource = 'orders' and day = '2026-03-11'`,
    );
    await settle(
      archive.db,
      `update sync.slices set proof = 'none', why = 'read once' where resource = 'orders' and day = '2026-03-12'`,
    );
    archive.simulator.setNow(marchIsOver);
    await archive.run();
    await archive.run();
    const [{ certificate }] = (await certificates()) as [Row];
    expect(certificate.lost_days).toEqual(['2026-03-11']);
    expect(certificate.days_not_held).toEqual(expect.arrayContaining(['2026-03-11', '2026-03-12']));
    // As analytics.coverage says it: what is not held is not settled either.
    expect(certificate.days_not_settled).toEqual(
      expect.arrayContaining(certificate.days_not_held ?? []),
    );
    const lost = certificate.days.find(({ day }) => day === '2026-03-11');
    expect(lost?.slices).toMatchObject([{ state: 'lost', reservations: ['lost'] }]);
    const { lists, findings } = await archive.verify();
    expect(findings).toEqual([]);
    const { lost_days, days_not_held } = certificate;
    expect(lists[0]?.certificates).toMatchObject([{ days: 31, lost_days, days_not_held }]);
    // Nothing was altered; that is not told as if all were there.
    const env = { DATABASE_URL: archive.connectionString };
    const { stdout } = await succeedHere(['verify'], { env });
    const others = days_not_held.length - 1;
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      ` holds, 1 of 31 days lost, ${others} of 31 days never proved whole `,
    );
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(
        `classes: nothing held was altered. Not complete, or not proved to be: orders of p, 1 day lost, ${others} days? never proved whole`,
      ),
    );
  });

  test('waits while anything of it was read within the last hour', async () => {
    archive = await uncertified();
    await marchEnds();
    await archive.db.query(
      `update sync.slices set observed_at = $1 where resource = 'orders' and day = '2026-03-09'`,
      [new Date(marchIsOver - hour / 2).toISOString()],
    );
    await certifyMonths(archive.worker, signal);
    expect((await certificates()).map(({ resource }) => resource)).toEqual(['nft_classes']);
    archive.simulator.advance(hour / 2 + 1000);
    await archive.run();
    expect(await certificates()).toHaveLength(2);
  });

  test('is certified in its turn, and each certificate names the one before it', async () => {
    archive = await certified();
    await decideUnread(archive.db, '2026-04-01');
    await archive.skipTo(Date.parse('2026-06-01T12:05:00Z'));
    await archive.run();
    await archive.run();
    const all = await certificates();
    expect(all.map(({ month }) => month)).toEqual([
      '2026-03-01',
      '2026-03-01',
      '2026-04-01',
      '2026-04-01',
    ]);
    expect(all[2]?.certificate.previous?.month).toBe('2026-03');
    expect((await archive.verify()).findings).toEqual([]);
    // Sabotaged: the older one is altered in a field no digest covers, and its file is gone.
    await archive.owner.query(
      `update sync.certificates set certificate = jsonb_set(certificate, '{lost_days}', '["2026-03-01"]')
        where resource = 'orders' and month = '2026-03-01'`,
    );
    await rm(fileOf('orders-2026-03.certificate.json'));
    expect((await archive.verify()).findings).toMatchObject([
      { kind: 'certificate', when: '2026-04', says: expect.stringContaining('2026-03') },
      {
        kind: 'certificate',
        when: '2026-03',
        says: expect.stringContaining('not as it was issued'),
      },
    ]);
  });

  test('whose certificate is gone gets one that says so, and the old one is missed for ever', async () => {
    archive = await certified();
    const [before] = await certificates();
    const kept = await readFile(fileOf('orders-2026-03.certificate.json'), 'utf8');
    await archive.owner.query(`delete from sync.certificates where resource = 'orders'`);
    const errors: string[] = [];
    const log = Object.assign(silentLog(), {
      error: (_: object, sentence: string) => errors.push(sentence),
    });
    await certifyMonths({ ...archive.worker, log }, signal);
    expect(errors).toEqual([expect.stringMatching(/is no longer held: a new one says so/)]);
    const issued = (await certificates()).filter(({ resource }) => resource === 'orders');
    expect(issued).toHaveLength(1);
    expect(issued[0]?.certificate).toMatchObject({
      issue: 2,
      replaces: { issue: 1, sha256: sha256(kept), why: 'it is no longer held' },
      digest: before?.certificate.digest,
    });
    expect(await readFile(fileOf('orders-2026-03.certificate.json'), 'utf8')).toBe(kept);
    expect(await readdir(join(archive.folder, 'p'))).toContain('orders-2026-03.2.certificate.json');
    expect((await archive.verify()).findings.map(({ says }) => says)).toContain(
      'certificate 1 of the month was issued, and is no longer held',
    );
  });

  test('that was certified after the backup which was restored gets one that names the first', async () => {
    archive = await uncertified();
    await mkdir(join(archive.folder, 'p'), { recursive: true });
    const given = 'as it was given out';
    await writeFile(fileOf('orders-2026-03.certificate.json'), given);
    await marchEnds();
    await certifyMonths(archive.worker, signal);
    expect((await certificates()).map(({ certificate }) => certificate)).toMatchObject([
      { resource: 'orders', issue: 2, replaces: { issue: 1, sha256: sha256(given) } },
      { resource: 'nft_classes', issue: 1, replaces: null },
    ]);
    expect(await readFile(fileOf('orders-2026-03.certificate.json'), 'utf8')).toBe(given);
    expect(await readdir(join(archive.folder, 'p'))).toContain('orders-2026-03.2.certificate.json');
    expect((await archive.verify()).findings.map(({ says }) => says)).toEqual([
      'orders-2026-03.certificate.json is there, and the database does not hold that certificate',
    ]);
  });

  test('P12: is certified though a pipe stands in the place of its file', async () => {
    archive = await uncertified();
    await mkdir(join(archive.folder, 'p'), { recursive: true });
    execFileSync('mkfifo', [fileOf('orders-2026-03.certificate.json')]);
    await marchEnds();
    await certifyMonths(archive.worker, signal);
    expect((await certificates()).map(({ certificate }) => certificate.issue)).toEqual([1, 1]);
  });

  test('holds the classes of every owner, each with its slices', async () => {
    archive = await certified(literal);
    const [, classes] = await certificates();
    expect(classes?.certificate).toMatchObject({ resource: 'nft_classes', records: 2 });
    const day = classes?.certificate.days.find((one) => one.day === '2026-03-05');
    expect(day).toMatchObject({ records: 2, slices: [{ owner: 'x' }, { owner: 'y' }] });
    expect(classes?.certificate.days).toHaveLength(31);
  });

  test('before the first one accounted for counts once each of its days was asked for', async () => {
    archive = await uncertified(whole, null);
    const enter = (from: string, to: string): Promise<unknown> =>
      archive.db.query(
        `insert into sync.slices (project_id, resource, owner, day, state, deadline_at)
         select 'p', 'nft_classes', '', d::date, 'final', d from generate_series($1::timestamptz, $2, interval '1 day') d`,
        [from, to],
      );
    await enter('2024-02-01', '2024-02-28');
    await certifyMonths(archive.worker, signal);
    expect(await certificates()).toEqual([]);
    await enter('2024-02-29', '2024-02-29');
    await certifyMonths(archive.worker, signal);
    expect((await certificates()).map(({ month }) => month)).toEqual(['2024-02-01']);
  });
});

describe('ids of any kind', () => {
  test('stand in the leaves so that each line is one record, by the bytes of the id', async () => {
    archive = await certified(literal);
    const all = [...ids, 'pending', ...Object.keys(odd)];
    const leaves = (await leavesOf('orders-2026-03.leaves.txt')).map(readLeafLine);
    expect(leaves).toHaveLength(all.length);
    expect(leaves.map((leaf) => leaf?.id)).toEqual(
      all.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect((await archive.verify()).findings).toEqual([]);
    await archive.owner.query('delete from archive.orders where operation_id = any ($1)', [
      ids.slice(0, 3),
    ]);
    const { findings } = await archive.verify();
    expect(findings).toHaveLength(3);
    expect(new Set(findings.map(({ id }) => id))).toEqual(new Set(ids.slice(0, 3)));
  });
});

test('records as odd as a platform may send them are held, and verify, every column of them', async () => {
  archive = await certified(literal);
  for (const [id, fields] of Object.entries(ends)) {
    await observe(archive, textOf(id, fields), '2026-05-01T12:00:00Z');
  }
  const { lists, findings } = await archive.verify();
  expect(findings).toEqual([]);
  expect(lists[0]?.records).toBe(literals.orders.length + Object.keys(ends).length);
  const { rows } = await archive.db.query<{ id: string }>(
    'select operation_id as id from archive.orders where raw_bytes is not null order by 1',
  );
  expect(rows.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['nul', 'surrogate', 'huge number', 'deep']),
  );
});

describe('what changed later', () => {
  test('leaves the certificate standing: the version is in force then', async () => {
    archive = await certified(literal);
    const later = { status: 3, update_time: '2026-05-02T00:00:00Z' };
    await observe(archive, order('settled', later), '2026-05-02T00:00:10Z');
    const { lists, findings } = await archive.verify();
    expect(findings).toEqual([]);
    expect(lists[0]).toMatchObject({ versions: 1, certificates: [{ holds: true, later: 0 }] });
    // Without leaves the choice among versions must be right as well.
    await rm(fileOf('orders-2026-03.leaves.txt'));
    expect((await archive.verify()).findings).toEqual([]);
    // Sabotaged: without that version nothing is held of what was certified.
    await archive.owner.query('truncate archive.order_versions');
    expect((await archive.verify()).findings).toMatchObject([
      { kind: 'day', when: '2026-03-05' },
      { kind: 'missing', id: 'settled' },
    ]);
  });

  test('the version in force is the one that its commit preferred, not the one observed last', async () => {
    archive = await uncertified(literal);
    // The newer update time wins although it was observed first; what is pending gives way to what is settled.
    const shown: [status: number, updated: string, at: string][] = [
      [2, '2026-04-02T00:00:00.5Z', '2026-04-29T13:00:00Z'],
      [3, '2026-04-02T00:00:00Z', '2026-04-29T14:00:00Z'],
      [1, '2026-04-02T00:00:00.5Z', '2026-04-29T15:00:00Z'],
    ];
    const show = ([status, updated, at]: (typeof shown)[0]): Promise<void> =>
      observe(archive, order('pending', { status, update_time: updated }), at);
    for (const one of shown) await show(one);
    await archive.runLater(marchIsOver - archive.simulator.clock.now());
    await show([3, '2026-05-03T00:00:00Z', '2026-05-03T00:00:10Z']);
    await rm(fileOf('orders-2026-03.leaves.txt'));
    const { lists, findings } = await archive.verify();
    expect(findings).toEqual([]);
    expect(lists[0]?.versions).toBe(4);
  });

  /** Shown again, on another day, as of a moment. */
  const move = (to: string, at: string): Promise<void> =>
    observe(archive, order('settled', { create_time: `${to}T10:00:00Z`, update_time: at }), at, to);

  test('a record that moved to another day later is found by its leaf', async () => {
    archive = await certified(literal);
    await move('2026-04-20', '2026-05-03T00:00:00Z');
    expect((await archive.verify()).findings).toEqual([]);
  });
});

describe('files', () => {
  test('that are missing are made again as they were, by the next process', async () => {
    archive = await certified();
    const names = ['orders-2026-03.leaves.txt', 'nft_classes-2026-03.certificate.json'];
    const before = await Promise.all(names.map((name) => readFile(fileOf(name), 'utf8')));
    for (const name of names) await rm(fileOf(name));
    await archive.run();
    expect(await Promise.all(names.map((name) => readFile(fileOf(name), 'utf8')))).toEqual(before);
  });

  test('that are there are never written over', async () => {
    archive = await uncertified();
    await mkdir(join(archive.folder, 'p'));
    await writeFile(fileOf('orders-2026-03.leaves.txt'), 'somebody else’s');
    await archive.runLater(marchIsOver - archive.simulator.clock.now());
    expect(await readFile(fileOf('orders-2026-03.leaves.txt'), 'utf8')).toBe('somebody else’s');
    expect((await archive.verify()).findings).toMatchObject([{ kind: 'file' }]);
  });

  test('that the disk refuses are told of once an hour, and the run is done all the same', async () => {
    const told: unknown[] = [];
    const log = Object.assign(silentLog(), { warn: (...one: unknown[]) => told.push(one) });
    archive = await uncertified(literal);
    const { log: silent } = archive.worker;
    archive.worker.log = log;
    await rm(archive.folder, { recursive: true });
    await writeFile(archive.folder, 'a file where the folder should be');
    archive.simulator.setNow(marchIsOver);
    await archive.run();
    const report = await archive.run();
    const { outcome, files } = report;
    expect([outcome, files?.map(({ kind }) => kind)]).toEqual(['done', ['files_unwritten']]);
    expect(await certificates()).toHaveLength(2);
    const ours = (): unknown[] =>
      told.filter((one) => JSON.stringify(one).includes('its file cannot be written'));
    expect(ours()).toHaveLength(1);
    expect(ours()[0]).toMatchObject([{ path: join(archive.folder, 'p') }, expect.any(String)]);
    await rm(archive.folder);
    await archive.run();
    await expect(access(join(archive.folder, 'p'))).rejects.toThrow();
    archive.simulator.advance(hour + 5000);
    expect((await archive.run()).files).toEqual([]);
    expect(await readdir(join(archive.folder, 'p'))).toHaveLength(4);
    archive.worker.log = silent;
  });

  test('of leaves are not made of an archive that was altered', async () => {
    archive = await certified();
    await rm(fileOf('orders-2026-03.leaves.txt'));
    await archive.owner.query(
      `update archive.orders set raw_sha256 = sha256('x') where operation_id = (select min(operation_id) from archive.orders
        where slice_day < '2026-04-01')`,
    );
    expect((await archive.run()).files).toMatchObject([{ kind: 'archive_altered' }]);
    expect(await readdir(join(archive.folder, 'p'))).toHaveLength(3);
  });
});
