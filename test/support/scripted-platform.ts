// A real HTTP server on loopback that answers as a test tells it, for faults no decent platform has.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse, number: number) => void;

export type ScriptedPlatform = {
  url: string;
  /** Every request so far, in order. */
  requests: IncomingMessage[];
  close(): Promise<void>;
};

/** `handler` is told the request's number, the first being 1. */
export async function startScriptedPlatform(handler: Handler): Promise<ScriptedPlatform> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response, requests.length);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON text and whatever headers are given. */
export function answer(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}

export const emptyPage = '{"data":{"prev_page_key":"","next_page_key":"","order_infos":[]}}';

/** The platform's error envelope. */
export const errorBody = (code: string, message: string): string =>
  JSON.stringify({ error: { code_space: 'test', code, message } });
