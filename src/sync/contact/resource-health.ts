// How the platform answers for each resource: kept for whoever reads the archive, and told as an alert. A resource that
// the key is refused is not asked for an hour (P11); one that fails is.
import { hourMs, minuteMs } from '../../day.ts';
import { causeChain, isOutlastError } from '../../errors.ts';
import type { ProjectId, Resource } from '../../model.ts';
import { storable } from '../../platform/canonical.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Db } from '../../store/db.ts';
import { noteContact } from '../../store/facts.ts';

type Asking = { db: Db; projectId: ProjectId; platform: Platform };

export type ResourceProblem = { error: unknown; isRefused: boolean; problem: string };

/** What is refused is asked for again hourly (P11). */
export const refusedRestMs = hourMs;
const correctedByMs = minuteMs;

/** `all`: all that the project may ask, by which it is parked. */
type Refused = Resource | 'all';

/**
 * By platform, which is one key's: when it last refused that key something. Also a changed key, which the database does
 * not know yet.
 */
const refusals = new WeakMap<Platform, Map<Refused, number>>();

export function noteRefusal(platform: Platform, refused: Refused): void {
  const since = refusals.get(platform) ?? new Map<Refused, number>();
  refusals.set(platform, since.set(refused, platform.clock.now()));
}

export function isResting(platform: Platform, refused: Refused): boolean {
  const at = refusals.get(platform)?.get(refused);
  const now = platform.clock.now();
  // A clock that was set back makes no rest longer; each answer corrects it by up to a second.
  return at !== undefined && now > at - correctedByMs && now < at + refusedRestMs;
}

/** A person asks: nothing rests. */
export const forgetRefusals = (platform: Platform): void => void refusals.delete(platform);

export async function noteAnswer(
  { db, projectId, platform }: Asking,
  resource: Resource,
): Promise<void> {
  refusals.get(platform)?.delete(resource);
  const answers = { state: 'answers', problem: '' } as const;
  await noteContact(db, projectId, resource, answers, platform.clock.now());
}

/** What an error of the platform's says of the resource that was asked for. */
export function problemOf(platform: Platform, resource: Resource, error: unknown): ResourceProblem {
  const isRefused = isOutlastError(error, 'platform_forbidden');
  if (isRefused) noteRefusal(platform, resource);
  return { error, isRefused, problem: storable(causeChain(error)) };
}

export const noteProblem = (
  { db, projectId, platform }: Asking,
  resource: Resource,
  { isRefused, problem }: ResourceProblem,
): Promise<void> => {
  const state = isRefused ? 'refused' : 'fails';
  return noteContact(db, projectId, resource, { state, problem }, platform.clock.now());
};
