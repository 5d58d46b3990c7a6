// How a resource lies in its table: what reading and writing its records needs to know to make its SQL. Its columns are
// said in resources.ts.
import {
  apiVersions,
  type ApiVersion,
  type ListedResource,
  type ProjectId,
  type Resource,
} from '../model.ts';
import { columnsOf, fieldsOf } from '../resources.ts';

export type TableShape = {
  table: string;
  versions: string;
  key: string;
  /** A further column of the primary key, before `key`, and its value: constants of ours, they are put into the SQL. */
  fixed?: readonly [column: string, value: string];
  /** The UTC day that a row is narrowed by, an expression; null where rows have none. */
  day: string | null;
  /** Typed columns in the table's order with their SQL types, without the bookkeeping. */
  columns: readonly (readonly [name: string, type: string])[];
  /** Of these columns, what was observed beside the record and does not follow from it. */
  observed?: readonly string[];
  /** What decides between two contents of a record, most telling first, before observed_at (P2). */
  precedence: readonly string[];
};

const typed = (resource: Resource): TableShape['columns'] =>
  columnsOf(fieldsOf[resource])
    .filter(({ part }) => ['record', 'day', 'observed'].includes(part))
    .map(({ column, type }) => [column, type]);

export const tableShapes: Record<ListedResource, TableShape> = {
  orders: {
    table: 'archive.orders',
    versions: 'archive.order_versions',
    key: 'operation_id',
    day: 'slice_day',
    columns: typed('orders'),
    observed: ['slice_day'],
    // A terminal order returns to pending only under a later update_time.
    precedence: [`coalesce(updated_at, '-infinity')`, `(status is distinct from 1)`],
  },
  nft_classes: {
    table: 'archive.nft_classes',
    versions: 'archive.nft_class_versions',
    key: 'id',
    day: 'slice_day',
    columns: typed('nft_classes'),
    observed: ['slice_day'],
    precedence: [],
  },
};

/** Each lookup has results of its own: an operation may be known to both, in two shapes. */
const transactionShape = (version: ApiVersion): TableShape => ({
  table: 'archive.transactions',
  versions: 'archive.transaction_versions',
  key: 'operation_id',
  fixed: ['api_version', version],
  // A result names no day of its own until it is final.
  day: `(first_seen_at at time zone 'UTC')::date`,
  columns: typed('transactions'),
  precedence: [],
});

const transactionShapes: Record<ApiVersion, TableShape> = {
  v1beta1: transactionShape('v1beta1'),
  v3: transactionShape('v3'),
};

/** By resource; of results one of the two shapes, which lie in one table. */
export const resourceShapes: Record<Resource, TableShape> = {
  ...tableShapes,
  transactions: transactionShapes.v3,
  tokens: {
    table: 'archive.tokens',
    versions: 'archive.token_versions',
    key: 'symbol',
    day: null,
    columns: typed('tokens'),
    observed: ['height'],
    precedence: [],
  },
};

/** Records of a project that lie in one table under one key: a list, the tokens, or the results of one lookup. */
export type Archived =
  | { projectId: ProjectId; resource: Exclude<Resource, 'transactions'> }
  | { projectId: ProjectId; resource: 'transactions'; apiVersion: ApiVersion };

/** What a resource of a project is made of: the results of each lookup stand for themselves. */
export const archivedOf = (projectId: ProjectId, resource: Resource): Archived[] =>
  resource === 'transactions'
    ? apiVersions.map((apiVersion) => ({ projectId, resource, apiVersion }))
    : [{ projectId, resource }];

export const shapeOf = (of: Archived): TableShape =>
  of.resource === 'transactions' ? transactionShapes[of.apiVersion] : resourceShapes[of.resource];

/** `orders`, `transactions.v3`: what names it among others of its project. */
export const archivedName = (of: Archived): string =>
  of.resource === 'transactions' ? `${of.resource}.${of.apiVersion}` : of.resource;

/** The typed columns that follow from the record alone, which its versions have, too. */
export const derivedColumns = ({ columns, observed = [] }: TableShape): TableShape['columns'] =>
  columns.filter(([name]) => !observed.includes(name));

/**
 * How columns travel in JSON: as `json_to_recordset` is to read them, and what is selected of that. A jsonb value travels
 * as text, for jsonb of jsonb would round its numbers.
 */
export const inJson = (columns: TableShape['columns']): { typed: string; values: string } => ({
  typed: columns.map(([name, type]) => `${name} ${type === 'jsonb' ? 'text' : type}`).join(', '),
  values: columns
    .map(([name, type]) => (type === 'jsonb' ? `${name}::jsonb as ${name}` : name))
    .join(', '),
});

/** The key before the record's own column: for names of columns, for their values, and as a condition on a row. */
export const keyNames = ({ fixed }: TableShape): string =>
  fixed === undefined ? 'project_id' : `project_id, ${fixed[0]}`;
export const keyValues = ({ fixed }: TableShape): string =>
  fixed === undefined ? '$1' : `$1, '${fixed[1]}'`;
export const ofKey = ({ fixed }: TableShape, of: string): string =>
  `${of}.project_id = $1${fixed === undefined ? '' : ` and ${of}.${fixed[0]} = '${fixed[1]}'`}`;
