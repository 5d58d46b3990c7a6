// A short torture with the real processes and a server of its own. The long ones are run by hand (docs/torture.md).
import { expect, test } from 'vitest';
import { linkedFile } from '../support/command.ts';
import { setUp } from '../support/fresh.ts';
import { createCluster, type Cluster } from './cluster.ts';
import { play } from './play.ts';

let cluster: Cluster;
setUp(async (keep) => void (cluster = await keep(createCluster(), (one) => one.close(false))));

test('a world with three kills, in which nothing is found', async () => {
  const acts: string[] = [];
  const note = (text: string): void => void acts.push(text);
  const { signal } = new AbortController();
  const result = await play({ seed: 53, kills: 3, cluster, mainFile: linkedFile, signal, note });
  expect(result.findings, acts.join('\n')).toEqual([]);
  expect(result.kills).toBeGreaterThanOrEqual(3);
  expect(result.records).toBeGreaterThan(50);
}, 600_000);
