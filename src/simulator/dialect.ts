// The switches: every point that docs/platform.md names as unknown, each with what the simulator does by default.
// One table drives the type, the defaults, the checks and the help.
import { z } from 'zod';
import { settingsError } from '../errors.ts';
import { timeForms } from './times.ts';

type Switch<T extends string> = { values: readonly T[]; sentence: string; read: z.ZodType<T> };
type Amount = { amount: number; sentence: string; read: z.ZodType<number> };
type Flag = { flag: boolean; sentence: string; read: z.ZodType<boolean> };

// Each is read from the texts of a command line.
const whole = z
  .string()
  .min(1)
  .transform(Number)
  .pipe(z.int().min(0))
  .describe('a whole number from 0 on');
const onOrOff = z
  .stringbool({ truthy: ['on'], falsy: ['off'], case: 'sensitive' })
  .describe('on or off');

const oneOf = <const T extends readonly [string, ...string[]]>(
  values: T,
  sentence: string,
): Switch<T[number]> => ({
  values,
  sentence,
  read: z.enum(values).describe(`one of ${values.join(', ')}`),
});
const amount = (standard: number, sentence: string): Amount => ({
  amount: standard,
  sentence,
  read: whole,
});
const flag = (standard: boolean, sentence: string): Flag => ({
  flag: standard,
  sentence,
  read: onOrOff,
});

/** Of each list of values the first is the standard one. */
export const switches = {
  dayEnd: oneOf(
    ['inclusive', 'exclusive', 'instant'],
    'end_date: the whole day, nothing of it, or its first instant only',
  ),
  dates: oneOf(['utc', 'utc+8', 'ignored'], 'the zone of start_date and end_date, or no filter'),
  lastKey: oneOf(
    ['empty', 'null', 'absent', 'repeated', 'onward', 'around'],
    'next_page_key on the last page; repeated shows that page again, onward leads to an empty page, around to some page shown before, by a key that is new each time',
  ),
  overLimit: oneOf(['clamp', 'refuse'], 'a limit above the greatest: clamped, or answered 400'),
  maxOrders: amount(50, 'greatest limit of the order list'),
  maxClasses: amount(200, 'greatest limit of the class list'),
  shortPages: amount(0, 'pages carry at most so many records whatever was asked; 0: as asked'),
  emptyList: oneOf(['array', 'null', 'absent'], 'an empty list: [], null or left out'),
  totals: oneOf(
    ['present', 'absent', 'zero', 'first', 'page'],
    'total_count, of orders where count_total=1 asks for it; first: only on first pages, page: counts the page alone',
  ),
  totalsCap: amount(0, 'totals say so many at most; 0: as many as there are'),
  listCap: amount(0, 'lists end after so many records, from whichever end they are read; 0: never'),
  sort: oneOf(['honoured', 'ignored'], 'sort_by, or oldest first whatever was asked'),
  timeForm: oneOf(timeForms, 'create_time and update_time of orders'),
  statusFilter: oneOf(
    ['honoured', 'ignored', 'empty', 'refused', 'words'],
    'status: honoured, no filter, one that nothing matches, answered 400, or one that wants words',
  ),
  statusUnasked: amount(0, 'lists of orders leave this status out unless it is asked for; 0: none'),
  ties: oneOf(['id', 'insertion'], 'what orders records of the same second'),
  keyLifeMs: amount(0, 'page keys expire after so many milliseconds; 0: never'),
  keyLifeRequests: amount(0, 'page keys expire after so many further requests; 0: never'),
  keyExpired: oneOf(
    ['refuse', 'ignore', 'empty'],
    'an expired key: answered 400, with the first page, or with an empty page',
  ),
  lagMs: amount(0, 'lists and totals show what they would have shown so long ago'),
  monthEnd: oneOf(
    ['utc', 'utc+8', 'utc-8', 'batches'],
    'the clock that ends the month; batches: it goes piece by piece, oldest first, in the eight hours before UTC ends it',
  ),
  ordersWindow: flag(true, 'orders vanish with their month'),
  classesWindow: flag(true, 'classes vanish with their month as orders do'),
  unknownFields: flag(false, 'records and envelopes carry fields the document does not name'),
  feePath: oneOf(['fee', 'fees'], 'last segment of the token fee path; newer nodes use fees'),
  toleranceMs: amount(300_000, 'X-Timestamp may be off by so much; 0: not looked at'),
} as const;

type Table = typeof switches;
export type Dialect = {
  -readonly [K in keyof Table]: Table[K] extends Switch<infer T>
    ? T
    : Table[K] extends Amount
      ? number
      : boolean;
};

function isSwitch(name: string): name is keyof Table {
  return Object.hasOwn(switches, name);
}

export function standardDialect(): Dialect {
  const entries = Object.entries(switches).map(([name, of]) => [
    name,
    'values' in of ? of.values[0] : 'flag' in of ? of.flag : of.amount,
  ]);
  return Object.fromEntries(entries) as Dialect;
}

/** Checks switches of a command line. Throws settings `bad_dialect` with a sentence that names what there is. */
export function readDialect(given: Record<string, string>): Partial<Dialect> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, readSwitch(name, value)]),
  );
}

function readSwitch(name: string, value: string): string | number | boolean {
  if (!isSwitch(name)) throw bad(`there is no switch "${name}"; there are ${listOf(switches)}`);
  const { read } = switches[name];
  const { success, data } = read.safeParse(value);
  if (!success) throw bad(`the switch ${name} is ${read.description}`);
  return data;
}

const listOf = (table: object): string => Object.keys(table).join(', ');
const bad = (sentence: string): Error => settingsError('bad_dialect', sentence);
