// Every way to spoil what no list shows, each caught and named, beside the untouched archive that passes. One archive
// serves all; it is put back as it was after each test.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { withTx } from '../../src/store/db.ts';
import { writeInto } from '../../src/store/records.ts';
import { transactionShapes } from '../../src/store/tables.ts';
import { parseJson } from '../../src/platform/json.ts';
import { readTransaction } from '../../src/platform/transactions.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { createUnlisted, type Unlisted } from '../support/unlisted.ts';

let archive: Unlisted;

const tables = [
  'archive.transactions',
  'archive.transaction_versions',
  'archive.certificate_files',
  'archive.tokens',
  'archive.token_versions',
  'sync.watched_operations',
  'sync.token_snapshots',
  'sync.rejects',
  'sync.chains',
  'sync.journal',
];

beforeAll(async () => {
  archive = await createUnlisted();
  await archive.owner.query('create schema kept');
  for (const table of tables) {
    await archive.owner.query(`create table kept.${table.replace('.', '_')} as table ${table}`);
  }
});
afterEach(async () => {
  for (const table of tables) {
    await archive.owner.query(
      `truncate ${table}; insert into ${table} select * from kept.${table.replace('.', '_')}`,
    );
  }
});
afterAll(() => archive.close());

/** Runs it as a superuser. */
async function spoil(sql: string): Promise<Pick<Finding, 'kind' | 'resource' | 'id' | 'says'>[]> {
  const { rows } = await archive.owner.query(`${sql} returning 1`);
  expect(rows.length).toBeGreaterThan(0);
  return (await archive.verify()).findings;
}

const ofOne = `where operation_id = 'plain' and api_version = 'v3'`;
/** The digest of a raw whose keys and values need nothing but sorting. */
const forgedSha = (raw: string): string =>
  `(select sha256(convert_to('{' || string_agg(to_json(key) || ':' || value, ',' order by key collate "C") || '}', 'UTF8'))
      from jsonb_each(${raw}))`;

test('the untouched archive passes, and everything in it was looked at', async () => {
  const { lists, findings } = await archive.verify();
  expect(findings).toEqual([]);
  expect(lists.map(({ resource }) => resource)).toEqual([
    'orders',
    'nft_classes',
    'transactions',
    'tokens',
  ]);
  expect(lists[2]).toMatchObject({
    records: 14,
    versions: 3,
    rejects: 0,
    files: 1,
    certificates: [],
    findings: 0,
  });
  expect(lists[3]).toMatchObject({ records: 4, versions: 2, rejects: 1, files: 0, findings: 0 });
  const { rows } = await archive.db.query<{ id: string }>(
    `select operation_id as id from archive.transactions where raw_bytes is not null
      union select symbol from archive.tokens where raw_bytes is not null order by 1`,
  );
  expect(rows.map(({ id }) => id)).toEqual([
    'beyond_bigint',
    'nul',
    'odd',
    'repeated',
    'surrogate',
  ]);
});

test('only the resource that is asked for is looked at', async () => {
  await archive.owner.query(`update archive.tokens set scale = 3`);
  expect((await archive.verify(['transactions'])).findings).toEqual([]);
  const { lists, findings } = await archive.verify(['tokens']);
  expect(lists).toHaveLength(1);
  expect(new Set(findings.map(({ resource }) => resource))).toEqual(new Set(['tokens']));
});

test('a month narrows results to those first seen in it, and leaves tokens out', async () => {
  const { verifyProject } = await import('../../src/verify/verify.ts');
  const lists = async (from: string, to: string) =>
    verifyProject({
      db: archive.db,
      projectId: 'p',
      months: { from, to },
      certificatesDir: null,
      signal: new AbortController().signal,
      onFinding: () => undefined,
      onProgress: () => undefined,
    });
  expect((await lists('2026-04-01', '2026-05-01')).at(-1)).toMatchObject({
    resource: 'transactions',
    records: 14,
    files: 1,
  });
  expect((await lists('2026-03-01', '2026-04-01')).at(-1)).toMatchObject({
    resource: 'transactions',
    records: 0,
    files: 0,
  });
});

