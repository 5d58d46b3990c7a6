// A real HTTP server on loopback that answers as a test tells it, for faults no decent platform has.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenHere } from './loopback.ts';

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
  const { port, close } = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close,
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
