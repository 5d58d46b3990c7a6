// A list of records: what it can be narrowed by, a page of it, the way through its pages, and what is certain of the
// days that were chosen.
import type { Resource } from '../../../model.ts';
import { askedOf, givenIn, sentenceOf } from '../asked.ts';
import { InstantField, ProjectField, readable, Refusal } from '../parts.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { linkTo, type Made, type View } from '../view.ts';
import { RangeLine, readRange, type RangeCoverage } from './range-coverage.tsx';
import type { Found, Held, Input, Query, RecordKind } from './record-kinds.tsx';

/** Classes may be those of another project. */
export const projectOf = <Item extends Held>(view: View, { resource }: RecordKind<Item>): string =>
  resource === 'nft_classes' ? view.classesOf(view.project) : view.project;

const listPath = <Item extends Held>({ resource }: RecordKind<Item>): string => `/${resource}`;

/** No path can name these two: browsers take them for steps. */
export const isStep = (id: string): boolean => id === '.' || id === '..';

/** The record's page, as it was at an instant where that is answer. */
export const linkToRecord = (view: View, resource: Resource, id: string, asOf?: string): string =>
  isStep(id)
    ? linkTo(view, `/${resource}`, { find: id, as_of: asOf })
    : linkTo(view, `/${resource}/${encodeURIComponent(id)}`, { as_of: asOf });

type Answer<Item> = {
  found: Found<Item> | null;
  /** Why it could not be answer. */
  sentence: string | null;
  range: RangeCoverage | null;
  count: number | null;
};

/** Counting as many takes a few hundredths of a second; coverage tells beforehand how many it will be. */
const mostCounted = 200_000;

/** `given`: see `givenIn`. */
async function ask<Item extends Held>(
  view: View,
  kind: RecordKind<Item>,
  given: Record<string, string>,
): Promise<Answer<Item>> {
  const { archive } = view;
  const { listed } = kind;
  const project = projectOf(view, kind);
  const answer: Answer<Item> = { found: null, sentence: null, range: null, count: null };
  try {
    const query: Query = {
      project,
      ...askedOf(kind.shape, { ...kind.unlessTold, ...given }),
    };
    const found = await kind.list(archive, query);
    answer.found = found;
    const { from, to } = given;
    if (listed !== null && (from !== undefined || to !== undefined)) {
      const days = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      answer.range = await readRange(view, project, listed, days);
    }
    answer.count = await countOf(view, kind, query, answer);
  } catch (error) {
    answer.sentence = sentenceOf(error);
    if (answer.sentence === null) throw error;
  }
  return answer;
}

/** Null where counting may take long. */
async function countOf<Item extends Held>(
  { archive }: View,
  kind: RecordKind<Item>,
  { limit: _limit, cursor, ...query }: Query & { limit?: unknown; cursor?: unknown },
  { found, range }: Answer<Item>,
): Promise<number | null> {
  if (found !== null && cursor === undefined && found.next === null) return found.items.length;
  const isCheap = range !== null && range.shown <= mostCounted && query['asOf'] === undefined;
  return isCheap ? ((await kind.count?.(archive, query)) ?? null) : null;
}

/** `lookedFor`: an id that is not held, which is said above the list. */
export async function readList<Item extends Held>(
  view: View,
  kind: RecordKind<Item>,
  lookedFor: string | null = null,
): Promise<Made> {
  const { words } = view;
  const given = lookedFor === null ? givenIn(view.query) : {};
  const answer = await ask(view, kind, given);
  const { sentence, found } = answer;
  const json = `/archive/v1/${kind.resource}`;
  const twin =
    lookedFor === null
      ? linkTo(view, json, { ...kind.unlessTold, ...given })
      : linkTo(view, `${json}/${encodeURIComponent(lookedFor)}`);
  return {
    title: lookedFor === null ? words.nav[kind.resource] : words.record.noSuch,
    status: lookedFor !== null ? 404 : sentence !== null ? 400 : 200,
    twin,
    body: (
      <>
        <h1>{words.nav[kind.resource]}</h1>
        {lookedFor !== null && (
          <p class="notice" role="alert">
            {words.record.noSuch} <bdi class="id">{lookedFor.slice(0, 600)}</bdi>
          </p>
        )}
        <Search view={view} path={listPath(kind)} id={lookedFor} />
        <Filter view={view} kind={kind} given={given} />
        <Refusal view={view} sentence={sentence} />
        {found !== null && (
          <List view={view} kind={kind} given={given} answer={answer} found={found} />
        )}
      </>
    ),
  };
}

