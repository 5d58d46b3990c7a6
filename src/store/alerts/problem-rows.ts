// What is wrong with an archive: the rows of analytics.problems, and sync.reported_problems, by which a process adds to
// them what the other tables do not say.
import type { Instant, ProjectId } from '../../model.ts';
import type { ProblemKind, ProblemLevel, ProblemNumbers } from '../../problems.ts';
import type { Queryable, Tx } from '../db.ts';
import { iso, msOf } from '../ledger.ts';

export type Problem = {
  projectId: ProjectId;
  kind: ProblemKind;
  level: ProblemLevel;
  /** What it is about: `orders 2026-03`, `orders.limit`; '' for the project as a whole. */
  subject: string;
  numbers: ProblemNumbers;
  /** It has happened and stays so: there is nothing to recover from. */
  isNews: boolean;
  /** Since when it is known; null: no process has looked since. */
  since: Instant | null;
  /** Until when something can be done; null: no time is known. */
  until: Instant | null;
};

/** What a process knows and reports. */
export type ProblemReport = Pick<Problem, 'kind' | 'subject' | 'numbers'> & {
  until: Instant | null;
};

/** What a forecast says takes the place of what the last one said. */
const isForecast = ({ kind, numbers }: Pick<ProblemReport, 'kind' | 'numbers'>): boolean =>
  kind === 'deadline_at_risk' && numbers.requests !== undefined;

/**
 * All there is of one project, or of all, the worst first. `forecast`: what one of this moment says, in place of what was
 * reported. A month may be at risk for two reasons: one of them is given.
 */
export async function readProblems(
  db: Queryable,
  projectId: ProjectId | null,
  forecast?: ReadonlyMap<ProjectId, readonly ProblemReport[]>,
): Promise<Problem[]> {
  const { rows: stored } = await db.query<Problem>(
    `select project_id as "projectId", kind, level, subject, numbers, is_news as "isNews",
            ${msOf('since')} as since, ${msOf('until')} as until
       from analytics.problems
      where $1::text is null or project_id = $1
      order by project_id, array_position(array['critical', 'warning', 'info'], level), kind, until, subject`,
    [projectId],
  );
  const known = new Map(stored.map((one) => [nameOf(one), one]));
  const foreseen = [...(forecast ?? [])].flatMap(([of, reports]) =>
    reports.map((report): Problem => {
      const problem = { ...report, projectId: of, level: 'critical', isNews: false } as const;
      return { ...problem, since: known.get(nameOf(problem))?.since ?? null };
    }),
  );
  const others = forecast === undefined ? stored : stored.filter((one) => !isForecast(one));
  const byName = new Map<string, Problem>();
  for (const one of [...foreseen, ...others]) {
    const other = byName.get(nameOf(one));
    if (other === undefined || (isForecast(one) && !isForecast(other)))
      byName.set(nameOf(one), one);
  }
  return [...byName.values()];
}

const nameOf = ({ projectId, kind, subject }: Omit<Problem, 'since'>): string =>
  JSON.stringify([projectId, kind, subject]);

/**
 * By how much the platform's clock is ahead of the database's: problems are judged by it. As of a minute ago, for the view
 * takes no note from a time to come, and a transaction that began just before this one may read it.
 */
export async function noteClock(tx: Queryable, projectId: ProjectId, now: Instant): Promise<void> {
  await tx.query(
    `update sync.projects
        set clock_ahead = make_interval(secs => extract(epoch from $2::timestamptz - now())::float8), clock_noted_at = now() - interval '1 minute'
      where project_id = $1
        and (abs(extract(epoch from now() + clock_ahead - $2::timestamptz)) > 1
             or clock_noted_at is null or clock_noted_at not between now() - interval '10 minutes' and now())`,
    [projectId, iso(now)],
  );
}

/**
 * Replaces what is reported of a project, but for kinds that this process knows nothing of (`unknown`). The clocks of
 * other machines than `machine` are told of for a day: they may be there no more.
 */
export async function reportProblems(
  tx: Tx,
  projectId: ProjectId,
  now: Instant,
  reports: readonly ProblemReport[],
  machine: string,
  unknown: readonly ProblemKind[],
): Promise<void> {
  await tx.query(
    `delete from sync.reported_problems
      where project_id = $1
        and kind <> all ($2)
        and not (kind = 'clock_disagrees' and subject <> $3 and reported_at > $4::timestamptz - interval '25 hours')`,
    [projectId, unknown, machine, iso(now)],
  );
  for (const { kind, subject, numbers, until } of reports) {
    await tx.query(
      `insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at, until)
       values ($1, $2, $3, $4::jsonb, $5::timestamptz, $6::timestamptz)
           on conflict (project_id, kind, subject) do update
          set numbers = excluded.numbers, reported_at = excluded.reported_at, until = excluded.until`,
      [projectId, kind, subject, JSON.stringify(numbers), iso(now), iso(until)],
    );
  }
}
