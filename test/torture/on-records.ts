// Harm by life: records that come late, are hidden, change hands or change their minds. What comes late stands in
// slices of odd days and what is hidden in even ones, so that no count stays the same by accident (P6 claims no more).
import { dayOf } from '../../src/day.ts';
import type { Instant, ListedResource } from '../../src/model.ts';
import { dayNumber, dayNumberOf, instantIn, writeTime } from '../../src/simulator/world.ts';
import type { Action } from './actions.ts';
import type { Chance } from './chance.ts';
import type { Stage } from './stage.ts';

const fields = {
  orders: { id: 'operation_id', time: 'create_time' },
  nft_classes: { id: 'id', time: 'timestamp' },
} as const;

type Found = { id: string; at: Instant; record: Record<string, unknown> };

/** A record of a past day that the platform shows, of those that fit; null where there is none. */
function anyRecord(
  { simulator }: Stage,
  chance: Chance,
  resource: ListedResource,
  fits: (found: Found) => boolean,
): Found | null {
  const share = chance.unit();
  const today = dayNumberOf(simulator.clock.now());
  const found = [...simulator.oracle.shown(resource)].flatMap(({ id, text }): Found[] => {
    const record = JSON.parse(text) as Record<string, unknown>;
    const at = instantIn(record[fields[resource].time]) ?? 0;
    const one = { id, at, record };
    return dayNumberOf(at) < today && fits(one) ? [one] : [];
  });
  return found[Math.floor(share * found.length)] ?? null;
}

const isOdd = ({ memory }: Stage, { at }: Found): boolean =>
  dayNumber(memory.sliceOf(at)) % 2 === 1;
const nothing = 'there is none';

export const recordActions: readonly Action[] = [
  {
    name: 'a late record',
    weight: 4,
    act: (stage, chance) => {
      const resource = chance.pick(['orders', 'nft_classes'] as const);
      const number = chance.between(0, 1e9);
      const model = anyRecord(stage, chance, resource, (one) => isOdd(stage, one));
      if (model === null) return nothing;
      const id = `late-${number}`;
      const now = stage.simulator.clock.now();
      // It is known before it is shown: a walk may be under way.
      stage.memory.wasInserted(resource, id, model.at, now);
      const record = { ...model.record, [fields[resource].id]: id };
      stage.simulator.insert(resource, { record, at: model.at });
      return `${resource} ${id} on ${dayOf(model.at)}`;
    },
  },
  {
    name: 'a record is hidden',
    weight: 2,
    act: (stage, chance) => {
      const resource = chance.pick(['orders', 'nft_classes'] as const);
      const found = anyRecord(stage, chance, resource, (one) => !isOdd(stage, one));
      if (found === null) return nothing;
      stage.memory.look();
      stage.memory.wasHidden(resource, found.id, stage.simulator.clock.now());
      stage.simulator.hide(resource, found.id);
      return `${resource} ${found.id} of ${dayOf(found.at)}`;
    },
  },
  {
    name: 'a class changes',
    weight: 3,
    act: (stage, chance) => {
      const found = anyRecord(stage, chance, 'nft_classes', () => true);
      if (found === null) return nothing;
      const by = chance.between(1, 1000);
      stage.simulator.mutate('nft_classes', found.id, (record) => ({
        ...record,
        nft_count: Number(record['nft_count']) + by,
        owner: `iaa1taker${by}`,
      }));
      return `${found.id} of ${dayOf(found.at)}`;
    },
  },
  {
    name: 'an order fails after all',
    weight: 2,
    act: (stage, chance) => {
      const found = anyRecord(stage, chance, 'orders', ({ record }) => record['status'] === 2);
      if (found === null) return nothing;
      const form = stage.simulator.dialect().timeForm;
      const updated = writeTime(stage.simulator.clock.now(), form);
      stage.simulator.mutate('orders', found.id, (record) => ({
        ...record,
        status: 3,
        update_time: updated,
      }));
      return `${found.id} of ${dayOf(found.at)}`;
    },
  },
];
