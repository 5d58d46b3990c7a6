// What was observed of the platform, as the library gives it.
import { factsArguments, parseArguments } from './arguments.ts';
import type { Reader } from './reader.ts';

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
