// The wall clock of child processes: moved together with a simulator's, or away from it. See machine-clock.mjs.
import { existsSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Simulator } from '../../src/simulator/simulator-server.ts';

/** The compiler leaves it where it is: from dist/ it is looked for among the sources. */
const beside = new URL('machine-clock.mjs', import.meta.url);
const preload = fileURLToPath(
  existsSync(beside) ? beside : new URL('../../../test/support/machine-clock.mjs', import.meta.url),
);

/** For child processes whose wall clock stands still, as that of a simulator at speed 0. */
export const stoppedAt = (at: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${preload}`,
  MACHINE_CLOCK_NOW: String(at),
});

export type MachineClock = ReturnType<typeof createMachineClock>;

export function createMachineClock(at: number, speed = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'outlast-clock-'));
  const file = join(folder, 'clock.json');
  /** From now on it is then, and goes on at that speed; every process hears of it within moments. */
  const set = (next: number, nextSpeed = speed): void => {
    const told = { at: next, since: Date.now(), speed: nextSpeed };
    writeFileSync(`${file}.new`, JSON.stringify(told));
    renameSync(`${file}.new`, file);
  };
  set(at);
  return {
    /** What a child process needs to live by it. */
    env: { NODE_OPTIONS: `--import=${preload}`, MACHINE_CLOCK_FILE: file },
    set,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The simulator, and a machine that is moved whenever its clock is. `speed` is the simulator's own. */
export function withMachine(
  simulator: Simulator,
  speed: number,
): { simulator: Simulator; machine: MachineClock } {
  const machine = createMachineClock(simulator.clock.now(), speed);
  const follow = (): void => machine.set(simulator.clock.now(), speed);
  return {
    machine,
    simulator: {
      ...simulator,
      setNow: (at) => {
        simulator.setNow(at);
        follow();
      },
      advance: (byMs) => {
        simulator.advance(byMs);
        follow();
      },
      clock: {
        ...simulator.clock,
        setSpeed: (next) => {
          simulator.clock.setSpeed(next);
          speed = next;
          follow();
        },
      },
      close: async () => {
        await simulator.close();
        await machine.remove();
      },
    },
  };
}
