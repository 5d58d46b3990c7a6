// The calendar of `outlast status`: a line for each month of a resource, a letter for each day.
import { monthEnd } from '../day.ts';
import type { CalendarMonth, DayMark } from '../query/day-marks.ts';
import { painted, type Paint } from './print.ts';

/** Colour only repeats the letter. What is well is quiet; a capital cannot be put right any more. */
const marks: Readonly<Record<DayMark, { sign: string; meaning: string; paint: Paint }>> = {
  sealed: { sign: 's', meaning: 'sealed', paint: 'green' },
  final: { sign: 'f', meaning: 'final', paint: 'green' },
  proved: { sign: 'p', meaning: 'pending', paint: 'cyan' },
  unproved: { sign: '?', meaning: 'not all held yet', paint: 'yellow' },
  doubtful: { sign: 'N', meaning: 'NEVER PROVED WHOLE', paint: 'red' },
  open: { sign: 'o', meaning: 'open', paint: 'yellow' },
  lost: { sign: 'L', meaning: 'LOST', paint: 'red' },
};
const names = Object.keys(marks) as DayMark[];

/** What lies ahead, or before all that is accounted for. */
const none = '·';

/** Lines that fit into 54 columns, and what the letters mean; none for no month. */
export function calendarLines(months: CalendarMonth[]): string[] {
  if (months.length === 0) return [];
  const nameWidth = Math.max(...months.map(({ resource }) => resource.length));
  const occurring = new Set(months.flatMap((month) => [...month.marks.values()]));
  const legend = names
    .filter((name) => occurring.has(name))
    .map((name) => `${painted(marks[name].paint, marks[name].sign)} ${marks[name].meaning}`);
  return [
    `${' '.repeat(9 + nameWidth)}  ${ruler}`,
    ...months.map((one) => {
      const first = one.month.slice(0, 7);
      return `${first}  ${one.resource.padEnd(nameWidth)}  ${daysOf(one)}`;
    }),
    `${' '.repeat(9 + nameWidth)}  ${legend.join('  ')}`,
  ];
}

/** The first of each week of a month. */
const ruler = '1      8      15     22     29';

function daysOf({ month, marks: known }: CalendarMonth): string {
  const length = Number(monthEnd(month).slice(8));
  return Array.from({ length }, (_, i) => known.get(i + 1))
    .map((mark) => (mark === undefined ? none : marks[mark].sign))
    .join('')
    .replaceAll(/(.)\1*/g, (days, sign: string) => {
      const mark = names.find((name) => marks[name].sign === sign);
      return mark === undefined ? days : painted(marks[mark].paint, days);
    });
}
