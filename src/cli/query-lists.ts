// The lists of `outlast query`: what each can be narrowed by there, and what a person is shown of it.
import type { ArchiveProblem } from '../catalogue.ts';
import { problemRowText } from '../problems.ts';
import { columnOf, type List, type Row } from '../query/lists.ts';
import { snake } from '../query/record-text.ts';
import { inForce } from '../query/reports.ts';
import type { Flat, Version } from '../query/types.ts';
import type { Fields } from '../resources.ts';
import { typeable } from './print.ts';
import type { RecordColumn, RecordTable } from './query-print.ts';

export type QueryList = Omit<List, 'shown'> & {
  /** Statuses may be typed as these words, too. */
  statusWords: Readonly<Record<number, string>>;
  shown: RecordTable<Row>;
};

export function queryList(list: List): QueryList {
  const { name, fields, shown, key, resource } = list;
  // A record is found by its id, whatever that is called; days are said with the last one included.
  const { from: _, to: __, ...filters } = list.filters;
  const options = Object.entries(filters).filter(
    ([filter]) => resource === null || !key.includes(filter),
  );
  return {
    ...list,
    filters: Object.fromEntries(options),
    statusWords: columnOf(fields, 'status')?.words ?? {},
    shown: tableOf(
      name,
      fields,
      shown,
      resource === null ? [] : [{ header: '', text: missingText }],
    ),
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
  fields,
  columns: [
    ...shown.map((field, i) => ({
      ...tableColumn(fields, field),
      // Where there is no room, the last ones go first.
      ...(i > 2 ? { spare: shown.length - i } : {}),
    })),
    ...more,
  ],
});

function tableColumn(fields: Fields, name: string): RecordColumn<Row> {
  const column = columnOf(fields, name);
  if (name === 'numbersJson') {
    return {
      header: 'what is wrong',
      text: (row) => typeable(problemRowText(row as ArchiveProblem)),
      least: 8,
    };
  }
  const { type = 'text', words, values, part, unit } = column ?? {};
  const isTime = type === 'timestamptz';
  const isNumber = ['integer', 'bigint', 'numeric'].includes(type) && words === undefined;
  const isLong = (type === 'text' || type === 'sha256') && values === undefined && column !== null;
  return {
    header:
      snake(isTime ? name.replace(/At$/, '') : name).replaceAll('_', ' ') +
      (isTime ? ' (UTC)' : unit === undefined ? '' : ` (${unit})`),
    text: (row) => {
      const value = row[name];
      if (isTime) return time(value as string | null);
      const said = words?.[Number(value ?? undefined)] ?? textOf(value);
      return column?.isSentence === true ? typeable(said) : said;
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
  fields: { ...inForce, ...fields },
  columns: [
    { header: 'in force from (UTC)', text: (one) => time(one.inForceFrom, 19) || 'never' },
    { header: 'until', text: (one) => (one.isCurrent ? 'now' : time(one.inForceUntil, 19)) },
    ...columns,
  ],
});

const missingText = ({ missingSince }: Row): string =>
  typeof missingSince === 'string' ? `missing since ${missingSince.slice(0, 10)}` : '';
