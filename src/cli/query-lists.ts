// The lists of `outlast query`: what each can be narrowed by, how it is read of the library, the columns that matter to
// a person, and the fields that every other format has.
import type { Resource } from '../model.ts';
import type { Shape } from '../query/check-arguments.ts';
import { nftClassFilters } from '../query/nft-classes.ts';
import { orderFilters, orderStatusWords } from '../query/orders.ts';
import { tokenFilters } from '../query/tokens.ts';
import { resultStatusWords, transactionFilters } from '../query/transactions.ts';
import type {
  Archive,
  Flat,
  NftClass,
  Order,
  Records,
  Token,
  Transaction,
  Version,
} from '../query/types.ts';
import { namesOf, nftClass, order, token, transaction } from '../resources.ts';
import type { RecordTable } from './query-print.ts';

/** What is asked of a list: its days, its filters, an instant. */
export type ListQueried = { project: string; asOf?: string };

/** What a list can be narrowed by. */
export type Narrowing = {
  filters: Shape;
  /** Whether it goes by days. */
  hasDays: boolean;
  /** Statuses may be typed as these words, too. */
  statusWords?: Readonly<Record<number, string>>;
};

export type QueryList<Item> = Narrowing & {
  resource: Resource;
  summary: string;
  shown: RecordTable<Item>;
  /** How it is read; `get` and `history` of what has this id. */
  read: (archive: Archive) => {
    count(query: ListQueried): Promise<number>;
    stream(query: ListQueried): AsyncIterable<Item>;
    get(id: string, query: ListQueried): Promise<Item[]>;
    history(id: string, query: ListQueried): Promise<Version<Item>[]>;
  };
};

const byDays =
  <Item, Filters>(of: (archive: Archive) => Records<Item, Filters>): QueryList<Item>['read'] =>
  (archive) => {
    const records = of(archive);
    return {
      count: (query) => records.count(query as ListQueried & Filters),
      stream: (query) => records.stream(query as ListQueried & Filters),
      get: async (id, { project, ...at }) => {
        const item = await records.get(project, id, at);
        return item === null ? [] : [item];
      },
      history: (id, { project }) => records.history(project, id),
    };
  };

/** To the minute; of contents, which may follow each other fast, to the second. */
const time = (text: string | null, length = 16): string =>
  (text ?? '').slice(0, length).replace('T', ' ');

/** docs/platform.md §2.3: 1 is gas, 2 the business fee; others may come. */
const typeWords: Record<number, string> = { 1: 'gas', 2: 'business fee' };
const wordOf = (words: Record<number, string>, value: number | null): string =>
  value === null ? '' : (words[value] ?? String(value));

const ordersShown: RecordTable<Order> = {
  name: 'orders',
  fields: namesOf(order),
  columns: [
    { header: 'created (UTC)', text: (order) => time(order.createdAt) },
    { header: 'operation id', text: (order) => order.operationId, least: 12 },
    { header: 'status', text: (order) => wordOf(orderStatusWords, order.status) },
    { header: 'type', text: (order) => wordOf(typeWords, order.orderType) },
    { header: 'amount', text: (order) => order.amount ?? '', isNumber: true },
    { header: 'number', text: (order) => order.number ?? '', isNumber: true, spare: 2 },
    { header: 'account', text: (order) => order.account ?? '', least: 12, spare: 1 },
    { header: 'message', text: (order) => order.message ?? '', least: 8 },
    { header: '', text: missingText },
  ],
};

const nftClassesShown: RecordTable<NftClass> = {
  name: 'NFT classes',
  fields: namesOf(nftClass),
  columns: [
    { header: 'created (UTC)', text: (one) => time(one.createdAt) },
    { header: 'id', text: (one) => one.id, least: 12 },
    { header: 'name', text: (one) => one.name ?? '', least: 12 },
    { header: 'symbol', text: (one) => one.symbol ?? '', least: 6, spare: 1 },
    { header: 'NFTs', text: (one) => one.nftCount ?? '', isNumber: true },
    { header: 'owner', text: (one) => one.owner ?? '', least: 12 },
    { header: '', text: missingText },
  ],
};

