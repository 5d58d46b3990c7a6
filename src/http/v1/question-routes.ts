// How the routes read a list: a page in JSON, everything in the other forms, and a single record; and the routes of the
// catalogue's questions, each by its declaration.
import { questions, type QuestionName, type Questions, type RowOf } from '../../catalogue.ts';
import { listedResources, type Resource } from '../../model.ts';
import { problemLevels, type ProblemLevel } from '../../problems.ts';
import { cursor as cursorOfPage, limit as limitOfPage } from '../../query/arguments.ts';
import type { Shape } from '../../query/check-arguments.ts';
import {
  questionList,
  type List,
  type ListQuery,
  type Reads,
  type Row,
} from '../../query/lists.ts';
import { firstOf, jsonText } from '../../query/record-text.ts';
import { snake } from '../../resources.ts';
import { refuse } from '../http-answers.ts';
import { forwardOf, listOf, record, type RowKind } from './answer-schemas.ts';
import {
  withoutUndefined,
  projectFor,
  route,
  type ArchiveRequest,
  type Definition,
  type Nothing,
  type Reply,
  type Route,
} from './route.ts';

/** How a list is cut into pages; in the other forms it goes out whole. */
export const pageArguments = {
  limit: limitOfPage.describe(
    'Records a page, 100 by default. In another format than json: records at all, everything by default',
  ),
  cursor: cursorOfPage,
};

export type Paging = {
  limit?: number | undefined;
  cursor?: string | undefined;
  count?: boolean | undefined;
};

/**
 * A page in JSON, with what stands beside the items; in the other forms everything, or as many as `limit` says.
 */
export async function listReply(
  source: Reads<object>,
  query: ListQuery,
  { limit, cursor, count }: Paging,
  { fields }: RowKind,
  { format }: ArchiveRequest,
): Promise<Reply> {
  if (format !== 'json') {
    if (cursor !== undefined || count !== undefined) {
      refuse(`cursor and count go with json: ${format} gives the list from its beginning`);
    }
    return { kind: 'rows', rows: firstOf(source.stream(query), limit ?? Infinity), fields };
  }
  const asked = { ...query, ...withoutUndefined({ limit, cursor }) };
  const { items, ...beside } = await source.list(asked);
  const counted = count === true ? { count: await source.count(query) } : {};
  const named = Object.entries({ ...beside, ...counted }).map(([name, one]) => [snake(name), one]);
  return {
    kind: 'rows',
    rows: items,
    fields,
    beside: Object.fromEntries(named),
  };
}

export const objectReply = <Item extends object>(
  item: Item | null,
  { fields }: RowKind,
): Reply | null =>
  item === null ? null : { kind: 'object', json: jsonText(item, Object.keys(fields) as never[]) };

/** All of a list that is given whole, in its own type. */
export const readAll = async <Name extends QuestionName>(
  asking: Asking,
  name: Name,
): Promise<RowOf<Questions[Name]>[]> =>
  (await readWhole(asking, questionList(name))) as RowOf<Questions[Name]>[];

type WholeList<Query extends Shape> = Omit<
  Definition<Nothing, Query>,
  'isList' | 'answer' | 'read'
> & {
  kind: RowKind;
  rows: (...given: Parameters<Definition<Nothing, Query>['read']>) => Promise<readonly object[]>;
};

/** A list without pages. What its rows could be grouped by and are not is no column of theirs. */
export const wholeRoute = <Query extends Shape = Nothing>({
  kind,
  rows,
  ...of
}: WholeList<Query>): Route =>
  route<Nothing, Query>({
    ...of,
    isList: true,
    answer: listOf(kind),
    read: async (given, asking) => {
      const { groupBy = [] } = given as { groupBy?: readonly string[] };
      const fields = Object.entries(kind.fields).filter(
        ([name, field]) => !('isOptional' in field) || groupBy.includes(snake(name)),
      );
      return wholeReply(await rows(given, asking), { ...kind, fields: Object.fromEntries(fields) });
    },
  });

export const wholeReply = (rows: readonly object[], { fields }: RowKind): Reply => ({
  kind: 'rows',
  rows,
  fields,
});

type Asking = Pick<ArchiveRequest, 'archive' | 'project' | 'classesOf'>;
type Given = { resource?: Resource } & Row;

export function questionRoute(name: QuestionName): Route {
  const list = questionList(name);
  const { name: path, summary, about, fields, filters, isPaged } = list;
  const kind = record(questions[name].one, summary, fields);
  return route({
    path: `/${path}`,
    name: `list${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary,
    about,
    isList: true,
    inQuery: { ...filters, ...(isPaged ? pageArguments : {}) },
    answer: isPaged ? forwardOf(kind) : listOf(kind),
    read: async (given, asking) => {
      const { limit, cursor, ...filters } = given as Given & { limit?: number; cursor?: string };
      if (!isPaged) return wholeReply(await readWhole(asking, list, filters), kind);
      const query = { project: projectFor(asking, filters.resource), ...filters };
      return listReply(list.of(asking.archive), query, { limit, cursor }, kind, asking);
    },
  });
}

/** What goes on before what only happened, then the worst before the rest. */
const rankOf = ({ isNews, level }: Row): number =>
  (isNews === true ? problemLevels.length : 0) + problemLevels.indexOf(level as ProblemLevel);

/**
 * A list that is given whole: of both resources, or of one, each of the project that archives it. The problems of
 * classes are this project's as well.
 */
export async function readWhole(
  asking: Asking,
  list: List,
  { resource, ...filters }: Given = {},
): Promise<Row[]> {
  const reads = list.of(asking.archive);
  const { project } = asking;
  if (!('resource' in list.fields)) {
    const own = (await reads.list({ project, ...filters })).items;
    const other = asking.classesOf(project);
    if (list.name !== 'problems' || other === project) return own;
    const others = (await reads.list({ project: other, ...filters })).items;
    // Without a subject it concerns all that this project reads.
    const ofClasses = others.filter(({ subject }) => /^(?:nft_classes\b|$)/.test(String(subject)));
    return [...own, ...ofClasses].toSorted((a, b) => rankOf(a) - rankOf(b));
  }
  const found = await Promise.all(
    listedResources
      .filter((one) => one === (resource ?? one))
      .map((one) => reads.list({ project: projectFor(asking, one), resource: one, ...filters })),
  );
  return found.flatMap(({ items }) => items);
}
