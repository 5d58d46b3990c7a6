// Which histories are played: every way in which the platform may answer, every fault, what happens to orders, months
// and clocks, at most two of them at once. `mayStay`: what may keep a day unproved for ever there.
import type { Why } from '../../src/model.ts';
import { day, faults, hour, minute, type Dialect, type Fault } from './platform.ts';
import {
  play,
  playFreely,
  startsAt,
  type ClockStep,
  type Contents,
  type FreeAct,
  type History,
  type Played,
  type Tweaks,
} from './play.ts';

type Case = { name: string; history: History; mayStay: readonly Why[] | 'anything' };

type Named = { name: string; dialect: Partial<Dialect>; mayStay: Case['mayStay'] };

const unproved: readonly Why[] = [
  'showed less',
  'counts more',
  'read once',
  'books do not balance',
];

const named = (name: string, dialect: Partial<Dialect>, mayStay: Case['mayStay'] = []): Named => ({
  name,
  dialect,
  mayStay,
});

export const dialects: readonly Named[] = [
  named('honest', {}),
  named('no totals', { totals: 'none' }),
  named('totals capped at 2', { totals: 'cap2' }),
  named('totals capped at 4', { totals: 'cap4' }),
  named('totals of the page', { totals: 'page' }),
  named('totals one too many', { totals: 'plus1' }, ['counts more', 'books do not balance']),
  named('totals one too few', { totals: 'minus1' }),
  named('totals of midnight', { totals: 'cached' }),
  named('totals on the first page only', { totals: 'first' }),
  named('zeros left out', { totals: 'zeroOut' }),
  named('list cut at 2', { cut: 2 }, unproved),
  named('list and total cut at 1', { cut: 1, cutTotal: true }, unproved),
  named('list and total cut at 2', { cut: 2, cutTotal: true }, unproved),
  named('list and total cut at 4', { cut: 4, cutTotal: true }),
  named('failed ones hidden', { hides: [3] }),
  named('succeeded ones hidden', { hides: [2] }),
  named('pending and failed ones hidden', { hides: [1, 3] }),
  named('filter ignored', { filter: 'ignored' }),
  named('filter refused', { filter: 'refused' }),
  named('filter silent', { filter: 'silent' }),
  named('filter in words', { filter: 'words' }),
  named('filter in words, numbers refused', { filter: 'words', wordsRefuse: true }),
  named('end exclusive', { end: 'exclusive' }),
  named('always ascending', { order: 'asc' }, ['read once']),
  named('always descending', { order: 'desc' }, ['read once']),
  named('dates ignored', { dates: 'ignored' }, unproved),
  named('one time for all', { ties: true }),
  named('two hours late', { lag: 110 * minute }),
  named('every other answer two hours late', { lagOne: 110 * minute }),
  named('one id on two days', { twoDays: true }),
  named('zero time', { zeroTime: true }),
  named('last key repeated', { lastKey: 'repeated' }),
  named('last key goes on', { lastKey: 'goes on' }),
  named('keys restart', { keysRestart: true }, [
    'showed less',
    'counts more',
    'read once',
    'not read',
  ]),
  named('pages without a row that lead on', { gaps: true }),
  named('long spans show nothing', { spans: 'silent' }),
];

/** All triples of days. */
export function* triples(days: readonly string[]): Generator<Contents> {
  for (const a of days) for (const b of days) for (const c of days) yield [a, b, c];
}

/** Each dialect by itself over all contents: no false seal at all, and everything is proved that can be. */
export function* alone(days: readonly string[]): Generator<Case> {
  for (const { name, dialect, mayStay } of dialects) {
    for (const contents of triples(days)) yield { name, history: { contents, dialect }, mayStay };
  }
}

/** Two dialects at once need not be provable. Where long spans show nothing, books learn of no hidden status. */
export function* pairs(contents: Iterable<Contents>, days = 3): Generator<Case> {
  const all = [...contents];
  const which = dialects.filter(({ dialect }) => dialect.spans === undefined);
  for (const [i, a] of which.entries()) {
    for (const b of which.slice(i + 1)) {
      if (Object.keys(a.dialect).some((one) => one in b.dialect)) continue;
      const dialect = { ...a.dialect, ...b.dialect };
      for (const one of all) {
        yield {
          name: `${a.name}, ${b.name}`,
          history: { contents: one, dialect, days },
          mayStay: 'anything',
        };
      }
    }
  }
}

