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

const noState = { state: '', reopened: '' };

async function statesTakenBack(db: Queryable, keepsake: Keepsake): Promise<string[]> {
  const { rows } = await db.query<{ name: string; state: string; reopened: string }>(
    `select concat_ws(' ', resource, nullif(owner, ''), day) as name, state,
            coalesce(reopened_at::text, '') as reopened
       from sync.slices`,
  );
  const found: string[] = [];
  for (const { name, state, reopened } of rows) {
    const { state: before, reopened: reopenedBefore } = keepsake.states.get(name) ?? noState;
    // Where the platform turns out to answer for the day after all it is taken up again, and says so.
    const isForEver = (before === 'final' || before === 'lost') && reopened === reopenedBefore;
    const wasRead = before === 'walked' || before === 'sealed';
    if ((isForEver && state !== before) || (wasRead && state === 'lost')) {
      found.push(`${name} was ${before} and is ${state}`);
    }
  }
  keepsake.states = new Map(rows.map(({ name, ...rest }) => [name, rest]));
  return found;
}
