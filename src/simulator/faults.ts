// Faults on demand: what goes wrong, when, and on which path. By chance (seeded, a function of the request's number) or
// counted. Those of an answer's content and those that answer in the platform's stead are done here, those of the
// connection, and what they do to a question, in simulator-server.ts.
import { z } from 'zod';
import { settingsError } from '../errors.ts';
import { forbidden, noSuchPath, ok, refusal, type SimulatedAnswer } from './simulated-answers.ts';
import type { ShownRecord, SimulatedPage } from './simulated-pages.ts';
import { mix, textSeed, unit } from './world.ts';

/** Each fault with what it does; of its details those named in braces apply. */
export const faultSentences = {
  tooMany: 'answers 429; {retryAfter} seconds or an HTTP date go into Retry-After',
  serverError: 'answers {status} (500) with an error envelope',
  htmlPage: 'answers {status} (200) with an HTML page',
  textNotFound: 'answers 404 with the bare text `404 page not found`',
  forbidden: 'answers {status} (403) though key and signature are right',
  reset: 'resets the connection instead of answering',
  truncated: 'breaks the connection off in the middle of the body',
  hang: 'never answers',
  slow: 'answers {ms} (2000) milliseconds later',
  wrongDate: 'the Date header is off by {ms} (3600000), which may be negative',
  duplicated: 'shows {rows} (1) records of the page twice',
  dropped:
    'leaves records out while totals count them: those of {ids} (a+b), or the last {rows} (1)',
  giant:
    "the page's first record, or those of {ids}, have {bytes} (1000000) more, in quotation marks",
  lyingTotal: 'the total is off by {by} (1), which may be negative',
  emptied: 'shows no record and counts none',
  hollow: 'answers 200 with {"data":{}}: no list, no total, no key',
  stale: 'answers as it did {ms} (60000) milliseconds ago, as a lagging copy would',
} as const;

export type FaultName = keyof typeof faultSentences;

const whole = z.int().min(0).describe('a whole number from 0 on');

const ruleSchema = z.strictObject({
  /** Chance for each request, 0–1. Without `share` and `next` every request is hit. */
  share: z.number().min(0).max(1).describe('a number from 0 to 1').optional(),
  /** The next so many requests. */
  next: whole.optional(),
  /** Only paths that begin so. */
  path: z.string().describe('the beginning of a path').optional(),
  /** Only requests whose query has this text in it, as it stands in the URL; or has it not. */
  with: z.string().describe('a part of a query').optional(),
  without: z.string().describe('a part of a query').optional(),
  status: z.int().min(200).max(599).describe('a status').optional(),
  retryAfter: z.union([whole, z.string()]).describe('seconds or an HTTP date').optional(),
  ms: z.number().describe('milliseconds').optional(),
  rows: whole.optional(),
  ids: z.array(z.string()).describe('a list of ids').optional(),
  bytes: whole.optional(),
  by: z.int().describe('a whole number').optional(),
});

type Loose<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
type FaultRule = Loose<z.output<typeof ruleSchema>>;

/** Several rules may stand for one fault; null ends it. */
export type Faults = { [N in FaultName]: FaultRule | readonly FaultRule[] | null };

/** The faults that hit one request, with the rule's details. */
export type Hits = ReadonlyMap<FaultName, FaultRule>;

export function createFaultPlan(seed: number) {
  const plan = new Map<FaultName, FaultRule[]>();
  return {
    set: (faults: Partial<Faults>): void => {
      for (const [name, given] of Object.entries(faults) as [FaultName, Faults[FaultName]][]) {
        // Copies: `next` counts down here, not in the caller's object.
        plan.set(
          name,
          [given ?? []].flat().map((rule) => ({ ...rule })),
        );
      }
    },
    /** Decides for request number `request`; counted rules count down. */
    draw: (path: string, query: string, request: number): Hits => {
      const hits = new Map<FaultName, FaultRule>();
      for (const [name, rules] of plan) {
        const hit = rules.find((rule, i) =>
          isHit(rule, path, query, mix(mix(seed, textSeed(name) + i), request)),
        );
        if (hit !== undefined) hits.set(name, hit);
      }
      return hits;
    },
  };
}

function isHit(rule: FaultRule, path: string, query: string, chance: number): boolean {
  if (rule.path !== undefined && !path.startsWith(rule.path)) return false;
  if (rule.with !== undefined && !query.includes(rule.with)) return false;
  if (rule.without !== undefined && query.includes(rule.without)) return false;
  if (rule.next !== undefined && rule.next > 0) {
    rule.next--;
    return true;
  }
  if (rule.share !== undefined) return unit(chance) < rule.share;
  return rule.next === undefined;
}

