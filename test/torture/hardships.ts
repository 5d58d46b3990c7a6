// What makes a platform hard to prove from its first day to its last: lists that are cut, totals that lie, orders and
// keys that mean nothing. Some worlds draw one of them. Pure.
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

/** `statusFilter`: what its filter by status does. */
export function drawHardship(
  chance: Chance,
  statusFilter: Dialect['statusFilter'],
): Hardship | null {
  if (!chance.isHit(0.35)) return null;
  // Nobody cuts a list so short that days are alike by chance.
  const cap = chance.between(10, 25);
  const without = { totals: 'absent', classTotals: 'absent' } as const;
  return chance.pick<Hardship>([
    {
      name: 'totals stand on first pages only',
      dialect: { totals: 'first' },
      isProvable: true,
      showsAll: true,
    },
    {
      name: 'totals count the page',
      dialect: { totals: 'page', classTotals: 'page', maxOrders: 10, maxClasses: 10 },
      isProvable: false,
      showsAll: true,
    },
    {
      name: `an index cuts lists and totals at ${cap}`,
      dialect: {
        totals: 'present',
        classTotals: 'present',
        totalsCap: cap,
        listCap: cap,
      },
      isProvable: false,
      showsAll: false,
    },
    {
      name: `totals end at ${cap}`,
      dialect: { totals: 'present', classTotals: 'present', totalsCap: cap },
      isProvable: false,
      showsAll: true,
    },
    {
      name: 'a status is left out unless it is asked for',
      dialect: {
        totals: 'present',
        statusUnasked: chance.pick([1, 2, 3]),
        // What neither a list nor a filter shows nobody can notice.
        ...(statusFilter === 'empty' ? { statusFilter: 'honoured' } : {}),
      },
      // No list and no filter shows what such orders have become.
      isProvable: ['honoured', 'empty'].includes(statusFilter),
      showsAll: ['honoured', 'empty'].includes(statusFilter),
    },
    {
      name: 'the order is ignored, and there are no totals',
      dialect: { ...without, sort: 'ignored' },
      isProvable: false,
      showsAll: true,
    },
    {
      name: 'keys have no end',
      dialect: { lastKey: 'around' },
      isProvable: true,
      showsAll: true,
    },
    {
      name: 'keys have no end, and there are no totals',
      dialect: { ...without, lastKey: 'around' },
      isProvable: true,
      showsAll: true,
    },
  ]);
}
