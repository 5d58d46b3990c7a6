// Every question of the catalogue, asked by one statement that is made of its declaration.
import * as z from 'zod';
import {
  questions,
  type AnyQuestion,
  type Page,
  type Lists,
  type RejectWithBytes,
} from '../catalogue.ts';
import type { Resource } from '../model.ts';
import { snake, type Column } from '../resources.ts';
import {
  days,
  month,
  oneOf,
  paging,
  parseArguments,
  project,
  resource,
  sha256,
  text,
} from './arguments.ts';
import { optional, type Shape } from './check-arguments.ts';
import { columnsOfView } from './selected-columns.ts';
import { cursorText, fingerprintOf, readCursorText, unbounded, type Key } from './cursor.ts';
import type { Queryable } from '../store/db.ts';

export const createLists = (reader: Queryable): Lists =>
  Object.fromEntries(
    Object.entries(questions).map(([name, question]) => [name, createList(reader, name, question)]),
  ) as Lists;

/** What a question can be narrowed by, whoever asks. */
export const filtersOf = ({ fields, filters }: AnyQuestion): Shape =>
  Object.fromEntries(
    filters.flatMap((name): [string, z.ZodType][] =>
      name === 'days' ? Object.entries(days) : [[name, filterOf(name, fields[name])]],
    ),
  );

function filterOf(name: string, { values, type, meaning = '' }: Partial<Column> = {}): z.ZodType {
  if (name === 'month') return month;
  const kind = values !== undefined ? oneOf(values) : type === 'sha256' ? sha256 : text;
  const said = `Only of this ${snake(name).replaceAll('_', ' ')}`;
  // Of a word it says what each of them means.
  return kind.describe(values === undefined ? said : `${said}. ${meaning}`);
}

type Checked = { project: string; [filter: string]: string };

function createList(reader: Queryable, name: string, question: AnyQuestion) {
  const { fields, isPaged = false } = question;
  const schema = z.strictObject({
    project,
    ...optional(filtersOf(question)),
    ...(isPaged ? paging : {}),
  });
  const keys = keysOf(question);
  return async (given: unknown): Promise<unknown> => {
    const { limit, cursor, ...query } = parseArguments(name, schema, given) as unknown as Checked;
    if (!isPaged) return rowsOf(reader, question, query);
    const fingerprint = fingerprintOf(snake(name), query);
    const columns = keys.map((key) => fields[key] as Column);
    const after = cursor === undefined ? null : readCursorText(cursor, fingerprint, columns).key;
    // One row more than asked for tells whether there is another page.
    const most = Number(limit);
    const rows = await rowsOf(reader, question, query, { after, atMost: most + 1 });
    const last = rows.length > most ? rows[most - 1] : undefined;
    const key = keys.map((one) => last?.[one] ?? unbounded);
    return {
      items: rows.slice(0, most),
      next: last === undefined ? null : cursorText(fingerprint, 'after', key),
    };
  };
}

const keysOf = ({ order }: AnyQuestion): string[] => order.map((key) => key.replace('-', ''));

/** A column as it is sorted by: text by its bytes. */
function sorted({ column, type, isSet, values = [], isRanked }: Column): string {
  if (isRanked === true) return `array_position('{${values.join(',')}}', q.${column})`;
  if (type === 'text' || type === 'sha256') return `q.${column} collate "C"`;
  return isSet === true ? `q.${column}` : `coalesce(q.${column}, '${unbounded}')`;
}

async function rowsOf(
  reader: Queryable,
  { view, fields, filters, order }: AnyQuestion,
  query: Checked,
  page?: { after: Key | null; atMost: number },
): Promise<Record<string, string | null>[]> {
  const parameters: unknown[] = [];
  const given = (value: unknown): string => `$${parameters.push(value)}`;
  const where = [`q.project_id = ${given(query.project)}`];
  const { from, to } = query;
  for (const name of filters) {
    const value = query[name];
    if (value === undefined) continue;
    where.push(`q.${snake(name)} = ${given(name === 'month' ? `${value}-01` : value)}`);
  }
  if (from !== undefined) where.push(`q.day >= ${given(from)}`);
  if (to !== undefined) where.push(`q.day < ${given(to)}`);
  const terms = order.map((key) => {
    const column = fields[key.replace('-', '')] as Column;
    return { by: sorted(column), isDescending: key.startsWith('-') };
  });
  const { after = null, atMost } = page ?? {};
  if (after !== null) {
    const isBefore = terms.every(({ isDescending }) => isDescending);
    where.push(
      `(${terms.map(({ by }) => by).join(', ')}) ${isBefore ? '<' : '>'} (${after.map(given).join(', ')})`,
    );
  }
  const { rows } = await reader.query<Record<string, string | null>>(
    `select ${columnsOfView(fields, 'q')}
       from ${view} q
      where ${where.join(' and ')}
      order by ${terms.map(({ by, isDescending }) => `${by}${isDescending ? ' desc' : ''}`).join(', ')}
      ${atMost === undefined ? '' : `limit ${given(atMost)}`}`,
    parameters,
  );
  return rows;
}

/** Ends: cursors only go forward, and `next` is null at the end (P9). */
export async function* everyPage<Item, Query extends object>(
  list: (query: Query & { limit: number; cursor?: string }) => Promise<Page<Item>>,
  query: Query,
): AsyncGenerator<Item> {
  let cursor: string | null = null;
  do {
    const { items, next }: Page<Item> = await list({
      ...query,
      limit: 1000,
      ...(cursor === null ? {} : { cursor }),
    });
    yield* items;
    cursor = next;
  } while (cursor !== null);
}

const rejectArguments = z.strictObject({
  project,
  resource,
  sha256: z.preprocess((hex) => (typeof hex === 'string' ? hex.toLowerCase() : hex), sha256),
});

/** One reject with its bytes; its digest is hex in either case. */
export async function getReject(
  reader: Queryable,
  of: string,
  list: Resource,
  digest: string,
): Promise<RejectWithBytes | null> {
  const given = { project: of, resource: list, sha256: digest };
  const key = parseArguments('reject', rejectArguments, given);
  const { rows } = await reader.query<RejectWithBytes>(
    `select ${columnsOfView(questions.rejects.fields, 'q')}, bytes
       from analytics.rejects q where project_id = $1 and resource = $2 and sha256 = $3`,
    [key.project, key.resource, key.sha256],
  );
  return rows[0] ?? null;
}
