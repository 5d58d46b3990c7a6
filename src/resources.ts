// What a record of each resource consists of, and how many are asked for in a page. Each field is said once, here. What
// the library gives, JSON and CSV with their order, the schemas of HTTP, the tables and what is selected of them follow;
// the comments in the database are held to it (test/analytics/dictionary.pg.test.ts). What reads a field off the wire is
// platform/.
import { apiVersions, type Day, type ListedResource, type Resource } from './model.ts';

/** How a column is typed in Postgres, and what the library gives of it: exact numbers, times and JSON as text. */
type Given = {
  text: string;
  integer: number;
  bigint: string;
  numeric: string;
  boolean: boolean;
  timestamptz: string;
  date: Day;
  jsonb: string;
  bytea: Uint8Array;
  /** SHA-256: bytea in its table, lower-case hex wherever it is given. */
  sha256: string;
  'text[]': string[];
};
export type ColumnType = keyof Given;

/**
 * What a column is of. `key`: of what names the record. `record`: follows from what the platform said. `observed`: was
 * noted beside it. `day`: the day it stands under. `content`: kept of every content. `row`: of the record as a whole.
 * Versions have the key, the record and the content.
 */
export type ColumnPart = 'key' | 'record' | 'observed' | 'day' | 'content' | 'row';

export type Column = {
  column: string;
  type: ColumnType;
  meaning: string;
  part: ColumnPart;
  /** Not null. Columns of the key never are. */
  isSet?: true;
  /** Left out where it was not asked for. */
  isOptional?: true;
  /** The unit, where every door but the table has it in the name: `amount_fen`. */
  unit?: string;
  /** The only values there are. */
  values?: readonly string[];
  /** They stand in their rank, by which a list is ordered that has no pages. */
  isRanked?: true;
  /** What its numbers mean, where they are known; a person may say the words. */
  words?: Readonly<Record<number, string>>;
  /** Text that the archive wrote itself, in English. */
  isSentence?: true;
  /** A bigint that counts something: far below 2^53, and given as a number. */
  isCount?: true;
  /** Of jsonb that is a list of objects: what each has. */
  items?: Readonly<Record<string, Column>>;
};

/** Fields given as one object; of columns it is null where all of them are. */
export type Group = {
  members: Readonly<Record<string, Column>>;
  meaning?: string;
  /** Never null. */
  isSet?: true;
};

/** A member of the record as JSON text: no column. Where it is always given, JSON's `null` stands for none. */
export type Member = { member: string; meaning: string; isSet?: true };

export type Field = Column | Group | Member;
/** By the library's names, in the order of JSON and CSV, which is a promise to whoever loads them: see `snake`. */
export type Fields = Readonly<Record<string, Field>>;

const of =
  <const Type extends ColumnType, const In extends ColumnPart>(type: Type, part: In) =>
  <const Name extends string, const Meaning extends string>(column: Name, meaning: Meaning) =>
    ({ column, type, meaning, part }) as const;

const key = of('text', 'key');
const text = of('text', 'record');
const integer = of('integer', 'record');
const bigint = of('bigint', 'record');
const numeric = of('numeric', 'record');
const time = of('timestamptz', 'record');
const json = of('jsonb', 'record');

const set = <const Of extends Column>(column: Of) => ({ ...column, isSet: true }) as const;

export const project = { projectId: key('project_id', 'The project') };

const day = {
  sliceDay: set(
    of('date', 'day')(
      'slice_day',
      'The day whose list showed it: the UTC day of created_at if that was one of them, else the last one',
    ),
  ),
};

