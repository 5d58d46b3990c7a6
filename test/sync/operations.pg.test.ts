// Watched operations and tokens against a real simulator: asked for until they are final, each commit whole, and what
// was never found said so.
import { afterEach, describe, expect, test } from 'vitest';
import { createFileFetcher } from '../../src/platform/certificate-file.ts';
import { parseJson } from '../../src/platform/json.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { readTransaction } from '../../src/platform/transactions.ts';
import { watchOperations } from '../../src/store/operations/watch-operations.ts';
import {
  commitOperation,
  nextOperation,
  enterOperations,
} from '../../src/store/operations/watched.ts';
import { run } from '../../src/sync/run.ts';
import type { RunReport } from '../../src/sync/worker.ts';
import type { Bench } from '../support/archive.ts';
import { withClient } from '../support/client.ts';
import { startHttpsServer, type HttpsServer } from '../support/certificates.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const dayMs = 86_400_000;
const createBench = benchesOnOneDatabase();
let bench: Bench;

/** Next to no orders, no classes and few days: they are not what is looked at here. */
const world = {
  ordersPerDay: 1,
  classesPerDay: 0,
  quietShare: 0,
  transactionsPerDay: 20,
  tokens: 6,
};
const benchOf = (...[options, given]: Parameters<typeof createBench>): Promise<Bench> =>
  createBench(
    { world, days: ['2026-03-01', '2026-04-05', '2026-04-06'], ...options },
    { scope: { classes: 'none' }, ...given },
  );

/** Its days have been read. */
const benchRun = async (...given: Parameters<typeof createBench>): Promise<Bench> => {
  const made = await benchOf(...given);
  await made.run();
  return made;
};

/** A run in which this happens before a lookup is answered. */
async function runWith(meanwhile: () => Promise<unknown>): Promise<RunReport> {
  const { platform } = bench.worker;
  const transaction: Platform['transaction'] = async (...given) => {
    await meanwhile();
    return platform.transaction(...given);
  };
  const { signal } = new AbortController();
  return run({ ...bench.worker, platform: { ...platform, transaction } }, { signal });
}

type WatchedRow = {
  operation_id: string;
  state: string;
  found_by: string[];
  status: number | null;
  attempts: number;
  last_error: string | null;
  created_on: string | null;
  deadline_at: string | null;
  due_at: string | null;
};
const watchedRows = async (): Promise<WatchedRow[]> =>
  (
    await bench.db.query<WatchedRow>(
      `select operation_id, state, found_by, status, attempts, last_error, created_on, deadline_at, due_at
         from analytics.watched_operations where project_id = 'p' order by operation_id`,
    )
  ).rows;

/** Ids of operations begun on a day. */
const idsOn = (day: string, count: number): string[] =>
  bench.simulator.oracle.operationIds(day).slice(0, count);

const watchAll = (ids: string[], more: object = {}) =>
  watchOperations(
    bench.db,
    'p',
    ids.map((operationId) => ({ operationId, ...more })),
  );

const lookups = () => {
  const { byPath } = bench.simulator.requests;
  return (byPath['/v1beta1/tx/'] ?? 0) + (byPath['/v3/native/tx/'] ?? 0);
};

