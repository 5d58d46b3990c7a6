// Questions that are no pages: a transaction result by its operation id, the node's tokens and their fees
// (docs/platform.md §4.1-4.3, §4.5, §4.6). What is no such answer is a passing fault, never "not found".
import { transient } from '../errors.ts';
import type { ApiVersion, RejectedRecord } from '../model.ts';
import { decodeUtf8 } from './bytes.ts';
import { type Json, type JsonObject, isObject, maxRecordDepth, parseJson } from './json.ts';
import { envelopeOf, parsedAnswer, unreadable } from './pages.ts';
import { longReject, reject } from './parse.ts';
import type { FoundTransaction, ListedToken, NodeTokenList } from './platform.ts';
import type { Question } from './request.ts';
import { symbolIn } from './tokens.ts';
import { readTransaction } from './transactions.ts';

const lookupPaths: Record<ApiVersion, string> = { v1beta1: '/v1beta1/tx', v3: '/v3/native/tx' };

export function transactionQuestion(
  version: ApiVersion,
  operationId: string,
): Question<FoundTransaction> {
  const path = lookupPaths[version];
  return {
    path: `${path}/${encodeURIComponent(operationId)}`,
    name: path,
    params: {},
    read: (body, askedAt) => {
      const text = objectIn(membersOf(body), 'data');
      return {
        record: readTransaction(parsedAnswer(text, maxRecordDepth), text, operationId),
        askedAt,
      };
    },
    // The platform's own "not found"; a bare `404 page not found` comes now and then and says nothing.
    missing: (body, askedAt) => (isRefusal(body) ? { value: { record: null, askedAt } } : null),
  };
}

const tokensPath = '/token/tokens';

export const tokensQuestion = (): Question<NodeTokenList | null> => ({
  path: tokensPath,
  params: {},
  read: (body, askedAt) => {
    const envelope = membersOf(body);
    const height = heightOf(envelope.get('height'));
    return { height, ...tokensIn(envelope), askedAt };
  },
  missing: () => ({ value: null }),
});

export const feesQuestion = (symbol: string, path: 'fee' | 'fees'): Question<string | null> => ({
  path: `${tokensPath}/${encodeURIComponent(symbol)}/${path}`,
  name: `${tokensPath}/…/${path}`,
  params: {},
  read: (body) => objectIn(membersOf(body), 'result'),
  missing: () => ({ value: null }),
});

function tokensIn(envelope: Envelope): Pick<NodeTokenList, 'tokens' | 'rejects'> {
  const tokens: ListedToken[] = [];
  const rejects: RejectedRecord[] = [];
  const result = envelope.get('result');
  // An empty list is null.
  if (result === null) return { tokens, rejects };
  const text = typeof result === 'object' && result.type === 'deep' ? result.text : '';
  const list = parsedAnswer(text, 1);
  if (typeof list !== 'object' || list?.type !== 'array') throw unreadable('result is no list');
  for (let i = 0; i < list.items.length; i++) {
    const element = text.slice(list.spans[2 * i], list.spans[2 * i + 1]);
    const long = longReject(element);
    if (long !== null) {
      rejects.push(long);
      continue;
    }
    const id = symbolIn(parsedAnswer(element, maxRecordDepth));
    if ('wrong' in id) rejects.push(reject(element, `symbol ${id.wrong}`));
    else tokens.push({ symbol: id.id, text: element });
  }
  return { tokens, rejects };
}

/** The members of an answer; arrays and objects among them are not taken apart, so that their text is at hand. */
type Envelope = JsonObject['fields'];

const membersOf = (body: Buffer): Envelope => envelopeOf(decodeUtf8(body), 1);

/** A member's verbatim text, an object's. */
function objectIn(envelope: Envelope, name: string): string {
  const member = envelope.get(name);
  const text = typeof member === 'object' && member?.type === 'deep' ? member.text : '[]';
  if (longReject(text) !== null) {
    throw transient('unusable_answer', `its ${name} is longer than a record may be`);
  }
  if (!isObject(parsedAnswer(text, maxRecordDepth))) throw unreadable(`it has no ${name} object`);
  return text;
}

/** Whether a body is the platform's error envelope. */
function isRefusal(body: Buffer): boolean {
  try {
    const envelope = parseJson(decodeUtf8(body));
    return isObject(envelope) && isObject(envelope.fields.get('error'));
  } catch {
    return false;
  }
}

/** A height given as number or text, if Postgres' bigint holds it. */
function heightOf(value: Json | undefined): string | null {
  const text = typeof value === 'object' && value?.type === 'number' ? value.text : value;
  return typeof text === 'string' && /^\d{1,18}$/.test(text) ? text : null;
}
