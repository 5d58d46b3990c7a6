// What a sync does to its database, done in one transaction and taken back: whether a login may is known by trying.
import { createHash } from 'node:crypto';
import { addDays } from '../day.ts';
import type { DatabaseAddress } from '../database-address.ts';
import { codeOf } from '../errors.ts';
import { silentLog } from '../log.ts';
import { listedResources, type Instant, type ListedResource, type ProjectId } from '../model.ts';
import { mayBecome } from './check-server.ts';
import { commitPagesIn } from './commit.ts';
import { databaseError, namedIfCut } from './db-errors.ts';
import { analyzeNew, openDb, withTx, type Tx } from './db.ts';
import { appendBooks, appendReading, measureWalk, shownIn } from './evidence.ts';
import { addSlices, finishSlice, type Slice } from './ledger.ts';
import { migrateWithin } from './migrate.ts';
import { saveProject } from './projects.ts';
import { forbiddenHere } from './roles.ts';
import { openRun } from './runs.ts';
import { nextSlice } from './due.ts';

const takenBack = new Error('Taken back');

type Found<T> = Awaited<ReturnType<typeof migrateWithin>> & { held: T | null };

/**
 * Makes the schema where there is none, reads every view, and writes a day of a project that nobody has. Of an older
 * schema it tries no more than that it may be changed: what a migration does to much data takes long, and locks it.
 * Returns what is there, what `migrate` notes, and of a schema of this release what `look` found as whoever syncs.
 * Throws settings `database_forbidden` with what to do, and what `migrate` throws.
 */
export async function rehearse<T>(
  connectionString: DatabaseAddress,
  look: (tx: Tx) => Promise<T>,
): Promise<Found<T>> {
  const db = await openDb({
    connectionString,
    role: null,
    max: 1,
    applicationName: 'outlast doctor',
    log: silentLog(),
  });
  let found: Found<T> | undefined;
  try {
    return await withTx<never>(db, async (tx) => {
      const { schema, notes } = await migrateWithin(tx);
      found = { schema, notes, held: null };
      if (schema === 'older') await tx.query('comment on schema sync is null');
      else {
        // First: a cluster does not let one role read what another has just written.
        await runAs(tx, 'outlast_reader');
        await readAll(tx);
        await runAs(tx, 'outlast_writer');
        if (schema === 'same') found.held = await look(tx);
        await writeOnce(tx, `doctor-${process.pid}`, Date.now());
      }
      throw takenBack;
    });
  } catch (error) {
    if (error === takenBack && found !== undefined) return found;
    if (codeOf(error) === '42501') throw await forbiddenHere(db, error);
    throw databaseError(error) ?? namedIfCut(error);
  } finally {
    await db.close();
  }
}

/** As `openDb` would have it: as the role where the login may become it, else as the login. */
async function runAs(tx: Tx, role: string): Promise<void> {
  const { rows } = await tx.query(
    `select from pg_roles where rolname = $1 and ${mayBecome('oid')}`,
    [role],
  );
  await tx.query(`set local role ${rows.length > 0 ? role : 'to default'}`);
}

/** A first day of each list with a record that changes, and what a run leaves besides. */
async function writeOnce(tx: Tx, projectId: ProjectId, now: Instant): Promise<void> {
  const day = new Date(now).toISOString().slice(0, 10);
  await saveProject(tx, projectId, { baseUrl: 'http://localhost', apiKey: '' }, day, now);
  await openRun(tx, projectId, now);
  const times = { dueAt: now, deadlineAt: now };
  await addSlices(
    tx,
    listedResources.map((resource) => ({ projectId, resource, owner: '', day, ...times })),
  );
  for (const resource of listedResources) {
    const slice = await nextSlice(tx, { projectId, dueBy: null, today: day, only: { resource } });
    if (slice === null) continue;
    for (const walk of [1, 2]) {
      const pages = [pageOf(resource, `{"walk":${walk}}`, now)];
      const commit = { slice, walk, pages, checkpoint: null, writtenAt: now };
      await commitPagesIn(tx, commit, walk === 1);
    }
    await appendEvidence(tx, slice, now);
    await finishSlice(tx, slice, { state: 'walked', wholeWalk: 2, over: true });
  }
  await analyzeNew(tx);
}

async function appendEvidence(tx: Tx, slice: Slice, now: Instant): Promise<void> {
  const clocks = { now, machine: now, earliest: now, latest: now };
  const shown = await measureWalk(tx, slice, 2, clocks, false);
  const ended = {
    end: 'asc' as const,
    daysAsked: 1 as const,
    claims: 0,
    began: clocks,
    ended: clocks,
  };
  await appendReading(tx, slice, { ...ended, ...shown });
  const days = { from: slice.day, to: addDays(slice.day, 1) };
  const counted = { total: 1, byStatus: null, shown: await shownIn(tx, slice, days) };
  const said = { isMore: false, isEqual: true, asks: 'list' as const, inWords: false };
  await appendBooks(tx, slice, [{ days, askedAt: now, ...counted, ...said }]);
}

type Page = Parameters<typeof commitPagesIn>[1]['pages'][number];

function pageOf(resource: ListedResource, rawJson: string, observedAt: Instant): Page {
  const day = new Date(observedAt).toISOString().slice(0, 10);
  const record = {
    id: 'doctor',
    columns: { slice_day: day },
    rawJson,
    rawBytes: null,
    rawSha256: createHash('sha256').update(rawJson).digest('hex'),
    unread: [],
  };
  const page = {
    resource,
    records: [record],
    rejects: [],
    shown: 1,
    total: 1,
    first: 'doctor',
    last: 'doctor',
    nextKey: null,
    askedAt: observedAt,
    bytes: 0,
  };
  return { number: 0, pageKey: null, offset: null, page, observedAt };
}

/** To be let in counts: no row is read. */
async function readAll(tx: Tx): Promise<void> {
  const { rows } = await tx.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relnamespace = any (array['archive', 'analytics']::regnamespace[]) and relkind in ('r', 'v')`,
  );
  for (const { name } of rows) await tx.query(`select * from ${name} limit 0`);
}
