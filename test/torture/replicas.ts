// The Outlast processes under torture: started, killed, frozen, and listened to when they end. What they may say in
// the end is judged in endings.ts.
import { spawn, type ChildProcess } from 'node:child_process';
import { exitCode } from '../../src/errors.ts';
import type { Chance } from './chance.ts';
import { judgeEnding, lastLine, type Ended } from './endings.ts';
import { createWire, type Target, type Wire } from './wire.ts';

export type Replica = {
  number: number;
  /** Its arguments, `sync` or `start` first. */
  args: readonly string[];
  child: ChildProcess;
  wire: Wire;
  isFrozen: boolean;
  startedAt: number;
  ended: Promise<Ended>;
};

export type Replicas = {
  /** Those that have not ended, the oldest first. */
  alive(): Replica[];
  /** `mayEndWith`: an exit code that is no finding this time. */
  start(args: readonly string[], chance: Chance, mayEndWith?: number): Promise<Replica>;
  /** False when it had ended before. `moment`: the statement it was killed at. */
  kill(replica: Replica, moment?: string): boolean;
  /** SIGSTOP; SIGCONT is the caller's to send by `thaw`. */
  freeze(replica: Replica): boolean;
  thaw(replica: Replica): void;
  /** How the processes ended, by what they said. */
  endings: ReadonlyMap<string, number>;
  counts: { started: number; killed: number; killedAtStatement: number; frozen: number };
  /** Kills what is left. */
  close(): Promise<void>;
};

export type ReplicaOptions = {
  mainFile: string;
  target: () => Target;
  /** The database past the wires; the replica's own number and port are put in. Null: Outlast's own server. */
  address: string | null;
  env: Record<string, string>;
  secrets: readonly string[];
  /** Where they run: what they write by themselves lands there. */
  folder: string;
  onFinding: (text: string) => void;
  note: (text: string) => void;
};

/** Codes of those that do not ask to be started again: the log says why they ended. */
const givenUp: ReadonlySet<number> = new Set([exitCode.failed, exitCode.usage]);

/** Of a process that writes more the end is heard: what verify says of an archive that lost much is long. */
const keptChars = 8_000_000;

export function createReplicas(options: ReplicaOptions): Replicas {
  const living = new Set<Replica>();
  const endings = new Map<string, number>();
  const counts = { started: 0, killed: 0, killedAtStatement: 0, frozen: 0 };

  async function start(
    args: readonly string[],
    chance: Chance,
    mayEndWith = exitCode.done,
  ): Promise<Replica> {
    const number = ++counts.started;
    const wire = await createWire(options.target, () => chance.unit());
    const child = spawn(process.execPath, [options.mainFile, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: options.folder,
      env: { PATH: process.env['PATH'], ...options.env, ...databaseOf(number, wire) },
    });
    let said = '';
    const hear = (part: string): void => {
      said = (said + part).slice(-keptChars);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        living.delete(replica);
        resolve({ code, signal, said });
      });
    });
    const replica: Replica = {
      number,
      args,
      child,
      wire,
      isFrozen: false,
      startedAt: performance.now(),
      ended,
    };
    living.add(replica);
    void listen(replica, mayEndWith);
    return replica;
  }

  const databaseOf = (number: number, wire: Wire): Record<string, string> => {
    if (options.address === null) return {};
    const address = new URL(options.address);
    address.port = String(wire.port);
    // The audit (leases.ts) reads from the session which process wrote.
    address.searchParams.set('options', `-c torture.replica=${number}`);
    return { DATABASE_URL: address.href };
  };

  async function listen({ number, args, ended, wire }: Replica, mayEndWith: number): Promise<void> {
    const end = await ended;
    await wire.close();
    const { name, finding } = judgeEnding(args, end, options.secrets, mayEndWith);
    endings.set(name, (endings.get(name) ?? 0) + 1);
    if (end.code !== null && givenUp.has(end.code)) {
      options.note(`replica ${number} ends with ${end.code}: ${lastLine(end.said)}`);
    }
    if (finding !== null) options.onFinding(`replica ${number} (${args.join(' ')}): ${finding}`);
  }

  const signal = (replica: Replica, name: NodeJS.Signals): boolean =>
    living.has(replica) && replica.child.kill(name);

  const kill = (replica: Replica, moment?: string): boolean => {
    const isHit = signal(replica, 'SIGKILL');
    if (isHit) counts.killed++;
    if (isHit && moment !== undefined) {
      counts.killedAtStatement++;
      options.note(`replica ${replica.number} is killed ${moment}`);
    }
    return isHit;
  };

  return {
    alive: () => [...living],
    start,
    kill,
    freeze: (replica) => {
      const isHit = signal(replica, 'SIGSTOP');
      if (isHit) {
        replica.isFrozen = true;
        counts.frozen++;
      }
      return isHit;
    },
    thaw: (replica) => {
      replica.isFrozen = false;
      signal(replica, 'SIGCONT');
    },
    endings,
    counts,
    close: async () => {
      const left = [...living];
      for (const replica of left) replica.child.kill('SIGKILL');
      await Promise.all(left.map((replica) => replica.ended));
    },
  };
}
