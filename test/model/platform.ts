// A small platform that answers in one of the ways that are left open, or wrongly for a while. Days are numbers, a page
// has two rows, times are milliseconds since the beginning of day 0. Deterministic.
import { orderStatuses, type AskedStatus, type OrderStatus } from '../../src/model.ts';
import { statusWords } from '../../src/sync/reconcile.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

export type Order = {
  id: string;
  /** The day whose list shows it. */
  day: number;
  /** Its place in the day. */
  place: number;
  status: OrderStatus;
  visibleAt: number;
  goneAt: number;
  settlesAt: number;
  settlesAs: OrderStatus;
  /** Created at midnight: some platforms list it under two days. */
  isAtMidnight: boolean;
  /** On some platforms it has Go's zero time. */
  hasZeroTime: boolean;
};

/** How this platform reads what the interface leaves open. The first value of each is the honest one. */
export type Dialect = {
  totals:
    | 'true'
    | 'none'
    | 'cap2'
    | 'cap4'
    | 'page'
    | 'plus1'
    | 'minus1'
    | 'cached'
    | 'first'
    | 'zeroOut';
  /** Lists end after so many rows; 0: they do not. */
  cut: 0 | 1 | 2 | 4;
  /** Totals stop there, too. */
  cutTotal: boolean;
  /** Statuses that the list leaves out unless it is asked for them. */
  hides: readonly OrderStatus[];
  filter: 'ok' | 'ignored' | 'refused' | 'silent' | 'words';
  /** Where the filter wants words: numbers are refused, not merely without a match. */
  wordsRefuse: boolean;
  end: 'inclusive' | 'exclusive';
  order: 'ok' | 'asc' | 'desc';
  dates: 'ok' | 'ignored';
  /** All orders of a day have the same time. */
  ties: boolean;
  /** How late list and total are; `lagOne`: of every other answer. */
  lag: number;
  lagOne: number;
  twoDays: boolean;
  zeroTime: boolean;
  lastKey: 'null' | 'repeated' | 'goes on';
  keysRestart: boolean;
  month: 'stays' | 'once' | 'batches';
  /** Before each page with rows comes one without any, which leads on. */
  gaps: boolean;
  /** Spans of more than two days are answered with nothing. */
  spans: 'ok' | 'silent';
};

export const honest: Dialect = {
  totals: 'true',
  cut: 0,
  cutTotal: false,
  hides: [],
  filter: 'ok',
  wordsRefuse: false,
  end: 'inclusive',
  order: 'ok',
  dates: 'ok',
  ties: false,
  lag: 0,
  lagOne: 0,
  twoDays: false,
  zeroTime: false,
  lastKey: 'null',
  keysRestart: false,
  gaps: false,
  month: 'stays',
  spans: 'ok',
};

export const faults = [
  'error',
  'hollow',
  'empty',
  'empty, total 0',
  'two hours old',
  'a day old',
  'dates ignored',
  'filter ignored',
  'filter silent',
  'filter refused',
  'order ignored',
  'keys restart',
  'a row dropped between pages',
  'first row dropped',
  'a row repeated',
  'ends after a page',
  'total absent',
  'total one too many',
  'total one too few',
] as const;
export type Fault = (typeof faults)[number];

export type Query = {
  /** As on the wire: both ends are days of the span. */
  from: number;
  to: number;
  status?: AskedStatus | undefined;
  sort: 'asc' | 'desc';
  key: string | null;
  limit: number;
};

export type Row = { id: string; status: OrderStatus; time: number; ownDay: number | null };
export type Answer =
  | { kind: 'answer'; date: number; list?: Row[]; total?: number; next?: string | null }
  | { kind: 'refused'; date: number }
  | { kind: 'error' };

export type Platform = {
  /** The true time. */
  time: number;
  machineOff: number;
  platformOff: number;
  faults: Set<Fault>;
  ask(query: Query): Answer;
  /** What it could show of a day now, in any view and from either end, by its dialect alone: what a seal must hold. */
  couldShow(day: number): ReadonlySet<string>;
};

/** What was worked out of a dialect and visible orders; may be shared by platforms with the same orders and dialect. */
export type Memo = Map<string, ReadonlySet<string>>;

