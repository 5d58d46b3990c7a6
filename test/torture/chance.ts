// Chance by seed: the same seed draws the same numbers in the same order. Each part of a world has a stream of its
// own, so that one that draws more often leaves the others alone.
import { mix, textSeed, unit } from '../../src/simulator/world.ts';

export type Chance = {
  /** In [0, 1). */
  unit(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True this often, 0–1. */
  isHit(share: number): boolean;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** One of several, each as likely as its weight says. */
  weighted<T extends { weight: number }>(from: readonly [T, ...T[]]): T;
  /** A stream of its own, by name or number. */
  stream(name: string | number): Chance;
};

export function createChance(seed: number): Chance {
  let drawn = 0;
  const next = (): number => unit(mix(seed, drawn++));
  return {
    unit: next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    isHit: (share) => next() < share,
    pick: (from) => from[Math.floor(next() * from.length)] ?? from[0],
    weighted: (from) => {
      let left = next() * from.reduce((sum, one) => sum + one.weight, 0);
      return from.find((one) => (left -= one.weight) < 0) ?? from[0];
    },
    stream: (name) => createChance(mix(seed, textSeed(String(name)))),
  };
}
