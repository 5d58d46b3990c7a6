// Answers of the platform: the envelopes and error bodies, as text.

export type Answer = { status: number; body: string | Buffer; headers?: Record<string, string> };

export const ok = (body: string | Buffer): Answer => ({ status: 200, body });

/** Group B's error envelope: all texts. */
export const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: JSON.stringify({ error: { code_space: 'simulator', code, message } }),
});

export const badRequest = (message: string): Answer => refusal(400, 'BAD_REQUEST', message);
export const notFound = (message: string): Answer => refusal(404, 'NOT_FOUND', message);
export const forbidden = (): Answer => refusal(403, 'FORBIDDEN', 'authentication failed');

/** Group A's: a node's. */
export const nodeError = (status: number, message: string): Answer => ({
  status,
  body: JSON.stringify({ error: message }),
});

/** What a router says that knows no such path. */
export const noSuchPath: Answer = {
  status: 404,
  body: '404 page not found',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
};
