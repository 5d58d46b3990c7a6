// Reading NFT classes: their columns and filters. Paging is records.ts.
import { eq, ilike, sql } from 'drizzle-orm';
import { nftClasses } from '../store/schema.ts';
import { nftClassArguments } from './arguments.ts';
import { bookkeepingColumns, bookkeepingOf, timeOrNull } from './columns.ts';
import { createRecords, type Source } from './records.ts';
import type { Reader } from './reader.ts';
import type { NftClass, NftClassFilters, Records } from './types.ts';

const columns = {
  id: nftClasses.id,
  name: nftClasses.name,
  symbol: nftClasses.symbol,
  nftCount: sql<string | null>`${nftClasses.nftCount}::text`,
  uri: nftClasses.uri,
  owner: nftClasses.owner,
  txHash: nftClasses.txHash,
  createdAt: nftClasses.createdAt,
  ...bookkeepingColumns(nftClasses),
};

type Filters = { [Name in keyof NftClassFilters]: NftClassFilters[Name] | undefined };

/** Text that LIKE is to find as it stands. */
const escaped = (text: string): string => text.replace(/[\\%_]/g, String.raw`\$&`);

const source: Source<NftClass, Filters> = {
  name: 'nftClasses',
  resource: 'nft_classes',
  table: nftClasses,
  from: nftClasses,
  id: nftClasses.id,
  arguments: nftClassArguments,
  conditions: ({ id, owner, name, txHash }) => [
    id === undefined ? undefined : eq(nftClasses.id, id),
    owner === undefined ? undefined : eq(nftClasses.owner, owner),
    name === undefined ? undefined : ilike(nftClasses.name, `%${escaped(name)}%`),
    txHash === undefined ? undefined : eq(nftClasses.txHash, txHash),
  ],
  isSingle: ({ id }) => id !== undefined,
  select: async (builder, where, order, limit, offset) => {
    const rows = await builder
      .select(columns)
      .from(nftClasses)
      .where(where)
      .orderBy(...order)
      .limit(limit)
      .offset(offset);
    return rows.map((row) => ({
      ...row,
      ...bookkeepingOf(row),
      createdAt: timeOrNull(row.createdAt),
    }));
  },
  idOf: (nftClass) => nftClass.id,
};

export const createNftClasses = (reader: Reader): Records<NftClass, NftClassFilters> =>
  createRecords(reader, source);
