// Who may read what: by a signature, a bearer key, the key alone, or by nobody's key where none is needed. Which of
// these follows from the address that is bound, never from the peer; a key that is present and wrong is refused
// everywhere (docs/http.md, "Who may read"). Pure but for the comparison of secrets.
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Instant, ProjectId } from '../model.ts';
import { sign } from '../platform/sign.ts';
import { targetOf, type Target } from '../platform/target.ts';
import { badRequest, forbidden, Refused, refusal, type Answer } from './http-answers.ts';

/** Who reads, and the projects that opens. Secrets come from the environment or a file, never from the database. */
export type ReaderKey = {
  key: string;
  /** Signs requests together with `key`; absent: this reader has a bearer key only. */
  secret?: string | undefined;
  /** Lower-case hex SHA-256 of the bearer key, which opens `/archive/v1`, `/metrics` and nothing else. */
  bearerSha256?: string | undefined;
  projects: readonly ProjectId[];
  /** May name operations to ask for: reading gives no right to write. False by default. */
  mayWatch?: boolean | undefined;
};

/** What somebody may do here. */
export type Opened = {
  projects: readonly ProjectId[];
  mayWatch: boolean;
  /** Of a signed request: the same signature is the same request. */
  signature?: string;
};

export type Gate = {
  /** Bound to loopback: then nobody from outside comes here. */
  isLoopback: boolean;
  keys: readonly ReaderKey[];
  /** The projects of whoever needs no key. */
  projects: readonly ProjectId[];
};

/** What is looked at of a request. `bodySha256` is of the body's bytes, where the method has one. */
type Asked = {
  target: Target;
  headers: IncomingHttpHeaders;
  now: Instant;
  bodySha256?: string | undefined;
};

export const askedBy = ({ raw, headers }: FastifyRequest, now: Instant): Asked => ({
  target: targetOf(raw.url ?? '/'),
  headers,
  now,
});

const toleranceMs = 15 * 60_000;

/** The one project of whoever asks by the platform's own paths, which are signed. Throws `Refused`. */
export const projectBySignature = (gate: Gate, asked: Asked): ProjectId =>
  onlyOneOf(
    isSigned(asked.headers) ? openedBySignature(gate, asked) : openedByNothing(gate, asked.headers),
  );

/** Whether a key pair is shown at all: then it must be right, wherever the server is bound. */
const isSigned = (headers: IncomingHttpHeaders): boolean =>
  textOf(headers['x-api-key']) !== '' || textOf(headers['x-signature']) !== '';

/** What is open to whoever shows no key, and so sits at this machine; null where one is needed. */
const openedByNothing = (gate: Gate, headers: IncomingHttpHeaders): Opened | null =>
  gate.isLoopback && !comesFromOutside(headers)
    ? { projects: gate.projects, mayWatch: true }
    : null;

const rightsOf = ({ projects, mayWatch = false }: ReaderKey): Opened => ({ projects, mayWatch });

/**
 * Who a signed request says it is from, while its time is near; null otherwise. What can be known of it before its body
 * has come: the signature is not looked at.
 */
function signerOf(gate: Gate, { headers, now }: Asked): (ReaderKey & { secret: string }) | null {
  const reader = readerOf(gate, textOf(headers['x-api-key']));
  const at = instantOf(textOf(headers['x-timestamp']));
  if (reader?.secret === undefined || at === null || Math.abs(at - now) > toleranceMs) return null;
  return { ...reader, secret: reader.secret };
}

/**
 * What a signed request opens; null for a signature that is wrong, or too old or too new. Where there is a body the
 * signature covers it, and one made for a request without a body is wrong.
 */
function openedBySignature(gate: Gate, asked: Asked): Opened | null {
  const { headers, bodySha256 } = asked;
  const { path, signed: query, isRepeated } = asked.target;
  const signer = signerOf(gate, asked);
  if (signer === null || isRepeated) return null;
  const timestamp = textOf(headers['x-timestamp']);
  // With a base URL that ends with a slash, Go's client signs `//v3/orders` as it is sent, Java's the path it knows.
  for (const signedPath of new Set([path, path.replaceAll(/\/{2,}/g, '/')])) {
    const { secret } = signer;
    const signature = sign({ path: signedPath, query, timestamp, secret, bodySha256 });
    if (isSame(signature, textOf(headers['x-signature'])))
      return { ...rightsOf(signer), signature };
  }
  return null;
}

