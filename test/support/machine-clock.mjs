// Loaded into a child process by `node --import`: this machine's wall clock as a file says it, so that a simulated
// platform and the processes that read it can live at the same time, also at a speed. `Date.now` is what the program
// asks for the wall clock; `new Date()` stays real, for the schedule ticks by it.
import { readFileSync } from 'node:fs';

const file = process.env.MACHINE_CLOCK_FILE;
const standing = process.env.MACHINE_CLOCK_NOW;
const real = Date.now;
/** The file is looked at no more often than this, in real milliseconds. */
const everyMs = 10;

if (standing !== undefined) Date.now = () => Number(standing);
else if (file !== undefined) {
  let lookedAt = -Infinity;
  let told = null;
  Date.now = () => {
    const now = real();
    if (Math.abs(now - lookedAt) >= everyMs) {
      lookedAt = now;
      told = JSON.parse(readFileSync(file, 'utf8'));
    }
    return Math.floor(told.at + (now - told.since) * told.speed);
  };
}
