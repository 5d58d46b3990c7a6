// All that can happen between two looks at the archive, and how often. Each act is drawn by weight, does its harm, and
// says in words what it did; whatever lasts is undone by itself.
import type { Chance } from './chance.ts';
import { platformActions } from './on-platform.ts';
import { processActions } from './on-processes.ts';
import { recordActions } from './on-records.ts';
import { serverActions } from './on-server.ts';
import { wireActions } from './on-wires.ts';
import type { Stage } from './stage.ts';

export type Action = {
  name: string;
  /** How often, beside the others. */
  weight: number;
  act(stage: Stage, chance: Chance): Promise<string> | string;
};

export const actions: readonly [Action, ...Action[]] = [
  {
    name: 'rest',
    weight: 4,
    act: () => 'all go on',
  },
  ...processActions,
  ...wireActions,
  ...serverActions,
  ...platformActions,
  ...recordActions,
];
