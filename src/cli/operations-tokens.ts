// How watched operations and tokens stand, in sentences for `outlast status` and `outlast status --plan`.
import type { OperationsStatus, TokensStatus } from '../query/operations-status.ts';
import { counted, formatCount, formatSpan, formatWhen, momentText } from './print.ts';

const namedAtMost = 5;

/** Lines without their indent; none where nothing was ever watched. */
export function operationLines(operations: OperationsStatus | null): string[] {
  if (operations === null) return [];
  const { open, done, lost, files } = operations;
  const parts = [`${formatCount(done)} done`, `${formatCount(open)} open`];
  if (lost > 0)
    parts.push(`${formatCount(lost)} LOST: they left the window without a final result`);
  if (files > 0) parts.push(`${counted(files, 'certificate file')} kept`);
  return [
    `transactions: ${counted(open + done + lost, 'operation')} watched, ${parts.join(', ')}.`,
    ...operations.lost_named
      .slice(0, namedAtMost)
      .map(({ operation_id: id, reason }) => `LOST ${id}: ${reason ?? 'no reason is known'}`),
    ...more(lost, 'lost'),
    ...operations.problems
      .slice(0, namedAtMost)
      .map(({ operation_id: id, last_error: error }) => `transactions ${id}: ${error}`),
  ];
}

/** The open ones and until when, a line for `outlast status --plan`; none where there are none. `now` is for "in 9 days". */
export function openOperationLines(operations: OperationsStatus | null, now: number): string[] {
  if (operations === null || operations.open === 0) return [];
  const { open, next_deadline_at: deadline } = operations;
  const ops = `${counted(open, 'operation')} open`;
  if (deadline === null) return [`transactions: ${ops}, to be taken in by the next run.`];
  const at = Date.parse(deadline);
  return [
    `transactions: ${ops}, the nearest deadline is ${momentText(at)} (UTC), ${formatWhen(at - now)}.`,
  ];
}

const more = (count: number, state: string): string[] =>
  count > namedAtMost
    ? [`and ${count - namedAtMost} more ${state}: analytics.watched_operations names them all`]
    : [];

/** `now` in milliseconds, for "3 h ago". */
export function tokenLines(tokens: TokensStatus | null, now: number): string[] {
  if (tokens === null) return [];
  const { held, missing, taken_at: takenAt, last_error: error } = tokens;
  const gone = missing > 0 ? `, ${formatCount(missing)} of them no longer listed` : '';
  const read =
    takenAt === null
      ? 'never read'
      : `read ${formatSpan(Math.max(0, now - Date.parse(takenAt)))} ago`;
  return [
    `tokens: ${formatCount(held)} held${gone}, ${read}${error === null ? '.' : `: ${error}`}`,
  ];
}
