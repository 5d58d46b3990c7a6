// What changed since: every change once, in an order that never skips one, whoever commits late.
import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Archive, Change } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import { apiVersions } from '../../src/model.ts';
import { parseJson } from '../../src/platform/json.ts';
import { readToken } from '../../src/platform/tokens.ts';
import { readTransaction } from '../../src/platform/transactions.ts';
import { readPage } from '../../src/platform/pages.ts';
import { jsonText } from '../../src/query/record-text.ts';
import { openDb, withTx, type Db, type Tx } from '../../src/store/db.ts';
import { enterMissing, placeBeside } from '../../src/store/journal/journal.ts';
import { writeInto } from '../../src/store/records.ts';
import type { Served } from '../../src/http/server.ts';
import { collect } from '../support/collect.ts';
import { startCommand, type Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { freshFolder, setUp } from '../support/fresh.ts';
import { observe, observeUnlisted } from '../support/observe.ts';
import { eachInProject, openEmpty, type Opened } from '../support/opened.ts';
import { blocksIn, fileText } from '../support/repository.ts';
import { nextGetBegun, serveArchive } from '../support/served.ts';
import { writeProjects } from '../support/rows.ts';

const noon = Date.parse('2026-03-11T12:00:00Z');
let db: Db;
let archive: Archive;
let project: string;
let connectionString: string;
eachInProject((given) => ({ db, archive, project, connectionString } = given));

type Given = { id: string; message?: string; update?: number };

/** Writes orders as a page showed them. */
async function write(tx: Tx, given: Given[], at = noon): Promise<void> {
  const elements = given.map(
    ({ id, message = '', update = 5 }) =>
      `{"operation_id":"${id}","status":2,"message":"${message}","account":"a","amount":"100","number":"1","create_time":"2026-03-10 10:00:00","update_time":"2026-03-10 10:00:0${update}","order_type":1}`,
  );
  const body = Buffer.from(`{"data":{"next_page_key":"","order_infos":[${elements.join(',')}]}}`);
  const { records } = readPage('orders', body, at, '2026-03-10');
  const observed = records.map((record) => ({ record, observedAt: at }));
  await writeInto(tx, { projectId: project, resource: 'orders' }, observed, at);
}

const commit = (given: Given[], at = noon): Promise<void> =>
  withTx(db, (tx) => write(tx, given, at));

const all = async (after?: string): Promise<Change[]> =>
  (await archive.changes.list({ project, limit: 10_000, ...(after && { after }) })).items;

const told = ({ id, change, record }: Change): string =>
  [change, id, ...(record !== null && 'message' in record ? [record.message] : [])].join(' ');

test('new, changed, late, missing and found are told once each, with what was said then', async () => {
  await commit([{ id: 'a', message: 'first' }, { id: 'b' }]);
  await commit([{ id: 'a', message: 'second', update: 7 }], noon + 1000);
  await commit([{ id: 'a', message: 'older', update: 6 }], noon + 2000);
  await withTx(db, async (tx) => {
    await tx.query(
      `update archive.orders set missing_since = $2 where project_id = $1 and operation_id = 'b'`,
      [project, new Date(noon + 3000).toISOString()],
    );
    await enterMissing(tx, placeBeside(project, 'orders'), ['b'], noon + 3000);
  });
  await commit([{ id: 'b' }], noon + 4000);
  await commit([{ id: 'b' }], noon + 5000);
  await commit([{ id: 'a', message: 'third', update: 7 }], noon + 6000);
  await commit([{ id: 'a', message: 'second', update: 7 }], noon + 7000);

  const found = await all();
  expect(found.map(told)).toEqual([
    'new a first',
    'new b ',
    'changed a second',
    'late a older',
    'missing b',
    'found b',
    'changed a third',
    'changed a second',
  ]);
  const [first, , , late, missing] = found;
  expect(first).toMatchObject({
    resource: 'orders',
    apiVersion: null,
    observedAt: '2026-03-11T12:00:00Z',
    record: { operationId: 'a', amountFen: '100', sliceDay: '2026-03-10', missingSince: null },
  });
  expect(first?.rawSha256).toBe(first?.record?.rawSha256);
  expect(late).toMatchObject({ record: { message: 'older', observedAt: '2026-03-11T12:00:02Z' } });
  const gone = { observedAt: '2026-03-11T12:00:03Z', rawSha256: null, record: null };
  expect(missing).toMatchObject(gone);

  // From any change on, the rest and nothing else.
  for (const [i, { position }] of found.entries()) {
    expect((await all(position)).map(told)).toEqual(found.slice(i + 1).map(told));
  }
  const { items, isUpToDate } = await archive.changes.list({ project, limit: 4 });
  expect([items.length, isUpToDate]).toEqual([4, false]);
  expect(await all((await archive.changes.newest({ project })) ?? '')).toEqual([]);
  expect((await archive.changes.list({ project, resource: 'tokens' })).items).toEqual([]);
  expect(await inSql()).toEqual(found.map(({ change, id }) => `${change} ${id}`));
  expect(await lines()).toBe(asLines(found));
  expect(await lines(late?.position)).toBe(asLines(found.slice(4)));
});

test('lines are what HTTP makes of the changes, whatever records say', async () => {
  const odd = String.raw`\"quoted\" \\ \/ \u0001\b\n\t\u007f 信用 \ud83d\ude00 \u2028 +00`;
  const orders = [
    `{"operation_id":"${odd}","status":"?","message":"${odd}","account":"","amount":1e30,"number":"-0.50"}`,
    `{"operation_id":"b","status":2,"message":"\\u0000","amount":"1","create_time":"0001-01-01T00:00:00.120Z","update_time":"9999-12-31 23:59:59","order_type":7,"observed_at":null,"more":{"a":[1.10,true,{}]}}`,
  ];
  await observe(db, { project, resource: 'orders', shownBy: '2026-03-10' }, orders, when(0));
  const changed = orders.map((order) => order.replace('"operation_id"', '"new":1,"operation_id"'));
  await observe(db, { project, resource: 'orders', shownBy: '2026-03-10' }, changed, when(1));
  // A content that comes back is the same one, observed anew.
  await observe(db, { project, resource: 'orders', shownBy: '2026-03-10' }, orders, when(2));
  const nftClass = { id: 'c', name: odd, nft_count: '9007199254740993', timestamp: '2026-03-10' };
  await observe(db, { project, resource: 'nft_classes' }, [nftClass], when(3));
  for (const [n, fees] of [null, '{"issue_fee":{"denom":"ugas","amount":"460"}}'].entries()) {
    const token = readToken('aa', `{"type":"t","value":{"symbol":"aa","n":"${n}"}}`, fees, '7');
    await observeUnlisted(db, { project, lookup: 'tokens' }, token, when(4 + n));
  }
  for (const lookup of apiVersions) {
    const text = `{"tx_hash":"h","status":1,"block_height":5,"nft":{"id":"${odd}"},"timestamp":"2026-03-10T01:02:03+08:00"}`;
    const result = readTransaction(parseJson(text), text, 'op');
    await observeUnlisted(db, { project, lookup }, result, when(6));
  }
  const found = await all();
  expect(found).toHaveLength(11);
  expect(await lines()).toBe(asLines(found));
  const signal = AbortSignal.abort();
  expect(await collect(archive.changes.lines({ project, signal }))).toEqual([]);
});

const when = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

/** All there is, as one text. */
async function lines(after?: string): Promise<string> {
  const texts: Buffer[] = [];
  const query = { project, once: true, ...(after === undefined ? {} : { after }) };
  for await (const { text } of archive.changes.lines(query)) texts.push(text);
  return Buffer.concat(texts).toString();
}

const asLines = (changes: Change[]): string =>
  changes.map((change) => `${jsonText(change, Object.keys(change) as never[])}\n`).join('');

/** By the statement of docs/follow.md, which joins what orders said. */
async function inSql(): Promise<string[]> {
  const [sql = ''] = blocksIn(fileText('docs/follow.md'), 'sql');
  const { rows } = await db.query<{ change: string; id: string }>(
    sql.replaceAll(`'default'`, `'${project}'`),
  );
  return rows.map(({ change, id }) => `${change} ${id}`);
}

describe('what is committed late', () => {
  /** A transaction that has written and does not end before it is told to. */
  async function unfinished(given: Given[]): Promise<{ end(): Promise<void> }> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const work = withTx(db, async (tx) => {
      await write(tx, given);
      begun();
      await ended;
    });
    await hasBegun;
    return {
      end: () => {
        end();
        return work;
      },
    };
  }

  test('is told first: whoever writes next waits for it', async () => {
    const late = await unfinished([{ id: 'late' }]);
    const early = commit([{ id: 'early' }]);
    await expect.poll(waiting, { interval: 10 }).toBe(true);
    const before = await archive.changes.list({ project });
    expect(before.items).toEqual([]);
    expect(await inSql()).toEqual([]);
    await Promise.all([late.end(), early]);
    const after = ['new late', 'new early'];
    expect((await all(before.position ?? undefined)).map((one) => told(one).trim())).toEqual(after);
    expect(await inSql()).toEqual(after);
  });

  const waiting = async (): Promise<boolean> => {
    const { rows } = await db.query<{ waits: boolean }>(
      `select exists (select from pg_locks join pg_stat_activity using (pid)
                       where datname = current_database() and not granted) as waits`,
    );
    return rows[0]?.waits === true;
  };

  test('a record that two change is told as it changed, whoever began first', async () => {
    await commit([{ id: 'shared', message: 'first', update: 1 }]);
    await withTx(db, async (tx) => {
      // From here on it has a number, and the lower one.
      await tx.query('select pg_current_xact_id()');
      await withTx(db, (other) => write(other, [{ id: 'shared', message: 'second', update: 2 }]));
      await write(tx, [{ id: 'shared', message: 'third', update: 3 }]);
    });
    expect((await all()).map(told)).toEqual([
      'new shared first',
      'changed shared second',
      'changed shared third',
    ]);
  });
});