describe('a result', () => {
  test.each([
    ['module', `'2'`],
    ['type', `'burn_nft'`],
    ['operation', '4'],
    ['tx_hash', 'null'],
    ['status', '2'],
    ['message', `'fine'`],
    ['block_height', '8'],
    ['confirmed_at', `'2026-03-05T10:00:00.000001Z'`],
    ['nft', `'{}'`],
    ['mt', `'{"n": 1}'`],
    ['record', `'[]'`],
    ['unread', `'{status}'`],
  ])('its column %s as %s', async (column, altered) => {
    const found = await spoil(`update archive.transactions set ${column} = ${altered} ${ofOne}`);
    expect(found).toMatchObject([{ kind: 'column', resource: 'transactions', id: 'plain' }]);
    expect(found[0]?.says).toMatch(new RegExp(`^by v3: ${column} is `));
  });

  test('a body whose numbers are written otherwise is the same body', async () => {
    const found = await spoil(
      `update archive.transactions set mt = '{"n": 0.1}' where operation_id = 'at_the_limit'`,
    );
    expect(found).toEqual([]);
  });

  test('its raw', async () => {
    const found = await spoil(
      `update archive.transactions set raw = raw || '{"message": "x"}' ${ofOne}`,
    );
    expect(found).toMatchObject([
      { kind: 'altered', id: 'plain', says: expect.stringMatching(/^by v3: raw_sha256 is /) },
    ]);
  });

  test('its raw beside the bytes it came as, and the bytes themselves', async () => {
    for (const change of [`raw = raw || '{"message": "x"}'`, `raw_bytes = null`]) {
      const found = await spoil(
        `update archive.transactions set ${change} where operation_id = 'nul'`,
      );
      expect(found).toMatchObject([{ kind: 'altered', id: 'nul' }]);
    }
  });

  test('its raw and its digest and its columns alike: the journal tells', async () => {
    const found = await spoil(
      `update archive.transactions t set raw = n.raw, message = 'x', raw_sha256 = ${forgedSha('n.raw')}
         from (select raw || '{"message": "x"}' as raw from archive.transactions ${ofOne}) n
        where operation_id = 'plain' and api_version = 'v3'`,
    );
    expect(found).toMatchObject([{ kind: 'altered', id: 'plain', when: null }]);
  });

  test('deleted, its operation done', async () => {
    const found = await spoil(`delete from archive.transactions where operation_id = 'plain'`);
    expect(found).toMatchObject([
      {
        kind: 'missing',
        resource: 'transactions',
        id: 'plain',
        says: 'its result by v1beta1 and v3 was held, and no row holds it',
      },
    ]);
  });

  test('one of two deleted, of an operation in whatever state', async () => {
    for (const state of ['open', 'done', 'lost']) {
      await archive.owner.query(`update sync.watched_operations set state = '${state}'`);
      const found = await spoil(`delete from archive.transactions ${ofOne}`);
      expect(found).toMatchObject([
        {
          kind: 'missing',
          id: 'plain',
          says: 'its result by v3 was held, and no row holds it',
        },
      ]);
      await archive.owner.query(
        `insert into archive.transactions select * from kept.archive_transactions ${ofOne}`,
      );
    }
  });

  test('deleted, of an operation that a release before noted nothing of', async () => {
    await archive.owner.query(`update sync.watched_operations set found_by = '{}'`);
    const found = await spoil(`delete from archive.transactions where operation_id = 'plain'`);
    expect(found).toMatchObject([
      { kind: 'missing', id: 'plain', says: 'the operation is done, and no result of it is held' },
    ]);
  });

  test('put under another id: the old one is missing, the new one was never given', async () => {
    const found = await spoil(
      `update archive.transactions set operation_id = 'another' where operation_id = 'nul'`,
    );
    expect(found.map(({ kind, id }) => [kind, id])).toEqual([
      ['missing', 'nul'],
      ['extra', 'another'],
    ]);
  });

  test('taken from its operation: the operation is no longer given', async () => {
    const found = await spoil(
      `delete from sync.watched_operations where operation_id = 'recorded'`,
    );
    expect(found).toMatchObject([{ kind: 'extra', id: 'recorded' }]);
  });
});

describe('an earlier version of a result', () => {
  test('its raw', async () => {
    const found = await spoil(
      `update archive.transaction_versions set raw = raw || '{"status": 0}'
        where operation_id = 'moving' and api_version = 'v1beta1'`,
    );
    expect(found).toMatchObject([
      {
        kind: 'altered',
        id: 'moving',
        says: expect.stringMatching(/^by v1beta1: the version observed at 2026-04-06T/),
      },
    ]);
  });

  test('its row deleted, and every note of it', async () => {
    await archive.owner.query(
      `delete from archive.transactions where operation_id = 'moving' and api_version = 'v3'`,
    );
    const found = await spoil(
      `update sync.watched_operations set found_by = '{v1beta1}' where operation_id = 'moving'`,
    );
    expect(found).toMatchObject([
      {
        kind: 'missing',
        id: 'moving',
        says: 'by v3: an earlier version of it is held, and no row',
      },
    ]);
  });

  test('that came late and is older than the row is no finding', async () => {
    const text = '{"status":0,"message":"late"}';
    const record = readTransaction(parseJson(text), text, 'moving');
    const observed = [{ record, observedAt: Date.parse('2026-04-01T00:00:00Z') }];
    const to = { projectId: 'p', expectsNew: null };
    await withTx(archive.db, (tx) =>
      writeInto(tx, transactionShapes.v3, to, observed, Date.parse('2026-04-09T12:00:00Z')),
    );
    const { lists, findings } = await archive.verify(['transactions']);
    expect(findings).toEqual([]);
    expect(lists).toMatchObject([{ versions: 4 }]);
  });
});

