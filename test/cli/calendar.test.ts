// The calendar of `outlast status`: what a person reads of it without colour.
import { expect, test } from 'vitest';
import { calendarLines } from '../../src/cli/calendar-lines.ts';
import type { CalendarMonth, DayMark } from '../../src/query/day-marks.ts';

const days = (from: number, to: number, mark: DayMark): [number, DayMark][] =>
  Array.from({ length: to - from + 1 }, (_, i) => [from + i, mark]);

const month = (of: string, ...known: [number, DayMark][][]): CalendarMonth => ({
  resource: of === '2026-02' ? 'nft_classes' : 'orders',
  month: `${of}-01`,
  marks: new Map(known.flat()),
});

test('has a letter for each day of a month, and says what those that occur mean', () => {
  const lines = calendarLines([
    month(
      '2026-02',
      days(1, 20, 'final'),
      days(21, 22, 'lost'),
      days(23, 27, 'unproved'),
      days(28, 28, 'doubtful'),
    ),
    month('2026-03', days(2, 9, 'sealed'), days(10, 10, 'proved'), days(11, 11, 'open')),
  ]);
  expect(lines).toEqual([
    '                      1      8      15     22     29',
    '2026-02  nft_classes  ffffffffffffffffffffLL?????N',
    '2026-03  orders       ·sssssssspo····················',
    '                      s sealed  f final  p pending  ? not all held yet  N NEVER PROVED WHOLE  o open  L LOST',
  ]);
});

test('nothing known is nothing drawn', () => expect(calendarLines([])).toEqual([]));
