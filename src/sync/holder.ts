// Which projects this process writes: taken one by one, renewed together while they are held, and given back. A holder
// that has ended is known at once on the same machine, elsewhere when its lease is over.
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { codeOf } from '../errors.ts';
import type { ProjectId } from '../model.ts';
import type { Db } from '../store/db.ts';
import {
  freeProjects,
  releaseProject,
  renewProjects,
  takeProject,
  type HeldBy,
} from '../store/holders.ts';

/** A project that this process holds. */
export type Hold<W> = {
  /** As it was given, with a database that writes only while the project is held (P8). */
  worker: W;
  /** Aborted when another process has taken the project. */
  signal: AbortSignal;
  /** Gives the project back. Throws nothing: what cannot be given back ends with its lease. */
  release(): Promise<void>;
};

export type Holder = {
  /** The hold, or who has it. What this process holds already is taken anew: the earlier hold writes nothing more. */
  take<W extends { projectId: ProjectId; db: Db }>(worker: W): Promise<Hold<W> | HeldBy>;
  /** Those of these projects that may be taken. */
  free(projectIds: readonly ProjectId[]): Promise<ProjectId[]>;
};

/** `leaseMs`: how long a lease lives that is not renewed (OUTLAST_LEASE_SECONDS: settings/table.ts). */
export function createHolder(db: Db, leaseMs: number): Holder {
  const name = {
    holder: `process ${process.pid} on ${hostname()}`,
    process: `${machine} ${process.pid} ${startOf(process.pid)} ${randomBytes(4).toString('hex')}`,
  };
  const held = new Map<ProjectId, AbortController>();
  let timer: NodeJS.Timeout | null = null;

  const renew = async (): Promise<void> => {
    const before = [...held];
    const mine = await renewProjects(db, name.process, [...held.keys()], leaseMs);
    for (const [projectId, lost] of before) if (!mine.includes(projectId)) lost.abort();
  };
  const renewing = (): void => {
    timer ??= setInterval(() => {
      // A database that does not answer is told of by whatever needs it; taken is only what another takes.
      renew().catch(() => undefined);
    }, leaseMs / 3).unref();
  };

  return {
    take: async (worker) => {
      const { projectId } = worker;
      const taken = await takeProject(db, projectId, name, leaseMs, hasEnded);
      if (!('epoch' in taken)) return taken;
      const lost = new AbortController();
      held.set(projectId, lost);
      renewing();
      return {
        worker: { ...worker, db: db.asHolder(projectId, taken.epoch) },
        signal: lost.signal,
        release: async () => {
          if (held.get(projectId) !== lost) return;
          held.delete(projectId);
          if (held.size === 0 && timer !== null) {
            clearInterval(timer);
            timer = null;
          }
          await releaseProject(db, name.process, projectId).catch(() => undefined);
        },
      };
    },
    free: (projectIds) => freeProjects(db, projectIds, leaseMs, hasEnded),
  };
}

/** Numbers of processes mean something on one machine alone, since it was started, and within one container. */
function machineOf(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // No Linux.
    const cards = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
    const [card] = cards
      .filter((one) => !one.internal)
      .toSorted((a, b) => (a.mac < b.mac ? -1 : 1));
    return `${hostname()}/${card?.mac ?? ''}`;
  }
}

const machine = machineOf().replaceAll(' ', '_');

/** When a process of this machine was started, as far as that can be told; null: it has ended. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc(5): behind the name in brackets come the state and, as the 22nd field of all, the start.
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(state) ? null : (fields[18] ?? '');
  } catch {
    try {
      process.kill(pid, 0);
      return '';
    } catch (error) {
      return codeOf(error) === 'ESRCH' ? null : '';
    }
  }
}

/** Whether a process of this machine has ended; false where it is another machine's. */
function hasEnded(other: string): boolean {
  const [itsMachine, pid, start] = other.split(' ');
  if (itsMachine !== machine) return false;
  const found = startOf(Number(pid));
  return found === null || (found !== '' && start !== '' && found !== start);
}