/**
 * A list and a total cut at one record show the same from both ends: with anything else, both readings and the books may
 * be wrong alike, which nobody can tell (docs/guarantee.md).
 */
const canContradict = ({ dialect }: Named): boolean =>
  dialect.cut !== 1 || dialect.cutTotal !== true;

/** A fault at each act, for that act or for five hours. */
export function* withFault(
  which: readonly Named[],
  contents: readonly Contents[],
  acts: number,
  lastings: readonly number[] = [0, 5 * hour],
  kinds: readonly Fault[] = faults,
  days = 3.5,
): Generator<Case> {
  for (const { name, dialect, mayStay } of which.filter(canContradict)) {
    for (const one of contents) {
      for (const kind of kinds) {
        // Days of another end date, met while dates were ignored, are asked for as they are for a week: what they hold is
        // called gone.
        if (kind === 'dates ignored' && name === 'end exclusive') continue;
        for (let at = 0; at < acts; at++) {
          for (const lasts of lastings) {
            const history = { contents: one, dialect, faults: [{ at, kind, lasts }], days };
            yield { name: `${name}, ${kind}`, history, mayStay };
          }
        }
      }
    }
  }
}

export function* twoFaults(acts: number): Generator<Case> {
  const all = faults.flatMap((kind) =>
    Array.from({ length: acts }, (_, at) =>
      [0, 5 * hour].map((lasts) => ({ at, kind, lasts })),
    ).flat(),
  );
  for (const [contents, mayStay] of [
    [['223', '', '2'], []],
    [['', '123', '22'], ['pending']],
  ] as const) {
    for (const [i, a] of all.entries()) {
      for (const b of all.slice(i + 1)) {
        const history = { contents, faults: [a, b], days: 3.2 };
        yield { name: `${a.kind}, ${b.kind}`, history, mayStay };
      }
    }
  }
}

/** What may happen to an order after the start: it becomes visible, vanishes or settles. */
function* events(
  contents: Contents,
  hours: { late: number[]; other: number[] },
): Generator<[string, Tweaks]> {
  for (const [one, statuses] of contents.entries()) {
    for (const i of new Set([0, statuses.length - 1])) {
      if (i < 0 || i >= statuses.length) continue;
      const id = `${'abc'[one]}${i}`;
      for (const h of hours.late)
        yield [`late by ${h} h`, { [id]: { visibleAt: startsAt + h * hour } }];
      for (const h of hours.other) {
        yield [`vanished after ${h} h`, { [id]: { goneAt: startsAt + h * hour } }];
        yield [`settled after ${h} h`, { [id]: { settlesAt: startsAt + h * hour, settlesAs: 3 } }];
      }
    }
  }
}

/** Pending orders settle after four hours: what stays unproved stays so for another reason. */
function settled(contents: Contents): Tweaks {
  const tweaks: Record<string, Tweaks[string]> = {};
  for (const [one, statuses] of contents.entries()) {
    for (const [i, status] of Array.from(statuses).entries()) {
      if (status === '1') tweaks[`${'abc'[one]}${i}`] = { settlesAt: startsAt + 4 * hour };
    }
  }
  return tweaks;
}

function join(...all: Tweaks[]): Tweaks {
  const joined: Record<string, Tweaks[string]> = {};
  for (const tweaks of all) {
    for (const [id, change] of Object.entries(tweaks)) joined[id] = { ...joined[id], ...change };
  }
  return joined;
}

const ofEvents: readonly Contents[] = [
  ['22', '213', '3'],
  ['', '1', '223'],
  // No order has failed yet.
  ['2', '1', ''],
];
const allHours = { late: [1, 3, 5, 26, 50], other: [1, 3, 26] };

export function* eventPairs(): Generator<Case> {
  for (const contents of ofEvents) {
    const all = [...events(contents, allHours)];
    for (const [i, a] of all.entries()) {
      for (const b of all.slice(i)) {
        const tweaks = join(settled(contents), a[1], b[1]);
        yield { name: `${a[0]}, ${b[0]}`, history: { contents, tweaks, days: 6 }, mayStay: [] };
      }
    }
  }
}

