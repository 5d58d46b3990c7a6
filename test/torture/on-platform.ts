// Harm by the platform: its faults one at a time, hours in which it shows nothing, page keys that begin to age, a clock
// that jumps over hours, days and the ends of months.
import { dayOf, monthStart, startOf } from '../../src/day.ts';
import type { Action } from './actions.ts';
import { drawKeyLife } from './hardships.ts';
import { drawFault, giantBytes, noFaults, setBackMs } from './world.ts';
import { later, type Stage } from './stage.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Everything that appears in between is taken in first: a month that goes is not shown again. */
function moveTo({ simulator, memory }: Stage, at: number): string {
  memory.look();
  // It lasts for hours and not for days.
  simulator.setFaults({ emptied: null });
  simulator.setNow(at);
  memory.look();
  return `to ${new Date(at).toISOString()}`;
}

/** Of what makes a platform hard to prove there is one at a time. */
const onWell =
  (act: Action['act']): Action['act'] =>
  (stage, chance) =>
    stage.drawn.hardship === null ? act(stage, chance) : 'not here';

export const platformActions: readonly Action[] = [
  {
    name: 'a fault of the platform',
    weight: 6,
    act: ({ simulator, drawn }, chance) => {
      const faults = drawFault(chance, drawn);
      simulator.setFaults(faults);
      return JSON.stringify(
        Object.fromEntries(Object.entries(faults).filter(([, one]) => one !== null)),
      );
    },
  },
  {
    name: 'no faults',
    weight: 4,
    act: ({ simulator }) => {
      simulator.setFaults(noFaults);
      return 'for a while';
    },
  },
  {
    name: 'empty hours',
    weight: 3,
    act: onWell((stage, chance) => {
      const { simulator } = stage;
      const hours = chance.between(1, 5);
      const realMs = chance.between(500, 3000);
      // As nothing at all, or as a list of nothing that counts 0.
      const empty = chance.pick([{ hollow: {} }, { emptied: {} }] as const);
      simulator.setFaults({ ...noFaults, ...empty });
      later(stage, realMs, () => {
        moveTo(stage, simulator.clock.now() + hours * hourMs);
        simulator.setFaults(empty);
      });
      later(stage, 2 * realMs, () => simulator.setFaults({ hollow: null, emptied: null }));
      return `${Object.keys(empty).join()} for ${hours} h, ${realMs} ms before them and after`;
    }),
  },
  {
    name: 'page keys begin to age',
    weight: 2,
    act: onWell(({ simulator }, chance) => {
      const life = drawKeyLife(chance);
      simulator.setDialect(life);
      return JSON.stringify(life);
    }),
  },
  {
    name: 'the filter by status breaks',
    weight: 1,
    act: onWell((stage, chance) => {
      const { simulator } = stage;
      const statusFilter = chance.pick(['ignored', 'empty', 'refused'] as const);
      const realMs = chance.between(1000, 8000);
      simulator.setDialect({ statusFilter });
      later(stage, realMs, () => simulator.setDialect({ statusFilter: 'honoured' }));
      return `${statusFilter} for ${realMs} ms`;
    }),
  },
  {
    name: 'records of great length',
    weight: 3,
    act: onWell((stage, chance) => {
      const { simulator } = stage;
      const realMs = chance.between(500, 3000);
      simulator.setFaults({
        ...noFaults,
        giant: { share: chance.pick([0.02, 0.1]), bytes: chance.pick(giantBytes) },
      });
      later(stage, realMs, () => simulator.setFaults({ giant: null }));
      return `for ${realMs} ms`;
    }),
  },
  {
    name: 'the clock jumps',
    weight: 6,
    act: (stage, chance) => {
      const byMs = chance.pick([
        chance.between(1, 50) * minuteMs,
        chance.between(1, 9) * hourMs,
        25 * hourMs,
      ]);
      return moveTo(stage, stage.simulator.clock.now() + byMs);
    },
  },
  {
    name: 'the clock jumps over days',
    weight: 1.5,
    act: (stage, chance) =>
      moveTo(stage, stage.simulator.clock.now() + chance.between(2, 12) * dayMs),
  },
  {
    name: 'the clock is set back',
    weight: 1.5,
    act: (stage, chance) =>
      moveTo(stage, stage.simulator.clock.now() - chance.between(1000, setBackMs)),
  },
  {
    name: 'the day ends',
    weight: 2,
    act: (stage, chance) => {
      const now = stage.simulator.clock.now();
      const end = startOf(dayOf(now)) + dayMs;
      return moveTo(stage, Math.max(now, end - chance.between(0, 90) * 1000));
    },
  },
  {
    name: 'the month ends',
    weight: 1.5,
    act: (stage, chance) => {
      const now = stage.simulator.clock.now();
      const end = startOf(monthStart(dayOf(now), 1));
      // Before and after the moments that matter: UTC+8's end, UTC's, and the decision twelve hours later.
      const at = end + chance.pick([-9 * hourMs, -minuteMs, minuteMs, 11 * hourMs, 13 * hourMs]);
      return moveTo(stage, Math.max(now, at));
    },
  },
];
