// A record's content: each field with its value, unit and meaning, and the record as the platform gave it.
import type { ComponentChildren } from 'preact';
import { parseJson, type Json } from '../../../platform/json.ts';
import { snake } from '../../../query/record-text.ts';
import { fieldsOf, type Column, type Field } from '../../../resources.ts';
import { laidOut, readRaw } from '../json-text.ts';
import { Time } from '../parts.tsx';
import { linkTo, type View } from '../view.ts';
import { Status, withUnit, type Held, type RecordKind } from './record-kinds.tsx';

/** The lookup that gave it; '' for what no lookup gives. */
export const lookupOf = (item: object): string =>
  'apiVersion' in item ? String(item.apiVersion) : '';

export function Content<Item extends Held>(props: {
  view: View;
  kind: RecordKind<Item>;
  item: Item;
}) {
  const { view, kind, item } = props;
  const { words } = view;
  const lookup = lookupOf(item);
  const rows = Object.entries<Field>(fieldsOf[kind.resource]).flatMap(([name, field]) =>
    valuesOf(name, field, item as Record<string, unknown>),
  );
  const isSaid = ({ column: { part } }: Row): boolean => part === 'key' || part === 'record';
  return (
    <>
      {item.missingSince !== null && (
        <p class="notice">
          {words.record.missing(
            `${item.missingSince.slice(0, 10)} ${item.missingSince.slice(11, 19)}`,
          )}
        </p>
      )}
      <div class="two">
        <section>
          <h2>
            {words.record.fields}
            {lookup !== '' && ` (${lookup})`}
          </h2>
          <Fields view={view} kind={kind} item={item} rows={rows.filter(isSaid)} />
        </section>
        <section>
          <h2>{words.record.noted}</h2>
          <Fields view={view} kind={kind} item={item} rows={rows.filter((row) => !isSaid(row))} />
        </section>
      </div>
      <h2>{words.record.raw}</h2>
      <Raw view={view} value={readRaw(item)} />
    </>
  );
}

/** Characters of a record that are shown: most have a thousandth of them. */
const mostCharacters = 200_000;

export function Raw({ view, value }: { view: View; value: Json }) {
  const { words, format } = view;
  const text = laidOut(value);
  const hidden = text.length - mostCharacters;
  return (
    <>
      <pre tabIndex={0} role="region" aria-label={words.record.raw}>
        {text.slice(0, mostCharacters)}
      </pre>
      {hidden > 0 && <p class="soft">{words.record.moreCharacters(format.number(hidden))}</p>}
    </>
  );
}

function Fields<Item extends Held>(props: {
  view: View;
  kind: RecordKind<Item>;
  item: Item;
  rows: readonly Row[];
}) {
  const { view, kind, item, rows } = props;
  return (
    <dl class="facts fields">
      {rows.map(({ name, column, value }) => (
        <>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            {value === null || value === undefined ? (
              <span class="soft">{view.words.none}</span>
            ) : (
              <Value view={view} kind={kind} column={column} value={value} item={item} />
            )}
            <small lang="en">{column.meaning}</small>
          </dd>
        </>
      ))}
    </dl>
  );
}

type Row = { name: string; column: Column; value: unknown };

/** The project is the page's own; `raw`, and what is a part of it, follows below. */
function valuesOf(name: string, field: Field, item: Record<string, unknown>): Row[] {
  if ('member' in field || name === 'project' || name === 'rawJson') return [];
  if (!('members' in field)) return [{ name: snake(name), column: field, value: item[name] }];
  const group = item[name] as Record<string, unknown> | null;
  return Object.entries(field.members).map(([member, column]) => ({
    name: column.column,
    column,
    value: group?.[member] ?? null,
  }));
}

/** From so many characters on a value scrolls by itself. */
const longText = 600;

function Value<Item extends Held>(props: {
  view: View;
  kind: RecordKind<Item>;
  column: Column;
  value: unknown;
  item: Item;
}): ComponentChildren {
  const { view, kind, column, value, item } = props;
  const { words } = view;
  if (value instanceof Uint8Array) return words.record.bytes(view.format.number(value.length));
  if (Array.isArray(value)) {
    return value.length === 0 ? <span class="soft">{words.none}</span> : value.join(', ');
  }
  const text = String(value);
  switch (column.type) {
    case 'timestamptz':
      return <Time at={text} />;
    case 'date':
      return kind.listed === null ? (
        text
      ) : (
        <a href={linkTo(view, `/days/${kind.listed}/${text}`)}>{text}</a>
      );
    case 'numeric':
    case 'bigint':
      return withUnit(column.column, text, item, words);
    case 'boolean':
      return words.records[value === true ? 'yes' : 'no'];
    case 'jsonb':
      return <Raw view={view} value={parseJson(text)} />;
    case 'sha256':
      return <code>{text}</code>;
    case 'integer': {
      if (column.column === 'order_type') return `${words.figures.type(text)} (${text})`;
      const { statuses, resultStatuses } = words.records;
      const isOrder = kind.resource === 'orders';
      return column.column === 'status' ? (
        <Status of={Number(text)} words={isOrder ? statuses : resultStatuses} />
      ) : (
        text
      );
    }
    case 'text':
    case 'bytea':
    case 'text[]':
  }
  if (text === '') return <code>&quot;&quot;</code>;
  if (text.length <= longText) {
    // The others of the same account, owner, module or transaction.
    const isFilter = kind.inputs.some(
      (one) => one.kind === 'text' && one.name === column.column && one.name !== 'name',
    );
    return isFilter ? (
      <a href={linkTo(view, `/${kind.resource}`, { [column.column]: text })}>
        <bdi>{text}</bdi>
      </a>
    ) : (
      <bdi>{text}</bdi>
    );
  }
  return (
    <div class="tall" tabIndex={0} role="region" aria-label={column.column}>
      <bdi>{text}</bdi>
    </div>
  );
}
