// The journal, sync.journal: what was written, chained entry by entry, so that what is changed behind it is found out.
// Only the functions of the migration write it, inside the transaction that it tells of (P1); verify/ reads it, by SQL
// of its own.
import { wholeList, type Day, type Instant, type ProjectId } from '../../model.ts';
import { textArray, type Queryable, type Tx } from '../db.ts';

/** What an entry tells of: a slice, or what no slice shows. */
export type Place = { projectId: ProjectId; resource: string; owner: string; day: Day };

/** Of what was stored outside a slice; `resource` as `archivedName` has it. */
export const placeBeside = (projectId: ProjectId, resource: string): Place => ({
  projectId,
  resource,
  owner: '',
  day: wholeList,
});

/** A content that nobody held: `observedAt` is RFC 3339. */
export type StoredContent = { id: string; sha256: string; observedAt: string };

/** What a write came to, as the journal tells it. */
export type Stored = {
  /** Records held for the first time; contents that came into force after another; those that never were in force. */
  first: StoredContent[];
  changed: StoredContent[];
  late: StoredContent[];
  /** Records that were missing since a moment (RFC 3339) and were shown again. */
  found: [id: string, since: string][];
  /** Records that stand under another day now, or under theirs again after a day without them. */
  moved: string[];
};

/** What else an entry tells; without it nothing is entered unless something was stored. */
export type EntryNote = { kind: 'pages' | 'contents' | 'returned'; says: Record<string, unknown> };

/** One entry for what a transaction wrote. The last of its statements: the chain's row is locked after all others. */
export async function enterStored(
  tx: Tx,
  place: Place,
  told: EntryNote | null,
  { first, changed, late, found, moved }: Stored,
): Promise<void> {
  const contents = [...first, ...changed, ...late];
  if (told === null && contents.length + found.length + moved.length === 0) return;
  const isStoring = contents.length > 0;
  // What is undefined JSON leaves out.
  const body = {
    ...told?.says,
    first: isStoring ? first.length : undefined,
    changed: changed.length > 0 ? changed.length : undefined,
    observed: isStoring ? runsOf(contents) : undefined,
    found: found.length > 0 ? found : undefined,
    moved: moved.length > 0 ? moved : undefined,
  };
  const kind = told?.kind ?? 'contents';
  if (!isStoring) return append(tx, place, kind, body);
  // Postgres takes bytes as they are.
  const shas = Buffer.from(contents.map(({ sha256 }) => sha256).join(''), 'hex');
  await append(tx, place, kind, body, textArray(contents.map(({ id }) => id)), shas);
}

/** How many in a row were observed at one moment: a page's records share theirs. */
function runsOf(contents: StoredContent[]): [at: string, count: number][] {
  const runs: [string, number][] = [];
  for (const { observedAt } of contents) {
    const last = runs.at(-1);
    if (last?.[0] === observedAt) last[1] += 1;
    else runs.push([observedAt, 1]);
  }
  return runs;
}

/** Records were marked missing since a moment. */
export async function enterMissing(
  db: Queryable,
  place: Place,
  ids: string[],
  at: Instant,
): Promise<void> {
  if (ids.length === 0) return;
  await append(db, place, 'missing', { at: new Date(at).toISOString() }, textArray(ids));
}

/** A certificate of the month that begins with the day: `sha256` is that of its JSON as Postgres prints it. */
export function enterCertified(
  tx: Tx,
  place: Place,
  issued: { issue: number; sha256: string; file_sha256: string },
): Promise<void> {
  return append(tx, place, 'certified', issued);
}

async function append(
  db: Queryable,
  { projectId, resource, owner, day }: Place,
  kind: string,
  body: object,
  ids: string | null = null,
  shas: Buffer | null = null,
): Promise<void> {
  await db.query('select sync.journal_append($1, $2, $3, $4, $5, $6, $7::text[], $8::bytea)', [
    projectId,
    resource,
    owner,
    day,
    kind,
    JSON.stringify(body),
    ids,
    shas,
  ]);
}

/** What the chain says of how many records it stored follows again from its entries. */
export async function countEntered(db: Queryable, projectId: ProjectId): Promise<void> {
  const stored = (resource: string): string =>
    `coalesce(sum(sync.first_stored(j.body)) filter (where j.resource = '${resource}'), 0) as ${resource}`;
  await db.query(
    // Nothing is entered meanwhile.
    `with chain as materialized (select from sync.chains where project_id = $1 for no key update),
     entered as (
       select ${stored('orders')}, ${stored('nft_classes')} from chain, sync.journal j where j.project_id = $1
     )
     update sync.chains c set orders = e.orders, nft_classes = e.nft_classes
       from entered e
      where c.project_id = $1 and (c.orders, c.nft_classes) <> (e.orders, e.nft_classes)`,
    [projectId],
  );
}
