// Every way to spoil an archive behind its back, each caught and named, beside the untouched archive that passes. One
// archive serves all; it is put back as it was.
import { isOnCluster } from '../support/postgres.ts';
import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { defaultTxTimeouts, openDb, withTx, type Tx } from '../../src/store/db.ts';
import { checkAgainstJournal, checkChains } from '../../src/verify/check-journal.ts';
import type { Finding } from '../../src/verify/finding.ts';
import type { Verifying } from '../../src/verify/verify.ts';
import { createUncertified, marchIsOver, type Certified } from '../support/certified.ts';
import { observe } from '../support/observe.ts';
import { verified } from '../support/verified.ts';
import {
  filled,
  forgedSha,
  remadeJournal,
  inventedOrder,
  tamperings,
  type Chosen,
} from '../support/tamperings.ts';

let archive: Certified;
let putBack: () => Promise<void>;
/** A day of March with orders, one of them, and one of April. */
let day: string;
let march: string;
let april: string;
/** One of April that has all that an order can have. */
let full: string;
let chosen: Chosen;

beforeAll(async () => {
  archive = await createUncertified();
  // An order vanishes, and is noticed by its day's count. Classes change meanwhile: they get versions.
  const missing = await first(
    `select min(operation_id) from archive.orders where slice_day = '2026-04-10'`,
  );
  archive.simulator.hide('orders', missing);
  await archive.runLater(26 * 3_600_000);
  await archive.runLater(marchIsOver - archive.simulator.clock.now());
  const { owner } = archive;
  await owner.query(
    `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
     select 'p', 'orders', sha256(bytes), bytes, 'no id', '', '2026-03-05', '2026-04-29T12:00:00Z'
       from generate_series(1, 6) n, convert_to('no order ' || n, 'UTF8') bytes`,
  );
  await owner.query(
    `select sync.journal_append('p', 'orders', '', '2026-03-05', 'contents',
              jsonb_build_object('rejects', jsonb_agg(jsonb_build_array(encode(sha256, 'hex'), sync.utc(seen_at), reason)))::text, null, null)
       from sync.rejects`,
  );
  day = await first(
    `select min(slice_day) from archive.orders where slice_day > '2026-03-08' and slice_day < '2026-03-28'`,
  );
  march = await first(`select min(operation_id) from archive.orders where slice_day = '${day}'`);
  april = await first(
    `select min(operation_id) from archive.orders where slice_day >= '2026-04-02'`,
  );
  full = await first(
    `select min(operation_id) from archive.orders
      where slice_day >= '2026-04-02' and missing_since is null and updated_at is not null and account is not null`,
  );
  chosen = {
    final: '2026-03-06',
    sealed: '2026-04-02',
    certified: march,
    order: await first(
      `select min(operation_id) from archive.orders where slice_day = '2026-04-29'`,
    ),
    missing,
    versioned: await first(
      `select min(id) from archive.nft_class_versions join archive.nft_classes using (project_id, id)
        where slice_day < '2026-04-01'`,
    ),
    reject: await first(`select min(encode(sha256, 'hex')) from sync.rejects`),
  };
  putBack = await archive.keep('kept');
});
afterAll(() => archive.close());

async function first(sql: string): Promise<string> {
  const { rows } = await archive.owner.query(sql);
  return String(Object.values(rows[0] ?? {})[0]);
}

/** Runs it as a superuser, with $1 for the order of March. */
async function spoil(sql: string, ...parameters: unknown[]): Promise<Finding[]> {
  const { rows } = await archive.owner.query(`${sql} returning 1`, parameters);
  expect(rows.length).toBeGreaterThan(0);
  return (await archive.verify()).findings;
}

const leavesFile = (): string => join(archive.folder, 'p', 'orders-2026-03.leaves.txt');

test('the untouched archive passes, its certificates hold, and its files are there', async () => {
  const { lists, findings } = await archive.verify();
  expect(findings).toEqual([]);
  expect(lists.map(({ resource, certificates }) => [resource, certificates])).toMatchObject([
    ['orders', [{ holds: true, files_missing: [] }]],
    ['nft_classes', [{ holds: true, files_missing: [] }]],
    ['transactions', []],
    ['tokens', []],
  ]);
  expect(lists[0]).toMatchObject({ rejects: 6 });
  expect(lists[1]?.versions).toBeGreaterThan(0);
});

