// What is due now and what falls due next. Pure; a run asks the evidence again.
import { wholeList, type Day, type Instant, type ListedResource } from '../../model.ts';
import type { Slice } from '../../store/ledger.ts';
import { overAt } from '../verdicts.ts';

/** Today's last page, a past day for the first time or again, a list without dates. */
export type Action = 'tail' | 'first' | 'again' | 'whole';

/** Slices of one resource for which the same is to be done. */
export type Upcoming = {
  action: Action;
  resource: ListedResource;
  slices: number;
  /** The first and the last of their days. */
  from: Day;
  to: Day;
  /** When the first of them falls due, or fell due. */
  dueAt: Instant;
};

const minuteMs = 60_000;

/** What is due by now, in the order in which it is taken; and what comes next, up to so many moments of it. */
export function upcoming(
  slices: Slice[],
  now: Instant,
  nextAtMost: number,
): { due: Upcoming[]; next: Upcoming[] } {
  const due = new Map<string, Upcoming>();
  const next = new Map<string, Upcoming>();
  for (const slice of slices) {
    if (slice.dueAt === null) continue;
    const isDue = slice.dueAt <= now;
    const action = actionAt(slice, Math.max(slice.dueAt, now));
    const what = `${slice.resource} ${action}`;
    // What falls due within the same minute is done by the same run.
    if (isDue) add(due, what, slice, action, slice.dueAt);
    else add(next, `${Math.floor(slice.dueAt / minuteMs)} ${what}`, slice, action, slice.dueAt);
  }
  return {
    due: [...due.values()],
    next: [...next.values()].toSorted((a, b) => a.dueAt - b.dueAt).slice(0, nextAtMost),
  };
}

function actionAt(slice: Slice, at: Instant): Action {
  if (slice.day === wholeList) return 'whole';
  if (at < overAt(slice)) return 'tail';
  return slice.state === 'open' ? 'first' : 'again';
}

function add(
  groups: Map<string, Upcoming>,
  name: string,
  { resource, day }: Slice,
  action: Action,
  dueAt: Instant,
): void {
  const group = groups.get(name);
  if (group === undefined) {
    groups.set(name, { action, resource, slices: 1, from: day, to: day, dueAt });
    return;
  }
  group.slices += 1;
  if (day < group.from) group.from = day;
  if (day > group.to) group.to = day;
  group.dueAt = Math.min(group.dueAt, dueAt);
}
