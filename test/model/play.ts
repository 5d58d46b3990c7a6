// Plays one history: a platform, an archive that does what is due, faults and clocks by the minute; and watches for what
// must never happen. A seal is false by definition: the platform can still show an order of the day that is not held.
import type { OrderStatus } from '../../src/model.ts';
import { createArchive, type Archive } from './archive.ts';
import {
  createPlatform,
  day,
  honest,
  hour,
  minute,
  type Dialect,
  type Fault,
  type Memo,
  type Order,
} from './platform.ts';

const dayCount = 3;
/** When Outlast is started: the last of the three days has been over for twenty minutes. */
export const startsAt = dayCount * day + 20 * minute;
/** A false claim may stand until the next day's reading has ended. */
const mayStandMs = 27 * hour;
const freezeMs = 14 * hour;
const decidedAfterMs = 12 * hour;
/** Where no month goes: a day before the window, which has no end, is judged otherwise. */
const never = 1_000_000 * hour;

/** A string for each day: its orders' statuses, as '223'. */
export type Contents = readonly string[];
export type Tweaks = Readonly<Record<string, Partial<Order>>>;

/** `at`: the number of the act it falls on; `lasts`: milliseconds from then on, 0: that act alone. */
type FaultAt = { at: number; kind: Fault; lasts: number };
export type ClockStep = { at: number; machine?: number; platform?: number };

export type History = {
  contents: Contents;
  tweaks?: Tweaks;
  dialect?: Partial<Dialect>;
  faults?: readonly FaultAt[];
  startsAt?: number;
  days?: number;
  goesAt?: number;
  clockSteps?: readonly ClockStep[];
  /** Which of several days that are due at once is read first. */
  order?: readonly number[];
};

export type Played = ReturnType<typeof play>;

function ordersOf(contents: Contents, tweaks: Tweaks = {}): Order[] {
  const orders = contents.flatMap((statuses, one) =>
    Array.from(statuses, (status, i): Order => {
      const isLast = i === statuses.length - 1;
      return {
        id: `${'abc'[one]}${i}`,
        day: one,
        place: 10 + i * 10,
        status: Number(status) as OrderStatus,
        // A day's last order is made in its last minute.
        visibleAt: isLast ? (one + 1) * day - minute : one * day + 10 * hour + i * hour,
        goneAt: Infinity,
        settlesAt: Infinity,
        settlesAs: 2,
        isAtMidnight: i === 0 && one === 1,
        hasZeroTime: i === 0 && one === 0,
      };
    }),
  );
  return orders.map((order) => ({ ...order, ...tweaks[order.id] }));
}

export function play(history: History) {
  const { contents, tweaks, days = 4, goesAt = never, clockSteps = [] } = history;
  const begin = history.startsAt ?? startsAt;
  const dialect = { ...honest, ...history.dialect };
  const platform = createPlatform(ordersOf(contents, tweaks), dialect, goesAt);
  platform.time = begin;
  const archive = createArchive(platform, dayCount, goesAt, history.order);
  const watcher = createWatcher(platform, archive, goesAt);
  const until = begin + days * day;
  let pingedAt = begin;
  let acts = 0;
  const lasting: { kind: Fault; until: number }[] = [];

  const stepClocks = (from: number, to: number): void => {
    for (const step of clockSteps) {
      if (step.at <= from || step.at > to) continue;
      platform.machineOff = step.machine ?? platform.machineOff;
      platform.platformOff = step.platform ?? platform.platformOff;
    }
  };
  stepClocks(-Infinity, begin);
  watcher.look();
  // Ends: time goes on with every turn, and what acts too often is a violation.
  while (platform.time < until) {
    const due = archive.next();
    const wait = Math.max(0, Math.ceil((due.at - due.now) / minute) * minute);
    // Where clocks move, time goes in small steps, and the platform is heard.
    const atMost = clockSteps.length > 0 ? 30 * minute : 12 * hour;
    if (wait > 0) {
      const before = platform.time;
      platform.time = Math.min(
        until,
        before + Math.min(wait, atMost),
        ...nextStep(clockSteps, before),
      );
      stepClocks(before, platform.time);
      if (clockSteps.length > 0 && platform.time - pingedAt >= 30 * minute) {
        pingedAt = platform.time;
        archive.ping();
      }
      watcher.look();
      if (due.at === Infinity && clockSteps.length === 0 && goesAt === never) break;
      continue;
    }
    for (const { at, kind, lasts } of history.faults ?? []) {
      if (at !== acts) continue;
      lasting.push({ kind, until: platform.time + lasts });
      watcher.faultUntil(platform.time + lasts);
    }
    const active = (isActing: boolean): Set<Fault> =>
      new Set(
        lasting
          .filter((one) => one.until > platform.time || (isActing && one.until === platform.time))
          .map(({ kind }) => kind),
      );
    platform.faults = active(true);
    archive.do(due);
    acts += 1;
    platform.faults = active(false);
    platform.time += minute;
    stepClocks(platform.time - minute, platform.time);
    watcher.look();
    if (acts > 4000) {
      watcher.violations.add('acts without end');
      break;
    }
  }
  watcher.end();
  const verdicts = Array.from({ length: dayCount }, (_, one) => archive.verdict(one));
  return {
    states: verdicts.map(({ state }) => state),
    whys: verdicts.map(({ why }) => why),
    /** Every order held: its day and status. */
    held: [...archive.held.values()].map((one) => `${one.id} ${one.day} ${one.status}`).toSorted(),
    /** Seals that were false when they were given. */
    falseSeals: watcher.falseSeals,
    /** False claims that stood for longer than a day and its reading. */
    lastingClaims: watcher.lastingClaims,
    /** Whatever else must not happen. */
    violations: [...watcher.violations],
  };
}

