// A statement carried out and explained: its plan and the blocks it reads, which say the same on every machine.
import type { Reader } from '../../src/query/reader.ts';
import type { Queryable } from '../../src/store/db.ts';

export type Plan = {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Temp Written Blocks': number;
  Plans?: Plan[];
};

export type Statement = { sql: string; parameters: unknown[] };

export async function explain(
  by: Pick<Queryable, 'query'>,
  { sql, parameters }: Statement,
): Promise<Plan> {
  const { rows } = await by.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
    `explain (analyze, buffers, format json) ${sql}`,
    parameters,
  );
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (plan === undefined) throw new Error('no plan');
  return plan;
}

export const blocksOf = (plan: Plan): number =>
  plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];

/** It and all below it. */
export const nodesIn = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesIn)];

/** The same reader, and what it sends. */
export const watched = (reader: Reader, onSent: (statement: Statement) => void): Reader => ({
  ...reader,
  query: (sql, parameters) => {
    onSent({ sql, parameters: parameters ?? [] });
    return reader.query(sql, parameters);
  },
});
