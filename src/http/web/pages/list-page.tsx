// The list page of everything in the catalogue: what it can be narrowed by, a page of rows, the way through the pages,
// and, of records, what is certain of the days that were chosen.
import type { ComponentChildren } from 'preact';
import { isDay } from '../../../day.ts';
import type { ListedResource } from '../../../model.ts';
import { asOf, cursor, order as direction, whole } from '../../../query/arguments.ts';
import type { Shape } from '../../../query/check-arguments.ts';
import { rangeCoverage, type RangeCoverage } from '../../../query/day-marks.ts';
import type { FoundRows, List, Row } from '../../../query/lists.ts';
import { readWhole } from '../../v1/question-routes.ts';
import { askedOf, givenIn, withoutUndefined, projectFor } from '../../v1/route.ts';
import { foundOrSentence } from '../../http-answers.ts';
import { ProjectField, Refusal, Table, type TableColumn } from '../parts.tsx';
import { Cell, classOf } from '../value.tsx';
import { linkTo, type Made, type View } from '../view.ts';
import { besidesOf, type Besides } from './list-extras.tsx';
import { Filter, RangeLine } from './filter.tsx';

/** A day stands for its end, as `as_of` does. */
export const instantText = ({ t }: View, given: string): string =>
  isDay(given) ? t('the end of {day}', { day: given }) : given;

/** The record's page, as it was at an instant where that is asked. */
export const linkToRecord = (view: View, resource: string, id: string, asOf?: string): string =>
  linkTo(view, `/${resource}/${encodeURIComponent(id)}`, { as_of: asOf });

/** The page of a row; null: it has none. */
function linkToRow(view: View, list: List, row: Row, asOf: string | undefined): string | null {
  if (list.resource !== null) {
    return linkToRecord(view, list.name, String(row[list.key[0] ?? '']), asOf);
  }
  if (list.name === 'coverage') {
    const { resource, day, owner } = row as Record<string, string>;
    return linkTo(view, `/days/${resource}/${day}`, { owner });
  }
  if (list.name === 'changed_records') {
    const { resource = '', id = '' } = row as Record<string, string>;
    // Of a result the lookup stands behind a dot.
    return linkToRecord(view, resource.replace(/\..*/, ''), id);
  }
  const key = rowKey(list, row);
  return key.length === 0
    ? null
    : linkTo(view, ['', list.name, ...key.map(encodeURIComponent)].join('/'));
}

/** As it stands in an address: a month without its first day. */
export const rowKey = ({ key }: List, row: Row): string[] =>
  key.map((name) => (name === 'month' ? String(row[name]).slice(0, 7) : String(row[name])));

/** Fewer than the library gives: a page is to be looked at. */
const limit = whole(1, 500);
/** Rows of a list that is given whole. */
const mostRows = 1000;

/** What the page of a list takes, by the library's names. A record is looked for by its id, whatever that is called. */
function shapeOf({ filters, key, resource, hasDays, isPaged }: List): Shape {
  const narrowed = Object.entries(filters).filter(
    ([name]) => resource === null || !key.includes(name),
  );
  return {
    ...Object.fromEntries(narrowed),
    ...(resource === null ? {} : { asOf }),
    ...(resource !== null && hasDays ? { order: direction } : {}),
    ...(isPaged ? { limit, cursor } : {}),
  };
}

/** Where nothing was said of it. */
const unlessTold = ({ resource, hasDays, isPaged }: List): Record<string, string> => ({
  ...(resource !== null && hasDays ? { order: 'desc' } : {}),
  ...(isPaged ? { limit: '50' } : {}),
});

/** `count`: null where counting may take long. */
type Answer = { found: FoundRows; range: RangeCoverage | null; count: number | null };

/** Of days and months; what has neither stays in its order. */
const newestFirst = (rows: Row[]): Row[] => {
  const when = ({ day, month }: Row): string => (day ?? month ?? '') as string;
  return rows.toSorted((a, b) => Number(when(a) < when(b)) - Number(when(a) > when(b)));
};

/** Counting as many takes a few hundredths of a second; coverage tells beforehand how many it will be. */
const mostCounted = 200_000;

