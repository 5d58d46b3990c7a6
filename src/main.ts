#!/usr/bin/env node
// The command `outlast`: hands the arguments to the program and turns what comes back into an exit code. The program is
// loaded only where more is asked for than the version.
import type * as Exit from './cli/exit.ts';
import { exitCode } from './errors.ts';
import { version } from './version.ts';

// An older one would end with an error of syntax in what it loads. Debian 12 has 18.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  const needs = `Outlast needs Node 20.19 or newer, and this is ${process.versions.node}`;
  process.stderr.write(`outlast: ${needs}. Install a newer one (https://nodejs.org).\n`);
  process.exit(exitCode.usage);
}

// Node has it from 21 on. Where it is missing, pg has Node load a fetch of its own to learn where it runs: 45 ms.
if (!('navigator' in globalThis)) {
  Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Node.js' } });
}

/** What ends a command is loaded when one ends badly; where that fails, what is installed is not whole. */
const loadExit = (): Promise<typeof Exit> =>
  import('./cli/exit.ts').catch((error: unknown): never => {
    process.stderr.write(`outlast: ${String(error)}\n`);
    process.exit(exitCode.failed);
  });
const endWith = async (error: unknown): Promise<never> => (await loadExit()).endWith(error);
const endUnprinted = async (error: Error): Promise<never> =>
  endWith((await loadExit()).unprinted(error));

let isRunning = true;
let unwritten: Error | undefined;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early (`| head`) has what it wanted; a terminal that was closed answers EIO.
  if (error.code === 'EPIPE' || error.code === 'EIO') return;
  // The command goes on to its orderly end: leaving here would leave leases and an embedded Postgres behind.
  unwritten ??= error;
  if (!isRunning) void endUnprinted(error);
});
// A closed stderr, or one on a full disk, loses its lines and does not end the command.
process.stderr.on('error', () => undefined);
process.on('unhandledRejection', (error) => void endWith(error));
process.on('uncaughtException', (error) => void endWith(error));

const args = process.argv.slice(2);
try {
  if (args.length === 1 && ['--version', '-V'].includes(args[0] ?? '')) {
    process.stdout.write(`${version()}\n`);
  } else {
    const { outliveHangUps } = await import('./cli/signals.ts');
    outliveHangUps();
    const { collectInSmallSteps, collectSooner } = await import('./cli/garbage-collection.ts');
    // It serves the archive.
    if (args.includes('start')) collectInSmallSteps();
    const { runProgram } = await import('./cli/program.ts');
    await runProgram(args, collectSooner);
  }
  isRunning = false;
  if (unwritten !== undefined) await endUnprinted(unwritten);
} catch (error) {
  await endWith(error);
}
