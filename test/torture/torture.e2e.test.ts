// A short torture with the real processes and a server of its own: fixed seeds, among them those that once found
// something. The long ones are run by hand (docs/torture.md).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mainFile } from '../support/command.ts';
import { createCluster, type Cluster } from './cluster.ts';
import { play, type Played } from './play.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await createCluster();
});
afterAll(() => cluster.close(false));

async function played(seed: number, kills: number): Promise<{ result: Played; acts: string[] }> {
  const acts: string[] = [];
  const note = (text: string): void => void acts.push(text);
  const { signal } = new AbortController();
  const result = await play({ seed, kills, cluster, mainFile, signal, note });
  return { result, acts };
}

// Twenty seconds each on a machine that does nothing else.
const timeoutMs = 300_000;

test.each([
  [1, 'a world like any other'],
  [10, 'a connection cut while it was opened ended a process with exit code 1'],
])(
  'seed %d: %s',
  async (seed) => {
    const { result, acts } = await played(seed, 4);
    expect(result.findings, acts.join('\n')).toEqual([]);
    expect(result.kills).toBeGreaterThanOrEqual(4);
    expect(result.records).toBeGreaterThan(50);
  },
  timeoutMs,
);