describe('records', () => {
  afterEach(() => putBack());
  const ofOne = `where operation_id = $1`;
  const forged = `update archive.orders o set raw = n.raw, message = 'altered', raw_sha256 = ${forgedSha('n.raw')}
      from (select operation_id, raw || '{"message": "altered"}' as raw from archive.orders) n
     where n.operation_id = o.operation_id and o.operation_id = $1`;
  const invented = inventedOrder(ofOne);
  // $ stands for the one that is altered, an order of the certified March or of April.
  // prettier-ignore
  const spoiled: [what: string, of: 'march' | 'april', sql: string, ...[kind: string, id: string, says: RegExp][]][] = [
    ['one letter of a raw', 'march', `update archive.orders set raw = jsonb_set(raw, '{message}', '"altered"') ${ofOne}`, ['altered', '$', /^raw_sha256 is [0-9a-f]{64}, and that of the record held is /]],
    ['a raw and its digest alike: the certificate catches it', 'march', forged, ['altered', '$', /^certified is raw_sha256 /]],
    ['a certified one put under another day', 'march', `update archive.orders set slice_day = '2026-03-30' ${ofOne}`, ['extra', '$', /is not certified/]],
    ['a key', 'april', `update archive.orders set operation_id = 'another' ${ofOne}`, ['altered', 'another', /^operation_id is not the one in the record/], ['missing', '$', /is no longer held$/]],
    ['a certified one deleted', 'march', `delete from archive.orders ${ofOne}`, ['missing', '$', /^it is certified and no longer held$/]],
    ['invented in a certified month, dated back', 'march', invented, ['extra', 'invented', /is not certified/]],
  ];
  test.each(spoiled)('%s', async (_, of, sql, ...expected) => {
    const id = of === 'march' ? march : april;
    const found = await spoil(sql, id);
    const named = expected.map(([kind, one]) => [kind, one === '$' ? id : one]);
    expect(found.map((one) => [one.kind, one.id])).toEqual(named);
    for (const [i, [, , says]] of expected.entries()) expect(found[i]?.says).toMatch(says);
    if (of === 'march' && found[0]?.kind === 'altered') {
      expect(found).toMatchObject([{ project_id: 'p', resource: 'orders', when: day }]);
    }
  });

  test('are looked at, and their journal, where there is one connection in all', async () => {
    const { connectionString, worker, folder, db } = archive;
    const one = await openDb({ connectionString, isReadOnly: true, max: 1, log: worker.log });
    const asked = { certificatesDir: folder };
    expect(await verified(one, asked)).toEqual(await verified(db, asked));
    await archive.owner.query(`delete from archive.orders ${ofOne}`, [april]);
    const { findings } = await verified(one, asked);
    expect(findings.map(({ kind, id }) => [kind, id])).toEqual([['missing', april]]);
    await one.close();
  });

  /** While nobody can read the journal. */
  const withJournalLocked = (work: (tx: Tx) => Promise<void>): Promise<void> =>
    withTx(archive.owner, async (tx) => {
      await tx.query('lock table sync.journal in access exclusive mode');
      await work(tx);
    });

  test('end at once when they are to, and their journal with them', async () => {
    await withJournalLocked(async () => {
      const begun = performance.now();
      const ends = verified(archive.db, { signal: AbortSignal.abort() });
      await expect(ends).rejects.toMatchObject({ code: 'aborted' });
      expect(performance.now() - begun).toBeLessThan(defaultTxTimeouts.lockMs);
    });
  });

  // The server ends one that is idle for ten minutes.
  test('keep no transaction open until their journal is compared', async () => {
    let ends: Promise<unknown> | undefined;
    await withJournalLocked(async (tx) => {
      await new Promise<void>((resolve, reject) => {
        const onProgress: Verifying['onProgress'] = (_, __, at) =>
          at === 'journal' ? resolve() : undefined;
        ends = verified(archive.db, { resources: ['tokens'], onProgress });
        ends.catch(reject);
      });
      const { rows } = await tx.query(
        `select state from pg_stat_activity
          where datname = current_database() and state like 'idle in transaction%'`,
      );
      expect(rows).toEqual([]);
    });
    expect(await ends).toMatchObject({ findings: [] });
  });

  test('of several days: each day is compared with its own leaves', async () => {
    const firstOfDays = `select min(operation_id) from archive.orders
      where slice_day >= '2026-03-01' and slice_day < '2026-04-01' group by slice_day`;
    const { rows } = await archive.owner.query<{ day: string; id: string }>(
      `delete from archive.orders where operation_id in (${firstOfDays})
       returning slice_day::text as day, operation_id as id`,
    );
    expect(rows.length).toBeGreaterThan(2);
    const byDay = rows.toSorted((a, b) => (a.day < b.day ? -1 : 1));
    const { findings } = await archive.verify();
    expect(findings.map(({ kind, when, id }) => [kind, when, id])).toEqual(
      byDay.map((one) => ['missing', one.day, one.id]),
    );
  });

  test('altered with their digest, the file of leaves gone: the day is named, and the record by the journal', async () => {
    await rm(leavesFile());
    expect(await spoil(forged, march)).toMatchObject([
      { kind: 'day', when: day, id: null },
      { kind: 'altered', when: day, id: march },
    ]);
  });

  // prettier-ignore
  test.each([
    ['status', `3 - coalesce(status, 0)`], ['message', `'other'`], ['account', `'someone else'`], ['account', `null`],
    ['amount', `coalesce(amount, 0) + 1`], ['number', `coalesce(number, 0) + 0.01`],
    ['created_at', `(created_at at time zone 'UTC' + interval '1 microsecond') at time zone 'UTC'`], ['updated_at', `null`],
    ['updated_at', `'infinity'`], ['order_type', `7`], ['unread', `'{amount}'`],
  ])('%s as %s', async (column, value) => {
    const found = await spoil(`update archive.orders set ${column} = ${value} ${ofOne}`, full);
    const says = expect.stringMatching(new RegExp(`^${column} is `));
    expect(found).toMatchObject([{ kind: 'column', id: full, says }]);
  });

  test('whose numbers are written otherwise hold the same numbers', async () => {
    const found = await spoil(
      `update archive.orders set amount = amount::numeric(30, 4) where amount is not null`,
    );
    expect(found).toEqual([]);
  });

  // A cluster lets nobody write what is cast by a session's settings.
  test.skipIf(isOnCluster)('with raw_bytes beside a raw that needs none', async () => {
    const found = await spoil(
      `update archive.orders set raw_bytes = convert_to(raw::text, 'UTF8') where operation_id = $1`,
      april,
    );
    expect(found).toMatchObject([
      { kind: 'altered', id: april, says: expect.stringContaining('raw_bytes') },
    ]);
  });

  test.each(['null', '[]', '"text"', '{}', '{"operation_id": ""}'])(
    'whose raw is no order: %s',
    async (raw) => {
      const found = await spoil(`update archive.orders set raw = '${raw}' ${ofOne}`, full);
      expect(found).toMatchObject([{ kind: 'altered', id: full }]);
    },
  );

  test('that came honestly after their month was certified are no finding', async () => {
    const order = { operation_id: 'late', status: 2, create_time: `${day}T10:00:00Z` };
    await observe(
      archive.db,
      { project: 'p', resource: 'orders' },
      [order],
      '2036-05-01T13:00:00Z',
    );
    const { lists, findings } = await archive.verify();
    expect(findings).toEqual([]);
    expect(lists[0]?.certificates).toMatchObject([{ later: 1, holds: true }]);
  });

  test('the raw of an earlier version, and the bytes of a reject', async () => {
    await archive.owner.query(
      `update sync.rejects set bytes = 'another' where bytes = 'no order 1'`,
    );
    const found = await spoil(
      `update archive.nft_class_versions set raw = jsonb_set(raw, '{name}', '"altered"') where id = $1`,
      chosen.versioned,
    );
    const [reject, version] = found;
    expect(reject).toMatchObject({ kind: 'altered', when: '2026-03-05', id: null });
    expect(version).toMatchObject({
      kind: 'altered',
      resource: 'nft_classes',
      id: chosen.versioned,
    });
    expect(version?.says).toMatch(/^the version observed at 2026-/);
  });
});

