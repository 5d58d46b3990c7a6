// The roles and what each may do: the writer cannot delete anything archived (P4) or certified, the reader sees
// archive and analytics, the intake may add operations to watch. Run at every start; idempotent.
import { causeChain, codeOf, settingsError, type OutlastError } from '../errors.ts';
import { mayBecome } from './check-server.ts';
import { onlyRow, type Queryable, type Tx } from './db.ts';
import { derivedColumns, resourceShapes } from './record-tables.ts';

const roles = ['outlast_writer', 'outlast_reader', 'outlast_intake'] as const;

// Roles are per cluster, advisory locks per database: two databases may create them at once.
const someoneElseDidIt = new Set(['42710', '23505', 'XX000' /* tuple concurrently updated */]);
const notAllowed = '42501';

/** What a version said is never changed (P5); how it is read may be. */
const versionGrants = Object.values(resourceShapes)
  .map((shape) => {
    const names = [...derivedColumns(shape).map(([name]) => name), 'unread'].join(', ');
    return `grant update (${names}) on ${shape.versions} to outlast_writer;`;
  })
  .join('\n');

/** What is only ever added to. */
const appended = [
  'archive.order_versions',
  'archive.nft_class_versions',
  'archive.transaction_versions',
  'archive.token_versions',
  'archive.certificate_files',
  'sync.certificates',
  'sync.journal',
  'sync.readings',
  'sync.books',
];

const grants = `
  grant usage on schema archive, analytics to outlast_writer, outlast_reader;
  grant usage on schema sync to outlast_writer, outlast_reader, outlast_intake;
  grant select, insert, update on all tables in schema archive to outlast_writer;
  grant select, insert, update, delete on all tables in schema sync to outlast_writer;
  revoke insert, update, delete on sync.migrations from outlast_writer;
  revoke update, delete on ${appended.join(', ')} from outlast_writer;
  revoke delete on sync.chains from outlast_writer;
  ${versionGrants}
  grant select on all tables in schema archive, analytics to outlast_reader;
  -- By name, for a database may keep what is made in it from everybody (alter default privileges).
  grant execute on all functions in schema sync, analytics to outlast_writer;
  grant execute on all functions in schema analytics to outlast_reader;
  grant execute on function sync.changes_of(text, text, text[], bytea) to outlast_reader;
  grant select on sync.chains, sync.journal, sync.readings, sync.books to outlast_reader;
  grant select on all tables in schema analytics to outlast_writer;
  grant insert (project_id, operation_id, api_version, created_on) on sync.watched_operations to outlast_intake;
`;

const forbidden =
  'This database user may not grant rights on the tables: run `outlast migrate` as their owner.';

/**
 * The SQL that lets the login of these connections work as the roles, for whoever may grant them. From PostgreSQL 16 on
 * it names what a membership may lack that is there already: a plain grant would leave that as it is.
 */
async function grantOf(db: Queryable, wanted: string): Promise<string> {
  const { to } = onlyRow(
    await db.query<{ to: string }>(
      `select quote_ident(session_user) || case when current_setting('server_version_num')::int < 160000
                                                then '' else ' with inherit true, set true' end as to`,
    ),
  );
  return `grant ${wanted} to ${to};`;
}

const bothRoles = 'outlast_writer, outlast_reader';

/**
 * Who has to do what, so that this login may use a schema of the archive. To be a member of a role helps nobody while the
 * role itself may not, as after a restore by another login that left out the grants.
 */
export async function wayInto(
  db: Queryable,
  schema: string,
  role: string,
  wanted = role,
): Promise<string> {
  const { rows } = await db.query<{ owner: string }>(
    `select pg_get_userbyid(nspowner) as owner
       from pg_namespace n
      where nspname = $1
        and not exists (select from pg_roles r
                         where rolname = $2 and has_schema_privilege(r.oid, n.oid, 'usage'))`,
    [schema, role],
  );
  return rows[0] === undefined
    ? `let an administrator, or whoever made the roles, run \`${await grantOf(db, wanted)}\``
    : `let its owner, ${rows[0].owner}, run \`outlast migrate\`, which gives the roles their rights`;
}

/**
 * Creates what is missing, and lets the login run as them. Returns a sentence where that is not allowed, with the SQL
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
  // Who reads as the login itself is kept from writing by the transaction.
  if (!(await mayRunAs(tx, 'outlast_writer'))) {
    const grant = await grantOf(tx, bothRoles);
    if (withheld.length > 0 || (await attempt(tx, grant)) === notAllowed) withheld.push(grant);
  }
  if (withheld.length === 0) return [];
  return [
    `Nothing keeps this database user from deleting what is archived: it may not make, or not become, the roles that do. Let an administrator, or whoever made them, run \`${withheld.join(' ')}\` here, then run \`outlast migrate\` again.`,
  ];
}

/** Superusers may without a grant. */
export async function mayRunAs(tx: Tx, role: string): Promise<boolean> {
  const { rows } = await tx.query(
    `select from pg_roles where rolname = $1 and ${mayBecome('oid')}`,
    [role],
  );
  return rows.length > 0;
}

