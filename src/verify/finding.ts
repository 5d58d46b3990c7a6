// What verifying finds: one shape for everything that does not follow, as a person reads it and as JSON. Its sentences
// stand in the check-….ts that find it, and in leaves.ts.
import type { Day, ProjectId, Resource } from '../model.ts';
import type { Tx } from '../store/db.ts';
import { readInPages } from '../store/snapshot.ts';

export type Finding = {
  /** What is wrong; docs/verify.md says what each means. */
  kind:
    | 'altered'
    | 'missing'
    | 'extra'
    | 'ledger'
    | 'journal'
    | 'column'
    | 'day'
    | 'certificate'
    | 'file'
    | 'platform';
  project_id: ProjectId;
  /** Null where it is about the whole project. */
  resource: Resource | null;
  /** The day, or the month as `yyyy-MM`; null where it is about neither. */
  when: Day | null;
  /** The record's id; null where it is about none. */
  id: string | null;
  /** In words, as the end of "there is something wrong: …". */
  says: string;
};

type Found = Pick<Finding, 'kind' | 'when' | 'id' | 'says'>;

/** Where findings go, one at a time: there may be as many as there are records. */
export type Report = (finding: Found) => Promise<void> | void;

/** Reports what a statement finds: each of its rows is a finding, all but the `id` where it is about no record. */
export const reportRows = (
  tx: Tx,
  sql: string,
  parameters: unknown[],
  report: Report,
): Promise<void> =>
  readInPages<Omit<Found, 'id'> & { id?: string }>(tx, sql, parameters, async (rows) => {
    for (const row of rows) await report({ id: null, ...row });
  });
