// The way to the database as this side sees it: TLS, and whether a pooler stands in front. Asked for by a person only.
import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { onlyRow, type Db } from './db.ts';

export type Way = {
  /** Null without TLS. */
  tls: { protocol: string; isChecked: boolean } | null;
  /** `pooler`: one that pools sessions, or transactions unseen. */
  pooler: 'none' | 'transactions' | 'pooler';
};

/** What pg keeps of a connection and does not type. */
type Wire = { connection: { stream: unknown }; processID: number | null };

/** Takes two connections of the pool for a moment. */
export async function inspectWay(db: Db): Promise<Way> {
  const [first, second] = [await db.pool.connect(), await db.pool.connect()];
  try {
    const { connection, processID } = first as unknown as Wire;
    const { stream } = connection;
    const [one, other] = [await backendOf(first), await backendOf(second)];
    // A pooler gives its clients numbers of its own; one that pools transactions gives the next one who is free.
    const seen = one === other ? 'transactions' : 'pooler';
    return {
      tls:
        stream instanceof TLSSocket
          ? { protocol: stream.getProtocol() ?? 'TLS', isChecked: stream.authorized }
          : null,
      pooler: one === processID ? 'none' : seen,
    };
  } finally {
    first.release();
    second.release();
  }
}

async function backendOf(client: pg.PoolClient): Promise<number> {
  return onlyRow(await client.query<{ pid: number }>('select pg_backend_pid() as pid')).pid;
}
