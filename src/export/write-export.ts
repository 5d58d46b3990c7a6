// An export: everything an archive holds, as of one instant, as files that can be read without us and brought back.
// What an earlier export in the same folder holds unchanged is kept; one that was cut off goes on.
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { settingsError, transient } from '../errors.ts';
import { digestOfFile, makeFolder, syncFile } from '../files.ts';
import {
  listedResources,
  type Day,
  type FileFormat,
  type Instant,
  type ProjectId,
} from '../model.ts';
import { noStatementTimeout, onlyRow, type Db, type Tx } from '../store/db.ts';
import { newestHead } from '../store/journal/heads.ts';
import { countsByState } from '../store/ledger.ts';
import { withSnapshot } from '../store/snapshot.ts';
import { monthDigest } from '../verify/digest.ts';
import { readContent, readDayDigests } from './content.ts';
import { checkNothingLost, checkSameArchive, checkSameJournal } from './existing-export.ts';
import {
  exportedColumnsOf,
  exportedTables,
  formatFor,
  monthsOf,
  pathOf,
  type ExportedColumn,
  type ExportPart,
} from './exported-tables.ts';
import { formats, openEngineFor } from './formats.ts';
import {
  exportFormat,
  sha256Of,
  type ExportedFile,
  type ExportedMonth,
  type Manifest,
} from './manifest.ts';
import type { Engine } from './parquet.ts';
import { onDisk, openStage, type Stage } from './stage.ts';

export type Exporting = {
  /** Runs as the writer: an export holds the ledger too, which readers do not see. */
  db: Db;
  /** A folder, or a bucket by its address. */
  to: string;
  format: FileFormat;
  projects: ProjectId[];
  now: Instant;
  /** One that was made since then will do: replicas export at the same hour. */
  unlessSince?: Instant;
  signal: AbortSignal;
  /** After each file: rows in all files so far, and how many parts are done of all. A part without rows has no file. */
  onProgress: (sofar: { file: string; rows: number; done: number; all: number }) => void;
};

export type Exported = {
  manifest: Manifest;
  written: number;
  kept: number;
  /** Of when the one is that it takes the place of; null: there was none. */
  previousAt: string | null;
};

/**
 * Throws settings `not_an_export`, `manifest_invalid`, `other_archive`, `other_format`, `export_running`,
 * `duckdb_missing`, `folder_refused`, transient `export_made`, transient `disk_full`, transient `aborted` when the signal is, and what the store
 * and the disk throw. Whatever was finished is not done again.
 */
export function exportArchive(exporting: Exporting): Promise<Exported> {
  return onDisk(exporting.to, () => exportInto(exporting, () => openStage(exporting.to)));
}

/** The same into a stage that need not lie in what is exported to. */
export function exportInto(exporting: Exporting, open: () => Promise<Stage>): Promise<Exported> {
  // A month of many millions takes as long as it takes, and so does a slow disk or bucket.
  return withSnapshot(exporting.db, (tx) => exportFrom(tx, exporting, open), noStatementTimeout);
}

async function exportFrom(
  tx: Tx,
  exporting: Exporting,
  open: () => Promise<Stage>,
): Promise<Exported> {
  // Parallel workers would make the planner read and sort the whole table for a month that an index has in order (a
  // month of 250,000 orders among 1,600,000: 15 instead of 6 µs of processor time a row).
  await tx.query('set local max_parallel_workers_per_gather = 0');
  await lockPlace(tx, exporting.to);
  const projects = await projectsOf(tx, exporting.projects);
  const stage = await open();
  checkStillDue(exporting, stage.before);
  checkSameArchive(exporting.to, stage.before, projects, exporting.format);
  await checkSameJournal(tx, exporting.to, stage.before);
  const columns = await exportedColumnsOf(tx);
  const done = await exportParts(exporting, tx, stage, columns);
  const schema = await tx.query<{ newest: string }>('select newest from analytics.schema_version');
  const manifest: Manifest = {
    format: exportFormat,
    file_format: exporting.format,
    schema: Number(onlyRow(schema).newest),
    exported_at: new Date(exporting.now).toISOString(),
    projects,
    months: await readExportedMonths(tx, exporting.projects, done.files),
    columns: Object.fromEntries(columns),
    files: done.files,
  };
  checkNothingLost(exporting.to, stage.before, manifest);
  await stage.commit(manifest);
  return {
    manifest,
    written: done.written,
    kept: done.files.length - done.written,
    previousAt: stage.before?.exported_at ?? null,
  };
}

function checkStillDue({ to, unlessSince }: Exporting, before: Manifest | null): void {
  if (unlessSince === undefined || before === null) return;
  if (Date.parse(before.exported_at) < unlessSince) return;
  throw transient('export_made', `An export to ${to} was made at ${before.exported_at}.`);
}

