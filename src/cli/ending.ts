// How a command ends badly: one sentence on stderr and the exit code that says what to do next.
import { CommanderError } from 'commander';
import { causeChain, exitCode, exitCodeOf, OutlastError } from '../errors.ts';
import { wantsTraces } from '../settings.ts';
import { connectionError } from '../store/db.ts';

/** Prints what went wrong and leaves with its exit code. */
export function endWith(error: unknown): never {
  if (error instanceof CommanderError) {
    // commander has printed its sentence, or the help that was asked for.
    process.exit(error.exitCode === 0 ? exitCode.done : exitCode.usage);
  }
  const known = error instanceof OutlastError ? error : knownDatabaseError(error);
  process.stderr.write(`outlast: ${known === null ? unexpected(error) : sentence(known)}\n`);
  process.exit(known === null ? exitCode.failed : exitCodeOf(known));
}

function sentence(error: OutlastError): string {
  // A settings error is written for the person; the causes of the others say what happened.
  return error.kind === 'settings' ? error.message : causeChain(error);
}

function unexpected(error: unknown): string {
  const trace = wantsTraces() && error instanceof Error ? `\n${error.stack}` : '';
  return `something unexpected happened: ${causeChain(error)}${trace}`;
}

/** A connection lost or refused in the middle of the work, as the same sentence as at the start. */
function knownDatabaseError(error: unknown): OutlastError | null {
  const code = (error as { code?: unknown } | null)?.code;
  const isConnection =
    typeof code === 'string' && /^(08|57P|28|53)|^E(CONN|PIPE|HOST|TIMEDOUT|NOTFOUND)/.test(code);
  return isConnection ? connectionError(error) : null;
}
