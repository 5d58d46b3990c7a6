// The kinds of alerts, what sets one apart from another, and the words they are made of: names of lists and months, counts
// with their nouns, moments. It decides nothing itself.
import { wholeList, type Day, type Instant, type ListedResource } from '../model.ts';
import type { Days } from '../store/alerts/signs.ts';
import type { Disagreement } from '../store/clocks.ts';

export type AlertKind =
  | 'deadline_at_risk'
  | 'deadline_missed'
  | 'day_lost'
  | 'day_unproved'
  | 'day_reopened'
  | 'clock_disagrees'
  | 'operation_at_risk'
  | 'operation_lost'
  | 'proof_fails'
  | 'records_missing'
  | 'rejects'
  | 'fact_changed'
  | 'parked'
  | 'run_failed';

type About = {
  /** What has happened and stays so: told once, and again when more of it happens; nothing to recover from. */
  isNews: boolean;
  /** While it holds, not all is well: the heartbeat stays away. */
  stopsHeartbeat: boolean;
  /** Kinds that end in this one, for the same subject: their end is no recovery and is not told as one. */
  ends: readonly AlertKind[];
};

// prettier-ignore
const table: Record<AlertKind, About> = {
  deadline_at_risk: { isNews: false, stopsHeartbeat: true, ends: [] },
  deadline_missed: { isNews: false, stopsHeartbeat: true, ends: ['deadline_at_risk', 'proof_fails'] },
  day_lost: { isNews: true, stopsHeartbeat: false, ends: ['deadline_at_risk', 'deadline_missed', 'proof_fails'] },
  day_unproved: { isNews: true, stopsHeartbeat: false, ends: ['deadline_at_risk', 'deadline_missed', 'proof_fails'] },
  day_reopened: { isNews: true, stopsHeartbeat: false, ends: [] },
  // Nothing is sealed or decided meanwhile, and only a person can set a clock right.
  clock_disagrees: { isNews: false, stopsHeartbeat: true, ends: [] },
  // A single mistyped id would keep the heartbeat away for days.
  operation_at_risk: { isNews: false, stopsHeartbeat: false, ends: [] },
  operation_lost: { isNews: true, stopsHeartbeat: false, ends: ['operation_at_risk'] },
  // One stubborn day must not hide that the service lives; its deadline speaks up in time.
  proof_fails: { isNews: false, stopsHeartbeat: false, ends: [] },
  records_missing: { isNews: true, stopsHeartbeat: false, ends: [] },
  rejects: { isNews: true, stopsHeartbeat: false, ends: [] },
  fact_changed: { isNews: true, stopsHeartbeat: false, ends: [] },
  parked: { isNews: false, stopsHeartbeat: true, ends: ['run_failed'] },
  run_failed: { isNews: false, stopsHeartbeat: true, ends: [] },
};

const unknown: About = { isNews: false, stopsHeartbeat: false, ends: [] };

/** What is known of a kind; a later release may have left a row of a kind that this one does not know. */
export const aboutKind = (kind: string): About => ({ ...unknown, ...table[kind as AlertKind] });

type List = { resource: ListedResource; owner: string };

/** `orders 2026-03-05`, `nft_classes of iaa1x 2026-03`. */
export const nameOf = ({ resource, owner }: List, what: string): string =>
  owner === '' ? `${resource} ${what}` : `${resource} of ${owner} ${what}`;

/** `orders 2026-03`; an owner's whole list is no month of the calendar. */
export const monthName = (list: List, month: Day): string =>
  nameOf(list, month === wholeList ? 'as a whole' : month.slice(0, 7));

/** `1 day`, `1,200 days`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;

/** `3 days (2026-03-01, 2026-03-02, 2026-03-03) are`, `12 days (2026-03-01, 2026-03-02, 2026-03-03 and more) are`. */
export function named({ count, first }: Days, one: string, several: string): string {
  const listed = first.filter((day) => day !== wholeList).join(', ');
  const more = count > first.length ? ' and more' : '';
  const which = listed === '' ? '' : ` (${listed}${more})`;
  return `${counted(count, 'day')}${which} ${count === 1 ? one : several}`;
}

/** `2026-04-30 00:00 UTC`. */
export const moment = (at: Instant): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const waits = 'nothing is sealed, final or lost before every clock says so';

/** Who contradicts the time that is believed, by how much and since when. */
export function clockText({ machine, of, byMs, since }: Disagreement): string {
  const by = lasting(Math.abs(byMs));
  return of === 'machine'
    ? `The clock of ${machine} is ${by} ${byMs > 0 ? 'behind' : 'ahead of'} the platform's since ${moment(since)}: ${waits}. Set it right.`
    : `The platform's answers contradict each other about the time, by ${by}, since ${moment(since)}: ${waits}.`;
}

/** `7 minutes`, `3 hours`, `366 days`. */
function lasting(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return counted(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 48 ? counted(hours, 'hour') : counted(Math.round(hours / 24), 'day');
}
