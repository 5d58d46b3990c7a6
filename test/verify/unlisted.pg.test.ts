// Every way to spoil what no list shows, each caught and named, beside the untouched archive that passes. One archive
// serves all; it is put back as it was after each test.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { withTx } from '../../src/store/db.ts';
import { writeInto } from '../../src/store/records.ts';
import { parseJson } from '../../src/platform/json.ts';
import { readTransaction } from '../../src/platform/transactions.ts';
import { lookUpResults, type ResultAskedAgain } from '../../src/sync/ask-proved-days-again.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { leaveOut } from '../support/few-days.ts';
import { forgedSha } from '../support/tamperings.ts';
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
async function spoil(sql: string): Promise<Finding[]> {
  const { rows } = await archive.owner.query(`${sql} returning 1`);
  expect(rows.length).toBeGreaterThan(0);
  return (await archive.verify()).findings;
}

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
  expect((await archive.verify({ resources: ['transactions'] })).findings).toEqual([]);
  const { lists, findings } = await archive.verify({ resources: ['tokens'] });
  expect(lists).toHaveLength(1);
  expect(new Set(findings.map(({ resource }) => resource))).toEqual(new Set(['tokens']));
});

test('a month narrows results to those first seen in it, and leaves tokens out', async () => {
  const held = async (from: string, to: string): Promise<unknown> => {
    const last = (await archive.verify({ months: { from, to } })).lists.at(-1);
    return [last?.resource, last?.records, last?.files];
  };
  expect(await held('2026-04-01', '2026-05-01')).toEqual(['transactions', 14, 1]);
  expect(await held('2026-03-01', '2026-04-01')).toEqual(['transactions', 0, 0]);
});

const ofResult = `where operation_id = 'plain' and api_version = 'v3'`;
const ofToken = `where symbol = 'aa'`;

describe('a column', () => {
  // prettier-ignore
  const ofResults = [
    ['module', `'2'`], ['type', `'burn_nft'`], ['operation', '4'], ['tx_hash', 'null'], ['status', '2'], ['message', `'fine'`],
    ['block_height', '8'], ['confirmed_at', `'2026-03-05T10:00:00.000001Z'`], ['nft', `'{}'`], ['mt', `'{"n": 1}'`],
    ['record', `'[]'`], ['unread', `'{status}'`],
  ] as const;
  // prettier-ignore
  const ofTokens = [
    ['name', `'M'`], ['min_unit', 'null'], ['scale', '1'], ['initial_supply', '0.01'], ['max_supply', 'null'],
    ['mintable', 'null'], ['owner', `'me'`], ['issue_fee_denom', `'fen'`], ['issue_fee_amount', '11'], ['mint_fee_denom', 'null'],
    ['mint_fee_amount', '1.51'], ['unread', `'{scale}'`],
  ] as const;

  test.each([
    ...ofResults.map((one) => ['transactions', ...one, 'plain', ofResult, 'by v3: '] as const),
    ...ofTokens.map((one) => ['tokens', ...one, 'aa', ofToken, ''] as const),
  ])('of %s: %s as %s', async (resource, column, altered, id, ofOne, by) => {
    const found = await spoil(`update archive.${resource} set ${column} = ${altered} ${ofOne}`);
    const says = expect.stringMatching(new RegExp(`^${by}${column} is `));
    expect(found).toMatchObject([{ kind: 'column', resource, id, says }]);
  });

  test.each([
    // Numbers written otherwise are the same body; a height was observed beside the token.
    `update archive.transactions set mt = '{"n": 0.1}' where operation_id = 'at_the_limit'`,
    `update archive.tokens set height = 1`,
  ])('that says the same, or does not follow from the record, is no finding: %s', async (sql) => {
    expect(await spoil(sql)).toEqual([]);
  });
});

const deleted = /^a content observed at .* was archived by entry \d+ of .* and is no longer held$/;
const raw = `raw = raw || '{"message": "x"}'`;

