// `/token/tokens` and what is below it from the archive (docs/platform.md §4.1-4.3), as a node answers it: its envelope, its
// errors, zero values left out as they were.
import type { Archive, Token } from '../query/types.ts';
import type { Query } from '../platform/target.ts';
import type { Answer } from './answers.ts';

/** A node's error: `{"error":"…"}`. */
export const nodeError = (status: number, message: string): Answer => ({
  status,
  body: JSON.stringify({ error: message }),
});

export async function answerTokens(
  archive: Archive,
  project: string,
  query: Query,
): Promise<Answer> {
  const owner = query.get('owner');
  const { items, height } = await archive.tokens.list({
    project,
    ...(owner === undefined ? {} : { owner }),
  });
  // A node's empty list is null.
  const list = items.length === 0 ? 'null' : `[${items.map((one) => one.tokenJson).join(',')}]`;
  return envelope(height, list);
}

export async function answerToken(
  archive: Archive,
  project: string,
  symbol: string,
): Promise<Answer> {
  const token = await archive.tokens.get(project, symbol);
  return token === null ? unknown(symbol) : envelope(token.height, token.tokenJson);
}

export async function answerFees(
  archive: Archive,
  project: string,
  symbol: string,
): Promise<Answer> {
  const token: Token | null = await archive.tokens.get(project, symbol);
  if (token === null) return unknown(symbol);
  const { feesJson, height } = token;
  return feesJson === null
    ? nodeError(400, `no fees of token ${symbol} are archived`)
    : envelope(height, feesJson);
}

const unknown = (symbol: string): Answer => nodeError(400, `token ${symbol} does not exist`);

const envelope = (height: string | null, result: string): Answer => ({
  status: 200,
  body: `{"height":"${height ?? '0'}","result":${result}}`,
});
