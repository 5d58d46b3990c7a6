// A list as of an instant, and what records said, whenever they said it: the contents of the analytics.…_history views
// as items. A list goes over the rows of now in their order, and takes of each the content of then: so a page costs the
// same at any depth, and however much the archive has grown since.
import {
  runQuery,
  conditionsOn,
  countIn,
  listed,
  type RecordQuery,
  type Bind,
  type Position,
  type RecordReader,
  type RecordSource,
} from './record-sql.ts';
import {
  columnOf,
  columnsNow,
  columnsThen,
  inForceColumns,
  toVersion,
} from './selected-columns.ts';
import type { Flat, Version } from './types.ts';

type AsOfQuery = RecordQuery & { asOf: string };

/** The contents `h` of records and their rows `o`, some columns of them: see `fromContents`. */
const contentColumns = ({ resource, fields }: RecordSource): string =>
  columnsThen(fields, ...(resource === 'orders' ? ['h.observed_at'] : []));

/** Of results: those of both lookups, or of the lookup that `other` is of. */
const ofLookup = ({ shapes }: RecordSource, row: string, other?: string): string => {
  const [{ fixed }] = shapes;
  if (fixed === undefined) return '';
  const lookups = shapes.map((shape) => `'${shape.fixed?.[1]}'`).join(', ');
  return ` and ${row}.${fixed[0]} ${other === undefined ? `in (${lookups})` : `= ${other}.${fixed[0]}`}`;
};

/**
 * Record by record, each found by its key: `offset 0` keeps the view a query of its own, so that it reads one record
 * and not all, whatever the statistics say (on a table not yet analysed a join took 2.4 s for 1,000 records instead of
 * 0.1).
 */
function fromContents(source: RecordSource, project: string, ids: string[], bind: Bind): string {
  const [{ table, key }] = source.shapes;
  return `
    from unnest(${bind(ids)}::text[]) wanted (id),
         lateral (select * from ${source.view} h
                   where h.project_id = ${bind(project)}${ofLookup(source, 'h')} and h.${key} = wanted.id offset 0) h,
         lateral (select first_seen_at, changed_at, missing_since from ${table} o
                   where o.project_id = ${bind(project)}${ofLookup(source, 'o', 'h')} and o.${key} = wanted.id offset 0) o`;
}

/** A condition on `h`. Two contents observed at once: the first was in force for no time at all (P2). */
const inForceAt = (asOf: string, bind: Bind): string =>
  `h.in_force_from <= ${bind(asOf)}::timestamptz and (h.in_force_until is null or h.in_force_until > ${bind(asOf)}::timestamptz)`;

/** All contents of a record, oldest first; of each lookup for itself. */
export async function historyOf<Item extends object>(
  source: RecordReader,
  project: string,
  id: string,
): Promise<Version<Item>[]> {
  const [{ fixed, precedence }] = source.shapes;
  // What decides between two contents observed at once stands behind (P2).
  const order = [
    ...(fixed === undefined ? [] : [`h.${fixed[0]}`]),
    source.resource === 'orders' ? 'h.observed_at' : 'h.in_force_from',
    'h.is_current',
    ...precedence,
    'h.raw_sha256',
  ];
  const rows = await runQuery<Flat<Item>>(
    source,
    (bind) => `
    select ${contentColumns(source)}, case when h.is_current then o.missing_since end as "missingSince", ${inForceColumns}
    ${fromContents(source, project, [id], bind)}
     order by ${order.join(', ')}`,
  );
  return rows.map(toVersion<Item>);
}

/**
 * `reached` is where the reading stopped, null at the end: there may be more behind it even where nothing was found.
 */
export type FoundRecords<Item> = {
  found: { item: Item; key: Position }[];
  reached: Position | null;
};

/** Rows looked at for one page: at most so many times, and so many at once unless more were asked for. */
const roundsAtMost = 6;
const rowsAtOnce = 2000;

/**
 * Up to `wanted` records after a position; fewer where so little matches that looking for more would take too long. The
 * reading is bounded, so that a page costs no more where little matches (P9).
 */
export async function recordsAsOf<Item extends object>(
  source: RecordReader,
  asked: AsOfQuery,
  { after, wanted }: { after: Position | null; wanted: number },
): Promise<FoundRecords<Item>> {
  const found: FoundRecords<Item>['found'] = [];
  let reached = after;
  for (let round = 0; round < roundsAtMost && found.length < wanted; round++) {
    const missing = wanted - found.length;
    // Where most match, the first look finds them all; where few do, the looks become wide.
    const atMost = Math.max(missing, Math.min(rowsAtOnce, wanted * 4 ** round));
    const rows = await scan(source, asked, reached, atMost);
    const matching = rows.filter((row) => row.matches).slice(0, missing);
    const keys = matching.map(({ key }) => key);
    const contents = await contentsThen<Item>(source, asked, keys);
    for (const key of keys) {
      const item = contents.get(nameOf(source, key));
      if (item !== undefined) found.push({ item, key });
    }
    // Matching rows that were not wanted any more are looked at again by the next page.
    const last = matching.length === missing ? matching.at(-1) : rows.at(-1);
    if (rows.length < atMost && last === rows.at(-1)) return { found, reached: null };
    if (last !== undefined) reached = last.key;
  }
  return { found, reached };
}