/** `given`: see `givenIn`. */
async function ask(view: View, list: List, given: Record<string, string>): Promise<Answer> {
  const { archive, now } = view;
  const asked = askedOf(shapeOf(list), { ...unlessTold(list), ...given });
  const { limit: _, cursor: at, ...narrowed } = asked;
  const project = projectFor(view, list.resource ?? (asked['resource'] as 'orders' | undefined));
  const reads = list.of(archive);
  const found: FoundRows =
    list.isPaged || list.resource !== null
      ? await reads.list({ ...asked, project })
      : { items: newestFirst(await readWhole(view, list, asked)) };
  let range: RangeCoverage | null = null;
  const { from, to } = given;
  if (list.resource !== null && list.hasDays && (from !== undefined || to !== undefined)) {
    const days = withoutUndefined({ from, to });
    const resource = list.resource as ListedResource;
    const slices = await archive.coverage({ project, resource, ...days });
    range = rangeCoverage(slices, { ...days, asOf: asked['asOf'] as string | undefined }, now);
  }
  if (at === undefined && (found.next ?? null) === null)
    return { found, range, count: found.items.length };
  const isCheap = range !== null && range.shown <= mostCounted && asked['asOf'] === undefined;
  return { found, range, count: isCheap ? await reads.count({ ...narrowed, project }) : null };
}

/** `lookedFor`: an id that is not held, which is said above the list. */
export async function readList(
  view: View,
  list: List,
  lookedFor: string | null = null,
): Promise<Made> {
  const { t, words } = view;
  const given = lookedFor === null ? givenIn(view.query) : {};
  const [{ found: answer, sentence }, besides] = await Promise.all([
    foundOrSentence(() => ask(view, list, given)),
    besidesOf(view, list),
  ]);
  const json = `/archive/v1/${list.name}`;
  const title = words.lists[list.name] ?? list.name;
  const about = words.abouts[list.name];
  return {
    title: lookedFor === null ? title : t('The archive holds no such record.'),
    status: lookedFor !== null ? 404 : sentence !== null ? 400 : 200,
    isLive: list.resource === null,
    twin:
      lookedFor === null
        ? linkTo(view, json, { ...unlessTold(list), ...given })
        : linkTo(view, `${json}/${encodeURIComponent(lookedFor)}`),
    body: (
      <>
        <h1>{title}</h1>
        {about !== undefined && <p class="soft">{about}</p>}
        {lookedFor !== null && (
          <p class="notice" role="alert">
            {t('The archive holds no such record.')} <bdi class="id">{lookedFor.slice(0, 600)}</bdi>
          </p>
        )}
        {besides.above}
        {list.resource !== null && <Search view={view} list={list} id={lookedFor} />}
        <Filter
          view={view}
          list={list}
          shape={shapeOf(list)}
          given={{ ...unlessTold(list), ...given }}
          isAsked={Object.keys(given).length > 0}
        />
        <Refusal view={view} sentence={sentence} />
        {answer !== null && <Found {...{ view, list, given, answer, besides }} />}
        {besides.below}
      </>
    ),
  };
}

function Search({ view, list, id }: { view: View; list: List; id: string | null }) {
  const { t } = view;
  return (
    <form class="filter" role="search" method="get" action={`/${list.name}`}>
      <div class="wide">
        <label for="find">{t('Search by id')}</label>
        <input id="find" name="find" type="search" value={id ?? ''} required spellcheck={false} />
      </div>
      <ProjectField view={view} />
      <button>{t('Find')}</button>
    </form>
  );
}

type Listed = {
  view: View;
  list: List;
  given: Record<string, string>;
  answer: Answer;
  besides: Besides;
};