export function* eventsInDialects(
  which = dialects,
  hours = allHours,
  contents = ofEvents,
): Generator<Case> {
  for (const one of contents) {
    for (const { name, dialect, mayStay } of which.filter(canContradict)) {
      for (const [what, tweaks] of events(one, hours)) {
        const history = { contents: one, dialect, tweaks: join(settled(one), tweaks), days: 10 };
        yield { name: `${name}, ${what}`, history, mayStay };
      }
    }
  }
}

export function* eventsWithFaults(): Generator<Case> {
  for (const contents of ofEvents) {
    for (const kind of faults) {
      for (const [what, tweaks] of events(contents, allHours)) {
        for (let at = 0; at < 14; at++) {
          const history = {
            contents,
            tweaks: join(settled(contents), tweaks),
            faults: [{ at, kind, lasts: 0 }],
            days: 5,
          };
          yield { name: `${kind}, ${what}`, history, mayStay: [] };
        }
      }
    }
  }
}

const year = 365 * day;
const machineAt = (at: number, machine: number): ClockStep => ({ at, machine });
const platformAt = (at: number, platform: number): ClockStep => ({ at, platform });

/** Clocks wrong by hours and years: the machine's from the start, or for six hours; the platform's while it runs. */
export const clocks: readonly (readonly ClockStep[])[] = [
  [],
  ...[8 * hour, -8 * hour, year, -year, 2 * hour, -2 * hour].map((by) => [machineAt(startsAt, by)]),
  ...[8 * hour, -8 * hour, year, -year].map((by) => [
    machineAt(startsAt + 5 * hour, by),
    machineAt(startsAt + 11 * hour, 0),
  ]),
  [platformAt(startsAt + 30 * minute, 2 * hour)],
  [platformAt(startsAt + 30 * minute, -3 * hour)],
  [platformAt(startsAt + 30 * minute, year), platformAt(startsAt + 9 * hour, 0)],
];

/** The month goes so many hours after the start, at once or in batches. */
export function* months(
  hours: readonly number[],
  which: readonly Named[],
  clocked: readonly (readonly ClockStep[])[],
  contents: readonly Contents[],
  lastingFaults: readonly Fault[] = [],
): Generator<Case> {
  for (const goes of hours) {
    for (const month of ['once', 'batches'] as const) {
      for (const one of contents) {
        const base = { contents: one, goesAt: startsAt + goes * hour, days: 4 };
        const name = `month goes in ${goes} h (${month})`;
        for (const other of which) {
          const history = { ...base, dialect: { ...other.dialect, month } };
          yield { name: `${name}, ${other.name}`, history, mayStay: 'anything' };
        }
        const lasting = lastingFaults.flatMap((kind) =>
          [0, 2, 5].map((at) => [{ at, kind, lasts: 40 * hour }]),
        );
        for (const clockSteps of clocked) {
          for (const wrong of [[], ...lasting]) {
            const history = { ...base, dialect: { month }, clockSteps, faults: wrong };
            yield { name: `${name}, clocks and faults`, history, mayStay: 'anything' };
          }
        }
      }
    }
  }
}

/**
 * Clocks where no month goes: all is proved in the end, but for lists that lag as well, and while the most cautious
 * clock says that the day is not over.
 */
export function* clocksAlone(
  clocked: readonly (readonly ClockStep[])[],
  contents: readonly Contents[],
): Generator<Case> {
  for (const clockSteps of clocked) {
    const name = `clocks ${JSON.stringify(clockSteps)}`;
    for (const one of contents) {
      const tweaks = settled(one);
      yield { name, history: { contents: one, tweaks, days: 4, clockSteps }, mayStay: ['clock'] };
      for (const lag of [{ lag: 110 * minute }, { lagOne: 110 * minute }]) {
        const history = { contents: one, dialect: lag, days: 4, clockSteps };
        yield { name: `${name}, lists late`, history, mayStay: 'anything' };
      }
    }
  }
}

