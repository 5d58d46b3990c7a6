#!/usr/bin/env node
// The command `outlast`: hands the arguments to the program and turns what comes back into an exit code.
import { endWith, unprinted } from './cli/exit.ts';
import { runProgram } from './cli/program.ts';
import { exitCode } from './errors.ts';

let readerLeft = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early (`| head`) has what it wanted. The command goes on to its orderly end: leaving
  // here would leave leases and an embedded Postgres behind.
  if (error.code === 'EPIPE') readerLeft = true;
  else void endWith(unprinted(error));
});
process.on('unhandledRejection', (error) => void endWith(error));
process.on('uncaughtException', (error) => void endWith(error));

try {
  await runProgram(process.argv.slice(2));
} catch (error) {
  // What streams to stdout fails with the pipe; that is no failure either.
  const isBrokenPipe = (error as { code?: unknown } | null)?.code === 'EPIPE';
  if (readerLeft && isBrokenPipe) process.exit(exitCode.done);
  await endWith(error);
}