function Found({ view, list, given, answer, besides }: Listed) {
  const { found, range, count } = answer;
  const { t, words } = view;
  const { cursor: from, limit: _limit, ...query } = given;
  const instant = given['as_of'];
  const { next = null, previous = null } = found;
  const all = [...found.items, ...(besides.more ?? [])];
  const items = all.slice(0, mostRows);
  const to = (more: Record<string, string | undefined>): string =>
    linkTo(view, `/${list.name}`, { ...given, ...more });
  const turn = (rel: string, text: string, cursor?: string) => (
    <a href={to({ cursor })} rel={rel}>
      {text}
    </a>
  );
  const everything = { ...unlessTold(list), ...query, limit: undefined, format: 'sheet' };
  return (
    <>
      {instant !== undefined && (
        <p class="notice mild">
          {t('As it was known at {time}.', { time: instantText(view, instant) })}
          {words.between}
          <a href={to({ cursor: undefined, limit: undefined, as_of: undefined })}>
            {t('As it is now')}
          </a>
        </p>
      )}
      {range !== null && (
        <RangeLine
          view={view}
          resource={list.resource as ListedResource}
          of={range}
          isThen={instant !== undefined}
        />
      )}
      <div class="pages">
        {count !== null && (
          <strong>
            {list.resource === null
              ? t('{count:one row|# rows}', { count })
              : t('{count:one record|# records}', { count })}
          </strong>
        )}
        {items.length < all.length && (
          <span>{t('The first {count} are shown here.', { count: items.length })}</span>
        )}
        <a href={linkTo(view, `/archive/v1/${list.name}`, everything)}>
          {t('All of these as CSV')}
        </a>
      </div>
      {items.length === 0 ? (
        <p>{emptyText(view, list, given, next)}</p>
      ) : (
        <Rows {...{ view, list, given, besides }} rows={items} />
      )}
      <nav class="pages" aria-label={t('Pages of this list')}>
        {from !== undefined && turn('start', t('First page'))}
        {previous !== null && turn('prev', t('Previous page'), previous)}
        {next !== null && turn('next', t('Next page'), next)}
      </nav>
    </>
  );
}

/** Of a list that nobody narrowed, how it fills. */
function emptyText(
  { t, words }: View,
  { name }: List,
  given: Record<string, string>,
  next: string | null,
): string {
  if (next !== null)
    return t('Nothing matches among the records looked through so far. The next page goes on.');
  if (Object.keys(given).length > 0) return t('Nothing matches.');
  return words.empty[name] ?? t('None yet.');
}

type Shown = Omit<Listed, 'answer'> & { rows: readonly Row[] };

function Rows({ view, list, rows, given, besides }: Shown) {
  const { t, words } = view;
  const { key, shown, fields } = list;
  // What names a row stands at its head and leads to it.
  const head = [shown[0] ?? '', 'id', ...key].findLast((name) => shown.includes(name)) ?? '';
  const hasValue = (name: string): boolean =>
    rows.some((row) => row[name] !== null && row[name] !== '');
  const columns = [head, ...shown.filter((name) => name !== head)].filter(hasValue);
  const cellOf = (row: Row, name: string) =>
    besides.cells?.[name]?.(row) ?? (
      <Cell view={view} list={list} name={name} field={fields[name]} row={row} />
    );
  const title = words.lists[list.name] ?? '';
  const order = given['order'] ?? unlessTold(list)['order'];
  return (
    <Table
      caption={
        order === undefined
          ? title
          : [title, t(order === 'asc' ? 'oldest first' : 'newest first')].join(
              words.punctuation.comma,
            )
      }
      columns={[
        ...columns.map((name): TableColumn<Row> => ({
          head: words.fields[name] ?? name,
          class: classOf(fields[name]),
          isName: name === head,
          cell: (row) =>
            name === head ? (
              <Head view={view} list={list} row={row} asOf={given['as_of']}>
                {cellOf(row, name)}
              </Head>
            ) : (
              cellOf(row, name)
            ),
        })),
        ...(besides.columns ?? []),
      ]}
      rows={rows}
    />
  );
}

type Headed = Pick<Listed, 'view' | 'list'> & {
  row: Row;
  asOf: string | undefined;
  children: ComponentChildren;
};

function Head({ view, list, row, asOf: instant, children }: Headed) {
  const { t } = view;
  const href = linkToRow(view, list, row, instant);
  if (list.resource === null)
    return href === null ? <>{children}</> : <a href={href}>{children}</a>;
  const id = String(row[list.key[0] ?? '']);
  const missing = row['missingSince'];
  return (
    <>
      <a class="id long" href={href ?? undefined} title={id}>
        <bdi>{id}</bdi>
      </a>
      {typeof missing === 'string' && (
        <span
          class="mark"
          title={t('The platform no longer shows it, since {since}.', { since: missing })}
        >
          {t('no longer shown')}
        </span>
      )}
    </>
  );
}
