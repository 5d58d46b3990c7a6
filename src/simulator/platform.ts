// The simulated platform without HTTP: its world, its lists by project, and which endpoint answers a path.
import type { IncomingHttpHeaders } from 'node:http';
import type { Instant, ListedResource } from '../model.ts';
import type { Target } from '../platform/target.ts';
import { projectOfCaller, type SimulatorProject } from './access.ts';
import { simulatedClassesPage } from './classes-page.ts';
import { classKind, classSource, type ClassFilter } from './classes.ts';
import type { SimulatorClock } from './clock.ts';
import type { Dialect } from './dialect.ts';
import { createList, type RecordList, type Selection } from './list.ts';
import { literalSource, type Literal } from './literals.ts';
import { simulatedOrdersPage } from './orders-page.ts';
import { orderKind, orderSource, type OrderFilter } from './orders.ts';
import { noSuchPath, type SimulatedAnswer, type SimulatedPage, type PageContext } from './page.ts';
import { windowStart } from './query.ts';
import type { ShelfSource } from './shelf.ts';
import { createSimulatedTokens, type LiteralToken } from './tokens.ts';
import {
  createSimulatedTransactions,
  type LiteralTransaction,
  type SimulatedTransactions,
} from './transactions.ts';
import { mix, type World } from './world.ts';

/** Records given literally: each resource named here has these and no others. */
export type LiteralRecords = {
  /** Of the first project, or by project name. */
  orders?: readonly Literal[] | Readonly<Record<string, readonly Literal[]>>;
  classes?: readonly Literal[];
  transactions?: Readonly<Record<string, LiteralTransaction>>;
  tokens?: readonly LiteralToken[];
};

export type Answered = {
  answer: SimulatedPage | SimulatedAnswer;
  project: SimulatorProject | null;
};

/** A record as the platform shows it at this moment. */
export type ShownRecord = { id: string; text: string };

export type SimulatedPlatform = {
  /**
   * `behindMs`: as it was so long ago, though the request is let in or not by the clock of now.
   */
  answer(
    target: Target,
    headers: IncomingHttpHeaders,
    request: number,
    behindMs?: number,
  ): Answered;
  orders(project: string): RecordList<OrderFilter>;
  classes: RecordList<ClassFilter>;
  transactions(project: string): SimulatedTransactions;
  /** All that an endless patient reader would be shown now, oldest first. */
  shown(resource: ListedResource, project: string): Generator<ShownRecord>;
  count(resource: ListedResource, project: string): number;
  /** After a switch that changes the order. */
  refresh(): void;
};

export function createSimulatedPlatform(context: {
  seed: number;
  world: World;
  projects: readonly SimulatorProject[];
  records: LiteralRecords;
  clock: SimulatorClock;
  dialect: () => Dialect;
}): SimulatedPlatform {
  const { seed, world, projects, records, clock, dialect } = context;
  const byKey = new Map(projects.map((project) => [project.apiKey, project]));
  const names = [...new Set(projects.map(({ name }) => name))];
  const keySeed = mix(seed, 0x6e75);
  const ties = (): Dialect['ties'] => dialect().ties;

  const orders = new Map(names.map((name, i) => [name, createList(ordersOf(name, i), ties)]));
  const transactions = new Map(
    names.map((name) => [
      name,
      createSimulatedTransactions(seed, name, world, records.transactions),
    ]),
  );
  const classes = createList(
    records.classes === undefined
      ? classSource(seed, world, dialect)
      : literalSource(records.classes, classKind, clock.now()),
    (): Dialect['ties'] => 'insertion',
  );
  const tokens = createSimulatedTokens(seed, world, records.tokens);

  function ordersOf(name: string, i: number): ShelfSource<OrderFilter> {
    if (records.orders === undefined) return orderSource(seed, name, world, dialect);
    const isList = (given: NonNullable<LiteralRecords['orders']>): given is readonly Literal[] =>
      Array.isArray(given);
    const own = isList(records.orders) ? (i === 0 ? records.orders : []) : records.orders[name];
    return literalSource(own ?? [], orderKind, clock.now());
  }

  function found<T>(map: ReadonlyMap<string, T>, name: string): T {
    const value = map.get(name);
    if (value === undefined) throw new RangeError(`the simulator has no project "${name}"`);
    return value;
  }

  function answerGroupB(
    target: Target,
    project: SimulatorProject,
    request: number,
    now: Instant,
  ): SimulatedPage | SimulatedAnswer {
    const { path, query } = target;
    const how: PageContext = { now: now - dialect().lagMs, dialect: dialect(), keySeed, request };
    if (path === '/v3/orders') return simulatedOrdersPage(query, found(orders, project.name), how);
    if (path === '/v1beta1/nft/classes') return simulatedClassesPage(query, classes, how);
    const lookup = /^\/(v1beta1|v3)(\/native)?\/tx\/([^/]+)$/.exec(path);
    if (lookup === null || (lookup[1] === 'v3') !== (lookup[2] !== undefined)) return noSuchPath;
    const version = lookup[1] === 'v3' ? 'v3' : 'v1beta1';
    return found(transactions, project.name).answer(version, lookup[3] ?? '', now, how.dialect);
  }

  function allShown(resource: ListedResource, project: string): Selection<never> {
    const now = clock.now();
    const { ordersWindow, classesWindow } = dialect();
    const hasWindow = resource === 'orders' ? ordersWindow : classesWindow;
    const from = hasWindow ? windowStart(now, dialect()) : -Infinity;
    const list = resource === 'orders' ? found(orders, project) : classes;
    return list.select(from, Infinity, null, now);
  }

  return {
    orders: (project) => found(orders, project),
    classes,
    transactions: (project) => found(transactions, project),
    answer: (target, headers, request, behindMs = 0) => {
      const { path, query } = target;
      if (path === '/token/tokens' || path.startsWith('/token/tokens/')) {
        const answer = tokens(path, query.get('owner'), clock.now(), dialect());
        return { answer, project: null };
      }
      if (!/^\/(?:v3|v1beta1)\//.test(path)) return { answer: noSuchPath, project: null };
      const project = projectOfCaller(target, headers, byKey, clock.now(), dialect().toleranceMs);
      if ('status' in project) return { answer: project, project: null };
      return { answer: answerGroupB(target, project, request, clock.now() - behindMs), project };
    },
    shown: function* (resource, project) {
      const now = clock.now();
      const selection = allShown(resource, project);
      for (let rank = 0; rank < selection.total; rank++) {
        const { shelf, k } = selection.at(rank);
        yield { id: shelf.idAt(k), text: shelf.textAt(k, now) };
      }
    },
    count: (resource, project) => allShown(resource, project).total,
    refresh: () => {
      for (const list of orders.values()) list.refresh();
      classes.refresh();
    },
  };
}
