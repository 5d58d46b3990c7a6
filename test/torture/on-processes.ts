// Harm to Outlast's own processes: killed at any moment or at a chosen statement, frozen past their leases, asked to leave.
import type { Action } from './actions.ts';
import { anyReplica, later, nobody } from './stage.ts';

/** The shortest that may be set: a frozen or killed process holds its slices no longer than a few seconds. */
export const leaseSeconds = 3;

/** Statements that are worth dying at, as they stand in the protocol. */
export const moments = [
  'commit\0',
  'commit\0',
  'commit\0',
  'begin;',
  'copy archive.',
  'insert into archive.',
  'insert into sync.pages',
  'delete from sync.pages',
  'set checkpoint',
  'set lease_holder',
  'set state',
  'pg_advisory_lock',
] as const;

export const momentName = (moment: string): string => moment.replace('\0', '').replace(';', '');

export const processActions: readonly Action[] = [
  {
    name: 'kill',
    weight: 36,
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
      const isLong = chance.isHit(0.6);
      const forMs = isLong
        ? chance.between(leaseSeconds * 1000 + 200, leaseSeconds * 2000)
        : chance.between(100, 1500);
      const replica = anyReplica(stage, chance);
      if (replica === null || !stage.replicas.freeze(replica)) return nobody;
      later(stage, forMs, () => stage.replicas.thaw(replica));
      return `replica ${replica.number} for ${forMs} ms${isLong ? ', past its lease' : ''}`;
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
