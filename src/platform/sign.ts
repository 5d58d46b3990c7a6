// The platform's request signature (docs/platform.md §5). Pure: no clock, no network.
// How Params is composed the platform does not say; it is what public clients do, and stands in
// one function, `paramsText`, so that another deployment's way is one small change.
import { hash } from 'node:crypto';
import { compareUtf8 } from './bytes.ts';

/** What a signature covers. `timestamp` is the exact decimal text sent as X-Timestamp, epoch milliseconds. */
type Signable = {
  /** The path alone, version segment included: no host, no `?`. */
  path: string;
  /** Decoded parameters, each value as text. Leave out what is not sent: client libraries disagree on empty ones. */
  query: Record<string, string>;
  timestamp: string;
  secret: string;
  /** Of a request with a body, which the platform has none of: lower-case hex SHA-256 of its bytes. */
  bodySha256?: string | undefined;
};

/**
 * Params: one flat object of `path_url` and `query_<name>` as compact JSON, keys in ascending byte order,
 * every value a string; `& < > /` and non-ASCII stay as they are. Without parameters `{"path_url":"…"}`. A body is one
 * more parameter, `body_sha256`: no request without one has the text of a request with one.
 */
export function paramsText(
  path: string,
  query: Record<string, string>,
  bodySha256?: string,
): string {
  const body = bodySha256 === undefined ? '' : `"body_sha256":${JSON.stringify(bodySha256)},`;
  let text = `{${body}"path_url":${JSON.stringify(path)}`;
  // "body_sha256" sorts before "path_url", and "path_url" before every "query_…", so only the names need sorting.
  for (const name of Object.keys(query).toSorted(compareUtf8)) {
    text += `,${JSON.stringify(`query_${name}`)}:${JSON.stringify(query[name])}`;
  }
  return `${text}}`;
}

/** X-Signature: lower-case hex of SHA-256 over params + timestamp + secret (plain SHA-256, no HMAC). */
export function sign({ path, query, timestamp, secret, bodySha256 }: Signable): string {
  return hash('sha256', paramsText(path, query, bodySha256) + timestamp + secret, 'hex');
}

/** The four headers of a signed request. They hold the key: never log them (P10). */
export function signedHeaders(request: Signable & { apiKey: string }): Record<string, string> {
  return {
    // Expected on GET too, though there is no body.
    'content-type': 'application/json',
    'x-api-key': request.apiKey,
    'x-timestamp': request.timestamp,
    'x-signature': sign(request),
  };
}
