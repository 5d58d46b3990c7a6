// The SQL of records, the same for all four resources: where a list goes on, in which order, what it is narrowed by, and
// its rows as they are now. What they were at an instant is as-of.ts.
import { addDays } from '../day.ts';
import type { Day, ProjectId, Resource } from '../model.ts';
import { fieldsOf, inView, type Fields } from '../resources.ts';
import type { Queryable } from '../store/db.ts';
import { archivedOf, shapeOf, type TableShape } from '../store/record-tables.ts';
import { columnOf, columnsNow } from './selected-columns.ts';
import { recordsHeld } from './summary.ts';

/** A query's half-open range, direction and instant, checked; its filters stand beside them, by the names of fields. */
export type RecordQuery = {
  project: ProjectId;
  from?: Day | undefined;
  to?: Day | undefined;
  order?: 'asc' | 'desc' | undefined;
  /** As `readInstant` writes it. */
  asOf?: string | undefined;
  /** Leaves out what was first seen later. */
  seenBy?: string;
  [filter: string]: unknown;
};

/** Where a record stands in its list, by the fields that this goes by: the list goes on after it. */
export type Position = Readonly<Record<string, string | null>>;

/** How the records of a resource are found. */
export type RecordSource = {
  resource: Resource;
  fields: Fields;
  /** The table; of results, its part for each lookup: they lie one after the other in the index. */
  shapes: readonly [TableShape, ...TableShape[]];
  /** All contents: see migrations/0005_history.sql. */
  view: string;
  /** The fields by which the list goes, as the index has them. A time that cannot be read stands last in its day. */
  goesBy: readonly string[];
  /** The fields that name a record in its project, the id first. */
  key: readonly [string, ...string[]];
};

/** The same of an archive. */
export type RecordReader = RecordSource & { reader: Queryable };

function sourceOf(resource: Resource): RecordSource {
  const fields: Fields = fieldsOf[resource];
  const key = Object.keys(fields).filter(
    (name) => name !== 'projectId' && columnOf(fields, name)?.part === 'key',
  ) as [string];
  const shapes = archivedOf('', resource).map(shapeOf) as [TableShape];
  return {
    resource,
    fields,
    shapes,
    view: shapes[0].versions.replace(/^archive\.(\w+)_versions$/, 'analytics.$1_history'),
    goesBy: 'sliceDay' in fields ? ['sliceDay', 'createdAt', ...key] : key,
    key,
  };
}

export const sources: Readonly<Record<Resource, RecordSource>> = {
  orders: sourceOf('orders'),
  nft_classes: sourceOf('nft_classes'),
  transactions: sourceOf('transactions'),
  tokens: sourceOf('tokens'),
};

export const hasDays = ({ fields }: RecordSource): boolean => 'sliceDay' in fields;

const columnNamed = ({ fields }: RecordSource, name: string): string =>
  columnOf(fields, name)?.column ?? '';

/** Takes a value as a parameter of the statement, and gives its place there: `$1`. */
export type Bind = (value: unknown) => string;

export async function runQuery<Row extends object>(
  { reader }: RecordReader,
  statement: (bind: Bind) => string,
): Promise<Row[]> {
  const parameters: unknown[] = [];
  const text = statement((value) => `$${parameters.push(value)}`);
  const { rows } = await reader.query(text, parameters);
  return rows as Row[];
}

/** Conditions on the rows `o` of a table, or on the contents `h` of a view. */
export const conditionsOn = (
  source: RecordSource,
  asked: RecordQuery,
  row: 'o' | 'h',
  bind: Bind,
): string[] =>
  Object.entries(asked).flatMap(([name, value]) => {
    const column = columnOf(source.fields, name);
    if (column === null || value === undefined) return [];
    const of = `${row}.${row === 'h' ? inView(column) : column.column}`;
    if (name === 'name') return `${of} ilike ${bind(`%${escaped(value as string)}%`)}`;
    if (!Array.isArray(value)) return `${of} = ${bind(value)}`;
    // A single status as an equation: only that lets the index of pending orders serve.
    return value.length === 1 ? `${of} = ${bind(value[0])}` : `${of} = any (${bind(value)}::int[])`;
  });

