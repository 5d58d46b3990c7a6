// The roles and what each may do: the writer cannot delete anything archived (P4) or certified, the reader sees
// archive and analytics, the intake may add operations to watch. Run at every start; idempotent.
import { codeOf } from '../errors.ts';
import { onlyRow, type Tx } from './db.ts';
import { tableShapes, tokenShape, transactionShapes, versionColumns } from './tables.ts';

const roles = ['outlast_writer', 'outlast_reader', 'outlast_intake'] as const;

// Roles are per cluster, advisory locks per database: two databases may create them at once.
const someoneElseDidIt = new Set(['42710', '23505', 'XX000' /* tuple concurrently updated */]);
const notAllowed = '42501';

/** What a version said is never changed (P5); how it is read may be. */
const versionGrants = [...Object.values(tableShapes), transactionShapes.v3, tokenShape]
  .map((shape) => {
    const names = [...versionColumns(shape).map(([name]) => name), 'unread'].join(', ');
    return `grant update (${names}) on ${shape.versions} to outlast_writer;`;
  })
  .join('\n');

const grants = `
  grant usage on schema archive, analytics to outlast_writer, outlast_reader;
  grant usage on schema sync to outlast_writer, outlast_reader, outlast_intake;
  grant select, insert, update on all tables in schema archive to outlast_writer;
  revoke update on archive.order_versions, archive.nft_class_versions,
                   archive.transaction_versions, archive.token_versions,
                   archive.certificate_files from outlast_writer;
  ${versionGrants}
  grant select, insert, update, delete on all tables in schema sync to outlast_writer;
  revoke insert, update, delete on sync.migrations from outlast_writer;
  revoke update, delete on sync.certificates, sync.journal, sync.heads, sync.corrections from outlast_writer;
  revoke update, delete on sync.reopenings from outlast_writer;
  revoke delete on sync.chains from outlast_writer;
  grant select on all tables in schema archive, analytics to outlast_reader;
  grant usage, select on sequence sync.entry_ids to outlast_writer;
  grant select on sequence sync.entry_ids to outlast_reader;
  grant execute on function sync.number_unnumbered(), sync.number_after(bigint) to outlast_writer;
  grant select on sync.journal, sync.heads, sync.corrections, sync.told to outlast_reader;
  grant select on all tables in schema analytics to outlast_writer;
  grant insert (project_id, operation_id, api_version, created_on) on sync.watched_operations to outlast_intake;
`;

const forbidden =
  'This database user may not grant rights on the tables: run `outlast migrate` as their owner.';

/**
 * Creates what is missing, and makes the login a member. Returns a sentence where that is not allowed, with the SQL
 * that an administrator has to run: one, whatever is missing.
 */
export async function ensureRoles(tx: Tx): Promise<string[]> {
  const withheld: string[] = [];
  for (const role of roles) {
    const { rows } = await tx.query('select from pg_roles where rolname = $1', [role]);
    if (rows.length > 0) continue;
    const create = `create role ${role} nologin;`;
    if ((await attempt(tx, create)) === notAllowed) withheld.push(create);
  }
  // Without membership `set role` is refused; superusers need no grant.
  const isMember = (await arePresent(tx)) && (await isWriter(tx));
  if (!isMember) {
    const login = onlyRow(
      await tx.query<{ login: string }>('select quote_ident(current_user) as login'),
    ).login;
    const grant = `grant outlast_writer, outlast_reader to ${login};`;
    if (withheld.length > 0 || (await attempt(tx, grant)) === notAllowed) withheld.push(grant);
  }
  if (withheld.length === 0) return [];
  return [
    `Nothing keeps this database user from deleting what is archived: it may not make the roles that do. Let an administrator run \`${withheld.join(' ')}\` here, then run \`outlast migrate\` again.`,
  ];
}

async function isWriter(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ member: boolean }>(
    `select pg_has_role(current_user, 'outlast_writer', 'member') as member`,
  );
  return onlyRow({ rows }).member;
}

/**
 * Grants what is due on the tables, where the roles are there; returns notes as `ensureRoles` does. `isMigrated`:
 * tables came or changed in this transaction, so that all grants are due again.
 */
export async function ensureGrants(tx: Tx, isMigrated: boolean): Promise<string[]> {
  const isDue = isMigrated ? await arePresent(tx) : await areGrantsDue(tx);
  return isDue && (await attempt(tx, grants)) === notAllowed ? [forbidden] : [];
}

/**
 * Whether a table is without its grants: one that has none was left so by an earlier release that was killed between
 * its migration and its grants. Giving them at every start would rewrite the catalog and, from PostgreSQL 18 on, wait
 * for whoever has locked a table.
 */
export async function areGrantsDue(tx: Tx): Promise<boolean> {
  if (!(await arePresent(tx))) return false;
  const { rows } = await tx.query<{ due: boolean }>(
    `select not bool_and(has_table_privilege('outlast_writer', c.oid, 'select')) as due
       from pg_class c
      where c.relnamespace = any (array['archive', 'analytics', 'sync']::regnamespace[])
        and c.relkind in ('r', 'p', 'v')`,
  );
  return rows[0]?.due ?? true;
}

async function arePresent(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query('select from pg_roles where rolname = any($1)', [roles]);
  return rows.length === roles.length;
}

/** Runs a statement that a rival may have run already; returns the SQLSTATE when rights were missing. */
async function attempt(tx: Tx, sql: string): Promise<string | undefined> {
  for (let tries = 0; ; tries++) {
    await tx.query('savepoint attempt');
    try {
      await tx.query(sql);
      return undefined;
    } catch (error) {
      await tx.query('rollback to savepoint attempt');
      const code = codeOf(error) ?? '';
      if (code === notAllowed) return code;
      if (!someoneElseDidIt.has(code) || tries >= 20) throw error;
      if (code !== 'XX000') return undefined;
      // Ends: 20 tries; each rival's update is over in milliseconds.
      await new Promise((resolve) => setTimeout(resolve, 20 + 10 * tries));
    }
  }
}