/** Orders that become visible while a day is read, and a page that is lost then. */
export function* news(): Generator<Case> {
  const tweaks: Tweaks = {
    c2: { visibleAt: 3 * day - 3 * minute },
    c3: { visibleAt: 3 * day - 2 * minute },
    c4: { visibleAt: 3 * day - minute },
  };
  const lost: Fault[] = [
    'a row dropped between pages',
    'ends after a page',
    'first row dropped',
    'keys restart',
  ];
  for (const totals of ['true', 'none'] as const) {
    for (const kind of lost) {
      for (let at = 0; at < 10; at++) {
        const dialect = { lag: 110 * minute, totals };
        const history = {
          contents: ['2', '', '22222'],
          tweaks,
          dialect,
          faults: [{ at, kind, lasts: 0 }],
          days: 2,
        };
        yield { name: `new while it is read, ${kind}`, history, mayStay: 'anything' };
      }
    }
  }
}

/** Long days, cut lists and faults that last for a day. */
export const longFaults = (): Generator<Case> =>
  withFault(
    [
      named('cut, filter ignored', { cut: 2, cutTotal: true, filter: 'ignored' }, 'anything'),
      named('cut, no totals or filter', { cut: 2, totals: 'none', filter: 'refused' }, 'anything'),
    ],
    [['22222', '2', '']],
    12,
    [25 * hour],
    ['error', 'order ignored'],
    6,
  );

function problemsOf({ name, history, mayStay }: Case, played: Played, isStrict: boolean): string[] {
  const stuck = played.states.flatMap((state, one) => {
    const isProved = state === 'sealed' || state === 'final';
    const why = played.whys[one] ?? 'nothing';
    const may = mayStay === 'anything' || mayStay.some((known) => known === why);
    return isProved || may ? [] : [`day ${one} stays ${state}: ${why}`];
  });
  const found = [
    ...(isStrict ? played.falseSeals.map((one) => `sealed without ${one}`) : []),
    ...played.lastingClaims.map((one) => `claimed without ${one}`),
    ...played.violations,
    ...stuck,
  ];
  return found.map((one) => `${name}: ${one} (${JSON.stringify(history)})`);
}

/** Plays all of them; what is wrong, a line each. `isStrict`: no seal may be false even for a moment. */
export function problemsIn(cases: Iterable<Case>, isStrict = false): string[] {
  const found: string[] = [];
  for (const one of cases) found.push(...problemsOf(one, play(one.history), isStrict));
  return found;
}

/** Every sequence of readings and books with every gap, in each of the dialects; false seals, a line each. */
export function freely(
  which: readonly Named[],
  length: number,
  kinds: readonly Fault[] = [],
): string[] {
  const found: string[] = [];
  const off = 125 * minute;
  const lags = [{ lag: 110 * minute }, { lagOne: 110 * minute }];
  const shifts: ClockStep[] = [
    platformAt(1, off),
    platformAt(2, off),
    platformAt(2, -off),
    machineAt(1, off),
    machineAt(1, -3 * day),
  ];
  const tryAll = (
    name: string,
    dialect: Partial<Dialect>,
    more: Parameters<typeof playFreely>[2],
  ): void => {
    const memo = new Map();
    for (const acts of sequences(length)) {
      const sealed = playFreely(acts, dialect, more, memo);
      found.push(...sealed.map((one) => `${name}: ${one} ${JSON.stringify(acts)}`));
    }
  };
  for (const { name, dialect } of which) tryAll(name, dialect, {});
  for (const clock of shifts) {
    for (const lag of lags) tryAll(`clock ${JSON.stringify(clock)}`, lag, { clock });
  }
  for (const kind of kinds) {
    for (const at of [0, 1, 2]) tryAll(kind, {}, { fault: { at, kind } });
  }
  return found;
}

function* sequences(length: number): Generator<FreeAct[]> {
  if (length === 0) {
    yield [];
    return;
  }
  for (const before of sequences(length - 1)) {
    for (const what of ['asc', 'desc', 'books'] as const) {
      const gaps = before.length === 0 ? [0] : [15 * minute, 112 * minute, 125 * minute, 25 * hour];
      for (const afterMs of gaps) yield [...before, { what, afterMs }];
    }
  }
}
