#!/usr/bin/env node
// The command `outlast`: hands the arguments to the program and turns what comes back into an exit code.
import { createProgram } from './cli/program.ts';
import { endWith } from './cli/ending.ts';

process.on('unhandledRejection', (error) => endWith(error));
// A reader that closes the pipe early (`| head`) has what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  endWith(error);
});

try {
  await createProgram().parseAsync();
} catch (error) {
  endWith(error);
}
