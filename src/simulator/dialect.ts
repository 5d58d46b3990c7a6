// The switches: every point that docs/platform.md names as unknown, each with what the simulator does by default.
// One table drives the type, the defaults, the checks and the help.
import { z } from 'zod';
import { settingsError } from '../errors.ts';
import { timeForms } from './world.ts';

/** `values`: of a switch with names for its values, the standard one first. */
type Switch<T> = { standard: T; values?: readonly T[]; sentence: string; read: z.ZodType<T> };

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
  standard: values[0],
  values,
  sentence,
  read: z.enum(values).describe(`one of ${values.join(', ')}`),
});
const amount = (standard: number, sentence: string): Switch<number> => ({
  standard,
  sentence,
  read: whole,
});
const flag = (standard: boolean, sentence: string): Switch<boolean> => ({
  standard,
  sentence,
  read: onOrOff,
});

export const switches = {
  dayEnd: oneOf(
    ['inclusive', 'exclusive', 'instant'],
    'end_date: the whole day, nothing of it, or its first instant only',
  ),
  dates: oneOf(['utc', 'utc+8', 'ignored'], 'the zone of start_date and end_date, or no filter'),
  lastKey: oneOf(
    ['empty', 'null', 'absent', 'repeated', 'onward'],
    'next_page_key on the last page; repeated shows that page again, onward leads to an empty page',
  ),
  overLimit: oneOf(['clamp', 'refuse'], 'a limit above the greatest: clamped, or answered 400'),
  maxOrders: amount(50, 'greatest limit of the order list'),
  maxClasses: amount(200, 'greatest limit of the class list'),
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
} as const;

export type Dialect = {
  -readonly [K in keyof typeof switches]: (typeof switches)[K]['standard'];
};

export const standardDialect = Object.fromEntries(
  Object.entries(switches).map(([name, { standard }]) => [name, standard]),
) as Dialect;

/** Switches of a command line, `name=value` each. Throws settings `bad_dialect` with a sentence that names what there is. */
export function readDialect(texts: readonly string[]): Partial<Dialect> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (name === '') throw bad(`--dialect takes switch=value, not "${text}"`);
      if (!isSwitch(name)) {
        const all = Object.keys(switches).join(', ');
        throw bad(`there is no switch "${name}"; there are ${all}`);
      }
      const { read } = switches[name];
      const { success, data } = read.safeParse(value);
      if (!success) throw bad(`the switch ${name} is ${read.description}`);
      return [name, data];
    }),
  );
}

const isSwitch = (name: string): name is keyof Dialect => Object.hasOwn(switches, name);
const bad = (sentence: string): Error => settingsError('bad_dialect', sentence);
