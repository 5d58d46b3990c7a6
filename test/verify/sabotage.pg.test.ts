// Every way to spoil an archive behind its back, each caught and named, beside the untouched archive that passes. One
// archive serves all; it is put back as it was after each test.
import { isOnCluster } from '../support/postgres.ts';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/verify/finding.ts';
import { createUncertified, marchIsOver, type Certified } from '../support/certified.ts';
import { observe } from '../support/observe.ts';
import {
  filled,
  forgedSha,
  remadeJournal,
  tamperings,
  type Chosen,
  type Tampering,
} from '../support/tamperings.ts';

let archive: Certified;
let putBack: () => Promise<void>;
/** A day of March with orders, one of them, one of April, and a class of March that has versions. */
let day: string;
let march: string;
let april: string;
let versioned: string;
/** An order of April that is missing. */
let missing: string;

beforeAll(async () => {
  archive = await createUncertified();
  // An order vanishes, and is noticed by its day's count. Classes change meanwhile: they get versions.
  missing = await first(
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
  versioned = await first(
    `select min(id) from archive.nft_class_versions join archive.nft_classes using (project_id, id)
      where slice_day < '2026-04-01'`,
  );
  putBack = await archive.keep('kept');
});
afterEach(() => putBack());
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

/** So many orders of a month that is not over, and that have all that an order can have. */
async function openOrders(count: number): Promise<string[]> {
  const { rows } = await archive.owner.query<{ id: string }>(
    `select operation_id as id from archive.orders
      where slice_day >= '2026-04-02' and missing_since is null and updated_at is not null and account is not null
      order by 1 limit $1`,
    [count],
  );
  expect(rows).toHaveLength(count);
  return rows.map(({ id }) => id);
}

/** What is said of records: pages that are gone, and their days, are named besides. */
const records = (found: Finding[]): Finding[] => found.filter(({ id }) => id !== null);

const ofMarch = () => ({ project: 'p', resource: 'orders', when: day });
const setRaw = `raw = jsonb_set(raw, '{message}', '"altered"')`;
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
  expect(lists[0]).toMatchObject({ rejects: 6 });
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

  test('each of its columns', async () => {
    const spoiled = [
      ['status', `3 - coalesce(status, 0)`],
      ['message', `'other'`],
      ['account', `'someone else'`],
      ['account', `null`],
      ['amount', `coalesce(amount, 0) + 1`],
      ['number', `coalesce(number, 0) + 0.01`],
      [
        'created_at',
        `(created_at at time zone 'UTC' + interval '1 microsecond') at time zone 'UTC'`,
      ],
      ['updated_at', `null`],
      ['updated_at', `'infinity'`],
      ['order_type', `7`],
      ['unread', `'{amount}'`],
    ];
    const ids = await openOrders(spoiled.length);
    for (const [i, [column, value]] of spoiled.entries()) {
      await archive.owner.query(
        `update archive.orders set ${column} = ${value} where operation_id = $1`,
        [ids[i]],
      );
    }
    const { findings } = await archive.verify();
    expect(findings).toHaveLength(spoiled.length);
    for (const [i, [column]] of spoiled.entries()) {
      const says = expect.stringMatching(new RegExp(`^${column} is `));
      expect(findings).toContainEqual(
        expect.objectContaining({ kind: 'column', id: ids[i], says }),
      );
    }
  });

  test('its day: only the journal knows whose list showed it', async () => {
    const found = await spoil(
      `update archive.orders set slice_day = slice_day + 1 where operation_id = $1`,
      april,
    );
    expect(found).toMatchObject([{ kind: 'altered', id: april }]);
    expect(found[0]?.says).toMatch(
      /^slice_day is 2026-04-\d\d, and 2026-04-\d\d is in the journal$/,
    );
  });

  test('a certified one put under another day', async () => {
    const found = await spoil(
      `update archive.orders set slice_day = '2026-03-30' where operation_id = $1`,
      march,
    );
    expect(found.map(({ kind, when, id }) => [kind, when, id])).toEqual([
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

  // A cluster lets nobody write what is cast by a session's settings.
  test.skipIf(isOnCluster)('raw_bytes beside a raw that needs none', async () => {
    const found = await spoil(
      `update archive.orders set raw_bytes = convert_to(raw::text, 'UTF8') where operation_id = $1`,
      april,
    );
    expect(found).toMatchObject([
      { kind: 'altered', id: april, says: expect.stringContaining('raw_bytes') },
    ]);
  });

  test('its raw as what is no order', async () => {
    const raws = ['null', '[]', '"text"', '{}', '{"operation_id": ""}'];
    const ids = await openOrders(raws.length);
    await archive.owner.query(
      `update archive.orders set raw = new.raw
         from unnest($1::text[], $2::jsonb[]) as new (id, raw) where operation_id = new.id`,
      [ids, raws],
    );
    const { findings } = await archive.verify();
    expect(findings).toHaveLength(raws.length);
    expect(new Set(findings.map(({ kind, id }) => `${kind} ${id}`))).toEqual(
      new Set(ids.map((id) => `altered ${id}`)),
    );
  });

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
    expect(found).toMatchObject([{ kind: 'missing', id: versioned }]);
  });
});

test('the bytes of a reject', async () => {
  const found = await spoil(`update sync.rejects set bytes = 'another' where bytes = 'no order 1'`);
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
    ['its books', set('{books}', '[{"total": 7}]'), /books that it names/],
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

/** Of each there are so many to be altered in one archive, no two of them of one day and list. */
const atOnce: Record<keyof Chosen, number> = {
  final: 6,
  sealed: 6,
  certified: 1,
  order: 9,
  versioned: 9,
  missing: 1,
  reject: 6,
};

const altersOf = ([, sql, , , id = '']: Tampering): (keyof Chosen)[] => [
  ...new Set((`${sql} ${id}`.match(/(?<=\$)[a-z]+/g) ?? []) as (keyof Chosen)[]),
];

/** These name a day and alter more: of a journal that cannot be read nothing else is told, and an entry is missed by the next. */
const ofMore: string[] = [
  'all days of a month gone',
  'an entry that is no JSON',
  'an entry gone',
  'an entry of another day',
  'the same, and what the next entries say',
];

/** Whether it alters nothing but days and records that it names. */
const isOfOne = ([what, sql, , , id = '$']: Tampering): boolean =>
  id.includes('$') && !ofMore.includes(what) && sql.split(';').every((one) => one.includes('$'));

/** Those that can be done to one archive at once, each to a day or record of its own; what alters more stands alone. */
function together(): Tampering[][] {
  const groups: Tampering[][] = [];
  for (const one of tamperings) {
    const group = groups.find(
      (others) =>
        [one, ...others].every(isOfOne) &&
        altersOf(one).every(
          (name) => others.filter((other) => altersOf(other).includes(name)).length < atOnce[name],
        ),
    );
    if (group === undefined) groups.push([one]);
    else group.push(one);
  }
  return groups;
}

/** In the archive of this file, on days that nothing else speaks of. */
async function choices(): Promise<Record<keyof Chosen, string[]>> {
  const { rows } = await archive.owner.query<
    Pick<Record<keyof Chosen, string[]>, 'order' | 'versioned' | 'reject'>
  >(
    `select array(select operation_id from archive.orders where slice_day = '2026-04-29' order by 1) as order,
            array(select distinct id from archive.nft_class_versions join archive.nft_classes using (project_id, id)
                   where slice_day < '2026-04-01' order by 1) as versioned,
            array(select encode(sha256, 'hex') from sync.rejects order by 1) as reject`,
  );
  const [{ order, versioned, reject }] = rows as [(typeof rows)[0]];
  return {
    final: ['06', '07', '08', '09', '20', '31'].map((of) => `2026-03-${of}`),
    sealed: ['01', '02', '03', '12', '28', '30'].map((of) => `2026-04-${of}`),
    certified: [march],
    order,
    versioned,
    missing: [missing],
    reject,
  };
}

// Each is named by what the journal says, and by its own day or record.
test.each(together().map((group) => [group.map(([what]) => what).join('; '), group] as const))(
  'named: %s',
  async (_, group) => {
    await rm(archive.folder, { recursive: true });
    const left = await choices();
    const chosenFor = group.map((tampering) => {
      const chosen: Chosen = {};
      for (const name of altersOf(tampering)) chosen[name] = left[name].shift() ?? '';
      return { tampering, chosen };
    });
    const done: typeof chosenFor = [];
    for (const one of chosenFor) {
      try {
        await archive.owner.query(filled(one.tampering[1], one.chosen) ?? '');
        done.push(one);
      } catch (error) {
        // A cluster has no way to say some of them.
        if (!isOnCluster) throw error;
      }
    }
    const { findings } = await archive.verify();
    for (const { tampering, chosen } of done) {
      const [what, , kind, says, id] = tampering;
      // What was added has a digest of its own.
      const reject = kind === 'extra' ? undefined : chosen.reject;
      const own = [chosen.final, chosen.sealed, reject].filter((one) => one !== undefined);
      const found = findings.filter(
        (one) =>
          one.kind === kind &&
          one.id === (id === undefined ? null : filled(id, chosen)) &&
          says.test(one.says) &&
          (group.length === 1 || own.every((name) => `${one.when} ${one.says}`.includes(name))),
      );
      expect(found, what).not.toEqual([]);
    }
  },
);

test('a month that no run came as far as to certify is no finding', async () => {
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
