// The records of the four resources in one form, for doors that treat all alike.
import type { ProjectId, Resource } from '../model.ts';
import type { Archive, Records, Version } from './types.ts';

/** What the resource's own list takes, which checks it. */
export type RecordQuery = { project: ProjectId } & Record<string, unknown>;

/** What every record has. */
export type Held = {
  observedAt: string;
  missingSince: string | null;
  rawJson: string;
  rawBytes: Uint8Array | null;
};

export type FoundRecords = {
  items: Held[];
  /** Absent: the list is given whole. */
  next?: string | null;
  /** Absent: it is read forwards only. */
  previous?: string | null;
  /** Of tokens: when the newest look was taken, and at which height. */
  takenAt?: string | null;
  height?: string | null;
};

export type RecordList = {
  list(query: RecordQuery): Promise<FoundRecords>;
  count(query: RecordQuery): Promise<number>;
  stream(query: RecordQuery): AsyncIterable<Held>;
  /** Of an operation there may be two: one of each lookup. */
  get(project: ProjectId, id: string, at?: { asOf?: string }): Promise<Held[]>;
  history(project: ProjectId, id: string): Promise<Version<Held>[]>;
};

export function recordsOf(archive: Archive, resource: Resource): RecordList {
  const { orders, nftClasses, transactions, tokens } = archive;
  const lists: Record<Resource, RecordList> = {
    orders: ofDays(orders),
    nft_classes: ofDays(nftClasses),
    transactions,
    tokens: {
      ...tokens,
      count: async (query) => (await tokens.list(query)).items.length,
      stream: async function* (query) {
        yield* (await tokens.list(query)).items;
      },
      get: async (...of) => asList(await tokens.get(...of)),
    },
  };
  return lists[resource];
}

const ofDays = <Item extends Held, Filters>(records: Records<Item, Filters>): RecordList => ({
  list: (query) => records.list(query as never),
  count: (query) => records.count(query as never),
  stream: (query) => records.stream(query as never),
  get: async (...of) => asList(await records.get(...of)),
  history: (...of) => records.history(...of),
});

const asList = <Item>(item: Item | null): Item[] => (item === null ? [] : [item]);
