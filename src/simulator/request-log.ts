// What was asked: for tests and benchmarks that ask whether the platform was treated gently.
import type { Instant } from '../model.ts';

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
  byPath: Record<string, number>;
  clear(): void;
};

const maxRequests = 5000;

export function createRequestLog(): RequestLog & { add(request: LoggedRequest): void } {
  let ring: LoggedRequest[] = [];
  const log = {
    total: 0,
    byPath: {} as Record<string, number>,
    recent: () => {
      const oldest = log.total % maxRequests;
      return ring.length < maxRequests
        ? [...ring]
        : [...ring.slice(oldest), ...ring.slice(0, oldest)];
    },
    add: (request: LoggedRequest) => {
      ring[log.total++ % maxRequests] = request;
      // Lookups carry an id in their path: counted together.
      const path = request.path.replace(/^(\/\w+(?:\/native)?\/tx\/).*/, '$1');
      log.byPath[path] = (log.byPath[path] ?? 0) + 1;
    },
    clear: () => {
      ring = [];
      log.total = 0;
      log.byPath = {};
    },
  };
  return log;
}