export type FreeAct = { what: 'asc' | 'desc' | 'books'; afterMs: number };

/**
 * Day 0 alone, read and asked for whenever somebody likes, not when it is due. Returns the seals that were false when
 * they were given.
 */
export function playFreely(
  acts: readonly FreeAct[],
  dialect: Partial<Dialect>,
  { clock, fault }: { clock?: ClockStep; fault?: { at: number; kind: Fault } } = {},
  memo?: Memo,
): string[] {
  const orders = ordersOf(['223', '', '']);
  const platform = createPlatform(orders, { ...honest, ...dialect }, never, memo);
  platform.time = day + 16 * minute;
  const archive = createArchive(platform, 1, never);
  const found: string[] = [];
  let wasSealed = false;
  for (const [i, { what, afterMs }] of acts.entries()) {
    if (i > 0) platform.time += afterMs;
    if (clock?.at === i) {
      platform.machineOff = clock.machine ?? 0;
      platform.platformOff = clock.platform ?? 0;
    }
    platform.faults = new Set(fault?.at === i ? [fault.kind] : []);
    archive.do(what === 'books' ? { what } : { what: 'read', day: 0, end: what });
    platform.faults = new Set();
    const isSealed = archive.verdict(0).state === 'sealed';
    if (isSealed && !wasSealed) {
      for (const id of platform.couldShow(0)) {
        if (!archive.held.has(id)) found.push(`sealed without ${id} after act ${i}`);
      }
    }
    wasSealed = isSealed;
  }
  return found;
}

function nextStep(steps: readonly ClockStep[], time: number): number[] {
  return steps.filter(({ at }) => at > time).map(({ at }) => at);
}

function createWatcher(
  platform: ReturnType<typeof createPlatform>,
  archive: Archive,
  goesAt: number,
) {
  const before = Array.from({ length: dayCount }, () => 'open');
  const wasRead = Array.from({ length: dayCount }, () => false);
  const unheldSince = new Map<string, number>();
  const falseSeals: string[] = [];
  const lastingClaims: string[] = [];
  const violations = new Set<string>();
  let lastFaultAt = -Infinity;

  function end(name: string, since: number): void {
    const stood = platform.time - Math.max(since, lastFaultAt);
    if (stood > mayStandMs) lastingClaims.push(`${name} for ${Math.round(stood / hour)} h`);
    unheldSince.delete(name);
  }

  function look(): void {
    for (let one = 0; one < dayCount; one++) {
      const { state, why } = archive.verdict(one);
      const was = before[one];
      if (was === 'final' && state !== 'final') violations.add('final was undone');
      if (state === 'lost' && wasRead[one]) violations.add('lost though it was read');
      const isDecided = state === 'final' || state === 'lost';
      if (isDecided && platform.time < goesAt + decidedAfterMs) violations.add(`${state} too soon`);
      if (state !== 'open' && state !== 'lost' && isReadItself(one)) wasRead[one] = true;
      if (state === 'sealed' && was !== 'sealed' && platform.time >= goesAt - freezeMs) {
        if (!hasPairBeforeFreeze(one)) violations.add('sealed by a reading in the freeze');
      }
      const claims = state === 'sealed' || (state === 'final' && why === null);
      const could = platform.couldShow(one);
      if (claims) {
        for (const id of could) {
          const name = `${one} ${id}`;
          if (isHeld(id) || unheldSince.has(name)) continue;
          unheldSince.set(name, platform.time);
          if (was !== 'sealed') falseSeals.push(name);
        }
      }
      for (const [name, since] of unheldSince) {
        const [of, id = ''] = name.split(' ');
        if (of !== String(one)) continue;
        if (!claims || isHeld(id) || !could.has(id)) end(name, since);
      }
      before[one] = state;
    }
  }

  /** What is shown is not called gone. */
  const isHeld = (id: string): boolean => archive.held.get(id)?.isGone === false;

  /** In the freeze a day that shows nothing is not read by what the next one shows until that is read itself. */
  const isReadItself = (one: number): boolean =>
    (archive.readings[one] ?? []).some(({ ended }) => ended.latest < goesAt - freezeMs) ||
    [...archive.held.values()].some(({ day: under, ownDay }) => (ownDay ?? under) === one);

  function hasPairBeforeFreeze(one: number): boolean {
    const times = (archive.readings[one] ?? [])
      .map(({ trueTime }) => trueTime)
      .filter((time) => time < goesAt - freezeMs);
    return times.some((time) => times.some((other) => time - other >= 2 * hour - minute));
  }

  return {
    falseSeals,
    lastingClaims,
    violations,
    look,
    faultUntil: (time: number) => {
      lastFaultAt = Math.max(lastFaultAt, time);
    },
    end: () => {
      look();
      for (const [name, since] of unheldSince) end(name, since);
    },
  };
}
