// New records are copied, what is held is merged from JSON: both ways must leave the same rows (P1, P2, P5).
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { codeOf } from '../../src/errors.ts';
import type { ListedResource, PlatformPage } from '../../src/model.ts';
import { readPage } from '../../src/platform/pages.ts';
import type { Checkpoint } from '../../src/store/checkpoint.ts';
import { commitPages } from '../../src/store/commit.ts';
import { copyAtOnce, copyOut } from '../../src/store/copy-stream.ts';
import { analyzeNew, onlyRow, withTx, type Db } from '../../src/store/db.ts';
import { nextSlice } from '../../src/store/due.ts';
import { readEvidence } from '../../src/store/evidence.ts';
import { addSlices, type ListName, type Slice } from '../../src/store/ledger.ts';
import { observe, waitedFor } from '../support/observe.ts';
import { fileOnDatabase } from '../support/opened.ts';
import { isOnCluster } from '../support/postgres.ts';

const day = '2026-03-10';
const noon = Date.parse('2026-03-11T12:00:00Z');
let db: Db;

fileOnDatabase((given) => ({ db } = given));

async function newSlice(projectId: string, resource: ListedResource, of = day): Promise<Slice> {
  const due = { dueAt: noon, deadlineAt: noon };
  await withTx(db, (tx) => addSlices(tx, [{ projectId, resource, owner: '', day: of, ...due }]));
  const slice = await nextSlice(db, { projectId, dueBy: null, today: of, only: { resource } });
  if (slice === null) throw new Error('nothing is due');
  return slice;
}

/** Walk 1 of a slice never walked whole is copied unseen; any later walk asks first what is held. */
const copied = 1;
const careful = 2;

const commit = (
  slice: Slice,
  walk: number,
  page: PlatformPage,
  number = 0,
  { checkpoint = null, on = db }: { checkpoint?: Checkpoint | null; on?: Db } = {},
) =>
  commitPages(on, {
    slice,
    walk,
    pages: [{ number, pageKey: null, offset: null, page, observedAt: page.askedAt }],
    checkpoint,
    writtenAt: noon + 3_600_000,
  });

const orders = (elements: string[], at = noon): PlatformPage =>
  readPage(
    'orders',
    Buffer.from(`{"data":{"next_page_key":"","order_infos":[${elements.join(',')}]}}`),
    at,
    day,
  );
const classes = (elements: string[], at = noon): PlatformPage =>
  readPage('nft_classes', Buffer.from(`{"data":{"classes":[${elements.join(',')}]}}`), at, day);

const inView = (view: number): Checkpoint => ({
  reading: {
    end: 'asc',
    began: { machine: noon, now: noon, earliest: null },
    daysAsked: 1,
    statuses: [1, 2, 3],
    view,
    begins: view,
    mostTotal: null,
    listTotal: null,
    claims: 0,
    first: null,
    last: null,
  },
  next: { number: view + 1, pageKey: null, offset: 0, overlap: null },
});

async function rowsOf(projectId: string, table = 'orders'): Promise<unknown[]> {
  const { rows } = await db.query(
    `select to_jsonb(o) - 'project_id' - 'first_seen_at' as row from archive.${table} o where project_id = $1
      order by raw_sha256`,
    [projectId],
  );
  return rows;
}

const difficult = [
  String.raw`{"operation_id":"back\\slash","message":"tab\tline\nreturn\r quote\" \\N \\. \u00e9","status":3}`,
  '{\n\t"operation_id": "pretty",\r\n\t"amount": 1.50,\n\t"create_time": "2026-03-10 10:00:00"\n}',
  String.raw`{"operation_id":"tab\tand\nline","account":"\\N","message":""}`,
  '{"operation_id":"unreadable","status":"perhaps","amount":{},"create_time":"soon","order_type":1e99}',
  String.raw`{"operation_id":"nul","message":"a\u0000b","number":1e400}`,
  String.raw`{"operation_id":"lone","message":"\ud800 x"}`,
  '{"operation_id":"数字藏品 😀","message":"数字","account":"\ue000"}',
  '{"operation_id":"\ue000"}',
  `{"operation_id":"long","message":"${'x\\\\'.repeat(150_000)}"}`,
  String.raw`{"operation_id":"\\."}`,
  // Of every length, so that a piece of the copy ends anywhere in a record.
  ...Array.from(
    { length: 300 },
    (_, i) => `{"operation_id":"n${i}","message":"${'字'.repeat(i)}"}`,
  ),
];

