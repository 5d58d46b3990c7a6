// Faults on demand: what goes wrong, when, and on which path. By chance (seeded, a function of the request's
// number) or counted. What a fault does to an answer stands in mangle.ts and delivery.ts,
// what it does to a question in handler.ts.
import { mix, textSeed, unit } from './world.ts';

/** Each fault with what it does; of its details those named in braces apply. */
export const faultSentences = {
  tooMany: 'answers 429; {retryAfter} seconds or an HTTP date go into Retry-After',
  serverError: 'answers {status} (500) with an error envelope',
  poisonError:
    'answers {status} (400) with an error whose code and message hold U+0000 and a lone surrogate',
  htmlPage: 'answers {status} (200) with an HTML page',
  textNotFound: 'answers 404 with the bare text `404 page not found`',
  forbidden: 'answers {status} (403) though key and signature are right',
  reset: 'resets the connection instead of answering',
  truncated: 'breaks the connection off in the middle of the body',
  hang: 'never answers',
  slow: 'answers {ms} (2000) milliseconds later',
  wrongDate: 'the Date header is off by {ms} (3600000), which may be negative',
  duplicated: 'shows {rows} (1) records of the page twice',
  dropped: 'leaves records out while totals count them: those of {ids}, or the last {rows} (1)',
  giant:
    "the page's first record, or those of {ids}, have {bytes} (1000000) more, in quotation marks",
  lyingTotal: 'the total is off by {by} (1), which may be negative',
  emptied: 'shows no record and counts none',
  hollow: 'answers 200 with {"data":{}}: no list, no total, no key',
  stale: 'answers as it did {ms} (60000) milliseconds ago, as a lagging copy would',
} as const;

export type FaultName = keyof typeof faultSentences;

export type FaultRule = {
  /** Chance for each request, 0–1. Without `share` and `next` every request is hit. */
  share?: number;
  /** The next so many requests. */
  next?: number;
  /** Only paths that begin so. */
  path?: string;
  /** Only requests whose query has this text in it, as it stands in the URL; or has it not. */
  with?: string;
  without?: string;
  status?: number;
  retryAfter?: number | string;
  ms?: number;
  rows?: number;
  ids?: string[];
  by?: number;
  bytes?: number;
};

/** Several rules may stand for one fault; null ends it. */
export type Faults = { [N in FaultName]: FaultRule | readonly FaultRule[] | null };

/** Faults that were checked: an empty list ends one. */
export type FaultRules = Partial<Record<FaultName, FaultRule[]>>;

/** The faults that hit one request, with the rule's details. */
export type Hits = ReadonlyMap<FaultName, FaultRule>;

export type FaultPlan = {
  set(faults: Partial<Faults>): void;
  /** Decides for request number `request`; counted rules count down. */
  draw(path: string, query: string, request: number): Hits;
};

const noHits: Hits = new Map();

export function createFaultPlan(seed: number): FaultPlan {
  const plan = new Map<FaultName, FaultRule[]>();

  function set(faults: Partial<Faults>): void {
    for (const [name, given] of Object.entries(faults) as [FaultName, Faults[FaultName]][]) {
      const rules = given === null ? [] : isRules(given) ? given : [given];
      // Copies: `next` counts down here, not in the caller's object.
      if (rules.length === 0) plan.delete(name);
      else
        plan.set(
          name,
          rules.map((rule) => ({ ...rule })),
        );
    }
  }

  function draw(path: string, query: string, request: number): Hits {
    if (plan.size === 0) return noHits;
    const hits = new Map<FaultName, FaultRule>();
    for (const [name, rules] of plan) {
      const hit = rules.find((rule, i) =>
        isHit(rule, path, query, mix(mix(seed, textSeed(name) + i), request)),
      );
      if (hit !== undefined) hits.set(name, hit);
    }
    return hits;
  }

  return { set, draw };
}

const isRules = (given: FaultRule | readonly FaultRule[]): given is readonly FaultRule[] =>
  Array.isArray(given);

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