/** Some providers turn it on for every new table, or by a click: from then on only the owner is shown any rows. */
export async function rowSecurity(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ off: string | null }>(
    `select string_agg(format('alter table %s disable row level security;', oid::regclass), ' ' order by relname) as off
       from pg_class
      where relrowsecurity and relnamespace::regnamespace::text in ('archive', 'sync')`,
  );
  const off = onlyRow({ rows }).off;
  return off === null
    ? []
    : [
        `Row-level security, which an event trigger may have turned on, may hide what is archived. Let the owner of the archive run \`${off}\` here.`,
      ];
}

/** What to do about a migration that was refused for want of a right, or a login that may not look at the archive. */
export async function forbiddenHere(db: Queryable, cause: unknown): Promise<OutlastError> {
  const { login, database, owner, isOwner, mayUse, mayCreate } = onlyRow(
    await db.query<{
      login: string;
      database: string;
      /** Of the archive there is; null: there is none. */
      owner: string | null;
      isOwner: boolean | null;
      mayUse: boolean | null;
      mayCreate: boolean;
    }>(
      `select quote_ident(current_user) as login, quote_ident(current_database()) as database,
              pg_get_userbyid(n.nspowner) as owner, pg_has_role(n.nspowner, 'usage') as "isOwner",
              has_schema_privilege(n.oid, 'usage') as "mayUse",
              has_database_privilege(current_database(), 'create') as "mayCreate"
         from (select) one left join pg_namespace n on n.nspname = 'sync'`,
    ),
  );
  const forbidden = (what: string): OutlastError =>
    settingsError('database_forbidden', `The database user ${login} ${what}`, cause);
  const [hidden] = mayUse === true ? await rowSecurity(db) : [];
  if (hidden !== undefined) return settingsError('database_forbidden', hidden, cause);
  if (owner !== null && isOwner !== true) {
    return mayUse === true
      ? forbidden(
          `does not own this archive and may not bring it up to date: let its owner, ${owner}, run \`outlast migrate\`.`,
        )
      : forbidden(
          `may not use the archive here, which ${owner} owns: ${await wayInto(db, 'sync', 'outlast_writer', bothRoles)}.`,
        );
  }
  if (!mayCreate) {
    return forbidden(
      `may not create schemas here: let an administrator run \`grant create on database ${database} to ${login};\`, or run \`outlast migrate\` as the owner of the database.`,
    );
  }
  return forbidden(`lacks a right that Outlast needs: ${causeChain(cause)}.`);
}

/**
 * Grants what is due on the tables, where the roles are there; returns notes as `ensureRoles` does. `isMigrated`:
 * tables came or changed in this transaction, so that all grants are due again.
 */
export async function ensureGrants(tx: Tx, isMigrated: boolean): Promise<string[]> {
  const isDue = isMigrated ? await arePresent(tx) : await areGrantsDue(tx);
  const withheld = isDue && (await attempt(tx, grants)) === notAllowed ? [forbidden] : [];
  return [...withheld, ...(await rowSecurity(tx))];
}

/**
 * Whether the writer lacks a right, as where a database was restored without the roles. To give them at every start would
 * rewrite the catalog and, from PostgreSQL 18 on, wait for whoever has locked a table.
 */
export const areGrantsDue = async (tx: Tx): Promise<boolean> =>
  (await arePresent(tx)) && (await missingRights(tx, 'outlast_writer')).length > 0;

/** What a role lacks of the writer's rights: `insert on archive.orders`. */
export async function missingRights(tx: Tx, role: string): Promise<string[]> {
  const { rows } = await tx.query<{ lacked: string }>(
    `with tables as (
       select oid, oid::regclass::text as name, relnamespace::regnamespace::text as schema, relkind = 'v' as is_view
         from pg_class
        where relkind in ('r', 'p', 'v') and relnamespace = any ($2::regnamespace[])
     )
     select format('%s on %s', wanted, name) as lacked
       from tables
      cross join unnest(array['select', 'insert', 'update', 'delete']) wanted
      where not has_table_privilege($1, oid, wanted)
        and case when wanted = 'select' then true
                 when is_view or name = 'sync.migrations' then false
                 when wanted = 'update' then name <> all ($3)
                 when wanted = 'delete' then schema = 'sync' and name <> all ($3) and name <> 'sync.chains'
                 else true
            end
      union all
     select format('execute on %s', oid::regprocedure)
       from pg_proc
      where pronamespace = any ($2::regnamespace[]) and not has_function_privilege($1, oid, 'execute')
      order by 1`,
    [role, ['archive', 'analytics', 'sync'], appended],
  );
  return rows.map(({ lacked }) => lacked);
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
