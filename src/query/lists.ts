// Every list of the catalogue in one form, for the doors that treat all alike: HTTP, `outlast query`, the pages. What a
// list can be narrowed by, and how it is read of an open archive. A new one is an entry in catalogue.ts.
import {
  questions,
  recordLists,
  type AnyQuestion,
  type Page,
  type QuestionName,
  type RecordQuestion,
} from '../catalogue.ts';
import { resources, type ProjectId, type Resource } from '../model.ts';
import { snake, type Fields } from '../resources.ts';
import type { Shape } from './check-arguments.ts';
import { days } from './arguments.ts';
import { everyPage, filtersOf } from './ask-question.ts';
import { recordFilters } from './record-filters.ts';
import type { Archive, Version } from './types.ts';

export type Row = Record<string, unknown>;

/** What every record has. */
export type Held = Row & {
  observedAt: string;
  missingSince: string | null;
  rawJson: string;
  rawBytes: Uint8Array | null;
};

/** What the list itself takes, which checks it. */
export type ListQuery = { project: ProjectId } & Record<string, unknown>;

export type FoundRows<Item = Row> = {
  items: Item[];
  /** Absent: the list is given whole. */
  next?: string | null;
  /** Absent: it is read forwards only. */
  previous?: string | null;
};

export type Reads<Item> = {
  list(query: ListQuery): Promise<FoundRows<Item>>;
  count(query: ListQuery): Promise<number>;
  stream(query: ListQuery): AsyncIterable<Item>;
};

type RecordReads = Reads<Held> & {
  /** Of an operation there may be two: one of each lookup. */
  get(project: ProjectId, id: string, at?: { asOf?: string }): Promise<Held[]>;
  history(project: ProjectId, id: string): Promise<Version<Held>[]>;
};

export type List = {
  /** As it stands in addresses, in commands, and in sentences. */
  name: string;
  /** Of records: there are histories, reads as of an instant, and one by its id. */
  resource: Resource | null;
  summary: string;
  about: string;
  fields: Fields;
  shown: readonly string[];
  /** What names a row in its address. */
  key: readonly string[];
  /** All it can be narrowed by, days included. */
  filters: Shape;
  hasDays: boolean;
  isPaged: boolean;
  of(archive: Archive): Reads<Row>;
};

export function recordList(resource: Resource): List & { resource: Resource } {
  const { key, isPaged, ...rest }: RecordQuestion = recordLists[resource];
  const hasDays = 'sliceDay' in rest.fields;
  return {
    ...rest,
    name: resource,
    resource,
    key,
    filters: { ...(hasDays ? days : {}), ...recordFilters[resource] },
    hasDays,
    isPaged: isPaged === true,
    of: (archive) => recordsOf(archive, resource),
  };
}

export function questionList(name: QuestionName): List {
  const question: AnyQuestion = questions[name];
  const { about = '', isPaged = false, key = [] } = question;
  return {
    ...question,
    name: snake(name),
    resource: null,
    about,
    key,
    filters: filtersOf(question),
    hasDays: question.filters.includes('days'),
    isPaged,
    of: (archive) => readsBy<Row>(archive[name], isPaged),
  };
}

export const questionNames = Object.keys(questions) as QuestionName[];

/** All there are: records first. */
export const lists: readonly List[] = [
  ...resources.map(recordList),
  ...questionNames.map(questionList),
];

/** What a list is asked for: a page of it, or where there are few all of it. */
type Ask<Item> = (query: never) => Promise<FoundRows<Item> | Item[]>;

/** Every list has a type of its own, and checks what it is asked. */
function readsBy<Item>(ask: Ask<Item>, isPaged: boolean): Reads<Item> {
  const list = async (query: object): Promise<FoundRows<Item>> => {
    const found = await ask(query as never);
    return Array.isArray(found) ? { items: found } : found;
  };
  const stream = async function* (query: object): AsyncGenerator<Item> {
    if (isPaged) yield* everyPage((page) => list(page) as Promise<Page<Item>>, query);
    else yield* (await list(query)).items;
  };
  return {
    list,
    stream,
    count: async (query) => {
      let count = 0;
      const rows = stream(query);
      while ((await rows.next()).done !== true) count += 1;
      return count;
    },
  };
}

/** Of tokens, of which there are few, only the list. */
type OwnReads = Partial<Reads<Held>> & {
  list: Ask<Held>;
  get(...of: Parameters<RecordReads['get']>): Promise<Held | Held[] | null>;
  history: RecordReads['history'];
};

/** The records of the four resources in one form. */
export function recordsOf(archive: Archive, resource: Resource): RecordReads {
  const name = resource === 'nft_classes' ? 'nftClasses' : resource;
  const own = archive[name] as OwnReads;
  return {
    ...readsBy(own.list, false),
    ...own,
    get: async (...of) => [(await own.get(...of)) ?? []].flat(),
  };
}
