// `npm run torture -- --seed S --kills N --minutes M`: world after world, the next seed each, until so many processes
// were killed or so much time has passed; `--kept` plays those that once found something. Every act goes to a file.
// Exit code 1 when a check found anything.
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
import { keptWorlds } from './kept.ts';
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
    /** The worlds that once found something, instead. */
    kept: { type: 'boolean', default: false },
    log: { type: 'string' },
  },
});

const [firstSeed, kills, minutes, killsAWorld] = [
  flags.seed,
  flags.kills,
  flags.minutes,
  flags.world,
].map(Number) as [number, number, number, number];
const began = performance.now();
const logFile = flags.log ?? join(tmpdir(), `outlast-torture-${process.pid}.log`);
const elapsed = (): string => ((performance.now() - began) / 1000).toFixed(1).padStart(7);
const note = (text: string): void => appendFileSync(logFile, `${elapsed()}  ${text}\n`);

const stop = stopOnSignals();
const progress = createProgress(process.stderr);
const which = flags.kept ? `${keptWorlds.length} kept worlds` : `seed ${firstSeed}`;
process.stdout.write(`${which}; every act is written to ${logFile}\n`);
const cluster = await createCluster();
if (typeof cluster.disk === 'string') {
  process.stdout.write(`no disk is filled up: ${cluster.disk}\n`);
}
const worlds: { seed: number; played: Played }[] = [];
const sum = (of: (played: Played) => number): number =>
  worlds.reduce((all, { played }) => all + of(played), 0);

/** The next world, or null when there were enough. */
function nextWorld(): { seed: number; kills: number } | null {
  if (flags.kept) return keptWorlds[worlds.length] ?? null;
  const left = kills - sum((one) => one.kills);
  if (left <= 0 || performance.now() - began > minutes * 60_000) return null;
  return { seed: firstSeed + worlds.length, kills: Math.min(left, killsAWorld) };
}

// Ends: a world has its acts, and so many worlds, kills or minutes are enough.
for (let next = nextWorld(); next !== null && !stop.signal.aborted; next = nextWorld()) {
  const { seed } = next;
  progress.update(`world ${seed}: ${sum((one) => one.kills)} kills before it`);
  const played = await play({
    ...next,
    cluster,
    mainFile: fileURLToPath(new URL('../../src/main.js', import.meta.url)),
    signal: stop.signal,
    note,
  });
  worlds.push({ seed, played });
  if (played.findings.length > 0 && !flags.on) break;
}
progress.end();

const findings = worlds.flatMap(({ seed, played }) =>
  played.findings.map((text) => `seed ${seed}: ${text}`),
);
printTable(
  [
    'worlds',
    'kills',
    'at statements',
    'freezes',
    'processes',
    'acts',
    'requests',
    'records',
    'looks',
    'findings',
  ],
  [
    [
      worlds.length,
      sum((one) => one.kills),
      sum((one) => one.killsAtStatements),
      sum((one) => one.frozen),
      sum((one) => one.started),
      sum((one) => one.acts),
      sum((one) => one.requests),
      sum((one) => one.records),
      sum((one) => one.looks),
      findings.length,
    ],
  ],
);
const counted = (names: Iterable<[string, number]>): string => {
  const counts = new Map<string, number>();
  for (const [name, count] of names) counts.set(name, (counts.get(name) ?? 0) + count);
  return [...counts].map(([name, count]) => `${name}: ${count}`).join(', ');
};
const endings = worlds.flatMap(({ played }) => [...played.endings]);
const hard = worlds.flatMap(({ played }) => played.hard.map((name): [string, number] => [name, 1]));
const isHard = ({ played }: (typeof worlds)[number]): boolean => played.hard.length > 0;
const tampered = worlds.flatMap(({ played }) => played.tampered ?? []);
process.stdout.write(`processes ended by ${counted(endings)}\n`);
process.stdout.write(
  `${worlds.filter(isHard).length} worlds were hard, with ${worlds.filter(isHard).reduce((all, { played }) => all + played.kills, 0)} of the kills: ${counted(hard)}\n`,
);
process.stdout.write(
  `${tampered.length} archives were tampered with in the end: ${tampered.join('; ')}\n`,
);
for (const finding of findings) process.stdout.write(`${finding}\n`);
if (findings.length > 0)
  process.stdout.write(
    `what the server holds is kept in ${cluster.folder}${typeof cluster.disk === 'string' ? '' : ', on a tmpfs: unmount it when you have looked'}\n`,
  );
await cluster.close(findings.length > 0);
stop.close();
if (stop.signal.aborted)
  process.stdout.write('stopped before its end: the last world proves nothing\n');
const { failed, tryLater, done } = exitCode;
process.exitCode = findings.length > 0 ? failed : stop.signal.aborted ? tryLater : done;
