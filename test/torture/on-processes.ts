// Harm to Outlast's own processes: killed at any moment or at a chosen statement, frozen past the lease, asked to leave.
import type { Action } from './actions.ts';
import type { Chance } from './chance.ts';
import { anyReplica, later, nobody } from './stage.ts';

/** The shortest that may be set: a frozen or killed process holds its slices no longer than a few seconds. */
export const leaseSeconds = 3;

/** Statements that are worth dying at, as they stand in the protocol. */
export const moments = [
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
  'pg_advisory_xact_lock',
] as const;

export const momentName = (moment: string): string => moment.replace('\0', '');

const pastTheLease = (chance: Chance): number =>
  chance.between(leaseSeconds * 1000 + 200, leaseSeconds * 3000);

export const processActions: readonly Action[] = [
  {
    name: 'kill',
    weight: 32,
    act: (stage, chance) => {
      const replica = anyReplica(stage, chance);
      if (replica === null || !stage.replicas.kill(replica)) return nobody;
      return `replica ${replica.number}, ${Math.round(performance.now() - replica.startedAt)} ms old`;
    },
  },
  {
    name: 'kill at a statement',
    weight: 44,
    act: (stage, chance) => {
      const [text, skip] = [chance.pick(moments), chance.between(0, chance.pick([0, 3, 12]))];
      const when = chance.pick(['before', 'after'] as const);
      const replica = anyReplica(stage, chance);
      if (replica === null) return nobody;
      const moment = `${when} its "${momentName(text)}"`;
      const spring = (): void => void stage.replicas.kill(replica, moment);
      replica.wire.arm({ text, skip, when, spring, how: 'end' });
      return `replica ${replica.number}, ${when} its ${skip + 1}. "${momentName(text)}" from now`;
    },
  },
  {
    name: 'freeze',
    weight: 4,
    act: (stage, chance) => {
      const forMs = chance.isHit(0.6) ? pastTheLease(chance) : chance.between(100, 1500);
      const replica = anyReplica(stage, chance);
      if (replica === null || !stage.replicas.freeze(replica)) return nobody;
      later(stage, forMs, () => stage.replicas.thaw(replica));
      return `replica ${replica.number} for ${forMs} ms`;
    },
  },
  {
    // With slices in its hands, which others take from it meanwhile: nothing of what it then writes may count (P8).
    name: 'freeze at a statement',
    weight: 16,
    act: (stage, chance) => {
      const [text, skip] = [chance.pick(moments), chance.between(0, 2)];
      const forMs = pastTheLease(chance);
      const replica = anyReplica(stage, chance);
      if (replica === null) return nobody;
      const spring = (): void => {
        if (!stage.replicas.freeze(replica)) return;
        stage.note(`replica ${replica.number} is frozen at its "${momentName(text)}"`);
        later(stage, forMs, () => stage.replicas.thaw(replica));
      };
      replica.wire.arm({ text, skip, when: 'before', spring, how: 'pass' });
      return `replica ${replica.number} for ${forMs} ms at its ${skip + 1}. "${momentName(text)}" from now`;
    },
  },
  {
    name: 'ask to leave',
    weight: 3,
    act: (stage, chance) => {
      const replica = anyReplica(stage, chance);
      if (replica === null || !replica.child.kill('SIGTERM')) return nobody;
      return `replica ${replica.number}`;
    },
  },
];
