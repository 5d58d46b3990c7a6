// The facts of one list, probed once more, and said where they changed.
import type { ListedResource } from '../../model.ts';
import { recordFacts } from '../../store/facts.ts';
import { listsOf } from '../enter-days.ts';
import { concernsAll, unforeseenText } from '../unforeseen-errors.ts';
import type { Contact } from './contact.ts';
import { probe } from './probe.ts';

const hourMs = 3_600_000;
/** So often the facts of a list are probed. */
export const probeEveryMs = 24 * hourMs;

/** Throws what the platform throws of that list. */
export async function refreshFacts(contact: Contact, list: ListedResource): Promise<void> {
  const { db, projectId, scope, signal, log, platform } = contact;
  const { clock } = platform;
  const { owner = '' } = listsOf(scope).find(({ resource }) => resource === list) ?? {};
  let probed: Record<string, string> = {};
  let isWhole = true;
  try {
    probed = await probe(platform, list, owner, signal);
  } catch (error) {
    if (signal.aborted || concernsAll(error)) throw error;
    // A poison among the newest records must not keep the days without it from being read.
    isWhole = false;
    const problem = unforeseenText(error, contact);
    log.warn({ projectId, problem }, 'The facts could not be probed');
  }
  const changed = await recordFacts(db, projectId, probed, clock.now());
  // What could not be probed is probed again in an hour, not at every run.
  const probedAs = clock.now() - (isWhole ? 0 : probeEveryMs - hourMs);
  await recordFacts(db, projectId, { [`${list}.probed`]: 'yes' }, probedAs);
  for (const { fact, from, to } of changed) {
    if (from === 'unknown') continue;
    log.warn({ projectId, fact, from, to }, 'The platform behaves differently than before');
  }
}
