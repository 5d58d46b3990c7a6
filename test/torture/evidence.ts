// What the checks look at: archive and ledger as of one instant, beside the platform's own record.
import pg from 'pg';
import { listedResources, type ListedResource } from '../../src/model.ts';
import type { Queryable } from '../../src/store/db.ts';
import { contentOf, type Memory } from './memory.ts';

/** The contents of each record by id. */
export type Contents = Map<string, Set<string>>;

/** What earlier checks saw in the archive; the checks bring it up to date. */
export type Keepsake = {
  contents: Record<ListedResource, Contents>;
  /** State of each slice. */
  states: Map<string, string>;
};

export type Evidence = {
  db: Queryable;
  memory: Memory;
  /** All that is held, in the tables and as versions. */
  held: Record<ListedResource, Contents>;
  /** Ids of records that were once too long to be held, and of which the beginning and the digest are. */
  setAside: Record<ListedResource, ReadonlySet<string>>;
  keepsake: Keepsake;
  /** A moment in the archive may be so far from the platform's clock: its own `Date` lied, or it moved. */
  slackMs: number;
  /**
   * Answers may show nothing for hours. What is taken for an empty day by two of them stands until the next day's
   * reading, and no longer: by the end of the world.
   */
  hasEmptyHours: boolean;
};

export const createKeepsake = (): Keepsake => ({
  contents: { orders: new Map(), nft_classes: new Map() },
  states: new Map(),
});

export const idColumn: Record<ListedResource, string> = {
  orders: 'operation_id',
  nft_classes: 'id',
};

/** So many sentences of one kind are told. */
export const toldAtMost = 5;

/** Runs `look` on everything as it is at one instant, on a connection past the wires. */
export async function withEvidence<T>(
  connectionString: string,
  given: Pick<Evidence, 'memory' | 'keepsake' | 'slackMs' | 'hasEmptyHours'>,
  look: (evidence: Evidence) => Promise<T>,
): Promise<T> {
  return withClient(connectionString, async (db) => {
    await db.query('begin isolation level repeatable read read only');
    const held = {
      orders: await heldContents(db, 'orders'),
      nft_classes: await heldContents(db, 'nft_classes'),
    };
    const setAside = await idsSetAside(db, given.memory);
    // After the archive's instant: so the platform had whatever was archived by then.
    given.memory.look();
    const result = await look({ db, held, setAside, ...given });
    await db.query('commit');
    return result;
  });
}

export async function withClient<T>(
  connectionString: string,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString });
  // A server that goes down is told by the statement in flight.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function heldContents(db: Queryable, resource: ListedResource): Promise<Contents> {
  const { rows } = await db.query<{ id: string; raw: string }>(
    resource === 'orders'
      ? `select operation_id as id, raw::text from archive.orders
         union all select operation_id, raw::text from archive.order_versions`
      : `select id, raw::text from archive.nft_classes
         union all select id, raw::text from archive.nft_class_versions`,
  );
  const held: Contents = new Map();
  for (const { id, raw } of rows) {
    const contents = held.get(id);
    if (contents === undefined) held.set(id, new Set([contentOf(raw)]));
    else contents.add(contentOf(raw));
  }
  return held;
}

/** The records of `sync.rejects` by their ids, as far as the platform sent them. */
export async function idsSetAside(
  db: Queryable,
  memory: Pick<Memory, 'tooLong'>,
): Promise<Evidence['setAside']> {
  const { rows } = await db.query<{ resource: ListedResource; sha256: string }>(
    `select resource, encode(sha256, 'hex') as sha256 from sync.rejects where whole_length is not null`,
  );
  const ids = { orders: new Set<string>(), nft_classes: new Set<string>() };
  for (const { resource, sha256 } of rows) {
    const id = memory.tooLong(sha256);
    if (id !== null) ids[resource].add(id);
  }
  return ids;
}

/** How many records are held. */
export const countHeld = ({ held }: Evidence): number =>
  listedResources.reduce((sum, resource) => sum + held[resource].size, 0);
