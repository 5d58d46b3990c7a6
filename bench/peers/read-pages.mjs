// Every page of the list of orders, one after the other, as quickly as one connection gives them. As a program of its
// own it reads them and does nothing else: what any reader of one page after the other has to spend.
import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';

const { OUTLAST_BASE_URL, OUTLAST_API_KEY, OUTLAST_API_SECRET } = process.env;

/** Ends with the platform's last page: its `next_page_key` is empty. */
export async function* readPages() {
  const dispatcher = new Agent({ connections: 1 });
  let key = '';
  do {
    const query = { limit: '50', ...(key === '' ? {} : { page_key: key }), sort_by: 'DATE_ASC' };
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
  await dispatcher.close();
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  let rows = 0;
  for await (const { data } of readPages()) rows += data.order_infos.length;
  process.stdout.write(`${rows}\n`);
}