// prettier-ignore
const spoiled: [what: string, sql: string, ...found: [kind: string, id: string, says: RegExp][]][] = [
  ['the raw of a result', `update archive.transactions set ${raw} ${ofResult}`, ['altered', 'plain', /^by v3: raw_sha256 is /]],
  ['its raw beside the bytes it came as', `update archive.transactions set ${raw} where operation_id = 'nul'`, ['altered', 'nul', /raw does not follow/]],
  ['the bytes themselves', `update archive.transactions set raw_bytes = null where operation_id = 'nul'`, ['altered', 'nul', /raw_sha256 is/]],
  ['bytes that are no JSON', `update archive.transactions set raw_bytes = 'nonsense' where operation_id = 'nul'`, ['altered', 'nul', /no record any more/]],
  ['its raw, its digest and its columns alike', `update archive.transactions t set raw = n.raw, message = 'x', raw_sha256 = ${forgedSha('n.raw')}
    from (select raw || '{"message": "x"}' as raw from archive.transactions ${ofResult}) n
    where operation_id = 'plain' and api_version = 'v3'`, ['altered', 'plain', /^archived by entry \d+ of .* held is a content/]],
  ['a result that is deleted', `delete from archive.transactions ${ofResult}`, ['missing', 'plain', deleted]],
  ['a result put under another id', `update archive.transactions set operation_id = 'another' where operation_id = 'nul'`, ['extra', 'another', /operation that nobody gave/], ['missing', 'nul', deleted]],
  ['a result taken from its operation', `delete from sync.watched_operations where operation_id = 'recorded'`, ['extra', 'recorded', /operation that nobody gave/]],
  ['an earlier version of a result', `update archive.transaction_versions set raw = raw || '{"status": 0}'
    where operation_id = 'moving' and api_version = 'v1beta1'`, ['altered', 'moving', /^by v1beta1: the version observed at 2026-04-06T/]],
  ['the bytes of a certificate file', `update archive.certificate_files set bytes = 'other'`, ['altered', 'recorded', /have another digest/]],
  ['its bytes and its digest', `update archive.certificate_files set bytes = 'x', sha256 = sha256('x')`, ['altered', 'recorded', /not the one that/]],
  ['its link', `update archive.certificate_files set url = url || '/'`, ['altered', 'recorded', /no result held names the link/]],
  ['a certificate file that is deleted', `delete from archive.certificate_files`, ['missing', 'recorded', /certificate file was kept/]],
  ['the raw of a token', `update archive.tokens set raw = jsonb_set(raw, '{fees,issue_fee,amount}', '"11"') ${ofToken}`, ['altered', 'aa', /raw_sha256 is/]],
  ['its fees taken away', `update archive.tokens set raw = raw - 'fees' ${ofToken}`, ['altered', 'aa', /raw_sha256 is/]],
  ['its symbol', `update archive.tokens set symbol = 'cc' ${ofToken}`, ['altered', 'cc', /symbol is not the one in the record/], ['missing', 'aa', deleted]],
  ['its raw as no token', `update archive.tokens set raw = '{}' ${ofToken}`, ['altered', 'aa', /no record any more/]],
  ['a token that is deleted', `delete from archive.tokens ${ofToken}`, ['missing', 'aa', deleted]],
  ['an earlier version of a token', `update archive.token_versions set raw = raw - 'fees' where symbol = 'bb'`, ['altered', 'bb', /the version observed at/]],
];

describe('what is held', () => {
  test.each(spoiled)('%s', async (_, sql, ...expected) => {
    const found = await spoil(sql);
    const named = found.map(({ kind, id }) => [kind, id]);
    expect(named).toEqual(expected.map(([kind, id]) => [kind, id]));
    for (const [i, [, , says]] of expected.entries()) expect(found[i]?.says).toMatch(says);
  });

  test('the bytes of a reject', async () => {
    const found = await spoil(`update sync.rejects set bytes = 'x' where resource = 'tokens'`);
    expect(found).toMatchObject([{ kind: 'altered', resource: 'tokens', id: null }]);
  });

  test('a version that came late and is older than the row is no finding', async () => {
    const text = '{"status":0,"message":"late"}';
    const record = readTransaction(parseJson(text), text, 'moving');
    const observed = [{ record, observedAt: Date.parse('2026-04-01T00:00:00Z') }];
    const of = { projectId: 'p', resource: 'transactions', apiVersion: 'v3' } as const;
    await withTx(archive.db, (tx) =>
      writeInto(tx, of, observed, Date.parse('2026-04-09T12:00:00Z')),
    );
    const { lists, findings } = await archive.verify({ resources: ['transactions'] });
    expect(findings).toEqual([]);
    expect(lists).toMatchObject([{ versions: 4 }]);
  });
});

