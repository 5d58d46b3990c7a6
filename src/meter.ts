// What a process counts of its own work, for `/metrics` (docs/monitoring.md). Whoever counts is passed in, like the
// log; to count must neither throw nor wait: no sync may fail of it.
import type { ProjectId, Resource } from './model.ts';

/** What came of one request to the platform, retries counted each by itself. */
export const requestOutcomes = [
  /** Answered, and the answer could be read. */
  'answered',
  /** Status 429. */
  'throttled',
  /** Another status that passes: 404 of a list, 408, 425, 5xx. */
  'failed',
  /** No whole answer: a time-out, or the connection. */
  'unreachable',
  /** Answered with what cannot be read, or is too long. */
  'unusable',
  /** Any other status: 401 and 403 above all. */
  'refused',
  /** Given up because the work was to stop. */
  'stopped',
] as const;
export type RequestOutcome = (typeof requestOutcomes)[number];

export const runOutcomes = ['done', 'idle', 'left', 'parked', 'stopped', 'failed'] as const;
export type RunOutcome = (typeof runOutcomes)[number];

/** Of what was committed together. */
export type RecordsCounted = {
  /** Records that pages or answers showed, also those held before. */
  shown: number;
  inserted: number;
  changed: number;
  rejected: number;
};

/** Counts for one project. */
export type ProjectMeter = {
  /** `seconds` from sending to the answer read. */
  request(outcome: RequestOutcome, seconds: number): void;
  /** Before a request, for the rate limit. */
  waited(seconds: number): void;
  records(resource: Resource, counted: RecordsCounted): void;
  /** Another process took the project. */
  leaseLost(): void;
  run(outcome: RunOutcome): void;
};

export type Meter = {
  of(project: ProjectId): ProjectMeter;
  /** `seconds` from its begin to its end, without the wait for a connection. */
  transaction: (this: void, isCommitted: boolean, seconds: number) => void;
  /** An export on schedule has ended. */
  exported: (this: void, isDone: boolean) => void;
};
