// What the platform says when it refuses, as an error: answers that asking again will not change.
import { OutlastError } from '../errors.ts';
import { decodeUtf8 } from './bytes.ts';
import { storable } from './canonical.ts';
import { isObject, parseJson, type Json } from './json.ts';

/** The platform's own words: HTTP status, and `code` and `message` of its error body where it has one. */
type Refusal = { status: number; code: string | null; message: string | null };

/** `platform_refused` or `platform_forbidden`, with the platform's own words. */
export class RefusalError extends OutlastError {
  readonly refusal: Refusal;

  constructor(code: 'platform_refused' | 'platform_forbidden', message: string, refusal: Refusal) {
    super('fatal', code, message);
    this.refusal = refusal;
  }
}

/** `platform_unavailable` or `platform_unusable` after the last attempt. */
export class UnansweredError extends OutlastError {
  /** HTTP status of the last answer; null where there was none. */
  readonly status: number | null;

  constructor(
    code: 'platform_unavailable' | 'platform_unusable',
    message: string,
    status: number | null,
  ) {
    super('transient', code, message);
    this.status = status;
  }
}

/** Whether the platform refused this question or did not answer it: that says nothing of other questions. */
export const isPlatformError = (error: unknown): error is OutlastError =>
  error instanceof OutlastError && error.code.startsWith('platform_');

/** The refusal an error carries; null for any other error. */
export const refusalOf = (error: unknown): Refusal | null =>
  error instanceof RefusalError ? error.refusal : null;

/** The longest piece of foreign text that goes into an error. */
const maxQuotedLength = 300;

/**
 * Makes foreign text fit for errors, logs and tables: a platform may quote what it refuses, so the pair's key and
 * secret and whatever looks like a signature are blotted out (P10); and what Postgres cannot hold becomes U+FFFD.
 */
export function createHide(...secrets: string[]): (text: string) => string {
  return (text) => {
    let hidden = text;
    for (const secret of secrets) hidden = hidden.replaceAll(secret, '[hidden]');
    // Last, for a cut may part a pair of surrogates.
    return storable(hidden.replaceAll(/[0-9a-f]{64}/gi, '[hidden]').slice(0, maxQuotedLength));
  };
}

/** The `error` of a body; undefined where it is HTML or bare text, or has none. */
export function errorIn(body: Buffer): Json | undefined {
  try {
    const envelope = parseJson(decodeUtf8(body));
    return isObject(envelope) ? envelope.fields.get('error') : undefined;
  } catch {
    return undefined;
  }
}

/** Reads `{"error":{"code","message"}}` leniently; of a body of another shape the status is all it says. */
export function readRefusal(status: number, body: Buffer, hide: (text: string) => string): Refusal {
  const error = errorIn(body);
  const said = (value: Json | undefined): string | null =>
    typeof value === 'string' ? hide(value) : null;
  if (!isObject(error)) return { status, code: null, message: said(error) };
  return {
    status,
    code: said(error.fields.get('code')),
    message: said(error.fields.get('message')),
  };
}

/** A refusal as the end of a sentence: `403 FORBIDDEN "authentication failed"`. */
export function refusalText({ status, code, message }: Refusal): string {
  return [status, code, message === null ? null : JSON.stringify(message)]
    .filter((part) => part !== null)
    .join(' ');
}
