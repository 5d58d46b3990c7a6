// One part of an export, from the rows in Postgres to a file on the disk that is noted as finished.
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digestOfFile, makeFolder, syncFile } from '../files.ts';
import { listedResources, type FileFormat } from '../model.ts';
import type { Tx } from '../store/db.ts';
import { readContent, readDayDigests, type PartContent } from './content.ts';
import type { Engine } from './duckdb.ts';
import { formats } from './formats.ts';
import type { ExportedFile } from './manifest.ts';
import type { Stage } from './stage.ts';
import { formatFor, pathOf, type ExportedColumn, type ExportPart } from './exported-tables.ts';

type Reading = {
  format: FileFormat;
  tx: Tx;
  stage: Stage;
  part: ExportPart;
  columns: ExportedColumn[];
};

/** A part's rows lie in `source`; its file has to be made of them. `file` lacks what only the file can tell. */
export type ReadPart = {
  file: ExportedFile;
  format: FileFormat;
  isKept: boolean;
  columns: ExportedColumn[];
  source: string;
  content: PartContent;
};

/** Null for a part without a row. */
export async function readPart({
  format: wanted,
  tx,
  stage,
  part,
  columns,
}: Reading): Promise<ReadPart | null> {
  const format = formatFor(part.of, wanted);
  const plainPath = pathOf(part, wanted);
  const source = join(stage.scratch, plainPath.replaceAll('/', ' '));
  await makeFolder(dirname(stage.stagedPath(plainPath)));
  const { csvHead, copyOut } = formats[format];
  const to = csvHead === null ? null : source;
  const content = await readContent(tx, part, columns, to, csvHead?.(columns));
  const path = stage.nameOf(plainPath, content.sha256);
  const kept = content.rows === 0 ? null : await stage.find(path, content.sha256);
  if (content.rows === 0 || kept !== null) {
    await rm(source, { force: true });
    return kept === null ? null : { file: kept, format, isKept: true, columns, source, content };
  }
  await copyOut?.(tx, part, columns, source);
  const resource = listedResources.find((name) => name === part.of.name);
  const days =
    resource !== undefined && part.month !== null
      ? await readDayDigests(tx, resource, part.project, part.month, content.rows)
      : undefined;
  return {
    file: {
      path,
      table: part.of.table,
      project: part.project,
      month: part.month,
      rows: content.rows,
      bytes: 0,
      sha256: '',
      content_sha256: content.sha256,
      ...(days === undefined ? {} : { days }),
    },
    format,
    isKept: false,
    columns,
    source,
    content,
  };
}

/** Makes the staged file, whole and on the disk, before it is noted: what is noted is never half there (P3). */
export async function finish(stage: Stage, engine: Engine | null, read: ReadPart): Promise<void> {
  const staged = stage.stagedPath(read.file.path);
  await formats[read.format].make(engine, read, staged);
  await syncFile(staged);
  const found = await digestOfFile(staged);
  Object.assign(read.file, found);
  await stage.note(read.file);
}
