// What the platform is known to have had and to have shown, kept outside of the archive: the other side of every
// check. It follows the simulator's own record, never the archive.
import { createHash } from 'node:crypto';
import { dayOf } from '../../src/day.ts';
import { listedResources, type Day, type Instant, type ListedResource } from '../../src/model.ts';
import { byteBounds } from '../../src/platform/bytes.ts';
import { windowStart } from '../../src/simulator/query.ts';
import type { SentPage } from '../../src/simulator/options.ts';
import type { Simulator } from '../../src/simulator/server.ts';
import { instantIn } from '../../src/simulator/world.ts';
import { sorted } from '../support/differences.ts';

/** A record the platform had. */
export type Had = {
  id: string;
  createdAt: Instant;
  /** The slice that stands for it. */
  day: Day;
  /** When it came into being, on the platform's clock: later than its own time says where it was inserted late. */
  appearedAt: Instant;
  hiddenAt: Instant | null;
};

export type Memory = {
  /** Takes in what the platform shows at this moment. */
  look(): void;
  /** The slice that stands for a moment of creation, by the platform's reading of days. */
  sliceOf(createdAt: Instant): Day;
  /** The records of a slice, hidden ones included. */
  hadOn(resource: ListedResource, day: Day): readonly Had[];
  /** Null for what it never had. */
  find(id: string): Had | null;
  /** Whether its month has ended by the platform's clock. */
  isOutOfWindow(record: Had, at: Instant): boolean;
  wasInserted(resource: ListedResource, id: string, createdAt: Instant, at: Instant): void;
  wasHidden(resource: ListedResource, id: string, at: Instant): void;
  onPage: (page: SentPage) => void;
  /**
   * The contents (`contentOf`) this page of ids was sent with since a moment on the platform's clock, each by id; empty
   * where it was not. `rejects`: the digests of those that were too long to be held.
   */
  sentWith(
    resource: ListedResource,
    page: { ids: readonly string[]; rejects: readonly string[] },
    since: Instant,
  ): ReadonlyMap<string, string>[];
  /** The id of a record that was sent at too great a length, by the SHA-256 of its bytes, lower-case hex. */
  tooLong(sha256: string): string | null;
  /** Whether the platform ever showed this record with this content. */
  wasShown(resource: ListedResource, id: string, content: string): boolean;
};

const eightHoursMs = 8 * 3_600_000;
/** How far the platform's days are ahead of UTC's. */
const aheadMs = { utc: 0, ignored: 0, 'utc+8': eightHoursMs };
const timeField = { orders: 'create_time', nft_classes: 'timestamp' };

/** A content as text that is the same for equal JSON values. */
export function contentOf(text: string): string {
  return sorted(text);
}

type Sent = { records: SentPage['records']; lastAt: Instant };

const isTooLong = (text: string): boolean => Buffer.byteLength(text) > byteBounds.record;
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function createMemory(
  simulator: () => Pick<Simulator, 'oracle' | 'clock' | 'dialect'>,
): Memory {
  const had = { orders: new Map<string, Had>(), nft_classes: new Map<string, Had>() };
  const byDay = { orders: new Map<Day, Had[]>(), nft_classes: new Map<Day, Had[]>() };
  /** By resource and ids: every combination of texts the page was sent with. */
  const pages = new Map<string, Map<string, Sent>>();
  const shown = new Map<string, Set<string>>();
  const contents = new Map<string, string>();
  /** Ids of records that were sent at too great a length, by digest. */
  const cut = new Map<string, string>();

  const content = (text: string): string => {
    let known = contents.get(text);
    if (known === undefined) contents.set(text, (known = contentOf(text)));
    return known;
  };

  const sliceOf = (at: Instant): Day => {
    const { dates } = simulator().dialect();
    return dayOf(at + aheadMs[dates]);
  };

  function add(
    resource: ListedResource,
    id: string,
    createdAt: Instant,
    appearedAt: Instant,
  ): void {
    const day = sliceOf(createdAt);
    const one: Had = { id, createdAt, day, appearedAt, hiddenAt: null };
    had[resource].set(id, one);
    const ofDay = byDay[resource].get(day);
    if (ofDay === undefined) byDay[resource].set(day, [one]);
    else ofDay.push(one);
  }

  const find = (id: string): Had | undefined => had.orders.get(id) ?? had.nft_classes.get(id);

  function look(): void {
    for (const resource of listedResources) {
      const known = had[resource];
      for (const { id, text } of simulator().oracle.shown(resource)) {
        if (known.has(id)) continue;
        const record = JSON.parse(text) as Record<string, unknown>;
        const at = instantIn(record[timeField[resource]]);
        if (at === null) throw new Error(`the simulator wrote no time into ${resource} ${id}`);
        add(resource, id, at, at);
      }
    }
  }

  return {
    look,
    hadOn: (resource, day) => byDay[resource].get(day) ?? [],
    sliceOf,
    find: (id) => find(id) ?? null,
    isOutOfWindow: ({ createdAt }, at) => createdAt < windowStart(at, simulator().dialect()),
    wasInserted: (resource, id, createdAt, at) => add(resource, id, createdAt, at),
    wasHidden: (resource, id, at) => {
      const one = had[resource].get(id);
      if (one !== undefined) one.hiddenAt = at;
    },
    onPage: ({ resource, records: sentRecords }) => {
      // Of what is too long nothing but the digest is kept here: a page may hold megabytes of it.
      const rejects: string[] = [];
      const records = sentRecords.filter(({ id, text }) => {
        if (!isTooLong(text)) return true;
        const sha256 = digestOf(text);
        cut.set(sha256, id);
        rejects.push(sha256);
        return false;
      });
      const key = keyOf(
        resource,
        records.map(({ id }) => id),
        rejects,
      );
      let sent = pages.get(key);
      if (sent === undefined) pages.set(key, (sent = new Map()));
      const lastAt = simulator().clock.now();
      sent.set(records.map(({ text }) => text).join('\n'), { records, lastAt });
      for (const { id, text } of records) {
        const name = `${resource} ${id}`;
        const texts = shown.get(name);
        if (texts === undefined) shown.set(name, new Set([text]));
        else texts.add(text);
      }
    },
    sentWith: (resource, { ids, rejects }, since) =>
      [...(pages.get(keyOf(resource, ids, rejects))?.values() ?? [])]
        .filter(({ lastAt }) => lastAt >= since)
        .map(({ records }) => new Map(records.map(({ id, text }) => [id, content(text)]))),
    tooLong: (sha256) => cut.get(sha256) ?? null,
    wasShown: (resource, id, wanted) =>
      [...(shown.get(`${resource} ${id}`) ?? [])].some((text) => content(text) === wanted),
  };
}

const keyOf = (
  resource: ListedResource,
  ids: readonly string[],
  rejects: readonly string[],
): string => `${resource} ${[...new Set(ids)].join(' ')} ${[...new Set(rejects)].join(' ')}`;
