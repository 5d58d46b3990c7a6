// Answers in the platform's own shapes: its envelopes and its error body, all texts (docs/http.md, "The platform's own
// interface").

/** `body` in pieces: a record is sent as it was archived, also where its bytes are no valid UTF-8. */
export type Answer = {
  status: number;
  body: string | Buffer;
  headers?: Readonly<Record<string, string>>;
};

export const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: JSON.stringify({ error: { code_space: 'outlast', code, message } }),
});

export const badRequest = (message: string): Answer => refusal(400, 'BAD_REQUEST', message);
export const notFound = (message: string): Answer => refusal(404, 'NOT_FOUND', message);
/** As the platform says it: who may not read learns nothing more. */
export const forbidden = (): Answer => refusal(403, 'FORBIDDEN', 'authentication failed');
/** Long enough for a restart or a burst of long questions to be over. */
const retryAfterSeconds = 10;

/** 503 with `Retry-After`: what was asked makes sense, and may be answered later. */
export const unavailable = (message: string, code = 'INTERNAL_ERROR'): Answer => ({
  ...refusal(503, code, message),
  headers: { 'retry-after': String(retryAfterSeconds) },
});

/** Thrown where a parameter makes no sense; the server answers it. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('refused');
    this.name = 'Refused';
    this.answer = answer;
  }
}

export const refuse = (message: string): never => {
  throw new Refused(badRequest(message));
};

/** A list's answer: the envelope around records that stand as they were archived. */
export function listAnswer(
  head: Record<string, unknown>,
  listName: string,
  records: readonly { rawJson: string; rawBytes: Uint8Array | null }[],
): Answer {
  const opening = JSON.stringify(head).slice(0, -1);
  const parts: Uint8Array[] = [Buffer.from(`{"data":${opening},"${listName}":[`)];
  for (const [i, { rawJson, rawBytes }] of records.entries()) {
    if (i > 0) parts.push(Buffer.from(','));
    parts.push(rawBytes ?? Buffer.from(rawJson));
  }
  parts.push(Buffer.from(']}}'));
  return { status: 200, body: Buffer.concat(parts) };
}