export function createPlatform(
  orders: readonly Order[],
  dialect: Dialect,
  goesAt: number,
  memo: Memo = new Map(),
): Platform {
  let asked = 0;

  const visible = (time: number): Order[] =>
    orders
      .filter((one) => one.visibleAt <= time && one.goneAt > time && !hasLeft(one, platform.time))
      .map((one) => (one.settlesAt <= time ? { ...one, status: one.settlesAs } : one));

  /** Months go from eight hours before their end in UTC on; in batches, over nine hours. */
  function hasLeft(one: Order, time: number): boolean {
    if (dialect.month === 'stays') return false;
    const batch = dialect.month === 'once' ? 0 : (one.id.charCodeAt(1) * 7 + one.day * 3) % 9;
    return time >= goesAt - 8 * hour + batch * hour;
  }

  function isIn(one: Order, { from, to }: Query, ignoresDates: boolean): boolean {
    if (ignoresDates) return true;
    if (dialect.end === 'exclusive') return one.day >= from && one.day < to;
    const isOnTwoDays = dialect.twoDays && one.isAtMidnight && one.day === to + 1;
    return one.day >= from && (one.day <= to || isOnTwoDays);
  }

  /** The rows and total of a query at a moment; null: refused. `active`: the faults. */
  function answer(query: Query, time: number, active: ReadonlySet<Fault>): Answer {
    const date = platform.time + platform.platformOff;
    const isSilent = dialect.spans === 'silent' && query.to - query.from > 1;
    let rows = (isSilent ? [] : visible(time)).filter((one) =>
      isIn(one, query, dialect.dates === 'ignored' || active.has('dates ignored')),
    );
    const filter = filterNow(active);
    const status = statusMeant(query.status, filter);
    if (status === 'refused') return { kind: 'refused', date };
    if (status === 'nothing') rows = [];
    else if (status !== 'all') rows = rows.filter((one) => one.status === status);
    else rows = rows.filter((one) => !dialect.hides.includes(one.status));

    const honoured = dialect.order === 'ok' ? query.sort : dialect.order;
    const sign = active.has('order ignored') || honoured === 'asc' ? 1 : -1;
    rows.sort((a, b) => sign * (a.day - b.day || a.place - b.place || (a.id < b.id ? -1 : 1)));
    let count = rows.length;
    if (dialect.cut > 0) {
      if (dialect.cutTotal) count = Math.min(count, dialect.cut);
      rows = rows.slice(0, dialect.cut);
    }

    const isGap = dialect.gaps && rows.length > 0 && query.key?.startsWith('=') !== true;
    if (isGap) {
      const total = totalOf(query, count, 0, active);
      const next = `=${query.key ?? ''}`;
      return { kind: 'answer', date, list: [], next, ...(total !== null && { total }) };
    }
    const key = query.key?.replace('=', '') || null;
    const restarts = dialect.keysRestart || active.has('keys restart');
    let offset = key === null || restarts ? 0 : Number(key);
    if (key !== null && active.has('a row dropped between pages')) offset += 1;
    if (key !== null && active.has('a row repeated')) offset -= 1;
    if (key === null && active.has('first row dropped')) offset += 1;
    const shown = rows.slice(offset, offset + query.limit);
    const end = offset + query.limit;
    const isLast = end >= rows.length || active.has('ends after a page');
    const next = isLast ? lastKey(key, end, shown.length) : String(end);

    if (dialect.totals === 'zeroOut' && shown.length === 0) return { kind: 'answer', date };
    const list = shown.map((one): Row => {
      const isZero = dialect.zeroTime && one.hasZeroTime;
      const placed = dialect.ties ? one.day : one.day * 100 + one.place;
      return {
        id: one.id,
        status: one.status,
        time: isZero ? -1e9 : placed,
        ownDay: isZero ? null : one.day,
      };
    });
    const total = totalOf(query, count, shown.length, active);
    return { kind: 'answer', date, list, next, ...(total !== null && { total }) };
  }

  function filterNow(active: ReadonlySet<Fault>): Dialect['filter'] {
    if (active.has('filter ignored')) return 'ignored';
    if (active.has('filter silent')) return 'silent';
    return active.has('filter refused') ? 'refused' : dialect.filter;
  }

  function statusMeant(
    askedDay: AskedStatus | undefined,
    filter: Dialect['filter'],
  ): OrderStatus | 'all' | 'nothing' | 'refused' {
    if (askedDay === undefined) return 'all';
    if (filter === 'refused') return 'refused';
    const isWord = typeof askedDay === 'string';
    if (isWord !== (filter === 'words')) {
      return !isWord && !dialect.wordsRefuse ? 'nothing' : 'refused';
    }
    if (filter === 'silent') return 'nothing';
    if (filter === 'ignored') return 'all';
    return statusOf(askedDay);
  }

  function lastKey(key: string | null, end: number, shown: number): string | null {
    if (dialect.lastKey === 'repeated') return key ?? String(end);
    return dialect.lastKey === 'goes on' && shown > 0 ? String(end) : null;
  }

  function totalOf(
    query: Query,
    count: number,
    shown: number,
    active: ReadonlySet<Fault>,
  ): number | null {
    const totals: Record<Dialect['totals'], () => number | null> = {
      true: () => count,
      none: () => null,
      cap2: () => Math.min(count, 2),
      cap4: () => Math.min(count, 4),
      page: () => shown,
      plus1: () => count + 1,
      minus1: () => Math.max(0, count - 1),
      first: () => (query.key === null ? count : null),
      zeroOut: () => (count === 0 ? null : count),
      cached: () => countAtMidnight(query),
    };
    const total = active.has('total absent') ? null : totals[dialect.totals]();
    if (total === null) return null;
    const more = total + (active.has('total one too many') ? 1 : 0);
    return active.has('total one too few') ? Math.max(0, more - 1) : more;
  }

  /** What was counted when the current day began. */
  function countAtMidnight(query: Query): number | null {
    const then = createPlatform(orders, { ...dialect, totals: 'true', lag: 0, lagOne: 0 }, goesAt);
    then.time = Math.floor(platform.time / day) * day;
    const told = then.ask({ ...query, key: null });
    return told.kind === 'answer' ? (told.total ?? null) : null;
  }

  const platform: Platform = {
    time: 0,
    machineOff: 0,
    platformOff: 0,
    faults: new Set(),
    ask: (query) => {
      asked += 1;
      const active = platform.faults;
      const date = platform.time + platform.platformOff;
      if (active.has('error')) return { kind: 'error' };
      if (active.has('hollow')) return { kind: 'answer', date };
      if (active.has('empty')) return { kind: 'answer', date, list: [] };
      if (active.has('empty, total 0')) return { kind: 'answer', date, list: [], total: 0 };
      const isLateOne = dialect.lagOne > 0 && asked % 2 === 1;
      const late = dialect.lag + (isLateOne ? dialect.lagOne : 0);
      const stale =
        (active.has('two hours old') ? 110 * minute : 0) + (active.has('a day old') ? day : 0);
      return answer(query, platform.time - late - stale, active);
    },
    couldShow: (askedDay) => {
      // What only lags counts: a seal must not be earlier than the lag.
      const shownNow = visible(platform.time);
      const name = `${askedDay}:${shownNow.map(({ id, status }) => id + status).join()}`;
      let shown = memo.get(name);
      if (shown === undefined) memo.set(name, (shown = allViews(askedDay)));
      return shown;
    },
  };

  function allViews(askedDay: number): ReadonlySet<string> {
    const ids = new Set<string>();
    const none = new Set<Fault>();
    const to = dialect.end === 'exclusive' ? askedDay + 1 : askedDay;
    for (const sort of ['asc', 'desc'] as const) {
      for (const status of [undefined, ...orderStatuses, ...statusWords]) {
        const seen = new Set<string>();
        let key: string | null = null;
        // Ends: so many pages at most.
        for (let page = 0; page < 12; page++) {
          const query: Query = { from: askedDay, to, status, sort, key, limit: 2 };
          const told: Answer = answer(query, platform.time, none);
          if (told.kind !== 'answer' || told.list === undefined) break;
          for (const { id } of told.list) seen.add(id);
          if (!told.next) break;
          key = told.next;
        }
        for (const id of seen) ids.add(id);
      }
    }
    return ids;
  }

  return platform;
}

function statusOf(asked: AskedStatus): OrderStatus {
  if (typeof asked === 'number') return asked;
  return orderStatuses[statusWords.indexOf(asked)] ?? 1;
}
