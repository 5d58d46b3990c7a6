// What the pages need beside themselves, served by us: the style, our script.
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { style } from './style.ts';

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1d5cb8"/><g fill="#fff"><rect x="3" y="3" width="4" height="4" rx="1"/><rect x="9" y="3" width="4" height="4" rx="1"/><rect x="3" y="9" width="4" height="4" rx="1"/><rect x="9" y="9" width="4" height="4" rx="1" opacity=".45"/></g></svg>';

/** The documentation of this package, from the sources as well as from dist/; none where it was left out. */
const docs = ['../../..', '../../../..']
  .map((up) => join(import.meta.dirname, up, 'docs'))
  .find((folder) => existsSync(join(folder, 'see.md')));

const file = (type: string, ...path: string[]) => ({
  type,
  text: () => readFileSync(join(...path)),
});

const files: Readonly<Record<string, { type: string; text: () => string | Buffer }>> = {
  'style.css': { type: 'text/css', text: () => style },
  'icon.svg': { type: 'image/svg+xml', text: () => icon },
  'page.js': file('text/javascript', import.meta.dirname, 'browser/page.js'),
  ...Object.fromEntries(
    (docs === undefined ? [] : readdirSync(docs))
      .filter((name) => name.endsWith('.md'))
      .map((name) => [`docs/${name}`, file('text/plain', docs ?? '', name)]),
  ),
};

export function addFiles(app: FastifyInstance): void {
  for (const [name, { type, text }] of Object.entries(files)) {
    app.get(`/web/${name}`, (request, reply) => {
      const body = text();
      const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
      void reply.headers({
        etag,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      });
      return request.headers['if-none-match'] === etag
        ? reply.code(304).send()
        : reply.type(`${type}; charset=utf-8`).send(body);
    });
  }
}
