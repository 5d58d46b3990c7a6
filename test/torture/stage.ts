// What every act of the torture has at hand: the platform, the server, the processes, and what is to be undone later.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import type { Queryable } from '../../src/store/db.ts';
import { databaseError, namedIfCut } from '../../src/store/db-errors.ts';
import { withClient } from '../support/client.ts';
import type { Cluster } from './cluster.ts';
import type { Memory } from './memory.ts';
import type { Replicas } from './replicas.ts';
import type { Chance, Drawn } from './world.ts';

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

export type Action = {
  name: string;
  /** How often, beside the others. */
  weight: number;
  act(stage: Stage, chance: Chance): Promise<string> | string;
};

/** Does something after a while, without keeping the next act waiting. A failure is a finding. */
export function later(stage: Stage, afterMs: number, act: () => Promise<void> | void): void {
  const doing = sleep(afterMs)
    .then(act)
    .catch((error: unknown) => stage.report(`the torture itself failed: ${String(error)}`))
    .finally(() => stage.pending.delete(doing));
  stage.pending.add(doing);
}

/** Until everything is undone and the server is up. */
export async function calm({ pending, cluster }: Stage): Promise<void> {
  // Ends: what is pending ends by itself and starts nothing new.
  while (pending.size > 0) await Promise.all(pending);
  await cluster.isUp();
}

const triesAtMost = 10;

/** Works on the database past the wires, and again when the last harm to the server shows only now. */
export async function inCalm<T>(stage: Stage, work: (db: Queryable) => Promise<T>): Promise<T> {
  // Ends: triesAtMost.
  for (let tries = 1; ; tries++) {
    await calm(stage);
    try {
      return await withClient(stage.address, work);
    } catch (error) {
      if (databaseError(namedIfCut(error)) === null || tries === triesAtMost) throw error;
      await sleep(100);
    }
  }
}
