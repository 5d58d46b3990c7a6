// How numbers, days, instants and spans stand on the pages, in the reader's language; days and times are UTC's. No
// figure is rounded: decimal text is added without a double in between.
import { monthStart, startOf } from '../../day.ts';
import type { Day, Instant } from '../../model.ts';
import type { Lang } from './words.ts';

const locales: Record<Lang, string> = { en: 'en-GB', zh: 'zh-CN' };

export type Format = ReturnType<typeof createFormat>;

/** A day, an hour, a minute and a second. */
const unitsMs = [86_400_000, 3_600_000, 60_000, 1000];

export function createFormat(lang: Lang) {
  const locale = locales[lang];
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 });
  const compact = new Intl.NumberFormat(locale, { notation: 'compact' });
  const dates = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options });
  const month = dates({ year: 'numeric', month: 'long' });
  const monthName = dates({ month: 'long' });
  const day = dates({ year: 'numeric', month: 'short', day: 'numeric' });
  const units = lang === 'zh' ? [' 天', ' 小时', ' 分钟', ' 秒'] : [' days', ' h', ' min', ' s'];
  return {
    /** Exact, also of decimal text that a double cannot hold: Intl takes it as it is, which its types do not say. */
    number: (value: number | string): string => whole.format(value as number),
    /** Rounded, for the scale of a chart: `20K`. */
    short: (value: number): string => compact.format(value),
    /** `2026-11` or a day of it: November 2026. */
    month: (text: Day): string => month.format(startOf(monthStart(text))),
    /** The month's name alone. */
    monthName: (text: Day): string => monthName.format(startOf(monthStart(text))),
    day: (text: Day): string => day.format(startOf(text)),
    /** To the minute; '' for none. */
    time: (at: string | Instant | null): string => {
      if (at === null) return '';
      const text = typeof at === 'string' ? at : new Date(at).toISOString();
      return `${text.slice(0, 10)} ${text.slice(11, 16)}`;
    },
    /** To the second. */
    second: (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)}`,
    /** Of milliseconds, in the two greatest units that count: 9 days, 3 h 20 min. */
    span: (ms: number): string => {
      let left = Math.max(0, ms);
      const parts = unitsMs.map((unit) => {
        const whole = Math.floor(left / unit);
        left %= unit;
        return whole;
      });
      const first = parts.findIndex((part) => part > 0);
      if (first === -1) return `< 1${units[3]}`;
      const text = (i: number): string =>
        i === 0 && parts[0] === 1 && lang === 'en' ? '1 day' : `${parts[i]}${units[i]}`;
      // Of ten days the hours say nothing.
      const isEnough =
        first === 3 || parts[first + 1] === 0 || (first === 0 && (parts[0] ?? 0) > 2);
      return isEnough ? text(first) : `${text(first)} ${text(first + 1)}`;
    },
  };
}

/** The exact sum of whole numbers and of decimal text as Postgres writes it: never with an exponent. */
export function sumOf(values: Iterable<string | number>): string {
  const texts = [...values].map(String);
  const places = Math.max(0, ...texts.map((text) => fractionOf(text).length));
  let sum = 0n;
  for (const text of texts) {
    const [whole = '0'] = text.split('.');
    sum += BigInt(whole + fractionOf(text).padEnd(places, '0'));
  }
  if (places === 0) return String(sum);
  const digits = String(sum < 0n ? -sum : sum).padStart(places + 1, '0');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

const fractionOf = (text: string): string => text.split('.', 2)[1] ?? '';
