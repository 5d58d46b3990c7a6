// An NFT class as the platform gives it (docs/platform.md §2.6) as the typed columns of its table.
import type { Day } from '../model.ts';
import type { ReadColumns } from '../resources.ts';
import { type Columns, type ReadFields, indexedTextOf, textOf, timeOf, wholeOf } from './fields.ts';
import type { JsonObject } from './json.ts';

/**
 * Typed columns of a class and the names of the fields that could not be read. A function of the class alone,
 * but for `askedDay`: the `slice_day` of a class whose timestamp cannot be read.
 */
export function classColumns(nftClass: JsonObject, askedDay: Day): Columns {
  const fields: ReadFields = { of: nftClass.fields, unread: [] };
  const createdAt = timeOf(fields, 'timestamp');
  const columns: ReadColumns<'nft_classes'> = {
    name: textOf(fields, 'name'),
    symbol: textOf(fields, 'symbol'),
    nft_count: wholeOf(fields, 'nft_count', 9_223_372_036_854_775_807n),
    uri: textOf(fields, 'uri'),
    owner: indexedTextOf(fields, 'owner'),
    tx_hash: indexedTextOf(fields, 'tx_hash'),
    created_at: createdAt,
    slice_day: createdAt?.slice(0, 10) ?? askedDay,
  };
  return { columns, unread: fields.unread };
}
