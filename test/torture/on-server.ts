// Harm to the Postgres server: stopped, killed, crashed, crowded, frozen, out of disk. It is brought back after a
// while.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Action } from './actions.ts';
import type { Chance } from './chance.ts';
import { maxConnections, type Down } from './cluster.ts';
import { withClient } from './evidence.ts';
import { later, type Stage } from './stage.ts';

async function down(stage: Stage, chance: Chance, how: Down): Promise<string> {
  const forMs = chance.between(0, 2_000);
  await stage.cluster.goDown(how);
  later(stage, forMs, () => stage.cluster.bringUp());
  return `back after ${forMs} ms`;
}

export const serverActions: readonly Action[] = [
  { name: 'stop Postgres', weight: 1.5, act: (stage, chance) => down(stage, chance, 'fast') },
  {
    name: 'stop Postgres at once',
    weight: 1.5,
    act: (stage, chance) => down(stage, chance, 'immediate'),
  },
  { name: 'kill Postgres', weight: 2, act: (stage, chance) => down(stage, chance, 'killed') },
  {
    name: 'kill a session of Postgres',
    weight: 2,
    act: async (stage, chance) => {
      const seed = chance.unit();
      const pids = await sessions(stage);
      const pid = pids[Math.floor(seed * pids.length)];
      if (pid === undefined) return 'there is none';
      stage.cluster.signal(pid, 'SIGKILL');
      later(stage, 0, () => stage.cluster.bringUp());
      return 'all sessions end, and it recovers';
    },
  },
  {
    name: 'freeze sessions of Postgres',
    weight: 3,
    act: async (stage, chance) => {
      const [share, forMs] = [chance.pick([0.3, 1]), chance.between(200, 5_000)];
      const pids = (await sessions(stage)).filter(() => chance.isHit(share));
      // As on a disk that does not answer: what they hold and lock stays as it is.
      for (const pid of pids) stage.cluster.signal(pid, 'SIGSTOP');
      later(stage, forMs, () => {
        for (const pid of pids) stage.cluster.signal(pid, 'SIGCONT');
      });
      return `${pids.length} of them for ${forMs} ms`;
    },
  },
  {
    name: 'crowd Postgres',
    weight: 2,
    act: (stage, chance) => {
      const forMs = chance.between(500, 3_000);
      later(stage, 0, () => crowd(stage.address, forMs));
      return `no connection is left for ${forMs} ms`;
    },
  },
  {
    name: 'fill the disk',
    weight: 3,
    act: async (stage, chance) => {
      const [leaveKb, forMs] = [chance.pick([0, 0, 64, 1024, 8192]), chance.between(300, 2_500)];
      const { disk } = stage.cluster;
      if (typeof disk === 'string') return `left out: ${disk}`;
      const taken = await disk.fill(leaveKb * 1024);
      later(stage, forMs, async () => {
        await disk.free();
        await stage.cluster.bringUp();
      });
      return `${Math.round(taken / 1e6)} MB, all but ${leaveKb} kB, for ${forMs} ms`;
    },
  },
];

/** The server's processes that serve Outlast's connections; none while it is down. */
async function sessions({ address }: Stage): Promise<number[]> {
  return withClient(address, async (db) => {
    const { rows } = await db.query<{ pid: number }>(
      `select pid from pg_stat_activity
        where datname = current_database() and application_name like 'outlast%' order by pid`,
    );
    return rows.map(({ pid }) => pid);
  }).catch(() => []);
}

/** Takes every connection there is, those kept for superusers included, for a while. */
async function crowd(connectionString: string, forMs: number): Promise<void> {
  const clients: pg.Client[] = [];
  const began = performance.now();
  try {
    // Ends: with the time.
    while (performance.now() - began < forMs) {
      const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
      client.on('error', () => undefined);
      const isIn = await client.connect().then(
        () => true,
        () => false,
      );
      if (isIn) clients.push(client);
      if (!isIn || clients.length > maxConnections) await sleep(50);
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}
