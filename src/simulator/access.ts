// Who may read group B: key, timestamp and signature (docs/platform.md §5).
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Instant } from '../model.ts';
import { sign } from '../platform/sign.ts';
import type { Target } from '../platform/target.ts';
import { badRequest, forbidden, type SimulatedAnswer } from './page.ts';

/** Several key pairs may carry one name: then they open one project, as after a rotation. */
export type SimulatorProject = { apiKey: string; apiSecret: string; name: string };

export function projectOfCaller(
  { path, signed }: Target,
  headers: IncomingHttpHeaders,
  projects: ReadonlyMap<string, SimulatorProject>,
  now: Instant,
  toleranceMs: number,
): SimulatorProject | SimulatedAnswer {
  const project = projects.get(textOf(headers['x-api-key']));
  const timestamp = textOf(headers['x-timestamp']);
  if (project === undefined || !/^\d{13}$/.test(timestamp)) return forbidden();
  if (toleranceMs > 0 && Math.abs(Number(timestamp) - now) > toleranceMs) return forbidden();
  const expected = sign({ path, query: signed, timestamp, secret: project.apiSecret });
  if (!isSame(expected, textOf(headers['x-signature']))) return forbidden();
  if (!textOf(headers['content-type']).startsWith('application/json')) {
    return badRequest('Content-Type must be application/json');
  }
  return project;
}

const textOf = (value: string | string[] | undefined): string =>
  typeof value === 'string' ? value : '';

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
