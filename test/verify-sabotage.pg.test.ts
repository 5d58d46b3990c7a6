// Every way to spoil an archive behind its back, each caught and named, beside the untouched archive that passes. One
// archive serves all; it is put back as it was after each test.
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../src/verify/finding.ts';
import { createUncertified, marchIsOver, type Certified } from './support/certified.ts';
import { observe } from './support/observe.ts';

let archive: Certified;
/** A day of March with orders, one of them, one of April, and a class of March that has versions. */
let day: string;
let march: string;
let april: string;
let versioned: string;
/** An order of April that is missing. */
let missing: string;

const tables = [
  'archive.orders',
  'archive.order_versions',
  'archive.nft_classes',
  'archive.nft_class_versions',
  'sync.certificates',
  'sync.slices',
  'sync.pages',
  'sync.rejects',
  'sync.chains',
  'sync.journal',
  'sync.heads',
  'sync.runs',
];

beforeAll(async () => {
  archive = await createUncertified();
  // Time for classes to change: they get versions.
  await archive.runLater(8 * 3_600_000);
  // An order vanishes, and is noticed by its day's count.
  missing = await first(
    `select min(operation_id) from archive.orders where slice_day = '2026-04-10'`,
  );
  archive.simulator.hide('orders', missing);
  await archive.runLater(18 * 3_600_000);
  await archive.runLater(marchIsOver - archive.simulator.clock.now());
  const { owner, folder } = archive;
  await owner.query(
    `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
     values ('p', 'orders', sha256('no order'), 'no order', 'no id', '', '2026-03-05', '2026-04-29T12:00:00Z')`,
  );
  await owner.query(
    `select sync.journal_append('p', 'orders', '', '2026-03-05', 'adopted',
              jsonb_build_object('rejects', jsonb_build_array(jsonb_build_array(encode(sha256, 'hex'), sync.utc(seen_at), reason)))::text, null, null)
       from sync.rejects`,
  );
  await owner.query(`select sync.make_head('p')`);
  day = await first(
    `select min(slice_day) from archive.orders where slice_day > '2026-03-08' and slice_day < '2026-03-28'`,
  );
  march = await first(`select min(operation_id) from archive.orders where slice_day = '${day}'`);
  april = await first(
    `select min(operation_id) from archive.orders where slice_day >= '2026-04-02'`,
  );
  versioned = await first(
    `select min(id) from archive.nft_class_versions join archive.nft_classes using (project_id, id)
      where slice_day < '2026-04-01'`,
  );
  await owner.query('create schema kept');
  for (const table of tables) {
    await owner.query(`create table kept.${table.replace('.', '_')} as table ${table}`);
  }
  await cp(folder, `${folder} kept`, { recursive: true });
});

afterEach(async () => {
  for (const table of tables) {
    await archive.owner.query(
      `truncate ${table}; insert into ${table} select * from kept.${table.replace('.', '_')}`,
    );
  }
  await rm(archive.folder, { recursive: true });
  await cp(`${archive.folder} kept`, archive.folder, { recursive: true });
});

afterAll(async () => {
  await rm(`${archive.folder} kept`, { recursive: true, force: true });
  await archive.close();
});

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

/** What is said of records: pages that are gone, and their days, are named besides. */
const records = (found: Finding[]): Finding[] => found.filter(({ id }) => id !== null);

const ofMarch = () => ({ project: 'p', resource: 'orders', when: day });
const setRaw = `raw = jsonb_set(raw, '{message}', '"altered"')`;
/** The digest of a raw whose keys and values need nothing but sorting: what a careful forger would put beside it. */
const forgedSha = (raw: string): string =>
  `(select sha256(convert_to('{' || string_agg(to_json(key) || ':' || value, ',' order by key collate "C") || '}', 'UTF8'))
      from jsonb_each(${raw}))`;

test('the untouched archive passes, its certificates hold, and its files are there', async () => {
  const { lists, findings } = await archive.verify();
  expect(findings).toEqual([]);
  expect(lists.map((list) => [list.resource, list.certificates.map((one) => one.holds)])).toEqual([
    ['orders', [true]],
    ['nft_classes', [true]],
    ['transactions', []],
    ['tokens', []],
  ]);
  expect(lists.flatMap((list) => list.certificates.flatMap((one) => one.files_missing))).toEqual(
    [],
  );
  expect(lists[0]).toMatchObject({ rejects: 1 });
  expect(lists[1]?.versions).toBeGreaterThan(0);
});