/** Text that LIKE is to find as it stands. */
const escaped = (text: string): string => text.replace(/[\\%_]/g, String.raw`\$&`);

/** As the index spells it: any other spelling would sort the whole list. */
const sortedBy = (source: RecordSource, name: string, column: string): string =>
  columnOf(source.fields, name)?.type === 'timestamptz'
    ? `coalesce(${column}, 'infinity'::timestamptz)`
    : column;

const orderOf = (
  source: RecordSource,
  { order }: RecordQuery,
  columnAs: (name: string) => string,
) =>
  `order by ${source.goesBy.map((name) => `${sortedBy(source, name, columnAs(name))} ${order ?? 'asc'}`).join(', ')}`;

/** A stretch of the list that one index scan reads, as conditions on its rows `o`. */
type Part = (bind: Bind) => string[];

/** The list after a position in parts, each in its order; a position may lie in any of them. */
const partsOf = (source: RecordSource, asked: RecordQuery, after: Position | null): Part[] =>
  hasDays(source) ? partsOfDays(source, asked, after) : partsByKey(source, after);

const partsByKey = ({ shapes, key: [id, lookup = ''] }: RecordSource, after: Position | null) =>
  shapes.map(({ key, fixed }): Part => (bind) => {
    const isOpen = fixed !== undefined && fixed[1] > (after?.[lookup] ?? '');
    return [
      ...(fixed === undefined ? [] : [`o.${fixed[0]} = '${fixed[1]}'`]),
      ...(after === null ? [] : [`o.${key} ${isOpen ? '>=' : '>'} ${bind(after[id])}`]),
    ];
  });

/**
 * As of an instant in two: up to the day under which records of then can stand, and days beyond, which hold only what
 * changed its day. A part that the position has passed is done; one that it has not reached begins at its own bound.
 */
function partsOfDays(source: RecordSource, asked: RecordQuery, after: Position | null): Part[] {
  const { from, to, order, asOf } = asked;
  const beyond = asOf === undefined ? null : dayBeyond(asOf);
  if (beyond === null || (to !== undefined && to < beyond)) {
    return [partOfDays(source, asked, after)];
  }
  const isAscending = order !== 'desc';
  const isAfterBeyond = after !== null && (after['sliceDay'] ?? '') >= beyond;
  const parts: Part[] = [];
  if (!isAscending || !isAfterBeyond) {
    parts.push(partOfDays(source, { ...asked, to: beyond }, isAfterBeyond ? null : after));
  }
  if (isAscending || after === null || isAfterBeyond) {
    const rest = { ...asked, from: from !== undefined && from > beyond ? from : beyond };
    const part = partOfDays(source, rest, isAfterBeyond ? after : null);
    // As the index `…_ahead` has it (store/schema.ts, `isAhead`).
    const isAhead = `o.slice_day > (o.first_seen_at at time zone 'UTC')::date + 1`;
    parts.push((bind) => [...part(bind), isAhead]);
  }
  return parts;
}

/**
 * The position takes the place of the day bound on its own side: with both, the index scan may start at the bound and
 * read its way to the position, page by page more (90,000 rows deep, descending, on Postgres 18: 939 blocks instead of
 * 12).
 */
const partOfDays =
  (source: RecordSource, { from, to, order, seenBy }: RecordQuery, after: Position | null): Part =>
  (bind) => {
    const isAscending = order !== 'desc';
    const parts: string[] = [];
    if (from !== undefined && !(after !== null && isAscending)) {
      parts.push(`o.slice_day >= ${bind(from)}`);
    }
    if (to !== undefined && !(after !== null && !isAscending)) {
      parts.push(`o.slice_day < ${bind(to)}`);
    }
    if (after !== null) {
      const columns = source.goesBy.map((name) =>
        sortedBy(source, name, `o.${columnNamed(source, name)}`),
      );
      const values = source.goesBy.map(
        (name) => `${bind(after[name] ?? 'infinity')}::${columnOf(source.fields, name)?.type}`,
      );
      parts.push(`(${columns.join(', ')}) ${isAscending ? '>' : '<'} (${values.join(', ')})`);
    }
    if (seenBy !== undefined) parts.push(`o.first_seen_at <= ${bind(seenBy)}`);
    return parts;
  };

