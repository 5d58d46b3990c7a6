// How a command ends badly: one sentence on stderr and the exit code that says what to do next.
import { CommanderError } from 'commander';
import { causeChain, codeOf, exitCode, exitCodeOf, OutlastError } from '../errors.ts';
import { printable } from './terminal-text.ts';

/** Prints what went wrong and leaves with its exit code. */
export async function endWith(error: unknown): Promise<never> {
  if (error instanceof CommanderError) {
    // commander has printed its sentence, or the help that was asked for.
    process.exit(error.exitCode === 0 ? exitCode.done : exitCode.usage);
  }
  const known = error instanceof OutlastError ? error : await knownDatabaseError(error);
  const text = known === null ? await unexpected(error) : sentence(known);
  // A message may quote the platform. Line breaks are ours: settings are told a line each.
  process.stderr.write(`outlast: ${text.split('\n').map(printable).join('\n')}\n`);
  process.exit(known === null ? exitCode.failed : exitCodeOf(known));
}

function sentence(error: OutlastError): string {
  // A settings error is written for the person; the causes of the others say what happened.
  return error.kind === 'settings' ? error.message : causeChain(error);
}

async function unexpected(error: unknown): Promise<string> {
  const { wantsTraces } = await import('../settings.ts');
  const trace = wantsTraces() && error instanceof Error ? `\n${error.stack}` : '';
  return `something unexpected happened: ${causeChain(error)}${trace}`;
}

/** A connection lost or refused in the middle of the work, as the same sentence as at the start. */
async function knownDatabaseError(error: unknown): Promise<OutlastError | null> {
  const code = codeOf(error);
  // SQLSTATEs have five characters; network codes are words.
  const isConnection =
    code !== undefined &&
    (/^(08|57P|28|53)...?$/.test(code) || /^E(CONN|PIPE|HOST|TIMEDOUT|NOTFOUND)/.test(code));
  if (!isConnection) return null;
  const { connectionError } = await import('../store/db.ts');
  return connectionError(error);
}
