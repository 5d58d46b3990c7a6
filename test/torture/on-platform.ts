// Harm by the platform: all its faults at once, a clock that jumps over hours, days and the ends of months, page keys
// that begin to age.
import { dayOf, monthStart, startOf } from '../../src/day.ts';
import type { Action } from './actions.ts';
import { drawFaults, drawKeyLife, giantBytes, noFaults, setBackMs } from './world.ts';
import { later, type Stage } from './stage.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Everything that appears in between is taken in first: a month that goes is not shown again. */
function moveTo({ simulator, memory }: Stage, at: number): string {
  memory.look();
  simulator.setNow(at);
  memory.look();
  return `to ${new Date(at).toISOString()}`;
}

export const platformActions: readonly Action[] = [
  {
    name: 'all faults of the platform',
    weight: 6,
    act: ({ simulator, drawn }, chance) => {
      simulator.setFaults(drawFaults(chance, drawn));
      return 'at once';
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
    name: 'hollow hours',
    weight: 2,
    act: (stage, chance) => {
      const { simulator } = stage;
      const hours = chance.between(1, 5);
      const realMs = chance.between(500, 4000);
      simulator.setFaults({ hollow: {} });
      const said = moveTo(stage, simulator.clock.now() + hours * hourMs);
      later(stage, realMs, () => simulator.setFaults({ hollow: null }));
      return `${said}; answers without list and total for ${realMs} ms more`;
    },
  },
  {
    name: 'other page keys',
    weight: 2,
    act: ({ simulator, drawn }, chance) => {
      const life = drawKeyLife(chance, drawn.speed);
      simulator.setDialect(life);
      return JSON.stringify(life);
    },
  },
  {
    name: 'the filter by status breaks',
    weight: 1,
    act: (stage, chance) => {
      const { simulator, drawn } = stage;
      const statusFilter = chance.pick(['ignored', 'empty', 'stale'] as const);
      const realMs = chance.between(1000, 8000);
      simulator.setDialect({ statusFilter });
      later(stage, realMs, () =>
        simulator.setDialect({ statusFilter: drawn.dialect.statusFilter ?? 'honoured' }),
      );
      return `${statusFilter} for ${realMs} ms`;
    },
  },
  {
    name: 'poison',
    weight: 3,
    act: (stage, chance) => {
      const { simulator } = stage;
      const realMs = chance.between(500, 3000);
      simulator.setFaults({
        poisonError: { share: chance.pick([0.05, 0.3]) },
        giant: { share: chance.pick([0.02, 0.1]), bytes: chance.pick(giantBytes) },
      });
      later(stage, realMs, () => simulator.setFaults({ poisonError: null, giant: null }));
      return `errors with U+0000 and records of great length for ${realMs} ms`;
    },
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