/**
 * The first day under which nothing stood at an instant of what stands there now, but for what is found by its own
 * index (store/schema.ts, `isAhead`): two days for contents that were seen before their record was entered, which leases
 * allow for minutes only, one for zones, one because bounds are half-open. Null: there is no such day.
 */
function dayBeyond(instant: string): Day | null {
  const day = instant.slice(0, 10);
  return day > '9999-12-27' ? null : addDays(day, 4);
}

/** What is read of the rows `o` of a list. */
type Listing = {
  after: Position | null;
  atMost: number;
  offset?: number | undefined;
  /** What is selected of each; the fields that the list goes by are among it. */
  columns: (bind: Bind) => string;
  conditions: (bind: Bind) => string[];
};

/** Rows of now in the order of the list. */
export const listed = <Row extends object>(
  source: RecordReader,
  asked: RecordQuery,
  { after, atMost, offset = 0, columns, conditions }: Listing,
): Promise<Row[]> => {
  const parts = partsOf(source, asked, after);
  if (parts.length === 0) return Promise.resolve([]);
  return runQuery(source, (bind) => {
    const limit = `limit ${bind(atMost)}${offset === 0 ? '' : ` offset ${bind(offset)}`}`;
    const inOrder = orderOf(source, asked, (name) => `o.${columnNamed(source, name)}`);
    const statements = parts.map(
      (part) => `
      select ${columns(bind)}
        from ${source.shapes[0].table} o
       where ${[ofProject('o', asked, bind), ...part(bind), ...conditions(bind)].join(' and ')}
       ${isOfOne(source, asked) ? '' : inOrder} ${limit}`,
    );
    if (statements.length === 1) return statements.join('');
    return `
      select * from (${statements.map((one) => `(${one})`).join(' union all ')}) o
       ${orderOf(source, asked, (name) => `"${name}"`)} ${limit}`;
  });
};

const ofProject = (row: string, { project }: RecordQuery, bind: Bind): string =>
  `${row}.project_id = ${bind(project)}`;

/** One that is named by its id: nothing is ordered then, so that its key finds it. */
const isOfOne = ({ key: [id] }: RecordSource, asked: RecordQuery): boolean =>
  asked[id] !== undefined;

/** The records of now. */
export const recordsNow = <Item extends object>(
  source: RecordReader,
  asked: RecordQuery,
  range: Pick<Listing, 'after' | 'atMost' | 'offset'>,
): Promise<Item[]> =>
  listed(source, asked, {
    ...range,
    columns: () => columnsNow(source.fields),
    conditions: (bind) => conditionsOn(source, asked, 'o', bind),
  });

/** `rows`: how many there are in a part of the list, of the rows `o` that its conditions choose. */
export async function countIn(
  source: RecordReader,
  asked: RecordQuery,
  rows: (where: string[], bind: Bind) => string,
): Promise<number> {
  const [row] = await runQuery<{ matching: string }>(source, (bind) => {
    const counts = partsOf(source, asked, null).map((part) =>
      rows([ofProject('o', asked, bind), ...part(bind)], bind),
    );
    return `select (${counts.join(' + ')})::text as matching`;
  });
  return Number(row?.matching ?? 0);
}

export async function countNow(source: RecordReader, asked: RecordQuery): Promise<number> {
  const { resource } = source;
  const { project, order: _, ...narrowed } = asked;
  const isWhole = Object.values(narrowed).every((value) => value === undefined);
  if (isWhole && (resource === 'orders' || resource === 'nft_classes')) {
    const [row] = await runQuery<{ matching: string }>(
      source,
      (bind) => `select (${recordsHeld(resource, bind(project))})::text as matching`,
    );
    return Number(row?.matching);
  }
  return countIn(source, asked, (where, bind) => {
    const all = [...where, ...conditionsOn(source, asked, 'o', bind)];
    return `(select count(*) from ${source.shapes[0].table} o where ${all.join(' and ')})`;
  });
}
