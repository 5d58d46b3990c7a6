// What a spectator of the time-lapse is told: days as they are read and sealed, outages, and months as they leave the
// window. All of it is read from the ledger, from the platform, or from the archive's own HTTP interface.
import { addDays, dayOf, monthStart, rangesOf } from '../day.ts';
import type { Day, Instant, SliceState, Why } from '../model.ts';
import { certificatesOf } from '../store/certificates.ts';
import type { Worker } from '../sync/worker.ts';
import { readCertificate } from '../verify/certificate.ts';
import { counted, screenWidth, wrapped } from './print.ts';

/** What there is in the end; days by their state, those lost by name. */
export type Lived = Record<'days' | 'sealed' | 'final' | 'orders' | 'certificates', number> & {
  lost: Day[];
};

/** An empty line stands between what happens every day and what does not. */
type Part = 'days' | 'outage' | 'month';

type LedgerDay = { day: Day; state: SliceState; why: Why | null };

export type Telling = {
  now: () => Instant;
  worker: Worker;
  /** Of the archive's own HTTP interface. */
  url: string;
  /** How much real time a day takes at least, in milliseconds. */
  msADay: number;
  say: (text: string) => void;
};

export function createTeller({ now, worker, url, msADay, say }: Telling) {
  const { db, projectId, platform } = worker;
  const today = (): Day => dayOf(now());
  const leavesNext = (): Day => monthStart(today(), -1);
  const known = new Map<Day, LedgerDay>();
  let certified = 0;
  let came = 0;
  /** The day that was told of last, and the one whose date stands in the margin. */
  let toldOn = '';
  let datedOn = '';
  let asksNext = leavesNext();
  let lastPart: Part = 'days';

  function tell(text: string, part: Part = 'days'): void {
    if (part !== lastPart) say('');
    lastPart = part;
    say(hanging(datedOn === today() ? '' : today(), text));
    datedOn = today();
  }

  async function ledger(): Promise<LedgerDay[]> {
    const { rows } = await db.query<LedgerDay>(
      `select day, state, why
         from analytics.coverage where project_id = $1 and resource = 'orders' order by day`,
      [projectId],
    );
    return rows;
  }

  /** The same question to the platform, and to the archive by the same interface. */
  async function askBoth(day: Day): Promise<void> {
    const asked = { startDate: day, endDate: day, sortBy: 'DATE_ASC', countTotal: true } as const;
    const page = await platform.page({ resource: 'orders', limit: 1, ...asked });
    const path = `/v3/orders?start_date=${day}&end_date=${day}&count_total=1`;
    const answer = (await (await fetch(`${url}${path}`)).json()) as {
      data: { total_count: number };
    };
    tell(`${monthName(day)} has left the window. Both are asked for ${day}:`, 'month');
    tell(`- the platform answers with ${counted(page.total ?? page.shown, 'order')}`, 'month');
    tell(`- the archive answers with ${counted(answer.data.total_count, 'order')}`, 'month');
  }

  async function tellCertificates(days: LedgerDay[]): Promise<void> {
    const all = await certificatesOf(db, { projectId, resource: 'orders' });
    for (const { month, digest, text } of all.slice(certified)) {
      const its = days.filter(({ day }) => day.slice(0, 7) === month.slice(0, 7));
      const lost = its.filter(({ state }) => state === 'lost');
      // What the last reading was shown may be nothing: on this clock it may end when the month has gone.
      const orders = readCertificate(text)?.records ?? 0;
      const missing = lost.length === 0 ? '' : `, ${counted(lost.length, 'day')} lost`;
      tell(
        `Certificate of ${monthName(month)}: ${counted(its.length - lost.length, 'day')}, ${counted(orders, 'order')}${missing}. Its digest begins with ${digest.slice(0, 16)}.`,
        'month',
      );
    }
    certified = all.length;
  }

  return {
    begin: () =>
      tell(
        `Outlast starts. In three days ${monthName(leavesNext())} leaves the window: from then on the platform says nothing about it.`,
      ),
    /** Off until then. */
    goesOff: (until: Instant) => {
      const past = [...known.values()].filter(({ day }) => day < today());
      const unread = past.filter(({ state }) => state === 'open');
      const leaving = unread.filter(({ day }) => day < monthStart(today()));
      const month = monthName(leavesNext());
      if (leaving.length > 0) {
        const read = past.length - unread.length;
        tell(`${read} of ${past.length} days are read, the oldest first.`, 'outage');
      }
      tell(
        `THE SERVICE IS OFF FOR A WEEK, until ${dayOf(until)} (${Math.round((7 * msADay) / 1000)} s).`,
        'outage',
      );
      tell(
        leaving.length > 0
          ? `Meanwhile ${month} leaves the window, and not all of it is read.`
          : `Meanwhile ${month} leaves the window; every day of it is read.`,
        'outage',
      );
    },
    comesBack: () => tell('The service is on again, and reads what it missed.'),
    /** Tells what a run has changed, once a day, and at once where a month is over; `orders` came in. */
    notice: async (orders: number) => {
      came += orders;
      const days = await ledger();
      const turned = (state: SliceState): LedgerDay[] =>
        days.filter((one) => one.state === state && known.get(one.day)?.state !== state);
      const [lost, final] = [turned('lost'), turned('final')];
      const isFirst = toldOn === '';
      const isNewDay = today() !== toldOn;
      if (!isNewDay && lost.length + final.length === 0) return;
      toldOn = today();
      const [sealed, walked] = [turned('sealed'), turned('walked')];
      const pending = walked.filter(({ why }) => why === 'pending');
      const others = walked.filter((one) => !pending.includes(one));
      for (const one of isNewDay ? days : [...lost, ...final]) known.set(one.day, one);
      if (isFirst) return;
      const parts = [
        ...(came === 0 ? [] : [`${counted(came, 'order')} came.`]),
        ...(sealed.length === 0 ? [] : [`Sealed: ${namesOf(sealed)}.`]),
        ...(pending.length === 0 ? [] : [`Read, but an order is pending: ${namesOf(pending)}.`]),
        ...(others.length === 0 ? [] : [`Read, and not proved yet: ${namesOf(others)}.`]),
      ];
      if (isNewDay && parts.length > 0) tell(parts.join(' '));
      if (isNewDay) came = 0;
      if (leavesNext() !== asksNext) await askBoth(addDays(asksNext, 14));
      asksNext = leavesNext();
      if (final.length > 0) {
        tell(`Final${lost.length === 0 ? ', and none lost' : ''}: ${namesOf(final)}.`, 'month');
      }
      if (lost.length > 0) {
        tell(`LOST FOR EVER: ${namesOf(lost)}. They were not read in time.`, 'month');
      }
      await tellCertificates(days);
    },
    lived: async (): Promise<Lived> => {
      const days = await ledger();
      const of = (state: SliceState): LedgerDay[] => days.filter((one) => one.state === state);
      const { rows } = await db.query<{ orders: number }>(
        'select count(*)::int as orders from archive.orders where project_id = $1',
        [projectId],
      );
      return {
        days: days.length,
        sealed: of('sealed').length,
        final: of('final').length,
        lost: of('lost').map(({ day }) => day),
        orders: rows[0]?.orders ?? 0,
        certificates: certified,
      };
    },
  };
}

const namesOf = (days: LedgerDay[]): string => rangesText(days.map(({ day }) => day));

/** So far text stands below a date. */
const indent = 12;

const monthName = (day: Day): string =>
  new Date(day).toLocaleString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `2026-01-29`, `2026-01-29 to 2026-02-04`, several by commas. */
export function rangesText(days: readonly Day[]): string {
  return rangesOf(days)
    .map(({ from, to }) => {
      const last = addDays(to, -1);
      return from === last ? from : `${from} to ${last}`;
    })
    .join(', ');
}

/** Wrapped, beside a date or below one. */
const hanging = (date: string, text: string): string =>
  wrapped(date.padEnd(indent) + text, screenWidth(), date === '' ? '' : ' '.repeat(indent));
