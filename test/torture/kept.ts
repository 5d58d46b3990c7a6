// Worlds that once found something, in the product or in the judge, to be played again: `npm run torture -- --kept`.

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
    seed: 5011,
    kills: 12,
    found: 'judge: what came into being after the last look was taken for a record of no known day',
  },
  {
    seed: 7000,
    kills: 25,
    found: 'judge: a final day that is opened again, and says so, was taken for one taken back',
  },
  {
    seed: 7001,
    kills: 25,
    found:
      'judge: of two lists that show one class, the one read first waits minutes for its next turn',
  },
  {
    seed: 7009,
    kills: 25,
    found: 'judge: where dates do nothing and there are no totals, no two readings are the same',
  },
  {
    seed: 7010,
    kills: 40,
    found: 'verify missed the certificate of a month whose certifying run had been killed',
  },
  {
    seed: 9101,
    kills: 12,
    found: 'judge: a forger whose digest did not fit the record was to be named by the journal',
  },
  {
    seed: 9608,
    kills: 25,
    found: 'where the newest page shows today alone, days that left a status out were sealed',
  },
  {
    seed: 9706,
    kills: 25,
    found:
      'days that left a status out were sealed by their list alone while the filter was refused; judge: what nothing shows was to be held',
  },
  {
    seed: 9903,
    kills: 25,
    found: 'where there are no totals, short days that were read by status too were never sealed',
  },
  {
    seed: 10008,
    kills: 25,
    found: 'days were sealed without the orders that a filter by status showed which does nothing',
  },
  {
    seed: 10372,
    kills: 25,
    found: 'where lists leave out all orders of a day, it was sealed while the filter was silent',
  },
  {
    seed: 10540,
    kills: 25,
    found:
      'a first contact to a platform that was out of order: months were sealed without a status that their list leaves out',
  },
  {
    seed: 10580,
    kills: 25,
    found: 'a wrong answer to the probe made totals add up by chance, and a day was sealed by it',
  },
  {
    seed: 10664,
    kills: 25,
    found:
      'a status was answered with nothing at the first contact, and days were sealed without it',
  },
  {
    seed: 11167,
    kills: 25,
    found: 'a day whose last shown order settled stayed open, where days begin before UTC’s',
  },
];
