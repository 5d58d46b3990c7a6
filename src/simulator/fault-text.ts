// Faults as people and programs write them: JSON, or words of the command line. Checked here, believed everywhere else.
import { z } from 'zod';
import { settingsError } from '../errors.ts';
import { type FaultName, type FaultRule, type FaultRules, faultSentences } from './faults.ts';

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

const count = z.int().min(0);
const text = z.string();

/** Each detail of a rule, and what it is in words. */
const details = {
  share: z.number().min(0).max(1).describe('a number from 0 to 1'),
  next: count.describe('a whole number from 0 on'),
  path: text.describe('the beginning of a path'),
  with: text.describe('a part of a query'),
  without: text.describe('a part of a query'),
  status: z.int().min(400).max(599).describe('an error status'),
  retryAfter: z.union([count, text]).describe('seconds or an HTTP date'),
  ms: z.number().describe('milliseconds'),
  rows: count.describe('a whole number from 0 on'),
  positions: z.array(count).describe('a list of positions'),
  ids: z.array(text).describe('a list of ids'),
  bytes: count.describe('a whole number from 0 on'),
  by: z.int().describe('a whole number'),
} satisfies Record<keyof FaultRule, z.ZodType>;
const rule = z.strictObject(details).partial();
const isRule = (given: unknown): given is FaultRule => rule.safeParse(given).success;

function readRule(name: FaultName, given: unknown): FaultRule {
  if (isRule(given)) return given;
  if (typeof given !== 'object' || given === null)
    throw bad(`the fault ${name} is an object of details`);
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(details, key)) {
      throw bad(
        `the fault ${name} has no detail "${key}"; there are ${Object.keys(details).join(', ')}`,
      );
    }
    const detail = details[key as keyof FaultRule];
    if (!detail.safeParse(value).success)
      throw bad(`${key} of the fault ${name} is ${detail.description}`);
  }
  throw bad(`the fault ${name} is an object of details`);
}

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
    // A part of a query has an equals sign of its own.
    const [, key = detail, value = ''] = /^([^=]*)=(.*)$/s.exec(detail) ?? [];
    if (key === 'positions') rule[key] = value.split('+').map(Number);
    else if (key === 'ids') rule[key] = value.split('+');
    else rule[key] = value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  return readFaults({ [name]: rule });
}