test('projects of the same ids are told apart, and one that holds nothing is clean', async () => {
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
  expect((await archive.verify({ projectId: 'q' })).findings).toEqual([]);
  await archive.owner.query(
    `delete from archive.transactions where project_id = 'q' and operation_id = 'plain' and api_version = 'v3';
     delete from archive.certificate_files where project_id = 'q';
     delete from archive.tokens where project_id = 'q' and symbol = 'aa'`,
  );
  expect((await archive.verify()).findings).toEqual([]);
  const { findings } = await archive.verify({ projectId: 'q' });
  const told = findings.map((one) => `${one.project_id} ${one.kind} ${one.id}`);
  expect(told).toEqual(['q missing recorded', 'q missing plain', 'q missing aa']);
  const empty = await archive.verify({ projectId: 'empty' });
  expect(empty.findings).toEqual([]);
  expect(empty.lists.map(({ records, files }) => records + files)).toEqual([0, 0, 0, 0]);
});

// Final results asked for once more: what was forged with all its digests is told by the platform, fresh links are no
// news, and where the month may be gone nothing is concluded.
describe('results that the platform is asked for again', () => {
  async function asked(): Promise<ResultAskedAgain[]> {
    const found: ResultAskedAgain[] = [];
    const { signal } = new AbortController();
    const isAnswered = await lookUpResults(
      { ...archive.worker, signal },
      (result) => void found.push(result),
    );
    expect(isAnswered).toBe(true);
    return found;
  }

  const told = (all: ResultAskedAgain[], outcome: string): string[] =>
    all
      .filter((one) => one.outcome === outcome)
      .map(({ apiVersion, operationId, says }) => `${apiVersion} ${operationId}: ${says}`);

  const forge = (change: string, where: string): Promise<unknown> =>
    archive.owner.query(
      `update archive.transactions t set ${change}, raw_sha256 = sha256(raw::text::bytea) where ${where}`,
    );

  test('all of them agree, however odd, and nothing is written', async () => {
    const written = async (): Promise<unknown[]> =>
      (await archive.db.query('select t::text, xmin from archive.transactions t order by 1')).rows;
    const before = await written();
    const all = await asked();
    expect(all).toHaveLength(14);
    expect(told(all, 'agrees')).toHaveLength(14);
    expect(await written()).toEqual(before);
  });

  test('P11: a parked project is not asked', async () => {
    await archive.db.query(`update sync.projects set parked_at = now(), parked_reason = 'no'`);
    const requests = archive.simulator.requests.total;
    const { signal } = new AbortController();
    expect(await lookUpResults({ ...archive.worker, signal }, () => undefined)).toBe(false);
    expect(archive.simulator.requests.total).toBe(requests);
    await archive.db.query(`update sync.projects set parked_at = null, parked_reason = null`);
  });

  test('what was forged, invented or left unread is told by its columns; a fresh link is no news', async () => {
    await forge(
      `raw = raw || '{"tx_hash": "FF", "nft": {"class_id": "other"}}'`,
      `operation_id = 'plain' and api_version = 'v1beta1'`,
    );
    await forge(
      `raw = jsonb_set(raw, '{record,certificate_url}', '"https://localhost/another"')`,
      `operation_id = 'recorded'`,
    );
    await forge(
      `raw = '{"status": 1}', status = 1, operation_id = 'invented'`,
      `operation_id = 'at_the_limit'`,
    );
    await archive.owner.query(
      `insert into sync.watched_operations (project_id, operation_id, state, created_on)
       values ('p', 'invented', 'done', '2026-04-05')`,
    );
    const all = await asked();
    expect(told(all, 'differs')).toEqual([
      'v1beta1 plain: the platform says otherwise now: tx_hash, nft',
      'v3 invented: the platform does not know this operation now',
    ]);
    expect(told(all, 'agrees')).toHaveLength(12);
  });

  test('from around the cliff on an operation that is not known says nothing, and after it none is asked for', async () => {
    await archive.owner.query(
      `update archive.transactions set operation_id = 'unknown' where operation_id = 'nul'`,
    );
    const cliff = Date.parse('2026-05-31T12:00:00Z');
    archive.simulator.setNow(cliff);
    // No day of a list is of any concern here.
    await leaveOut(archive.worker, cliff, []);
    await archive.runLater(0);
    const late = await asked();
    expect(told(late, 'differs')).toEqual([]);
    expect(told(late, 'unclear')).toEqual(['v3 unknown: ']);
    archive.simulator.setNow(Date.parse('2026-06-02T12:00:00Z'));
    await archive.runLater(0);
    expect(await asked()).toEqual([]);
  });
});
