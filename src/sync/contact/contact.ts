// The first requests of every run: learn the platform's clock, make sure it is the same source, refresh the facts, each
// list by itself. Of a project to which the platform has not answered yet, nothing is written but since when it
// was asked (run.ts).
import { hourMs, windowAt } from '../../day.ts';
import { causeChain, isOutlastError, transient, type OutlastError } from '../../errors.ts';
import { listedResources, type ListedResource } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { isPlatformError, UnansweredError } from '../../platform/refusal.ts';
import { withTx } from '../../store/db.ts';
import { noteContact, probedAt, readContacts, readFacts, type Facts } from '../../store/facts.ts';
import {
  lowerFirstDay,
  readProject,
  saveProject,
  unparkProject,
  type KnownProject,
} from '../../store/projects.ts';
import { wasShown } from '../ask-list.ts';
import { archivedLists } from '../enter-days.ts';
import type { Worker } from '../worker.ts';
import { probeEveryMs, refreshFacts } from './probe.ts';
import {
  forgetRefusals,
  isResting,
  noteAnswer,
  noteProblem,
  problemOf,
  type ResourceProblem,
} from './resource-health.ts';
import { recogniseSource, refuseSecondProject } from './same-source.ts';

type Contact = Worker & {
  /** The one list that is to be asked; absent: all of the scope. */
  list?: ListedResource | undefined;
  signal: AbortSignal;
  /** Takes a changed address or key for the same source without looking. */
  acceptNewSource: boolean;
  /** Asks although the project is parked. */
  evenIfParked: boolean;
  /** Probes the facts now, not only once a day. */
  probesNow?: boolean;
};

/** The lists of a run, each by itself: one that is down or refused holds up no other. */
export type ListContacts = {
  /** The facts to work by, kept up to date while the run lasts. */
  facts: Facts;
  /** The lists that answer: their slices are worked on. */
  answering: ReadonlySet<ListedResource>;
  /** What keeps the others from it. */
  problems: ReadonlyMap<ListedResource, ResourceProblem>;
  /** Puts a list aside that answers no more. */
  close(list: ListedResource, error: unknown): Promise<void>;
  /** Asks those that do not answer once more; true where one does now. Throws what concerns all. */
  askAgain(): Promise<boolean>;
};

/**
 * The first requests to each list of the scope; null when the project is parked and it is not yet time to ask again. A
 * project that was never entered needs the answer of one list: throws what kept them all from it. Throws settings
 * `source_changed` and `source_held`.
 */
export async function makeContact(contact: Contact): Promise<ListContacts | null> {
  const { db, platform, projectId, source, signal, scope } = contact;
  const { clock } = platform;
  const known = await readProject(db, projectId, source);
  if (known === null && !contact.acceptNewSource) await refuseSecondProject(db, projectId, source);
  if (isParked(known, contact)) return null;
  if (contact.evenIfParked) forgetRefusals(platform);
  const states = new Map((await readContacts(db, projectId)).map((one) => [one.resource, one]));
  const archived = archivedLists(scope);
  for (const list of listedResources) {
    if (archived.includes(list) || states.get(list)?.state === 'unused') continue;
    await noteContact(db, projectId, list, { state: 'unused', problem: '' }, clock.now());
  }
  const isSilent = (list: ListedResource): boolean =>
    ['refused', 'fails'].includes(states.get(list)?.state ?? '');
  const wanted = archived.filter((list) => (contact.list ?? list) === list);
  // Those that answered last come first: another may take minutes to say nothing.
  const lists = [...wanted.filter((list) => !isSilent(list)), ...wanted.filter(isSilent)];

  const facts = new Map(await readFacts(db, projectId));
  const answering = new Set<ListedResource>();
  const problems = new Map<ListedResource, ResourceProblem>();
  /** What goes wrong with one list is its own affair. */
  const ofList = async (list: ListedResource, ask: () => Promise<void>): Promise<void> => {
    try {
      await ask();
      problems.delete(list);
    } catch (error) {
      if (signal.aborted || !isPlatformError(error)) throw error;
      problems.set(list, advised(problemOf(platform, list, error), list, facts));
    }
  };
  const open = async (list: ListedResource): Promise<void> => {
    const at = await probedAt(db, projectId, list);
    const now = clock.now();
    // A probe of a day to come was made by a wrong clock.
    const isKnown = at !== null && at > now - probeEveryMs && at < now + hourMs;
    if (!isKnown || known?.sameSource !== true || contact.probesNow === true) {
      await refreshFacts(contact, list);
      for (const [fact, value] of await readFacts(db, projectId)) facts.set(fact, value);
    } else if (isSilent(list) || problems.has(list)) await askForDate(platform, list, signal);
    await noteAnswer(contact, list);
    answering.add(list);
  };

  const isChanged = known !== null && !known.sameSource;
  // What cannot be taken back waits for an answer of the last ten minutes.
  let isHeard = clock.earliest() > -Infinity;
  for (const list of lists) {
    if (isResting(platform, list)) problems.set(list, earlier(states.get(list)?.problem, true));
    else if (!isHeard || isChanged) {
      await ofList(list, () => askForDate(platform, list, signal));
      isHeard ||= !problems.has(list);
    }
  }
  const able = lists.filter((list) => !problems.has(list));
  let maySave = !isChanged || contact.acceptNewSource;
  if (!maySave && able.length > 0) {
    try {
      const held = { db, platform, projectId, sameKey: known?.sameKey === true, signal };
      maySave = await recogniseSource(held, facts, archived, able);
    } catch (error) {
      if (signal.aborted || !isPlatformError(error)) throw error;
      for (const list of able.splice(0)) problems.set(list, problemOf(platform, list, error));
    }
  }
  for (const list of able) {
    // Beside the work of those that answer, by `askAgain`.
    if (answering.size > 0 && isSilent(list)) {
      problems.set(list, earlier(states.get(list)?.problem, false));
    } else await ofList(list, () => open(list));
  }
  if (answering.size === 0 && problems.size > 0) {
    const isNew = !listedResources.some((list) => wasShown(facts, list));
    const error = errorOfAll([...problems.values()]);
    // Nothing but an address that knows nothing, or nothing at all yet.
    if (known === null || (isNew && isNotFound(error))) throw error;
  }

  const now = clock.now();
  // Accounted for is only what every clock has in the window.
  const { from: firstDay } = windowAt(clock.latest());
  if (known !== null && clock.offsetMs() !== null && firstDay < known.firstDay) {
    await withTx(db, (tx) => lowerFirstDay(tx, projectId, firstDay));
  }
  const isTaken = answering.size > 0 || lists.length === 0;
  if (known === null || (isChanged && maySave && isTaken)) {
    await withTx(db, (tx) => saveProject(tx, projectId, source, firstDay, now));
  }
  const wasParked = known !== null && known.parkedReason !== null;
  if (wasParked && answering.size > 0) await withTx(db, (tx) => unparkProject(tx, projectId));
  for (const [list, problem] of problems) await noteProblem(contact, list, problem);

  return {
    facts,
    answering,
    problems,
    close: async (list, error) => {
      const problem = problemOf(platform, list, error);
      answering.delete(list);
      problems.set(list, problem);
      await noteProblem(contact, list, problem);
    },
    askAgain: async () => {
      const silent = [...problems.keys()].filter((list) => !isResting(platform, list));
      await Promise.all(
        silent.map(async (list) => {
          await ofList(list, () => open(list));
          const problem = problems.get(list);
          if (problem !== undefined) await noteProblem(contact, list, problem);
        }),
      );
      return silent.some((list) => answering.has(list));
    },
  };
}

