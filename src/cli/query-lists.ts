// The lists of `outlast query`: every question of the catalogue, what it can be narrowed by, how it is read of the
// library, and what a person is shown of it.
import {
  questions,
  recordLists,
  type AnyQuestion,
  type Page,
  type QuestionName,
  type RecordQuestion,
} from '../catalogue.ts';
import type { Resource } from '../model.ts';
import type { Shape } from '../query/check-arguments.ts';
import { nftClassFilters } from '../query/nft-classes.ts';
import { orderFilters } from '../query/orders.ts';
import { everyPage, filtersOf } from '../query/questions.ts';
import { recordsOf } from '../query/record-lists.ts';
import { snake } from '../query/record-text.ts';
import { tokenFilters } from '../query/tokens.ts';
import { transactionFilters } from '../query/transactions.ts';
import type { Archive, Flat, Version } from '../query/types.ts';
import type { Field, Fields } from '../resources.ts';
import type { RecordColumn, RecordTable } from './query-print.ts';

export type Row = Record<string, unknown>;
/** What is asked of a list: its days, its filters, an instant. */
export type ListQueried = { project: string; asOf?: string } & Record<string, unknown>;

export type QueryList = {
  /** The command. */
  name: string;
  summary: string;
  filters: Shape;
  /** Whether it goes by days. */
  hasDays: boolean;
  /** Statuses may be typed as these words, too. */
  statusWords: Readonly<Record<number, string>>;
  /** Whether it is one of records: of these there are histories, reads as of an instant, and one by its id. */
  isOfRecords: boolean;
  shown: RecordTable<Row>;
  /** How it is read; `get` and `history` of the record that has this id. */
  read: (archive: Archive) => {
    count(query: ListQueried): Promise<number>;
    stream(query: ListQueried): AsyncIterable<Row>;
    get(id: string, query: ListQueried): Promise<Row[]>;
    history(id: string, query: ListQueried): Promise<Version<Row>[]>;
  };
};

// A class is found by its id like every other record.
const { id: _, ...nftClassOptions } = nftClassFilters;

const recordFilters: Record<Resource, Shape> = {
  orders: orderFilters,
  nft_classes: nftClassOptions,
  transactions: transactionFilters,
  tokens: tokenFilters,
};

export function recordList(resource: Resource): QueryList {
  const { summary, fields, shown }: RecordQuestion = recordLists[resource];
  const { status } = fields;
  return {
    name: resource,
    summary,
    filters: recordFilters[resource],
    hasDays: resource === 'orders' || resource === 'nft_classes',
    statusWords: (status !== undefined && 'column' in status ? status.words : undefined) ?? {},
    isOfRecords: true,
    shown: tableOf(resource, fields, shown, [{ header: '', text: missingText }]),
    read: (archive) => {
      const records = recordsOf(archive, resource);
      return {
        count: (query) => records.count(query),
        stream: (query) => records.stream(query),
        get: (id, { project, ...at }) => records.get(project, id, at),
        history: (id, { project }) => records.history(project, id),
      };
    },
  };
}

export function questionList(library: QuestionName): QueryList {
  const question: AnyQuestion = questions[library];
  const { summary, fields, shown, isPaged = false } = question;
  const { from, to: __, ...filters } = filtersOf(question);
  const name = snake(library);
  return {
    name,
    summary,
    filters,
    hasDays: from !== undefined,
    statusWords: {},
    isOfRecords: false,
    shown: tableOf(name, fields, shown),
    read: (archive) => {
      const list = archive[library] as unknown as (query: object) => Promise<Page<Row> | Row[]>;
      const stream = async function* (query: object): AsyncGenerator<Row> {
        if (isPaged) yield* everyPage(list as (query: object) => Promise<Page<Row>>, query);
        else yield* (await list(query)) as Row[];
      };
      return {
        stream,
        count: async (query) => {
          let count = 0;
          const rows = stream(query);
          while ((await rows.next()).done !== true) count += 1;
          return count;
        },
        get: () => Promise.resolve([]),
        history: () => Promise.resolve([]),
      };
    },
  };
}

/** What the rows of a list are called, where its name does not say it. */
const rowsAre: Readonly<Record<string, string>> = {
  nft_classes: 'NFT classes',
  transactions: 'results',
  coverage: 'days',
};

/** `resource` or question as its sentences have it; `shown` first, then what every row says. */
const tableOf = (
  name: string,
  fields: Fields,
  shown: readonly string[],
  more: RecordColumn<Row>[] = [],
): RecordTable<Row> => ({
  name: rowsAre[name] ?? name.replaceAll('_', ' '),
  fields: Object.keys(fields),
  columns: [
    ...shown.map((field, i) => ({
      ...columnOf(field, fields[field]),
      // Where there is no room, the last ones go first.
      ...(i > 2 ? { spare: shown.length - i } : {}),
    })),
    ...more,
  ],
});

function columnOf(name: string, field: Field | undefined): RecordColumn<Row> {
  const column = field !== undefined && 'column' in field ? field : null;
  const { type = 'text', words, values, part } = column ?? {};
  const isTime = type === 'timestamptz';
  const isNumber = ['integer', 'bigint', 'numeric'].includes(type) && words === undefined;
  const isLong = (type === 'text' || type === 'sha256') && values === undefined && column !== null;
  return {
    header:
      snake(isTime ? name.replace(/At$/, '') : name).replaceAll('_', ' ') +
      (isTime ? ' (UTC)' : ''),
    text: (row) => {
      const value = row[name];
      if (isTime) return time(value as string | null);
      return words?.[Number(value ?? undefined)] ?? textOf(value);
    },
    ...(isNumber ? { isNumber } : {}),
    ...(isLong ? { least: part === 'key' ? 12 : 8 } : {}),
  };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  // A list of words; or a fee, with its denomination.
  return Object.values(value).map(textOf).join(' ').trim();
}

/** To the minute; of contents, which may follow each other fast, to the second. */
const time = (text: string | null, length = 16): string =>
  (text ?? '').slice(0, length).replace('T', ' ');

export const flat = <Item>({ item, ...when }: Version<Item>): Flat<Item> => ({ ...item, ...when });

/** The same for all contents of one record. */
export const historyShown = ({ fields, columns }: RecordTable<Row>): RecordTable<Flat<Row>> => ({
  name: 'contents',
  fields: ['inForceFrom', 'inForceUntil', 'isCurrent', ...fields],
  columns: [
    { header: 'in force from (UTC)', text: (one) => time(one.inForceFrom, 19) || 'never' },
    { header: 'until', text: (one) => (one.isCurrent ? 'now' : time(one.inForceUntil, 19)) },
    ...columns,
  ],
});

const missingText = ({ missingSince }: Row): string =>
  typeof missingSince === 'string' ? `missing since ${missingSince.slice(0, 10)}` : '';
