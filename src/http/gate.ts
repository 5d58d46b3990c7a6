// Who may read what. Whether a signature is needed follows from the address that is bound, never from the peer; one that is
// present and wrong is refused everywhere (docs/design.md, "Who needs one"). Pure but for the comparison of secrets.
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Instant, ProjectId } from '../model.ts';
import { sign } from '../platform/sign.ts';
import type { Target } from '../platform/target.ts';

/** A pair of key and secret and the projects it opens. Secrets come from the environment or a file, never from the database. */
export type ReaderKey = { key: string; secret: string; projects: readonly ProjectId[] };

export type Gate = {
  /** Bound to loopback: then nobody from outside comes here. */
  isLoopback: boolean;
  keys: readonly ReaderKey[];
  /** The projects of whoever needs no key. */
  projects: readonly ProjectId[];
};

export type Admission =
  | { kind: 'project'; project: ProjectId }
  | { kind: 'forbidden' }
  /** Nothing says which project is meant. */
  | { kind: 'unnamed' };

const toleranceMs = 15 * 60_000;

export function admit(
  gate: Gate,
  target: Target,
  headers: IncomingHttpHeaders,
  now: Instant,
): Admission {
  const key = textOf(headers['x-api-key']);
  const signature = textOf(headers['x-signature']);
  if (key === '' && signature === '') {
    if (!gate.isLoopback || comesFromOutside(headers)) return { kind: 'forbidden' };
    return onlyOneOf(gate.projects);
  }
  const reader = gate.keys.find((one) => isSame(one.key, key));
  if (reader === undefined) return { kind: 'forbidden' };
  const timestamp = textOf(headers['x-timestamp']);
  const at = instantOf(timestamp);
  if (at === null || Math.abs(at - now) > toleranceMs) return { kind: 'forbidden' };
  const { path, signed: query } = target;
  const expected = sign({ path, query, timestamp, secret: reader.secret });
  return isSame(expected, signature) ? onlyOneOf(reader.projects) : { kind: 'forbidden' };
}

/**
 * Whoever asks for tokens needs no signature (interface.md §4.1-4.3 name no headers): beyond loopback the key alone says
 * who it is. The caller's further headers are not looked at.
 */
export function admitByKey(gate: Gate, headers: IncomingHttpHeaders): Admission {
  const key = textOf(headers['x-api-key']);
  if (key === '') {
    if (!gate.isLoopback || comesFromOutside(headers)) return { kind: 'forbidden' };
    return onlyOneOf(gate.projects);
  }
  const reader = gate.keys.find((one) => isSame(one.key, key));
  return reader === undefined ? { kind: 'forbidden' } : onlyOneOf(reader.projects);
}

function onlyOneOf([project, ...others]: readonly ProjectId[]): Admission {
  return project === undefined || others.length > 0
    ? { kind: 'unnamed' }
    : { kind: 'project', project };
}

/** A foreign name for this host, or a proxy's word that somebody else asks. */
export function comesFromOutside(headers: IncomingHttpHeaders): boolean {
  const isForwarded = Object.keys(headers).some(
    (name) => name === 'forwarded' || name.startsWith('x-forwarded-'),
  );
  return isForwarded || !isLoopbackHost(hostOf(textOf(headers.host)));
}

/** The name in a Host header, without its port. */
function hostOf(header: string): string {
  return header.startsWith('[')
    ? header.slice(1, header.indexOf(']'))
    : (header.split(':')[0] ?? '');
}

export const isLoopbackHost = (host: string): boolean =>
  /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/i.test(host);

/** Milliseconds, or seconds as some clients send. */
function instantOf(timestamp: string): Instant | null {
  if (/^\d{13}$/.test(timestamp)) return Number(timestamp);
  return /^\d{10}$/.test(timestamp) ? Number(timestamp) * 1000 : null;
}

const textOf = (value: string | string[] | undefined): string =>
  typeof value === 'string' ? value : '';

/** In a time that tells nothing of where they differ. */
function isSame(expected: string, given: string): boolean {
  const [a, b] = [hash('sha256', expected, 'buffer'), hash('sha256', given, 'buffer')];
  return timingSafeEqual(a, b);
}
