// The archiver as the rule of proof has it, in memory: it reads a day from one end or asks the books, and what it does
// next is what `judge` says. Nothing here decides anything that `judge` and `reconcile` could.
import type { AskedStatus, Clocks, DayBooks, End, OrderStatus, Reading } from '../../src/model.ts';
import { freezeMs, overAfterMs } from '../../src/sync/due-times.ts';
import { judge, type Verdict } from '../../src/sync/judge.ts';
import {
  balance,
  countSpan,
  reconcile,
  type Counted,
  type DaySpan,
  type Shown,
  type SpanCounts,
} from '../../src/sync/reconcile.ts';
import { statusesToAsk } from '../../src/sync/verdicts.ts';
import { day as dayMs, minute, type Answer, type Platform, type Row } from './platform.ts';

const retryMs = 15 * minute;

type Held = {
  id: string;
  day: number;
  /** The day its own time names; null: none that can be read. */
  ownDay: number | null;
  /** The commit that first showed it. */
  first: number;
  status: OrderStatus;
  missingSince: number | null;
  isGone: boolean;
};

type Kept = Reading & { byStatus: [number, number, number]; trueTime: number };
type BooksRow = DayBooks & SpanCounts & { span: DaySpan };

/** A request that came to nothing: tried again later. */
class Failed extends Error {}

type Act = { what: 'read'; day: number; end: End } | { what: 'books' };
type DueAct = Act & { at: number; now: number };

export type Archive = ReturnType<typeof createArchive>;

