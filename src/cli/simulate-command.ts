// `outlast simulate`: a platform to practise on, until it is told to stop.
import type { Command } from 'commander';
import { devNull } from 'node:os';
import { addDays, dayOf } from '../day.ts';
import { settingsError } from '../errors.ts';
import { readDialect, switches } from '../simulator/dialect.ts';
import { faultSentences, readFaults } from '../simulator/faults.ts';
import { createSimulator, demoProject, type Simulator } from '../simulator/simulator-server.ts';
import { alertSecret } from '../simulator/practice-receiver.ts';
import { instantIn, standardWorld } from '../simulator/world.ts';
import { decimal, whole } from '../settings/value-parsers.ts';
import { optionOf } from './command-options.ts';
import { printable, typeable } from './print.ts';
import { stopped, untilSignal } from './signals.ts';

type Flags = {
  port: string;
  host: string;
  seed: string;
  ordersPerDay: string;
  classesPerDay: string;
  projects: string;
  apiKey: string;
  apiSecret: string;
  at?: string;
  speed: string;
  latencyMs: string;
  dialect?: string[];
  fault?: string[];
  json?: true;
};

export const simulateCommand = (command: Command): Command =>
  command
    .option('--port <port>', 'port to listen on; 0 takes a free one', '0')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--seed <n>', 'the world: the same seed and time show the same records', '1')
    .option('--orders-per-day <n>', 'orders of a usual day', String(standardWorld.ordersPerDay))
    .option('--classes-per-day <n>', 'classes of a usual day', String(standardWorld.classesPerDay))
    .option('--projects <n>', 'how many projects, each with a key pair of its own', '1')
    .option('--api-key <key>', 'key of the first project', demoProject.apiKey)
    .option('--api-secret <secret>', 'secret of the first project', demoProject.apiSecret)
    .option('--at <instant>', 'the platform believes it is then, e.g. 2026-03-01T08:00:00Z')
    .option('--speed <factor>', 'how fast its clock runs; 0 stands still', '1')
    .option('--latency-ms <ms>', 'every answer takes so much longer', '0')
    .option('--dialect <switch=value...>', 'what the platform’s interface leaves open (below)')
    .option('--fault <fault...>', 'what goes wrong: name, name=0.05 or name=3x (below)')
    .option('--json', 'print address and keys as one JSON line on stdout')
    .addHelpText('after', `\n${switchesHelp()}\n\n${faultsHelp()}`)
    .action((flags: Flags) => simulate(flags));

const simulate = (flags: Flags): Promise<void> =>
  untilSignal(async (signal) => {
    const simulator = await createSimulator({ ...optionsOf(flags), onReceived: sayReceived });
    announce(simulator, flags.json === true);
    await stopped(signal);
    await simulator.close();
  });

/** Each option that is no mere text. */
const numbers = {
  port: whole(0, 65_535),
  seed: whole(0, 0xffff_ffff),
  ordersPerDay: whole(0, 1_000_000),
  classesPerDay: whole(0, 1_000_000),
  projects: whole(1, 1000),
  latencyMs: whole(0, 600_000),
  speed: decimal(0, 1_000_000),
};

function optionsOf(flags: Flags): Parameters<typeof createSimulator>[0] {
  const startAt = flags.at === undefined ? undefined : instantIn(flags.at);
  if (startAt === null) {
    throw bad(`--at is a time like 2026-03-01T08:00:00Z, not "${flags.at}"`);
  }
  if (flags.apiKey === '' || flags.apiSecret === '') {
    throw bad('--api-key and --api-secret must not be empty');
  }
  const number = (name: keyof typeof numbers): number => {
    const read = numbers[name](flags[name]);
    if ('value' in read) return read.value;
    throw bad(`${optionOf(name)} ${read.mistake}`);
  };
  return {
    port: number('port'),
    host: flags.host,
    seed: number('seed'),
    world: { ordersPerDay: number('ordersPerDay'), classesPerDay: number('classesPerDay') },
    projects: Array.from({ length: number('projects') }, (_, i) =>
      i === 0
        ? { ...demoProject, apiKey: flags.apiKey, apiSecret: flags.apiSecret }
        : {
            apiKey: `${flags.apiKey}-${i + 1}`,
            apiSecret: `${flags.apiSecret}-${i + 1}`,
            name: `${demoProject.name}-${i + 1}`,
          },
    ),
    ...(startAt !== undefined && { startAt }),
    speed: number('speed'),
    latencyMs: number('latencyMs'),
    dialect: readDialect(flags.dialect ?? []),
    faults: readFaults(flags.fault ?? []),
  };
}