test('four writers and a reader that breaks off anywhere: its copy is the archive, and nothing came twice', async () => {
  const random = Math.random;
  const copy = new Map<string, string | null>();
  const seen = new Map<string, number>();
  let position: string | null = null;
  let isWriting = true;
  const shared = Array.from({ length: 8 }, (_, i) => `shared-${i}`);
  await commit(shared.map((id) => ({ id })));
  const ids = new Set(shared);
  const writer = async (name: number): Promise<void> => {
    for (let i = 0; i < 12; i++) {
      const id = shared[Math.floor(random() * 8)] ?? '';
      ids.add(`own-${name}-${i}`);
      await withTx(db, async (tx) => {
        await write(tx, [
          { id: `own-${name}-${i}` },
          { id, message: `${name}.${i}`, update: Math.floor(random() * 10) },
        ]);
        await wait(random() * 3);
      });
    }
  };
  const reader = async (): Promise<void> => {
    for (;;) {
      const isLast = !isWriting;
      const after: string | null = position;
      const limit = 1 + Math.floor(random() * 30);
      const given = { project, limit, ...(after !== null && { after }) };
      const page = await archive.changes.list(given);
      // Some of a page is taken, with the position of the last that was.
      const taken = page.items.slice(0, Math.floor(random() * (page.items.length + 1)));
      for (const { id, change, rawSha256, position: at } of taken) {
        const key = `${id} ${change} ${rawSha256} ${at}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
        if (change !== 'late') copy.set(id, rawSha256);
        position = at;
      }
      if (isLast && page.items.length === 0) return;
    }
  };
  const reading = reader();
  await Promise.all([0, 1, 2, 3].map(writer));
  isWriting = false;
  await reading;

  const { rows } = await db.query<{ id: string; sha: string }>(
    `select operation_id as id, encode(raw_sha256, 'hex') as sha from archive.orders where project_id = $1`,
    [project],
  );
  expect(rows.length).toBe(ids.size);
  expect(new Map(copy)).toEqual(new Map(rows.map(({ id, sha }) => [id, sha])));
  expect([...seen.values()].every((times) => times === 1)).toBe(true);
  const { rows: contents } = await db.query<{ n: number }>(
    `select sum(cardinality(ids))::int as n from sync.journal where project_id = $1`,
    [project],
  );
  expect(seen.size).toBe(contents[0]?.n);
});

describe('by every door', () => {
  let served: Served;
  beforeEach(async () => {
    await writeProjects(db, [project]);
    await commit([{ id: 'a' }, { id: 'b' }]);
    served = await serveArchive(archive, { projects: [{ id: project, classesOf: project }] });
  });
  afterEach(() => served.close());

  const ask = (query: string): Promise<Response> =>
    fetch(`${served.url}/archive/v1/changes${query}`);
  type Page = { items: { id: string }[]; position: string; is_up_to_date: boolean };
  const page = async (query: string): Promise<Page> => (await ask(query)).json() as Promise<Page>;

  test('HTTP gives pages and lines, and 410 for a position that is no more', async () => {
    const [first] = await all();
    const { items, position, is_up_to_date: isUpToDate } = await page('?limit=1');
    expect(items).toMatchObject([{ id: 'a', api_version: null, record: { operation_id: 'a' } }]);
    expect([position, isUpToDate]).toEqual([first?.position, false]);
    const rest = { items: [{ id: 'b' }], is_up_to_date: true };
    expect(await page(`?after=${position}`)).toMatchObject(rest);
    const lines = await (await ask('?format=ndjson')).text();
    expect(lines.trim().split('\n')).toHaveLength(2);
    expect((await ask('?wait=1&format=csv')).status).toBe(400);
    expect((await ask('?after=x')).status).toBe(400);
  });

  test('whoever waits is told at once of what comes, and keeps nobody from reading', async () => {
    const { position } = await page('');
    const waiting = Array.from({ length: 6 }, () => page(`?after=${position}&wait=60`));
    await wait(50);
    expect((await page('')).items).toHaveLength(2);
    await commit([{ id: 'c' }]);
    for (const { items } of await Promise.all(waiting)) expect(items).toMatchObject([{ id: 'c' }]);
    // Nor does it keep the server from stopping.
    const { position: newest } = await page('');
    const begun = nextGetBegun();
    const last = page(`?after=${newest}&wait=60`);
    await begun;
    await served.close();
    expect((await last).items).toEqual([]);
  });

  test('`outlast follow` goes on where its file says, and a line is whole JSON', async () => {
    const folder = await freshFolder();
    const file = ['--position-file', join(folder, 'position')];
    const run = (...args: string[]): Promise<Ended> =>
      runHere(['follow', '--project', project, ...args], {
        env: { DATABASE_URL: connectionString },
      });
    const follow = async (...args: string[]): Promise<string[]> => {
      const { code, stdout, stderr } = await run('--once', ...file, ...args);
      expect(code, stderr).toBe(0);
      const lines = stdout.split('\n').filter((line) => line !== '');
      return lines.map((line) => (JSON.parse(line) as { id: string }).id);
    };
    expect(await follow()).toEqual(['a', 'b']);
    expect(await follow()).toEqual([]);
    await commit([{ id: 'c' }]);
    await rm(join(folder, 'position'));
    expect(await follow('--from-now')).toEqual([]);
    await commit([{ id: 'd' }]);
    expect(await follow()).toEqual(['d']);
    // Of another resource it would skip what was not asked for.
    const other = await run('--resource', 'orders', ...file);
    expect(other.stderr).toContain('holds no position of orders, but of all');
    const unreadable = await run('--position-file', folder);
    expect([unreadable.code, unreadable.stderr]).toEqual([
      2,
      `outlast: ${folder} cannot be read (EISDIR).\n`,
    ]);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const piped = await run('--position-file', pipe);
    expect([piped.code, piped.stderr]).toEqual([
      2,
      `outlast: ${pipe} cannot be read (it is a pipe).\n`,
    ]);
    const damaged = await run('--after', 'x');
    expect(damaged.stderr).toContain('no position');
    expect(damaged.code).toBe(2);
  });

  test('`outlast follow` without a file looks twice a second, not all the time', async () => {
    const commits = async (): Promise<number> => {
      const { rows } = await db.query<{ commits: number }>(
        'select xact_commit::int as commits from pg_stat_database where datname = current_database()',
      );
      return rows[0]?.commits ?? 0;
    };
    const following = startCommand(['follow', '--project', project], {
      env: { DATABASE_URL: connectionString },
    });
    await following.waitFor(/"id":"b"/);
    // A session adds its commits to these statistics once a second: those of the start come in first.
    await wait(2000);
    const [before, since] = [await commits(), performance.now()];
    await wait(2000);
    const made = (await commits()) - before;
    const seconds = (performance.now() - since) / 1000;
    const { stdout, code } = await following.stop();
    expect([stdout.split('\n').length, code]).toEqual([3, 0]);
    expect(made).toBeLessThan(15 * seconds);
  });
});

describe('after a restore', () => {
  let opened: Opened;
  let owner: Db;
  setUp(async (keep) => {
    opened = await keep(openEmpty(1));
    const { connectionString } = opened;
    owner = await keep(openDb({ connectionString, role: null, max: 1, log: silentLog() }));
  });
  beforeEach(() => ({ db, archive } = opened));

  test('to an earlier state a position that is no more is refused, and so is one of another archive', async () => {
    await commit([{ id: 'kept' }]);
    const [kept] = await all();
    await commit([{ id: 'lost' }]);
    const [lost] = await all(kept?.position);
    await owner.query('delete from sync.journal where project_id = $1 and no = $2', [
      project,
      lost?.entryId,
    ]);
    await owner.query(
      `update sync.chains c set no = j.no, head = j.head from sync.journal j
        where c.project_id = $1 and j.project_id = $1 and j.no = $2`,
      [project, kept?.entryId],
    );
    await commit([{ id: 'instead' }]);
    await expect(all(lost?.position)).rejects.toMatchObject({ code: 'position_unknown' });
    expect((await all(kept?.position)).map(told)).toEqual(['new instead ']);
    await expect(
      archive.changes.list({ project: 'other', after: kept?.position ?? '' }),
    ).rejects.toMatchObject({ code: 'argument_invalid' });
  });
});
