// Harm to the connections between Outlast and its database: cut, held, cut in the middle of a commit, ended by the
// server.
import type { Action } from './actions.ts';
import { withClient } from './evidence.ts';
import { momentName, moments } from './on-processes.ts';
import { anyReplica, later, nobody } from './stage.ts';

export const wireActions: readonly Action[] = [
  {
    name: 'cut',
    weight: 5,
    act: (stage, chance) => {
      const share = chance.pick([0.3, 1]);
      const replica = anyReplica(stage, chance);
      if (replica === null) return nobody;
      return `${replica.wire.cut(share)} connections of replica ${replica.number}`;
    },
  },
  {
    name: 'cut at a statement',
    weight: 9,
    act: (stage, chance) => {
      const [text, skip] = [chance.pick(moments), chance.between(0, 12)];
      const when = chance.pick(['before', 'after'] as const);
      const how = chance.pick(['reset', 'end'] as const);
      const replica = anyReplica(stage, chance);
      if (replica === null) return nobody;
      replica.wire.arm({ text, skip, when, how, spring: () => undefined });
      return `replica ${replica.number}, ${when} its ${skip + 1}. "${momentName(text)}" from now`;
    },
  },
  {
    name: 'hold',
    weight: 3,
    act: (stage, chance) => {
      const forMs = chance.between(200, 4_000);
      const isCut = chance.isHit(0.5);
      const replica = anyReplica(stage, chance);
      if (replica === null) return nobody;
      const letGo = replica.wire.hold();
      later(stage, forMs, () => {
        if (isCut) replica.wire.cut();
        letGo();
      });
      return `replica ${replica.number} for ${forMs} ms${isCut ? ', then cut' : ''}`;
    },
  },
  {
    name: 'end sessions',
    weight: 6,
    act: async (stage, chance) => {
      const [share, seed] = [chance.pick([0.2, 1]), chance.unit()];
      const ended = await withClient(stage.address, async (db) => {
        const { rows } = await db.query<{ ended: number }>(
          `select count(*) filter (where pg_terminate_backend(pid))::int as ended
             from pg_stat_activity
            where datname = current_database() and application_name like 'outlast%'
              and hashint4(pid) % 1000 >= 0 and mod(abs(hashint4(pid)::bigint + $2), 1000) < $1`,
          [Math.round(share * 1000), Math.round(seed * 1000)],
        );
        return rows[0]?.ended ?? 0;
      }).catch(() => null);
      return ended === null ? 'the server is down' : `${ended} of them`;
    },
  },
];