/** The faults that answer in the platform's stead; of several the first does. */
const answers: { [N in FaultName]?: (rule: FaultRule) => SimulatedAnswer } = {
  tooMany: ({ retryAfter }) => ({
    ...refusal(429, 'TOO_MANY_REQUESTS', 'too many requests'),
    ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
  }),
  serverError: ({ status = 500 }) => refusal(status, 'INTERNAL_ERROR', 'internal server error'),
  htmlPage: ({ status = 200 }) => ({
    status,
    body: `<!DOCTYPE html><html><head><title>${status}</title></head><body><h1>Please wait</h1></body></html>`,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  }),
  textNotFound: () => noSuchPath,
  hollow: () => ok('{"data":{}}'),
  forbidden: ({ status }) => forbidden(status),
};

/** Null: none of them does. */
export function faultAnswer(hits: Hits): SimulatedAnswer | null {
  for (const [name, answer] of Object.entries(answers)) {
    const rule = hits.get(name as FaultName);
    if (rule !== undefined) return answer(rule);
  }
  return null;
}

/** What a page shows after the faults that hit it. Its keys stay those of the whole page, as its total does. */
export function mangle(page: SimulatedPage, hits: Hits): { rows: ShownRecord[]; total: number } {
  if (hits.has('emptied')) return { rows: [], total: 0 };
  let { rows, total } = page;
  const dropped = hits.get('dropped');
  if (dropped !== undefined) rows = without(rows, dropped);
  const duplicated = hits.get('duplicated');
  if (duplicated !== undefined) rows = [...rows, ...rows.slice(-(duplicated.rows ?? 1))];
  const giant = hits.get('giant');
  if (giant !== undefined) rows = grown(rows, giant);
  const lyingTotal = hits.get('lyingTotal');
  // Nobody counts fewer than none.
  if (lyingTotal !== undefined) total = Math.max(0, total + (lyingTotal.by ?? 1));
  return { rows, total };
}

function without(rows: readonly ShownRecord[], { ids, rows: count }: FaultRule): ShownRecord[] {
  if (ids === undefined) return rows.slice(0, Math.max(0, rows.length - (count ?? 1)));
  return rows.filter(({ id }) => !ids.includes(id));
}

/** Records with a field more, of so many bytes. */
function grown(rows: readonly ShownRecord[], { ids, bytes = 1_000_000 }: FaultRule): ShownRecord[] {
  const field = `,"padding":"${'\\"'.repeat(Math.ceil(bytes / 2))}"}`;
  return rows.map(({ id, text }, i) => {
    const isHit = ids === undefined ? i === 0 : ids.includes(id);
    return { id, text: isHit ? text.replace(/\}\s*$/, () => field) : text };
  });
}

const bad = (sentence: string): Error => settingsError('bad_fault', sentence);
const isFaultName = (name: string): name is FaultName => Object.hasOwn(faultSentences, name);

/**
 * Faults of the command line: `name`, `name=0.05` (a share), `name=3x` (the next three), each with `@/path` and
 * `,detail=value` behind it; one that is named several times has several rules. Throws settings `bad_fault`.
 */
export function readFaults(texts: readonly string[]): Partial<Faults> {
  const faults: Partial<Record<FaultName, FaultRule[]>> = {};
  for (const text of texts) {
    const [name, rule] = readFault(text);
    (faults[name] ??= []).push(rule);
  }
  return faults;
}

function readFault(text: string): [FaultName, FaultRule] {
  const [head = '', ...rest] = text.split(',');
  const parts = /^(\w+)(?:=(\d+)x|=([\d.]+))?(?:@(\/.*))?$/.exec(head);
  if (parts === null) {
    throw bad(
      `"${text}" is no fault: write name, name=0.05 or name=3x, then @/path and ,detail=value as needed`,
    );
  }
  const [, name = '', next, share, path] = parts;
  if (!isFaultName(name)) {
    throw bad(`there is no fault "${name}"; there are ${Object.keys(faultSentences).join(', ')}`);
  }
  const rule: Record<string, unknown> = {
    ...(next !== undefined && { next: Number(next) }),
    ...(share !== undefined && { share: Number(share) }),
    ...(path !== undefined && { path }),
  };
  for (const detail of rest) {
    // A part of a query has an equals sign of its own.
    const [, key = detail, value = ''] = /^([^=]*)=(.*)$/s.exec(detail) ?? [];
    if (key === 'ids') rule[key] = value.split('+');
    else rule[key] = value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  for (const [key, value] of Object.entries(rule)) {
    const details = ruleSchema.shape;
    if (!Object.hasOwn(details, key)) {
      throw bad(
        `the fault ${name} has no detail "${key}"; there are ${Object.keys(details).join(', ')}`,
      );
    }
    const detail = details[key as keyof FaultRule].unwrap();
    if (!detail.safeParse(value).success) {
      throw bad(`${key} of the fault ${name} is ${detail.description}`);
    }
  }
  return [name, rule];
}