const bad = (sentence: string): Error => settingsError('bad_option', sentence);

function announce(simulator: Simulator, asJson: boolean): void {
  const { url, projects, world } = simulator;
  const size = `${world.ordersPerDay} orders and ${world.classesPerDay} classes a day`;
  process.stderr.write(
    `A simulated platform with about ${size} listens on ${url}; Ctrl-C ends it.\n`,
  );
  if (!asJson) {
    // Commands go by this machine's clock.
    const isNow = Math.abs(simulator.clock.now() - Date.now()) < 3_600_000;
    process.stderr.write(
      simulator.isLoopback && isNow
        ? typeable(practiceText(simulator))
        : 'The key pair is its --api-key and --api-secret, or the ones of --help; --json prints them.\n',
    );
    return;
  }
  // P10 is about secrets: these open a made-up world, and whoever starts it as a child needs them.
  const [first] = projects;
  const line = { url, apiKey: first?.apiKey, apiSecret: first?.apiSecret, projects };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** What to type in another terminal. It touches no archive and no settings that are there already. */
function practiceText({ url, projects: [first = demoProject], clock, oracle }: Simulator): string {
  const { apiKey, apiSecret } = first;
  const isKnown = apiKey === demoProject.apiKey && apiSecret === demoProject.apiSecret;
  const keys = isKnown
    ? [`OUTLAST_API_KEY=${apiKey}`, `OUTLAST_API_SECRET=${apiSecret}`]
    : ['OUTLAST_API_KEY=…  # your --api-key', 'OUTLAST_API_SECRET=…  # your --api-secret'];
  const yesterday = addDays(dayOf(clock.now()), -1);
  const day = oracle.operationIds(yesterday).length > 0 ? yesterday : addDays(yesterday, -1);
  const [operation = 'op_1'] = oracle.operationIds(day);
  return `
To practise, type in another terminal (in an archive of its own, ./.outlast-practice):
  export OUTLAST_ENV_FILE=${devNull} DATABASE_URL= OUTLAST_DATA_DIR=./.outlast-practice
  export OUTLAST_BASE_URL=${url} OUTLAST_MAX_RPS=200
${keys.map((line) => `  export ${line}\n`).join('')}\
  export OUTLAST_ALERT_WEBHOOK=${url}/_simulator/alerts/json
  export OUTLAST_HEARTBEAT_URL=${url}/_simulator/heartbeat
  outlast sync
  outlast watch ${operation} --created-on ${day}
  outlast status --test-alert
  outlast start

More operation ids: curl "${url}/_simulator/operations?day=${day}"
As a robot that signs its messages, of DingTalk (or write feishu in both places):
  export OUTLAST_ALERT_WEBHOOK=${url}/_simulator/alerts/dingtalk OUTLAST_ALERT_FORMAT=dingtalk
  export OUTLAST_ALERT_SECRET=${alertSecret}

Alerts and heartbeats that arrive are shown here.
`;
}

/** What a sender wrote may hold anything. */
function sayReceived([heading = '', ...lines]: string[]): void {
  const at = new Date().toTimeString().slice(0, 8);
  process.stderr.write(
    [`${at}  ${heading}`, ...lines].map((line) => `${printable(line)}\n`).join(''),
  );
}

function switchesHelp(): string {
  const lines = Object.entries(switches).map(([name, of]): [string, string] => {
    const { standard, values = [standard] } = of;
    const named =
      typeof standard === 'boolean' ? (standard ? ['on', 'off'] : ['off', 'on']) : values;
    return [`${name}=${named.join('|')}`, of.sentence];
  });
  return `Switches of --dialect (the first value is the standard one):\n${aligned(lines)}`;
}

function faultsHelp(): string {
  return `Faults of --fault: name always, name=0.05 by chance, name=3x the next three; then @/path for paths that begin so, and ,detail=value for each detail in braces:\n${aligned(Object.entries(faultSentences))}`;
}

function aligned(lines: readonly (readonly [string, string])[]): string {
  const longest = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, sentence]) => `  ${name.padEnd(longest)}  ${sentence}`).join('\n');
}
