// What every act of the torture has at hand: the platform, the server, the processes, and what is to be undone later.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Simulator } from '../../src/simulator/server.ts';
import { databaseError, namedIfCut } from '../../src/store/db-errors.ts';
import type { Chance } from './chance.ts';
import type { Cluster } from './cluster.ts';
import type { Memory } from './memory.ts';
import type { Replica, Replicas } from './replicas.ts';
import type { Drawn } from './world.ts';

export type Stage = {
  drawn: Drawn;
  simulator: Simulator;
  cluster: Cluster;
  replicas: Replicas;
  memory: Memory;
  /** The database past the wires. It carries the password: never log it (P10). */
  address: string;
  /** What is under way and ends by itself. */
  pending: Set<Promise<void>>;
  report: (finding: string) => void;
  /** A line in the log, for what happens by itself. */
  note: (text: string) => void;
};

/** Does something after a while, without keeping the next act waiting. A failure is a finding. */
export function later(stage: Stage, afterMs: number, act: () => Promise<void> | void): void {
  const doing = (async () => {
    await sleep(afterMs);
    await act();
  })()
    .catch((error: unknown) => stage.report(`the torture itself failed: ${String(error)}`))
    .finally(() => stage.pending.delete(doing));
  stage.pending.add(doing);
}

/** Until everything is undone and the server is up. */
export async function calm(stage: Stage): Promise<void> {
  // Ends: what is pending ends by itself and starts nothing new.
  while (stage.pending.size > 0) await Promise.all(stage.pending);
  await stage.cluster.bringUp();
}

const triesAtMost = 30;

/**
 * Works on the database past the wires, and once more when the server goes down meanwhile: an embedded one is stopped
 * by the last process that leaves.
 */
export async function insist<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
  // Ends: triesAtMost.
  for (let tries = 1; ; tries++) {
    await calm(stage);
    try {
      return await work();
    } catch (error) {
      if (databaseError(namedIfCut(error)) === null || tries === triesAtMost) throw error;
      await sleep(100);
    }
  }
}

/** One of the processes that are awake; one for which no trap is set, if there is any. */
export function anyReplica({ replicas }: Stage, chance: Chance): Replica | null {
  const share = chance.unit();
  const awake = replicas.alive().filter((one) => !one.isFrozen);
  const free = awake.filter((one) => !one.wire.isArmed());
  const from = free.length > 0 ? free : awake;
  return from[Math.floor(share * from.length)] ?? null;
}

export const nobody = 'nobody is there';
