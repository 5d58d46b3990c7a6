// What a simulator can be told: the options it starts with. The handle that its owner holds is what
// simulator-server.ts gives back.
import type { Instant, ListedResource } from '../model.ts';
import type { Dialect } from './dialect.ts';
import type { Faults } from './faults.ts';
import type { Literal } from './simulated-list.ts';
import type { LiteralToken, LiteralTransaction } from './simulated-lookups.ts';
import type { ShownRecord } from './simulated-pages.ts';
import type { World } from './world.ts';

/** Several key pairs may carry one name: then they open one project, as after a rotation. */
export type SimulatorProject = { apiKey: string; apiSecret: string; name: string };

/** Fake on sight: what a demo and a test use. */
export const demoProject: SimulatorProject = {
  apiKey: 'demo-key-not-a-secret',
  apiSecret: 'demo-secret-not-a-secret',
  name: 'demo',
};

/** Records given literally: each resource named here has these and no others. Orders are of the first project. */
export type LiteralRecords = {
  orders?: readonly Literal[];
  classes?: readonly Literal[];
  transactions?: Readonly<Record<string, LiteralTransaction>>;
  tokens?: readonly LiteralToken[];
};

export type SimulatorOptions = {
  /** 0 (standard) takes a free one. */
  port?: number;
  host?: string;
  seed?: number;
  /** Standard: one, `demoProject`. */
  projects?: readonly SimulatorProject[];
  world?: Partial<World>;
  records?: LiteralRecords;
  /** Real time in milliseconds; `Date.now` unless given. */
  now?: () => number;
  /** The simulator's clock starts here instead of at real time, and runs at `speed` (1; 0 stands still). */
  startAt?: Instant;
  speed?: number;
  dialect?: Partial<Dialect>;
  faults?: Partial<Faults>;
  /** Every answer takes so much longer. */
  latencyMs?: number;
  /** Told of every page of a list that left whole, its faults included. */
  onPage?: (page: SentPage) => void;
  /** Told in lines of each alert and heartbeat that arrived to practise on. */
  onReceived?: (lines: string[]) => void;
};

/** A page as it was sent: its records as exact JSON texts, in the order shown. */
export type SentPage = { resource: ListedResource; records: ShownRecord[] };

/** One request; `fault` names those that hit it. No header is kept: they hold keys (P10). */
export type LoggedRequest = {
  /** On the simulator's clock. */
  at: Instant;
  /** In real time, milliseconds: what a rate is measured by. */
  receivedAt: number;
  method: string;
  path: string;
  query: string;
  /** 0 where nothing was answered. */
  status: number;
  fault?: string;
  project?: string;
};
