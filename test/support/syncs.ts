// Processes that sync a bench's archive, and what brings it to its end when they are gone.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { noon, type Bench } from './archive.ts';
import { environmentOf, startCommand, type Running } from './command.ts';
import { stoppedAt } from './machine-clock.ts';

export const leaseMs = 3_000;

export const environmentOn = (bench: Bench): Record<string, string> => ({
  ...environmentOf(bench.simulator, bench.connectionString),
  ...stoppedAt(noon),
  OUTLAST_PROJECT: 'p',
  OUTLAST_LEASE_SECONDS: String(leaseMs / 1000),
});

const alive = new Set<Running>();

export function startSync(bench: Bench, args: string[] = [], env = {}): Running {
  const one = startCommand(['sync', '--json', ...args], {
    env: { ...environmentOn(bench), ...env },
    timeoutMs: 120_000,
  });
  alive.add(one);
  void one.ended.then(() => alive.delete(one));
  return one;
}

/** To be called before the bench is closed. */
export const killSyncs = (): Promise<unknown> =>
  Promise.all([...alive].map((one) => one.stop('SIGKILL')));

/** Until nothing due is left. */
export async function syncToTheEnd(bench: Bench): Promise<'done' | 'idle'> {
  for (let i = 0; i < 20; i++) {
    const { outcome, problem } = await bench.run();
    if (outcome === 'done' || outcome === 'idle') return outcome;
    expect(outcome, problem ?? '').toBe('left');
    await sleep(500);
  }
  throw new Error('the sync came to no end');
}
