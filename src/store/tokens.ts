// The tokens of a project, a dayless list of its own (sync.token_snapshots): its lease, and the commit of a snapshot.
// The epoch decides who may write (P8).
import { transient } from '../errors.ts';
import {
  wholeList,
  type Instant,
  type ObservedRecord,
  type ProjectId,
  type RejectedRecord,
} from '../model.ts';
import { onlyRow, timeoutsWithin, withTx, type Db, type Queryable, type Tx } from './db.ts';
import { chainBeside, enterMissing } from './journal/journal.ts';
import { givenBack, leaseEnd } from './lease.ts';
import { iso } from './ledger.ts';
import { writeInto, type RecordEffects } from './records.ts';
import { enteredReject, type EnteredReject } from './rejects.ts';
import { tokenShape } from './tables.ts';

export type TokenLease = {
  projectId: ProjectId;
  leaseEpoch: number;
  attempts: number;
  /** Whether any token is held, and any with fees. */
  holdsTokens: boolean;
  holdsFees: boolean;
};

/** Claims the project's tokens if they are due and free; null otherwise. */
export async function claimTokens(
  db: Queryable,
  claim: { projectId: ProjectId; holder: string; leaseMs: number; dueBy: Instant },
): Promise<TokenLease | null> {
  const { projectId, holder, leaseMs, dueBy } = claim;
  const { rows } = await db.query<{ lease_epoch: string; attempts: number }>(
    `insert into sync.token_snapshots as s (project_id, due_at, lease_holder, lease_epoch, lease_until)
     values ($1, $4, $2, 1, ${leaseEnd('$3')})
         on conflict (project_id) do update
        set lease_holder = excluded.lease_holder, lease_epoch = s.lease_epoch + 1, lease_until = excluded.lease_until
      where (s.due_at <= $4
             -- Read by a clock that was wrong, in a time to come.
             or (s.attempts = 0 and s.taken_at > $4::timestamptz + interval '1 hour'))
            -- Free, as lease.ts has it: it ended before this one would begin, or would end more than a lease after it.
        and (s.lease_until is null or s.lease_holder = $2
             or excluded.lease_until - s.lease_until not between -make_interval(secs => $3) and make_interval(secs => $3))
     returning s.lease_epoch, s.attempts`,
    [projectId, holder, leaseMs / 1000, iso(dueBy)],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const held = onlyRow(
    await db.query<{ tokens: boolean; fees: boolean }>(
      `select count(*) > 0 as tokens, count(*) filter (where raw ? 'fees') > 0 as fees
         from archive.tokens where project_id = $1`,
      [projectId],
    ),
  );
  return {
    projectId,
    leaseEpoch: Number(row.lease_epoch),
    attempts: row.attempts,
    holdsTokens: held.tokens,
    holdsFees: held.fees,
  };
}

/** Keeps the lease while fees are asked for. False when it is another's by now. */
export async function renewTokens(
  db: Queryable,
  { projectId, leaseEpoch }: TokenLease,
  leaseMs: number,
): Promise<boolean> {
  const { rows } = await db.query(
    `update sync.token_snapshots set lease_until = ${leaseEnd('$3')}
      where project_id = $1 and lease_epoch = $2
     returning 1`,
    [projectId, leaseEpoch, leaseMs / 1000],
  );
  return rows.length === 1;
}

export type TokenSnapshot = {
  lease: TokenLease;
  records: ObservedRecord[];
  rejects: RejectedRecord[];
  /** Decimal text. */
  height: string | null;
  /** When the list was asked for. */
  takenAt: Instant;
  dueAt: Instant;
  leaseMs: number;
  writtenAt: Instant;
};

/**
 * Commits a whole snapshot: rows, versions, rejects, what is missing in it and its lease in one transaction (P1).
 * Throws transient `lease_lost` when the tokens are another's by now: nothing was written (P8).
 */
export function commitTokens(
  db: Db,
  snapshot: TokenSnapshot,
): Promise<RecordEffects & { rejected: number }> {
  return withTx(db, (tx) => commitIn(tx, snapshot), timeoutsWithin(snapshot.leaseMs));
}

async function commitIn(
  tx: Tx,
  snapshot: TokenSnapshot,
): Promise<RecordEffects & { rejected: number }> {
  const { lease, records, rejects, takenAt, writtenAt } = snapshot;
  const { projectId, leaseEpoch } = lease;
  const symbols = [...new Set(records.map(({ record }) => record.id))];
  const { rows } = await tx.query(
    `update sync.token_snapshots
        set taken_at = $3, height = $4, shown = $5, due_at = $6, symbols = $7, attempts = 0, last_error = null,
            ${givenBack}
      where project_id = $1 and lease_epoch = $2
        -- P2: an older look than the one held says nothing new.
        and (taken_at is null or taken_at <= $3)
     returning 1`,
    [
      projectId,
      leaseEpoch,
      iso(takenAt),
      snapshot.height,
      records.length + rejects.length,
      iso(snapshot.dueAt),
      symbols,
    ],
  );
  if (rows.length !== 1) {
    throw transient('lease_lost', 'The tokens went on without us: they are read again');
  }
  const entered = await writeRejects(tx, projectId, rejects, takenAt);
  const chain = chainBeside(projectId, 'tokens');
  const told = { kind: 'contents' as const, says: { rejects: entered } };
  const to = {
    projectId,
    expectsNew: null,
    ...(entered.length > 0 ? { entry: { chain, told } } : {}),
  };
  const effects = await writeInto(tx, tokenShape, to, records, writtenAt);
  // P4: absence is recorded, and nothing more comes of it.
  const gone = await tx.query<{ symbol: string }>(
    `update archive.tokens set missing_since = $3, changed_at = $4
      where project_id = $1 and symbol <> all ($2::text[]) and missing_since is null
     returning symbol`,
    [projectId, symbols, iso(takenAt), iso(writtenAt)],
  );
  const missing = gone.rows.map(({ symbol }) => symbol).toSorted();
  await enterMissing(tx, chain, missing, takenAt);
  return { ...effects, rejected: entered.length };
}

/** Keeps what has no usable symbol, once each, under no day. Returns those that were new. */
async function writeRejects(
  tx: Tx,
  projectId: ProjectId,
  rejects: RejectedRecord[],
  seenAt: Instant,
): Promise<EnteredReject[]> {
  if (rejects.length === 0) return [];
  const { rows } = await tx.query<{ entered: EnteredReject }>(
    `insert into sync.rejects (project_id, resource, owner, day, sha256, bytes, reason, seen_at, whole_length)
     select distinct on (sha256) $1, 'tokens', '', $2::date, sha256, bytes, reason, $3::timestamptz, whole_length
       from unnest($4::bytea[], $5::bytea[], $6::text[], $7::bigint[]) as r(sha256, bytes, reason, whole_length)
      order by sha256
         on conflict do nothing
     returning ${enteredReject} as entered`,
    [
      projectId,
      wholeList,
      iso(seenAt),
      rejects.map((reject) => Buffer.from(reject.sha256, 'hex')),
      rejects.map((reject) => reject.bytes),
      rejects.map((reject) => reject.reason),
      rejects.map((reject) => reject.wholeLength),
    ],
  );
  return rows.map(({ entered }) => entered);
}

/** Puts the tokens off after they could not be read; nothing where they are another's by now. */
export async function postponeTokens(
  db: Queryable,
  { projectId, leaseEpoch }: TokenLease,
  end: { attempts: number; dueAt: Instant; lastError: string | null },
): Promise<void> {
  await db.query(
    `update sync.token_snapshots
        set attempts = $3, due_at = $4, last_error = $5, ${givenBack}
      where project_id = $1 and lease_epoch = $2`,
    [projectId, leaseEpoch, end.attempts, iso(end.dueAt), end.lastError],
  );
}