describe('a certificate', () => {
  afterEach(() => putBack());
  const set = (path: string, value: string): string =>
    `update sync.certificates set certificate = jsonb_set(certificate, '${path}', '${value}') where resource = 'orders'`;
  const setRow = (change: string): string =>
    `update sync.certificates set ${change} where resource = 'orders'`;

  test.each([
    [
      'a lost day made good',
      set('{lost_days}', '["2026-03-01"]'),
      /^orders-2026-03.certificate.json: it is not/,
    ],
    ['its records', set('{records}', '7'), /number of records/],
    ['its books', set('{books}', '[{"total": 7}]'), /books that it names/],
    ['its moment', set('{certified_at}', '"2027-01-01T00:00:00Z"'), /certified_at/],
    ['its format', set('{format}', '"other"'), /no certificate of the form/],
    ['its days', set('{days}', 'null'), /no certificate of the form/],
    ['a day of the year 0', set('{days,0,day}', '"0000-01-01"'), /digest is not that of its days/],
    ['the last day', set('{days,0,day}', '"9999-12-31"'), /digest is not that of its days/],
    ['the moment of its row', setRow(`certified_at = '2026-04-29'`), /certified_at/],
    ['the digest of its row', setRow(`digest = sha256('x')`), /digest/],
    ['the leaves of its row', setRow(`leaves_sha256 = sha256('x')`), /leaves_sha256/],
  ])('%s', async (_, sql, says) => {
    const found = await spoil(sql);
    expect(found.some((finding) => says.test(finding.says))).toBe(true);
    expect(new Set(found.map(({ resource }) => resource))).toEqual(new Set(['orders']));
  });

  test('the digest of its leaves everywhere, and the leaves with it', async () => {
    await writeFile(leavesFile(), 'x');
    const found = await spoil(
      `update sync.certificates set leaves_sha256 = sha256('x'),
              certificate = jsonb_set(certificate, '{leaves_sha256}', to_jsonb(encode(sha256('x'), 'hex')))
        where resource = 'orders'`,
    );
    expect(found.map(({ kind }) => kind)).toEqual(['file', 'certificate', 'certificate']);
  });

  test('cannot be altered or deleted by the service itself', async () => {
    for (const sql of [
      'delete from sync.certificates',
      `update sync.certificates set digest = ''`,
    ]) {
      await expect(archive.db.query(sql)).rejects.toMatchObject({ code: '42501' });
    }
  });

  test('deleted, row and all: its file tells, and the journal', async () => {
    const found = await spoil(`delete from sync.certificates where resource = 'orders'`);
    expect(found.map(({ kind, when }) => `${kind} ${when}`)).toEqual([
      'file 2026-03',
      'file 2026-03',
      'certificate 2026-03',
    ]);
  });

  test('all its digests made to fit what was altered: the leaves and the file tell', async () => {
    await archive.owner.query(
      `update archive.orders set raw_sha256 = sha256('x') where operation_id = $1`,
      [march],
    );
    const found = await spoil(
      `update sync.certificates set digest = sha256('x'), certificate = jsonb_set(certificate, '{digest}', to_jsonb(encode(sha256('x'), 'hex')))
        where resource = 'orders'`,
    );
    const kinds = found.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['certificate', 'file', 'altered']));
  });
});

