// Faults as people and programs write them: JSON, or words of the command line. Checked here, believed everywhere else.
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
  with: { is: isText, what: 'a part of a query' },
  without: { is: isText, what: 'a part of a query' },
  status: { is: (v) => isCount(v) && Number(v) >= 400 && Number(v) < 600, what: 'an error status' },
  retryAfter: { is: (v) => isCount(v) || isText(v), what: 'seconds or an HTTP date' },
  ms: { is: isNumber, what: 'milliseconds' },
  rows: { is: isCount, what: 'a whole number from 0 on' },
  positions: { is: (v) => Array.isArray(v) && v.every(isCount), what: 'a list of positions' },
  ids: { is: (v) => Array.isArray(v) && v.every(isText), what: 'a list of ids' },
  bytes: { is: isCount, what: 'a whole number from 0 on' },
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
    // A part of a query has an equals sign of its own.
    const [, key = detail, value = ''] = /^([^=]*)=(.*)$/s.exec(detail) ?? [];
    if (key === 'positions') rule[key] = value.split('+').map(Number);
    else if (key === 'ids') rule[key] = value.split('+');
    else rule[key] = value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  return readFaults({ [name]: rule });
}