describe('watched operations', () => {
  test('are asked for by both lookups until they are final, and then never again', async () => {
    bench = await benchRun();
    const ids = idsOn('2026-04-03', 5);
    expect(await watchAll(ids)).toEqual({ given: 5, added: 5, changed: 0 });
    const report = await bench.run();
    expect(report).toMatchObject({ outcome: 'done', operationsAsked: 5, operationsDone: 5 });
    expect(report.recordsNew).toBe(10);
    // Given when a run takes them in, by the platform's clock, which stands at noon.
    const given = await bench.db.query<{ at: string }>(
      'select distinct added_at as at from sync.watched_operations',
    );
    expect(given.rows.map(({ at }) => at.slice(0, 16))).toEqual(['2026-04-06T12:00']);
    for (const row of await watchedRows()) {
      expect(row).toMatchObject({ state: 'done', found_by: ['v1beta1', 'v3'], last_error: null });
      expect([1, 2]).toContain(row.status);
    }
    const { rows } = await bench.db.query<{ raw: unknown; unread: string[] }>(
      `select raw, unread from archive.transactions where operation_id = $1 order by api_version`,
      [ids[0]],
    );
    const text = expect.any(String) as string;
    expect(rows[0]).toMatchObject({ raw: { module: text, type: text }, unread: [] });
    expect(rows[1]).toMatchObject({ raw: { module: expect.any(Number) as number }, unread: [] });
    await bench.runLater(3 * dayMs);
    expect(lookups()).toBe(10);
    expect(await watchAll(ids)).toEqual({ given: 5, added: 0, changed: 0 });
  });

  test('still going on are asked again, gently, and every content they showed is kept', async () => {
    const text = (status: number): string =>
      `{"module":"nft","type":"mint_nft","status":${status}}`;
    const transactions: Record<string, { v1beta1: string }> = { op: { v1beta1: text(3) } };
    bench = await benchRun({ records: { transactions } });
    await watchAll(['op']);
    // A bare 404 is no answer: nothing is taken for not found.
    bench.simulator.setFaults({ textNotFound: { path: '/v3/native/tx' } });
    await bench.run();
    bench.simulator.setFaults({ textNotFound: null });
    const before = lookups();
    await bench.run();
    expect(lookups()).toBe(before);
    expect(await watchedRows()).toMatchObject([{ state: 'open', attempts: 1, status: null }]);
    transactions['op'] = { v1beta1: text(0) };
    await bench.runLater(11_000);
    transactions['op'] = { v1beta1: text(2) };
    await bench.runLater(60_000);
    // Final in one lookup; the other is asked once more before it counts as not knowing it.
    expect(await watchedRows()).toMatchObject([{ state: 'open', status: 2 }]);
    await bench.runLater(11_000);
    expect(await watchedRows()).toMatchObject([
      { state: 'done', status: 2, found_by: ['v1beta1'] },
    ]);
    const { rows } = await bench.db.query<{ status: string }>(
      `select raw ->> 'status' as status from archive.transaction_versions order by observed_at`,
    );
    expect(rows.map((row) => row.status)).toEqual(['3', '0']);
  });

  test('P7: never found, or unresolved at the cliff, are lost by the platform’s own Date and say so', async () => {
    const transactions = { slow: { v3: '{"module":1,"operation":2,"status":0}' } };
    bench = await benchRun({ records: { transactions } });
    await watchAll(['nowhere', 'slow'], { createdOn: '2026-04-02' });
    // Without a day: until the month ends in which it was given.
    await watchAll(['undated']);
    await bench.run();
    const cliff = Date.parse('2026-06-01T00:00:00Z');
    await bench.skipTo(cliff + 11 * 3_600_000);
    await bench.runLater(0);
    expect((await watchedRows()).map((row) => row.state)).toEqual(['open', 'open', 'lost']);
    await bench.runLater(2 * 3_600_000);
    expect(await watchedRows()).toMatchObject([
      {
        operation_id: 'nowhere',
        state: 'lost',
        found_by: [],
        last_error: expect.stringContaining('never found') as string,
      },
      {
        operation_id: 'slow',
        state: 'lost',
        found_by: ['v3'],
        last_error: expect.stringContaining('before its result was final') as string,
      },
      { operation_id: 'undated', state: 'lost' },
    ]);
    // Given again, a lost one is asked for again, and as long as one that is given for the first time.
    await bench.skipTo(Date.parse('2026-06-30T20:00:00Z'));
    await watchAll(['nowhere', 'undated']);
    await bench.runLater(0);
    await bench.runLater(17 * 3_600_000);
    expect(await watchedRows()).toMatchObject([{ state: 'lost' }, {}, { state: 'open' }]);
  });

  test('P12: a mistyped day is put right by the right one, whatever became of the operation meanwhile', async () => {
    bench = await benchRun();
    const [done = ''] = idsOn('2026-04-03', 1);
    await watchAll([done, 'to-come'], { createdOn: '2025-04-03' });
    await bench.run();
    const before = await watchedRows();
    expect(before.map((row) => row.state)).toEqual(['done', 'lost']);
    expect(await watchAll([done, 'to-come'], { createdOn: '2026-04-03' })).toEqual({
      given: 2,
      added: 0,
      changed: 2,
    });
    const asked = lookups();
    await bench.run();
    const of2026 = {
      created_on: '2026-04-03',
      deadline_at: expect.stringMatching(/^2026-05/) as string,
    };
    expect(await watchedRows()).toMatchObject([
      { ...of2026, state: 'done', due_at: null },
      { ...of2026, state: 'open' },
    ]);
    // What is done is not asked for again.
    expect(lookups()).toBe(asked + 2);
    expect(await watchAll([done], { createdOn: '2026-04-03' })).toMatchObject({ changed: 0 });
  });

  test('P12: a mistyped day is put right also while its operation is asked for', async () => {
    bench = await benchRun();
    await watchAll(['to-come'], { createdOn: '2025-04-03' });
    await runWith(() => watchAll(['to-come'], { createdOn: '2026-04-03' }));
    await bench.run();
    expect(await watchedRows()).toMatchObject([{ state: 'open', created_on: '2026-04-03' }]);
  });

  test('come by a plain insert of the intake role too, whatever it says', async () => {
    bench = await benchRun();
    const [id = '', other = ''] = idsOn('2026-04-02', 2);
    await withClient(bench.connectionString, async (intake) => {
      await intake.query('set role outlast_intake');
      await intake.query(
        `insert into sync.watched_operations (project_id, operation_id, api_version, created_on)
         values ('p', $1, null, null), ('p', $2, 'v3', 'infinity'), ('p', '../?x=1', null, '0001-01-01 BC')`,
        [id, other],
      );
      const read = intake.query('select * from sync.watched_operations');
      await expect(read).rejects.toThrow('permission');
    });
    expect(await bench.run()).toMatchObject({
      outcome: 'done',
      operationsDone: 2,
      operationsAsked: 3,
    });
    expect(await watchedRows()).toMatchObject([
      { operation_id: '../?x=1', state: 'open' },
      { found_by: expect.arrayContaining(['v3']) as string[] },
      { found_by: expect.arrayContaining(['v3']) as string[] },
    ]);
  });

  test('P8: whoever lost the project meanwhile writes nothing', async () => {
    bench = await benchRun();
    const ids = idsOn('2026-04-03', 1);
    await watchAll(ids);
    const rob = () => bench.db.query(`update sync.holders set epoch = epoch + 1`);
    const report = await runWith(rob);
    expect(report).toMatchObject({ outcome: 'left', operationsDone: 0, recordsNew: 0 });
    const { rows } = await bench.db.query('select from archive.transactions');
    expect(rows).toHaveLength(0);
    expect(await watchedRows()).toMatchObject([{ state: 'open', attempts: 0 }]);
  });

  test('P1: a commit that fails on its last record leaves neither row nor state behind', async () => {
    bench = await benchRun();
    await watchAll(['op']);
    const { clock } = bench.worker.platform;
    await enterOperations(bench.db, 'p', clock.now(), 0);
    const operation = await nextOperation(bench.db, 'p', clock.now());
    if (operation === null) throw new Error('nothing is due');
    const text = '{"status":1}';
    const record = readTransaction(parseJson(text), text, 'op');
    const result = { apiVersion: 'v1beta1' as const, record, observedAt: clock.now() };
    const commit = {
      operation,
      end: { state: 'done' as const, dueAt: null, attempts: 1, lastError: null },
      results: [result],
      file: null,
      writtenAt: clock.now(),
    };
    const broken = { ...result, apiVersion: 'v3' as const, record: { ...record, rawJson: '{' } };
    const held = () => bench.db.query('select api_version from archive.transactions');
    await expect(
      commitOperation(bench.db, { ...commit, results: [result, broken] }),
    ).rejects.toThrow('json');
    expect((await held()).rows).toEqual([]);
    expect(await watchedRows()).toMatchObject([{ state: 'open', attempts: 0 }]);
    await commitOperation(bench.db, commit);
    expect((await held()).rows).toEqual([{ api_version: 'v1beta1' }]);
  });
});

