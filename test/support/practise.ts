// A simulated platform whose clock stands still, an empty archive, and what a command is told of both on a machine that
// has the same time.
import type { Day } from '../../src/model.ts';
import { createSimulator, type SimulatorOptions } from '../../src/simulator/simulator-server.ts';
import { noon } from './archive.ts';
import { environmentOf } from './command.ts';
import { readOnly } from './few-days.ts';
import { fresh } from './fresh.ts';
import { stoppedAt } from './machine-clock.ts';
import { createTestDatabase } from './postgres.ts';

export type Practice = Awaited<ReturnType<typeof practise>>;

/**
 * From noon on, unless the options say otherwise; of the window only `days` are read, if given. For one test, also from
 * its `beforeEach`, or for as long as `keep` says.
 */
export async function practise(
  { days, ...options }: SimulatorOptions & { days?: readonly Day[] } = {},
  keep: typeof fresh = fresh,
) {
  const simulator = await keep(createSimulator({ startAt: noon, speed: 0, ...options }));
  const database = await keep(createTestDatabase());
  if (days !== undefined) await readOnly(database.connectionString, simulator, days);
  const env = (): Record<string, string> => ({
    ...environmentOf(simulator, database.connectionString),
    ...stoppedAt(simulator.clock.now()),
  });
  return { simulator, database, env };
}
