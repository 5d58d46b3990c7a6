// P4, and P3 from one check to the next: what was archived once is there for ever, a record and every content of it;
// a day that was read whole is never lost, and what is final stays so.
import { listedResources } from '../../src/model.ts';
import type { Queryable } from '../../src/store/db.ts';
import { toldAtMost, type Evidence, type Keepsake } from './evidence.ts';

export async function vanished({ db, held, keepsake }: Evidence): Promise<string[]> {
  const found: string[] = [];
  for (const resource of listedResources) {
    for (const [id, contents] of keepsake.contents[resource]) {
      const now = held[resource].get(id);
      if (now === undefined) found.push(`${resource} ${id} was archived and is gone`);
      else if ([...contents].some((content) => !now.has(content))) {
        found.push(`${resource} ${id} was archived with a content that is gone`);
      }
    }
  }
  keepsake.contents = held;
  return [...found, ...(await statesTakenBack(db, keepsake))].slice(0, toldAtMost);
}

async function statesTakenBack(db: Queryable, keepsake: Keepsake): Promise<string[]> {
  const { rows } = await db.query<{ name: string; state: string }>(
    `select concat_ws(' ', resource, nullif(owner, ''), day) as name, state from sync.slices`,
  );
  const found: string[] = [];
  for (const { name, state } of rows) {
    const before = keepsake.states.get(name) ?? '';
    const isForEver = before === 'final' || before === 'lost';
    const wasRead = before === 'walked' || before === 'sealed';
    if ((isForEver && state !== before) || (wasRead && state === 'lost')) {
      found.push(`${name} was ${before} and is ${state}`);
    }
  }
  keepsake.states = new Map(rows.map(({ name, state }) => [name, state]));
  return found;
}
