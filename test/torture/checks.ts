// The checks, each with the promise it asks for. They read archive, ledger and the platform's record, change nothing,
// and return what is wrong in sentences.
import { listedResources } from '../../src/model.ts';
import { contentsNeverShown, pagesNotKept } from './contents.ts';
import { idColumn, toldAtMost, type Evidence } from './evidence.ts';
import { strangersWrites } from './leases.ts';
import { sealsBroken } from './seals.ts';
import { vanished } from './vanished.ts';

export type Check = {
  name: string;
  find: (evidence: Evidence) => Promise<string[]> | string[];
};

export const checks: readonly Check[] = [
  { name: 'P1: the ledger claims no row that is not held', find: rowsNotHeld },
  { name: 'P6: a seal holds what the platform had', find: sealsBroken },
  { name: 'P5: every content was shown', find: contentsNeverShown },
  { name: 'P5: all that a committed page carried is kept', find: pagesNotKept },
  { name: 'P4: nothing archived vanishes', find: vanished },
  { name: 'P8: only the holder of a lease writes', find: ({ db }) => strangersWrites(db) },
];

/** A sentence for everything that is wrong, the check's name before it. */
export async function findAll(evidence: Evidence): Promise<string[]> {
  const found: string[] = [];
  for (const { name, find } of checks) {
    found.push(...(await find(evidence)).map((sentence) => `${name}: ${sentence}`));
  }
  return found;
}

async function rowsNotHeld({ db }: Evidence): Promise<string[]> {
  const found: string[] = [];
  for (const resource of listedResources) {
    const { rows } = await db.query<{ id: string; day: string }>(
      `select shown.id, day::text
         from sync.pages p, unnest(p.ids) shown (id)
        where p.resource = $1
          and not exists (select from archive.${resource} a
                           where a.project_id = p.project_id and a.${idColumn[resource]} = shown.id)
        limit $2`,
      [resource, toldAtMost],
    );
    found.push(
      ...rows.map(({ id, day }) => `a page of ${resource} ${day} names ${id}, which is not held`),
    );
  }
  const { rows } = await db.query<{ resource: string; day: string; sha256: string }>(
    `select resource, day::text, encode(sha, 'hex') as sha256
       from sync.pages p, unnest(p.rejects) sha
      where not exists (select from sync.rejects r
                         where (r.project_id, r.resource, r.sha256) = (p.project_id, p.resource, sha))
      limit $1`,
    [toldAtMost],
  );
  found.push(
    ...rows.map(
      ({ resource, day, sha256 }) =>
        `a page of ${resource} ${day} names reject ${sha256}, which is not held`,
    ),
  );
  return found;
}