describe('a certificate file', () => {
  test.each([
    ['its bytes', `bytes = 'other'`, 'altered', 'have another digest'],
    ['its bytes and digest', `bytes = 'x', sha256 = sha256('x')`, 'altered', 'not the one that'],
    ['its link', `url = url || '/'`, 'altered', 'no result held names the link'],
  ])('%s', async (_, change, kind, says) => {
    const found = await spoil(`update archive.certificate_files set ${change}`);
    expect(found).toMatchObject([
      { kind, resource: 'transactions', id: 'recorded', says: expect.stringContaining(says) },
    ]);
  });

  test('deleted', async () => {
    const found = await spoil(`delete from archive.certificate_files`);
    expect(found).toMatchObject([
      { kind: 'missing', id: 'recorded', says: expect.stringContaining('certificate file') },
    ]);
  });
});

describe('a token', () => {
  test.each([
    ['name', `'M'`],
    ['min_unit', 'null'],
    ['scale', '1'],
    ['initial_supply', '0.01'],
    ['max_supply', 'null'],
    ['mintable', 'null'],
    ['owner', `'me'`],
    ['issue_fee_denom', `'fen'`],
    ['issue_fee_amount', '11'],
    ['mint_fee_denom', 'null'],
    ['mint_fee_amount', '1.51'],
    ['unread', `'{scale}'`],
  ])('its column %s as %s', async (column, altered) => {
    const found = await spoil(
      `update archive.tokens set ${column} = ${altered} where symbol = 'aa'`,
    );
    expect(found).toMatchObject([{ kind: 'column', resource: 'tokens', id: 'aa' }]);
    expect(found[0]?.says).toMatch(new RegExp(`^${column} is `));
  });

  test('its height was observed beside it: it does not follow from the record', async () => {
    expect(await spoil(`update archive.tokens set height = 1`)).toEqual([]);
  });

  test.each([
    ['its raw', `raw = jsonb_set(raw, '{fees,issue_fee,amount}', '"11"')`, /raw_sha256 is/],
    ['its fees taken away', `raw = raw - 'fees'`, /raw_sha256 is/],
    ['its symbol', `symbol = 'cc'`, /symbol is not the one in the record/],
    ['its raw as no token', `raw = '{}'`, /no record any more/],
  ])('%s', async (_, change, says) => {
    const found = await spoil(`update archive.tokens set ${change} where symbol = 'aa'`);
    expect(found[0]).toMatchObject({ kind: 'altered', resource: 'tokens' });
    expect(found[0]?.says).toMatch(says);
  });

  test('deleted: the newest look tells, or a version of it', async () => {
    for (const symbol of ['aa', 'bb']) {
      if (symbol === 'bb') {
        await archive.owner.query('update sync.token_snapshots set symbols = null');
      }
      const found = await spoil(`delete from archive.tokens where symbol = '${symbol}'`);
      const ofThis = found.filter(({ id }) => id === symbol);
      expect(ofThis).toMatchObject([{ kind: 'missing', resource: 'tokens' }]);
    }
  });

  test('the raw of an earlier version, and the bytes of a reject', async () => {
    const version = await spoil(
      `update archive.token_versions set raw = raw - 'fees' where symbol = 'bb'`,
    );
    expect(version).toMatchObject([{ kind: 'altered', resource: 'tokens', id: 'bb' }]);
    const reject = await spoil(`update sync.rejects set bytes = 'x' where resource = 'tokens'`);
    expect(reject.filter(({ id }) => id === null)).toMatchObject([
      { kind: 'altered', resource: 'tokens' },
    ]);
  });
});

describe('projects side by side', () => {
  const copy = async (): Promise<void> => {
    for (const table of tables.slice(0, tables.indexOf('sync.chains'))) {
      const { rows } = await archive.owner.query<{ name: string }>(
        `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 1`,
        [table],
      );
      const names = rows.map(({ name }) => name).join(', ');
      await archive.owner.query(
        `insert into ${table} (project_id, ${names}) select 'q', ${names} from ${table} where project_id = 'p'`,
      );
    }
    await archive.owner.query(
      `select sync.journal_append('q', resource, owner, day, kind, body, ids, shas)
         from (select * from sync.journal
                where project_id = 'p' and resource not in ('orders', 'nft_classes') order by no) entries`,
    );
  };

  test('of the same ids are told apart', async () => {
    await copy();
    expect((await archive.verify(undefined, 'q')).findings).toEqual([]);
    await archive.owner.query(
      `delete from archive.transactions where project_id = 'q' and operation_id = 'plain';
       delete from archive.certificate_files where project_id = 'q';
       delete from archive.tokens where project_id = 'q' and symbol = 'aa';
       update archive.transaction_versions set raw = '{}' where project_id = 'q' and api_version = 'v3'`,
    );
    expect((await archive.verify()).findings).toEqual([]);
    const { findings } = await archive.verify(undefined, 'q');
    const told = findings.map(({ project, kind, id }) => `${project} ${kind} ${id}`);
    expect(told).toEqual([
      'q altered moving',
      'q missing plain',
      'q missing recorded',
      'q missing aa',
    ]);
  });

  test('that hold nothing of it are clean', async () => {
    const { lists, findings } = await archive.verify(undefined, 'empty');
    expect(findings).toEqual([]);
    expect(lists.map(({ records, files }) => records + files)).toEqual([0, 0, 0, 0]);
  });
});
