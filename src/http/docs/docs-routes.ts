// `/openapi.json` and `/docs`: what can be asked here. They tell nothing of what is archived, and so need no key.
import type { FastifyInstance } from 'fastify';
import { openApi, type ServerTerms } from './openapi.ts';
import { docsPage, docsPolicy } from './page.ts';

export function addDocs(app: FastifyInstance, told: ServerTerms): void {
  const document = openApi(told);
  const json = JSON.stringify(document);
  const page = docsPage(document);
  const headers = {
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
  app.get('/openapi.json', (_request, reply) =>
    reply.headers(headers).type('application/json; charset=utf-8').send(json),
  );
  app.get('/docs', (_request, reply) =>
    reply
      .headers({ ...headers, 'content-security-policy': docsPolicy })
      .type('text/html; charset=utf-8')
      .send(page),
  );
}