/** `order`: which of several days that are due at once comes first. */
export function createArchive(
  platform: Platform,
  days: number,
  goesAt: number,
  order: readonly number[] = Array.from({ length: days }, (_, one) => one),
) {
  const held = new Map<string, Held>();
  const readings: Kept[][] = Array.from({ length: days }, () => []);
  const newsNo = Array.from({ length: days }, () => 0);
  const books: (BooksRow | null)[] = Array.from({ length: days }, () => null);
  const decided: ('final' | 'lost' | null)[] = Array.from({ length: days }, () => null);
  // Back-off of what fails, in memory: it is no evidence. By the number of the day.
  const waits = new Map<number | 'books', { fails: number; until: number }>();
  let booksAt = -Infinity;
  let unbalanced = 0;
  /** When `[d, d]` last showed a record: that end date is inclusive. */
  let inclusiveAt = -Infinity;
  let commit = 1;
  /** A total was seen to count more than the page it stands on. */
  let countsBeyond = false;
  /** The last nine. */
  const dates: { machine: number; date: number }[] = [];

  function clocks(): Clocks {
    const machine = platform.time + platform.machineOff;
    const recent = dates
      .filter((one) => Math.abs(machine - one.machine) <= 10 * minute)
      .map((one) => one.date + (machine - one.machine));
    const offsets = dates.map((one) => one.date - one.machine).toSorted((a, b) => a - b);
    const offset = offsets[offsets.length >> 1] ?? 0;
    return {
      machine,
      now: machine + offset,
      earliest: recent.length > 0 ? Math.min(machine, ...recent) : -Infinity,
      latest: Math.max(machine, ...recent),
    };
  }

  function ask(query: Parameters<Platform['ask']>[0]): Answer & { kind: 'answer' | 'refused' } {
    const told = platform.ask(query);
    if (told.kind === 'error') throw new Failed();
    const machine = platform.time + platform.machineOff;
    dates.push({ machine, date: told.date });
    if (dates.length > 9) dates.shift();
    if (told.kind === 'answer') countsBeyond ||= (told.total ?? 0) > (told.list ?? []).length;
    return told;
  }

  const isInclusive = (): boolean => clocks().now - inclusiveAt <= 7 * dayMs;

  type Walk = { rows: Map<string, Row>; claims: number | null };

  /** One view of a day, page by page; null: refused. A page that shows nothing new ends it. */
  function walk(
    query: { from: number; to: number; sort: End; status?: AskedStatus },
    shown: Map<string, Row>,
  ): Walk | null {
    const rows = new Map<string, Row>();
    let most: number | null = null;
    let key: string | null = null;
    let emptyInARow = 0;
    // Ends: every page but the last shows something new, or is one of a few in a row that show nothing.
    for (;;) {
      const told: Answer = ask({ ...query, key, limit: 2 });
      if (told.kind === 'refused') return null;
      if (told.kind === 'error') throw new Failed();
      const before = rows.size;
      for (const row of told.list ?? []) {
        rows.set(row.id, row);
        shown.set(row.id, row);
      }
      if (told.total !== undefined) most = Math.max(most ?? 0, told.total);
      emptyInARow = (told.list ?? []).length === 0 ? emptyInARow + 1 : 0;
      const counted = countsBeyond && rows.size > 0 ? (most ?? Infinity) : Infinity;
      const isBetween = emptyInARow > 0 && emptyInARow <= 5 && told.next !== key;
      if (!told.next || (rows.size === before && !(isBetween && counted > rows.size))) break;
      key = told.next;
    }
    return { rows, claims: most === null ? null : most - rows.size };
  }

  /** A whole reading of a day: the list, and each status unless the books saw them add up. */
  function read(asked: number, end: End): void {
    let began: Clocks | null = null;
    let shown = new Map<string, Row>();
    let list: Row[] = [];
    let claims = 0;
    for (const to of [asked, asked + 1]) {
      shown = new Map();
      claims = 0;
      for (const status of viewsOf(asked)) {
        const query = { from: asked, to, sort: end, ...(status !== undefined && { status }) };
        const walked = tryKeeping(asked, shown, () => walk(query, shown));
        began ??= clocks();
        if (walked === null) continue;
        if (status === undefined) list = [...walked.rows.values()];
        claims = Math.max(claims, walked.claims ?? 0);
      }
      if (shown.size > 0 && to === asked) inclusiveAt = clocks().now;
      // Where days are known to be asked for as they are, nothing shown is nothing there.
      if (shown.size > 0 || isInclusive()) break;
    }
    const no = ++commit;
    keep(asked, shown, no);
    addReading(asked, no, shown, { end: endSeen(list, end), began, claims });
  }

  /** The list of a day, and the statuses that it may leave out. */
  const viewsOf = (asked: number): readonly (AskedStatus | undefined)[] => {
    const evidence = {
      books: books[asked] ?? null,
      pending: countPending(asked),
      readings: readings[asked] ?? [],
    };
    return [undefined, ...statusesToAsk({ resource: 'orders' }, evidence)];
  };

  function addReading(
    asked: number,
    no: number,
    shown: ReadonlyMap<string, Row>,
    { end, began, claims }: Pick<Kept, 'end' | 'claims'> & { began: Clocks | null },
  ): void {
    const ended = clocks();
    readings[asked]?.push({
      no,
      end,
      began: began ?? ended,
      ended,
      shown: shown.size,
      lacks: countLacking(asked, shown, ended),
      claims,
      pending: countPending(asked),
      byStatus: byStatus(shown),
      trueTime: platform.time,
    });
  }

  /**
   * Days around one that are read from the older end with it, if none has shown anything and a span of them shows nothing:
   * sync/slice/read-empty-days.ts. Whether they were.
   */
  function readEmptySpan(asked: number): boolean {
    const mayBeEmpty = (one: number): boolean => {
      const { state, why, next: due } = verdict(one);
      const isDue = due.end === 'asc' && due.at <= clocks().now && waitOf(one, clocks().now) <= 0;
      const isGoing = clocks().latest >= goesAt - freezeMs || state === 'final' || state === 'lost';
      return isDue && !isGoing && why !== 'not over' && (readings[one]?.at(-1)?.shown ?? 0) === 0;
    };
    const around = (step: 1 | -1): number => {
      let one = asked;
      while (one + step >= 0 && one + step < days && mayBeEmpty(one + step)) one += step;
      return one;
    };
    if (!mayBeEmpty(asked)) return false;
    const [from, to] = [around(-1), around(1)];
    // The longest ones first.
    for (let length = to - from + 1; length > 1; length--) {
      for (let first = Math.max(from, asked - length + 1); first <= asked; first++) {
        if (first + length - 1 <= to && isEmptySpan({ from: first, to: first + length }))
          return true;
      }
    }
    return false;
  }

  function isEmptySpan({ from, to }: DaySpan): boolean {
    let began: Clocks | null = null;
    for (const status of viewsOf(from)) {
      const query = { from, to: to - (isInclusive() ? 1 : 0), sort: 'asc' as const, key: null };
      const told = ask({ ...query, limit: 1, status });
      began ??= clocks();
      if (told.kind === 'refused') return false;
      if ((told.list ?? []).length > 0 || (told.total ?? 0) > 0 || told.next) return false;
    }
    for (let one = from; one < to; one++) {
      addReading(one, ++commit, new Map(), { end: 'asc', began, claims: 0 });
    }
    return true;
  }

  /** What is shown is held, also where the walk fails. */
  function tryKeeping<T>(asked: number, shown: Map<string, Row>, work: () => T): T {
    try {
      return work();
    } catch (error) {
      keep(asked, shown, ++commit);
      throw error;
    }
  }

  function keep(asked: number, shown: Map<string, Row>, no: number): void {
    for (const row of shown.values()) {
      let one = held.get(row.id);
      if (one === undefined) {
        one = {
          id: row.id,
          day: asked,
          ownDay: row.ownDay,
          first: no,
          status: row.status,
          missingSince: null,
          isGone: false,
        };
        held.set(row.id, one);
        newsNo[asked] = no;
      } else if (one.day !== asked && (one.ownDay !== one.day || one.missingSince !== null)) {
        // Under the day that its own time names once that day's list showed it, else under the one that showed it last.
        one.day = asked;
        newsNo[asked] = Math.max(newsNo[asked] ?? 0, one.first);
      }
      one.status = row.status;
      if (one.day === asked) {
        // Readings since it was gone did not show it.
        if (one.isGone) newsNo[asked] = no;
        one.missingSince = null;
        one.isGone = false;
      }
    }
  }

  /** Records held under the day that were not shown and have not been missing for a day. */
  function countLacking(asked: number, shown: ReadonlyMap<string, Row>, ended: Clocks): number {
    let lacking = 0;
    for (const one of held.values()) {
      if (one.day !== asked || shown.has(one.id)) continue;
      if (ended.latest < goesAt - freezeMs) one.missingSince ??= ended.latest;
      one.isGone = one.missingSince !== null && ended.earliest - one.missingSince >= dayMs;
      if (!one.isGone) lacking += 1;
    }
    return lacking;
  }

  function countPending(asked: number): number {
    return [...held.values()].filter((one) => one.day === asked && one.status === 1 && !one.isGone)
      .length;
  }

  /** Asks total and statuses of a span. */
  function askBooks(span: DaySpan): BooksRow {
    const { from } = span;
    const to = span.to - (isInclusive() ? 1 : 0);
    const steps = countSpan(true);
    let step = steps.next();
    // Ends: countSpan does.
    while (!step.done) {
      const status = step.value;
      const told = ask({ from, to, status, sort: 'desc', key: null, limit: 1 });
      const isRefused = told.kind === 'refused';
      if (isRefused && status === undefined) throw new Failed();
      step = steps.next(isRefused ? null : countedIn(told));
    }
    if (step.value === null) throw new Failed();
    const isDay = span.to - span.from === 1;
    return { span, isDay, no: 0, ...step.value, ...balance(step.value, shownIn(span)) };
  }

  function shownIn({ from, to }: DaySpan): Shown {
    let all = 0;
    const sums: [number, number, number] = [0, 0, 0];
    for (let one = from; one < to; one++) {
      const newest = readings[one]?.at(-1);
      if (newest === undefined) return null;
      all += newest.shown;
      for (const i of [0, 1, 2] as const) sums[i] += newest.byStatus[i];
    }
    return { all, byStatus: sums };
  }

  function reconcileAll(): boolean {
    const steps = reconcile<BooksRow>({ from: 0, to: days });
    let step = steps.next();
    // Ends: spans are halved down to days.
    while (!step.done) step = steps.next(askBooks(step.value));
    for (const row of step.value) {
      row.no = ++commit;
      for (let one = row.span.from; one < row.span.to; one++) books[one] = row;
    }
    return step.value.some(({ isMore }) => isMore);
  }

  function verdict(asked: number): Verdict {
    const judged = {
      overAt: (asked + 1) * dayMs + overAfterMs,
      goesAt,
      newsNo: newsNo[asked] ?? 0,
      pending: countPending(asked),
      isHolding: [...held.values()].some((one) => one.day === asked),
    };
    const said = judge(judged, readings[asked] ?? [], books[asked] ?? null, clocks());
    const before = decided[asked] ?? null;
    if (before !== null) return { ...said, state: before, next: { ...said.next, at: Infinity } };
    if (said.state === 'final' || said.state === 'lost') decided[asked] = said.state;
    return said;
  }

  /** A moment more than a day ahead binds nobody. */
  function waitOf(which: number | 'books', now: number): number {
    const { until } = waits.get(which) ?? { until: -Infinity };
    return until > now + dayMs ? 0 : until;
  }

  /** At first, when a day waits for them, and daily; a quarter of an hour doubling to a day while they count more. */
  function booksDueAt(verdicts: readonly Verdict[]): number {
    const { now, latest } = clocks();
    if (latest >= goesAt - freezeMs) return Infinity;
    // A moment to come binds nobody.
    if (booksAt > now + 5 * minute) booksAt = now - dayMs;
    const notBefore = waitOf('books', now);
    if (booksAt === -Infinity) return notBefore;
    const isWaitedFor = verdicts.some(({ why }, one) => {
      const row = books[one] ?? null;
      const newest = readings[one]?.at(-1)?.no ?? 0;
      if (why === 'books do not balance') return row === null || !row.isMore || newest > row.no;
      return row !== null && row.isMore && row.isDay && why === null;
    });
    const doubled = booksAt + Math.min(dayMs, retryMs * 2 ** unbalanced);
    const due = unbalanced > 0 ? doubled : now;
    return Math.max(notBefore, isWaitedFor ? due : booksAt + dayMs);
  }

  function next(): DueAct {
    const verdicts = Array.from({ length: days }, (_, one) => verdict(one));
    const { now } = clocks();
    let first: DueAct = { at: booksDueAt(verdicts), now, what: 'books' };
    for (const one of order) {
      const due = verdicts[one]?.next ?? { at: Infinity, end: 'asc' as const };
      const at = Math.max(due.at, waitOf(one, now));
      if (at < first.at) first = { at, now, what: 'read', day: one, end: due.end };
    }
    return first;
  }

  function act(one: Act): void {
    if (one.what === 'read') {
      try {
        if (one.end === 'asc' && readEmptySpan(one.day)) return;
      } catch (error) {
        // The day by itself meets it, too.
        if (!(error instanceof Failed)) throw error;
      }
      return read(one.day, one.end);
    }
    const isMore = reconcileAll();
    booksAt = clocks().now;
    unbalanced = isMore ? Math.min(unbalanced + 1, 8) : 0;
  }

  return {
    held: held as ReadonlyMap<string, Held>,
    readings: readings as readonly (readonly Kept[])[],
    verdict,
    /** What is due first, and when. */
    next,
    /** False where it failed. */
    do: (one: Act): boolean => {
      const { now } = clocks();
      const which = one.what === 'books' ? one.what : one.day;
      try {
        act(one);
        waits.delete(which);
        return true;
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        const fails = waits.get(which)?.fails ?? 0;
        const until = now + Math.min(dayMs / 4, retryMs * 2 ** fails);
        waits.set(which, { fails: fails + 1, until });
        return false;
      }
    },
    /** Hears the platform's time. */
    ping: (): void => {
      try {
        ask({ from: days + 6, to: days + 6, sort: 'asc', key: null, limit: 2 });
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
      }
    },
  };
}

function countedIn(told: { list?: Row[]; total?: number }): Counted {
  const statuses = (told.list ?? []).map(({ status }) => status);
  const total = told.total ?? 0;
  const shown = statuses.length;
  return { total: total >= shown ? total : null, shown, statuses };
}

function endSeen(list: readonly Row[], asked: End): End {
  const first = list[0]?.time ?? 0;
  const last = list.at(-1)?.time ?? 0;
  if (first === last) return asked;
  return first < last ? 'asc' : 'desc';
}

function byStatus(shown: ReadonlyMap<string, Row>): [number, number, number] {
  const counts: [number, number, number] = [0, 0, 0];
  for (const { status } of shown.values()) counts[(status - 1) as 0 | 1 | 2] += 1;
  return counts;
}
