// What the platform's own paths answer from the archive, for any date (docs/platform.md §4): lists with the same
// parameters, paging and envelope, the results of operations, and tokens as a node answers for them: its envelope, its
// errors, zero values left out as they were. Each is data, from which the server answers and /openapi.json tells; what
// describes a parameter is what checks it.
import * as z from 'zod';
import { orderStatuses, type ApiVersion, type ProjectId } from '../../model.ts';
import type { QueryParameters } from '../../platform/target.ts';
import { cursorSaid, day, id, offset, oneOf, whole } from '../../query/arguments.ts';
import {
  asText,
  checked,
  optional,
  type CheckedArguments,
  type Given,
  type Shape,
} from '../../query/check-arguments.ts';
import { recordFilters } from '../../query/record-filters.ts';
import type { ListScope } from '../../query/types.ts';
import { notFound, type Answer } from '../http-answers.ts';
import type { ServerContext } from '../server-context.ts';
import { withoutUndefined } from '../v1/route.ts';

type PlatformRequest = Pick<ServerContext, 'archive' | 'isAlive' | 'classesOf'> & {
  project: ProjectId;
};

export type PlatformRoute = {
  /** Parameters in braces. */
  path: string;
  /** Its name for programs: `platformOrders`. */
  name: string;
  group: string;
  summary: string;
  about: string;
  /** What stands in a 200. */
  answer: z.ZodType;
  /** The statuses of refusals, and whether they have a node's shape instead of the platform's. */
  refusals: readonly number[];
  isNodes?: true;
  /** Signed like the platform's; a key alone; nothing. */
  needs: 'signature' | 'key' | 'nothing';
  inPath: z.ZodObject;
  inQuery: z.ZodObject;
  /** Throws settings `argument_invalid` for what makes no sense (P12). */
  read(path: object, query: QueryParameters, asking: PlatformRequest): Promise<Answer>;
};

type Definition<Path extends Shape, Query extends Shape> = Omit<
  PlatformRoute,
  'inPath' | 'inQuery' | 'read'
> & {
  inPath: Path;
  inQuery: Query;
  read: (
    given: CheckedArguments<Path> & Partial<CheckedArguments<Query>>,
    asking: PlatformRequest,
  ) => Promise<Answer>;
};

/** What nobody knows here asks for nothing. */
export function platformRoute<Path extends Shape, Query extends Shape>(
  definition: Definition<Path, Query>,
): PlatformRoute {
  const inPath = z.object(asText(definition.inPath));
  const inQuery = z.object(optional(asText(definition.inQuery)));
  return {
    ...definition,
    inPath,
    inQuery,
    read: async (path, query, asking) =>
      definition.read(
        { ...checked(inPath, path), ...checked(inQuery, Object.fromEntries(query)) } as never,
        asking,
      ),
  };
}

/** A record in an answer. */
const record = z.record(z.string(), z.unknown()).describe('As the platform gave it');

const ofPlatform = {
  group: 'The platform’s own interface',
  about: '',
  refusals: [400, 403],
  needs: 'signature',
  inPath: {},
} as const;

const dates = {
  start_date: day.describe('First day, yyyy-MM-dd'),
  end_date: day.describe('Last day, inclusive'),
  sort_by: oneOf(['DATE_ASC', 'DATE_DESC']).describe('DATE_DESC by default'),
};

type Selected = Pick<ListScope, 'from' | 'to'> & { order: 'asc' | 'desc' };

/** The days asked for; null: an end before the start selects nothing. */
function selectedBy({
  start_date: from,
  end_date: to,
  sort_by: sortBy,
}: Given<typeof dates>): Selected | null {
  if (from !== undefined && to !== undefined && from > to) return null;
  return { ...withoutUndefined({ from, to }), order: sortBy === 'DATE_ASC' ? 'asc' : 'desc' };
}

/** The envelope around records that stand as they were archived. */
function listAnswer(
  head: Record<string, unknown>,
  listName: string,
  records: readonly { rawJson: string; rawBytes: Uint8Array | null }[],
): Answer {
  const opening = JSON.stringify(head).slice(0, -1);
  const parts: Uint8Array[] = [Buffer.from(`{"data":${opening},"${listName}":[`)];
  for (const [i, { rawJson, rawBytes }] of records.entries()) {
    if (i > 0) parts.push(Buffer.from(','));
    parts.push(rawBytes ?? Buffer.from(rawJson));
  }
  parts.push(Buffer.from(']}}'));
  return { status: 200, body: Buffer.concat(parts) };
}

const ordersRoute = platformRoute({
  ...ofPlatform,
  path: '/v3/orders',
  name: 'platformOrders',
  summary: 'Purchase orders, for any date',
  about: 'Paged by key in both directions; `""` at the ends.',
  inQuery: {
    page_key: cursorSaid('must be the `next_page_key` or `prev_page_key` of a page').describe(
      'The key of a page of the same query',
    ),
    limit: whole(1, 50).describe('10 by default'),
    status: z.literal(orderStatuses, 'must be one of 1, 2, 3 (pending, succeeded, failed)'),
    ...dates,
    count_total: z.literal([0, 1], 'must be one of 0, 1').describe('1: with the total'),
  },
  answer: z.object({
    data: z.object({
      prev_page_key: z.string(),
      next_page_key: z.string(),
      limit: z.int(),
      total_count: z.int().optional(),
      order_infos: z.array(record),
    }),
  }),
  read: async (
    { page_key: key, limit = 10, status, count_total: isCounted, ...range },
    { archive, project },
  ) => {
    const days = selectedBy(range);
    const scope = { project, ...days, ...withoutUndefined({ status }) };
    const page =
      days === null
        ? { items: [], next: null, previous: null }
        : await archive.orders.list({ ...scope, limit, ...withoutUndefined({ cursor: key }) });
    const total = async () => (days === null ? 0 : archive.orders.count(scope));
    const counts = isCounted === 1 ? { total_count: await total() } : {};
    return listAnswer(
      { prev_page_key: page.previous ?? '', next_page_key: page.next ?? '', limit, ...counts },
      'order_infos',
      page.items,
    );
  },
});