describe('a file', () => {
  afterEach(() => putBack());
  // prettier-ignore
  const changed: [what: string, name: string, place: RegExp, put: string, says: RegExp][] = [
    ['a leaf is added', 'leaves.txt', /$/, `2026-03-31\tz\t${'0'.repeat(64)}\n`, /^.*leaves.txt: its digest/],
    ['a leaf is altered', 'leaves.txt', /\t[0-9a-f]{64}/, `\t${'0'.repeat(64)}`, /leaves.txt: its digest/],
    ['a certificate is altered', 'certificate.json', /"records":/, '"records":1', /what is held agrees with the database$/],
  ];
  test.each(changed)('in which %s', async (_, name, place, put, says) => {
    const path = join(archive.folder, 'p', `orders-2026-03.${name}`);
    await writeFile(path, (await readFile(path, 'utf8')).replace(place, put));
    const { findings } = await archive.verify();
    expect(findings).toMatchObject([{ kind: 'file', when: '2026-03' }]);
    expect(findings[0]?.says).toMatch(says);
  });

  test('P9: in whose place a pipe stands', async () => {
    for (const kind of ['certificate.json', 'leaves.txt']) {
      const path = join(archive.folder, 'p', `orders-2026-03.${kind}`);
      await rm(path);
      execFileSync('mkfifo', [path]);
    }
    const { findings } = await archive.verify();
    expect(findings.map(({ says }) => says)).toEqual([
      'orders-2026-03.certificate.json: it cannot be read: it is a pipe',
      'orders-2026-03.leaves.txt: it cannot be read: it is no file',
    ]);
  });

  test('that is not there is said, and is no finding; nor is one of another program', async () => {
    await rm(leavesFile());
    await writeFile(join(archive.folder, 'p', 'notes.txt'), 'mine');
    const { lists, findings } = await archive.verify();
    expect(findings).toEqual([]);
    expect(lists[0]?.certificates).toMatchObject([
      { files_missing: ['orders-2026-03.leaves.txt'], holds: true },
    ]);
  });
});