const timeOfRow = of('timestamptz', 'row');
/** What every record carries beside what the platform said. */
const bookkeeping = {
  observedAt: set(
    of('timestamptz', 'content')(
      'observed_at',
      "When this content was first seen, on the platform's clock",
    ),
  ),
  firstSeenAt: set(
    timeOfRow(
      'first_seen_at',
      "When the record was first seen here, whatever it said then, on the platform's clock",
    ),
  ),
  changedAt: set(
    timeOfRow(
      'changed_at',
      "When the row last changed: the mark for incremental readers, on the platform's clock",
    ),
  ),
  missingSince: timeOfRow(
    'missing_since',
    'Since when the platform no longer shows it although its month is in the window; null while it does',
  ),
  unread: set(
    of('text[]', 'content')(
      'unread',
      'Known fields that could not be read: they are null here and as they came in raw',
    ),
  ),
  rawSha256: set(
    of('sha256', 'content')(
      'raw_sha256',
      'SHA-256 of its canonical JSON; change is detected by it',
    ),
  ),
  rawBytes: of('bytea', 'content')(
    'raw_bytes',
    'Its original bytes, only where jsonb could not hold it; null otherwise',
  ),
  rawJson: set(
    of('jsonb', 'content')('raw', 'The record as the platform gave it, equal as a JSON value'),
  ),
};

/** A purchase order (docs/platform.md §2.3). What the platform did not give is null. */
export const order = {
  ...project,
  operationId: key('operation_id', "The order's id, unique within its project"),
  status: {
    ...integer(
      'status',
      "The platform's number: 1 pending, 2 succeeded, 3 failed; null where it could not be read",
    ),
    words: { 1: 'pending', 2: 'succeeded', 3: 'failed' },
  },
  message: text('message', 'What the platform said of a failure'),
  account: text(
    'account',
    'The account that was credited; null where the platform shows none, as for orders of a batch purchase',
  ),
  amountFen: {
    ...numeric(
      'amount',
      'The price in fen (1/100 of the currency unit); null where the platform shows none or it could not be read',
    ),
    unit: 'fen',
  },
  number: numeric(
    'number',
    'What was credited, in the unit that order_type implies: ugas for 1, fen for 2; not documented for others',
  ),
  createdAt: time('created_at', 'When the order was made, by the platform'),
  updatedAt: time('updated_at', 'When the order was last worked on, by the platform'),
  orderType: {
    ...integer('order_type', '1 gas, 2 business fee; others may come'),
    words: { 1: 'gas', 2: 'business fee' },
  },
  ...day,
  ...bookkeeping,
} as const;

/** An NFT class (docs/platform.md §2.6). What the platform did not give is null. */
export const nftClass = {
  ...project,
  id: key('id', "The class's id"),
  name: text('name', 'Its name; not unique'),
  symbol: text('symbol', 'Its symbol; may be empty'),
  nftCount: bigint(
    'nft_count',
    'How many NFTs it had when this was seen; not refreshed after its month has left the window',
  ),
  uri: text('uri', 'Its address; may be empty'),
  owner: text('owner', 'Its owner when this was seen'),
  txHash: text('tx_hash', 'The transaction that made it'),
  createdAt: time('created_at', 'When the class was made, by the platform'),
  ...day,
  ...bookkeeping,
} as const;

/** The result of an operation by one of the two lookups (docs/platform.md §2.5). What it did not give is null. */
export const transaction = {
  ...project,
  operationId: key('operation_id', "The operation's id, unique within its project"),
  apiVersion: {
    ...key('api_version', 'The lookup that gave it: v1beta1 or v3'),
    values: apiVersions,
  },
  module: text('module', 'The module, as v1beta1 names it and v3 numbers it'),
  type: text('type', 'The kind of operation, as v1beta1 names it; null from v3'),
  operation: integer(
    'operation',
    "The operation's number, as v3 gives it; published lists disagree on names; null from v1beta1",
  ),
  txHash: text('tx_hash', "The transaction's hash"),
  status: {
    ...integer(
      'status',
      "The platform's number: 0 processing, 1 succeeded, 2 failed, 3 still waiting; others may come",
    ),
    words: { 0: 'processing', 1: 'succeeded', 2: 'failed', 3: 'unprocessed' },
  },
  message: text('message', 'What the platform said of a failure'),
  blockHeight: bigint('block_height', 'The block it stands in'),
  confirmedAt: time('confirmed_at', 'When it was confirmed, by the platform'),
  nftJson: json('nft', 'What it did to an NFT; null where it did not'),
  mtJson: json('mt', 'What it did to multi-tokens; null where it did not'),
  recordJson: json('record', 'What it recorded; null where it did not'),
  ...bookkeeping,
} as const;