const { txHash, ...filters } = recordFilters.nft_classes;

const classesRoute = platformRoute({
  ...ofPlatform,
  path: '/v1beta1/nft/classes',
  name: 'platformNftClasses',
  summary: 'NFT classes, for any date',
  about:
    'Paged by offset. Every class before the page is read to get there: narrow long lists by date.',
  inQuery: {
    offset,
    limit: whole(1, 200).describe('10 by default'),
    ...filters,
    tx_hash: txHash,
    ...dates,
  },
  answer: z.object({
    data: z.object({
      offset: z.int(),
      limit: z.int(),
      total_count: z.int(),
      classes: z.array(record),
    }),
  }),
  read: async (
    { offset: from = 0, limit = 10, tx_hash: hash, start_date, end_date, sort_by, ...named },
    { archive, project: asked, classesOf },
  ) => {
    const project = classesOf(asked);
    const days = selectedBy({ start_date, end_date, sort_by });
    const scope = { project, ...days, ...named, ...withoutUndefined({ txHash: hash }) };
    const total = days === null ? 0 : await archive.nftClasses.count(scope);
    // Behind the end there is nothing to read one's way to.
    const items =
      from < total ? (await archive.nftClasses.list({ ...scope, limit, offset: from })).items : [];
    return listAnswer({ offset: from, limit, total_count: total }, 'classes', items);
  },
});

/** A node's error: `{"error":"…"}`. */
export const nodeError = (status: number, message: string): Answer => ({
  status,
  body: JSON.stringify({ error: message }),
});
export const nodeProblem = z.object({ error: z.string() });

const noToken = (symbol: string): Answer => nodeError(400, `token ${symbol} does not exist`);

const envelope = (height: string | null, result: string): Answer => ({
  status: 200,
  body: `{"height":"${height ?? '0'}","result":${result}}`,
});
const enveloped = (result: z.ZodType) => z.object({ height: z.string(), result });

const ofNode = { ...ofPlatform, isNodes: true, needs: 'key', inQuery: {} } as const;
const inPath = { symbol: id.describe('The symbol') };

const fees = (path: string, name: string): PlatformRoute =>
  platformRoute({
    ...ofNode,
    path,
    name,
    summary: 'The fees of a token',
    inPath,
    answer: enveloped(record),
    read: async ({ symbol }, { archive, project }) => {
      const token = await archive.tokens.get(project, symbol);
      if (token === null) return noToken(symbol);
      const { feesJson, height } = token;
      return feesJson === null
        ? nodeError(400, `no fees of token ${symbol} are archived`)
        : envelope(height, feesJson);
    },
  });

const tokenRoutes = [
  platformRoute({
    ...ofNode,
    path: '/token/tokens',
    name: 'nodeTokens',
    summary: 'Tokens',
    inQuery: recordFilters.tokens,
    answer: enveloped(z.array(record).nullable()),
    read: async (query, { archive, project }) => {
      const { items, height } = await archive.tokens.list({ project, ...query });
      // A node's empty list is null.
      const list = items.length === 0 ? 'null' : `[${items.map((one) => one.tokenJson).join(',')}]`;
      return envelope(height, list);
    },
  }),
  platformRoute({
    ...ofNode,
    path: '/token/tokens/{symbol}',
    name: 'nodeToken',
    summary: 'One token',
    inPath,
    answer: enveloped(record),
    read: async ({ symbol }, { archive, project }) => {
      const token = await archive.tokens.get(project, symbol);
      return token === null ? noToken(symbol) : envelope(token.height, token.tokenJson);
    },
  }),
  fees('/token/tokens/{symbol}/fee', 'nodeTokenFee'),
  fees('/token/tokens/{symbol}/fees', 'nodeTokenFees'),
];

const lookup = (path: string, name: string, apiVersion: ApiVersion): PlatformRoute =>
  platformRoute({
    ...ofPlatform,
    path,
    name,
    summary: `The result of an operation, by the lookup of ${apiVersion}`,
    inPath: { operation_id: id.describe('The operation id') },
    inQuery: {},
    answer: z.object({ data: record }),
    refusals: [400, 403, 404],
    read: async ({ operation_id: operationId }, { archive, project }) => {
      const results = await archive.transactions.get(project, operationId);
      const result = results.find((one) => one.apiVersion === apiVersion);
      if (result === undefined) return notFound('no result of this operation is archived');
      const { rawJson, rawBytes } = result;
      const parts = [Buffer.from('{"data":'), rawBytes ?? Buffer.from(rawJson), Buffer.from('}')];
      return { status: 200, body: Buffer.concat(parts) };
    },
  });

const transactionRoutes = [
  lookup('/v1beta1/tx/{operation_id}', 'platformTransaction', 'v1beta1'),
  lookup('/v3/native/tx/{operation_id}', 'platformNativeTransaction', 'v3'),
];

export const platformRecordRoutes: readonly PlatformRoute[] = [
  ordersRoute,
  classesRoute,
  ...transactionRoutes,
  ...tokenRoutes,
];
