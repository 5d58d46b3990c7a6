// The routes of the catalogue's questions, each by its declaration.
import { questions, type QuestionName } from '../../catalogue.ts';
import { listedResources, type Resource } from '../../model.ts';
import { problemLevels, type ProblemLevel } from '../../problems.ts';
import { questionList, type List, type Row } from '../../query/lists.ts';
import { forwardOf, listOf, record } from './answer-schemas.ts';
import { listReply, pageArguments, wholeReply } from './list-arguments.ts';
import { projectFor, route, type ArchiveRequest, type Route } from './archive-route.ts';

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
  const rows: Row[] = [];
  for (const one of listedResources.filter((each) => each === (resource ?? each))) {
    const query = { project: projectFor(asking, one), resource: one, ...filters };
    rows.push(...(await reads.list(query)).items);
  }
  return rows;
}
