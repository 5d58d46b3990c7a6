// How a value is shown, by its column: in a table, where it must be short, and whole on the page of its row.
import type { ComponentChildren } from 'preact';
import { apiVersions, listedResources } from '../../model.ts';
import { parseJson, type Json } from '../../platform/json.ts';
import type { List, Row } from '../../query/lists.ts';
import { hundredths, nameForPeople, unitOf } from '../../query/record-text.ts';
import { snake, type Column, type Field } from '../../resources.ts';
import { laidOut } from './json-text.ts';
import { Cut, grouped, Said, Time } from './parts.tsx';
import { linkTo, type View } from './view.ts';
import type { Words } from './words.ts';

type Shown = {
  view: View;
  list: List;
  /** The library's name. */
  name: string;
  column: Column;
  value: unknown;
  row: Row;
  /** With all of it, and with links to what it leads to. */
  isWhole?: boolean;
};

/** From so many characters on a value scrolls by itself. */
const longText = 600;

/** Nothing for none. */
function Value(props: Shown): ComponentChildren {
  const { view, list, name, column, value, row, isWhole = false } = props;
  const { t, words, format } = view;
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return t('{count} bytes', { count: value.length });
  const said = wordsOf(words, list, name);
  if (column.items !== undefined)
    return isWhole && <Raw view={view} value={parseJson(JSON.stringify(value))} />;
  if (Array.isArray(value))
    return value.map((one) => said[String(one)] ?? String(one)).join(words.punctuation.and);
  const text = `${value as string | number | boolean}`;
  if (column.words !== undefined) {
    const word = column.words[Number(text)];
    return word === undefined ? (
      text
    ) : (
      <>
        {words.terms[word] ?? word}
        <span class="soft"> {text}</span>
      </>
    );
  }
  switch (column.type) {
    case 'timestamptz':
      return <Time at={text} />;
    case 'date':
      if (name === 'month') return format.month(text);
      return isWhole ? <DayLink view={view} list={list} row={row} day={text} /> : text;
    case 'numeric':
    case 'bigint':
      return typeof value === 'number' ? format.number(value) : withUnit(props, text);
    case 'boolean':
      return t(value === true ? 'yes' : 'no');
    case 'jsonb':
      return isWhole ? <Raw view={view} value={parseJson(text)} /> : <Cut text={text} />;
    case 'sha256':
      return <code class={isWhole ? undefined : 'long'}>{text}</code>;
    case 'integer':
    case 'bytea':
      return text;
    case 'text':
    case 'text[]':
  }
  if (column.values !== undefined) return said[text] ?? text;
  if (column.isSentence === true) return <Said text={text} lang="en" />;
  return isWhole ? <WholeText {...props} text={text} /> : <Cut text={text} />;
}

/** What the only values of a field are called. */
export function wordsOf(words: Words, list: List, name: string): Record<string, string> {
  const lookups = Object.fromEntries(
    apiVersions.map((one) => [`transactions.${one}`, `${words.lists['transactions']} ${one}`]),
  );
  const named: Record<string, Record<string, string>> = {
    resource: { ...words.lists, ...lookups },
    state: words.states,
    proof: words.proofs,
    why: words.whys,
    balance: words.balances,
    change: words.terms,
    'watched_operations.state': words.watched,
  };
  return named[`${list.name}.${name}`] ?? named[name] ?? {};
}

function withUnit({ view: { t }, name, column, row, isWhole }: Shown, text: string): string {
  const unit = unitOf(name, column, row);
  if (unit !== 'fen') return `${grouped(text)}${unit === null ? '' : ` ${unit}`}`;
  const amount = grouped(hundredths(text));
  return isWhole === true
    ? `${amount} ${t('currency units')} = ${grouped(text)} ${t('fen')}`
    : `${amount} ${t('units')}`;
}

function DayLink({ view, list, row, day }: Pick<Shown, 'view' | 'list' | 'row'> & { day: string }) {
  const resource = list.resource ?? row['resource'];
  if (!listedResources.some((one) => one === resource)) return <>{day}</>;
  const owner = list.resource === null ? ((row['owner'] ?? '') as string) : '';
  return <a href={linkTo(view, `/days/${String(resource)}/${day}`, { owner })}>{day}</a>;
}

