// `/openapi.json` and `/docs`: what can be asked here, for programs, and for people to read and to try. They tell
// nothing of what is archived, and so need no key. The page looks as the other pages do, and its policy lets nothing
// run but its own script. Swagger UI and RapiDoc read an answer into JavaScript's numbers, and so show an amount that
// nobody was sent; installed they are 13 and 159 MB, others between.
import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { base } from '../v1/all-routes.ts';
import {
  openApi,
  type Document,
  type OpenApiJson,
  type OpenApiOperation,
  type Parameter,
  type ServerTerms,
} from './openapi.ts';

/**
 * What the page does in a browser: it sends what a form says and shows the answer. It stores nothing, and a key that is
 * typed in leaves the page for this server only.
 */
const script = `
'use strict';
const most = 20000;
for (const form of document.forms) form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const [told, shown] = [form.querySelector('output'), form.querySelector('pre')];
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll('[data-in]')) {
    if (field.value === '') continue;
    if (field.dataset.in === 'path') path = path.replace('{' + field.name + '}', encodeURIComponent(field.value));
    if (field.dataset.in === 'query') query.set(field.name, field.value);
  }
  const headers = {};
  const key = document.getElementById('key').value.trim();
  if (key !== '' && path.startsWith('/archive/')) headers.Authorization = 'Bearer ' + key;
  const body = form.querySelector('textarea');
  if (body !== null) headers['Content-Type'] = 'application/json';
  const target = path + (query.size > 0 ? '?' + query : '');
  told.className = '';
  told.textContent = form.dataset.method + ' ' + target + ' …';
  const begun = performance.now();
  const leaving = new AbortController();
  try {
    // Relative, so that a path which a reverse proxy puts before ours is kept.
    const answer = await fetch('.' + target, { method: form.dataset.method, headers, body: body?.value, signal: leaving.signal });
    const reader = answer.body?.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (let part; reader && text.length <= most && !(part = await reader.read()).done;) {
      text += decoder.decode(part.value, { stream: true });
      // What goes on and on is shown as it comes.
      if (!(answer.headers.get('content-type') ?? '').startsWith('text/event-stream')) continue;
      shown.textContent = text;
      shown.hidden = false;
    }
    const isCut = text.length > most;
    if (isCut) leaving.abort();
    told.className = answer.ok ? 'good' : 'bad';
    told.textContent = answer.status + ' · ' + Math.round(performance.now() - begun) + ' ms · ' + target;
    const isJson = (answer.headers.get('content-type') ?? '').startsWith('application/json');
    const part = isCut ? text.slice(0, most) : text;
    shown.textContent = (isJson ? laidOut(part) : part) + (isCut ? '\\n… there is more' : '');
    shown.hidden = false;
  } catch (error) {
    told.className = 'bad';
    told.textContent = 'No answer: ' + error.message;
  }
});
// Lays JSON out without reading it, for reading would round its numbers.
function laidOut(json) {
  let depth = 0;
  const line = () => '\\n' + '  '.repeat(depth);
  return json.replaceAll(/"(?:[^"\\\\]|\\\\.)*"?|[[{]\\s*[\\]}]|[[{\\]},:]|\\s+/g, (part) => {
    if (part === '[' || part === '{') { depth++; return part + line(); }
    if (part === ']' || part === '}') { depth--; return line() + part; }
    if (part === ',') return part + line();
    return part === ':' ? ': ' : part.trim();
  });
}
const open = () => { const one = document.getElementById(location.hash.slice(1)); if (one?.tagName === 'DETAILS') one.open = true; };
addEventListener('hashchange', open);
open();
`;

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  `script-src 'sha256-${hash('sha256', script, 'base64')}'`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

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
      .headers({ ...headers, 'content-security-policy': policy })
      .type('text/html; charset=utf-8')
      .send(page),
  );
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (one) => escapes[one] ?? one);
/** Plain sentences, with code between backticks. */
const prose = (text: string): string => escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

