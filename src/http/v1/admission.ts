// Who may use `/archive/v1`: a bearer key, a signed request, or nobody's key where none is needed; and which project is
// meant.
import type { IncomingHttpHeaders } from 'node:http';
import type { Instant, ProjectId } from '../../model.ts';
import type { Target } from '../../platform/target.ts';
import { badRequest, forbidden, Refused, refusal } from '../http-answers.ts';
import {
  isSigned,
  openedByBearer,
  openedByNothing,
  openedBySignature,
  signerOf,
  type Gate,
  type Opened,
} from '../gate.ts';

/**
 * What this reader may do; `bodySha256` where the request has a body. Throws `Refused`: 403 for a key that is wrong,
 * wherever we are bound, 401 where one is needed.
 */
export function openedTo(
  gate: Gate,
  target: Target,
  headers: IncomingHttpHeaders,
  now: Instant,
  bodySha256?: string,
): Opened {
  const { authorization } = headers;
  if (authorization !== undefined && isSigned(headers)) {
    throw new Refused(badRequest('send a bearer key or a signature, not both'));
  }
  if (authorization !== undefined || isSigned(headers)) {
    const opened =
      authorization === undefined
        ? openedBySignature(gate, target, headers, now, bodySha256)
        : openedByBearer(gate, authorization);
    if (opened === null) throw new Refused(forbidden());
    return opened;
  }
  const opened = openedByNothing(gate, headers);
  if (opened !== null) return opened;
  throw new Refused(
    refusal(
      401,
      'UNAUTHORIZED',
      'a key is needed here: Authorization: Bearer …, or a signed request',
    ),
  );
}

/**
 * Before a body is read: null for a signed request, whose signature covers the body. Throws `Refused` as `openedTo`
 * does.
 */
export function openedUnlessSigned(
  gate: Gate,
  target: Target,
  headers: IncomingHttpHeaders,
  now: Instant,
): Opened | null {
  if (headers.authorization !== undefined || !isSigned(headers)) {
    return openedTo(gate, target, headers, now);
  }
  if (signerOf(gate, headers, now) === null) throw new Refused(forbidden());
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
