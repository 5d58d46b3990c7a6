// After the end of a world somebody with all rights alters its archive, and `outlast verify` must name what was done.
// One act, drawn by the seed from those that this archive has something for.
import type { Queryable } from '../../src/store/db.ts';
import type { Finding } from '../../src/verify/finding.ts';
import {
  filled,
  isForged,
  tamperings,
  type Chosen,
  type Tampering,
} from '../support/tamperings.ts';
import type { Chance } from './chance.ts';
import { withClient } from './evidence.ts';
import { insist, type Stage } from './stage.ts';

/** Returns what was done; null where nothing could be. The archive is of no use afterwards. */
export async function tamper(stage: Stage, chance: Chance): Promise<string | null> {
  const done = await insist(stage, () =>
    withClient(stage.address, async (db) => {
      const chosen = await choose(db);
      // Ends: every act is tried once.
      for (const [tampering] of shuffled(chance)) {
        if (await isDone(db, tampering, chosen)) return { tampering, chosen };
      }
      return null;
    }),
  );
  if (done === null) return null;
  const [what] = done.tampering;
  stage.note(`tampered with: ${what} ${JSON.stringify(done.chosen)}`);
  const verify = await stage.replicas.start(['verify', '--json'], chance, exitAsFound);
  const { code, said } = await verify.ended;
  if (code !== exitAsFound || !isNamed(done.tampering, done.chosen, said)) {
    stage.report(
      `outlast verify ends with ${code} and does not name it: ${what}. It says: ${said.slice(0, quotedChars)}`,
    );
  }
  return what;
}

/** `outlast verify` ends so where something does not follow. */
const exitAsFound = 1;
const quotedChars = 2_000;

/** Whether what `outlast verify --json` said has the finding that tells of it. */
export function isNamed([, sql, kind, says, id]: Tampering, chosen: Chosen, said: string): boolean {
  const wanted = id === undefined ? null : filled(id, chosen);
  return findingsIn(said).some(
    (one) =>
      one.id === wanted &&
      ((one.kind === kind && says.test(one.says)) ||
        (isForged(sql) && one.kind === 'altered' && digestIsOfAnother.test(one.says))),
  );
}

/**
 * A forged digest fits no record with records in it. Verify then names it by the digest, and what the journal says of
 * it is not told as well.
 */
const digestIsOfAnother =
  /^(the version observed at \S+: )?raw_sha256 is [0-9a-f]{64}, and that of/;

/** One commit; false, and nothing done, where this archive has nothing to be altered so. */
async function isDone(db: Queryable, [, sql, , , id]: Tampering, chosen: Chosen): Promise<boolean> {
  const statements = filled(sql, chosen);
  if (statements === null || (id !== undefined && filled(id, chosen) === null)) return false;
  const [first, ...others] = statements.split(/;\s+/);
  await db.query('begin');
  const { rowCount } = await db.query(first ?? '');
  // Of what is truncated no rows are counted.
  const isEmpty = rowCount === 0;
  if (!isEmpty) for (const statement of others) await db.query(statement);
  await db.query(isEmpty ? 'rollback' : 'commit');
  return !isEmpty;
}

const shuffled = (chance: Chance): [Tampering, number][] =>
  tamperings
    .map((one): [Tampering, number] => [one, chance.unit()])
    .toSorted(([, a], [, b]) => a - b);

/** A finding stands on a line of its own. */
function findingsIn(said: string): Finding[] {
  return said.split('\n').flatMap((line): Finding[] => {
    const text = line.trim().replace(/,$/, '');
    if (!text.startsWith('{"') || !text.endsWith('"}')) return [];
    return [JSON.parse(text) as Finding];
  });
}

/** What there is to be altered, each as text; what there is not is left out. */
async function choose(db: Queryable): Promise<Chosen> {
  // A row that holds something, so that what is done to it alters it; and not the oldest: without it and its journal a
  // list looks like one that began a day later, and verify names the day's records.
  const dayThatIs = (state: string): string =>
    `select min(day)::text from sync.slices s
      where resource = 'orders' and owner = '' and state = '${state}' and proof <> 'none'
        and platform_total > 1 and shown_total > 1
        and day > (select min(day) from sync.slices o where o.resource = 'orders' and o.owner = '')
        and exists (select from sync.pages p
                     where (p.project_id, p.resource, p.owner, p.day, p.walk) = (s.project_id, s.resource, s.owner, s.day, s.whole_walk)
                       and p.page = 0 and cardinality(p.ids) > 1)`;
  const certified = `exists (select from sync.certificates c
                              where c.resource = 'orders' and c.month = date_trunc('month', o.slice_day)::date)`;
  const statements: Record<keyof Chosen, string> = {
    final: dayThatIs('final'),
    sealed: dayThatIs('sealed'),
    certified: `select min(operation_id) from archive.orders o where ${certified}`,
    order: `select min(operation_id) from archive.orders o
             where not ${certified} and missing_since is null
               and exists (select from sync.pages p where p.resource = 'orders' and p.ids @> array[o.operation_id])`,
    missing: 'select min(operation_id) from archive.orders where missing_since is not null',
    versioned: 'select min(id) from archive.nft_class_versions',
    reject: `select min(encode(sha256, 'hex')) from sync.rejects where resource = 'orders'`,
  };
  const chosen: Chosen = {};
  for (const [name, sql] of Object.entries(statements) as [keyof Chosen, string][]) {
    const { rows } = await db.query<{ value: string | null }>(`select (${sql}) as value`);
    const value = rows[0]?.value ?? null;
    if (value !== null) chosen[name] = value;
  }
  return chosen;
}
