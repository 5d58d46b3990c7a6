// Faults that are done to an answer's content: records repeated, moved or left out, totals that lie, and answers
// that are none.
import type { FaultRule, Hits } from './faults.ts';
import {
  forbidden,
  noSuchPath,
  ok,
  refusal,
  type SimulatedAnswer,
  type SimulatedPage,
  type SimulatedRow,
} from './page.ts';

const html = (status: number): SimulatedAnswer => ({
  status,
  body: `<!DOCTYPE html><html><head><title>${status}</title></head><body><h1>Please wait</h1></body></html>`,
  headers: { 'content-type': 'text/html; charset=utf-8' },
});

/** The answer a fault gives in the platform's stead; null if none of them does. */
export function faultAnswer(hits: Hits): SimulatedAnswer | null {
  if (hits.size === 0) return null;
  const tooMany = hits.get('tooMany');
  if (tooMany !== undefined) {
    const answer = refusal(429, 'TOO_MANY_REQUESTS', 'too many requests');
    if (tooMany.retryAfter === undefined) return answer;
    return { ...answer, headers: { 'retry-after': String(tooMany.retryAfter) } };
  }
  const serverError = hits.get('serverError');
  if (serverError !== undefined) {
    return refusal(serverError.status ?? 500, 'INTERNAL_ERROR', 'internal server error');
  }
  const poisoned = hits.get('poisonError');
  if (poisoned !== undefined) return refusal(poisoned.status ?? 400, 'BAD\0', 'no\0 \ud800');
  const htmlPage = hits.get('htmlPage');
  if (htmlPage !== undefined) return html(htmlPage.status ?? 200);
  if (hits.has('textNotFound')) return noSuchPath;
  if (hits.has('hollow')) return ok('{"data":{}}');
  const refused = hits.get('forbidden');
  return refused === undefined ? null : forbidden(refused.status);
}

/** What a page shows after the faults that hit it. Its keys stay those of the whole page, as its total does. */
export function mangle(page: SimulatedPage, hits: Hits): { rows: SimulatedRow[]; total: number } {
  if (hits.has('emptied')) return { rows: [], total: 0 };
  let { rows } = page;
  const dropped = hits.get('dropped');
  if (dropped !== undefined) rows = without(rows, dropped);
  const duplicated = hits.get('duplicated');
  if (duplicated !== undefined) rows = [...rows, ...rows.slice(-(duplicated.rows ?? 1))];
  const giant = hits.get('giant');
  if (giant !== undefined) rows = grown(rows, giant);
  return {
    rows,
    // Nobody counts fewer than none.
    total: Math.max(
      0,
      page.total + (hits.has('lyingTotal') ? (hits.get('lyingTotal')?.by ?? 1) : 0),
    ),
  };
}

function without(rows: readonly SimulatedRow[], { ids, rows: count }: FaultRule): SimulatedRow[] {
  if (ids === undefined) return rows.slice(0, Math.max(0, rows.length - (count ?? 1)));
  return rows.filter((row) => !ids.includes(row.id()));
}

/** Records with a field more, of so many bytes. */
function grown(
  rows: readonly SimulatedRow[],
  { ids, bytes = 1_000_000 }: FaultRule,
): SimulatedRow[] {
  const field = `,"padding":"${'\\"'.repeat(Math.ceil(bytes / 2))}"}`;
  return rows.map((row, i) => {
    const isHit = ids === undefined ? i === 0 : ids.includes(row.id());
    return isHit ? { ...row, text: row.text.replace(/\}\s*$/, () => field) } : row;
  });
}
