// The paths that are not ours to shape, described: the platform's own interface, a node's, and whether the service is well. Their
// parameters are checked where they are answered; the tests hold real answers to what stands here.
import * as z from 'zod';

export type Described = {
  path: string;
  name: string;
  group: string;
  summary: string;
  about: string;
  inPath: z.ZodObject;
  inQuery: z.ZodObject;
  answer: z.ZodType;
  /** The statuses of refusals, and whether they have a node's shape instead of the platform's. */
  refusals: readonly number[];
  isNodes?: true;
  /** Signed like the platform's; a key alone; nothing. */
  needs: 'signature' | 'key' | 'nothing';
};

const record = z.record(z.string(), z.unknown()).describe('As the platform gave it');
const text = z.string();
const date = z.string().meta({ format: 'date' });
const none = z.object({});

const dates = {
  start_date: date.optional().describe('First day, yyyy-MM-dd'),
  end_date: date
    .optional()
    .describe('Last day, as the platform was seen to read it: inclusive while that is unknown'),
  sort_by: z.enum(['DATE_ASC', 'DATE_DESC']).optional().describe('DATE_DESC unless told'),
};
const platform = {
  group: 'The platform’s own interface',
  refusals: [400, 403],
  needs: 'signature',
} as const;
const node = {
  group: 'The platform’s own interface',
  refusals: [400, 403],
  isNodes: true,
  needs: 'key',
  inQuery: none,
} as const;
const symbol = z.object({ name: z.string().min(1).max(512).describe('The symbol') });

const lookup = (path: string, name: string, version: string): Described => ({
  ...platform,
  path,
  name,
  summary: `The result of an operation, by the lookup of ${version}`,
  about: '',
  inPath: z.object({ name: z.string().min(1).max(512).describe('The operation id') }),
  inQuery: none,
  answer: z.object({ data: record }),
  refusals: [400, 403, 404],
});

const fee = (path: string, name: string): Described => ({
  ...node,
  path,
  name,
  summary: 'The fees of a token',
  about: '',
  inPath: symbol,
  answer: z.object({ height: text, result: record }),
});

const health = (path: string, name: string, summary: string): Described => ({
  path,
  name,
  group: 'The service',
  summary,
  about: 'Needs no key and tells nothing.',
  inPath: none,
  inQuery: none,
  answer: z.object({ status: text }),
  refusals: [],
  needs: 'nothing',
});

export const described: readonly Described[] = [
  {
    ...platform,
    path: '/v3/orders',
    name: 'platformOrders',
    summary: 'Purchase orders, for any date',
    about: 'Paged by key in both directions; `""` at the ends.',
    inPath: none,
    inQuery: z.object({
      page_key: text.optional().describe('The key of a page of the same query'),
      limit: z.int().min(1).max(50).optional().describe('10 unless told'),
      status: z.literal([1, 2, 3]).optional(),
      ...dates,
      count_total: z.literal([0, 1]).optional().describe('1: with the total'),
    }),
    answer: z.object({
      data: z.object({
        prev_page_key: text,
        next_page_key: text,
        limit: z.int(),
        total_count: z.int().optional(),
        order_infos: z.array(record),
      }),
    }),
  },
  {
    ...platform,
    path: '/v1beta1/nft/classes',
    name: 'platformNftClasses',
    summary: 'NFT classes, for any date',
    about:
      'Paged by offset. Every class before the page is read to get there: narrow long lists by date.',
    inPath: none,
    inQuery: z.object({
      offset: z.int().min(0).optional(),
      limit: z.int().min(1).max(200).optional().describe('10 unless told'),
      id: z.string().max(512).optional(),
      name: z.string().max(1000).optional().describe('A part of the name'),
      owner: z.string().max(1000).optional(),
      tx_hash: z.string().max(1000).optional(),
      ...dates,
    }),
    answer: z.object({
      data: z.object({
        offset: z.int(),
        limit: z.int(),
        total_count: z.int(),
        classes: z.array(record),
      }),
    }),
  },
  lookup('/v1beta1/tx/{name}', 'platformTransaction', 'v1beta1'),
  lookup('/v3/native/tx/{name}', 'platformNativeTransaction', 'v3'),
  {
    ...node,
    path: '/token/tokens',
    name: 'nodeTokens',
    summary: 'Tokens',
    about: '',
    inPath: none,
    inQuery: z.object({ owner: z.string().max(1000).optional() }),
    answer: z.object({ height: text, result: z.array(record).nullable() }),
  },
  {
    ...node,
    path: '/token/tokens/{name}',
    name: 'nodeToken',
    summary: 'One token',
    about: '',
    inPath: symbol,
    answer: z.object({ height: text, result: record }),
  },
  fee('/token/tokens/{name}/fee', 'nodeTokenFee'),
  fee('/token/tokens/{name}/fees', 'nodeTokenFees'),
  health('/healthz', 'isAlive', 'Whether the process lives'),
  health('/readyz', 'isReady', 'Whether it can answer from the archive'),
];
