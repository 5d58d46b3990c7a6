// What the pages of records show of each resource: what its list can be asked, its telling columns, how it is read.
import type { ComponentChildren } from 'preact';
import type { ListedResource, ProjectId, Resource } from '../../../model.ts';
import { asOf, cursor, order as direction, whole } from '../../../query/arguments.ts';
import type { Shape } from '../../../query/check-arguments.ts';
import { days } from '../../../query/days.ts';
import { nftClassFilters } from '../../../query/nft-classes.ts';
import { orderFilters } from '../../../query/orders.ts';
import { tokenFilters } from '../../../query/tokens.ts';
import { transactionFilters } from '../../../query/transactions.ts';
import type {
  Archive,
  NftClass,
  Order,
  Records,
  Token,
  Transaction,
  Version,
} from '../../../query/types.ts';
import { Cut, grouped, hundredths, Time } from '../parts.tsx';
import type { View } from '../view.ts';
import type { Words } from '../words.ts';

/** What every record has. */
export type Held = {
  observedAt: string;
  missingSince: string | null;
  rawJson: string;
  rawBytes: Uint8Array | null;
};

/** A field of the form over a list: under its name in the address. */
export type Input = {
  name: string;
  label: keyof Words['records'];
  kind: 'day' | 'text' | 'instant' | 'statuses' | 'order' | 'limit';
};

export type Column<Item> = {
  head: (words: Words) => string;
  /** Numbers stand at the right; times do not break. */
  align?: 'n' | 't';
  cell: (item: Item, view: View) => ComponentChildren;
};

export type Found<Item> = { items: Item[]; next: string | null; previous: string | null };

export type RecordKind<Item extends Held> = {
  resource: Resource;
  /** The list is one of days, of which coverage is kept. */
  listed: ListedResource | null;
  idOf(item: Item): string;
  /** What its list takes, by the library's names. */
  shape: Shape;
  inputs: readonly Input[];
  /** Where nothing was said of it. */
  unlessTold: Record<string, string>;
  columns: readonly Column<Item>[];
  list(archive: Archive, query: Query): Promise<Found<Item>>;
  /** Absent: never counted. */
  count?(archive: Archive, query: Query): Promise<number>;
  /** All there is of an id, as it was at an instant. */
  getThen(archive: Archive, project: ProjectId, id: string, asOf: string): Promise<Item[]>;
  history(archive: Archive, project: ProjectId, id: string): Promise<Version<Item>[]>;
};

/** Checked: see `askedOf`. */
export type Query = { project: ProjectId } & Record<string, unknown>;

/** Fewer than the library gives: a page is to be looked at. */
const paging = { limit: whole(1, 500), cursor };
const listing = { ...days, asOf, order: direction, ...paging };
const newestFirst = { order: 'desc', limit: '50' };

const input = (
  kind: Input['kind'],
  name: string,
  label = name as keyof Words['records'],
): Input => ({ kind, name, label });

const daysInputs = [input('day', 'from'), input('day', 'to')];
const asOfInput = input('instant', 'as_of', 'asOf');
const limitInput = input('limit', 'limit');

const ofDays = <Item, Filters>(records: (archive: Archive) => Records<Item, Filters>) => ({
  unlessTold: newestFirst,
  list: (archive: Archive, query: Query) => records(archive).list(query as never),
  count: (archive: Archive, query: Query) => records(archive).count(query as never),
  history: (archive: Archive, project: ProjectId, id: string) =>
    records(archive).history(project, id),
  getThen: async (archive: Archive, project: ProjectId, id: string, asOf: string) => {
    const item = await records(archive).get(project, id, { asOf });
    return item === null ? [] : [item];
  },
});

export const orders: RecordKind<Order> = {
  resource: 'orders',
  listed: 'orders',
  idOf: ({ operationId }) => operationId,
  shape: { ...listing, ...orderFilters },
  inputs: [
    ...daysInputs,
    input('statuses', 'status'),
    input('text', 'account'),
    asOfInput,
    input('order', 'order'),
    limitInput,
  ],
  ...ofDays(({ orders }) => orders),
  columns: [
    { head: (words) => words.records.columns.madeAt, align: 't', cell: madeAt },
    {
      head: (words) => words.records.status,
      align: 't',
      cell: ({ status }, view) => <Status of={status} words={view.words.records.statuses} />,
    },
    { head: (words) => words.records.account, cell: ({ account }) => <Cut text={account} /> },
    {
      head: (words) => words.records.columns.price,
      align: 'n',
      cell: ({ amount }, { words }) =>
        amount === null ? null : `${grouped(amount)} ${words.records.units.fen}`,
    },
    {
      head: (words) => words.records.columns.credited,
      align: 'n',
      cell: ({ number, orderType }, { words }) =>
        number === null ? null : `${grouped(number)} ${unitOf(orderType, words)}`.trim(),
    },
    {
      head: (words) => words.records.columns.type,
      align: 't',
      cell: ({ orderType }, { words }) =>
        orderType === null ? null : words.figures.type(String(orderType)),
    },
  ],
};

export const nftClasses: RecordKind<NftClass> = {
  resource: 'nft_classes',
  listed: 'nft_classes',
  idOf: ({ id }) => id,
  shape: {
    ...listing,
    owner: nftClassFilters.owner,
    name: nftClassFilters.name,
    txHash: nftClassFilters.txHash,
  },
  inputs: [
    ...daysInputs,
    input('text', 'name', 'recordName'),
    input('text', 'owner'),
    input('text', 'tx_hash', 'txHash'),
    asOfInput,
    input('order', 'order'),
    limitInput,
  ],
  ...ofDays(({ nftClasses }) => nftClasses),
  columns: [
    { head: (words) => words.records.columns.madeAt, align: 't', cell: madeAt },
    { head: (words) => words.records.columns.name, cell: ({ name }) => <Cut text={name} /> },
    { head: (words) => words.records.columns.symbol, cell: ({ symbol }) => <Cut text={symbol} /> },
    { head: (words) => words.records.owner, cell: ({ owner }) => <Cut text={owner} /> },
    {
      head: (words) => words.records.columns.nfts,
      align: 'n',
      cell: ({ nftCount }) => (nftCount === null ? null : grouped(nftCount)),
    },
  ],
};