function Search({ view, path, id }: { view: View; path: string; id: string | null }) {
  const { words } = view;
  return (
    <form class="filter" role="search" method="get" action={path}>
      <div class="wide">
        <label for="find">{words.records.search}</label>
        <input id="find" name="find" type="search" value={id ?? ''} required spellcheck={false} />
      </div>
      <ProjectField view={view} />
      <button>{words.records.find}</button>
    </form>
  );
}

function Filter<Item extends Held>(props: {
  view: View;
  kind: RecordKind<Item>;
  given: Record<string, string>;
}) {
  const { view, kind, given } = props;
  const { words } = view;
  return (
    <form class="filter" method="get" action={listPath(kind)} aria-label={words.records.filter}>
      {kind.inputs.map((input) => (
        <Field
          view={view}
          kind={kind}
          input={input}
          value={given[input.name] ?? kind.unlessTold[input.name] ?? ''}
        />
      ))}
      <ProjectField view={view} />
      <button>{words.records.filter}</button>
      {Object.keys(given).length > 0 && (
        <a href={linkTo(view, listPath(kind))}>{words.records.clear}</a>
      )}
    </form>
  );
}

function Field<Item extends Held>(props: {
  view: View;
  kind: RecordKind<Item>;
  input: Input;
  value: string;
}) {
  const { view, kind, input, value } = props;
  const { words } = view;
  const id = `by-${input.name}`;
  const label = words.records[input.label] as string;
  if (input.kind === 'statuses') {
    return <Statuses label={label} words={statusWords(view, kind)} given={value} />;
  }
  if (input.kind === 'instant') {
    return (
      <div>
        <InstantField view={view} id={id} value={value} label={label} />
      </div>
    );
  }
  return (
    <div>
      <label for={id}>{label}</label>
      {input.kind === 'order' || input.kind === 'limit' ? (
        <Choice id={id} view={view} kind={input.kind} value={value} />
      ) : (
        <input
          id={id}
          name={input.name}
          type={input.kind === 'day' ? 'date' : 'text'}
          value={readable(value)}
          spellcheck={false}
          autocomplete="off"
        />
      )}
    </div>
  );
}

const statusWords = <Item extends Held>({ words }: View, { resource }: RecordKind<Item>) =>
  resource === 'orders' ? words.records.statuses : words.records.resultStatuses;

/** Several mean any of them. What else was given in the address stands beside them, to be taken away. */
function Statuses(props: { label: string; words: Record<number, string>; given: string }) {
  const given = props.given === '' ? [] : props.given.split(',').slice(0, 20);
  const known = Object.keys(props.words);
  const values = [...known, ...new Set(given.filter((one) => !known.includes(one)))];
  return (
    <fieldset>
      <legend>{props.label}</legend>
      {values.map((value) => (
        <label>
          <input type="checkbox" name="status" value={value} checked={given.includes(value)} />
          <bdi>{props.words[Number(value)] ?? value}</bdi>
        </label>
      ))}
    </fieldset>
  );
}

