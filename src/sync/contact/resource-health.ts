// How the platform answers for each resource by itself: kept for whoever reads the archive, told as an alert. A
// resource that is refused to the key is let rest for an hour (P11); one that fails is not.
import { hourMs, minuteMs } from '../../day.ts';
import { causeChain, isOutlastError } from '../../errors.ts';
import type { ProjectId, Resource } from '../../model.ts';
import { storable } from '../../platform/canonical.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Db } from '../../store/db.ts';
import { noteContact } from '../../store/facts.ts';

type Asking = { db: Db; projectId: ProjectId; platform: Platform };

export type ResourceProblem = { error: unknown; isRefused: boolean; problem: string };

/** A refused resource is asked again hourly. */
const refusedRestMs = hourMs;
const correctedByMs = minuteMs;

/** By platform, which is one key's: when it last refused that key a resource. */
const refusals = new WeakMap<Platform, Map<Resource, number>>();

export function isResting(platform: Platform, resource: Resource): boolean {
  const at = refusals.get(platform)?.get(resource);
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
  if (isRefused) {
    const since = refusals.get(platform) ?? new Map<Resource, number>();
    refusals.set(platform, since.set(resource, platform.clock.now()));
  }
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
