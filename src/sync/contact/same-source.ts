// Is this still the platform and the project the archive was filled from? Asked before anything is written under
// a changed address or key, so that a stage key or another project never mixes in.
import { windowAt } from '../../day.ts';
import { settingsError } from '../../errors.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Db } from '../../store/db.ts';
import type { Facts } from '../../store/facts.ts';
import { dayToRecognise, holdsAnything } from '../../store/projects.ts';
import { askList } from '../ask-list.ts';
import { boundsOf, limitOf, spanOf } from '../list-rules.ts';

/**
 * Reads one held day again. Passes when the platform shows at least half of the ids held for it, or when nothing is
 * held at all. Throws settings `source_changed` otherwise; nothing was written.
 */
export async function recogniseSource(
  db: Db,
  platform: Platform,
  facts: Facts,
  projectId: string,
  signal: AbortSignal,
): Promise<void> {
  const window = windowAt(platform.clock.now());
  const held = await dayToRecognise(db, projectId, window.from, window.to);
  if (held === null) {
    if (!(await holdsAnything(db, projectId))) return;
    throw settingsError(
      'source_changed',
      `The address or key of project "${projectId}" has changed, and no day held for it lies in the platform's window any more, so nothing shows whether this is still the same project. If it is, run \`outlast sync --accept-new-source\` once; otherwise give the other source a project name of its own.`,
    );
  }
  const query = {
    ...boundsOf(spanOf(held.day, held.resource, facts), held.resource, facts, window.from),
    limit: limitOf(facts, held.resource),
    sortBy: 'DATE_ASC' as const,
    countTotal: false,
  };
  const page = await askList(platform, held, query, signal);
  // Operation ids are the callers' own and may coincide by chance: half of those held must be there.
  const shown = new Set(page.records.map((record) => record.id));
  const again = held.ids.slice(0, query.limit).filter((id) => shown.has(id)).length;
  if (2 * again >= Math.min(held.ids.length, query.limit)) return;
  throw settingsError(
    'source_changed',
    `The address or key of project "${projectId}" has changed, and the platform shows ${again === 0 ? 'none' : 'few'} of the records held for ${held.day}: this looks like another project or another platform. Nothing was written. Give it a project name of its own (OUTLAST_PROJECT), or, if it really continues this archive, run \`outlast sync --accept-new-source\` once.`,
  );
}
