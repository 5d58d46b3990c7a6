// For one test, also from its `beforeEach`: a simulated platform whose clock stands still, an empty archive, and what a
// command is told of both on a machine that has the same time.
import { createSimulator, type SimulatorOptions } from '../../src/simulator/simulator-server.ts';
import { noon } from './archive.ts';
import { environmentOf } from './command.ts';
import { fresh } from './fresh.ts';
import { stoppedAt } from './machine-clock.ts';
import { createTestDatabase } from './postgres.ts';

export type Practice = Awaited<ReturnType<typeof practise>>;

/** From noon on, unless the options say otherwise. */
export async function practise(options: SimulatorOptions = {}) {
  const simulator = await fresh(createSimulator({ startAt: noon, speed: 0, ...options }));
  const database = await fresh(createTestDatabase());
  const env = (): Record<string, string> => ({
    ...environmentOf(simulator, database.connectionString),
    ...stoppedAt(simulator.clock.now()),
  });
  return { simulator, database, env };
}
