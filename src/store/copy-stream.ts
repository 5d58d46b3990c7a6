// COPY of any amount as bytes, out of the database and into it, in constant memory: the slower side sets the pace.
// What the bytes say is the caller's business. copy.ts is the door for records that a page showed. pg-copy-streams is
// not used: when the server refuses a row while more are on their way, its stream reaches for a connection it has let
// go of, and the process dies of it.
import pg from 'pg';
import type { Tx } from './db.ts';

/** Handed on at once: each piece is a turn of the event loop, and two of a thread where it is written to a file. */
const pieceBytes = 1024 * 1024;
/** Bytes handed to the socket and not taken yet: a commit's records are below it, a file is not. */
const waitsAbove = 1024 * 1024;

/** What pg's connection can do for a COPY; its types leave it out. */
type CopyConnection = pg.Connection & {
  sendCopyFromChunk(piece: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(why: string): void;
};

export type CopiedOut = {
  rows: number;
  bytes: number;
  /** Length of the longest row in bytes. */
  longest: number;
};

/**
 * Runs a `copy … to stdout` and hands its bytes on, whole rows at a time, in order. A piece belongs to the taker until
 * its promise is settled. Where taking one fails, the rest is read and dropped and that failure is thrown.
 */
export function copyOut(
  tx: Tx,
  sql: string,
  onPiece: (piece: Buffer) => Promise<void> | void,
): Promise<CopiedOut> {
  return new Promise((resolve, reject) => {
    const copied: CopiedOut = { rows: 0, bytes: 0, longest: 0 };
    // Filled again and again: new ones would have the garbage collector look for old ones all the time.
    const spare: Buffer<ArrayBuffer>[] = [];
    let piece: Buffer<ArrayBuffer> | null = null;
    let filled = 0;
    let taking = Promise.resolve();
    let untaken = 0;
    let failure: Error | undefined;
    let stream: NodeJS.ReadableStream | undefined;
    const take = async (whole: Buffer): Promise<void> => {
      try {
        if (failure === undefined) await onPiece(whole);
      } catch (error) {
        failure = error as Error;
      }
    };
    const handOn = (full: Buffer<ArrayBuffer>): void => {
      const whole = full.subarray(0, filled);
      piece = null;
      filled = 0;
      untaken += 1;
      stream?.pause();
      const before = taking;
      taking = (async () => {
        await before;
        await take(whole);
        untaken -= 1;
        if (full.length === pieceBytes) spare.push(full);
        // Also after the last piece: the connection is used again.
        if (untaken === 0) stream?.resume();
      })();
    };
    submit(tx, sql, {
      // The message's bytes lie in the parser's buffer, which is used again: they are copied at once.
      handleCopyData: ({ chunk }: { chunk: Buffer }, connection: pg.Connection) => {
        stream = connection.stream;
        if (piece !== null && filled + chunk.length > piece.length) handOn(piece);
        piece ??=
          chunk.length > pieceBytes
            ? Buffer.allocUnsafe(chunk.length)
            : (spare.pop() ?? Buffer.allocUnsafe(pieceBytes));
        filled += chunk.copy(piece, filled);
        copied.bytes += chunk.length;
        copied.longest = Math.max(copied.longest, chunk.length);
      },
      handleCommandComplete: (message: { text: string }) => {
        copied.rows = rowsCopied(message);
      },
      handleReadyForQuery: () => {
        if (piece !== null) handOn(piece);
        void taking.then(() => (failure === undefined ? resolve(copied) : reject(failure)));
      },
      handleError: reject,
    });
  });
}

/**
 * Gives pg what answers the messages of a COPY, and what is sent right behind it. As a query of its own make, for in its
 * pipeline mode pg takes no others, which might leave a portal open; a COPY does not.
 */
function submit(
  tx: Tx,
  sql: string,
  handlers: Record<string, unknown>,
  behind: (connection: CopyConnection) => void = () => undefined,
): void {
  const submitted = {
    submit: (connection: CopyConnection) => {
      connection.query(sql);
      behind(connection);
    },
  };
  // `withTx`, the only maker of a Tx, makes it of a client of pg's.
  const client = tx as unknown as pg.ClientBase;
  client.query(Object.assign(new pg.Query({ text: sql }), submitted, handlers));
}

/**
 * Runs a `copy … from stdin` with rows that are at hand and returns how many there were. They are sent at once, so that
 * other statements may be sent behind them: what Postgres does not take any more it drops (the protocol's "COPY
 * Operations"). Throws what Postgres says of a row; the transaction must then be rolled back.
 */
export async function copyAtOnce(tx: Tx, sql: string, pieces: Iterable<Buffer>): Promise<number> {
  try {
    return await sendAtOnce(tx, sql, [...pieces]);
  } catch (error) {
    // PgBouncer 1.24 and 1.25 wait for an answer to a CopyDone that passes behind the error, and keep the connection
    // from its pool, until something behind it is refused as well (its pull request 1470).
    await tx.query('select 1').catch(() => undefined);
    throw error;
  }
}

const sendAtOnce = (tx: Tx, sql: string, pieces: Buffer[]): Promise<number> =>
  new Promise((resolve, reject) => {
    let rows = 0;
    submit(
      tx,
      sql,
      {
        handleCopyInResponse: () => undefined,
        handleCommandComplete: (message: { text: string }) => (rows = rowsCopied(message)),
        handleReadyForQuery: () => resolve(rows),
        handleError: reject,
      },
      (connection) => {
        for (const piece of pieces) connection.sendCopyFromChunk(piece);
        connection.endCopyFrom();
      },
    );
  });

const rowsCopied = ({ text }: { text: string }): number => Number(/^COPY (\d+)$/.exec(text)?.[1]);

/**
 * The same with bytes of any length, read as fast as Postgres takes them: nothing else may be sent meanwhile. Throws
 * also what their source throws.
 */
export function copyFrom(tx: Tx, sql: string, pieces: AsyncIterable<Buffer>): Promise<number> {
  return new Promise((resolve, reject) => {
    let rows = 0;
    let isOver = false;
    const send = async (connection: CopyConnection): Promise<void> => {
      try {
        for await (const piece of pieces) {
          if (isOver) return;
          connection.sendCopyFromChunk(piece);
          const { stream } = connection;
          if (stream.writableLength > waitsAbove && !stream.destroyed) await drained(stream);
        }
        if (!isOver) connection.endCopyFrom();
      } catch (error) {
        reject(error);
        if (!isOver) connection.sendCopyFail('the client has no more rows');
      }
    };
    submit(tx, sql, {
      handleCopyInResponse: (connection: CopyConnection) => void send(connection),
      handleCommandComplete: (message: { text: string }) => (rows = rowsCopied(message)),
      handleReadyForQuery: () => resolve(rows),
      handleError: (error: Error) => {
        isOver = true;
        reject(error);
      },
    });
  });
}

/** The socket takes more, or is gone: then the query fails by itself. */
function drained(stream: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      stream.off('drain', go);
      stream.off('close', go);
      resolve();
    };
    stream.on('drain', go);
    stream.on('close', go);
  });
}