describe('files behind certificate links', () => {
  let answers: Record<string, number>;
  let server: HttpsServer;
  afterEach(() => server.close());

  const record = (path: string): string =>
    `{"module":"record","type":"create_record","status":1,"record":{"record_id":"r","certificate_url":"${server.url}${path}"}}`;

  /** One operation whose result has a link to the server of this test. */
  async function prepared(hosts: string[]): Promise<Record<string, { v1beta1: string }>> {
    answers = {};
    server = await startHttpsServer((request, response) => {
      response.writeHead(answers[request.url ?? ''] ?? 404).end(`file of ${request.url}`);
    });
    const transactions: Record<string, { v1beta1: string }> = { op: { v1beta1: record('/one') } };
    const connect = { ca: server.certificate };
    const certificateFiles = createFileFetcher({ hosts, connect, isPrivate: () => false });
    bench = await benchRun({ records: { transactions } }, { certificateFiles });
    await watchAll(['op'], { apiVersion: 'v1beta1' });
    return transactions;
  }

  const files = async () =>
    (
      await bench.db.query<{ bytes: Buffer; matches: boolean }>(
        `select bytes, sha256(bytes) = sha256 as matches from archive.certificate_files`,
      )
    ).rows;

  test('are kept once with their digest, with the result in one commit', async () => {
    await prepared(['localhost']);
    answers['/one'] = 200;
    expect(await bench.run()).toMatchObject({ operationsDone: 1 });
    expect(await files()).toEqual([{ bytes: Buffer.from('file of /one'), matches: true }]);
    await bench.runLater(dayMs);
    expect(server.paths).toEqual(['/one']);
    // P4: the service itself can neither change nor delete one.
    const change = `update archive.certificate_files set bytes = ''`;
    await expect(bench.db.query(change)).rejects.toThrow('permission denied');
  });

  test('that cannot be had are tried again with a fresh link, and the result is held meanwhile', async () => {
    const transactions = await prepared(['localhost']);
    answers['/one'] = 410;
    await bench.run();
    expect(await watchedRows()).toMatchObject([
      { state: 'open', status: 1, last_error: expect.stringContaining('410') as string },
    ]);
    transactions['op'] = { v1beta1: record('/two') };
    answers['/two'] = 200;
    await bench.runLater(11_000);
    expect(await watchedRows()).toMatchObject([{ state: 'done', last_error: null }]);
    expect((await files()).map(({ bytes }) => String(bytes))).toEqual(['file of /two']);
  });

  test('of a host that was not allowed are left, which is said', async () => {
    await prepared(['files.example.org']);
    expect(await bench.run()).toMatchObject({ operationsDone: 1 });
    expect(await watchedRows()).toMatchObject([
      { state: 'done', last_error: expect.stringContaining('not among those allowed') as string },
    ]);
    expect(server.paths).toEqual([]);
  });
});

