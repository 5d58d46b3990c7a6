// What was asked and what was shown: for tests that ask "was the platform treated gently" and "is everything it
// ever showed kept". Both bounded.
import type { Instant, ListedResource } from '../model.ts';

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

export type RequestLog = {
  /** The newest ones, oldest first. */
  recent(): LoggedRequest[];
  /** All, also those no longer among the newest. */
  total: number;
  byStatus: Record<string, number>;
  byPath: Record<string, number>;
  clear(): void;
};

const maxRequests = 5000;

export function createRequestLog(): RequestLog & { add(request: LoggedRequest): void } {
  let ring: LoggedRequest[] = [];
  const log = {
    total: 0,
    byStatus: {} as Record<string, number>,
    byPath: {} as Record<string, number>,
    recent: () => {
      const oldest = log.total % maxRequests;
      return ring.length < maxRequests
        ? [...ring]
        : [...ring.slice(oldest), ...ring.slice(0, oldest)];
    },
    add: (request: LoggedRequest) => {
      ring[log.total++ % maxRequests] = request;
      log.byStatus[request.status] = (log.byStatus[request.status] ?? 0) + 1;
      // Lookups carry an id in their path: counted together.
      const path = request.path.replace(/^(\/\w+(?:\/native)?\/tx\/).*/, '$1');
      log.byPath[path] = (log.byPath[path] ?? 0) + 1;
    },
    clear: () => {
      ring = [];
      log.total = 0;
      log.byStatus = {};
      log.byPath = {};
    },
  };
  return log;
}

/** Every text each id was ever shown with, by project ('' for classes) and resource. */
export type ShownLog = {
  add(resource: ListedResource, project: string, id: string, text: string): void;
  of(resource: ListedResource, project: string): ReadonlyMap<string, ReadonlySet<string>>;
  /** True once there was more than could be kept: then `of` proves nothing. */
  overflowed(): boolean;
};

export function createShownLog(maxTexts: number): ShownLog {
  const shown = new Map<string, Map<string, Set<string>>>();
  let texts = 0;
  let isOverflowed = false;
  return {
    add: (resource, project, id, text) => {
      const name = `${resource} ${project}`;
      let byId = shown.get(name);
      if (byId === undefined) shown.set(name, (byId = new Map()));
      let known = byId.get(id);
      if (known?.has(text) === true) return;
      if (texts >= maxTexts) {
        isOverflowed = true;
        return;
      }
      if (known === undefined) byId.set(id, (known = new Set()));
      known.add(text);
      texts++;
    },
    of: (resource, project) => shown.get(`${resource} ${project}`) ?? new Map(),
    overflowed: () => isOverflowed,
  };
}
