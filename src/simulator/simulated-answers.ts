// How the simulator answers: its error codes, in the envelopes of both groups, and what a router says.
export type SimulatedAnswer = {
  status: number;
  body: string;
  headers?: Record<string, string>;
};

export const ok = (body: string): SimulatedAnswer => ({ status: 200, body });

/** Group B's error envelope: all texts. */
export const refusal = (status: number, code: string, message: string): SimulatedAnswer => ({
  status,
  body: JSON.stringify({ error: { code_space: 'simulator', code, message } }),
});

export const badRequest = (message: string): SimulatedAnswer =>
  refusal(400, 'BAD_REQUEST', message);
export const notFound = (message: string): SimulatedAnswer => refusal(404, 'NOT_FOUND', message);
export const forbidden = (status = 403): SimulatedAnswer =>
  refusal(status, 'FORBIDDEN', 'authentication failed');

/** Group A's: a node's. */
export const nodeError = (status: number, message: string): SimulatedAnswer => ({
  status,
  body: JSON.stringify({ error: message }),
});

/** What a router says that knows no such path. */
export const noSuchPath: SimulatedAnswer = {
  status: 404,
  body: '404 page not found',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
};
