// Signing in with a bearer key: what it opens is remembered in a cookie, which opens the pages and what they read, and
// nothing that writes. The cookie says who and until when, sealed with what only the service knows, so that every
// replica reads it and no key is kept in a browser.
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Instant } from '../../model.ts';
import { readerByBearer, type Gate, type Opened, type ReaderKey } from '../access.ts';

export const cookieName = 'outlast_session';
/** A working day: whoever leaves a browser open does not leave it open for ever. */
export const sessionMs = 12 * 3_600_000;

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(gate: Gate) {
  // Every replica has the same keys. A secret of each project is among them, which no reader has.
  const sealing = hash(
    'sha256',
    gate.keys
      .map(({ key, secret = '' }) => JSON.stringify([key, secret]))
      .toSorted()
      .join('\n'),
    'buffer',
  );
  const sealOf = ({ key, bearerSha256 = '' }: ReaderKey, until: string): Buffer =>
    createHmac('sha256', sealing).update(`${until}\n${bearerSha256}\n${key}`).digest();
  return {
    /** The cookie for this key; null where it opens nothing. */
    begin: (bearerKey: string, now: Instant): string | null => {
      const reader = readerByBearer(gate, `Bearer ${bearerKey}`);
      if (reader === null) return null;
      const until = String(now + sessionMs);
      return `${until}.${sealOf(reader, until).toString('base64url')}`;
    },
    /** What the cookie of these headers opens; null where there is none, or one that is forged or over. */
    openedBy: (headers: IncomingHttpHeaders, now: Instant): Opened | null => {
      const [, until = '', seal = ''] =
        /^(\d{13})\.([\w-]{43})$/.exec(cookieOf(headers, cookieName) ?? '') ?? [];
      if (until === '' || Number(until) <= now || Number(until) > now + sessionMs) return null;
      const given = Buffer.from(seal, 'base64url');
      const [reader] = gate.keys.filter(
        (one) => one.bearerSha256 !== undefined && timingSafeEqual(sealOf(one, until), given),
      );
      return reader === undefined ? null : { projects: reader.projects, mayWatch: false };
    },
  };
}

/** The value of a cookie, as the browser sent it. */
export function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  return cookie
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}

const tries = 10;
const overMs = 60_000;
/** Addresses remembered: beyond it the oldest is forgotten. */
const mostAddresses = 10_000;

/** Ten wrong keys a minute from one address, so that nobody can keep the others out; a proxy's clients share its own. */
export function createThrottle() {
  const wrong = new Map<string, Instant[]>();
  const lately = (from: string, now: Instant): Instant[] =>
    (wrong.get(from) ?? []).filter((at) => at > now - overMs && at <= now);
  return {
    isFull: (from: string, now: Instant): boolean => lately(from, now).length >= tries,
    add(from: string, now: Instant): void {
      const times = [...lately(from, now), now];
      wrong.delete(from);
      wrong.set(from, times);
      const [oldest] = wrong.keys();
      if (wrong.size > mostAddresses && oldest !== undefined) wrong.delete(oldest);
    },
  };
}