/** A token and its fees (docs/platform.md §2.1, §2.2). Zero values that the node left out are zero. */
export const token = {
  ...project,
  symbol: key('symbol', "The token's symbol"),
  name: text('name', 'Its name'),
  minUnit: text('min_unit', 'Denomination of its smallest unit'),
  scale: integer('scale', 'One main unit is 10^scale smallest units'),
  initialSupply: numeric('initial_supply', 'Supply at its issue, in main units'),
  maxSupply: numeric('max_supply', 'Greatest supply, in main units'),
  mintable: of('boolean', 'record')('mintable', 'Whether more can be minted'),
  owner: text('owner', 'Its owner when this was seen'),
  issueFee: {
    members: {
      denom: text('issue_fee_denom', 'Denomination of the fee for its issue'),
      amount: numeric('issue_fee_amount', 'The fee for its issue, in its denomination'),
    },
  },
  mintFee: {
    members: {
      denom: text('mint_fee_denom', 'Denomination of the fee for minting'),
      amount: numeric('mint_fee_amount', 'The fee for minting, in its denomination'),
    },
  },
  height: of('bigint', 'observed')(
    'height',
    'The block at which the content held now was first seen; null for an earlier one',
  ),
  tokenJson: { member: 'token', meaning: "The node's own element of its list", isSet: true },
  feesJson: { member: 'fees', meaning: "The node's own answer about fees" },
  ...bookkeeping,
} as const;

export const fieldsOf = {
  orders: order,
  nft_classes: nftClass,
  transactions: transaction,
  tokens: token,
} as const satisfies Record<Resource, Fields>;

type Value<Of> = Of extends { members: infer Members }
  ? RecordOf<Members> | (Of extends { isSet: true } ? never : null)
  : Of extends { isSet: true } | { part: 'key' }
    ? Plain<Of>
    : Plain<Of> | null;
type Plain<Of> = Of extends { items: infer Items }
  ? RecordOf<Items>[]
  : Of extends { values: readonly (infer One)[] }
    ? Of extends { type: 'text[]' }
      ? One[]
      : One
    : Of extends { isCount: true }
      ? number
      : Of extends { type: infer Type extends ColumnType }
        ? Given[Type]
        : string;

/** A record as the library gives it. */
export type RecordOf<Of> = { -readonly [Name in keyof Of]: Value<Of[Name]> };

/** What every record of a list carries beside the platform's own fields. */
export type Bookkeeping = RecordOf<typeof project & typeof day & typeof bookkeeping>;

/** The columns of fields, those of groups one by one. */
type ColumnsIn<Of> = {
  [Name in keyof Of]: Of[Name] extends { members: infer Members }
    ? Members[keyof Members]
    : Of[Name];
}[keyof Of];

type ReadColumn<Of> = Extract<ColumnsIn<Of>, { column: string; part: 'record' | 'day' }>;

/** What reading a record must give: the typed columns that follow from it, by their names in the table. */
export type ReadColumns<Of extends Resource> = {
  [One in ReadColumn<(typeof fieldsOf)[Of]> as One['column']]: Value<One>;
};

const names = new Map<string, string>();

/**
 * `rawJson` is the column `raw`: the other names differ in their spelling only. Asked for every field of every record,
 * so it is kept.
 */
export function snake(field: string): string {
  const known = names.get(field);
  if (known !== undefined) return known;
  const name = field
    .replace(/Json$/, '')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  names.set(field, name);
  return name;
}

/** The columns of fields, in their order. */
export const columnsOf = (fields: Fields): Column[] =>
  Object.values(fields).flatMap((field) =>
    'members' in field ? Object.values(field.members) : 'column' in field ? [field] : [],
  );

/** A column's name in the views: with its unit. */
export const inView = ({ column, unit }: Column): string =>
  unit === undefined ? column : `${column}_${unit}`;

/**
 * Records asked for in a page: the documented maximum first (docs/platform.md §8), then what is tried where it is
 * refused. Public clients know 50 for classes.
 */
export const pageLimits = {
  orders: [50, 20, 10],
  nft_classes: [200, 50, 10],
} as const satisfies Record<ListedResource, readonly number[]>;