describe('a row', () => {
  test('one letter of its raw', async () => {
    const found = await spoil(`update archive.orders set ${setRaw} where operation_id = $1`, march);
    expect(found).toMatchObject([{ ...ofMarch(), kind: 'altered', id: march }]);
    expect(found[0]?.says).toMatch(/^raw_sha256 is [0-9a-f]{64}, and that of the record held is /);
  });

  test('its raw and its digest alike: the certificate catches it', async () => {
    const sql = `update archive.orders o set raw = n.raw, message = 'altered', raw_sha256 = ${forgedSha('n.raw')}
                   from (select operation_id, raw || '{"message": "altered"}' as raw from archive.orders) n
                  where n.operation_id = o.operation_id and o.operation_id = $1`;
    const found = await spoil(sql, march);
    expect(found).toMatchObject([{ ...ofMarch(), kind: 'altered', id: march }]);
    expect(found[0]?.says).toMatch(/^certified is raw_sha256 /);
  });

  test('the same in a month that is not over: the journal tells', async () => {
    const sql = `update archive.orders o set raw = n.raw, message = 'altered', raw_sha256 = ${forgedSha('n.raw')}
                   from (select operation_id, raw || '{"message": "altered"}' as raw from archive.orders) n
                  where n.operation_id = o.operation_id and o.operation_id = $1`;
    const found = await spoil(sql, april);
    expect(found).toMatchObject([{ kind: 'altered', id: april }]);
    expect(found[0]?.says).toMatch(/^archived by entry \d+ of 2026-04-/);
  });

  test('the same without its leaves: the day is named', async () => {
    await rm(join(archive.folder, 'p', 'orders-2026-03.leaves.txt'));
    const sql = `update archive.orders o set raw = n.raw, message = 'altered', raw_sha256 = ${forgedSha('n.raw')}
                   from (select operation_id, raw || '{"message": "altered"}' as raw from archive.orders) n
                  where n.operation_id = o.operation_id and o.operation_id = $1`;
    // The journal knows which record it is.
    expect(await spoil(sql, march)).toMatchObject([
      { ...ofMarch(), kind: 'day', id: null },
      { ...ofMarch(), kind: 'altered', id: march },
    ]);
  });

  test.each([
    ['status', `3 - coalesce(status, 0)`],
    ['message', `'other'`],
    ['account', `'someone else'`],
    ['account', `null`],
    ['amount', `coalesce(amount, 0) + 1`],
    ['number', `coalesce(number, 0) + 0.01`],
    ['created_at', `created_at + interval '1 microsecond'`],
    ['updated_at', `null`],
    ['updated_at', `'infinity'`],
    ['order_type', `7`],
    ['slice_day', `slice_day + 1`],
    ['unread', `'{amount}'`],
  ])('its column %s as %s', async (column, value) => {
    const found = await spoil(
      `update archive.orders set ${column} = ${value} where operation_id = $1`,
      april,
    );
    expect(found).toMatchObject([{ kind: 'column', id: april }]);
    expect(found[0]?.says).toMatch(new RegExp(`^${column} is `));
  });

  test('a certified one put under another day: its column, its old day and its new one', async () => {
    const found = await spoil(
      `update archive.orders set slice_day = '2026-03-30' where operation_id = $1`,
      march,
    );
    expect(found.map(({ kind, when, id }) => [kind, when, id])).toEqual([
      ['column', '2026-03-30', march],
      ['altered', day, march],
      ['extra', '2026-03-30', march],
    ]);
  });

  test('a column of numbers written otherwise is the same number', async () => {
    const found = await spoil(
      `update archive.orders set amount = amount::numeric(30, 4) where amount is not null`,
    );
    expect(found).toEqual([]);
  });

  test('its key', async () => {
    const found = await spoil(
      `update archive.orders set operation_id = 'another' where operation_id = $1`,
      april,
    );
    expect(found.map(({ kind, id }) => [kind, id])).toEqual([
      ['altered', 'another'],
      // A page showed it under its own.
      ['missing', april],
    ]);
  });

  test('raw_bytes beside a raw that needs none', async () => {
    const found = await spoil(
      `update archive.orders set raw_bytes = convert_to(raw::text, 'UTF8') where operation_id = $1`,
      april,
    );
    expect(found).toMatchObject([
      { kind: 'altered', id: april, says: expect.stringContaining('raw_bytes') },
    ]);
  });

  test.each(['null', '[]', '"text"', '{}', '{"operation_id": ""}'])(
    'its raw as %s',
    async (raw) => {
      const found = await spoil(
        `update archive.orders set raw = $2 where operation_id = $1`,
        april,
        raw,
      );
      expect(found).toMatchObject([{ kind: 'altered', id: april }]);
    },
  );

  test('deleted while its month is open: a page that showed it tells', async () => {
    const found = await spoil(`delete from archive.orders where operation_id = $1`, april);
    expect(found).toMatchObject([{ kind: 'missing', id: april }]);
  });

  test('deleted with every page that showed it, after its month was certified', async () => {
    await archive.owner.query('truncate sync.pages');
    const found = records(await spoil(`delete from archive.orders where operation_id = $1`, march));
    expect(found).toMatchObject([{ ...ofMarch(), kind: 'missing', id: march }]);
  });

  test('all of a month deleted', async () => {
    await archive.owner.query('truncate sync.pages');
    const held = await first(`select count(*) from archive.orders where slice_day < '2026-04-01'`);
    const found = records(await spoil(`delete from archive.orders where slice_day < '2026-04-01'`));
    expect(found).toHaveLength(Number(held));
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['missing']));
  });

  test('invented in a certified month, dated back', async () => {
    const found = await spoil(
      `insert into archive.orders
       select project_id, 'invented', status, message, account, amount, number, created_at, updated_at, order_type,
              slice_day, n.raw, null, ${forgedSha('n.raw')}, unread, observed_at, first_seen_at, changed_at, null
         from archive.orders o, lateral (select o.raw || '{"operation_id": "invented"}' as raw) n
        where operation_id = $1`,
      march,
    );
    expect(found).toMatchObject([{ ...ofMarch(), kind: 'extra', id: 'invented' }]);
  });

  test('one that came honestly after its month was certified is no finding', async () => {
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
});

