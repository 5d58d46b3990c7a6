// `/token/tokens` and what is below it from the archive (docs/platform.md §4.1-4.3), as a node answers it: its
// envelope, its errors, zero values left out as they were.
import * as z from 'zod';
import { id } from '../../query/arguments.ts';
import { tokenFilters } from '../../query/tokens.ts';
import type { Answer } from '../http-answers.ts';
import { ofPlatform, platformRoute, record, type PlatformRoute } from './platform-route.ts';

/** A node's error: `{"error":"…"}`. */
export const nodeError = (status: number, message: string): Answer => ({
  status,
  body: JSON.stringify({ error: message }),
});
export const nodeProblem = z.object({ error: z.string() });

const unknown = (symbol: string): Answer => nodeError(400, `token ${symbol} does not exist`);

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
      if (token === null) return unknown(symbol);
      const { feesJson, height } = token;
      return feesJson === null
        ? nodeError(400, `no fees of token ${symbol} are archived`)
        : envelope(height, feesJson);
    },
  });

export const tokenRoutes = [
  platformRoute({
    ...ofNode,
    path: '/token/tokens',
    name: 'nodeTokens',
    summary: 'Tokens',
    inQuery: tokenFilters,
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
      return token === null ? unknown(symbol) : envelope(token.height, token.tokenJson);
    },
  }),
  fees('/token/tokens/{symbol}/fee', 'nodeTokenFee'),
  fees('/token/tokens/{symbol}/fees', 'nodeTokenFees'),
];
