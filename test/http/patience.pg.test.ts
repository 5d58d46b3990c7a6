// One reader's long questions keep no other reader waiting: the platform's clients have connections of their own.
import { expect, test, vi } from 'vitest';
import { startServing } from '../../src/cli/start-serving.ts';
import { createProcessMetrics } from '../../src/http/metrics.ts';
import type { Served } from '../../src/http/server.ts';
import { openArchive } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { openDb, withTx, type Db } from '../../src/store/db.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { serveArchive } from '../support/served.ts';

let connectionString: string;
let owner: Db;
setUp(async (keep) => {
  ({ connectionString } = await keep(createTestDatabase()));
  owner = await keep(openDb({ connectionString, role: null, log: silentLog() }));
});

const started = (): Promise<Served> => {
  const pair = { OUTLAST_API_KEY: 'key', OUTLAST_API_SECRET: 'secret' };
  const env = { OUTLAST_BASE_URL: 'http://127.0.0.1:9', OUTLAST_PORT: '0', ...pair };
  const settings = readSettings({ needs: 'platform' }, env);
  const metrics = createProcessMetrics([]);
  return fresh(startServing(settings, connectionString, silentLog(), { metrics, workers: [] }));
};

/**
 * Whether the platform's clients are answered, within so long, while more questions wait for the books than there are
 * connections.
 */
async function answersMeanwhile(served: Served, withinMs: number): Promise<boolean> {
  let waiting: Promise<number>[] = [];
  const answered = await withTx(owner, async (tx) => {
    await tx.query('lock table sync.runs in access exclusive mode');
    waiting = Array.from({ length: 12 }, async () => {
      const answer = await fetch(`${served.url}/archive/v1/runs`);
      await answer.arrayBuffer();
      return answer.status;
    });
    // Every connection that may wait does. Within a transaction pg_stat_activity stays as it was first seen.
    const waits = async () =>
      (
        await owner.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).rows;
    await expect.poll(waits).toHaveLength(4);
    return Promise.all(
      ['/v3/orders?count_total=1', '/readyz'].map(async (path) => {
        const answer = await fetch(served.url + path, { signal: AbortSignal.timeout(withinMs) });
        return answer.status;
      }),
    ).catch(() => []);
  });
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => 200));
  return answered.length === 2 && answered.every((status) => status === 200);
}

test('the platform’s clients are answered while every connection of /archive/v1 is busy', async () => {
  const served = await started();
  expect(await answersMeanwhile(served, 120_000)).toBe(true);
});

test('sabotaged, one set of connections for both is noticed', async () => {
  const archive = await fresh(openArchive({ connectionString }));
  const served = await fresh(serveArchive(archive));
  expect(await answersMeanwhile(served, 2_000)).toBe(false);
});

test('a question that takes too long is answered 503 with when to ask again, on every door', async () => {
  const hasty = { connectionString, statementTimeoutMs: 300 };
  // What a busy machine takes longer for is opened again.
  const archive = await fresh(vi.waitFor(() => openArchive(hasty), 60_000));
  const served = await fresh(serveArchive(archive));
  await withTx(owner, async (tx) => {
    await tx.query('lock table archive.orders, archive.tokens in access exclusive mode');
    for (const path of ['/archive/v1/orders', '/archive/v1/orders?format=csv', '/v3/orders']) {
      const answer = await fetch(served.url + path);
      expect([path, answer.status]).toEqual([path, 503]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await answer.json()).toMatchObject({
        error: { code_space: 'outlast', code: 'TIMEOUT' },
      });
    }
    const node = await fetch(`${served.url}/token/tokens`);
    expect(node.status).toBe(503);
    expect(Number(node.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await node.json()).toEqual({ error: expect.stringContaining('too long') as string });
  });
  // As soon as a whole question takes less.
  const status = async () => (await fetch(`${served.url}/archive/v1/orders`)).status;
  await expect.poll(status).toBe(200);
});
