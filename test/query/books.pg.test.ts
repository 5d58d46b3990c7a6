// The archive's own books as lists: operations watched, certificates, runs, rejects; and what is said to cursors that make
// no sense (P12).
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Archive, type Page } from '../../src/index.ts';
import { cursorText, fingerprintOf } from '../../src/query/cursor.ts';
import type { Db } from '../../src/store/db.ts';
import { setUp } from '../support/fresh.ts';
import { openEmpty } from '../support/opened.ts';
import { pagesOf } from '../support/paged.ts';

const project = 'p';
let db: Db;
let archive: Archive;
setUp(async (keep) => {
  ({ db, archive } = await keep(openEmpty()));
  await db.query(
    `insert into sync.watched_operations (project_id, operation_id, state, added_at, due_at, last_error)
     select p, id, (array['open', 'done', 'lost'])[1 + n % 3], '2026-03-05T10:00:00.5Z', null, null
       from unnest(array['p', 'q']) p,
            unnest($1::text[]) with ordinality as given(id, n)`,
    [['b', 'B', 'a', 'é', 'z'.repeat(512), '\u{1F600}', '0']],
  );
  await db.query(
    `insert into archive.transactions (project_id, api_version, operation_id, status, raw, raw_sha256, observed_at, first_seen_at, changed_at)
     select 'p', version, 'B', status, '{}', '\\xab', now(), now(), now()
       from (values ('v1beta1', 1), ('v3', 3)) r(version, status)`,
  );
  await db.query(
    `insert into archive.certificate_files (project_id, operation_id, url, bytes, sha256, fetched_at)
     values ('p', 'B', 'https://x', '\\x01', '\\xab', now())`,
  );
  await db.query(
    `insert into sync.runs (project_id, run_id, started_at, outcome, records_shown)
     select p, 'run-' || n, '2026-03-05T10:00:00.000001Z'::timestamptz + n / 2 * interval '1 second', 'done', n
       from unnest(array['p', 'q']) p, generate_series(1, 9) n`,
  );
  await db.query(
    `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
     select p, resource, sha256(convert_to(resource || n, 'UTF8')), convert_to(resource || n, 'UTF8'), 'no id', '',
            case resource when 'tokens' then '0001-01-01' else '2026-03-01'::date + n / 2 end, '2026-03-05T10:00:00Z'
       from unnest(array['p', 'q']) p, unnest(array['orders', 'nft_classes', 'tokens']) resource, generate_series(1, 4) n`,
  );
  await db.query(
    `insert into sync.certificates (project_id, resource, month, certified_at, certificate, digest, leaves_sha256)
     select p, resource, month, '2026-04-05T10:00:00Z', '{"records": 12, "version": 1.0}', '\\xab', '\\xcd'
       from unnest(array['p', 'q']) p, unnest(array['orders', 'nft_classes']) resource,
            unnest(array['2026-02-01', '2026-01-01']::date[]) month`,
  );
});

