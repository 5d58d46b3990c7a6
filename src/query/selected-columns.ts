// What is selected to give the rows of a resource (resources.ts), spelt as their fields: from its table, or from the
// view of its contents. The rows come as pg makes them, under the names the statement gives: a query builder's mapping
// took most of a page's memory, and garbage collection made its slowest times.
import { inView, snake, type Column, type Field, type Fields } from '../resources.ts';
import type { Flat, Version } from './types.ts';

/** The column of a field that is one. */
export function columnOf(fields: Fields, name: string): Column | null {
  const field = fields[name];
  return field !== undefined && 'column' in field ? field : null;
}

/** Of its table alone. */
export const columnsNow = (fields: Fields): string =>
  selected(fields, ({ column, type }) => (type === 'sha256' ? `encode(${column}, 'hex')` : column));

/**
 * Of its table alone, as the JSON that `jsonText` makes of them; `instead`: what is said in place of a column.
 */
export const jsonNow = (fields: Fields, instead: Readonly<Record<string, string>> = {}): string => {
  const columns = Object.entries(fields).map(
    ([name, field]) => `${instead[name] ?? inJson(field)} as "${snake(name)}"`,
  );
  return `(select row_to_json(r) from (select ${columns.join(', ')}) r)`;
};

/** Exact numbers as text, times as RFC 3339 text; text is escaped, and what is JSON already kept, as there. */
function inJson(field: Field): string {
  if ('member' in field) return `raw -> '${field.member}'`;
  if ('members' in field) {
    const columns = Object.values(field.members).map(({ column }) => column);
    return `case when num_nonnulls(${columns.join(', ')}) > 0 then ${jsonNow(field.members)} end`;
  }
  const { column, type } = field;
  if (type === 'timestamptz') return timeInJson(column);
  if (type === 'bytea' || type === 'sha256') return `encode(${column}, 'hex')`;
  return type === 'bigint' || type === 'numeric' ? `${column}::text` : column;
}

/** As a time is given everywhere else: JSON has it with `+00:00`. */
export const timeInJson = (column: string): string =>
  `replace(replace(${column}::text, ' ', 'T'), '+00', 'Z')`;

/** Of a view that has them under their own names. */
export const columnsOfView = (fields: Fields, view: string): string =>
  selected(fields, ({ column }) => `${view}.${column}`);

/**
 * Of `h`, the view of its contents, and `o`, its row. What the row alone knows is the record's, whichever content is
 * asked for; only since when it was missing depends on that, and is the caller's to say: `missing` as "missingSince".
 */
export const columnsThen = (fields: Fields, observedAt = 'h.in_force_from'): string => {
  const ofContent = Object.entries(fields).filter(([name]) => name !== 'missingSince');
  const at = (column: Column): string => {
    if (column.column === 'observed_at') return observedAt;
    if (column.part === 'day') return 'h.day';
    return column.part === 'row' ? `o.${column.column}` : `h.${inView(column)}`;
  };
  return selected(Object.fromEntries(ofContent), at, 'h.');
};

/** When a content was in force, beside its columns: what `toVersion` takes. */
export const inForceColumns = `h.in_force_from as "inForceFrom", h.in_force_until as "inForceUntil",
  h.is_current as "isCurrent"`;

export const toVersion = <Item>({
  inForceFrom,
  inForceUntil,
  isCurrent,
  ...item
}: Flat<Item>): Version<Item> => ({
  item: item as unknown as Item,
  inForceFrom,
  inForceUntil,
  isCurrent,
});

const selected = (fields: Fields, at: (column: Column) => string, of = ''): string =>
  Object.entries(fields)
    .map(([name, field]) => `${expression(field, at, of)} as "${name}"`)
    .join(', ');

function expression(field: Field, at: (column: Column) => string, of: string): string {
  if ('member' in field) {
    const text = `(${of}raw -> '${field.member}')::text`;
    return field.isSet === true ? `coalesce(${text}, 'null')` : text;
  }
  if (!('members' in field)) return given(field, at(field));
  const members = Object.entries(field.members);
  const object = members.map(([name, column]) => `'${name}', ${given(column, at(column))}`);
  const columns = members.map(([, column]) => at(column));
  return `case when num_nonnulls(${columns.join(', ')}) > 0 then json_build_object(${object.join(', ')}) end`;
}

/** JavaScript would round the numbers, those in JSON too. A count comes as a number. */
function given({ type, items, isCount }: Column, at: string): string {
  if (isCount === true) return `${at}::float8`;
  return ['bigint', 'numeric', 'jsonb'].includes(type) && items === undefined ? `${at}::text` : at;
}
