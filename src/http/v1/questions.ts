// The routes of the catalogue's questions, each by its declaration.
import { questions, type AnyQuestion, type QuestionName, type RowOf } from '../../catalogue.ts';
import { listedResources, type Resource } from '../../model.ts';
import { filtersOf } from '../../query/questions.ts';
import { snake } from '../../query/record-text.ts';
import { forwardOf, listOf, record } from './answer-schemas.ts';
import { listReply, pageArguments, wholeReply, type ListSource } from './lists.ts';
import { projectFor, route, type ArchiveRequest, type Route } from './route.ts';

type Asking = Pick<ArchiveRequest, 'archive' | 'project' | 'classesOf'>;
type Given = { resource?: Resource } & Record<string, unknown>;

export function questionRoute(name: QuestionName): Route {
  const question: AnyQuestion = questions[name];
  const { one, summary, about = '', fields, isPaged = false } = question;
  const kind = record(one, summary, fields);
  return route({
    path: `/${snake(name)}`,
    name: `list${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary,
    about,
    isList: true,
    inQuery: { ...filtersOf(question), ...(isPaged ? pageArguments : {}) },
    answer: isPaged ? forwardOf(kind) : listOf(kind),
    read: async (given, asking) => {
      const { limit, cursor, ...filters } = given as Given & { limit?: number; cursor?: string };
      if (!isPaged) return wholeReply(await readWhole(asking, name, filters), kind);
      const query = { project: projectFor(asking, filters.resource), ...filters };
      return listReply(
        { list: asking.archive[name] } as unknown as ListSource,
        query,
        { limit, cursor },
        kind,
        asking,
      );
    },
  });
}

/** A list that is given whole: of both resources, or of one, each of the project that archives it. */
export async function readWhole<Name extends QuestionName>(
  asking: Asking,
  name: Name,
  { resource, ...filters }: Given = {},
): Promise<RowOf<(typeof questions)[Name]>[]> {
  type Row = RowOf<(typeof questions)[Name]>;
  const read = asking.archive[name] as unknown as (query: object) => Promise<Row[]>;
  if (!('resource' in questions[name].fields)) {
    return read({ project: asking.project, ...filters });
  }
  const rows: Row[] = [];
  for (const one of listedResources.filter((each) => each === (resource ?? each))) {
    rows.push(...(await read({ project: projectFor(asking, one), resource: one, ...filters })));
  }
  return rows;
}
