// sync.alerts: what is wrong and was told, or is to be told; one row for each condition, so that any number of replicas
// tell it once. An open condition has no resolved_at; one that is over has a later one than opened_at. News, such as a
// lost day, is never over: it has the same moment in both.
import type { Instant, ProjectId } from '../../model.ts';
import { withTx, type Db, type Queryable, type Row, type Tx } from '../db.ts';
import { columnNamesOf, drizzleOn, readRow, type SelectedRow } from '../drizzle-statements.ts';
import { iso } from '../ledger.ts';
import { and, eq, getTableColumns, or, sql } from '../drizzle-import.ts';
import { alerts } from '../schema.ts';

/** What is known of an alert. `attempts`: tries to tell it since it was last told. */
const { projectId: _project, tellingUntil: _until, ...columns } = getTableColumns(alerts);
export type AlertRow = SelectedRow<typeof columns>;

/** Whether it only happened. */
export const isAlertNews = ({ openedAt, resolvedAt }: AlertRow): boolean => resolvedAt === openedAt;

/** Whether it was open and is no more. */
export const isAlertOver = ({ openedAt, resolvedAt }: AlertRow): boolean =>
  resolvedAt !== null && resolvedAt > openedAt;

/**
 * Until the transaction ends nobody else looks at the project's conditions or notes what was told: none may write what
 * it saw over another's newer look.
 */
export async function lockAlerts(tx: Tx, projectId: ProjectId): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('sync.alerts'), hashtext($1))`, [
    projectId,
  ]);
}

/** The rows of a project, oldest first. */
export async function readAlertRows(db: Queryable, projectId: ProjectId): Promise<AlertRow[]> {
  return drizzleOn(db)
    .select(columns)
    .from(alerts)
    .where(eq(alerts.projectId, projectId))
    .orderBy(alerts.openedAt, alerts.kind, alerts.subject);
}

/** Enters alerts or changes what they say; whether one is being told stays as it is. */
export async function putAlerts(tx: Tx, projectId: ProjectId, put: AlertRow[]): Promise<void> {
  if (put.length === 0) return;
  const replaced = Object.entries(columns).map(([of, { name }]) => [
    of,
    sql.raw(`excluded.${name}`),
  ]);
  await drizzleOn(tx)
    .insert(alerts)
    .values(put.map((alert) => ({ projectId, ...alert })))
    .onConflictDoUpdate({
      target: [alerts.projectId, alerts.kind, alerts.subject],
      set: Object.fromEntries(replaced),
    });
}

export async function dropAlerts(tx: Tx, projectId: ProjectId, dropped: AlertRow[]): Promise<void> {
  if (dropped.length === 0) return;
  const any = dropped.map(({ kind, subject }) =>
    and(eq(alerts.kind, kind), eq(alerts.subject, subject)),
  );
  await drizzleOn(tx)
    .delete(alerts)
    .where(and(eq(alerts.projectId, projectId), or(...any)));
}

// Who tells an alert: claimed for a while by one process, then noted as told or to be tried again. Between claim and
// note lies the network, outside of any transaction: a process that dies there leaves it to be told a second time.

export type Claimed = AlertRow & {
  projectId: ProjectId;
  /** Names the claim: whoever's has run out notes nothing. */
  claim: string;
};

type AlertClaimOptions = {
  projectId: ProjectId;
  /** The platform's clock. */
  now: Instant;
  /** What is open is told again this long after it was told. */
  reminderMs: number;
  /** What is over is told when it has been over for this long: it may come back at once. */
  calmMs: number;
  /** How long telling may take before another may try, on the database's clock. */
  claimMs: number;
};

/** Takes on all that is to be told of a project and that nobody else is telling. */
export async function claimAlerts(db: Queryable, options: AlertClaimOptions): Promise<Claimed[]> {
  const { rows } = await db.query<Row & { telling_until: string }>(
    `with untold as (
       select project_id, kind, subject
         from sync.alerts
        where project_id = $1
          -- No rest is longer than an hour: what is, is from before the database's clock was set back.
          and (telling_until is null
               or telling_until not between statement_timestamp() and statement_timestamp() + interval '61 minutes')
          and case
                -- Open: never told, or so long ago (by whatever clock) that it is told again.
                when resolved_at is null then
                  told_at is null or abs(extract(epoch from told_at - $2::timestamptz)) * 1000 >= $3
                -- News: once.
                when resolved_at <= opened_at then told_at is null
                -- Over.
                else resolved_at <= $2::timestamptz - make_interval(secs => $4)
              end
        order by kind, subject
          for update skip locked -- P8: one replica tells it
     )
     update sync.alerts a
        set telling_until = statement_timestamp() + make_interval(secs => $5), attempts = a.attempts + 1
       from untold u
      where a.project_id = u.project_id and a.kind = u.kind and a.subject = u.subject
     returning ${columnNamesOf(columns, 'a')}, a.telling_until`,
    [
      options.projectId,
      iso(options.now),
      options.reminderMs,
      options.calmMs / 1000,
      options.claimMs / 1000,
    ],
  );
  return rows
    .map((row) => ({
      projectId: options.projectId,
      ...readRow(columns, row),
      claim: row.telling_until,
    }))
    .toSorted((a, b) => a.openedAt - b.openedAt || (a.subject < b.subject ? -1 : 1));
}

const ofClaim = ({ projectId, kind, subject, claim }: Claimed) =>
  and(
    eq(alerts.projectId, projectId),
    eq(alerts.kind, kind),
    eq(alerts.subject, subject),
    sql`${alerts.tellingUntil} = ${claim}`,
  );

/**
 * Somebody has taken them. What was told to be over is done with; should it have come back meanwhile, the next look
 * opens it anew.
 */
export async function noteTold(
  db: Db,
  projectId: ProjectId,
  claimed: Claimed[],
  now: Instant,
): Promise<void> {
  await withTx(db, async (tx) => {
    await lockAlerts(tx, projectId);
    const orm = drizzleOn(tx);
    for (const alert of claimed) {
      // The text is the one that was told: what has changed since is noticed by it.
      const told = { toldAt: now, text: alert.text, tellingUntil: null, attempts: 0 };
      const noted = isAlertOver(alert) ? orm.delete(alerts) : orm.update(alerts).set(told);
      await noted.where(ofClaim(alert));
    }
  });
}

/** Nobody took them: they are tried again after a while that grows with the tries. */
export async function noteUntold(
  db: Db,
  projectId: ProjectId,
  claimed: Claimed[],
  restMs: (attempts: number) => number,
): Promise<void> {
  await withTx(db, async (tx) => {
    await lockAlerts(tx, projectId);
    for (const alert of claimed) {
      const rest = restMs(alert.attempts) / 1000;
      const tellingUntil = sql`statement_timestamp() + make_interval(secs => ${rest})`;
      await drizzleOn(tx).update(alerts).set({ tellingUntil }).where(ofClaim(alert));
    }
  });
}