/** What names a record among those of its project, of an item or of its position. */
const nameOf = ({ key }: RecordSource, of: object): string =>
  key.map((name) => (of as Position)[name]).join(' ');

/**
 * What was in force of some records and matches, by name. Of most it is the row itself, which costs less than a history;
 * those that changed since, also between the two statements, have it in their histories.
 */
async function contentsThen<Item extends object>(
  source: RecordReader,
  asked: AsOfQuery,
  positions: Position[],
): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  const take = (item: Item): unknown => found.set(nameOf(source, item), item);
  const { project, asOf } = asked;
  const [{ table, key }] = source.shapes;
  const idsOf = (some: Position[]): string[] => [
    ...new Set(some.map((position) => position[source.key[0]] ?? '')),
  ];
  if (positions.length === 0) return found;
  const unchanged = await runQuery<Item & { missingSince: string | null }>(source, (bind) => {
    const conditions = conditionsOn(source, asked, 'o', bind);
    return `
      select ${columnsNow(source.fields)} from ${table} o
       where ${[`o.project_id = ${bind(project)}${ofLookup(source, 'o')}`, `o.${key} = any (${bind(idsOf(positions))}::text[])`, `o.observed_at <= ${bind(asOf)}::timestamptz`, ...conditions].join(' and ')}`;
  });
  for (const item of unchanged) {
    // Without the `Z` instants compare as text, as `readInstant` and Postgres write them.
    const isMissing =
      item.missingSince !== null && item.missingSince.slice(0, -1) <= asOf.slice(0, -1);
    take(isMissing ? item : { ...item, missingSince: null });
  }
  const others = positions.filter((position) => !found.has(nameOf(source, position)));
  if (others.length === 0) return found;
  (await contentsAt<Item>(source, asked, idsOf(others))).forEach(take);
  return found;
}

/** The contents in force of some records that match, of results by lookup. */
export const contentsAt = <Item extends object>(
  source: RecordReader,
  asked: AsOfQuery,
  ids: string[],
): Promise<Item[]> =>
  runQuery(source, (bind) => {
    const { project, asOf } = asked;
    const conditions = [inForceAt(asOf, bind), ...conditionsOn(source, asked, 'h', bind)];
    const [{ fixed }] = source.shapes;
    return `
      select ${contentColumns(source)},
             case when o.missing_since <= ${bind(asOf)}::timestamptz then o.missing_since end as "missingSince"
      ${fromContents(source, project, ids, bind)}
       where ${conditions.join(' and ')}
       ${fixed === undefined ? '' : `order by h.${fixed[0]}`}`;
  });

/**
 * The next rows of now, and whether each may have matched: a content observed by then is the one of then, and the
 * filters decide; of one that changed since, its earlier contents will.
 */
async function scan(
  source: RecordReader,
  asked: AsOfQuery,
  after: Position | null,
  atMost: number,
): Promise<{ key: Position; matches: boolean }[]> {
  const fields = source.goesBy.map(
    (name) => `o.${columnOf(source.fields, name)?.column} as "${name}"`,
  );
  const rows = await listed<Record<string, string | null> & { matches: boolean }>(source, asked, {
    after,
    atMost,
    columns: (bind) => `${fields.join(', ')}, ${mayMatch(source, asked, bind)} as matches`,
    conditions: (bind) => conditionsOnKey(source, asked, bind),
  });
  return rows.map(({ matches, ...key }) => ({ key, matches }));
}

/** An id is the same in every content: it finds the row. */
function conditionsOnKey(source: RecordSource, asked: RecordQuery, bind: Bind): string[] {
  const [id] = source.key;
  return conditionsOn(source, { project: asked.project, [id]: asked[id] }, 'o', bind);
}

function mayMatch(source: RecordSource, asked: AsOfQuery, bind: Bind): string {
  const [{ versions, key }] = source.shapes;
  const matches = conditionsOn(source, asked, 'o', bind).join(' and ') || 'true';
  // One look by key for each row. As `exists` the planner may hash every version of the archive instead.
  return `(case when o.observed_at <= ${bind(asked.asOf)}::timestamptz then ${matches}
                else coalesce((select true from ${versions} v
                                where v.project_id = ${bind(asked.project)}${ofLookup(source, 'v', 'o')} and v.${key} = o.${key}
                                  and v.observed_at <= ${bind(asked.asOf)}::timestamptz limit 1), false) end)`;
}

/** How many records `recordsAsOf` finds in all. */
export const countAsOf = (source: RecordReader, asked: AsOfQuery): Promise<number> =>
  countIn(source, asked, (where, bind) => {
    const [{ table, key, fixed }] = source.shapes;
    const names = [key, ...(fixed === undefined ? [] : [fixed[0]])].map((name) => `o.${name}`);
    const rows = [...where, ...conditionsOnKey(source, asked, bind), mayMatch(source, asked, bind)];
    const then = [inForceAt(asked.asOf, bind), ...conditionsOn(source, asked, 'h', bind)];
    return `
      (select count(*)
         from (select ${names.join(', ')}, o.observed_at > ${bind(asked.asOf)}::timestamptz as is_later
                 from ${table} o where ${rows.join(' and ')}) o
        where not o.is_later
           or (select true from ${source.view} h
                where h.project_id = ${bind(asked.project)}${ofLookup(source, 'h', 'o')} and h.${key} = o.${key}
                  and ${then.join(' and ')} limit 1))`;
  });