describe('tokens', () => {
  const value = (symbol: string, more = ''): string =>
    `{"symbol":"${symbol}","name":"N","min_unit":"u${symbol}"${more},"owner":"o"}`;
  const fee =
    '{"exist":true,"issue_fee":{"denom":"ugas","amount":"10"},"mint_fee":{"denom":"ugas","amount":"1"}}';
  const tokenRows = async (columns: string) =>
    (
      await bench.db.query(
        `select ${columns} from archive.tokens where project_id = 'p' order by symbol`,
      )
    ).rows;

  test('are read on their schedule with their fees; zero values left out are zero again', async () => {
    const tokens = [
      {
        symbol: 'aa',
        owner: 'o',
        value: value('aa', ',"scale":6,"max_supply":"18446744073709551615","mintable":true'),
        fee,
      },
      { symbol: 'bb', owner: 'o', value: value('bb'), fee },
    ];
    bench = await benchOf({ records: { tokens } }, { tokensEveryMs: dayMs });
    expect(await bench.run()).toMatchObject({ outcome: 'done' });
    const columns =
      'symbol, scale, initial_supply, max_supply, mintable, issue_fee_amount, mint_fee_denom, unread';
    const both = {
      initial_supply: '0',
      issue_fee_amount: '10',
      mint_fee_denom: 'ugas',
      unread: [],
    };
    expect(await tokenRows(columns)).toEqual([
      { symbol: 'aa', scale: 6, max_supply: '18446744073709551615', mintable: true, ...both },
      { symbol: 'bb', scale: 0, max_supply: '0', mintable: false, ...both },
    ]);
    const asked = bench.simulator.requests.byPath['/token/tokens'];
    await bench.run();
    expect(bench.simulator.requests.byPath['/token/tokens']).toBe(asked);
    // One is gone, one has changed.
    tokens.shift();
    tokens[0] = { symbol: 'bb', owner: 'o', value: value('bb', ',"mintable":true'), fee };
    await bench.runLater(dayMs + 1000);
    expect(await tokenRows('symbol, mintable, missing_since is not null as missing')).toEqual([
      { symbol: 'aa', mintable: true, missing: true },
      { symbol: 'bb', mintable: true, missing: false },
    ]);
    const { rows } = await bench.db.query('select symbol from archive.token_versions');
    expect(rows).toEqual([{ symbol: 'bb' }]);
    // A list that shows nothing says nothing: nobody is told that all are gone.
    const rest = tokens.splice(0);
    const problemAfter = async (ms: number): Promise<unknown> => {
      await bench.runLater(ms);
      const found = await bench.db.query('select last_error from sync.token_snapshots');
      return found.rows[0]?.['last_error'];
    };
    expect(await problemAfter(dayMs + 1000)).toContain('the node lists no token, and has before');
    expect(await tokenRows('missing_since is not null as missing')).toEqual([
      { missing: true },
      { missing: false },
    ]);
    tokens.push(...rest);
    expect(await problemAfter(61_000)).toBe(null);
    bench.simulator.setFaults({ textNotFound: { path: '/token' } });
    expect(await problemAfter(dayMs + 1000)).toContain('the address knows no /token/tokens');
  });

  test('of an address that never had any are no problem', async () => {
    const faults = { textNotFound: { path: '/token' } };
    bench = await benchOf({ faults }, { tokensEveryMs: dayMs });
    expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null });
  });

  test('fees may stand under /fees', async () => {
    bench = await benchOf({ dialect: { feePath: 'fees' } }, { tokensEveryMs: dayMs });
    await bench.run();
    const rows = await tokenRows('issue_fee_amount, raw');
    expect(rows).toHaveLength(6);
    for (const row of rows)
      expect(row).toMatchObject({ issue_fee_amount: expect.any(String) as string });
  });
});
