// What a small project costs its platform: a first sync of two lists and 57 days at the default rate, and the days after
// it, on which nothing is new. The clock of the command goes with the platform's, an hour a tick.
import { createSimulator, type Simulator } from '../src/simulator/simulator-server.ts';
import { withMachine } from '../test/support/machine-clock.ts';
import { runCommand } from './children.ts';
import { withServer } from './server.ts';
import { round, spread, tableOf, type Measured } from './tables.ts';

const hourMs = 3_600_000;
/** Of two months of which one has 31 days and the other has begun 25 ago: 57 days. */
const startAt = Date.parse('2026-04-26T12:00:00Z');

export const measureSmall = (days: number, signal: AbortSignal): Promise<Measured> =>
  withServer(async (server) => {
    const projects: Small[] = [];
    for (const ordersPerDay of [0, 10, 500]) {
      const address = await server.database(`small_${ordersPerDay}`);
      projects.push(await measure(address, ordersPerDay, days, signal));
    }
    const table = tableOf('small', projects, [
      ['orders a day', (one) => one.ordersPerDay],
      ['first sync, requests', (one) => one.first.requests],
      ['s', (one) => round(one.first.seconds)],
      ['a quiet day, requests', (one) => spread(one.quietDays)],
    ]);
    return { results: projects, tables: [table] };
  });

type Small = Awaited<ReturnType<typeof measure>>;

async function measure(
  connectionString: string,
  ordersPerDay: number,
  days: number,
  signal: AbortSignal,
) {
  const world = { ordersPerDay, classesPerDay: 0, quietShare: 0, settleMs: 0, pendingShare: 0 };
  const { simulator, machine } = withMachine(
    await createSimulator({ startAt, speed: 0, world }),
    0,
  );
  const [project] = simulator.projects;
  const env = {
    ...machine.env,
    DATABASE_URL: connectionString,
    OUTLAST_BASE_URL: simulator.url,
    OUTLAST_API_KEY: project?.apiKey,
    OUTLAST_API_SECRET: project?.apiSecret,
  };
  const sync = async (
    more: NodeJS.ProcessEnv = {},
  ): Promise<{ requests: number; seconds: number }> => {
    simulator.requests.clear();
    const { seconds } = await runCommand(['sync', '--json'], { ...env, ...more }, signal);
    return { requests: asked(simulator), seconds };
  };
  try {
    await runCommand(['migrate'], env, signal);
    const first = await sync();
    const quietDays: number[] = [];
    // The first of them proves what the first sync read.
    for (let day = 0; day <= days; day++) {
      let requests = 0;
      for (let hour = 0; hour < 24; hour++) {
        simulator.advance(hourMs);
        requests += (await sync({ OUTLAST_MAX_RPS: '100000' })).requests - ofTick;
      }
      if (day > 0) quietDays.push(requests);
    }
    return { ordersPerDay, first, quietDays };
  } finally {
    await simulator.close();
  }
}

/** What is new today, of each list, and what time it is. */
const ofTick = 3;

const asked = ({ requests: { byPath } }: Simulator): number =>
  (byPath['/v3/orders'] ?? 0) + (byPath['/v1beta1/nft/classes'] ?? 0);
