// The doors by which operations come in to be watched: the command, HTTP and the library all enter them here.
// Everything is checked before anything is written (P12). It asks the platform nothing.
import { inspect } from 'node:util';
import { isDay } from '../../day.ts';
import { settingsError, type OutlastError } from '../../errors.ts';
import { apiVersions, type NewOperation, type ProjectId, type Watched } from '../../model.ts';
import { defaultTxTimeouts, withTx, type Db, type Queryable, type Tx } from '../db.ts';
import { projectIds } from '../projects.ts';
import { addOperations, countOpen } from './watched.ts';

/** Rows a statement. */
const runAtOnce = 1000;

/**
 * Enters operations whose results are to be asked for until they are final. Entering again what was entered changes
 * nothing: it may be tried again. Throws settings `operations_invalid` and `unknown_project`.
 */
export async function watchOperations(
  db: Queryable,
  project: ProjectId,
  operations: readonly NewOperation[],
): Promise<Watched> {
  checkNewOperations(operations);
  const known = await projectIds(db);
  // P12: ids under a name that nobody syncs would never be asked for.
  if (!known.includes(project)) {
    throw settingsError(
      'unknown_project',
      known.length === 0
        ? 'No project is archived here yet: run outlast sync first.'
        : `There is no project "${project}" in this archive, only ${known.join(', ')}.`,
    );
  }
  const distinct = [...new Map(operations.map((one) => [one.operationId, one])).values()];
  const watched = { given: distinct.length, added: 0, changed: 0 };
  for (let i = 0; i < distinct.length; i += runAtOnce) {
    const { added, changed } = await addOperations(db, project, distinct.slice(i, i + runAtOnce));
    watched.added += added;
    watched.changed += changed;
  }
  return watched;
}

/**
 * As `watchOperations`, for a door whose callers are not the archive's owner: nothing is entered that would leave more
 * than `mostOpen` operations of the project open, and a request with this signature enters once. Throws settings
 * `operations_too_many` and `request_taken` besides.
 */
export function enterUpTo(
  mostOpen: number,
  db: Db,
  project: ProjectId,
  operations: readonly NewOperation[],
  signature?: string,
): Promise<Watched> {
  return withTx(
    db,
    async (tx) => {
      // One after another in a project: two together must not pass what neither may alone.
      await tx.query(`select from sync.projects where project_id = $1 for no key update`, [
        project,
      ]);
      if (signature !== undefined) await takeRequest(tx, signature);
      const before = await countOpen(tx, project);
      const watched = await watchOperations(tx, project, operations);
      // What is open already may be given again, also where the other doors let in more than this one would.
      const isFew = before + watched.given <= mostOpen;
      if (!isFew && (await countOpen(tx, project)) > Math.max(before, mostOpen)) {
        throw settingsError(
          'operations_too_many',
          `At most ${mostOpen.toLocaleString('en')} operations of a project may be open, and ${before.toLocaleString('en')} are: give fewer, or wait until some are done. Nothing was entered.`,
        );
      }
      return watched;
    },
    briefly,
  );
}

/** Somebody waits for the answer, and the runs for the connection. */
const briefly = { ...defaultTxTimeouts, lockMs: 2_000 };

/**
 * How long a request is remembered, on the database's clock. A signature opens something for half an hour at most (15
 * minutes either way, http/access.ts); the rest is for replicas whose clocks differ.
 */
const remembered = '1 hour';

/**
 * A signed request is taken once, in the transaction that does what it asks for: all replicas share the memory. Throws
 * settings `request_taken` for one that was taken before. `signature` is hex.
 */
async function takeRequest(tx: Tx, signature: string): Promise<void> {
  // Bounded: what is too old goes with the next one that comes. Where another is just forgetting it, nobody waits.
  await tx.query(
    `delete from sync.taken_requests
      where signature in (select signature from sync.taken_requests
                           where taken_at < now() - $1::interval
                             for update skip locked)`,
    [remembered],
  );
  // One that is being taken at this moment is waited for.
  const { rows } = await tx.query(
    `insert into sync.taken_requests (signature) values (decode($1, 'hex'))
     on conflict do nothing returning true`,
    [signature],
  );
  if (rows.length > 0) return;
  throw settingsError(
    'request_taken',
    'This signed request was taken before: sign it anew, with another X-Timestamp. Nothing was entered.',
  );
}

/** Throws settings `operations_invalid` naming the first mistakes. */
export function checkNewOperations(operations: readonly NewOperation[]): void {
  const wrong = operations.flatMap((one, i) => {
    const mistake = mistakeIn(one);
    return mistake === null ? [] : [`operation ${i + 1} ${mistake}`];
  });
  if (operations.length === 0) throw invalid('there are none');
  if (wrong.length === 0) return;
  const more = wrong.length > 3 ? `; and ${wrong.length - 3} more` : '';
  throw invalid(`${wrong.slice(0, 3).join('; ')}${more}`);
}

/** As it is published: 1 to 64 letters, digits, `_` and `-`. */
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

function mistakeIn({ operationId, apiVersion, createdOn }: NewOperation): string | null {
  if (typeof operationId !== 'string' || !idPattern.test(operationId)) {
    // A caller without types may hand in anything.
    return `has the id ${inspect(operationId).slice(0, 80)}: an id is 1 to 64 letters, digits, _ and -`;
  }
  if (apiVersion !== undefined && !apiVersions.includes(apiVersion)) {
    return `has an apiVersion that is none of ${apiVersions.join(', ')}`;
  }
  if (createdOn !== undefined && !(typeof createdOn === 'string' && isDay(createdOn))) {
    return 'has a createdOn that is no day as yyyy-MM-dd';
  }
  return null;
}

const invalid = (why: string): OutlastError =>
  settingsError('operations_invalid', `Operations to watch: ${why}. Nothing was entered.`);
