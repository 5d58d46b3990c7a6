// An archive served over HTTP on a free port of loopback, for the project `p` and nobody's key by default.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { serve, type Served, type ServerOptions } from '../../src/http/server.ts';
import type { Archive } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';

export async function serveArchive(
  archive: Archive,
  more: Partial<ServerOptions> = {},
): Promise<Served> {
  const served = await serve({
    archive,
    host: '127.0.0.1',
    port: 0,
    keys: [],
    projects: [{ id: 'p', classesOf: 'p' }],
    log: silentLog(),
    now: Date.now,
    ...more,
  });
  // Also where it is bound to every address, a test asks it by this one.
  return { ...served, url: served.url.replace('0.0.0.0', '127.0.0.1') };
}

/** What is answered with 200. */
export async function textAt(url: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${text}`);
  return text;
}

/** Resolves when a server of this process has begun to answer the next GET. */
export const nextGetBegun = (): Promise<void> =>
  new Promise((resolve) => {
    const look = (message: unknown): void => {
      if ((message as { request: IncomingMessage }).request.method !== 'GET') return;
      unsubscribe('http.server.request.start', look);
      resolve();
    };
    subscribe('http.server.request.start', look);
  });

/**
 * A page's HTML with its links as paths of the server: they lead from the page itself, so that they keep the path of a
 * reverse proxy. That they do is for `web.pg.test.ts`.
 */
export const withPaths = (html: string): string =>
  html.replaceAll(/ (href|src|action|data-live)="(?:\.\/|(?:\.\.\/)+)/g, ' $1="/');