function Choice(props: { id: string; view: View; kind: 'order' | 'limit'; value: string }) {
  const { id, view, kind, value } = props;
  const { newest, oldest } = view.words.records;
  const known: [string, string][] =
    kind === 'order'
      ? [
          ['desc', newest],
          ['asc', oldest],
        ]
      : ['25', '50', '100', '200', '500'].map((one) => [one, one]);
  const options = known.some(([one]) => one === value) ? known : [...known, [value, value]];
  return (
    <select id={id} name={kind}>
      {options.map(([one, text]) => (
        <option value={one} selected={one === value}>
          {text}
        </option>
      ))}
    </select>
  );
}

function List<Item extends Held>(props: {
  view: View;
  kind: RecordKind<Item>;
  given: Record<string, string>;
  answer: Answer<Item>;
  found: Found<Item>;
}) {
  const { view, kind, given, answer, found } = props;
  const { words, format } = view;
  const { cursor, limit: _limit, ...query } = given;
  const asOf = given['as_of'];
  const everything = { ...kind.unlessTold, ...query, limit: undefined, format: 'csv', bom: 'true' };
  return (
    <>
      {asOf !== undefined && (
        <p class="notice mild">
          {words.records.asKnownAt(asOf)}{' '}
          <a href={linkTo(view, listPath(kind), { ...query, as_of: undefined })}>
            {words.records.nowInstead}
          </a>
        </p>
      )}
      {answer.range !== null && kind.listed !== null && (
        <RangeLine view={view} resource={kind.listed} of={answer.range} />
      )}
      <div class="pages">
        {answer.count !== null && (
          <strong>{words.records.count(format.number(answer.count))}</strong>
        )}
        <a href={linkTo(view, `/archive/v1/${kind.resource}`, everything)}>{words.records.csv}</a>
      </div>
      {found.items.length === 0 ? (
        <p>{found.next === null ? words.records.empty : words.records.goesOn}</p>
      ) : (
        <Rows view={view} kind={kind} items={found.items} given={given} />
      )}
      <nav class="pages" aria-label={words.records.pages}>
        {cursor !== undefined && (
          <a href={linkTo(view, listPath(kind), { ...given, cursor: undefined })} rel="start">
            {words.records.first}
          </a>
        )}
        {found.previous !== null && (
          <a href={linkTo(view, listPath(kind), { ...given, cursor: found.previous })} rel="prev">
            {words.records.previous}
          </a>
        )}
        {found.next !== null && (
          <a href={linkTo(view, listPath(kind), { ...given, cursor: found.next })} rel="next">
            {words.records.next}
          </a>
        )}
      </nav>
    </>
  );
}

function Rows<Item extends Held>(props: {
  view: View;
  kind: RecordKind<Item>;
  items: readonly Item[];
  given: Record<string, string>;
}) {
  const { view, kind, items, given } = props;
  const { words } = view;
  const order = given['order'] ?? kind.unlessTold['order'];
  const id: TableColumn<Item> = {
    head: words.records.columns.id,
    isName: true,
    cell: (item) => {
      const itsId = kind.idOf(item);
      return (
        <>
          <a
            class="id long"
            href={linkToRecord(view, kind.resource, itsId, given['as_of'])}
            title={itsId}
          >
            <bdi>{itsId}</bdi>
          </a>
          {item.missingSince !== null && (
            <span class="mark" title={words.record.missing(item.missingSince)}>
              {words.records.missing}
            </span>
          )}
        </>
      );
    },
  };
  const others = kind.columns.map(({ head, align, cell }): TableColumn<Item> => ({
    head: head(words),
    class: align,
    cell: (item) => cell(item, view),
  }));
  return <Table caption={captionOf(view, kind, order)} columns={[id, ...others]} rows={items} />;
}

function captionOf<Item extends Held>(
  { words }: View,
  { resource }: RecordKind<Item>,
  order: string | undefined,
): string {
  const { byId, newest, oldest } = words.records;
  const ofDays = order === 'asc' ? oldest : newest;
  return `${words.nav[resource]}, ${order === undefined ? byId : ofDays}`;
}
