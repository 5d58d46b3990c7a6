// The first words with a platform in every run: learn its clock, make sure it is the same source, refresh the
// facts. Of a project to which the platform has not answered yet, nothing is written but since when it was asked
// (run.ts).
import { windowAt } from '../../day.ts';
import { isOutlastError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { listedResources, type Instant } from '../../model.ts';
import { agreeMs } from '../../platform/clock.ts';
import type { Platform, PlatformClock } from '../../platform/platform.ts';
import type { Db } from '../../store/db.ts';
import { readFacts, readProbedFacts, recordFacts, type Facts } from '../../store/facts.ts';
import { reopenSlices } from '../../store/ledger.ts';
import {
  lowerFirstDay,
  readProject,
  saveProject,
  unparkProject,
  type ProjectSource,
} from '../../store/projects.ts';
import { hurryUncounted } from '../../store/reopenings.ts';
import { isSameSide } from '../day-zone.ts';
import { listsOf, type ArchivedScope } from '../enter-days.ts';
import { absenceProves } from '../policy.ts';
import {
  reopenHidden,
  statusesAbsent,
  statusesAddUp,
  statusesExceed,
  statusesFallShort,
  statusesOfNone,
  statusesUnknown,
  statusTotals,
} from '../slice/status-totals.ts';
import { concernsAll, unforeseenText } from '../unforeseen-errors.ts';
import { recallTime } from './clock-memory.ts';
import { healLedger } from './heal-ledger.ts';
import { probeKeyLife } from './probe-key-life.ts';
import { probe } from './probe.ts';
import { recogniseSource } from './same-source.ts';
import { soundly } from './sound-answers.ts';

export type Contact = {
  db: Db;
  platform: Platform;
  projectId: string;
  source: ProjectSource;
  scope: ArchivedScope;
  signal: AbortSignal;
  log: Log;
  /** Takes a changed address or key for the same source without looking. */
  acceptNewSource: boolean;
  /** Asks although the project is parked. */
  evenIfParked: boolean;
  /** Probes the facts now, not only once a day. */
  probesNow?: boolean;
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** So often the facts are probed, the life of page keys among them. */
const probeEveryMs = dayMs;

/**
 * The facts to work by; null when the project is parked and it is not yet time to ask again.
 * Throws settings `source_changed`, and what the platform throws.
 */
export async function makeContact(contact: Contact): Promise<Facts | null> {
  const { db, platform, projectId, source, signal } = contact;
  const known = await readProject(db, projectId, source);
  const isParked = known !== null && known.parkedReason !== null;
  // A changed key or address is a reason to ask at once.
  if (
    isParked &&
    known.sameSource &&
    !contact.evenIfParked &&
    platform.clock.now() < (known.askAgainAt ?? Infinity) &&
    // Hourly, unless the clock was ahead when it was parked.
    (known.askAgainAt ?? 0) < platform.clock.now() + 2 * hourMs
  ) {
    return null;
  }
  const isFirst = platform.clock.lastDate() === null;
  if (isFirst) await recallTime(contact);
  if (!platform.clock.isSettled() || platform.clock.isStale()) await learnClock(platform, signal);
  const now = platform.clock.now();
  const { facts: before, probedAt } = await readProbedFacts(db, projectId);
  if (known !== null && !known.sameSource && !contact.acceptNewSource) {
    await recogniseSource(db, platform, before, projectId, signal);
  }
  const { from: firstDay } = windowAt(platform.clock.isSettled() ? now : platform.clock.possible());
  if (known !== null && platform.clock.isSettled() && firstDay < known.firstDay) {
    await lowerFirstDay(db, projectId, firstDay);
  }
  if (known === null || !known.sameSource) {
    await saveProject(db, projectId, source, firstDay, now);
  } else if (known.parkedReason !== null) {
    await unparkProject(db, projectId);
  }
  // A probe of a day to come was made by a wrong clock.
  const isKnown = probedAt !== null && probedAt > now - probeEveryMs && probedAt < now + hourMs;
  const isDue = !isKnown || known?.sameSource !== true;
  const probesNow = isDue || contact.probesNow === true;
  const facts = probesNow ? await refreshFacts(contact) : before;
  await readUncountedAgain(contact, facts);
  const isElsewhere = hasMoved(platform);
  if (isFirst || isDue || isElsewhere) await healLedger(contact, facts);
  return facts;
}

/** By platform: what was believed of its clock at the last contact, and who contradicted it. */
const believed = new WeakMap<Platform, { offMs: number; by: string | null }>();

/** Whether another time is believed than at the last contact, or somebody else contradicts it. */
function hasMoved(platform: Platform): boolean {
  const offMs = platform.clock.offsetMs() ?? 0;
  const by = platform.clock.disagreement()?.of ?? null;
  const before = believed.get(platform);
  believed.set(platform, { offMs, by });
  return before === undefined || Math.abs(before.offMs - offMs) > agreeMs || before.by !== by;
}

/** So often, and with such pauses, a clock that contradicts this machine's is asked before work begins. */
const asksAtMost = 8;
const pauseMs = 1500;

/**
 * Hears the platform's `Date`; once where this machine's clock agrees, else until enough answers agree with each other,
 * or for ten seconds: then work begins by this machine's clock, and no verdict rests on it.
 */
export async function learnClock(platform: Platform, signal: AbortSignal): Promise<void> {
  const { clock } = platform;
  // Ends: asksAtMost (P9).
  for (let asked = 1; ; asked++) {
    await askForDate(platform, signal);
    const isKnown = clock.isSettled() && !clock.isStale();
    if (isKnown || clock.lastDate() === null || asked === asksAtMost) return;
    await platform.sleep(pauseMs, signal);
  }
}

/**
 * Before answers without their total were known for a fault, hours of them left seals of empty days behind, and records
 * that were marked as missing. Once in an archive's life all of that is read again.
 */
async function readUncountedAgain(
  { db, projectId, platform, log }: Contact,
  facts: Facts,
): Promise<void> {
  const known = listedResources.filter((resource) => facts.get(`${resource}.totals`) === 'present');
  if (facts.has('uncounted.reread') || known.length === 0) return;
  let slices = 0;
  for (const resource of known) slices += await hurryUncounted(db, projectId, resource);
  await recordFacts(db, projectId, { 'uncounted.reread': 'yes' }, platform.clock.now());
  if (slices > 0)
    log.warn({ projectId, slices }, 'Days that were concluded without a total are read again');
}

/** One record is asked for, only to hear a `Date`; what is asked matters not. */
async function askForDate(platform: Platform, signal: AbortSignal): Promise<void> {
  try {
    await platform.orders({ limit: 1, sortBy: 'DATE_DESC', countTotal: false }, signal);
  } catch (error) {
    // A refusal carries a date as well, and so does what is too long to be read; anything else is a real failure.
    const isAnswer =
      isOutlastError(error, 'platform_refused') || isOutlastError(error, 'platform_unusable');
    if (!isAnswer || platform.clock.lastDate() === null) throw error;
  }
}

/**
 * Whether an end date is a closed instant shows only where a record stands at midnight. Without one it looks exclusive,
 * which asks for the same days: that is no news, and unseals nothing.
 */
function keepInstant(probed: Record<string, string>, before: Facts, resource: string): void {
  const fact = `${resource}.day_end`;
  if (probed[fact] === 'exclusive' && before.get(fact) === 'instant') delete probed[fact];
}

/**
 * That totals are given no more, or otherwise, is believed when a second probe says so, a day after the first: records
 * were shown both times. Until then their absence is a fault, and the fact stays `good`.
 */
function keepUntilSure(
  probed: Record<string, string>,
  before: Facts,
  fact: string,
  good: string,
  now: Instant,
): void {
  const doubt = `${fact}_doubted`;
  if (before.get(fact) !== good || (probed[fact] ?? good) === good) {
    if (probed[fact] !== undefined && before.has(doubt)) probed[doubt] = 'no';
    return;
  }
  const since = Date.parse(before.get(doubt) ?? '');
  if (now >= since + dayMs) return;
  probed[doubt] = new Date(Number.isNaN(since) ? now : since).toISOString();
  delete probed[fact];
}

/**
 * That lists leave orders out is believed at once, and until the totals of the statuses add up again. That nothing is
 * told by status any more is believed when a second probe says so.
 */
function keepStatusTotals(
  probed: Record<string, string>,
  before: Facts,
  clock: Pick<PlatformClock, 'now' | 'possible'>,
): void {
  const now = clock.now();
  const was = before.get(statusTotals);
  const found = probed[statusTotals];
  if (found === statusesExceed) return;
  // Nothing can tell any more where totals are gone.
  const totals = probed['orders.totals'] ?? before.get('orders.totals');
  if (found === undefined && was === statusesUnknown && totals !== 'present') {
    probed[statusTotals] = statusesAbsent;
    return;
  }
  // Around the cliff the list and each status may be told by copies of which some have let go of the month.
  const isMonthGoing = !absenceProves(windowAt(now).from, clock.possible());
  const isKept = was === statusesExceed && (found !== statusesAddUp || isMonthGoing);
  const isNothingLearned = found === statusesOfNone && was !== undefined && was !== found;
  if (isNothingLearned || isKept) {
    delete probed[statusTotals];
    return;
  }
  const isFirst = was === undefined || was === statusesOfNone;
  // A filter that does nothing, or matches nothing, may do so for a moment: lists may leave orders out all the same.
  if (found === statusesFallShort && isFirst) probed[statusTotals] = statusesUnknown;
  // A filter that tells nothing may be gone, where it answered before, or told nothing an hour ago either.
  if (found === statusesUnknown && !isFirst) probed[statusTotals] = statusesAbsent;
  keepUntilSure(probed, before, statusTotals, statusesAddUp, now);
}

/** The platform's clock against this machine's; within five seconds they agree as well as anyone can tell. */
function offsetText(offsetMs: number | null): string {
  if (offsetMs === null) return 'unknown';
  const seconds = Math.round(offsetMs / 1000);
  if (Math.abs(seconds) <= 5) return 'within 5 s';
  return `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`;
}

/** Facts by which days are asked for and counted. */
const proofsRestOn = new Set(['day_end', 'date_filter', 'month_end', 'totals']);

/**
 * A poison among the newest records must not keep the days without it from being read: what is not learned stays
 * unknown.
 */
async function ifUsable<T>(contact: Contact, learn: () => Promise<T>): Promise<T | null> {
  try {
    return await learn();
  } catch (error) {
    if (contact.signal.aborted || concernsAll(error)) throw error;
    const problem = unforeseenText(error, contact);
    contact.log.warn({ projectId: contact.projectId, problem }, 'The facts could not be probed');
    return null;
  }
}

async function refreshFacts(contact: Contact): Promise<Facts> {
  const { db, projectId, scope, signal, log } = contact;
  const before = await readFacts(db, projectId);
  // A platform that is out of order teaches nothing.
  const platform = soundly(contact.platform, before, true);
  const probed: Record<string, string> = {};
  const seen = new Set<string>();
  let isWhole = true;
  for (const { resource, owner } of listsOf(scope)) {
    if (seen.has(resource)) continue;
    seen.add(resource);
    const learned = await ifUsable(contact, () =>
      probe(contact.platform, platform, resource, owner, signal, before),
    );
    Object.assign(probed, learned ?? {});
    isWhole &&= learned !== null;
  }
  const { clock } = platform;
  probed['clock.offset'] = offsetText(clock.offsetMs());
  const from = windowAt(clock.now()).from;
  const keyLife = await ifUsable(contact, () =>
    probeKeyLife(db, platform, projectId, before, from, signal),
  );
  probed['orders.key_life'] = keyLife ?? 'unknown';
  for (const { resource } of listsOf(scope)) keepInstant(probed, before, resource);
  keepStatusTotals(probed, before, clock);
  isWhole &&= (probed[statusTotals] ?? before.get(statusTotals)) !== statusesUnknown;
  // What cannot be seen today (no record to learn from) does not unlearn what was seen before.
  for (const [fact, value] of Object.entries(probed)) {
    if (value === 'unknown' && before.has(fact) && fact !== statusTotals) delete probed[fact];
  }
  for (const { resource } of listsOf(scope)) {
    keepUntilSure(probed, before, `${resource}.totals`, 'present', clock.now());
    keepUntilSure(probed, before, `${resource}.empty_total`, 'zero', clock.now());
  }
  if (probed[statusTotals] === statusesExceed) await reopenHidden(db, projectId);
  const changed = await recordFacts(db, projectId, probed, platform.clock.now());
  // What could not be probed is probed again in an hour, not at every run.
  const probedAs = platform.clock.now() - (isWhole ? 0 : probeEveryMs - hourMs);
  await recordFacts(db, projectId, { probed: 'yes' }, probedAs);
  for (const { resource } of listsOf(scope)) {
    const cap = probed[`${resource}.cap`];
    // What such a total proved is read once more.
    if (cap !== undefined && cap !== before.get(`${resource}.cap`)) {
      await reopenSlices(db, projectId, resource, { atLeast: Number(cap) });
    }
  }
  for (const { fact, from, to } of changed) {
    const [resource = '', name = ''] = fact.split('.');
    const asksTheSame = name === 'day_end' && from === 'exclusive' && to === 'instant';
    // Where older days were answered, nothing that was shown told where a month ends.
    const saidNothing = name === 'month_end' && before.get(`${resource}.older_days`) === 'answered';
    if (proofsRestOn.has(name) && !asksTheSame) {
      const onlyUnproved = from === 'unknown' || saidNothing;
      await reopenSlices(db, projectId, resource, { onlyUnproved });
    }
    // Days of another zone are other days; that the zone is UTC after all was taken for granted.
    if (name === 'day_zone' && !isSameSide(from, to)) {
      await reopenSlices(db, projectId, resource);
    }
    if (from !== 'unknown')
      log.warn({ projectId, fact, from, to }, 'The platform behaves differently than before');
  }
  return readFacts(db, projectId);
}
