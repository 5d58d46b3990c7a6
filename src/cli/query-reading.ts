// What `outlast query` reads of the library for each kind of record: how many match, all that match, or one with its history.
import type { Archive, ListScope, Records, Token, Transaction, Version } from '../query/types.ts';
import type { Filters, FiltersOf } from './query-filters.ts';
import type { Shown } from './query-table.ts';
import { nftClassesShown, ordersShown, tokensShown, transactionsShown } from './query-shown.ts';

export type Reading<Item> = {
  shown: Shown<Item>;
  count: () => Promise<number>;
  items: () => Promise<AsyncIterable<Item> | Item[]>;
  /** Of what is named by its id. */
  history: (id: string) => Promise<Version<Item>[]>;
};

export type Reads<Item, Given> = (
  archive: Archive,
  scope: ListScope,
  filters: Filters<Given>,
) => Reading<Item>;

const listed =
  <Item, Given>(
    of: (archive: Archive) => Records<Item, Given>,
    shown: Shown<Item>,
  ): Reads<Item, Given> =>
  (archive, scope, { id, rest }) => {
    const records = of(archive);
    const one = async (): Promise<Item[]> => {
      const item = id === null ? null : await records.get(scope.project, id, momentOf(scope));
      return item === null ? [] : [item];
    };
    const found = { ...scope, ...rest };
    return {
      shown,
      count: async () => (id === null ? records.count(found) : (await one()).length),
      items: async () => (id === null ? records.stream(found) : one()),
      history: (of) => records.history(scope.project, of),
    };
  };

const momentOf = ({ asOf }: ListScope): { asOf?: string } => (asOf === undefined ? {} : { asOf });

export const readOrders = listed((archive) => archive.orders, ordersShown);
export const readNftClasses = listed((archive) => archive.nftClasses, nftClassesShown);

export const readTransactions: Reads<Transaction, FiltersOf['transactions']> = (
  { transactions },
  scope,
  { id, rest },
) => {
  const { project } = scope;
  const found = { project, ...momentOf(scope), ...rest };
  const one = (of: string): Promise<Transaction[]> =>
    transactions.get(project, of, momentOf(scope));
  return {
    shown: transactionsShown,
    count: async () => (id === null ? transactions.count(found) : (await one(id)).length),
    items: async () => (id === null ? transactions.stream(found) : one(id)),
    history: (of) => transactions.history(project, of),
  };
};

export const readTokens: Reads<Token, FiltersOf['tokens']> = ({ tokens }, scope, { id, rest }) => {
  const { project } = scope;
  const items = async (): Promise<Token[]> => {
    if (id === null) return (await tokens.list({ project, ...momentOf(scope), ...rest })).items;
    const token = await tokens.get(project, id, momentOf(scope));
    return token === null ? [] : [token];
  };
  return {
    shown: tokensShown,
    count: async () => (await items()).length,
    items,
    history: (of) => tokens.history(project, of),
  };
};
