// An export is the archive, and an import is the export: digest for digest, in every format, whatever the records say.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileFormats, type FileFormat } from '../../src/model.ts';
import { importArchive } from '../../src/export/read-export.ts';
import { exportedColumnsOf, exportedTables, leftOut } from '../../src/export/exported-tables.ts';
import { exportArchive, type Exported } from '../../src/export/write-export.ts';
import type { Db } from '../../src/store/db.ts';
import { createCertified, observe, type Certified } from '../support/certified.ts';
import { fresh, makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { openEmpty } from '../support/opened.ts';
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
  select 'odd', 'op ' || n || E' \t"\'',  n, message, left(message, 100), amount, -amount, t, null, null, coalesce(t, '2026-03-01')::date,
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
