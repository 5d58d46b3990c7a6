// The simulated platform without HTTP: its world, its lists by project, who may read them (docs/platform.md §5), and
// which endpoint answers a path.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Day, Instant, ListedResource } from '../model.ts';
import { sign } from '../platform/sign.ts';
import type { Target } from '../platform/target.ts';
import { badRequest, forbidden, noSuchPath, type SimulatedAnswer } from './simulated-answers.ts';
import { createSimulatedTokens, createSimulatedTransactions } from './simulated-lookups.ts';
import { classSource } from './classes.ts';
import type { Dialect } from './dialect.ts';
import { createList, type RecordList, type Selection } from './simulated-list.ts';
import type { LiteralRecords, SimulatorProject } from './simulator-options.ts';
import { orderSource } from './simulated-orders.ts';
import {
  simulatedClassesPage,
  simulatedOrdersPage,
  type PageContext,
  type ShownRecord,
  type SimulatedPage,
} from './simulated-pages.ts';
import { BadQuery, windowStart } from './list-query.ts';
import { mix, type World } from './world.ts';

export type Answered = {
  answer: SimulatedPage | SimulatedAnswer;
  project: SimulatorProject | null;
};

export function createSimulatedPlatform(context: {
  seed: number;
  world: World;
  projects: readonly SimulatorProject[];
  records: LiteralRecords;
  clock: { now(): Instant };
  dialect: () => Dialect;
}) {
  const { seed, world, projects, records, clock, dialect } = context;
  const byKey = new Map(projects.map((project) => [project.apiKey, project]));
  const names = [...new Set(projects.map(({ name }) => name))];
  const keySeed = mix(seed, 0x6e75);
  const createdAt = clock.now();

  // The first project has the orders that were written out, if there are any, and the others none then.
  const ofProjects = names.map((name, i) => {
    const source = orderSource(seed, name, world, dialect);
    const literals = i === 0 ? records.orders : records.orders && [];
    return {
      orders: createList(source, () => dialect().ties, literals, createdAt),
      transactions: createSimulatedTransactions(seed, name, world, records.transactions),
    };
  });
  const classes = createList(
    classSource(seed, world, dialect),
    // The platform breaks ties of classes in one way only: as they were made.
    () => 'insertion',
    records.classes,
    createdAt,
  );
  const tokens = createSimulatedTokens(seed, world, records.tokens);

  function of(name = names[0] ?? ''): (typeof ofProjects)[number] {
    const one = ofProjects[names.indexOf(name)];
    if (one === undefined) throw new RangeError('the simulator has no project');
    return one;
  }

  function answerGroupB(
    { path, query }: Target,
    { name }: SimulatorProject,
    request: number,
    now: Instant,
  ): SimulatedPage | SimulatedAnswer {
    const how: PageContext = { now: now - dialect().lagMs, dialect: dialect(), keySeed, request };
    if (path === '/v3/orders') return simulatedOrdersPage(query, of(name).orders, how);
    if (path === '/v1beta1/nft/classes') return simulatedClassesPage(query, classes, how);
    const [, version, id = ''] = /^\/(v1beta1|v3\/native)\/tx\/([^/]+)$/.exec(path) ?? [];
    if (version === undefined) return noSuchPath;
    const shape = version === 'v1beta1' ? 'v1beta1' : 'v3';
    return of(name).transactions.answer(shape, id, now, how.dialect);
  }

  /** All classes, or the first project's orders. */
  const list = (resource: ListedResource): RecordList<never> =>
    resource === 'orders' ? of().orders : classes;

  function allShown(resource: ListedResource): Selection {
    const now = clock.now();
    const { ordersWindow, classesWindow } = dialect();
    const hasWindow = resource === 'orders' ? ordersWindow : classesWindow;
    const from = hasWindow ? windowStart(now, dialect()) : -Infinity;
    return list(resource).select(from, Infinity, null, now);
  }

  /** What the platform knows of itself; of its projects the first. */
  const oracle = {
    /** What it shows now, in its window, as exact JSON texts, oldest first. */
    shown: function* (resource: ListedResource): Generator<ShownRecord> {
      const now = clock.now();
      const selection = allShown(resource);
      for (let rank = 0; rank < selection.total; rank++) {
        const entry = selection.at(rank);
        yield { id: entry.id, text: list(resource).textOf(entry, now) };
      }
    },
    count: (resource: ListedResource): number => allShown(resource).total,
    /** Ids to look transactions up by, oldest first; of today also those still to come. */
    operationIds: (day: Day): string[] => of().transactions.idsOn(day),
  };

  return {
    list,
    oracle,
    /** `behindMs`: as it was so long ago, though the request is let in or not by the clock of now. */
    answer: (
      target: Target,
      headers: IncomingHttpHeaders,
      request: number,
      behindMs: number,
    ): Answered => {
      const { path, query } = target;
      const now = clock.now();
      if (path === '/token/tokens' || path.startsWith('/token/tokens/')) {
        return { answer: tokens(path, query.get('owner'), now, dialect()), project: null };
      }
      if (!/^\/(?:v3|v1beta1)\//.test(path)) return { answer: noSuchPath, project: null };
      const project = byKey.get(textOf(headers['x-api-key']));
      if (project === undefined || !isSigned(target, headers, project, now)) {
        return { answer: forbidden(), project: null };
      }
      if (!textOf(headers['content-type']).startsWith('application/json')) {
        return { answer: badRequest('Content-Type must be application/json'), project };
      }
      try {
        return { answer: answerGroupB(target, project, request, now - behindMs), project };
      } catch (error) {
        if (error instanceof BadQuery) return { answer: badRequest(error.message), project };
        throw error;
      }
    },
    /** After a switch that changes the order. */
    refresh: () => {
      for (const { orders } of ofProjects) orders.refresh();
      classes.refresh();
    },
  };

  function isSigned(
    { path, signed }: Target,
    headers: IncomingHttpHeaders,
    { apiSecret: secret }: SimulatorProject,
    now: Instant,
  ): boolean {
    const timestamp = textOf(headers['x-timestamp']);
    if (!/^\d{13}$/.test(timestamp)) return false;
    if (Math.abs(Number(timestamp) - now) > toleranceMs) return false;
    const expected = Buffer.from(sign({ path, query: signed, timestamp, secret }));
    const given = Buffer.from(textOf(headers['x-signature']));
    return expected.length === given.length && timingSafeEqual(expected, given);
  }
}

/** `X-Timestamp` may be off by so much. */
const toleranceMs = 300_000;

const textOf = (value: string | string[] | undefined): string =>
  typeof value === 'string' ? value : '';
