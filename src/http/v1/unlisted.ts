// The routes of what the platform gives by name alone: transaction results, the files behind certificate links, and tokens.
import { tokenFields, transactionFields } from '../../query/record-fields.ts';
import * as parameter from './parameters.ts';
import { object } from './records.ts';
import { present, route, type Route } from './route.ts';
import * as schema from './schemas.ts';

const inPath = { id: parameter.id.describe('The operation id, percent-encoded') };

export const unlistedRoutes: readonly Route[] = [
  route({
    path: '/transactions/{id}',
    name: 'getTransaction',
    summary: 'The results of one operation',
    about: 'What the two lookups gave: one or both, v1beta1 first.',
    mayBeAbsent: true,
    inPath,
    answer: schema.listOf(schema.transaction),
    read: async ({ id }, { archive, project }) => {
      const rows = await archive.transactions.get(project, id);
      return rows.length === 0 ? null : { kind: 'rows', rows, fields: transactionFields };
    },
  }),
  route({
    path: '/transactions/{id}/certificate_file',
    name: 'getCertificateFile',
    summary: 'The file behind the certificate link of an operation',
    about: 'Byte for byte as it was fetched, where `OUTLAST_KEEP_CERTIFICATES` said so.',
    mayBeAbsent: true,
    inPath,
    answer: null,
    read: async ({ id }, { archive, project }) => {
      const file = await archive.transactions.certificateFile(project, id);
      return file === null ? null : { kind: 'file', bytes: file.bytes, name: `certificate-${id}` };
    },
  }),
  route({
    path: '/tokens',
    name: 'listTokens',
    summary: 'Tokens and their fees',
    about: 'By symbol, tokens that the node no longer lists included.',
    isList: true,
    inQuery: { owner: parameter.text.optional().describe('Only what this account owns') },
    answer: schema.listOf(schema.token, {
      taken_at: schema.timeOrNull.describe('When the newest look was taken'),
      height: schema.decimal.nullable().describe('At which height'),
    }),
    read: async ({ owner }, { archive, project }) => {
      const { items, takenAt, height } = await archive.tokens.list({
        project,
        ...present({ owner }),
      });
      const beside = { taken_at: takenAt, height };
      return { kind: 'rows', rows: items, fields: tokenFields, beside };
    },
  }),
  route({
    path: '/tokens/{id}',
    name: 'getToken',
    summary: 'One token by its symbol',
    mayBeAbsent: true,
    inPath: { id: parameter.id.describe('The symbol, percent-encoded') },
    answer: schema.token,
    read: async ({ id }, { archive, project }) =>
      object(await archive.tokens.get(project, id), tokenFields),
  }),
];
