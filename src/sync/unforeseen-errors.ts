// Errors that nobody foresaw: whether one concerns all the work or only the slice, operation or snapshot it came up
// with, and what is kept of it there. When it is tried again: due-times.ts.
import { causeChain, codeOf, isOutlastError, OutlastError } from '../errors.ts';
import { createHide } from '../platform/refusal.ts';
import { databaseError } from '../store/db-errors.ts';
import type { Worker } from './worker.ts';

/** So many in a row that fail in the same way end the work of this run: it is no single one's fault. */
const sameInARow = 10;

type Repetition = {
  /** What came of one: its text, or null where it went well or failed otherwise. */
  note(text: string | null): void;
  isTooOften(): boolean;
};

/** Counts how often in a row the same text was noted. */
export function createRepetition(): Repetition {
  let last: string | null = null;
  let times = 0;
  return {
    note: (text) => {
      times = text !== null && text === last ? times + 1 : 1;
      last = text;
    },
    isTooOften: () => last !== null && times >= sameInARow,
  };
}

/** Too little memory, or too little room for temporary files: a larger slice needs more of both than its neighbours. */
const ofOneStatement: ReadonlySet<string> = new Set(['53200', '53400']);

/**
 * Whether an error concerns all the work, so that going on with another slice is of no use. What we raise ourselves
 * says what it concerns and is left to its catchers. Of the database's errors those of a statement's data concern that
 * alone. Where something passes for one slice's fault and is everybody's, the statement that is to note it fails as
 * well.
 */
export function concernsAll(error: unknown): boolean {
  if (ofOneStatement.has(codeOf(error) ?? '')) return false;
  // An answer that is of no use was foreseen, and concerns whatever asked for it.
  if (isUnusable(error)) return false;
  if (error instanceof OutlastError || databaseError(error) !== null) return true;
  const code = codeOf(error);
  if (code === undefined || code.startsWith('ERR_')) return false;
  // SQLSTATE classes: cardinality, data, constraints, check options, limits of a program, what a trigger raises. All
  // others, and what the system says (EMFILE, ENOSPC), are met everywhere.
  return !/^(?:21|22|23|44|54|P0)[0-9A-Z]{3}$/.test(code);
}

/**
 * What is kept of it: storable, short, and without what it may quote of a record (P10). Of the database's errors that
 * is where they come from, for their sentences are in any language.
 */
export function unforeseenText(error: unknown, { source }: Pick<Worker, 'source'>): string {
  if (isUnusable(error)) return createHide(source.apiKey)(causeChain(error));
  const code = codeOf(error);
  const name = error instanceof Error ? error.name : typeof error;
  const said = ofOneStatement.has(code ?? '')
    ? (databaseError(error)?.message ?? '')
    : code !== undefined && isSqlState.test(code)
      ? `the database refused it (${[code, ...placesOf(error)].join(', ')})`
      : `${name}: ${causeChain(error).replaceAll(quoted, '"…"')}`;
  return createHide(source.apiKey)(`something unforeseen: ${said}`);
}

const isUnusable = (error: unknown): boolean =>
  isOutlastError(error, 'platform_unusable', 'unusable_answer');

const isSqlState = /^[0-9A-Z]{5}$/;

/** Engines quote what they complain of; names of properties may stay. Without an end, up to the end. */
const quoted = /"[^"]*(?:"|$)|`[^`]*(?:`|$)|'(?![\w.]{1,64}')[^']*(?:'|$)/g;

/** Where in the database: names of ours and of Postgres' own. */
function placesOf(error: unknown): string[] {
  const names = ['table', 'column', 'constraint', 'dataType', 'routine'];
  const of = new Map(Object.entries(typeof error === 'object' && error !== null ? error : {}));
  return names.flatMap((name) => {
    const place: unknown = of.get(name);
    return typeof place === 'string' ? [`${name} ${place}`] : [];
  });
}
