// What a forecast goes by: the ledger's rows that are still worked on, the allowed rate, and the newest moment any run
// knew. Reads only; quick whatever the years, for what is final is left out.
import { and, desc, eq, inArray, max } from 'drizzle-orm';
import type { Instant, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';
import { drizzleOn } from './drizzle.ts';
import { columns, type Slice } from './ledger.ts';
import { rate, runs, slices } from './schema.ts';

export type Outlook = {
  /** Neither final nor lost. */
  slices: Slice[];
  /** Requests a second that the last process was allowed; null while none has asked. */
  perSecond: number | null;
  /** The platform's clock at the end of the newest run; null before the first. */
  newestRunAt: Instant | null;
};

export async function readOutlook(db: Queryable, projectId: ProjectId): Promise<Outlook> {
  const orm = drizzleOn(db);
  const worked = await orm
    .select(columns)
    .from(slices)
    .where(
      and(eq(slices.projectId, projectId), inArray(slices.state, ['open', 'walked', 'sealed'])),
    )
    .orderBy(slices.deadlineAt, slices.day, desc(slices.resource), slices.owner);
  const [allowed] = await orm
    .select({ perSecond: rate.perSecond })
    .from(rate)
    .where(eq(rate.projectId, projectId));
  const [newest] = await orm
    .select({ endedAt: max(runs.endedAt).as('ended_at') })
    .from(runs)
    .where(eq(runs.projectId, projectId));
  const perSecond = allowed?.perSecond ?? null;
  return {
    slices: worked,
    perSecond: perSecond === null ? null : Number(perSecond),
    newestRunAt: newest?.endedAt ?? null,
  };
}
