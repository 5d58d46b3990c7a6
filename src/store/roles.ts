// The roles and what each may do: the writer cannot delete anything archived (P4) or certified, the reader sees
// archive and analytics, the intake may add operations to watch. Run at every start; idempotent.
import { codeOf } from '../errors.ts';
import type { Queryable } from './db.ts';

const roles = ['outlast_writer', 'outlast_reader', 'outlast_intake'] as const;

// Roles are per cluster, advisory locks per database: two databases may create them at once.
const someoneElseDidIt = new Set(['42710', '23505', 'XX000' /* tuple concurrently updated */]);
const notAllowed = '42501';

const grants = `
  grant usage on schema archive, analytics to outlast_writer, outlast_reader;
  grant usage on schema sync to outlast_writer, outlast_intake;
  grant select, insert, update on all tables in schema archive to outlast_writer;
  revoke update on archive.order_versions, archive.nft_class_versions,
                   archive.transaction_versions, archive.token_versions,
                   archive.certificate_files from outlast_writer;
  grant select, insert, update, delete on all tables in schema sync to outlast_writer;
  revoke insert, update, delete on sync.migrations from outlast_writer;
  revoke update, delete on sync.certificates from outlast_writer;
  revoke update, delete on sync.reopenings from outlast_writer;
  grant select on all tables in schema archive, analytics to outlast_reader;
  grant select on all tables in schema analytics to outlast_writer;
  grant insert (project_id, operation_id, api_version, created_on) on sync.watched_operations to outlast_intake;
`;

/**
 * Creates what is missing and grants what is due. Returns a sentence for each promise that stays weaker.
 * `isMigrated`: tables came or changed just now, so that all grants are due again.
 */
export async function ensureRoles(db: Queryable, isMigrated: boolean): Promise<string[]> {
  const notes: string[] = [];
  for (const role of roles) {
    const { rows } = await db.query('select from pg_roles where rolname = $1', [role]);
    if (rows.length > 0) continue;
    const failure = await attempt(db, `create role ${role} nologin`);
    if (failure === notAllowed) {
      notes.push(
        `This database user may not create the role ${role} (CREATEROLE is missing): without it Outlast runs with the user's own rights, which may include deleting. Create the role by hand and run \`outlast migrate\` again.`,
      );
    }
  }
  const present = await db.query<{ rolname: string }>(
    'select rolname from pg_roles where rolname = any($1)',
    [roles],
  );
  if (present.rows.length < roles.length) return notes;
  const isDue = isMigrated || !(await isGranted(db));
  if (isDue && (await attempt(db, grants)) === notAllowed) {
    notes.push(
      'This database user may not grant rights on the tables: run `outlast migrate` as their owner.',
    );
  }
  // Without membership `set role` is refused; superusers need no grant.
  const { rows } = await db.query<{ member: boolean }>(
    `select pg_has_role(current_user, 'outlast_writer', 'member') as member`,
  );
  if (rows[0]?.member === false) {
    if (
      (await attempt(db, 'grant outlast_writer, outlast_reader to current_user')) === notAllowed
    ) {
      notes.push(
        'This database user is no member of outlast_writer and may not make itself one: Outlast runs with its own rights. Run `grant outlast_writer to …` as a superuser.',
      );
    }
  }
  return notes;
}

/**
 * The grants are given in one transaction: one of them stands for all. Giving them at every start would rewrite the
 * catalog and, from PostgreSQL 18 on, wait for whoever has locked a table.
 */
async function isGranted(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ granted: boolean }>(
    `select has_table_privilege('outlast_writer', 'archive.orders', 'insert') as granted`,
  );
  return rows[0]?.granted ?? false;
}

/** Runs a statement that a rival may have run already; returns the SQLSTATE when rights were missing. */
async function attempt(db: Queryable, sql: string): Promise<string | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      await db.query(sql);
      return undefined;
    } catch (error) {
      const code = codeOf(error) ?? '';
      if (code === notAllowed) return code;
      if (!someoneElseDidIt.has(code) || tries >= 20) throw error;
      if (code !== 'XX000') return undefined;
      // Ends: 20 tries; each rival's update is over in milliseconds.
      await new Promise((resolve) => setTimeout(resolve, 20 + 10 * tries));
    }
  }
}