/** Whose bearer key that is; null for a wrong one. Every key is compared, by its digest. */
export function readerByBearer(gate: Gate, authorization: string): ReaderKey | null {
  const [, given] = /^Bearer +([\w.~+/-]{1,512}=*)$/i.exec(authorization) ?? [];
  if (given === undefined) return null;
  const digest = hash('sha256', given, 'hex');
  const [reader] = gate.keys.filter(({ bearerSha256 }) => isSame(bearerSha256 ?? '', digest));
  return reader ?? null;
}

/** One with a secret: a bearer key's id opens nothing that is signed. */
const readerOf = (gate: Gate, key: string): ReaderKey | undefined =>
  gate.keys.find((one) => one.secret !== undefined && isSame(one.key, key));

/**
 * The same of whoever asks for tokens, who needs no signature (docs/platform.md §4.1-4.3 name no headers): beyond
 * loopback the key alone says who it is. The caller's further headers are not looked at.
 */
export function projectByKey(gate: Gate, headers: IncomingHttpHeaders): ProjectId {
  const key = textOf(headers['x-api-key']);
  return onlyOneOf(key === '' ? openedByNothing(gate, headers) : (readerOf(gate, key) ?? null));
}

function onlyOneOf(opened: Pick<Opened, 'projects'> | null): ProjectId {
  const [project, ...others] = orRefuse(opened, forbidden()).projects;
  if (project !== undefined && others.length === 0) return project;
  throw new Refused(
    badRequest(
      'several projects are served: ask with the key of one of them, or of a reader of one alone',
    ),
  );
}

/**
 * What this reader may do in `/archive/v1`. Throws `Refused`: 403 for a key that is wrong, wherever we are bound, 401
 * where one is needed.
 */
export function openedTo(gate: Gate, asked: Asked): Opened {
  const { headers } = asked;
  const { authorization } = headers;
  if (isSigned(headers)) {
    if (authorization === undefined) return orRefuse(openedBySignature(gate, asked), forbidden());
    throw new Refused(badRequest('send a bearer key or a signature, not both'));
  }
  if (authorization === undefined) {
    const sentence = 'a key is needed here: Authorization: Bearer …, or a signed request';
    return orRefuse(openedByNothing(gate, headers), refusal(401, 'UNAUTHORIZED', sentence));
  }
  return rightsOf(orRefuse(readerByBearer(gate, authorization), forbidden()));
}

function orRefuse<T>(found: T | null, answer: Answer): T {
  if (found === null) throw new Refused(answer);
  return found;
}

/**
 * Before a body is read: null for a signed request, whose signature covers the body. Throws `Refused` as `openedTo`
 * does.
 */
export function openedUnlessSigned(gate: Gate, asked: Asked): Opened | null {
  if (asked.headers.authorization !== undefined || !isSigned(asked.headers)) {
    return openedTo(gate, asked);
  }
  orRefuse(signerOf(gate, asked), forbidden());
  return null;
}

/** One that does not exist is answered like one that this reader may not read. Throws `Refused`. */
export function projectToRead(
  readable: readonly ProjectId[],
  named: string | undefined,
): ProjectId {
  if (named !== undefined) {
    if (readable.includes(named)) return named;
    throw new Refused(refusal(403, 'FORBIDDEN', 'you may read no project of this name'));
  }
  const [only, ...others] = readable;
  if (only !== undefined && others.length === 0) return only;
  throw new Refused(
    badRequest(
      only === undefined
        ? 'there is no project here to read'
        : `say which project with the parameter project; there are: ${readable.join(', ')}`,
    ),
  );
}

/**
 * A foreign name for this host, a proxy's word that somebody else asks, or a browser's that another site's page does.
 */
function comesFromOutside(headers: IncomingHttpHeaders): boolean {
  // What a browser says of who made it ask (Fetch Metadata): `none` is the person, by the address bar. Other programs
  // do not say.
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const isForwarded = Object.keys(headers).some((name) =>
    /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/.test(name),
  );
  return isForwarded || !isLoopbackHost(hostOf(textOf(headers.host)));
}

/** The name in a Host header, without its port; '' for what is no host. */
function hostOf(header: string): string {
  const [, address, name] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header) ?? [];
  return address ?? name ?? '';
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
