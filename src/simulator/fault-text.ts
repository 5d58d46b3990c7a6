// Faults as words of the command line. Checked here, believed everywhere else.
import { z } from 'zod';
import { settingsError } from '../errors.ts';
import { type FaultName, type FaultRule, type FaultRules, faultSentences } from './faults.ts';

const isFaultName = (name: string): name is FaultName => Object.hasOwn(faultSentences, name);
const bad = (sentence: string): Error => settingsError('bad_fault', sentence);

const count = z.int().min(0).describe('a whole number from 0 on');
const partOfQuery = z.string().describe('a part of a query');

/** Each detail of a rule, and what it is in words. */
const details = {
  share: z.number().min(0).max(1).describe('a number from 0 to 1'),
  next: count,
  path: z.string().describe('the beginning of a path'),
  with: partOfQuery,
  without: partOfQuery,
  status: z.int().min(200).max(599).describe('a status'),
  retryAfter: z.union([count, z.string()]).describe('seconds or an HTTP date'),
  ms: z.number().describe('milliseconds'),
  rows: count,
  ids: z.array(z.string()).describe('a list of ids'),
  bytes: count,
  by: z.int().describe('a whole number'),
} satisfies Record<keyof FaultRule, z.ZodType>;

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
  if (!isFaultName(name)) {
    throw bad(`there is no fault "${name}"; there are ${Object.keys(faultSentences).join(', ')}`);
  }
  const rule: Record<string, unknown> = {};
  if (next !== undefined) rule['next'] = Number(next);
  if (share !== undefined) rule['share'] = Number(share);
  if (path !== undefined) rule['path'] = path;
  for (const detail of rest) {
    // A part of a query has an equals sign of its own.
    const [, key = detail, value = ''] = /^([^=]*)=(.*)$/s.exec(detail) ?? [];
    if (key === 'ids') rule[key] = value.split('+');
    else rule[key] = value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  return { [name]: [readRule(name, rule)] };
}

function readRule(name: FaultName, given: Record<string, unknown>): FaultRule {
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
  return given;
}
