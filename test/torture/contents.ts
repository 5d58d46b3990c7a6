// P5, both ways: what is held was shown by the platform, and whatever a committed page carried is held, in the table or
// as a version.
import { listedResources, type ListedResource } from '../../src/model.ts';
import { toldAtMost, type Contents, type Evidence } from './evidence.ts';
import type { Memory } from './memory.ts';

export function contentsNeverShown({ held, memory }: Evidence): string[] {
  const found: string[] = [];
  for (const resource of listedResources) {
    for (const [id, contents] of held[resource]) {
      for (const content of contents) {
        if (memory.wasShown(resource, id, content)) continue;
        found.push(`${resource} ${id} is held with a content that was never shown: ${content}`);
        if (found.length === toldAtMost) return found;
      }
    }
  }
  return found;
}

type PageRow = {
  resource: ListedResource;
  day: string;
  walk: number;
  page: number;
  ids: string[];
  /** Digests, lower-case hex. */
  rejects: string[];
  /** Milliseconds since 1970, on the platform's clock. */
  askedAt: number;
};

export async function pagesNotKept({ db, held, memory, slackMs }: Evidence): Promise<string[]> {
  const { rows } = await db.query<PageRow>(
    `select resource, day::text, walk, page, ids,
            array(select encode(sha, 'hex') from unnest(rejects) sha) as rejects,
            extract(epoch from asked_at)::float8 * 1000 as "askedAt"
       from sync.pages`,
  );
  return rows
    .flatMap((row) => notKept(row, held[row.resource], memory, slackMs))
    .slice(0, toldAtMost);
}

/**
 * A page of these ids may have been sent several times since it was asked for, with several contents: those of one of
 * the times are held together.
 */
function notKept(
  { resource, day, walk, page, ids, rejects, askedAt }: PageRow,
  held: Contents,
  memory: Memory,
  slackMs: number,
): string[] {
  if (ids.length === 0 && rejects.length === 0) return [];
  const name = `page ${page} of walk ${walk} of ${resource} ${day}`;
  const times = memory.sentWith(resource, { ids, rejects }, askedAt - slackMs);
  if (times.length === 0) return [`${name} was committed and never sent`];
  const isKept = times.some((records) =>
    [...records].every(([id, content]) => held.get(id)?.has(content) === true),
  );
  return isKept ? [] : [`${name} was committed, and not all it carried is held`];
}