test('P5: whatever the platform wrote, a copied record equals one that took the place of another', async () => {
  const one = await newSlice('copied', 'orders');
  expect(await commit(one, copied, orders(difficult))).toMatchObject({
    inserted: difficult.length,
  });
  const other = await newSlice('merged', 'orders');
  const before = difficult.map((text) => {
    const { operation_id } = JSON.parse(text) as { operation_id: string };
    return JSON.stringify({ operation_id, message: 'first' });
  });
  await commit(other, careful, orders(before, noon - 1));
  expect(await commit(other, careful, orders(difficult))).toMatchObject({ inserted: 0 });
  const rows = await rowsOf('copied');
  expect(rows).toHaveLength(difficult.length);
  expect(rows).toEqual(await rowsOf('merged'));
});

// On a cluster the workers' autovacuum makes them.
test.skipIf(isOnCluster)(
  'a table that has grown has statistics before autovacuum comes by, which a small one has no need of',
  async () => {
    const many = Array.from({ length: 3_000 }, (_, i) => `{"operation_id":"many${i}"}`);
    await commit(await newSlice('many', 'orders'), copied, orders(many));
    await analyzeNew(db);
    const { rows } = await db.query(
      `select relname, reltuples >= 0 as known from pg_class
      where oid in ('archive.orders'::regclass, 'archive.nft_classes'::regclass) order by 1`,
    );
    expect(rows).toEqual([
      { relname: 'nft_classes', known: false },
      { relname: 'orders', known: true },
    ]);
  },
);

test.skipIf(isOnCluster)(
  'whether a day holds a record is looked up, though the statistics are of other days',
  async () => {
    const next = '2026-03-11';
    await newSlice('many', 'orders', next);
    const { evidence, scans } = await withTx(db, async (tx) => {
      const list: ListName = { projectId: 'many', resource: 'orders', owner: '' };
      const days = { from: day, to: '2026-03-12' };
      const found = await readEvidence(tx, list, days, { earliest: noon });
      const { rows } = await tx.query<{ scans: number }>(
        `select seq_scan::int as scans from pg_stat_xact_user_tables where relid = 'archive.orders'::regclass`,
      );
      return { evidence: found, ...onlyRow({ rows }) };
    });
    expect(evidence.get(day)?.isHolding).toBe(true);
    expect(evidence.get(next)?.isHolding).toBe(false);
    expect(scans).toBe(0);
  },
);

describe('what was expected to be new, and is held', () => {
  const held = (message: string, at: number): PlatformPage =>
    orders([`{"operation_id":"a","message":"${message}"}`, '{"operation_id":"z"}'], at);

  test('P1, P5: the copy is undone, and the careful way keeps both contents', async () => {
    const slice = await newSlice('twice', 'orders');
    await commit(slice, copied, orders(['{"operation_id":"a","message":"old"}']));
    const next = await newSlice('twice', 'orders', '2026-03-09');
    expect(await commit(next, copied, held('new', noon + 1000))).toMatchObject({
      inserted: 1,
      changed: 1,
      versions: 1,
    });
    expect(await rowsOf('twice')).toHaveLength(2);
    const pages = await db.query(`select from sync.pages where project_id = 'twice'`);
    expect(pages.rows).toHaveLength(2);
  });

  test.each([copied, careful])(
    'P5: what another writes at that moment, as a rebuild does, is held beside (walk %i)',
    async (walk) => {
      const project = `beside-${walk}`;
      const slice = await newSlice(project, 'orders');
      let commits: Promise<unknown> = Promise.resolve();
      const moment = new Date(noon).toISOString();
      const old = { operation_id: 'a', message: 'old' };
      await observe(db, { project, resource: 'orders' }, [old], moment, async (tx) => {
        commits = commit(slice, walk, held('new', noon + 1000));
        await waitedFor(tx);
      });
      expect(await commits).toMatchObject({ inserted: 1, changed: 1, versions: 1 });
    },
  );

  test('P1: any other failure of a copy is thrown, and nothing is written', async () => {
    const slice = await newSlice('broken', 'orders');
    const page = held('new', noon);
    const wrong = page.records.map((record) => ({ ...record, rawSha256: 'no hexadecimal' }));
    await expect(commit(slice, copied, { ...page, records: wrong })).rejects.toMatchObject({
      code: '22023',
    });
    expect(await rowsOf('broken')).toEqual([]);
    // The connection is whole: the same records as they were are taken.
    expect(await commit(slice, copied, page)).toMatchObject({ inserted: 2 });
  });
});

