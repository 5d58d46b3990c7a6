// `npm run torture -- --seed S --kills N --minutes M`: world after world, the next seed each, until so many processes
// were killed or so much time has passed. Every act goes to a file. Exit code 1 when a check found anything.
import { appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { exitCode } from '../../src/errors.ts';
import { printTable } from '../../src/cli/print.ts';
import { createProgress } from '../../src/cli/progress.ts';
import { stopOnSignals } from '../../src/cli/signals.ts';
import { createCluster } from './cluster.ts';
import { play, type Played } from './play.ts';

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    kills: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '10' },
    /** SIGKILLs in one world. */
    world: { type: 'string', default: '25' },
    /** Goes on with the next world after one that found something. */
    on: { type: 'boolean', default: false },
  },
});

const [firstSeed, kills, minutes, killsAWorld] = [
  flags.seed,
  flags.kills,
  flags.minutes,
  flags.world,
].map(Number) as [number, number, number, number];
const began = performance.now();
const elapsedSeconds = (): number => (performance.now() - began) / 1000;
const logFile = join(tmpdir(), `outlast-torture-${process.pid}.log`);
const note = (text: string): void =>
  appendFileSync(logFile, `${elapsedSeconds().toFixed(1).padStart(7)}  ${text}\n`);

const stop = stopOnSignals();
const progress = createProgress(process.stderr);
process.stdout.write(`seed ${firstSeed}; every act is written to ${logFile}\n`);
const cluster = await createCluster();
if (typeof cluster.disk === 'string') {
  process.stdout.write(`no disk is filled up: ${cluster.disk}\n`);
}
const worlds: (Played & { seed: number })[] = [];
const sum = (of: (played: Played) => number): number =>
  worlds.reduce((all, played) => all + of(played), 0);
const counted = (names: Iterable<readonly [string, number]>): string => {
  const counts = new Map<string, number>();
  for (const [name, count] of names) counts.set(name, (counts.get(name) ?? 0) + count);
  return [...counts].map(([name, count]) => `${name}: ${count}`).join(', ');
};

// Ends: a world has its acts, and so many kills or minutes are enough.
for (let seed = firstSeed; !stop.signal.aborted; seed++) {
  const left = kills - sum((one) => one.kills);
  if (left <= 0 || elapsedSeconds() > minutes * 60) break;
  progress.update(`world ${seed}: ${kills - left} kills before it`);
  const mainFile = fileURLToPath(new URL('../../src/main.js', import.meta.url));
  const { signal } = stop;
  const world = { seed, kills: Math.min(left, killsAWorld), cluster, mainFile, signal, note };
  worlds.push({ seed, ...(await play(world)) });
  if (sum((one) => one.findings.length) > 0 && !flags.on) break;
}
progress.end();

const findings = worlds.flatMap(({ seed, findings: found }) =>
  found.map((text) => `seed ${seed}: ${text}`),
);
const columns = {
  kills: sum((one) => one.kills),
  freezes: sum((one) => one.frozen),
  processes: sum((one) => one.started),
  acts: sum((one) => one.acts),
  requests: sum((one) => one.requests),
  records: sum((one) => one.records),
  looks: sum((one) => one.looks),
};
printTable(
  ['worlds', ...Object.keys(columns), 'findings'],
  [[worlds.length, ...Object.values(columns), findings.length]],
);
const endings = counted(worlds.flatMap((one) => [...one.endings]));
const oddities = counted(worlds.map(({ oddity }) => [oddity || 'as documented', 1] as const));
process.stdout.write(`processes ended by ${endings}\nplatforms: ${oddities}\n`);
for (const finding of findings) process.stdout.write(`${finding}\n`);
const isKept = findings.length > 0;
if (isKept) {
  const mount = typeof cluster.disk === 'string' ? '' : ', on a tmpfs: unmount it afterwards';
  process.stdout.write(`what the server holds is kept in ${cluster.folder}${mount}\n`);
}
await cluster.close(isKept);
stop.close();
if (stop.signal.aborted) {
  process.stdout.write('stopped before its end: the last world proves nothing\n');
}
const { failed, tryLater, done } = exitCode;
process.exitCode = isKept ? failed : stop.signal.aborted ? tryLater : done;
