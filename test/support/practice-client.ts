// A naive client of the simulator: signs, asks, and reads lists to their end with nothing that a careful reader
// has. What it gets is what the simulator says.
import { signedHeaders } from '../../src/platform/sign.ts';
import type { Simulator } from '../../src/simulator/simulator-server.ts';

type Reply = { status: number; date: string | null; headers: Headers; text: string };

type OrdersData = {
  prev_page_key?: string | null;
  next_page_key?: string | null;
  limit: number;
  total_count?: number | null;
  order_infos?: Record<string, unknown>[] | null;
};

type ClassesData = {
  offset: number;
  limit: number;
  total_count?: number | null;
  classes?: Record<string, unknown>[] | null;
};

/** The longest list a test reads; a reader that goes on for ever fails instead. */
const maxPages = 3000;

export function practiceClient(simulator: Simulator, projectNumber = 0) {
  const project = simulator.projects[projectNumber];
  if (project === undefined) throw new Error(`the simulator has no project ${projectNumber}`);

  async function get(
    path: string,
    query: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const asked = Object.entries(query)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
    const response = await fetch(simulator.url + path + (asked === '' ? '' : `?${asked}`), {
      headers: {
        ...signedHeaders({
          path,
          query,
          timestamp: String(simulator.clock.now()),
          secret: project?.apiSecret ?? '',
          apiKey: project?.apiKey ?? '',
        }),
        ...headers,
      },
    });
    const { status, headers: received } = response;
    return { status, date: received.get('date'), headers: received, text: await response.text() };
  }

  async function dataOf(path: string, query: Record<string, string>): Promise<unknown> {
    const { status, text } = await get(path, query);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return (JSON.parse(text) as { data: unknown }).data;
  }

  const orders = async (query: Record<string, string> = {}): Promise<OrdersData> =>
    (await dataOf('/v3/orders', query)) as OrdersData;
  const classes = async (query: Record<string, string> = {}): Promise<ClassesData> =>
    (await dataOf('/v1beta1/nft/classes', query)) as ClassesData;

  return {
    get,
    orders,
    classes,
    /** Operation ids of all pages. */
    allOrders: async (query: Record<string, string>): Promise<string[]> => {
      const ids: string[] = [];
      let asked = query;
      for (let page = 0; page < maxPages; page++) {
        const data = await orders(asked);
        const infos = data.order_infos ?? [];
        ids.push(...infos.map((order) => String(order['operation_id'])));
        const key = data.next_page_key ?? '';
        // No key, the same key again, or a page with nothing on it: the end in every dialect.
        if (key === '' || key === asked['page_key'] || infos.length === 0) return ids;
        asked = { ...query, page_key: key };
      }
      throw new Error('the list does not end');
    },
    allClasses: async (query: Record<string, string>): Promise<string[]> => {
      const ids: string[] = [];
      for (let page = 0; page < maxPages; page++) {
        const data = await classes({ ...query, offset: String(ids.length) });
        const shown = data.classes ?? [];
        if (shown.length === 0) return ids;
        ids.push(...shown.map((one) => String(one['id'])));
      }
      throw new Error('the list does not end');
    },
  };
}
