// How a command ends badly: one sentence on stderr and the exit code that says what to do next.
import { CommanderError } from 'commander';
import { causeChain, codeOf, exitCode, exitCodeOf, fatal, OutlastError } from '../errors.ts';
import { printable, printError } from './print.ts';

/** Prints what went wrong and leaves with its exit code. */
export async function endWith(error: unknown): Promise<never> {
  let cause = error;
  if (error instanceof CommanderError) {
    // commander has printed its sentence, or the help that was asked for: to a full disk nothing was printed.
    const unwritten = await new Promise((resolve) => process.stdout.write('', resolve));
    if (!(unwritten instanceof Error) || codeOf(unwritten) === 'EPIPE') {
      process.exit(error.exitCode === 0 ? exitCode.done : exitCode.usage);
    }
    cause = unprinted(unwritten);
  }
  const { text, code } = await verdictOn(cause);
  printError(`outlast: ${text}`);
  // A judgement stands, though it could not be printed.
  process.exit(process.exitCode || code);
}

/** What a command was to print went nowhere: `error` is what stdout said. */
export const unprinted = (error: Error): OutlastError =>
  fatal('output_not_written', 'What was to be printed could not be written', error);

/** What to say of an error, safe for a terminal, and the exit code it stands for. */
export async function verdictOn(error: unknown): Promise<{ text: string; code: number }> {
  const known = error instanceof OutlastError ? error : await knownDatabaseError(error);
  const text = known === null ? await unexpected(error) : sentence(known);
  return {
    // A message may quote the platform. Line breaks are ours: settings are told a line each.
    text: text.split('\n').map(printable).join('\n'),
    code: known === null ? exitCode.failed : exitCodeOf(known),
  };
}

function sentence(error: OutlastError): string {
  // A settings error is written for the person; the causes of the others say what happened.
  return error.kind === 'settings' ? error.message : causeChain(error);
}

async function unexpected(error: unknown): Promise<string> {
  const { wantsTraces } = await import('../settings/settings.ts');
  const trace = wantsTraces() && error instanceof Error ? `\n${error.stack}` : '';
  return `something unexpected happened: ${causeChain(error)}${trace}`;
}

/** What the database did in the middle of the work, as the same sentence as at the start. */
async function knownDatabaseError(error: unknown): Promise<OutlastError | null> {
  // Without a code it is none of the database's; its code is loaded for no other mistake.
  if (codeOf(error) === undefined) return null;
  const { databaseError } = await import('../store/db-errors.ts');
  return databaseError(error);
}
