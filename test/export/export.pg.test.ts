// An export is the archive, and an import is the export: digest for digest, in every format, whatever the records say.
// And a month's rows come without being sorted.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileFormats, type FileFormat } from '../../src/model.ts';
import { digestsSql, readContent, readDayDigests } from '../../src/export/content.ts';
import {
  exportedColumnsOf,
  exportedTables,
  isIndexed,
  leftOut,
  partRowsSql,
  type ExportedTable,
} from '../../src/export/exported-tables.ts';
import { importArchive } from '../../src/export/read-export.ts';
import { exportArchive, type Exported } from '../../src/export/write-export.ts';
import type { Db } from '../../src/store/db.ts';
import { withSnapshot } from '../../src/store/snapshot.ts';
import { createMonthDigest, type DayDigest } from '../../src/verify/digest.ts';
import { createCertified, observe, type Certified } from '../support/certified.ts';
import { fresh, makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { openEmpty } from '../support/opened.ts';
import { isOnCluster } from '../support/postgres.ts';
import { enterOrders } from '../support/rows.ts';
import { verified } from '../support/verified.ts';

let archive: Certified;
const days = ['2026-03-01', '2026-03-05', '2026-03-08', '2026-04-28', '2026-04-29'];
/** A name with everything that a path in SQL or a pattern could trip over. */
let folder = '';

setUp(async (keep) => {
  archive = await keep(createCertified(undefined, { days }));
  folder = await keep(makeFolder(`outlast export [a] *é' `), removeFolder);
  await observe(
    archive,
    '{"operation_id":"op_v","status":1,"amount":"5","create_time":"2026-04-01 00:00:00"}',
    '2026-04-02T00:00:00Z',
  );
  await observe(
    archive,
    '{"operation_id":"op_v","status":2,"amount":"5.50","create_time":"2026-04-01 00:00:00"}',
    '2026-04-03T00:00:00Z',
  );
  await archive.owner.query(oddRows);
  await archive.owner.query(bulkyRow);
  await enterOrders(archive.owner, 'odd');
  await archive.owner.query(
    `insert into sync.watched_operations (project_id, operation_id) values ('p', 'watched')`,
  );
});

/** What a column may hold at its limits; as a project of its own, for no platform said it. */
const oddRows = String.raw`
  insert into sync.projects (project_id, base_url, key_salt, key_fingerprint, first_day, added_at)
  values ('odd', 'https://platform.example', '\x00ff', '\x', '2026-03-01', '2026-04-06T12:00:00.000001Z');
  insert into archive.orders (project_id, operation_id, status, message, account, amount, number, created_at, updated_at,
                              order_type, slice_day, raw, raw_bytes, raw_sha256, unread, observed_at, first_seen_at, changed_at)
  select 'odd', case n when 6 then '数' when 7 then 'é' else 'op ' || n || E' \t"\'' end, n, message, left(message, 100), amount, -amount, t, null, null, coalesce(t, '2026-03-01')::date,
         jsonb_build_object('message', message, 'amount', amount), convert_to(message, 'UTF8'), sha256(''),
         array[message, '', 'NULL', 'a,b', E'q"\\'], '2026-04-06T12:00:00.5Z', '2026-04-06T12:00:00Z', '2026-04-06T12:00:00Z'
    from (values (1, '', 0::numeric, '0001-01-01T00:00:00Z'::timestamptz),
                 (2, E'a\r\nb\n,"c" \\. \\N {} \u2028 \U0001F44D', 1.50, '9999-12-31T23:59:59.999999Z'),
                 (3, '\N', 12345678901234567890123456789012345678901234567890.1, '2026-03-31T23:59:59.999999Z'),
                 (4, '{}', 0.0000000001, '2026-03-01'),
                 (5, null, null, null),
                 (6, E'\x01\x02\x1f', 99999999999999999999999999999.999999999, '2026-03-02'),
                 (7, '   ', 100.00, '2026-03-02'),
                 (8, repeat('数字', 100000), 'NaN', '2026-03-03')) odd (n, message, amount, t)`;

const bulkyRow = String.raw`
  insert into archive.certificate_files (project_id, operation_id, url, bytes, sha256, fetched_at)
  select 'odd', 'watched', 'https://platform.example/c.pdf', bytes, sha256(bytes), '2026-04-06T12:00:00Z'
    from decode(repeat('00ff0a5c', 500000), 'hex') bytes`;

const exported = (format: FileFormat, to: string, db: Db = archive.db): Promise<Exported> =>
  exportArchive({
    db,
    to,
    format,
    projects: ['odd', 'p'],
    now: Date.parse('2026-05-01T13:00:00Z'),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });

const imported = (db: Db, from: string) =>
  importArchive({
    db,
    folder: from,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });

const contentsOf = ({ manifest }: Exported): [string, string][] =>
  manifest.files.map((file) => [file.path.replace(/\.\w+$/, ''), file.content_sha256]);

describe('what is exported', () => {
  test('is every table there is, but those that are left out on purpose', async () => {
    const { rows } = await archive.owner.query<{ table: string }>(
      `select schemaname || '.' || tablename as table from pg_tables where schemaname in ('archive', 'sync')`,
    );
    expect(rows.map(({ table }) => table).toSorted()).toEqual(
      [...exportedTables.map(({ table }) => table), ...leftOut].toSorted(),
    );
    for (const [name, columns] of await exportedColumnsOf(archive.db))
      expect(columns, name).not.toEqual([]);
  });

  /** By format, once for all tests. */
  const made = new Map<FileFormat, Promise<Exported>>();
  const exportedAs = (format: FileFormat): Promise<Exported> => {
    const one = made.get(format) ?? exported(format, join(folder, format));
    made.set(format, one);
    return one;
  };

  let verifiedHere: ReturnType<Certified['verify']> | undefined;
  const listsHere = async () => (await (verifiedHere ??= archive.verify())).lists;

  test.each(fileFormats)(
    'as %s comes back: nothing differs, and verify finds nothing',
    async (format) => {
      const first = await exportedAs(format);
      expect(first).toMatchObject({ kept: 0, written: first.manifest.files.length });
      const { db } = await fresh(openEmpty());
      await imported(db, join(folder, format));
      const { findings, lists } = await verified(db, { certificatesDir: archive.folder });
      expect(findings).toEqual([]);
      expect(lists).toEqual(await listsHere());
      const again = await exported(format, join(folder, `${format} again`), db);
      expect(contentsOf(again)).toEqual(contentsOf(first));
      expect(again.manifest.months).toEqual(first.manifest.months);
    },
  );

  test('has the digests of its certificates', async () => {
    const { manifest } = await exportedAs('csv');
    const { rows } = await archive.db.query<{ resource: string; digest: string }>(
      `select resource, encode(digest, 'hex') as digest from sync.certificates where month = '2026-03-01' and project_id = 'p'`,
    );
    expect(rows).toHaveLength(2);
    for (const { resource, digest } of rows) {
      expect(manifest.months).toContainEqual(
        expect.objectContaining({ project: 'p', resource, month: '2026-03', digest }),
      );
    }
    expect(await readFile(join(folder, 'csv', 'SHA256SUMS'), 'utf8')).toMatch(
      /^[0-9a-f]{64} {2}manifest\.json$/m,
    );
  });
});

describe('days of a month', () => {
  /** As verify computes them. */
  async function expectedDays(project: string): Promise<DayDigest[]> {
    const { rows } = await archive.db.query<{ day: string; id: string; sha256: string }>(
      `select slice_day as day, operation_id as id, encode(raw_sha256, 'hex') as sha256 from archive.orders
        where project_id = $1 and slice_day between '2026-03-01' and '2026-03-31' order by slice_day, operation_id`,
      [project],
    );
    const digest = createMonthDigest([]);
    for (const row of rows) digest.add(row);
    return digest.end().days;
  }

  // Days too great to be held by Postgres come in pieces; those of odd ids, too, for no line holds these as they are.
  test.each<[project: string, most?: number]>([['p'], ['odd'], ['p', 0]])(
    '%s: are digested as verify does it',
    async (project, most) => {
      const exportedDays = await withSnapshot(archive.db, (tx) =>
        readDayDigests(tx, 'orders', project, '2026-03', 1000, most),
      );
      expect(exportedDays.length).toBeGreaterThan(1);
      expect(exportedDays).toEqual(await expectedDays(project));
    },
  );

  test('sabotaged, an id that no line holds as it is would give another digest', async () => {
    const digests = async (of: string): Promise<(string | null)[]> => {
      const sql = `select digest from (${of}) days order by day`;
      const { rows } = await archive.db.query<{ digest: string | null }>(sql, [
        'odd',
        '2026-03-01',
        [],
      ]);
      return rows.map(({ digest }) => digest);
    };
    const sql = digestsSql('archive.orders', 'operation_id');
    const expected = await expectedDays('odd');
    const isUsual = ({ day }: DayDigest): boolean => day === '2026-03-02';
    expect(await digests(sql)).toEqual(expected.map((one) => (isUsual(one) ? one.digest : null)));
    const sabotaged = await digests(sql.replace(/not bool_or\(.*\)\n/, 'true\n'));
    expect(sabotaged).not.toContain(null);
    expect(expected.map(({ digest }, i) => digest === sabotaged[i])).toEqual(expected.map(isUsual));
  });

  const planOf = (of: ExportedTable): Promise<string> =>
    withSnapshot(archive.db, async (tx) => {
      await tx.query('set local enable_sort = off');
      const sql = partRowsSql({ of, project: 'p', month: '2026-03' }, '*');
      return JSON.stringify((await tx.query(`explain ${sql}`)).rows);
    });

  // A coordinator puts in order what its workers hand it.
  test.skipIf(isOnCluster)('a month that an index has in order is not sorted', async () => {
    const indexed = exportedTables.filter(isIndexed);
    expect(indexed.map(({ name }) => name)).toEqual(['orders', 'nft_classes']);
    for (const of of indexed) {
      expect(await planOf(of)).not.toContain('Sort');
      expect(await planOf({ ...of, order: `${of.order}, changed_at` })).toContain('Sort');
    }
  });

  test('and that is how a month and its digests are read; what no index has in order is sorted', async () => {
    await withSnapshot(archive.db, async (tx) => {
      const sorts = async (): Promise<string | undefined> =>
        (await tx.query<{ enable_sort: string }>('show enable_sort')).rows[0]?.enable_sort;
      const read = async (name: string, month: string): Promise<void> => {
        const of = exportedTables.find((one) => one.name === name);
        if (of === undefined) throw new Error(`no table ${name}`);
        const columns = [{ name: 'raw_sha256', type: 'bytea' }];
        await readContent(tx, { of, project: 'p', month }, columns, null);
      };
      await read('orders', '2026-03');
      expect(await sorts()).toBe('off');
      // The leaves of a day come in another order.
      await readDayDigests(tx, 'orders', 'p', '2026-03', 1);
      expect(await sorts()).toBe('on');
      await read('orders', '2026-03');
      await read('order_versions', '2026-03');
      expect(await sorts()).toBe('on');
    });
  });
});