function docsPage(document: Document): string {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    entries: all.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const needsNone = all.some(({ operation: { security } }) =>
    security.some((one) => Object.keys(one).length === 0),
  );
  const links = groups.map(
    ({ name, entries }) =>
      `<h2>${escaped(name)}</h2>${entries
        .map(
          ({ path, operation }) =>
            `<a href="#${operation.operationId}">${escaped(path.replace(base, ''))}</a>`,
        )
        .join('')}`,
  );
  const sections = groups.map(
    ({ name, entries }) =>
      `<h2>${escaped(name)}</h2>${entries
        .map(({ path, method, operation }) => entryOf(path, method, operation, document))
        .join('')}`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outlast: reading over HTTP</title>
<link rel="icon" href="data:,">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="web/style.css">
</head>
<body class="docs">
<nav><strong>Outlast</strong><a href="openapi.json">openapi.json</a>${links.join('')}</nav>
<main>
<h1>Reading over HTTP</h1>
<p>${escaped(String(document.info['summary']))}.</p>
<p><label for="key">Bearer key</label> <input id="key" type="password" size="28" autocomplete="off" placeholder="${needsNone ? 'not needed on this machine' : 'needed'}"></p>
${sections.join('\n')}
</main>
<script>${script}</script>
</body>
</html>
`;
}

function entryOf(
  path: string,
  method: string,
  operation: OpenApiOperation,
  document: Document,
): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const body =
    requestBody === undefined
      ? ''
      : '<h3>Body</h3><textarea rows="4" spellcheck="false" aria-label="Body" placeholder="{&quot;operation_ids&quot;: [&quot;op_0001&quot;]}"></textarea>';
  const rows = parameters.map((one) => rowOf(one, operationId)).join('');
  return `<details id="${operationId}"><summary><span class="method ${method}">${method.toUpperCase()}</span><code>${escaped(path)}</code><span class="soft">${prose(summary)}</span></summary><div class="body">
${description === undefined ? '' : `<p>${prose(description)}</p>`}
<form data-path="${escaped(path)}" data-method="${method.toUpperCase()}">
${rows === '' ? '' : `<h3>Parameters</h3><table>${rows}</table>`}${body}
<button>Send</button><output></output><pre hidden></pre>
</form>
<h3>Answer</h3>${answerOf(responses['200'] ?? {}, document)}
<p class="soft">Refusals: ${Object.keys(responses)
    .filter((status) => Number(status) >= 400)
    .join(', ')}</p>
</div></details>`;
}

function rowOf(
  { name, in: place, description = '', schema, required }: Parameter,
  of: string,
): string {
  const id = `${of}-${name}`;
  const words = schema['enum'];
  const common = `id="${id}" name="${escaped(name)}" data-in="${place}"${required ? ' required' : ''}`;
  const field = Array.isArray(words)
    ? `<select ${common}><option></option>${words.map((word) => `<option>${escaped(String(word))}</option>`).join('')}</select>`
    : `<input ${common}${schema['format'] === 'date' ? ' placeholder="yyyy-mm-dd"' : ''}>`;
  return `<tr><td><label for="${id}"><code>${escaped(name)}</code></label></td><td class="soft">${typeOf(schema)}</td><td>${prose(description)}</td><td>${field}</td></tr>`;
}

function typeOf(schema: OpenApiJson): string {
  const { $ref, type, format, items, anyOf, enum: words, minimum, maximum } = schema;
  if (typeof $ref === 'string') return escaped($ref.split('/').at(-1) ?? '');
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeOf(one as OpenApiJson)).join(' or ');
  if (type === 'array') return `list of ${typeOf((items ?? {}) as OpenApiJson)}`;
  if (Array.isArray(words)) return words.map((word) => escaped(String(word))).join(', ');
  const name = typeof format === 'string' ? escaped(format) : [type].flat().join(' or ');
  if (name === '') return 'JSON';
  const isBounded = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER;
  return `${name}${isBounded ? ` ${String(minimum)}–${maximum}` : ''}`;
}

/** The members of what is answered; of a list, those of its items too. */
function answerOf(response: OpenApiJson, document: Document): string {
  const content = (response['content'] ?? {}) as { [type: string]: { schema: OpenApiJson } };
  const schema = content['application/json']?.schema;
  const types = `<p class="soft">${Object.keys(content).map(escaped).join(', ')}</p>`;
  if (schema === undefined) return types;
  const own = resolved(schema, document);
  const items = (own['properties'] as { items?: { items?: OpenApiJson } } | undefined)?.items
    ?.items;
  const of = items === undefined ? '' : `<h3>Each item</h3>${membersOf(items, document)}`;
  return `${types}${membersOf(own, document)}${of}`;
}

function membersOf(schema: OpenApiJson, document: Document): string {
  const { properties = {} } = resolved(schema, document) as {
    properties?: { [name: string]: OpenApiJson };
  };
  const rows = Object.entries(properties).map(
    ([name, one]) =>
      `<tr><td><code>${escaped(name)}</code></td><td class="soft">${typeOf(one)}</td><td>${prose(aboutOf(one))}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

const aboutOf = ({ description }: OpenApiJson): string =>
  typeof description === 'string' ? description : '';

function resolved(schema: OpenApiJson, document: Document): OpenApiJson {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return schema;
  return document.components.schemas[$ref.split('/').at(-1) ?? ''] as OpenApiJson;
}
