// The routes of what the platform gives by name alone: transaction results, the files behind certificate links, and
// tokens.
import { asOf, id as anyId } from '../../query/arguments.ts';
import { tokenFilters } from '../../query/tokens.ts';
import { transactionFilters } from '../../query/transactions.ts';
import { countedForwardOf, decimalOrNull, listOf, timeOrNull } from './answer-schemas.ts';
import { aboutHistory, listReply, one, pageArguments, versions, wholeReply } from './lists.ts';
import { count } from './parameters.ts';
import { route, type Route } from './route.ts';
import * as schema from './schemas.ts';

const operation = {
  mayBeAbsent: true,
  inPath: { id: anyId.describe('The operation id, percent-encoded') },
} as const;

const transactionRoutes: readonly Route[] = [
  route({
    path: '/transactions',
    name: 'listTransactions',
    summary: 'Transaction results',
    about:
      'By operation id and lookup. There is no list of operations: only those are here whose ids were given.',
    isList: true,
    inQuery: { asOf, ...transactionFilters, ...pageArguments, count },
    answer: countedForwardOf(schema.transaction),
    read: ({ limit, cursor, count: isCounted, ...query }, asking) =>
      listReply(
        asking.archive.transactions,
        { project: asking.project, ...query },
        { limit, cursor, count: isCounted },
        schema.transaction,
        asking,
      ),
  }),
  route({
    path: '/transactions/{id}',
    name: 'getTransaction',
    summary: 'The results of one operation',
    about: 'What the two lookups gave: one or both, v1beta1 first.',
    ...operation,
    inQuery: { asOf },
    answer: listOf(schema.transaction),
    read: async ({ id, ...at }, { archive, project }) => {
      const found = await archive.transactions.get(project, id, at);
      return found.length === 0 ? null : wholeReply(found, schema.transaction);
    },
  }),
  route({
    path: '/transactions/{id}/history',
    name: 'getTransactionHistory',
    summary: 'Everything the lookups were ever seen to say of an operation',
    about: `v1beta1 first. ${aboutHistory}`,
    isList: true,
    ...operation,
    answer: listOf(schema.transactionVersion),
    read: async ({ id }, { archive, project }) =>
      versions(await archive.transactions.history(project, id), schema.transactionVersion),
  }),
  route({
    path: '/transactions/{id}/certificate_file',
    name: 'getCertificateFile',
    summary: 'The file behind the certificate link of an operation',
    about: 'Byte for byte as it was fetched, where `OUTLAST_KEEP_CERTIFICATES` said so.',
    ...operation,
    answer: null,
    read: async ({ id }, { archive, project }) => {
      const file = await archive.transactions.certificateFile(project, id);
      return file === null ? null : { kind: 'file', bytes: file.bytes, name: `certificate-${id}` };
    },
  }),
];

const token = {
  mayBeAbsent: true,
  inPath: { id: anyId.describe('The symbol, percent-encoded') },
} as const;

const tokenRoutes: readonly Route[] = [
  route({
    path: '/tokens',
    name: 'listTokens',
    summary: 'Tokens and their fees',
    about: 'By symbol, tokens that the node no longer lists included.',
    isList: true,
    inQuery: { asOf, ...tokenFilters },
    answer: listOf(schema.token, {
      taken_at: timeOrNull.describe('When the newest look was taken'),
      height: decimalOrNull.describe('At which height'),
    }),
    read: async (query, { archive, project }) => {
      const { items: rows, takenAt, height } = await archive.tokens.list({ project, ...query });
      const { fields } = schema.token;
      return { kind: 'rows', rows, fields, beside: { taken_at: takenAt, height } };
    },
  }),
  route({
    path: '/tokens/{id}',
    name: 'getToken',
    summary: 'One token by its symbol',
    ...token,
    inQuery: { asOf },
    answer: schema.token.schema,
    read: async ({ id, ...at }, { archive, project }) =>
      one(await archive.tokens.get(project, id, at), schema.token),
  }),
  route({
    path: '/tokens/{id}/history',
    name: 'getTokenHistory',
    summary: 'Everything a token was ever seen to say',
    about: aboutHistory,
    isList: true,
    ...token,
    answer: listOf(schema.tokenVersion),
    read: async ({ id }, { archive, project }) =>
      versions(await archive.tokens.history(project, id), schema.tokenVersion),
  }),
];

export const lookupRoutes: readonly Route[] = [...transactionRoutes, ...tokenRoutes];
