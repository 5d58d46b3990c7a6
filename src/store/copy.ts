// COPY of records that are all expected to be new: the fastest way into a table, and the easiest on this process,
// for the verbatim record needs no quoting. It knows no conflict: an id that is held ends it with 23505.
import type pg from 'pg';
import type { ColumnValue, ObservedRecord, ProjectId } from '../model.ts';
import type { Tx } from './db.ts';
import type { TableShape } from './tables.ts';

/** Characters handed to the socket at once: far below where V8 and pg would keep buffers of their own for it. */
const pieceLength = 64 * 1024;

/**
 * Copies records, distinct by id, into their table; `now` is what changed_at says. Returns how many. Throws what
 * Postgres throws, 23505 where one is held already: the transaction must then be rolled back.
 */
export function copyRecords(
  tx: Tx,
  shape: TableShape,
  projectId: ProjectId,
  records: ObservedRecord[],
  now: string,
): Promise<number> {
  const names = shape.columns.map(([name]) => name);
  const sql = `copy ${shape.table} (project_id, ${shape.key}, ${names.join(', ')}, raw, raw_bytes, raw_sha256,
    unread, observed_at, first_seen_at, changed_at) from stdin`;
  return copyIn(tx, sql, pieces(names, projectId, sorted(records), now));
}

/** In the byte order of the keys, as every statement that locks keys, or overlapping writers deadlock. */
function sorted(records: ObservedRecord[]): ObservedRecord[] {
  // UTF-16 and UTF-8 order differ only where there are surrogates: then the bytes are compared.
  const isPlain = !records.some(({ record }) => /[\ud800-\udfff]/.test(record.id));
  const compare = isPlain
    ? (a: string, b: string): number => (a < b ? -1 : 1)
    : (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  return records.toSorted((a, b) => compare(a.record.id, b.record.id));
}

/** The rows in COPY's text format, made piece by piece while Postgres reads the ones before. */
function* pieces(
  names: string[],
  projectId: ProjectId,
  records: ObservedRecord[],
  now: string,
): Generator<Buffer> {
  let text = '';
  let at = Number.NaN;
  let atText = '';
  for (const { record, observedAt } of records) {
    // A page's records share their moment.
    if (observedAt !== at) [at, atText] = [observedAt, new Date(observedAt).toISOString()];
    text += `${projectId}\t${field(record.id)}`;
    for (const name of names) text += `\t${field(record.columns[name] ?? null)}`;
    const bytes = record.rawBytes === null ? '\\N' : `\\\\x${record.rawBytes.toString('hex')}`;
    text += `\t${field(record.rawJson)}\t${bytes}\t\\\\x${record.rawSha256}`;
    text += `\t${record.unread.length === 0 ? '{}' : field(arrayText(record.unread))}`;
    text += `\t${atText}\t${atText}\t${now}\n`;
    if (text.length >= pieceLength) {
      yield Buffer.from(text, 'utf8');
      text = '';
    }
  }
  yield Buffer.from(text, 'utf8');
}

const special = /[\\\t\n\r]/;
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function field(value: ColumnValue): string {
  if (value === null) return '\\N';
  const text = String(value);
  return special.test(text)
    ? text.replaceAll(/[\\\t\n\r]/g, (mark) => escapes[mark] ?? mark)
    : text;
}

const arrayText = (items: string[]): string =>
  `{${items.map((item) => `"${item.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** What pg's connection can do for a COPY; its types leave it out. */
type CopyConnection = pg.Connection & {
  sendCopyFromChunk(piece: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(why: string): void;
};

/**
 * One COPY on the transaction's connection. pg-copy-streams is not used: when the server refuses a row while more are
 * on their way, its stream reaches for a connection it has let go of, and the process dies of it.
 */
function copyIn(tx: Tx, sql: string, data: Iterable<Buffer>): Promise<number> {
  return new Promise((resolve, reject) => {
    let rows = 0;
    const copying: pg.Submittable & Record<string, unknown> = {
      submit: (connection: pg.Connection) => connection.query(sql),
      handleCopyInResponse: (connection: CopyConnection) => {
        try {
          for (const piece of data) connection.sendCopyFromChunk(piece);
          connection.endCopyFrom();
        } catch (error) {
          reject(error instanceof Error ? error : new Error('COPY has no data', { cause: error }));
          connection.sendCopyFail('the client has no more rows');
        }
      },
      handleCommandComplete: (message: { text: string }) => {
        rows = Number(/^COPY (\d+)$/.exec(message.text)?.[1]);
      },
      handleReadyForQuery: () => resolve(rows),
      handleError: reject,
    };
    // `withTx`, the only maker of a Tx, makes it of a client of pg's.
    (tx as unknown as pg.ClientBase).query(copying);
  });
}