function WholeText({ view, list, name, column, text }: Shown & { text: string }) {
  if (text === '') return <code>&quot;&quot;</code>;
  if (text.length > longText) {
    return (
      <div class="tall" tabIndex={0} role="region" aria-label={column.column}>
        <bdi>{text}</bdi>
      </div>
    );
  }
  // The others of the same account, owner, module or transaction. A name is looked for in parts.
  const isFilter = name in list.filters && !list.key.includes(name) && name !== 'name';
  return isFilter ? (
    <a href={linkTo(view, `/${list.name}`, { [snake(name)]: text })}>
      <bdi>{text}</bdi>
    </a>
  ) : (
    <bdi>{text}</bdi>
  );
}

/** Characters of JSON that are shown: most records have a thousandth of them. */
const mostCharacters = 200_000;

export function Raw({ view, value }: { view: View; value: Json }) {
  const { t } = view;
  const text = laidOut(value);
  const hidden = text.length - mostCharacters;
  return (
    <>
      <pre tabIndex={0} role="region" aria-label={t('As the platform gave it')}>
        {text.slice(0, mostCharacters)}
      </pre>
      {hidden > 0 && (
        <p class="soft">
          {t('… and {count} more characters: the JSON has all of them.', { count: hidden })}
        </p>
      )}
    </>
  );
}

/** A field of a row in a table: members of a group follow each other. */
export function Cell(props: Omit<Shown, 'column' | 'value'> & { field: Field | undefined }) {
  const { field, ...of } = props;
  if (field === undefined || 'member' in field) return null;
  // Where its time cannot be read, the day it stands under.
  const value = of.row[of.name] ?? (of.name === 'createdAt' ? of.row['sliceDay'] : null);
  if (!('members' in field)) return <Value {...of} column={field} value={value} />;
  const group = (value ?? {}) as Row;
  return Object.entries(field.members)
    .toReversed()
    .map(([name, column]) => (
      <>
        <Value {...of} name={column.column} column={column} value={group[name]} />{' '}
      </>
    ));
}

/** How the column of a table stands: numbers at the right, times and words unbroken, sentences with room. */
export function classOf(field: Field | undefined): 'n' | 't' | 'wide' | undefined {
  if (field === undefined || !('column' in field)) return 'n';
  const { type, values, words, isSentence } = field;
  if (words !== undefined) return 't';
  if (values !== undefined) return undefined;
  if (['integer', 'bigint', 'numeric'].includes(type)) return 'n';
  if (['timestamptz', 'date', 'boolean'].includes(type)) return 't';
  return isSentence === true ? 'wide' : undefined;
}

type FieldValue = { name: string; title: string; column: Column; value: unknown };

/** Fields with their values, one below the other, each with what it means. */
export function FieldList(props: {
  view: View;
  list: List;
  row: Row;
  isShown?: (of: Column) => boolean;
}) {
  const { view, list, row, isShown = () => true } = props;
  const values = Object.entries<Field>(list.fields)
    .flatMap(([name, field]) => valuesOf(name, field, row))
    .filter(({ column }) => isShown(column));
  return (
    <dl class="facts fields">
      {values.map(({ title, column, ...of }) => (
        <>
          <dt>
            <code>{title}</code>
          </dt>
          <dd>
            {isNone(of.value) ? (
              <span class="soft">{view.t('none')}</span>
            ) : (
              <Value view={view} list={list} row={row} column={column} {...of} isWhole />
            )}
            {meaningOf(view, list, column)}
          </dd>
        </>
      ))}
    </dl>
  );
}

/** In the reader's language where it has it. */
function meaningOf({ words: { meanings } }: View, list: List, { column, meaning }: Column) {
  const own = meanings[`${list.name}.${column}`] ?? meanings[column];
  return own === undefined ? <small lang="en">{meaning}</small> : <small>{own}</small>;
}

const isNone = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** The project is the page's own; a record as the platform gave it, and what is a part of it, has its place below. */
function valuesOf(name: string, field: Field, row: Row): FieldValue[] {
  if ('member' in field || name === 'projectId' || name === 'rawJson') return [];
  if (!('members' in field)) {
    return [{ name, title: nameForPeople(name), column: field, value: row[name] }];
  }
  const group = row[name] as Row | null;
  return Object.entries(field.members).map(([member, column]) => ({
    name: column.column,
    title: column.column,
    column,
    value: group?.[member] ?? null,
  }));
}
