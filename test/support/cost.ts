// What a run costs the platform, counted by the platform.
import type { Bench } from './archive.ts';

export type Cost = { orders: number; classes: number };

/** Requests made while `work` is done, by list. */
export async function costOf(
  { simulator }: Pick<Bench, 'simulator'>,
  work: () => Promise<unknown>,
): Promise<Cost> {
  const count = (path: string): number => simulator.requests.byPath[path] ?? 0;
  const now = (): Cost => ({
    orders: count('/v3/orders'),
    classes: count('/v1beta1/nft/classes'),
  });
  const before = now();
  await work();
  const after = now();
  return { orders: after.orders - before.orders, classes: after.classes - before.classes };
}

/** Sets the platform's clock and lets that be noticed; the daily probe counts as made. */
export async function jumpTo({ simulator, worker, db }: Bench, at: number): Promise<void> {
  simulator.setNow(at);
  const { signal } = new AbortController();
  await worker.platform.orders({ limit: 1, sortBy: 'DATE_DESC', countTotal: false }, signal);
  await db.query(`update sync.facts set confirmed_at = $1 where fact like '%.probed'`, [
    new Date(at).toISOString(),
  ]);
}