/** Whether the project rests: a changed key or address is a reason to ask at once. */
function isParked(
  known: KnownProject | null,
  { platform: { clock }, evenIfParked }: Contact,
): boolean {
  if (known === null || known.parkedReason === null || !known.sameSource || evenIfParked) {
    return false;
  }
  const { askAgainAt } = known;
  // Hourly, unless the clock was ahead when it was parked.
  return clock.now() < (askAgainAt ?? Infinity) && (askAgainAt ?? 0) < clock.now() + 2 * hourMs;
}

/** A list that was never shown may be none of this project's. */
function advised(
  { problem, ...of }: ResourceProblem,
  list: ListedResource,
  facts: Facts,
): ResourceProblem {
  const mayBeNone = !wasShown(facts, list) && (of.isRefused || isNotFound(of.error));
  const name = list === 'orders' ? 'orders' : 'classes';
  const advice = `. If the project has none, set "${name}": "none" (OUTLAST_PROJECTS_FILE)`;
  return { ...of, problem: mayBeNone ? problem + advice : problem };
}

/** What was found before, where nobody asks now. */
const earlier = (problem = '', isRefused: boolean): ResourceProblem => ({
  error: transient('platform_unavailable', problem),
  isRefused,
  problem,
});

const isNotFound = (error: unknown): boolean =>
  error instanceof UnansweredError && error.status === 404;

/** Why none answers: that all are refused only where all are, that all are not there likewise. */
function errorOfAll(problems: readonly ResourceProblem[]): unknown {
  const first = problems.find(({ isRefused }) => !isRefused) ?? problems[0];
  if (problems.length === 1 || !(first?.error instanceof UnansweredError)) return first?.error;
  const isEvery404 = problems.every(({ error }) => isNotFound(error));
  return new UnansweredError(
    'platform_unavailable',
    problems.map(({ error }) => causeChain(error)).join('; '),
    isEvery404 ? 404 : null,
  );
}

/** Hears the platform's `Date` by the first of these lists that answers; throws what kept the first from it. */
export async function learnClockByAny(
  platform: Platform,
  lists: readonly ListedResource[],
  signal: AbortSignal,
): Promise<void> {
  let failure: OutlastError | null = null;
  for (const list of lists) {
    try {
      await askForDate(platform, list, signal);
      return;
    } catch (error) {
      if (!isPlatformError(error)) throw error;
      failure ??= error;
    }
  }
  if (failure !== null) throw failure;
}

/** One record is asked for, only to hear a `Date`; what is asked matters not. */
async function askForDate(
  platform: Platform,
  resource: ListedResource,
  signal: AbortSignal,
): Promise<void> {
  try {
    await platform.page({ resource, limit: 1, sortBy: 'DATE_DESC' }, signal);
  } catch (error) {
    // A refusal carries a date as well, and so does what is too long to be read; anything else is a real failure.
    const isAnswer = isOutlastError(error, 'platform_refused', 'platform_unusable');
    if (!isAnswer || platform.clock.lastDate() === null) throw error;
  }
}
