// What the page of /docs does in a browser: it sends what a form says and shows the answer. It stores nothing, and a
// key that is typed in leaves the page for this server only.
export const script = `
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
  let out = '', depth = 0, inText = false;
  const line = () => '\\n' + '  '.repeat(depth);
  for (let i = 0; i < json.length; i++) {
    const c = json[i];
    if (inText) {
      out += c;
      if (c === '\\\\') out += json[++i];
      else if (c === '"') inText = false;
    } else if (c === '"') { inText = true; out += c; }
    else if (c === '{' || c === '[') {
      const isEmpty = json[i + 1] === '}' || json[i + 1] === ']';
      if (isEmpty) { out += c + json[++i]; } else { depth++; out += c + line(); }
    }
    else if (c === '}' || c === ']') { depth--; out += line() + c; }
    else if (c === ',') out += c + line();
    else if (c === ':') out += ': ';
    else if (!/\\s/.test(c)) out += c;
  }
  return out;
}
const open = () => { const one = document.getElementById(location.hash.slice(1)); if (one?.tagName === 'DETAILS') one.open = true; };
addEventListener('hashchange', open);
open();
`;
