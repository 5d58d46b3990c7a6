// The facts of one list, probed once more: what changed, what is kept until a second probe says so, and what is read
// again because its proofs rested on another fact.
import { windowAt } from '../../day.ts';
import type { Instant, ListedResource } from '../../model.ts';
import type { PlatformClock } from '../../platform/platform.ts';
import { readFacts, recordFacts, type Facts } from '../../store/facts.ts';
import { reopenSlices } from '../../store/ledger.ts';
import { isSameSide } from '../day-zone.ts';
import { listsOf } from '../enter-days.ts';
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
import type { Contact } from './contact.ts';
import { probeKeyLife } from './probe-key-life.ts';
import { probe } from './probe.ts';
import { soundly } from './sound-answers.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** So often the facts of a list are probed, the life of page keys among them. */
export const probeEveryMs = dayMs;

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
  clock: Pick<PlatformClock, 'now' | 'latest'>,
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
  const isMonthGoing = !absenceProves(windowAt(now).from, clock.latest());
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

/** Throws what the platform throws of that list. */
export async function refreshFacts(contact: Contact, list: ListedResource): Promise<void> {
  const { db, projectId, scope, signal, log } = contact;
  const before = await readFacts(db, projectId);
  // A platform that is out of order teaches nothing.
  const platform = soundly(contact.platform, before, true);
  const { clock } = platform;
  const { owner = '' } = listsOf(scope).find(({ resource }) => resource === list) ?? {};
  const learned = await ifUsable(contact, () =>
    probe(contact.platform, platform, list, owner, signal, before),
  );
  const probed: Record<string, string> = { ...learned };
  keepInstant(probed, before, list);
  let isWhole = learned !== null;
  if (list === 'orders') {
    const from = windowAt(clock.now()).from;
    const keyLife = await ifUsable(contact, () =>
      probeKeyLife(db, platform, projectId, before, from, signal),
    );
    probed['orders.key_life'] = keyLife ?? 'unknown';
    keepStatusTotals(probed, before, clock);
    isWhole &&= (probed[statusTotals] ?? before.get(statusTotals)) !== statusesUnknown;
  }
  // What cannot be seen today (no record to learn from) does not unlearn what was seen before.
  for (const [fact, value] of Object.entries(probed)) {
    if (value === 'unknown' && before.has(fact) && fact !== statusTotals) delete probed[fact];
  }
  keepUntilSure(probed, before, `${list}.totals`, 'present', clock.now());
  keepUntilSure(probed, before, `${list}.empty_total`, 'zero', clock.now());
  if (probed[statusTotals] === statusesExceed) await reopenHidden(db, projectId);
  const changed = await recordFacts(db, projectId, probed, clock.now());
  // What could not be probed is probed again in an hour, not at every run.
  const probedAs = clock.now() - (isWhole ? 0 : probeEveryMs - hourMs);
  await recordFacts(db, projectId, { [`${list}.probed`]: 'yes' }, probedAs);
  const cap = probed[`${list}.cap`];
  // What such a total proved is read once more.
  if (cap !== undefined && cap !== before.get(`${list}.cap`)) {
    await reopenSlices(db, projectId, list, { atLeast: Number(cap) });
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
}
