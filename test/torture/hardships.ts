// How a world's platform reads what its document leaves open, or where it errs from its first day to its last: one way
// a world, for two at once need not be provable. Pure.
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Chance } from './chance.ts';

export type Hardship = {
  name: string;
  dialect: Partial<Dialect>;
  /** Whether what it shows can be proved all the same, so that every day must be sealed in the end. */
  isProvable: boolean;
  /** Whether it shows everything to whoever asks well: a list that is cut may hide its middle from everybody. */
  showsAll: boolean;
};

const hourMs = 3_600_000;

/** Null: as the document says. */
export function drawHardship(chance: Chance): Hardship | null {
  if (!chance.isHit(0.75)) return null;
  const cap = chance.between(10, 25);
  const lagHours = chance.between(1, 3);
  const provable = (name: string, dialect: Partial<Dialect>): Hardship => ({
    name,
    dialect,
    isProvable: true,
    showsAll: true,
  });
  const each = <K extends keyof Dialect>(
    what: string,
    key: K,
    values: readonly Dialect[K][],
  ): Hardship[] => values.map((value) => provable(`${what}: ${value}`, { [key]: value }));
  return chance.pick<Hardship>([
    provable(`everything is seen ${lagHours} h late`, { lagMs: lagHours * hourMs }),
    provable('a status is left out unless it is asked for', {
      statusUnasked: chance.pick([1, 2, 3]),
    }),
    ...each('the filter by status', 'statusFilter', ['ignored', 'empty', 'refused', 'words']),
    ...each('totals', 'totals', ['absent', 'zero', 'first', 'page']),
    provable(`totals end at ${cap}`, { totalsCap: cap }),
    ...each('the end of a month', 'monthEnd', ['utc+8', 'utc-8', 'batches', 'batches']),
    provable('classes outlive their month', { classesWindow: false }),
    ...each('the end date', 'dayEnd', ['exclusive', 'instant']),
    ...each('days', 'dates', ['utc+8']),
    ...each('the last key', 'lastKey', ['null', 'absent', 'repeated', 'onward', 'around']),
    provable('keys age', drawKeyLife(chance)),
    provable('limits are refused', { overLimit: 'refuse' }),
    ...each('an empty list', 'emptyList', ['null', 'absent']),
    provable('times, ties and fields of every kind', {
      timeForm: chance.pick(['fraction', 'space', 'go']),
      ties: 'insertion',
      unknownFields: true,
    }),
    // What is not proved is held none the less.
    ...(
      [
        // Where dates do nothing, every record that comes is news to every day.
        ['dates do nothing', { dates: 'ignored' }, true],
        ['the order is ignored', { sort: 'ignored' }, true],
        [`an index cuts lists and totals at ${cap}`, { totalsCap: cap, listCap: cap }, false],
      ] as const
    ).map(([name, dialect, showsAll]) => ({ name, dialect, isProvable: false, showsAll })),
  ]);
}

/** A key that ages lives for a few requests. */
export function drawKeyLife(chance: Chance): Pick<Dialect, 'keyLifeRequests' | 'keyExpired'> {
  return {
    keyExpired: chance.pick(['refuse', 'ignore', 'empty'] as const),
    keyLifeRequests: chance.between(2, 40),
  };
}
