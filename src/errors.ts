// Errors, grouped by what the catcher does next. Classes are used for errors only.
//   transient  try again later              fatal     stop and say why
//   settings   tell the person what to do   (a reject is data, not an error: see model.ts)
import { inspect } from 'node:util';

export type ErrorKind = 'transient' | 'fatal' | 'settings';

/** An error we raise ourselves: a stable `code`, a sentence for people, and what to do about it (`kind`). */
export class OutlastError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;

  constructor(kind: ErrorKind, code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'OutlastError';
    this.kind = kind;
    this.code = code;
  }
}

export const transient = (code: string, message: string, cause?: unknown): OutlastError =>
  new OutlastError('transient', code, message, { cause });

export const fatal = (code: string, message: string, cause?: unknown): OutlastError =>
  new OutlastError('fatal', code, message, { cause });

/** Bad arguments or settings: the message says what is wrong and what to do. Exit code 2. */
export const settingsError = (code: string, message: string, cause?: unknown): OutlastError =>
  new OutlastError('settings', code, message, { cause });

/** Whether we raised it and, where codes are given, with one of them. */
export function isOutlastError(error: unknown, ...codes: string[]): error is OutlastError {
  return error instanceof OutlastError && (codes.length === 0 || codes.includes(error.code));
}

/**
 * The SQLSTATE of a database error, or a network error's code, also where a library wrapped it; undefined for anything
 * else.
 */
export const codeOf = (error: unknown): string | undefined => codedCause(error)?.code;

/** The first of `error` and its causes that has a code. */
export function codedCause(error: unknown): { code: string } | undefined {
  let current: unknown = error;
  // A chain may be circular in foreign errors; eight links say enough.
  for (let i = 0; i < 8 && typeof current === 'object' && current !== null; i++) {
    if ('code' in current && typeof current.code === 'string') return current as { code: string };
    current = 'cause' in current ? current.cause : undefined;
  }
  return undefined;
}

/** An error and its causes as one line of sentences, for a log field or a terminal. */
export function causeChain(error: unknown): string {
  const parts: string[] = [];
  let current: unknown = error;
  // A chain may be circular in foreign errors; eight links say enough.
  for (let i = 0; i < 8 && current !== undefined && current !== null; i++) {
    parts.push(current instanceof Error ? current.message : inspect(current));
    current = current instanceof Error ? current.cause : undefined;
  }
  return (
    parts
      .filter((part, i) => part !== '' && part !== parts[i - 1])
      // A sentence that a cause follows ends with the colon instead of its full stop.
      .map((part, i, all) => (i < all.length - 1 ? part.replace(/\.$/, '') : part))
      .join(': ')
  );
}

/** Exit codes of every command (README.md, "Use it"). */
export const exitCode = { done: 0, failed: 1, usage: 2, tryLater: 75 } as const;

/** The exit code that an error ending a command stands for. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof OutlastError)) return exitCode.failed;
  if (error.kind === 'settings') return exitCode.usage;
  return error.kind === 'transient' ? exitCode.tryLater : exitCode.failed;
}

const passing: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED:
    'it has expired. Renew it on the server, or set the clock of this machine right',
  CERT_NOT_YET_VALID: 'it is not valid yet. Set the clock of this machine right',
};

/** Codes of OpenSSL's verification, as Node gives them. */
const noAuthority = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/**
 * Why a certificate is not accepted, as the end of that sentence, without a full stop; null for codes of anything else.
 * `advice`: what to do where the authority is not known, and where the host is another.
 */
export function certificateProblem(
  code: string,
  advice: { authority: string; host: string },
): string | null {
  const reason = noAuthority.includes(code)
    ? `no authority that is known here has signed it. ${advice.authority}`
    : code === 'ERR_TLS_CERT_ALTNAME_INVALID'
      ? `it was made out to another host. ${advice.host}`
      : passing[code];
  return reason === undefined ? null : `(${code}): ${reason}`;
}
