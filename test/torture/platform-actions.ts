// What the platform does between two looks at the archive: its faults one at a time, hours in which it shows nothing, a
// clock that jumps, and records that come late, vanish and change.
import { dayOf, monthStart, startOf } from '../../src/day.ts';
import type { Instant, ListedResource } from '../../src/model.ts';
import { instantIn, writeTime } from '../../src/simulator/world.ts';
import { later, type Action, type Stage } from './stage.ts';
import { dayMs, drawFault, hourMs, noFaults, setBackMs, type Chance } from './world.ts';

/** Everything that appears in between is taken in first: a month that goes is not shown again. */
function moveTo({ simulator, memory }: Stage, at: Instant): string {
  memory.look();
  // It lasts for hours and not for days.
  simulator.setFaults({ emptied: null });
  simulator.setNow(at);
  memory.look();
  return `to ${new Date(at).toISOString()}`;
}

const isOdd = ({ drawn }: Stage): boolean => Object.keys(drawn.oddity).length > 0;

/** To a moment that is drawn from this one. */
const jump = (
  name: string,
  weight: number,
  from: (now: Instant, chance: Chance) => Instant,
): Action => ({
  name,
  weight,
  act: (stage, chance) => moveTo(stage, from(stage.simulator.clock.now(), chance)),
});

const minutes = (chance: Chance, most: number): number => chance.between(1, most) * 60_000;
const endOfDay = (now: Instant): Instant => startOf(dayOf(now)) + dayMs;
const endOfMonth = (now: Instant): Instant => startOf(monthStart(dayOf(now), 1));
/** Before and after the moments that matter: UTC+8's end of the month, UTC's, and the decision twelve hours later. */
const aroundTheEndMs = [-9 * hourMs, -60_000, 60_000, 11 * hourMs, 13 * hourMs] as const;

const jumps: readonly Action[] = [
  jump('minutes pass', 3, (now, chance) => now + minutes(chance, 50)),
  jump('hours pass', 3, (now, chance) => now + chance.pick([minutes(chance, 540), 25 * hourMs])),
  jump('days pass', 1.5, (now, chance) => now + chance.between(2, 12) * dayMs),
  jump('the clock is set back', 1.5, (now, chance) => now - chance.between(1000, setBackMs)),
  jump('the day ends', 2, (now, chance) =>
    Math.max(now, endOfDay(now) - chance.between(0, 90_000)),
  ),
  jump('the month ends', 1.5, (now, chance) =>
    Math.max(now, endOfMonth(now) + chance.pick(aroundTheEndMs)),
  ),
];

const fields = {
  orders: { id: 'operation_id', time: 'create_time' },
  nft_classes: { id: 'id', time: 'timestamp' },
} as const;

type Found = { resource: ListedResource; id: string; at: Instant; record: Record<string, unknown> };

/** An act on a record of a past day that the platform shows and that fits. */
const onRecord = (
  name: string,
  weight: number,
  from: readonly [ListedResource, ...ListedResource[]],
  act: (found: Found, stage: Stage, chance: Chance) => void,
  fits: (record: Found['record']) => boolean = () => true,
): Action => ({
  name,
  weight,
  act: (stage, chance) => {
    const { simulator } = stage;
    const resource = chance.pick(from);
    const today = startOf(dayOf(simulator.clock.now()));
    const all = [...simulator.oracle.shown(resource)].flatMap(({ id, text }): Found[] => {
      const record = JSON.parse(text) as Found['record'];
      const at = instantIn(record[fields[resource].time]) ?? 0;
      return at < today && fits(record) ? [{ resource, id, at, record }] : [];
    });
    const [first, ...others] = all;
    if (first === undefined) return 'there is none';
    const found = chance.pick([first, ...others]);
    act(found, stage, chance);
    return `${resource} ${found.id} of ${dayOf(found.at)}`;
  },
});

const recordActions: readonly Action[] = [
  onRecord(
    'one like it comes late',
    4,
    ['orders', 'nft_classes'],
    ({ resource, at, record }, { simulator, memory }, chance) => {
      const id = `late-${chance.between(0, 1e9)}`;
      // It is known before it is shown: a walk may be under way.
      memory.wasInserted(resource, id, at);
      simulator.insert(resource, { record: { ...record, [fields[resource].id]: id }, at });
    },
  ),
  onRecord(
    'a record vanishes',
    2,
    ['orders', 'nft_classes'],
    ({ resource, id }, { simulator, memory }) => {
      memory.look();
      memory.wasHidden(id);
      simulator.hide(resource, id);
    },
  ),
  onRecord('a class changes', 3, ['nft_classes'], ({ id }, { simulator }, chance) => {
    const by = chance.between(1, 1000);
    simulator.mutate('nft_classes', id, (record) => ({
      ...record,
      nft_count: Number(record['nft_count']) + by,
      owner: `iaa1taker${by}`,
    }));
  }),
  onRecord(
    'an order fails after all',
    2,
    ['orders'],
    ({ id }, { simulator }) => {
      const updated = writeTime(simulator.clock.now(), simulator.dialect().timeForm);
      simulator.mutate('orders', id, (record) => ({ ...record, status: 3, update_time: updated }));
    },
    ({ status }) => status === 2,
  ),
];

export const platformActions: readonly Action[] = [
  {
    name: 'a fault of the platform',
    weight: 6,
    act: (stage, chance) => {
      const fault = drawFault(chance, isOdd(stage));
      stage.simulator.setFaults({ ...noFaults, ...fault });
      return JSON.stringify(fault);
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
    act: (stage, chance) => {
      if (isOdd(stage)) return 'not here';
      const { simulator } = stage;
      const [hours, realMs] = [chance.between(1, 5), chance.between(500, 3000)];
      // As nothing at all, or as a list of nothing that counts 0.
      const empty = chance.pick([{ hollow: {} }, { emptied: {} }] as const);
      simulator.setFaults({ ...noFaults, ...empty });
      later(stage, realMs, () => {
        moveTo(stage, simulator.clock.now() + hours * hourMs);
        simulator.setFaults(empty);
      });
      later(stage, 2 * realMs, () => simulator.setFaults({ hollow: null, emptied: null }));
      return `${Object.keys(empty).join()} for ${hours} h, ${realMs} ms before them and after`;
    },
  },
  ...jumps,
  ...recordActions,
];