/** Held as long as the transaction, so that a process that dies leaves no lock behind. */
async function lockPlace(tx: Tx, place: string): Promise<void> {
  const { rows } = await tx.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('outlast export ' || $1, 0)) as locked`,
    [place],
  );
  if (rows[0]?.locked === true) return;
  throw settingsError('export_running', `Another export to ${place} is running: wait for its end.`);
}

async function projectsOf(tx: Tx, wanted: ProjectId[]): Promise<Manifest['projects']> {
  const { rows } = await tx.query<Omit<Manifest['projects'][number], 'journal'>>(
    `select project_id as project, added_at, first_day from sync.projects
      where project_id = any ($1) order by project_id`,
    [wanted],
  );
  if (rows.length === 0) {
    throw settingsError('nothing_archived', 'Nothing is archived yet: there is nothing to export.');
  }
  const projects: Manifest['projects'] = [];
  for (const row of rows) {
    const newest = await newestHead(tx, row.project);
    projects.push({ ...row, journal: newest && { no: newest.no, head: newest.head } });
  }
  return projects;
}

async function exportParts(
  exporting: Exporting,
  tx: Tx,
  stage: Stage,
  columns: Map<string, ExportedColumn[]>,
): Promise<{ files: ExportedFile[]; written: number }> {
  const engine = await openEngineFor(exporting.format, stage.scratch);
  const files: ExportedFile[] = [];
  let written = 0;
  let rows = 0;
  // While one file is made of its rows, Postgres hands out those of the next.
  let making: Promise<void> = Promise.resolve();
  try {
    const parts = await partsOf(tx, exporting.projects);
    const all = parts.length;
    for (const [done, part] of parts.entries()) {
      if (exporting.signal.aborted) {
        throw transient(
          'aborted',
          'Stopped. What is finished is kept: the next export to the same place goes on.',
        );
      }
      const ofTable = columns.get(part.of.name) ?? [];
      const read = await readPart(tx, stage, engine, part, ofTable, exporting.format);
      await making;
      if (read === null) continue;
      const { file, make } = read;
      rows += file.rows;
      exporting.onProgress({ file: file.path, rows, done: done + 1, all });
      files.push(file);
      if (make === null) continue;
      written += 1;
      making = make();
      making.catch(() => undefined);
    }
    await making;
  } finally {
    await making.catch(() => undefined);
    engine?.close();
  }
  return { files, written };
}

async function partsOf(tx: Tx, projects: ProjectId[]): Promise<ExportPart[]> {
  const parts: ExportPart[] = [];
  for (const project of projects) {
    for (const of of exportedTables) {
      const months = of.day === null ? [null] : await monthsOf(tx, of, project);
      parts.push(...months.map((month) => ({ of, project, month })));
    }
  }
  return parts;
}

/** `make`: makes the file of its rows, and says of it what only the file can tell; null: an earlier export's will do. */
type ReadPart = { file: ExportedFile; make: (() => Promise<void>) | null };

/** Null for a part without a row. */
async function readPart(
  tx: Tx,
  stage: Stage,
  engine: Engine | null,
  part: ExportPart,
  columns: ExportedColumn[],
  wanted: FileFormat,
): Promise<ReadPart | null> {
  const { csvHead, copyOut, make } = formats[formatFor(part.of, wanted)];
  const plainPath = pathOf(part, wanted);
  const source = join(stage.scratch, plainPath.replaceAll('/', ' '));
  await makeFolder(dirname(stage.stagedPath(plainPath)));
  const to = csvHead === null ? null : source;
  const content = await readContent(tx, part, columns, to, csvHead?.(columns));
  const path = stage.nameOf(plainPath, content.sha256);
  const kept = content.rows === 0 ? null : await stage.find(path, content.sha256);
  if (content.rows === 0 || kept !== null) {
    await rm(source, { force: true });
    return kept && { file: kept, make: null };
  }
  await copyOut?.(tx, part, columns, source);
  const resource = listedResources.find((name) => name === part.of.name);
  const days =
    resource !== undefined && part.month !== null
      ? await readDayDigests(tx, resource, part.project, part.month, content.rows)
      : undefined;
  const file: ExportedFile = {
    path,
    table: part.of.table,
    project: part.project,
    month: part.month,
    rows: content.rows,
    bytes: 0,
    sha256: '',
    content_sha256: content.sha256,
    ...(days === undefined ? {} : { days }),
  };
  return {
    file,
    // The staged file is whole and on the disk before it is noted: what is noted is never half there (P3).
    make: async () => {
      const staged = stage.stagedPath(path);
      await make(engine, { columns, source, content }, staged);
      await syncFile(staged);
      Object.assign(file, await digestOfFile(staged));
      await stage.note(file);
    },
  };
}

type Covered = Omit<ExportedMonth, 'records' | 'digest'> & { days: Day[] };

/** What the manifest says of each month: the digest of what is held of it, and how sure the archive is of its days. */
async function readExportedMonths(
  tx: Tx,
  projects: ProjectId[],
  files: ExportedFile[],
): Promise<ExportedMonth[]> {
  const { rows } = await tx.query<Covered>(
    `select project_id as project, resource, to_char(day, 'YYYY-MM') as month,
            array_agg(distinct day::text)                        as days,
            count(*)::int                                        as slices,
            ${countsByState()},
            (count(*) filter (where is_held))::int               as held,
            (count(*) filter (where is_settled))::int            as settled
       from analytics.coverage
      where project_id = any ($1)
      group by 1, 2, 3
      order by 1, 2, 3`,
    [projects],
  );
  return rows.map(({ days, ...covered }) => {
    const file = files.find(
      ({ project, path, month }) =>
        project === covered.project &&
        month === covered.month &&
        path.startsWith(`${project}/${covered.resource}/`),
    );
    const held = new Map((file?.days ?? []).map((day) => [day.day, day]));
    // Days that are accounted for count although they have no record.
    const kept = [...new Set([...days, ...held.keys()])]
      .toSorted()
      .map((day) => held.get(day) ?? { day, records: 0, digest: sha256Of('') });
    return {
      ...covered,
      records: kept.reduce((sum, { records }) => sum + records, 0),
      digest: monthDigest(kept),
    };
  });
}
