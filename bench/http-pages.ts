// Pages over HTTP: signed requests to `/v3/orders` on one kept connection, one at a time, against a server in another
// process. From before the signature to the last byte of the answer.
import { Client } from 'undici';
import { signedHeaders } from '../src/platform/sign.ts';
import { cursorAt, randomPlaces, timesOf, type BenchArchive, type Filling } from './archive.ts';
import { startModule } from './children.ts';
import { time, type Timed } from './timing.ts';

const aimMs = 10;
const path = '/v3/orders';
const reader = { apiKey: 'bench', secret: 'bench-secret' };

type Query = Record<string, string>;

export async function measureHttp(
  { connectionString, db }: BenchArchive,
  filling: Filling,
  signal: AbortSignal,
): Promise<Timed[]> {
  const { project } = filling;
  const requests = timesOf(filling);
  const server = await startModule('serving.js', {
    BENCH_DATABASE: connectionString,
    BENCH_PROJECT: project,
    BENCH_KEY: reader.apiKey,
    BENCH_SECRET: reader.secret,
  });
  const client = new Client(server.line);
  const ask = async (query: Query): Promise<number> => {
    const { statusCode, body } = await client.request({
      method: 'GET',
      path: `${path}?${new URLSearchParams(query).toString()}`,
      headers: signedHeaders({ path, query, timestamp: String(Date.now()), ...reader }),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${statusCode}: ${text}`);
    return text.split('"operation_id"').length - 1;
  };
  let seed = 1_000;
  const deep = async (what: string, order: 'asc' | 'desc'): Promise<Timed> => {
    const places = await randomPlaces(db, filling, requests, (seed += 1));
    const queries = places.map((place) => ({
      limit: '50',
      sort_by: `DATE_${order.toUpperCase()}`,
      page_key: cursorAt({ project, order }, place),
    }));
    return time({ what, aimMs }, queries, ask, signal);
  };
  const counted = (what: string, from: string, to: string, times: number): Promise<Timed> => {
    const query = { limit: '50', start_date: from, end_date: to, count_total: '1' };
    const named = { what: `HTTP first page and total of ${what}` };
    return time(
      named,
      Array.from({ length: times }, () => query),
      ask,
      signal,
    );
  };
  const first = Array.from({ length: requests }, () => ({ limit: '50' }));
  try {
    return [
      await time({ what: 'HTTP first page of 50', aimMs }, first, ask, signal),
      await deep('HTTP page of 50', 'asc'),
      await deep('HTTP page of 50, newest first', 'desc'),
      await counted('a day', '2025-03-14', '2025-03-14', requests / 5),
      await counted('a month', '2025-03-01', '2025-03-31', requests / 20),
    ];
  } finally {
    await client.close();
    server.close();
  }
}
