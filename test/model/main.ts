// `npm run check:model`: the whole scope in which the rule of proof was tried, some hundred thousand histories. Ends with
// 1 where anything is found. A word behind `--` chooses the parts whose names have it.
import {
  alone,
  clocks,
  clocksAlone,
  dialects,
  eventPairs,
  eventsInDialects,
  eventsWithFaults,
  freely,
  longFaults,
  months,
  news,
  pairs,
  problemsIn,
  triples,
  twoFaults,
  withFault,
} from './histories.ts';
import { faults } from './platform.ts';

const three = [
  ['223', '2', ''],
  ['', '23', '223'],
];
const wrongFor40Hours = ['error', 'hollow', 'empty, total 0', 'a day old'] as const;
const parts: Record<string, () => string[]> = {
  alone: () => problemsIn(alone(['', '2', '3', '22', '23', '222', '223', '322']), true),
  pairs: () => problemsIn(pairs(triples(['', '3', '23', '223']))),
  faults: () => problemsIn(withFault(dialects, three, 16)),
  'two faults': () => problemsIn(twoFaults(10)),
  'pairs of events': () => problemsIn(eventPairs()),
  'events in dialects': () => problemsIn(eventsInDialects()),
  'events with faults': () => problemsIn(eventsWithFaults()),
  months: () => problemsIn(months([2, 10, 18, 30, 44], dialects, clocks, three, wrongFor40Hours)),
  clocks: () => problemsIn(clocksAlone(clocks, three)),
  'new while read': () => problemsIn(news(), true),
  'long faults': () => problemsIn(longFaults()),
  'any gap': () => [...freely(dialects, 3, faults), ...freely(dialects.slice(0, 1), 4)],
};

let found = 0;
for (const [name, play] of Object.entries(parts)) {
  if (!process.argv.slice(2).every((word) => name.includes(word))) continue;
  const begun = performance.now();
  const problems = play();
  found += problems.length;
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(`${name}: ${problems.length} problems, ${seconds} s\n`);
  for (const problem of problems.slice(0, 20)) process.stdout.write(`  ${problem}\n`);
}
process.exitCode = found > 0 ? 1 : 0;
