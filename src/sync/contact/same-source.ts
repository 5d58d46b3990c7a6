// Is this still the platform and the project the archive was filled from? Asked before anything is written under
// a changed address or key, so that a stage key or another project never mixes in, and before a project is entered, so
// that a mistyped name does not archive everything a second time.
import { windowAt } from '../../day.ts';
import { settingsError, transient, type OutlastError } from '../../errors.ts';
import type { ListedResource, ProjectId } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { isPlatformError } from '../../platform/refusal.ts';
import type { Db } from '../../store/db.ts';
import type { Facts } from '../../store/facts.ts';
import {
  dayToRecognise,
  holdsAnything,
  projectOfSource,
  type ProjectSource,
} from '../../store/projects.ts';
import { idsOf } from '../../store/walked-pages.ts';
import { boundsOf, limitOf } from '../ask-list.ts';

type Held = {
  db: Db;
  platform: Platform;
  projectId: string;
  /** The address alone has changed. */
  sameKey: boolean;
  signal: AbortSignal;
};

/** Throws settings `source_held` where another project is archived from this address and key. */
export async function refuseSecondProject(
  db: Db,
  projectId: ProjectId,
  source: ProjectSource,
): Promise<void> {
  const other = await projectOfSource(db, source);
  if (other === null) return;
  throw settingsError(
    'source_held',
    `Project "${other}" is archived from this address and key, and a new project "${projectId}" would archive all of it a second time, for good. If the name is a mistake, give the right one (OUTLAST_PROJECT, or its id in OUTLAST_PROJECTS_FILE); if both are wanted, run \`outlast sync --accept-new-source --project ${projectId}\` once.`,
  );
}

/**
 * Reads a held day of the first list that has one again. Passes when the platform shows at least half as many of the
 * ids held for it as a page can show, or when nothing is held at all; false when a list before that one did not answer,
 * by which it is to be recognised first. Only those in `able` are asked. Classes are the whole platform's
 * (docs/platform.md §2.6): by a new key they do not tell a project whose orders are held. Throws settings
 * `source_changed` otherwise, and what the platform throws.
 */
export async function recogniseSource(
  held: Held,
  facts: Facts,
  lists: readonly ListedResource[],
  able: readonly ListedResource[],
): Promise<boolean> {
  const { db, projectId, sameKey } = held;
  let failure: OutlastError | null = null;
  for (const list of lists) {
    try {
      if (await isRecognised(held, facts, list, able)) return failure === null;
    } catch (error) {
      if (!isPlatformError(error)) throw error;
      failure ??= error;
    }
    const mayBeAnother = list === 'orders' && !sameKey && failure === null;
    if (mayBeAnother && (await holdsAnything(db, projectId, [list]))) break;
  }
  if (failure !== null) throw failure;
  if (!(await holdsAnything(db, projectId))) return true;
  throw settingsError(
    'source_changed',
    `The address or key of project "${projectId}" has changed, and no day held for it by which it would be known lies in the platform's window any more, so nothing shows whether this is still the same project. If it is, run \`outlast sync --accept-new-source\` once; otherwise give the other source a project name of its own.`,
  );
}

/**
 * By this list; false where it holds no day to tell by. Throws settings `source_changed`, and what the platform throws.
 */
async function isRecognised(
  { db, platform, projectId, signal }: Held,
  facts: Facts,
  list: ListedResource,
  able: readonly ListedResource[],
): Promise<boolean> {
  const window = windowAt(platform.clock.now());
  const held = await dayToRecognise(db, projectId, list, window.from, window.to);
  if (held === null) return false;
  if (!able.includes(list)) {
    throw transient(
      'platform_unavailable',
      `the address or key of project "${projectId}" has changed, and it is recognised by ${list}, which the platform does not show`,
    );
  }
  const { resource, owner, day } = held;
  const limit = limitOf(facts, resource);
  const query = { resource, owner, ...boundsOf(day, 2), limit, sortBy: 'DATE_ASC' } as const;
  const page = await platform.page(query, signal);
  // Operation ids are the callers' own and may coincide by chance: half of what a page can show must be held. Whichever
  // end of the day was read last, all of it is compared.
  const shown = new Set(idsOf(page));
  const again = held.ids.filter((id) => shown.has(id)).length;
  if (2 * again >= Math.min(held.ids.length, limit)) return true;
  throw settingsError(
    'source_changed',
    `The address or key of project "${projectId}" has changed, and the platform shows ${again === 0 ? 'none' : 'few'} of the records held for ${held.day}: this looks like another project or another platform. Nothing was written. Give it a project name of its own (OUTLAST_PROJECT), or, if it really continues this archive, run \`outlast sync --accept-new-source\` once.`,
  );
}
