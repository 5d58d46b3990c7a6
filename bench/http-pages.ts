// Pages over HTTP: signed requests to `/v3/orders` on one kept connection, one at a time, against a server in another
// process. From before the signature to the last byte of the answer.
import { Client } from 'undici';
import { signedHeaders } from '../src/platform/sign.ts';
import type { BenchArchive, Filling } from './archive.ts';
import { startModule } from './children.ts';
import { cursorAt, randomPlaces, timesOf } from './depths.ts';
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
  const deep = async (what: string, order: 'asc' | 'desc', more: Query = {}): Promise<Timed> => {
    const places = await randomPlaces(db, filling, requests, (seed += 1));
    const queries = places.map((place) => ({
      limit: '50',
      sort_by: `DATE_${order.toUpperCase()}`,
      page_key: cursorAt({ project, order }, place),
      ...more,
    }));
    return time({ what, aimMs }, queries, ask, signal);
  };
  const same = (what: string, query: Query, times: number, aim: number | null): Promise<Timed> =>
    time(
      { what, aimMs: aim },
      Array.from({ length: times }, () => query),
      ask,
      signal,
    );
  try {
    return [
      await same('HTTP first page of 50', { limit: '50' }, requests, aimMs),
      await deep('HTTP page of 50', 'asc'),
      await deep('HTTP page of 50, newest first', 'desc'),
      await same(
        'HTTP first page and total of a day',
        { limit: '50', start_date: '2025-03-14', end_date: '2025-03-14', count_total: '1' },
        requests / 5,
        null,
      ),
      await same(
        'HTTP first page and total of a month',
        { limit: '50', start_date: '2025-03-01', end_date: '2025-03-31', count_total: '1' },
        requests / 20,
        null,
      ),
    ];
  } finally {
    await client.close();
    server.close();
  }
}
