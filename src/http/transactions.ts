// `/v1beta1/tx/{id}` and `/v3/native/tx/{id}` from the archive (docs/platform.md §4.5, §4.6), whatever month they are of.
import type { ApiVersion } from '../model.ts';
import type { Archive } from '../query/types.ts';
import { notFound, type Answer } from './answers.ts';

export async function answerTransaction(
  archive: Archive,
  project: string,
  apiVersion: ApiVersion,
  operationId: string,
): Promise<Answer> {
  const results = await archive.transactions.get(project, operationId);
  const result = results.find((one) => one.apiVersion === apiVersion);
  if (result === undefined) return notFound('no result of this operation is archived');
  const { rawJson, rawBytes } = result;
  const parts = [Buffer.from('{"data":'), rawBytes ?? Buffer.from(rawJson), Buffer.from('}')];
  return { status: 200, body: Buffer.concat(parts) };
}
