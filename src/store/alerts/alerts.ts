// sync.alerts: what is wrong and was told, or is to be told; one row for each condition, so that any number of replicas
// tell it once. News, which only happens, has resolved_at = opened_at; what is open has none; what is over a later one.
import type { Instant, ProjectId } from '../../model.ts';
import type { Queryable, Tx } from '../db.ts';
import { iso } from '../ledger.ts';

export type Alert = {
  kind: string;
  subject: string;
  text: string;
  openedAt: Instant;
  toldAt: Instant | null;
  resolvedAt: Instant | null;
  /** Tries to tell it since it was last told. */
  attempts: number;
};

/** Whether it was open and is no more. */
export const isOver = ({ openedAt, resolvedAt }: Alert): boolean =>
  resolvedAt !== null && resolvedAt > openedAt;

export type KnownAlert = Alert & { projectId: ProjectId };

type AlertRow = {
  kind: string;
  subject: string;
  text: string;
  opened_at: string;
  told_at: string | null;
  resolved_at: string | null;
  attempts: number;
};

const columns = 'kind, subject, text, opened_at, told_at, resolved_at, attempts';
const instant = (text: string | null): Instant | null => (text === null ? null : Date.parse(text));

const toAlert = (row: AlertRow): Alert => ({
  kind: row.kind,
  subject: row.subject,
  text: row.text,
  openedAt: Date.parse(row.opened_at),
  toldAt: instant(row.told_at),
  resolvedAt: instant(row.resolved_at),
  attempts: row.attempts,
});

/**
 * Until the transaction ends nobody else looks at the project's conditions or notes what was told: none may write what it
 * saw over another's newer look.
 */
export async function lockAlerts(tx: Tx, projectId: ProjectId): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('sync.alerts'), hashtext($1))`, [
    projectId,
  ]);
}

/** The rows of one project, oldest first, or of all. */
export async function readAlerts(
  db: Queryable,
  projectId: ProjectId | null,
): Promise<KnownAlert[]> {
  const { rows } = await db.query<AlertRow & { project_id: string }>(
    `select project_id, ${columns} from sync.alerts
      where $1::text is null or project_id = $1
      order by project_id, opened_at, kind, subject`,
    [projectId],
  );
  return rows.map((row) => ({ projectId: row.project_id, ...toAlert(row) }));
}

/** Enters alerts or changes what they say; whether one is being told stays as it is. */
export async function putAlerts(tx: Tx, projectId: ProjectId, alerts: Alert[]): Promise<void> {
  if (alerts.length === 0) return;
  await tx.query(
    `insert into sync.alerts as a (project_id, ${columns})
     select $1, * from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[],
                              $7::timestamptz[], $8::int[])
      order by 1, 2, 3
         on conflict (project_id, kind, subject) do update
        set text = excluded.text, opened_at = excluded.opened_at, told_at = excluded.told_at,
            resolved_at = excluded.resolved_at, attempts = excluded.attempts`,
    [
      projectId,
      alerts.map((alert) => alert.kind),
      alerts.map((alert) => alert.subject),
      alerts.map((alert) => alert.text),
      alerts.map((alert) => iso(alert.openedAt)),
      alerts.map((alert) => iso(alert.toldAt)),
      alerts.map((alert) => iso(alert.resolvedAt)),
      alerts.map((alert) => alert.attempts),
    ],
  );
}

export async function dropAlerts(tx: Tx, projectId: ProjectId, alerts: Alert[]): Promise<void> {
  if (alerts.length === 0) return;
  await tx.query(
    `delete from sync.alerts
      where project_id = $1 and (kind, subject) in (select * from unnest($2::text[], $3::text[]))`,
    [projectId, alerts.map((alert) => alert.kind), alerts.map((alert) => alert.subject)],
  );
}
