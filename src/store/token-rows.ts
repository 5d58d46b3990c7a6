// The tokens of a project, a dayless list of its own (sync.token_snapshots): when it is due, and the commit of a snapshot.
import type { Instant, ObservedRecord, ProjectId, RejectedRecord } from '../model.ts';
import { onlyRow, withTx, type Db, type Queryable, type Tx } from './db.ts';
import { placeBeside, enterMissing } from './journal/journal.ts';
import { iso } from './ledger.ts';
import { writeInto, type RecordEffects } from './records.ts';
import { keepRejects } from './rejects.ts';

export type DueTokens = {
  attempts: number;
  /** Whether any token is held, and any with fees. */
  holdsTokens: boolean;
  holdsFees: boolean;
};

/** Null where the project's tokens are not due. */
export async function dueTokens(
  db: Queryable,
  projectId: ProjectId,
  dueBy: Instant,
): Promise<DueTokens | null> {
  const { isDue, ...due } = onlyRow(
    await db.query<DueTokens & { isDue: boolean | null }>(
      `select coalesce(s.attempts, 0) as attempts,
              exists (select from archive.tokens where project_id = $1) as "holdsTokens",
              exists (select from archive.tokens where project_id = $1 and raw ? 'fees') as "holdsFees",
              s.project_id is null or s.due_at <= $2
                -- Or read, or put off for an hour at most, by a clock that was wrong, in a time to come.
                or case s.attempts when 0 then s.taken_at > $2::timestamptz + interval '1 hour'
                                   else s.due_at > $2::timestamptz + interval '25 hours' end as "isDue"
         from (select) one left join sync.token_snapshots s on s.project_id = $1`,
      [projectId, iso(dueBy)],
    ),
  );
  return isDue === false ? null : due;
}

type TokenSnapshot = {
  projectId: ProjectId;
  records: ObservedRecord[];
  rejects: RejectedRecord[];
  /** Decimal text. */
  height: string | null;
  /** When the list was asked for. */
  takenAt: Instant;
  dueAt: Instant;
  writtenAt: Instant;
};

/** Commits a whole snapshot: rows, versions, rejects and what is missing in it in one transaction (P1). */
export function commitTokens(
  db: Db,
  snapshot: TokenSnapshot,
): Promise<RecordEffects & { rejected: number }> {
  const { projectId, records, rejects, takenAt, writtenAt } = snapshot;
  const symbols = [...new Set(records.map(({ record }) => record.id))];
  return withTx(db, async (tx) => {
    await tx.query(
      `insert into sync.token_snapshots as s (project_id, taken_at, height, shown, due_at)
       values ($1, $2, $3, $4, $5)
           on conflict (project_id) do update
          set taken_at = excluded.taken_at, height = excluded.height, shown = excluded.shown, due_at = excluded.due_at,
              attempts = 0, last_error = null`,
      [
        projectId,
        iso(takenAt),
        snapshot.height,
        records.length + rejects.length,
        iso(snapshot.dueAt),
      ],
    );
    const place = placeBeside(projectId, 'tokens');
    const seen = rejects.map((reject) => ({ ...reject, seenAt: takenAt }));
    const entered = await keepRejects(tx, place, seen);
    const told = { kind: 'contents' as const, says: { rejects: entered } };
    const entry = entered.length > 0 ? { place, told } : undefined;
    const of = { projectId, resource: 'tokens' as const };
    const effects = await writeInto(tx, of, records, writtenAt, entry);
    // P4: absence is recorded, and nothing more comes of it.
    const gone = await tx.query<{ symbol: string }>(
      `update archive.tokens set missing_since = $3, changed_at = $4
        where project_id = $1 and symbol <> all ($2::text[]) and missing_since is null
       returning symbol`,
      [projectId, symbols, iso(takenAt), iso(writtenAt)],
    );
    const missing = gone.rows.map(({ symbol }) => symbol).toSorted();
    await enterMissing(tx, place, missing, takenAt);
    return { ...effects, rejected: entered.length };
  });
}

/** Puts the tokens off after they could not be read. */
export async function postponeTokens(
  tx: Tx,
  projectId: ProjectId,
  end: { attempts: number; dueAt: Instant; lastError: string | null },
): Promise<void> {
  await tx.query(
    `insert into sync.token_snapshots as s (project_id, attempts, due_at, last_error) values ($1, $2, $3, $4)
         on conflict (project_id) do update
        set attempts = excluded.attempts, due_at = excluded.due_at, last_error = excluded.last_error`,
    [projectId, end.attempts, iso(end.dueAt), end.lastError],
  );
}
