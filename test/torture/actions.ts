// All that can happen between two looks at the archive, and how often. Each act is drawn by weight, does its harm, and
// says in words what it did; whatever lasts is undone by itself. Here is what is done to the processes, to their
// connections and to the server.
import { queryAt } from '../support/client.ts';
import { platformActions } from './platform-actions.ts';
import type { Replica } from './replicas.ts';
import { later, type Action, type Stage } from './stage.ts';
import type { Chance } from './world.ts';

/** The shortest that may be set: a frozen or killed process holds its project no longer than a few seconds. */
export const leaseSeconds = 3;
const pastTheLease = (chance: Chance): number =>
  chance.between(leaseSeconds * 1000 + 200, leaseSeconds * 3000);

/** Statements that are worth dying at, as they stand in the protocol. */
const moments = [
  'commit\0',
  'commit\0',
  'commit\0',
  'begin isolation',
  'copy archive.',
  'insert into archive.',
  'insert into sync.pages',
  'delete from sync.pages',
  'set checkpoint',
  'update sync.holders',
  'set state',
] as const;

/** An act on one of the processes that are awake; on one for which no trap is set, if there is any. */
const onReplica = (
  name: string,
  weight: number,
  act: (replica: Replica, stage: Stage, chance: Chance) => string,
): Action => ({
  name,
  weight,
  act: (stage, chance) => {
    const awake = stage.replicas.alive().filter((one) => !one.isFrozen);
    const free = awake.filter((one) => !one.wire.isArmed());
    const [first, ...others] = free.length > 0 ? free : awake;
    if (first === undefined) return 'nobody is there';
    const replica = chance.pick([first, ...others]);
    return `replica ${replica.number}, ${act(replica, stage, chance)}`;
  },
});

function freeze(stage: Stage, replica: Replica, forMs: number): void {
  if (stage.replicas.freeze(replica)) later(stage, forMs, () => stage.replicas.thaw(replica));
}

/** Lets the moment come at which something is done to a process. */
const trap = (
  replica: Replica,
  chance: Chance,
  how: 'reset' | 'end' | 'pass',
  spring: () => void,
): string => {
  const [text, skip] = [chance.pick(moments), chance.between(0, chance.pick([0, 3, 12]))];
  const when = chance.pick(['before', 'after'] as const);
  replica.wire.arm({ text, skip, when, how, spring });
  return `${when} its ${skip + 1}. "${text.replace('\0', '')}" from now`;
};

const processActions: readonly Action[] = [
  onReplica('kill', 32, (replica, stage) => {
    stage.replicas.kill(replica);
    return `${Math.round(performance.now() - replica.startedAt)} ms old`;
  }),
  onReplica('kill at a statement', 44, (replica, stage, chance) =>
    trap(replica, chance, 'end', () => {
      if (stage.replicas.kill(replica)) stage.note(`replica ${replica.number} is killed`);
    }),
  ),
  onReplica('freeze', 4, (replica, stage, chance) => {
    const forMs = chance.isHit(0.6) ? pastTheLease(chance) : chance.between(100, 1500);
    freeze(stage, replica, forMs);
    return `for ${forMs} ms`;
  }),
  // At work on a project, which others take from it meanwhile: nothing of what it then writes may count (P8).
  onReplica('freeze at a statement', 16, (replica, stage, chance) => {
    const forMs = pastTheLease(chance);
    return `for ${forMs} ms ${trap(replica, chance, 'pass', () => freeze(stage, replica, forMs))}`;
  }),
  onReplica('ask to leave', 3, (replica) => `${replica.child.kill('SIGTERM')}`),
];

const wireActions: readonly Action[] = [
  onReplica('cut', 5, (replica, _stage, chance) => {
    const share = chance.pick([0.3, 1]);
    const how = chance.pick(['reset', 'end'] as const);
    return `${replica.wire.cut(how, () => chance.isHit(share))} connections`;
  }),
  onReplica('cut at a statement', 9, (replica, _stage, chance) =>
    trap(replica, chance, chance.pick(['reset', 'end'] as const), () => undefined),
  ),
  onReplica('hold', 3, (replica, stage, chance) => {
    const forMs = chance.between(200, 4_000);
    const isCut = chance.isHit(0.5);
    const letGo = replica.wire.hold();
    later(stage, forMs, () => {
      if (isCut) replica.wire.cut('reset');
      letGo();
    });
    return `for ${forMs} ms${isCut ? ', then cut' : ''}`;
  }),
];

/** Signals to a share of the server's processes that serve Outlast's connections; there are none while it is down. */
async function signalSessions(
  { address }: Stage,
  chance: Chance,
  share: number,
  signal: NodeJS.Signals,
): Promise<number[]> {
  const sessions = await queryAt<{ pid: number }>(
    address,
    `select pid from pg_stat_activity
      where datname = current_database() and application_name like 'outlast%' order by pid`,
  ).catch(() => []);
  const pids = sessions.map(({ pid }) => pid).filter(() => chance.isHit(share));
  return pids.filter((pid) => isSignalled(pid, signal));
}

/** False where it ended meanwhile. */
function isSignalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

const serverActions: readonly Action[] = [
  ...(['SIGINT', 'SIGQUIT', 'SIGKILL'] as const).map((signal): Action => ({
    name: `${signal} to Postgres`,
    weight: 1.7,
    act: (stage) => {
      stage.cluster.signal(signal);
      return 'it comes back';
    },
  })),
  {
    name: 'end sessions of Postgres',
    weight: 6,
    act: async (stage, chance) => {
      // Where one is killed, all sessions end and the server recovers.
      const signal = chance.pick(['SIGTERM', 'SIGTERM', 'SIGKILL'] as const);
      const share = chance.pick([0.3, 1]);
      return `${signal} to ${(await signalSessions(stage, chance, share, signal)).length}`;
    },
  },
  {
    name: 'freeze sessions of Postgres',
    weight: 3,
    act: async (stage, chance) => {
      const [share, forMs] = [chance.pick([0.3, 1]), chance.between(200, 5_000)];
      // As on a disk that does not answer: what they hold and lock stays as it is.
      const pids = await signalSessions(stage, chance, share, 'SIGSTOP');
      later(stage, forMs, () => pids.forEach((pid) => isSignalled(pid, 'SIGCONT')));
      return `${pids.length} of them for ${forMs} ms`;
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
      later(stage, forMs, () => disk.free());
      return `${Math.round(taken / 1e6)} MB, all but ${leaveKb} kB, for ${forMs} ms`;
    },
  },
];

export const actions: readonly [Action, ...Action[]] = [
  { name: 'rest', weight: 4, act: () => 'all go on' },
  ...processActions,
  ...wireActions,
  ...serverActions,
  ...platformActions,
];