const transactionsShown: RecordTable<Transaction> = {
  name: 'results',
  fields: namesOf(transaction),
  columns: [
    { header: 'confirmed (UTC)', text: (one) => time(one.confirmedAt) },
    { header: 'operation id', text: (one) => one.operationId, least: 12 },
    { header: 'lookup', text: (one) => one.apiVersion, spare: 3 },
    { header: 'status', text: (one) => wordOf(resultStatusWords, one.status) },
    { header: 'module', text: (one) => one.module ?? '', least: 6, spare: 1 },
    { header: 'type', text: (one) => one.type ?? String(one.operation ?? ''), least: 8 },
    { header: 'block', text: (one) => one.blockHeight ?? '', isNumber: true, spare: 2 },
    { header: 'transaction', text: (one) => one.txHash ?? '', least: 12 },
    { header: 'message', text: (one) => one.message ?? '', least: 8 },
    { header: '', text: missingText },
  ],
};

const feeText = (fee: Token['issueFee']): string =>
  [fee?.amount ?? '', fee?.denom ?? ''].join(' ').trim();

const tokensShown: RecordTable<Token> = {
  name: 'tokens',
  fields: namesOf(token),
  columns: [
    { header: 'symbol', text: (one) => one.symbol, least: 8 },
    { header: 'name', text: (one) => one.name ?? '', least: 8 },
    { header: 'min unit', text: (one) => one.minUnit ?? '', least: 8, spare: 3 },
    { header: 'scale', text: (one) => String(one.scale ?? ''), isNumber: true },
    { header: 'initial supply', text: (one) => one.initialSupply ?? '', isNumber: true, spare: 5 },
    { header: 'max supply', text: (one) => one.maxSupply ?? '', isNumber: true },
    {
      header: 'mintable',
      text: (one) => (one.mintable === null ? '' : one.mintable ? 'yes' : 'no'),
    },
    { header: 'owner', text: (one) => one.owner ?? '', least: 12, spare: 1 },
    { header: 'issue fee', text: (one) => feeText(one.issueFee), spare: 4 },
    { header: 'mint fee', text: (one) => feeText(one.mintFee), spare: 2 },
    { header: '', text: missingText },
  ],
};

export const ordersList: QueryList<Order> = {
  resource: 'orders',
  summary: 'list purchase orders',
  filters: orderFilters,
  hasDays: true,
  statusWords: orderStatusWords,
  shown: ordersShown,
  read: byDays((archive) => archive.orders),
};

// A class is found by its id like every other record.
const { id: _, ...nftClassOptions } = nftClassFilters;

export const nftClassesList: QueryList<NftClass> = {
  resource: 'nft_classes',
  summary: 'list NFT classes',
  filters: nftClassOptions,
  hasDays: true,
  shown: nftClassesShown,
  read: byDays((archive) => archive.nftClasses),
};

export const transactionsList: QueryList<Transaction> = {
  resource: 'transactions',
  summary: 'list results of operations',
  filters: transactionFilters,
  hasDays: false,
  statusWords: resultStatusWords,
  shown: transactionsShown,
  read: ({ transactions }) => ({
    count: (query) => transactions.count(query),
    stream: (query) => transactions.stream(query),
    get: (id, { project, ...at }) => transactions.get(project, id, at),
    history: (id, { project }) => transactions.history(project, id),
  }),
};

export const tokensList: QueryList<Token> = {
  resource: 'tokens',
  summary: 'list tokens and their fees',
  filters: tokenFilters,
  hasDays: false,
  shown: tokensShown,
  read: ({ tokens }) => ({
    count: async (query) => (await tokens.list(query)).items.length,
    stream: async function* (query) {
      yield* (await tokens.list(query)).items;
    },
    get: async (id, { project, ...at }) => {
      const token = await tokens.get(project, id, at);
      return token === null ? [] : [token];
    },
    history: (id, { project }) => tokens.history(project, id),
  }),
};

export const flat = <Item>({ item, ...when }: Version<Item>): Flat<Item> => ({ ...item, ...when });

/** The same for all contents of one record. */
export const historyShown = <Item>({
  fields,
  columns,
}: RecordTable<Item>): RecordTable<Flat<Item>> => ({
  name: 'contents',
  fields: ['inForceFrom', 'inForceUntil', 'isCurrent', ...fields],
  columns: [
    { header: 'in force from (UTC)', text: (one) => time(one.inForceFrom, 19) || 'never' },
    { header: 'until', text: (one) => (one.isCurrent ? 'now' : time(one.inForceUntil, 19)) },
    ...columns,
  ],
});

function missingText({ missingSince }: { missingSince: string | null }): string {
  return missingSince === null ? '' : `missing since ${missingSince.slice(0, 10)}`;
}
