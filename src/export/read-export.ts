// An import: an export brought into an empty database, in one transaction, and read back out of it before that is
// committed. What a database holds afterwards is the export, digest for digest, or nothing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fatal, settingsError, transient } from '../errors.ts';
import { analyzeNew, onlyRow, noStatementTimeout, withTx, type Db, type Tx } from '../store/db.ts';
import { checkExport, type FoundExport } from './check-export.ts';
import { readContent } from './content.ts';
import type { Engine } from './duckdb.ts';
import { formats, openEngineFor } from './formats.ts';
import type { Manifest } from './manifest.ts';
import { exportedColumnsOf, exportedTables, formatFor } from './exported-tables.ts';

export type Importing = {
  db: Db;
  folder: string;
  signal: AbortSignal;
  /** Rows brought in, of all in the export. */
  onProgress: (sofar: { file: string; rows: number; all: number }) => void;
};

/**
 * Throws settings `no_export`, `export_unfinished`, `export_altered`, `export_unsafe`, `manifest_invalid`,
 * `export_newer`, `database_not_empty`, `duckdb_missing`, fatal
 * `import_differs`, and transient `aborted`. Nothing is imported then.
 */
export async function importArchive(importing: Importing): Promise<Manifest> {
  const { db, folder, signal } = importing;
  await checkEmpty(db);
  const found = await checkExport(folder, signal);
  await checkSchema(db, found.manifest);
  const scratch = await mkdtemp(join(tmpdir(), 'outlast-import-'));
  const engine = await openEngineFor(found.manifest.file_format, scratch);
  try {
    await withTx(
      db,
      async (tx) => {
        // Whoever else would fill this database waits, or finds it filled.
        await tx.query('lock table sync.projects in share row exclusive mode');
        await checkEmpty(tx);
        await bringInAll(importing, tx, found, engine, scratch);
      },
      noStatementTimeout,
    );
    return found.manifest;
  } finally {
    engine?.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function bringInAll(
  { folder, signal, onProgress }: Importing,
  tx: Tx,
  { manifest, parts }: FoundExport,
  engine: Engine | null,
  scratch: string,
): Promise<void> {
  let rows = 0;
  const all = parts.reduce((sum, { file }) => sum + file.rows, 0);
  for (const { file, part } of parts) {
    if (signal.aborted) throw transient('aborted', 'Stopped. Nothing was imported.');
    const columns = manifest.columns[part.of.name] ?? [];
    const { bringIn } = formats[formatFor(part.of, manifest.file_format)];
    const path = join(folder, file.path);
    await bringIn(engine, tx, { of: part.of, columns, path, scratch });
    const content = await readContent(tx, part, columns, null);
    if (content.rows !== file.rows || content.sha256 !== file.content_sha256) {
      throw fatal(
        'import_differs',
        `What ${file.path} brought in is not what was exported: ${content.rows} rows of ${file.rows}, or others. Nothing was imported.`,
      );
    }
    rows += content.rows;
    onProgress({ file: file.path, rows, all });
  }
  await analyzeNew(tx);
}

/** Throws settings `database_not_empty`. */
export async function checkEmpty(db: Pick<Tx, 'query'>): Promise<void> {
  // Citus takes no list of columns with nothing in it here.
  const held = exportedTables.map(({ table }) => `exists (select 1 from ${table})`);
  const row = onlyRow(await db.query<{ held: boolean }>(`select ${held.join(' or ')} as held`));
  if (!row.held) return;
  throw settingsError(
    'database_not_empty',
    'This database holds an archive already: an import needs an empty one. Make a new database and point DATABASE_URL (or OUTLAST_DATA_DIR) at it.',
  );
}

/** Older is well: what its tables lacked takes its default. */
async function checkSchema(db: Db, manifest: Manifest): Promise<void> {
  const schema = onlyRow(
    await db.query<{ newest: string }>('select newest from analytics.schema_version'),
  );
  const columns = await exportedColumnsOf(db);
  const isKnown = Object.entries(manifest.columns).every(([name, wanted]) =>
    wanted.every((one) => columns.get(name)?.some((has) => has.name === one.name) === true),
  );
  if (manifest.schema <= Number(schema.newest) && isKnown) return;
  throw settingsError(
    'export_newer',
    'This export was written by a newer release of Outlast: import it with that release or a later one.',
  );
}
