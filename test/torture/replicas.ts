// The Outlast processes under torture: started, killed, frozen, listened to when they end, and judged by what they said.
import { spawn, type ChildProcess } from 'node:child_process';
import { createWireTo, type Wire } from './wire.ts';

export type Ended = {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The end of what it wrote to both streams. */
  said: string;
};

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

export type Replicas = ReturnType<typeof createReplicas>;

const keptChars = 100_000;

/** `address`: the database past the wires. `folder`: where they run; what they write by themselves lands there. */
export function createReplicas(options: {
  mainFile: string;
  address: string;
  env: Record<string, string>;
  secrets: readonly string[];
  folder: string;
  report: (finding: string) => void;
}) {
  const living = new Set<Replica>();
  /** How the processes ended, and how often. */
  const endings = new Map<string, number>();
  const counts = { started: 0, killed: 0, frozen: 0 };

  async function start(...args: string[]): Promise<Replica> {
    const { wire, address } = await createWireTo(options.address);
    const child = spawn(process.execPath, [options.mainFile, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: options.folder,
      env: { PATH: process.env['PATH'], ...options.env, DATABASE_URL: address },
    });
    let said = '';
    const hear = (part: string): void => {
      said = (said + part).slice(-keptChars);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    const number = ++counts.started;
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        living.delete(replica);
        const end = { code, signal, said };
        const finding = findingIn(end, options.secrets);
        if (finding !== null) options.report(`replica ${number} (${args.join(' ')}): ${finding}`);
        const name = signal ?? `exit ${String(code)}`;
        endings.set(name, (endings.get(name) ?? 0) + 1);
        resolve(end);
        void wire.close();
      });
    });
    const startedAt = performance.now();
    const replica: Replica = { number, args, child, wire, isFrozen: false, startedAt, ended };
    living.add(replica);
    return replica;
  }

  return {
    /** Those that have not ended, the oldest first. */
    alive: (): Replica[] => [...living],
    start,
    /** False when it had ended before. */
    kill: (replica: Replica): boolean => {
      const isHit = living.has(replica) && replica.child.kill('SIGKILL');
      if (isHit) counts.killed++;
      return isHit;
    },
    /** SIGSTOP, until it is thawed. False when it had ended before. */
    freeze: (replica: Replica): boolean => {
      const isHit = living.has(replica) && replica.child.kill('SIGSTOP');
      if (isHit) counts.frozen++;
      replica.isFrozen ||= isHit;
      return isHit;
    },
    thaw: (replica: Replica): void => {
      replica.isFrozen = false;
      replica.child.kill('SIGCONT');
    },
    endings,
    counts,
    /** Kills what is left. */
    close: async (): Promise<void> => {
      const left = [...living];
      for (const replica of left) replica.child.kill('SIGKILL');
      await Promise.all(left.map((replica) => replica.ended));
    },
  };
}

/** What no process may say, however it ends. */
const forbidden =
  /something unexpected happened.*|unhandled|uncaught|^\s+at .+\(?(?:file:|node:).*|Cannot read propert.*/im;

/** What may go wrong for good. */
const excused: Readonly<Record<number, RegExp>> = {
  1: /The disk of the database is full/,
  // The month ended between our looking at the clock and theirs.
  2: /lies before the window|has not come yet/,
};

/** P10, P12: done, interrupted, or with a sentence and an exit code that says what to do; null where it ended so. */
export function findingIn(
  { code, signal, said }: Ended,
  secrets: readonly string[],
): string | null {
  if (secrets.some((secret) => said.includes(secret))) return 'it wrote a secret';
  const bad = forbidden.exec(said);
  if (bad !== null) return `it said: ${bad[0].trim()}`;
  // SIGTERM ends a process that has not come as far as listening for it.
  if (signal !== null) {
    return signal === 'SIGKILL' || signal === 'SIGTERM' ? null : `it was ended by ${signal}`;
  }
  // 143: told to leave a second time, it left at once.
  if (code === 0 || code === 75 || code === 143) return null;
  const isExcused = excused[code ?? -1]?.test(said) ?? false;
  return isExcused ? null : `it ended with ${String(code)}: ${lastLines(said)}`;
}

export const lastLines = (said: string): string => said.trimEnd().split('\n').slice(-3).join(' | ');
