// The routes of what the platform gives by name alone: transaction results, the files behind certificate links, and tokens.
import { countedForwardOf, decimalOrNull, listOf, timeOrNull } from './kinds.ts';
import { aboutHistory, listed, one, versions, whole } from './lists.ts';
import * as parameter from './parameters.ts';
import { present, route, type Route } from './route.ts';
import * as schema from './schemas.ts';

const operation = {
  mayBeAbsent: true,
  inPath: { id: parameter.id.describe('The operation id, percent-encoded') },
} as const;

const transactionRoutes: readonly Route[] = [
  route({
    path: '/transactions',
    name: 'listTransactions',
    summary: 'Transaction results',
    about:
      'By operation id and lookup. There is no list of operations: only those are here whose ids were given.',
    isList: true,
    inQuery: {
      as_of: parameter.asOf,
      status: parameter
        .severalWhole(0, 2_147_483_647)
        .optional()
        .describe('0 and 3 go on, 1 succeeded, 2 failed, others may come; several with commas'),
      module: parameter.text.optional().describe('As the lookup gave it: v3 gives numbers'),
      ...parameter.paging,
      count: parameter.count,
    },
    answer: countedForwardOf(schema.transaction),
    read: ({ limit, cursor, count, as_of: asOf, ...filters }, asking) =>
      listed(
        asking.archive.transactions,
        { project: asking.project, ...present({ ...filters, asOf }) },
        { limit, cursor, count },
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
    inQuery: { as_of: parameter.asOf },
    answer: listOf(schema.transaction),
    read: async ({ id, as_of: asOf }, { archive, project }) => {
      const found = await archive.transactions.get(project, id, present({ asOf }));
      return found.length === 0 ? null : whole(found, schema.transaction);
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
  inPath: { id: parameter.id.describe('The symbol, percent-encoded') },
} as const;

const tokenRoutes: readonly Route[] = [
  route({
    path: '/tokens',
    name: 'listTokens',
    summary: 'Tokens and their fees',
    about: 'By symbol, tokens that the node no longer lists included.',
    isList: true,
    inQuery: {
      as_of: parameter.asOf,
      owner: parameter.text.optional().describe('Only what this account owns'),
    },
    answer: listOf(schema.token, {
      taken_at: timeOrNull.describe('When the newest look was taken'),
      height: decimalOrNull.describe('At which height'),
    }),
    read: async ({ as_of: asOf, owner }, { archive, project }) => {
      const query = { project, ...present({ owner, asOf }) };
      const { items: rows, takenAt, height } = await archive.tokens.list(query);
      const { fields } = schema.token;
      return { kind: 'rows', rows, fields, beside: { taken_at: takenAt, height } };
    },
  }),
  route({
    path: '/tokens/{id}',
    name: 'getToken',
    summary: 'One token by its symbol',
    ...token,
    inQuery: { as_of: parameter.asOf },
    answer: schema.token.schema,
    read: async ({ id, as_of: asOf }, { archive, project }) =>
      one(await archive.tokens.get(project, id, present({ asOf })), schema.token),
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

export const unlistedRoutes: readonly Route[] = [...transactionRoutes, ...tokenRoutes];
