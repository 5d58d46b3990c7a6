// sync.alerts: what is wrong and was told, or is to be told; one row for each condition, so that any number of replicas
// tell it once. An open condition has no resolved_at; one that is over has a later one than opened_at. News, such as a
// lost day, is never over: it has the same moment in both.
import type { ProjectId } from '../../model.ts';
import type { Queryable, Tx } from '../db.ts';
import { drizzleOn, type SelectedRow } from '../drizzle.ts';
import { and, eq, or, sql } from '../orm.ts';
import { alerts } from '../schema.ts';

/** `attempts`: tries to tell it since it was last told. */
export const columns = {
  kind: alerts.kind,
  subject: alerts.subject,
  text: alerts.text,
  openedAt: alerts.openedAt,
  toldAt: alerts.toldAt,
  resolvedAt: alerts.resolvedAt,
  attempts: alerts.attempts,
};
export type AlertRow = SelectedRow<typeof columns>;

/** Whether it only happened. */
export const isAlertNews = ({ openedAt, resolvedAt }: AlertRow): boolean => resolvedAt === openedAt;

/** Whether it was open and is no more. */
export const isAlertOver = ({ openedAt, resolvedAt }: AlertRow): boolean =>
  resolvedAt !== null && resolvedAt > openedAt;

export type KnownAlert = AlertRow & { projectId: ProjectId };

/**
 * Until the transaction ends nobody else looks at the project's conditions or notes what was told: none may write what
 * it saw over another's newer look.
 */
export async function lockAlerts(tx: Tx, projectId: ProjectId): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('sync.alerts'), hashtext($1))`, [
    projectId,
  ]);
}

/** The rows of one project, oldest first, or of all. */
export async function readAlertRows(
  db: Queryable,
  projectId: ProjectId | null,
): Promise<KnownAlert[]> {
  return drizzleOn(db)
    .select({ projectId: alerts.projectId, ...columns })
    .from(alerts)
    .where(projectId === null ? undefined : eq(alerts.projectId, projectId))
    .orderBy(alerts.projectId, alerts.openedAt, alerts.kind, alerts.subject);
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
