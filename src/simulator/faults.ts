// Faults on demand: what goes wrong, when, and on which path. By chance (seeded, a function of the request's
// number) or counted. What a fault does to an answer stands in mangle.ts and delivery.ts.
import { settingsError } from '../errors.ts';
import { mix, textSeed, unit } from './chance.ts';

/** Each fault with what it does; of its details those named in braces apply. */
export const faultSentences = {
  tooMany: 'answers 429; {retryAfter} seconds or an HTTP date go into Retry-After',
  serverError: 'answers {status} (500) with an error envelope',
  htmlError: 'answers {status} (502) with an HTML page',
  htmlPage: 'answers 200 with an HTML page',
  textNotFound: 'answers 404 with the bare text `404 page not found`',
  forbidden: 'answers 403 though key and signature are right',
  reset: 'resets the connection instead of answering',
  truncated: 'breaks the connection off in the middle of the body',
  hang: 'never answers',
  slow: 'answers {ms} (2000) milliseconds later',
  wrongDate: 'the Date header is off by {ms} (3600000), which may be negative',
  duplicated: 'shows {rows} (1) records of the page twice',
  reordered: "shows the page's records in another order",
  dropped:
    'leaves records out while totals count them: those at {positions} (from 0), those of {ids}, or the last {rows} (1)',
  lyingTotal: 'the total is off by {by} (1), which may be negative',
} as const;

export type FaultName = keyof typeof faultSentences;

export type FaultRule = {
  /** Chance for each request, 0–1. Without `share` and `next` every request is hit. */
  share?: number;
  /** The next so many requests. */
  next?: number;
  /** Only paths that begin so. */
  path?: string;
  status?: number;
  retryAfter?: number | string;
  ms?: number;
  rows?: number;
  positions?: number[];
  ids?: string[];
  by?: number;
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
  draw(path: string, request: number): Hits;
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

  function draw(path: string, request: number): Hits {
    if (plan.size === 0) return noHits;
    const hits = new Map<FaultName, FaultRule>();
    for (const [name, rules] of plan) {
      const hit = rules.find((rule, i) =>
        isHit(rule, path, mix(mix(seed, textSeed(name) + i), request)),
      );
      if (hit !== undefined) hits.set(name, hit);
    }
    return hits;
  }

  return { set, draw };
}

const isRules = (given: FaultRule | readonly FaultRule[]): given is readonly FaultRule[] =>
  Array.isArray(given);

function isHit(rule: FaultRule, path: string, chance: number): boolean {
  if (rule.path !== undefined && !path.startsWith(rule.path)) return false;
  if (rule.next !== undefined && rule.next > 0) {
    rule.next--;
    return true;
  }
  if (rule.share !== undefined) return unit(chance) < rule.share;
  return rule.next === undefined;
}

/** Checks faults that came as JSON. Throws settings `bad_fault` with a sentence that names what there is. */
export function readFaults(given: Record<string, unknown>): FaultRules {
  const faults: FaultRules = {};
  for (const [name, value] of Object.entries(given)) {
    if (!isFaultName(name)) throw bad(`there is no fault "${name}"; there are ${faultList}`);
    if (value === null) faults[name] = [];
    else
      faults[name] = (Array.isArray(value) ? value : [value]).map((rule) => readRule(name, rule));
  }
  return faults;
}

const isFaultName = (name: string): name is FaultName => Object.hasOwn(faultSentences, name);
const faultList = Object.keys(faultSentences).join(', ');
const bad = (sentence: string): Error => settingsError('bad_fault', sentence);

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string';

const details: Record<keyof FaultRule, { is: (value: unknown) => boolean; what: string }> = {
  share: {
    is: (v) => isNumber(v) && Number(v) >= 0 && Number(v) <= 1,
    what: 'a number from 0 to 1',
  },
  next: { is: isCount, what: 'a whole number from 0 on' },
  path: { is: isText, what: 'the beginning of a path' },
  status: { is: (v) => isCount(v) && Number(v) >= 400 && Number(v) < 600, what: 'an error status' },
  retryAfter: { is: (v) => isCount(v) || isText(v), what: 'seconds or an HTTP date' },
  ms: { is: isNumber, what: 'milliseconds' },
  rows: { is: isCount, what: 'a whole number from 0 on' },
  positions: { is: (v) => Array.isArray(v) && v.every(isCount), what: 'a list of positions' },
  ids: { is: (v) => Array.isArray(v) && v.every(isText), what: 'a list of ids' },
  by: { is: (v) => Number.isSafeInteger(v), what: 'a whole number' },
};

function readRule(name: FaultName, given: unknown): FaultRule {
  if (typeof given !== 'object' || given === null)
    throw bad(`the fault ${name} is an object of details`);
  for (const [key, value] of Object.entries(given)) {
    if (!isDetail(key)) {
      throw bad(
        `the fault ${name} has no detail "${key}"; there are ${Object.keys(details).join(', ')}`,
      );
    }
    if (!details[key].is(value)) throw bad(`${key} of the fault ${name} is ${details[key].what}`);
  }
  return given;
}

const isDetail = (name: string): name is keyof FaultRule => Object.hasOwn(details, name);

/**
 * A fault of the command line: `name`, `name=0.05` (a share), `name=3x` (the next three), each with `@/path` and
 * `,detail=value` behind it. Throws settings `bad_fault`.
 */
export function parseFault(text: string): FaultRules {
  const [head = '', ...rest] = text.split(',');
  const parts = /^(\w+)(?:=(\d+)x|=([\d.]+))?(?:@(\/.*))?$/.exec(head);
  if (parts === null) {
    throw bad(
      `"${text}" is no fault: write name, name=0.05 or name=3x, then @/path and ,detail=value as needed`,
    );
  }
  const [, name = '', next, share, path] = parts;
  const rule: Record<string, unknown> = {};
  if (next !== undefined) rule['next'] = Number(next);
  if (share !== undefined) rule['share'] = Number(share);
  if (path !== undefined) rule['path'] = path;
  for (const detail of rest) {
    const [key = '', value = ''] = detail.split('=', 2);
    if (key === 'positions') rule[key] = value.split('+').map(Number);
    else if (key === 'ids') rule[key] = value.split('+');
    else rule[key] = value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  return readFaults({ [name]: rule });
}
