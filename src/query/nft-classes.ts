// Reading NFT classes: what they can be narrowed by, and their columns. Paging is record-reader.ts.
import type { Column, SQL } from 'drizzle-orm';
import type * as z from 'zod';
import type { RecordFilter } from '../catalogue.ts';
import { nftClass } from '../resources.ts';
import { sql } from '../store/orm.ts';
import { nftClasses, nftClassVersions } from '../store/schema.ts';
import { id, listOfDays, text } from './arguments.ts';
import type { Given } from './check-arguments.ts';
import { columnsNow, columnsThen } from './selected-columns.ts';
import { createRecords, type ListedSource } from './record-reader.ts';
import type { Reader } from './reader.ts';
import type { NftClass, NftClassFilters, Records } from './types.ts';

/** What classes can be narrowed by, whoever asks; the columns that this is about stand below. */
export const nftClassFilters = {
  id: id.describe('The class with this id'),
  owner: text.describe('Only what this account owns'),
  name: text.describe('A part of the name, whatever its case'),
  txHash: text.describe('Only what this transaction issued'),
} satisfies Record<RecordFilter<'nft_classes'>, z.ZodType>;
type Filters = Given<typeof nftClassFilters>;

/** Text that LIKE is to find as it stands. */
const escaped = (text: string): string => text.replace(/[\\%_]/g, String.raw`\$&`);

type Filtered = Record<'id' | 'owner' | 'name' | 'txHash', SQL | Column>;

const conditionsOn = (of: Filtered, { id, owner, name, txHash }: Filters): (SQL | undefined)[] => [
  id === undefined ? undefined : sql`${of.id} = ${id}`,
  owner === undefined ? undefined : sql`${of.owner} = ${owner}`,
  name === undefined ? undefined : sql`${of.name} ilike ${`%${escaped(name)}%`}`,
  txHash === undefined ? undefined : sql`${of.txHash} = ${txHash}`,
];

const source: ListedSource<NftClass, Filters> = {
  name: 'nftClasses',
  resource: 'nft_classes',
  table: nftClasses,
  from: nftClasses,
  columns: columnsNow(nftClass),
  id: nftClasses.id,
  arguments: listOfDays(nftClassFilters),
  versions: {
    from: nftClassVersions,
    project: nftClassVersions.project,
    id: nftClassVersions.id,
    observedAt: nftClassVersions.observedAt,
  },
  contents: {
    view: sql`analytics.nft_class_history`,
    table: sql`archive.nft_classes`,
    id: sql`id`,
    columns: columnsThen(nftClass),
    observedAt: sql`h.in_force_from`,
    tieBreak: sql`h.raw_sha256`,
    conditions: (filters) =>
      conditionsOn(
        { id: sql`h.id`, owner: sql`h.owner`, name: sql`h.name`, txHash: sql`h.tx_hash` },
        filters,
      ),
  },
  conditions: (filters) => conditionsOn(nftClasses, filters),
  idIn: ({ id }) => id,
  idOf: ({ id }) => id,
};

export const createNftClasses = (reader: Reader): Records<NftClass, NftClassFilters> =>
  createRecords(reader, source);