export const transactions: RecordKind<Transaction> = {
  resource: 'transactions',
  listed: null,
  idOf: ({ operationId }) => operationId,
  shape: { asOf, ...transactionFilters, ...paging },
  inputs: [input('statuses', 'status'), input('text', 'module'), asOfInput, limitInput],
  unlessTold: { limit: '50' },
  list: async (archive, query) => ({
    ...(await archive.transactions.list(query)),
    previous: null,
  }),
  getThen: (archive, project, id, asOf) => archive.transactions.get(project, id, { asOf }),
  history: (archive, project, id) => archive.transactions.history(project, id),
  columns: [
    { head: (words) => words.records.columns.lookup, cell: ({ apiVersion }) => apiVersion },
    {
      head: (words) => words.records.status,
      align: 't',
      cell: ({ status }, view) => <Status of={status} words={view.words.records.resultStatuses} />,
    },
    {
      head: (words) => words.records.module,
      cell: ({ module }) => <Cut text={module} />,
    },
    {
      head: (words) => words.records.columns.type,
      cell: ({ type, operation }) => <Cut text={type ?? operation?.toString() ?? null} />,
    },
    {
      head: (words) => words.records.columns.confirmedAt,
      align: 't',
      cell: ({ confirmedAt }) => <Time at={confirmedAt} />,
    },
    {
      head: (words) => words.records.columns.block,
      align: 'n',
      cell: ({ blockHeight }) => (blockHeight === null ? null : grouped(blockHeight)),
    },
    { head: (words) => words.records.txHash, cell: ({ txHash }) => <Cut text={txHash} /> },
  ],
};

export const tokens: RecordKind<Token> = {
  resource: 'tokens',
  listed: null,
  idOf: ({ symbol }) => symbol,
  shape: { asOf, ...tokenFilters },
  inputs: [input('text', 'owner'), asOfInput],
  unlessTold: {},
  // There are few of them: a list is given whole.
  list: async (archive, query) => ({
    items: (await archive.tokens.list(query)).items,
    next: null,
    previous: null,
  }),
  getThen: async (archive, project, id, asOf) => {
    const item = await archive.tokens.get(project, id, { asOf });
    return item === null ? [] : [item];
  },
  history: (archive, project, id) => archive.tokens.history(project, id),
  columns: [
    { head: (words) => words.records.columns.name, cell: ({ name }) => <Cut text={name} /> },
    { head: (words) => words.records.owner, cell: ({ owner }) => <Cut text={owner} /> },
    {
      head: (words) => words.records.columns.minUnit,
      align: 't',
      cell: ({ minUnit, scale }) => (
        <>
          <Cut text={minUnit} />
          {scale !== null && scale > 0 && (
            <>
              {' = 10'}
              <sup>−{scale}</sup>
            </>
          )}
        </>
      ),
    },
    {
      head: (words) => words.records.columns.initialSupply,
      align: 'n',
      cell: ({ initialSupply }) => initialSupply !== null && grouped(initialSupply),
    },
    {
      head: (words) => words.records.columns.maxSupply,
      align: 'n',
      cell: ({ maxSupply }) => maxSupply !== null && grouped(maxSupply),
    },
    {
      head: (words) => words.records.columns.mintable,
      cell: ({ mintable }, { words }) =>
        mintable !== null && words.records[mintable ? 'yes' : 'no'],
    },
    {
      head: (words) => words.records.columns.issueFee,
      align: 'n',
      cell: ({ issueFee }) => <Fee of={issueFee} />,
    },
    {
      head: (words) => words.records.columns.mintFee,
      align: 'n',
      cell: ({ mintFee }) => <Fee of={mintFee} />,
    },
  ],
};

/** Where its time cannot be read, the day it stands under. */
function madeAt({ createdAt, sliceDay }: { createdAt: string | null; sliceDay: string }) {
  return createdAt === null ? sliceDay : <Time at={createdAt} />;
}

export function Status(props: { of: number | null; words: Record<number, string> }) {
  const { of: status, words } = props;
  if (status === null) return null;
  return (
    <>
      {words[status] ?? status}
      {words[status] !== undefined && <span class="soft"> {status}</span>}
    </>
  );
}

function Fee({ of: fee }: { of: Token['issueFee'] }) {
  if (fee === null) return null;
  return (
    <>
      {fee.amount !== null && grouped(fee.amount)} <Cut text={fee.denom} />
    </>
  );
}

/** Of what was credited: docs/platform.md says it of two types. */
function unitOf(orderType: number | null, words: Words): string {
  if (orderType === 1) return 'ugas';
  return orderType === 2 ? words.records.units.fen : '';
}

/** What an exact number of a record is of, where the field alone does not say it. */
export function withUnit(name: string, value: string, item: object, words: Words): string {
  if (name === 'amount') {
    const { fen, main } = words.records.units;
    return `${grouped(value)} ${fen} = ${grouped(hundredths(value))} ${main}`;
  }
  const { orderType } = item as { orderType?: number | null };
  return name === 'number'
    ? `${grouped(value)} ${unitOf(orderType ?? null, words)}`.trim()
    : grouped(value);
}
