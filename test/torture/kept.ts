// Worlds that once found something, in the product or in the judge, to be played again: `npm run torture -- --kept`. The
// short ones are played with every test run.

export type KeptWorld = { seed: number; kills: number; found: string };

export const keptWorlds: readonly KeptWorld[] = [
  {
    seed: 10,
    kills: 4,
    found: 'a connection cut while it was opened ended a process with exit code 1',
  },
  {
    seed: 5002,
    kills: 12,
    found: 'lists cut at fewer records than a page holds, and their totals with them, were sealed',
  },
  {
    seed: 5004,
    kills: 12,
    found:
      'judge: where nothing can be proved, a sync that is asked for all days always leaves some',
  },
  {
    seed: 5011,
    kills: 12,
    found: 'judge: what came into being after the last look was taken for a record of no known day',
  },
];
