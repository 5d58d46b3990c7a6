// Every page of the list of orders, one after the other, as quickly as one connection gives them. As a program of its
// own it reads them and does nothing else: what any reader of one page after the other has to spend. With a number it
// reads the days of the window instead, so many at a time: what any reader of several lists has to spend.
import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';

const { OUTLAST_BASE_URL, OUTLAST_API_KEY, OUTLAST_API_SECRET } = process.env;

/** Ends with the platform's last page: its `next_page_key` is empty. `only`: the days. */
export async function* readPages(only = {}, shared = null) {
  const dispatcher = shared ?? new Agent({ connections: 1 });
  let key = '';
  do {
    // In the order of their names, as they are signed.
    const { end_date, start_date } = only;
    const query = {
      ...(end_date === undefined ? {} : { end_date }),
      limit: '50',
      ...(key === '' ? {} : { page_key: key }),
      sort_by: 'DATE_ASC',
      ...(start_date === undefined ? {} : { start_date }),
    };
    const signed = Object.entries(query).map(([name, value]) => [`query_${name}`, value]);
    const text = JSON.stringify({ path_url: '/v3/orders', ...Object.fromEntries(signed) });
    const timestamp = String(Date.now());
    const { body } = await request(`${OUTLAST_BASE_URL}/v3/orders?${new URLSearchParams(query)}`, {
      dispatcher,
      headers: {
        'content-type': 'application/json',
        'x-api-key': OUTLAST_API_KEY,
        'x-timestamp': timestamp,
        'x-signature': createHash('sha256')
          .update(text + timestamp + OUTLAST_API_SECRET)
          .digest('hex'),
      },
    });
    const page = await body.json();
    yield page;
    key = page.data.next_page_key;
  } while (key !== '');
  if (shared === null) await dispatcher.close();
}

/** Of the current and the previous month, oldest first. */
function daysOfWindow() {
  const today = new Date();
  const days = [];
  for (let n = 1; ; n++) {
    const day = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, n);
    if (day > today.getTime()) return days;
    days.push(new Date(day).toISOString().slice(0, 10));
  }
}

async function readDays(readers) {
  const days = daysOfWindow();
  const dispatcher = new Agent({ connections: readers });
  let rows = 0;
  const reader = async () => {
    for (let day = days.shift(); day !== undefined; day = days.shift()) {
      const only = { start_date: day, end_date: day };
      for await (const { data } of readPages(only, dispatcher)) rows += data.order_infos.length;
    }
  };
  await Promise.all(Array.from({ length: readers }, reader));
  await dispatcher.close();
  return rows;
}

async function readAll() {
  let rows = 0;
  for await (const { data } of readPages()) rows += data.order_infos.length;
  return rows;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const readers = Number(process.argv[2] ?? 0);
  process.stdout.write(`${readers === 0 ? await readAll() : await readDays(readers)}\n`);
}