describe('a version', () => {
  test('its raw', async () => {
    const found = await spoil(
      `update archive.nft_class_versions set raw = jsonb_set(raw, '{name}', '"altered"') where id = $1`,
      versioned,
    );
    expect(found[0]).toMatchObject({ kind: 'altered', resource: 'nft_classes', id: versioned });
    expect(found[0]?.says).toMatch(/^the version observed at 2026-/);
  });

  test('its record deleted, pages and all', async () => {
    await archive.owner.query('truncate sync.pages, sync.certificates');
    await rm(archive.folder, { recursive: true });
    const found = records(await spoil(`delete from archive.nft_classes where id = $1`, versioned));
    await cp(`${archive.folder} kept`, archive.folder, { recursive: true });
    expect(found).toMatchObject([{ kind: 'missing', id: versioned }]);
  });
});

test('the bytes of a reject', async () => {
  const found = await spoil(`update sync.rejects set bytes = 'another'`);
  expect(found).toMatchObject([{ kind: 'altered', when: '2026-03-05', id: null }]);
});

describe('a certificate', () => {
  const set = (path: string, value: string): string =>
    `update sync.certificates set certificate = jsonb_set(certificate, '${path}', '${value}') where resource = 'orders'`;

  test.each([
    [
      'a lost day made good',
      set('{lost_days}', '["2026-03-01"]'),
      /^orders-2026-03.certificate.json: it is not/,
    ],
    ['its records', set('{records}', '7'), /number of records/],
    ['its moment', set('{certified_at}', '"2027-01-01T00:00:00Z"'), /certified_at/],
    ['its format', set('{format}', '"other"'), /no certificate of the form/],
    ['its days', set('{days}', 'null'), /no certificate of the form/],
    [
      'the moment of its row',
      `update sync.certificates set certified_at = '2026-04-29' where resource = 'orders'`,
      /certified_at/,
    ],
    [
      'the digest of its row',
      `update sync.certificates set digest = sha256('x') where resource = 'orders'`,
      /digest/,
    ],
    [
      'the leaves of its row',
      `update sync.certificates set leaves_sha256 = sha256('x') where resource = 'orders'`,
      /leaves_sha256/,
    ],
  ])('%s', async (_, sql, says) => {
    const found = await spoil(sql);
    expect(found.some((finding) => says.test(finding.says))).toBe(true);
    expect(new Set(found.map(({ resource }) => resource))).toEqual(new Set(['orders']));
  });

  test('the digest of its leaves everywhere, and the leaves with it', async () => {
    await writeFile(join(archive.folder, 'p', 'orders-2026-03.leaves.txt'), 'x');
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
    expect(found).toMatchObject([
      { kind: 'file', when: '2026-03' },
      { kind: 'file', when: '2026-03' },
      { kind: 'certificate', when: '2026-03' },
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
    expect(kinds).toContain('certificate');
    expect(kinds).toContain('file');
    expect(kinds).toContain('altered');
  });
});

describe('a file', () => {
  const spoilFile = async (name: string, change: (text: string) => string): Promise<Finding[]> => {
    const path = join(archive.folder, 'p', name);
    await writeFile(path, change(await readFile(path, 'utf8')));
    return (await archive.verify()).findings;
  };

  test('of leaves: one that is added, and one whose digest differs', async () => {
    for (const change of [
      (text: string) => `${text}2026-03-31\tz\t${'0'.repeat(64)}\n`,
      (text: string) => text.replace(/\t[0-9a-f]{64}/, `\t${'0'.repeat(64)}`),
    ]) {
      const found = await spoilFile('orders-2026-03.leaves.txt', change);
      expect(found).toMatchObject([
        { kind: 'file', when: '2026-03', says: expect.stringContaining('leaves.txt') },
      ]);
    }
  });

  test('of a certificate: what is held agrees with the database', async () => {
    const found = await spoilFile('orders-2026-03.certificate.json', (text) =>
      text.replace('"records":', '"records":1'),
    );
    expect(found).toMatchObject([
      { kind: 'file', says: expect.stringContaining('what is held agrees with the database') },
    ]);
  });

  test('that is not there is said, and is no finding', async () => {
    await rm(join(archive.folder, 'p', 'orders-2026-03.leaves.txt'));
    const { lists, findings } = await archive.verify();
    expect(findings).toEqual([]);
    expect(lists[0]?.certificates).toMatchObject([
      { files_missing: ['orders-2026-03.leaves.txt'], holds: true },
    ]);
  });

  test('of another program is left alone', async () => {
    await writeFile(join(archive.folder, 'p', 'notes.txt'), 'mine');
    expect((await archive.verify()).findings).toEqual([]);
  });
});

// What a superuser may do behind the archive's back, digests, pages and certificates made to fit where he can: each is
// named by what the journal says. $day, $march, $april, $versioned, $missing stand for what is chosen above.
const forgedRaw = `n.raw || '{"message": "forged"}'`;
const march1 = `project_id = 'p' and resource = 'orders' and day = '2026-03-12'`;
const april1 = `project_id = 'p' and resource = 'orders' and day = '2026-04-12'`;
const unnamed = `delete from sync.certificates; `;
const versionOf = `archive.nft_class_versions where id = '$versioned'`;
// prettier-ignore
const tamperings: [what: string, sql: string, kind: Finding['kind'], says: RegExp, id?: string][] = [
  // The ledger, of certified months and of open ones.
  ['a final day called sealed', `update sync.slices set state = 'sealed' where ${march1}`, 'ledger', /state was sealed, and final is in the journal/],
  ['a final day called lost', `update sync.slices set state = 'lost' where ${march1}`, 'ledger', /state/],
  ['a sealed day called open', `update sync.slices set state = 'open' where ${april1}`, 'ledger', /state/],
  ['the platform total of a sealed day', `update sync.slices set platform_total = platform_total + 1 where ${april1}`, 'ledger', /platform_total/],
  ['the shown total of a sealed day', `update sync.slices set shown_total = 0 where ${april1}`, 'ledger', /shown_total/],
  ['the proof of a sealed day', `update sync.slices set proof = 'walks' where ${april1}`, 'ledger', /proof was walks/],
  ['when a sealed day was proved', `update sync.slices set proved_at = proved_at - interval '1 day' where ${april1}`, 'ledger', /proved_at/],
  ['when a final day was walked', `update sync.slices set walked_at = walked_at + interval '1 day' where ${march1}`, 'ledger', /walked_at/],
  ['pending orders of a final day', `update sync.slices set unresolved = 3 where ${march1}`, 'ledger', /unresolved/],
  ['the deadline of a final day', `update sync.slices set deadline_at = '9999-12-31' where ${march1}`, 'ledger', /deadline_at/],
  ['which walk of a day was whole', `update sync.slices set whole_walk = 0 where ${april1}`, 'ledger', /whole_walk/],
  ['a certified day gone', `delete from sync.slices where ${march1}`, 'ledger', /gone from the ledger, which said state final/],
  ['an open day gone', `delete from sync.slices where ${april1}`, 'ledger', /gone from the ledger/],
  ['all days of a month gone', `delete from sync.slices where resource = 'orders' and day < '2026-04-01'`, 'ledger', /gone from the ledger/],
  ['a day by hand', `insert into sync.slices (project_id, resource, day, deadline_at, state) values ('p', 'orders', '2026-02-01', '2026-03-31', 'final')`, 'ledger', /nothing in the journal entered it/],
  ['a day gone with its journal', `delete from sync.slices where ${april1}; delete from sync.chains where ${april1}; delete from sync.journal where ${april1}`, 'ledger', /nothing in the ledger accounts for the day/],
  ['the same, and what the heads say', `delete from sync.slices where ${april1}; delete from sync.chains where ${april1}; delete from sync.journal where ${april1}`, 'journal', /is not the one that head 1 of the project covers/],
  ['a ledger row altered, and written again by the service', `update sync.slices set shown_total = 1 where ${april1};
    select sync.journal_ledger(sync.ledger_of(s), row(s.*)::sync.slices) from sync.slices s where ${april1}`, 'ledger', /until entry \d+ was written: shown_total was 1/],
  // Pages.
  ['all pages gone', `truncate sync.pages`, 'ledger', /page 0 of walk \d+ is gone/],
  ['the page of a final day gone', `delete from sync.pages where ${march1}`, 'ledger', /page 0 of walk \d+ is gone/],
  ['an id out of a page', `update sync.pages set ids = ids[2:] where ${april1}`, 'ledger', /is not as it was entered/],
  ['an id into a page', `update sync.pages set ids = ids || '{$april}' where ${april1}`, 'ledger', /is not as it was entered/],
  ['the total of a page', `update sync.pages set total = 1000 where ${april1}`, 'ledger', /is not as it was entered/],
  ['the key of a page', `update sync.pages set page_key = 'x' where ${april1}`, 'ledger', /is not as it was entered/],
  ['a page by hand', `insert into sync.pages select project_id, resource, owner, day, walk, 7, page_key, page_offset, ids, rejects, total, asked_at from sync.pages where ${april1}`, 'ledger', /page 7 of walk \d+ is held, and nothing/],
  // Rejects.
  ['a reject gone', `delete from sync.rejects`, 'missing', /^reject [0-9a-f]{64} was kept/],
  ['a reject with another reason', `update sync.rejects set reason = 'other'`, 'altered', /^reject/],
  ['a reject at another moment', `update sync.rejects set seen_at = now()`, 'altered', /^reject/],
  ['a reject on another day', `update sync.rejects set day = '2026-03-06'`, 'altered', /^reject/],
  ['a reject altered with its digest', `update sync.rejects set bytes = 'x', sha256 = sha256('x')`, 'missing', /^reject/],
  ['a reject by hand', `insert into sync.rejects select project_id, resource, sha256('y'), 'y', reason, owner, day, seen_at from sync.rejects`, 'extra', /^reject/],
  // Versions.
  ['a version gone', `delete from ${versionOf}`, 'missing', /was archived by entry \d+ of 2026-/, '$versioned'],
  ['all versions gone', `delete from archive.nft_class_versions`, 'missing', /and is no longer held/, '$versioned'],
  ['a version altered with its digest', `update archive.nft_class_versions v set raw = n.raw || '{"name": "forged"}', raw_sha256 = ${forgedSha(`(n.raw || '{"name": "forged"}')`)}
    from ${versionOf.replace('where', 'n where n.')} and n.id = v.id and n.observed_at = v.observed_at`, 'altered', /held is a content/, '$versioned'],
  ['a version forged', `insert into archive.nft_class_versions select project_id, id, observed_at - interval '1 hour', ${forgedSha(`(raw || '{"name": "forged"}')`)}, raw || '{"name": "forged"}', null from ${versionOf}`, 'extra', /nothing in the journal stored it/, '$versioned'],
  ['a version copied to another moment', `insert into archive.nft_class_versions select project_id, id, observed_at - interval '1 hour', raw_sha256, raw, raw_bytes from ${versionOf}`, 'extra', /nothing in the journal stored it/, '$versioned'],
  ['a version re-timed', `update archive.nft_class_versions set observed_at = observed_at - interval '1 minute' where id = '$versioned'`, 'altered', /held is a content observed at/, '$versioned'],
  ['a version and the row exchanged', `update archive.nft_classes c set observed_at = v.observed_at from ${versionOf.replace('where', 'v where v.')} and v.id = c.id`, 'altered', /held is/, '$versioned'],
  // Moments.
  ['observed_at moved', `update archive.orders set observed_at = observed_at - interval '1 hour' where operation_id = '$april'`, 'altered', /held is a content observed at/, '$april'],
  ['observed_at moved behind the certificate', `update archive.orders set observed_at = '2026-06-01' where operation_id = '$march'; truncate sync.certificates`, 'altered', /held is a content observed at 2026-06-01/, '$march'],
  ['first_seen_at moved', `update archive.orders set first_seen_at = first_seen_at + interval '1 day' where operation_id = '$april'`, 'altered', /^first_seen_at is/, '$april'],
  ['first_seen_at moved, certified', `update archive.orders set first_seen_at = first_seen_at - interval '1 second' where operation_id = '$march'`, 'altered', /^first_seen_at is/, '$march'],
  ['missing_since moved', `update archive.orders set missing_since = missing_since + interval '1 day' where operation_id = '$missing'`, 'altered', /^missing_since is/, '$missing'],
  ['missing_since taken back', `update archive.orders set missing_since = null where operation_id = '$missing'`, 'altered', /^missing_since is not set/, '$missing'],
  ['missing_since made up', `update archive.orders set missing_since = now() where operation_id = '$april'`, 'altered', /nothing is in the journal/, '$april'],
  // Records.
  ['an order by hand, in an open month', `insert into archive.orders select project_id, 'invented', status, message, account, amount, number, created_at, updated_at, order_type, slice_day,
      raw || '{"operation_id": "invented"}', null, ${forgedSha(`(raw || '{"operation_id": "invented"}')`)}, unread, observed_at, first_seen_at, changed_at, null from archive.orders where operation_id = '$april'`, 'extra', /nothing in the journal stored it/, 'invented'],
  ['an order by hand, with a page', `insert into archive.orders select project_id, 'invented', status, message, account, amount, number, created_at, updated_at, order_type, slice_day,
      raw || '{"operation_id": "invented"}', null, ${forgedSha(`(raw || '{"operation_id": "invented"}')`)}, unread, observed_at, first_seen_at, changed_at, null from archive.orders where operation_id = '$april';
    update sync.pages set ids = ids || '{invented}' where ids @> '{$april}'`, 'extra', /nothing in the journal stored it/, 'invented'],
  ['an order gone with its page entry', `delete from archive.orders where operation_id = '$april'; update sync.pages set ids = array_remove(ids, '$april')`, 'missing', /was archived by entry \d+ of 2026-04/, '$april'],
  ['an order gone with its pages', `delete from archive.orders where operation_id = '$april'; delete from sync.pages where ids @> '{$april}'`, 'missing', /was archived by entry/, '$april'],
  ['a certified order gone, page, certificate and all', `delete from archive.orders where operation_id = '$march'; update sync.pages set ids = array_remove(ids, '$march'); truncate sync.certificates`, 'missing', /was archived by entry/, '$march'],
  ['an order altered with its digest, certificates gone', `update archive.orders o set raw = ${forgedRaw}, message = 'forged', raw_sha256 = ${forgedSha(`(${forgedRaw})`)} from archive.orders n
    where n.operation_id = o.operation_id and o.operation_id = '$march'; truncate sync.certificates`, 'altered', /archived by entry/, '$march'],
  // Certificates.
  ['the newest certificate gone', `delete from sync.certificates where resource = 'orders'`, 'certificate', /was issued, and is no longer held/],
  ['all certificates gone', `truncate sync.certificates`, 'certificate', /was issued, and is no longer held/],
  ['a month that should have one', `${unnamed}delete from sync.journal where kind = 'certified'; update sync.runs set started_at = started_at + interval '2 days'`, 'certificate', /is over, and no certificate says/],
  ['a certificate altered, row and all', `update sync.certificates set certificate = jsonb_set(certificate, '{lost_days}', '["2026-03-01"]')`, 'certificate', /is not the one that was issued/],
  ['a certificate by hand', `insert into sync.certificates select project_id, resource, '2026-02-01', certified_at, certificate, digest, leaves_sha256, 1 from sync.certificates where resource = 'orders'`, 'certificate', /nothing in the journal issued it/],
  // The journal itself.
  ['an entry altered', `update sync.journal set body = body || ' ' where ${april1} and seq = 1`, 'journal', /entry 1 of orders does not follow/],
  ['an entry of contents altered', `update sync.journal set ids = ids[2:], shas = shas[2:] where ${april1} and shas is not null`, 'journal', /does not follow/],
  ['an entry gone', `delete from sync.journal where ${april1} and seq = 1`, 'journal', /does not follow/],
  ['the last entry gone', `delete from sync.journal j using sync.chains c where (j.project_id, j.resource, j.owner, j.day, j.seq) = (c.project_id, c.resource, c.owner, c.day, c.seq) and j.day = '2026-04-12'`, 'journal', /does not end with entry/],
  ['an entry that is no JSON', `update sync.journal set body = 'x' where ${april1} and kind = 'ledger'`, 'journal', /cannot be read: it was altered/],
  ['a head altered', `update sync.heads set head = sha256('x') where n = 1`, 'journal', /head 1 of the project does not follow/],
  ['what a head covers altered', `update sync.heads set body = body || 'orders' where n = 1`, 'journal', /./],
  ['an order gone, and its chain made anew', `delete from archive.orders where operation_id = '$april'; update sync.pages set ids = array_remove(ids, '$april');
    delete from sync.journal where resource = 'orders'; delete from sync.chains where resource = 'orders'`, 'journal', /is not the one that head \d+ of the project covers/],
  ['a head gone', `delete from sync.heads where n = 1`, 'journal', /head 2 of the project does not follow/],
];

test.each(tamperings)('named: %s', async (_, sql, kind, says, id) => {
  const chosen: Record<string, string> = { day, march, april, versioned, missing };
  const filled = (text: string): string =>
    text.replaceAll(/\$([a-z]+)/g, (all, name: string) => chosen[name] ?? all);
  await rm(archive.folder, { recursive: true });
  await archive.owner.query(filled(sql));
  const { findings } = await archive.verify();
  await cp(`${archive.folder} kept`, archive.folder, { recursive: true });
  const found = findings.filter((one) => one.kind === kind && says.test(one.says));
  expect(findings).not.toEqual([]);
  expect(found.map((one) => one.id)).toContain(id === undefined ? null : filled(id));
});

test('a journal made anew from end to end follows from itself; a head that was kept elsewhere finds it out', async () => {
  const { rows } = await archive.owner.query<{ head: string }>(
    `select encode(head, 'hex') as head from sync.heads order by n`,
  );
  const kept = rows.map(({ head }) => head);
  expect((await archive.verify(kept)).findings).toEqual([]);
  await archive.owner.query(
    `delete from archive.orders where operation_id = '${april}'; update sync.pages set ids = array_remove(ids, '${april}');
     truncate sync.journal, sync.chains, sync.heads, sync.certificates;
     select sync.journal_adopt('p'), sync.make_head('p')`,
  );
  await rm(archive.folder, { recursive: true });
  const { findings } = await archive.verify(kept.slice(-1));
  await cp(`${archive.folder} kept`, archive.folder, { recursive: true });
  expect(findings.map(({ says }) => says)).toContainEqual(
    expect.stringContaining(
      `the head ${kept.at(-1)} was kept elsewhere, and no head of this archive is that`,
    ),
  );
});
