// What the platform is known to have had and to have sent, kept outside of the archive: the other side of every check.
// It follows the simulator's own record, never the archive.
import { dayOf } from '../../src/day.ts';
import { listedResources, type Day, type Instant, type ListedResource } from '../../src/model.ts';
import type { SentPage } from '../../src/simulator/simulator-options.ts';
import { windowStart } from '../../src/simulator/list-query.ts';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import { instantIn } from '../../src/simulator/world.ts';
import { sorted } from '../support/differences.ts';

/** A record the platform had. */
export type Had = {
  id: string;
  createdAt: Instant;
  /** On the platform's clock: later than its own time says where it was inserted late. */
  appearedAt: Instant;
  hiddenAt: Instant | null;
};

export type Memory = ReturnType<typeof createMemory>;

const timeField = { orders: 'create_time', nft_classes: 'timestamp' };

export function createMemory(simulator: () => Pick<Simulator, 'oracle' | 'clock' | 'dialect'>) {
  const had = new Map<string, Had>();
  const byDay = new Map<string, Had[]>();
  const sent = new Map<string, Map<string, Instant>>();
  /** By the text that was sent. */
  const contents = new Map<string, string>();

  const contentOf = (text: string): string => {
    let known = contents.get(text);
    if (known === undefined) contents.set(text, (known = sorted(text)));
    return known;
  };

  function add(
    resource: ListedResource,
    id: string,
    createdAt: Instant,
    appearedAt: Instant,
  ): void {
    const one: Had = { id, createdAt, appearedAt, hiddenAt: null };
    had.set(id, one);
    const day = `${resource} ${dayOf(createdAt)}`;
    byDay.set(day, [...(byDay.get(day) ?? []), one]);
  }

  return {
    /** Takes in what the platform shows at this moment. */
    look: (): void => {
      for (const resource of listedResources) {
        for (const { id, text } of simulator().oracle.shown(resource)) {
          if (had.has(id)) continue;
          const record = JSON.parse(text) as Record<string, unknown>;
          const at = instantIn(record[timeField[resource]]);
          if (at === null) throw new Error(`the simulator wrote no time into ${resource} ${id}`);
          add(resource, id, at, at);
        }
      }
    },
    /** The records of a day, hidden ones included. */
    hadOn: (resource: ListedResource, day: Day): readonly Had[] =>
      byDay.get(`${resource} ${day}`) ?? [],
    /** Null for what it never had. */
    find: (id: string): Had | null => had.get(id) ?? null,
    /** Whether its month has ended by the platform's clock. */
    isOutOfWindow: ({ createdAt }: Had, at: Instant): boolean =>
      createdAt < windowStart(at, simulator().dialect()),
    wasInserted: (resource: ListedResource, id: string, createdAt: Instant): void =>
      add(resource, id, createdAt, simulator().clock.now()),
    wasHidden: (id: string): void => {
      const one = had.get(id);
      if (one !== undefined) one.hiddenAt = simulator().clock.now();
    },
    onPage: ({ resource, records }: SentPage): void => {
      for (const { id, text } of records) {
        const key = `${resource} ${id}`;
        const known = sent.get(key) ?? new Map<string, Instant>();
        sent.set(key, known.set(contentOf(text), simulator().clock.now()));
      }
    },
    /** Every content that a record was sent with, and when that was last, on the platform's clock. */
    sent: (resource: ListedResource, id: string): ReadonlyMap<string, Instant> =>
      sent.get(`${resource} ${id}`) ?? new Map<string, Instant>(),
  };
}
