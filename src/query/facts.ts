// What was observed of the platform, as the library gives it.
import * as z from 'zod';
import { parseArguments, project as projectName } from './arguments.ts';
import type { Reader } from './reader.ts';

const factsArguments = z.strictObject({ project: projectName });

export async function readFacts(
  reader: Reader,
  query: { project: string },
): Promise<Record<string, string>> {
  const { project } = parseArguments('facts', factsArguments, query);
  const { rows } = await reader.query<{ fact: string; value: string }>(
    'select fact, value from analytics.facts where project_id = $1 order by fact',
    [project],
  );
  return Object.fromEntries(rows.map(({ fact, value }) => [fact, value]));
}