const undone = new Error('undone');

// Each is named by what the journal says, and undone with its transaction.
test.each(tamperings)('named: %s', async (_, sql, kind, says, id) => {
  const of = id === '$versioned' ? 'nft_classes' : 'orders';
  const found: Partial<Finding>[] = [];
  const note = (finding: Partial<Finding>): void => void found.push(finding);
  const tampering = withTx(archive.owner, async (tx) => {
    await tx.query(filled(sql, chosen));
    await checkChains(tx, 'p', [], note);
    await checkAgainstJournal(tx, 'p', of, note);
    throw undone;
  });
  const error: unknown = await tampering.catch((caught: unknown) => caught);
  // A cluster has no way to say some of them.
  if (isOnCluster && error !== undone) return;
  expect(error).toBe(undone);
  const day = [chosen.final, chosen.sealed].find((one) => filled(sql, chosen).includes(`'${one}'`));
  const when = kind === 'ledger' && day !== undefined ? { when: day } : {};
  const named = { kind, id: id === undefined ? null : filled(id, chosen), ...when };
  expect(found).toContainEqual(
    expect.objectContaining({ ...named, says: expect.stringMatching(says) }),
  );
});

test('a month that no run came as far as to certify is no finding', async () => {
  onTestFinished(putBack);
  const owed = async (): Promise<boolean> =>
    (await archive.verify()).findings.some(({ says }) => /no certificate says/.test(says));
  await archive.owner.query(
    `delete from sync.certificates; delete from sync.journal where kind = 'certified';
     update sync.runs set started_at = (started_at at time zone 'UTC' + interval '2 days') at time zone 'UTC'`,
  );
  expect(await owed()).toBe(true);
  // All of them were killed, as far as anybody can tell.
  await archive.owner.query(`update sync.runs set outcome = null, ended_at = null`);
  expect(await owed()).toBe(false);
});

test('a journal made anew from end to end follows from itself; a head that was kept elsewhere finds it out', async () => {
  const { rows } = await archive.owner.query<{ head: string }>(
    `select encode(head, 'hex') as head from sync.journal order by no`,
  );
  const kept = rows.map(({ head }) => head);
  expect((await archive.verify(kept)).findings).toEqual([]);
  await archive.owner.query(
    `truncate sync.rejects, sync.certificates;
     ${remadeJournal(`kind = 'certified' or kind = 'contents' and body like '{"rejects"%'`)}`,
  );
  await rm(archive.folder, { recursive: true });
  const { findings } = await archive.verify(kept.slice(-1));
  expect(findings.map(({ says }) => says)).toContainEqual(
    expect.stringContaining(
      `the head ${kept.at(-1)} was kept elsewhere, and no entry of this journal has it`,
    ),
  );
});
