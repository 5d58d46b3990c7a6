// Worlds that once found something, in the product or in the judge, to be played again: `npm run torture -- --kept`.

export type KeptWorld = { seed: number; kills: number; found: string };

export const keptWorlds: readonly KeptWorld[] = [];
