// Checking an export, and importing one. Whole, unaltered, and of a form this release knows: everything is checked
// before a database sees any of it, and each file that is not what the manifest says is named (P12). Then it is brought
// into an empty database in one transaction, and read back out of it before that is committed: what a database holds
// afterwards is the export, digest for digest, or nothing.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fatal, settingsError, transient } from '../errors.ts';
import { digestOfFile, ifThere, makeScratch } from '../files.ts';
import { analyzeNew, onlyRow, noStatementTimeout, withTx, type Db, type Tx } from '../store/db.ts';
import { readContent } from './content.ts';
import { placeIn, readFound, type FoundPart } from './existing-export.ts';
import { exportedColumnsOf, exportedTables, formatFor } from './exported-tables.ts';
import { formats, openEngineFor } from './formats.ts';
import {
  manifestName,
  sha256Of,
  sumsName,
  sumsText,
  type ExportedFile,
  type Manifest,
} from './manifest.ts';
import type { Engine } from './parquet.ts';
import { stageName } from './stage.ts';

type FoundExport = { manifest: Manifest; parts: FoundPart[] };

/** An export as it lies somewhere, with a way to its files. */
export type OpenedExport = FoundExport & {
  /** Null: there is no such file. */
  digestOf: (path: string) => Promise<{ sha256: string } | null>;
};

/**
 * Throws settings `no_export`, `export_unfinished`, `export_altered`, `export_unsafe`, `manifest_invalid`, and
 * transient `aborted`.
 */
export async function checkExport(folder: string, signal: AbortSignal): Promise<FoundExport> {
  const found = await openFolder(folder);
  const altered = await alteredIn(found, signal);
  if (altered.length > 0) {
    const more = altered.length > 10 ? `; and ${altered.length - 10} more` : '';
    throw isAltered(`${altered.slice(0, 10).join('; ')}${more}`);
  }
  return found;
}

/** Throws as `checkExport` does, but for what the files hold: nobody has looked at them yet. */
export async function openFolder(folder: string): Promise<OpenedExport> {
  if ((await readFound(folder, `${stageName}/${manifestName}`)) !== null) {
    throw settingsError(
      'export_unfinished',
      `The export in ${folder} was cut off while it was put in place: run \`outlast export\` to it once more, which finishes it.`,
    );
  }
  const read = await readFound(folder, manifestName);
  if (read === null) throw noExport(folder);
  const { manifest, text, parts } = read;
  await checkSums(folder, manifest, sha256Of(text));
  return { manifest, parts, digestOf: (path) => digestOfFile(join(folder, path)) };
}

export const noExport = (place: string): Error =>
  settingsError(
    'no_export',
    `${place} holds no whole export: there is no manifest.json. Name what \`outlast export\` wrote.`,
  );

/** What is not as the manifest says, a clause for each file. Throws transient `aborted`. */
export async function alteredIn(
  { parts, digestOf }: OpenedExport,
  signal: AbortSignal,
  onFile: (file: ExportedFile) => void = () => undefined,
): Promise<string[]> {
  const altered: string[] = [];
  for (const { file } of parts) {
    if (signal.aborted) throw transient('aborted', 'Stopped before every file was looked at.');
    const found = await digestOf(file.path);
    if (found === null) altered.push(`${file.path} is missing`);
    else if (found.sha256 !== file.sha256) altered.push(`${file.path} was altered or cut off`);
    onFile(file);
  }
  return altered;
}

/** The manifest has its own digest beside it: the rest of the files have theirs in it. */
async function checkSums(folder: string, manifest: Manifest, sha256: string): Promise<void> {
  const sums = await ifThere(readFile(await placeIn(folder, sumsName), 'utf8'));
  if (sums === null) throw isAltered(`${sumsName} is missing`);
  if (sums !== sumsText(manifest.files, sha256)) {
    throw isAltered(`manifest.json and ${sumsName} contradict each other`);
  }
}

const isAltered = (what: string): Error =>
  settingsError(
    'export_altered',
    `This export is not as it was written: ${what}. Nothing was imported. Take another copy of it.`,
  );

type Importing = {
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
  const scratch = await makeScratch('import');
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
