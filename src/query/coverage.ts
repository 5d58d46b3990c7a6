// What is held of each day and how sure that is (P7), as analytics.coverage shows it.
import * as z from 'zod';
import { listedResource, parseArguments, project } from './arguments.ts';
import { optional } from './check-arguments.ts';
import { days } from './days.ts';
import type { Reader } from './reader.ts';
import type { Balance, BalanceQuery, CoverageDay, CoverageQuery } from './book-types.ts';

/** What coverage can be narrowed by, whoever asks. */
export const coverageFilters = { resource: listedResource, ...days };
const coverageArguments = z.strictObject({ project, ...optional(coverageFilters) });

/** A row of analytics.coverage as Postgres gives it: `coverageColumns`. */
export type CoverageRow = Omit<CoverageDay, 'platformTotal' | 'shownTotal' | 'rejected'> & {
  platformTotal: string | null;
  shownTotal: string | null;
  rejected: string;
};

export const coverageColumns = `
  project_id as "project", resource, owner, day, state, proof, why, proved_at as "provedAt", walked_at as "walkedAt",
  platform_total as "platformTotal", shown_total as "shownTotal", unresolved, rejected, deadline_at as "deadlineAt",
  reservations, is_held as "isHeld", is_settled as "isSettled", due_at as "dueAt",
  last_error as "lastError"`;

/** Counts of records: far below 2^53. */
export const withCounts = <Row extends CoverageRow>(row: Row) => ({
  ...row,
  platformTotal: row.platformTotal === null ? null : Number(row.platformTotal),
  shownTotal: row.shownTotal === null ? null : Number(row.shownTotal),
  rejected: Number(row.rejected),
});

/** By resource, day and owner: one slice each. */
export async function readCoverage(reader: Reader, given: CoverageQuery): Promise<CoverageDay[]> {
  const query = parseArguments('coverage', coverageArguments, given);
  const { rows } = await reader.query<CoverageRow>(
    `select ${coverageColumns}
       from analytics.coverage
      where project_id = $1
        and ($2::text is null or resource = $2)
        and ($3::date is null or day >= $3)
        and ($4::date is null or day < $4)
      order by resource desc, day, owner`,
    [query.project, query.resource ?? null, query.from ?? null, query.to ?? null],
  );
  return rows.map(withCounts);
}

const balanceArguments = z.strictObject({ project, resource: listedResource.optional() });

const balanceCounts = ['total', 'pending', 'succeeded', 'failed', 'shown'] as const;
type BalanceRow = Omit<Balance, (typeof balanceCounts)[number]> &
  Record<(typeof balanceCounts)[number], string | null>;

/** By resource and owner; none where the platform was not asked yet. */
export async function readBalances(reader: Reader, given: BalanceQuery): Promise<Balance[]> {
  const query = parseArguments('books', balanceArguments, given);
  const { rows } = await reader.query<BalanceRow>(
    `select project_id as "project", resource, owner, first_day as "firstDay", last_day as "lastDay",
            asked_at as "askedAt", ${balanceCounts.join(', ')}, balance, more, more_since as "moreSince"
       from analytics.balances
      where project_id = $1 and ($2::text is null or resource = $2)
      order by resource desc, owner`,
    [query.project, query.resource ?? null],
  );
  const whole = (text: string | null): number | null => (text === null ? null : Number(text));
  return rows.map((row) => ({
    ...row,
    total: whole(row.total),
    pending: whole(row.pending),
    succeeded: whole(row.succeeded),
    failed: whole(row.failed),
    shown: whole(row.shown),
  }));
}