/** Everything of a list, two at a time. */
async function all<Item>(
  list: (paging: { limit: number; cursor?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const pages = await pagesOf((paging) => list({ limit: 2, ...paging }));
  expect(pages.every(({ items }) => items.length <= 2)).toBe(true);
  return pages.flatMap(({ items }) => items);
}

test('watched operations are listed by id bytes with what became of them', async () => {
  const listed = await all((paging) => archive.watchedOperations({ project, ...paging }));
  expect(listed.map((one) => one.operationId)).toEqual([
    '0',
    'B',
    'a',
    'b',
    'z'.repeat(512),
    'é',
    '\u{1F600}',
  ]);
  expect(listed[1]).toMatchObject({
    operationId: 'B',
    addedAt: '2026-03-05T10:00:00.5Z',
    foundBy: ['v1beta1', 'v3'],
    status: 1,
    hasCertificateFile: true,
  });
  const lost = await all((paging) =>
    archive.watchedOperations({ project, state: 'lost', ...paging }),
  );
  expect(lost).toEqual(listed.filter(({ state }) => state === 'lost'));
});

test('runs are listed the newest first, those that began at once by name', async () => {
  const runs = await all((paging) => archive.runs({ project, ...paging }));
  expect(runs.map(({ runId }) => runId)).toEqual(
    [9, 8, 7, 6, 5, 4, 3, 2, 1].map((n) => `run-${n}`),
  );
  expect(runs[0]).toMatchObject({ startedAt: '2026-03-05T10:00:04.000001Z', recordsShown: 9 });
});

test('rejects are listed by day, and give their bytes', async () => {
  const rejects = await all((paging) => archive.rejects({ project, ...paging }));
  expect(rejects.map(({ day, resource }) => `${day} ${resource}`)).toEqual([
    ...Array<string>(4).fill('null tokens'),
    '2026-03-01 nft_classes',
    '2026-03-01 orders',
    ...Array<string>(2).fill('2026-03-02 nft_classes'),
    ...Array<string>(2).fill('2026-03-02 orders'),
    '2026-03-03 nft_classes',
    '2026-03-03 orders',
  ]);
  for (const { bytes, ...reject } of await Promise.all(
    rejects.map(async ({ resource, sha256 }) => {
      const one = await archive.reject(project, resource, sha256.toUpperCase());
      if (one === null) throw new Error('gone');
      return one;
    }),
  )) {
    expect(rejects).toContainEqual(reject);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(reject.sha256);
    expect(reject.byteCount).toBe(bytes.length);
  }
  expect(await archive.reject(project, 'orders', '0'.repeat(64))).toBeNull();
  expect(await archive.reject(project, 'tokens', rejects.at(-1)?.sha256 ?? '')).toBeNull();
});

test('certificates are listed by list and month, the document as it stands', async () => {
  const certificates = await archive.certificates({ project });
  expect(certificates.map(({ month, resource }) => `${month} ${resource}`)).toEqual([
    '2026-01-01 orders',
    '2026-02-01 orders',
    '2026-01-01 nft_classes',
    '2026-02-01 nft_classes',
  ]);
  expect(await archive.certificates({ project, resource: 'orders', month: '2026-02' })).toEqual([
    {
      projectId: project,
      resource: 'orders',
      month: '2026-02-01',
      certifiedAt: '2026-04-05T10:00:00Z',
      records: 12,
      digest: 'ab',
      certificateJson: '{"records": 12, "version": 1.0}',
    },
  ]);
});

test('the cursors of another list, query, project or instant are refused, and forged ones', async () => {
  const refused = expect.objectContaining({ code: 'cursor_invalid' }) as Error;
  const { next } = await archive.runs({ project, limit: 1 });
  const cursor = next ?? '';
  await expect(archive.runs({ project: 'q', cursor })).rejects.toThrow(refused);
  await expect(archive.rejects({ project, cursor })).rejects.toThrow(refused);
  await expect(archive.transactions.list({ project, cursor })).rejects.toThrow(refused);
  await expect(archive.orders.list({ project, cursor })).rejects.toThrow(refused);
  expect((await archive.runs({ project, cursor, limit: 3 })).items).toHaveLength(3);
  const binding = fingerprintOf('runs', { project });
  for (const key of [
    [],
    ['2026-03-05T10:00:00Z'],
    ['2026-03-05T10:00:00Z', 'a', 'b'],
    ['now', 'a'],
    ['2026-03-05T10:00:00Z', 'a\0'],
    ['2026-03-05T10:00:00Z', null],
  ]) {
    const forged = cursorText(binding, 'after', key);
    await expect(archive.runs({ project, cursor: forged })).rejects.toThrow(refused);
  }
  const results = await archive.transactions.list({ project, limit: 1 });
  for (const other of [{ asOf: '2026-03-05T10:00:00Z' }, { status: 1 }, { module: 'nft' }]) {
    const query = { project, ...other, cursor: results.next ?? '' };
    await expect(archive.transactions.list(query)).rejects.toThrow(refused);
  }
  // Of one moment, however it is spelt.
  const then = await archive.transactions.list({ project, limit: 1, asOf: '2999-06-01T00:00:00Z' });
  const atOnce = (asOf: string) =>
    archive.transactions.list({ project, asOf, cursor: then.next ?? '' });
  expect((await atOnce('2999-06-01T05:30:00.000000+05:30')).items).toHaveLength(1);
  await expect(atOnce('2999-06-01T00:00:00.000001Z')).rejects.toThrow(refused);
});