test('what a status shows again after the list is not copied in vain', async () => {
  const ended: boolean[] = [];
  const on = { ...db, onTransaction: (isCommitted: boolean) => void ended.push(isCommitted) };
  const slice = await newSlice('statuses', 'orders');
  const page = orders(['{"operation_id":"a"}']);
  await commit(slice, copied, page, 0, { checkpoint: inView(0), on });
  await commit(slice, copied, page, 1, { checkpoint: inView(1), on });
  expect(ended).toEqual([true, true]);
  // A small day's list and statuses are one commit, and copied: that another day holds it undoes the copy.
  const other = await newSlice('statuses', 'orders', '2026-03-09');
  await commit(other, copied, page, 0, { checkpoint: inView(1), on });
  expect(ended.slice(2)).toEqual([false, true]);
});

describe('the row by which pages of classes overlap', () => {
  const nftClass = (id: string, owner = 'o'): string => `{"id":"${id}","owner":"${owner}"}`;

  test('does not stop the copy', async () => {
    const slice = await newSlice('overlap', 'nft_classes');
    await commit(slice, copied, classes([nftClass('a'), nftClass('b')]));
    const page = classes([nftClass('b'), nftClass('c')], noon + 1);
    expect(await commit(slice, copied, page, 1)).toMatchObject({ inserted: 1, changed: 0 });
    expect(await rowsOf('overlap', 'nft_classes')).toHaveLength(3);
  });

  test('P5: changed since the page before, it keeps both contents', async () => {
    const slice = await newSlice('moved', 'nft_classes');
    await commit(slice, copied, classes([nftClass('a'), nftClass('b')]));
    const page = classes([nftClass('b', 'p'), nftClass('c')], noon + 1);
    expect(await commit(slice, copied, page, 1)).toMatchObject({
      inserted: 1,
      changed: 1,
      versions: 1,
    });
  });
});

describe('what is copied out in many pieces', () => {
  const lines = `select n || repeat('x', 200) as line from generate_series(1, 25000) n`;
  const copiedOut = (take: (piece: Buffer) => Promise<Buffer> | Buffer): Promise<string> =>
    withTx(db, async (tx) => {
      const pieces: Buffer[] = [];
      await copyOut(tx, `copy (${lines}) to stdout`, async (piece) => {
        pieces.push(await take(piece));
      });
      expect(pieces.length).toBeGreaterThan(4);
      return createHash('sha256').update(Buffer.concat(pieces)).digest('hex');
    });
  const expected = async (): Promise<string> =>
    onlyRow(
      await db.query<{ sha: string }>(
        `select encode(sha256(convert_to(string_agg(line || E'\\n', ''), 'UTF8')), 'hex') as sha from (${lines}) l`,
      ),
    ).sha;

  test('is whole, however slowly it is taken', async () => {
    const slowly = async (piece: Buffer): Promise<Buffer> => {
      await wait(20);
      return Buffer.from(piece);
    };
    expect(await copiedOut(slowly)).toBe(await expected());
  });

  test('sabotaged, kept longer than it is the taker’s, it is another', async () => {
    expect(await copiedOut((piece) => piece)).not.toBe(await expected());
  });
});

test('what is sent behind a COPY that Postgres refuses is refused with it, and the connection goes on', async () => {
  const tx = await db.pool.connect();
  try {
    await tx.query('create temporary table numbers (n int primary key)');
    await tx.query('begin');
    const rows = (from: number): Buffer =>
      Buffer.from(Array.from({ length: 100_000 }, (_, n) => `${from + n}\n`).join(''));
    const ended = await Promise.allSettled([
      copyAtOnce(tx as never, 'copy numbers from stdin', [
        Buffer.from('no number\n'),
        ...[0, 100_000, 200_000].map(rows),
      ]),
      tx.query('insert into numbers values (-1)'),
      copyAtOnce(tx as never, 'copy numbers from stdin', [rows(0)]),
    ]);
    expect(ended.map((one) => one.status === 'rejected' && codeOf(one.reason))).toEqual([
      '22P02',
      '25P02',
      '25P02',
    ]);
    await tx.query('rollback');
    expect(await copyAtOnce(tx as never, 'copy numbers from stdin', [rows(0), rows(200_000)])).toBe(
      200_000,
    );
    // For PgBouncer something follows a COPY that failed, also where nobody sent anything.
    await tx.query('begin');
    const sent = vi.spyOn(tx, 'query');
    await expect(copyAtOnce(tx as never, 'copy numbers from stdin', [rows(0)])).rejects.toThrow();
    expect(sent).toHaveBeenLastCalledWith('select 1');
    await tx.query('rollback');
    const { rows: held } = await tx.query<{ n: number }>('select count(*)::int as n from numbers');
    expect(held).toEqual([{ n: 200_000 }]);
  } finally {
    tx.release(true);
  }
});
