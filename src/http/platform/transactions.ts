// `/v1beta1/tx/{id}` and `/v3/native/tx/{id}` from the archive (docs/platform.md §4.5, §4.6), whatever month they are
// of.
import * as z from 'zod';
import type { ApiVersion } from '../../model.ts';
import { id } from '../../query/arguments.ts';
import { notFound } from '../http-answers.ts';
import { ofPlatform, platformRoute, record, type PlatformRoute } from './platform-route.ts';

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

export const transactionRoutes = [
  lookup('/v1beta1/tx/{operation_id}', 'platformTransaction', 'v1beta1'),
  lookup('/v3/native/tx/{operation_id}', 'platformNativeTransaction', 'v3'),
];
