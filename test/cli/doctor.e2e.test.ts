// `outlast doctor`, as a person reads it, against databases and platforms that are fine and that are not.
import { expect, test } from 'vitest';
import { createSimulator } from '../../src/simulator/server.ts';
import { noon } from '../support/archive.ts';
import { environmentOf, type Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/postgres.ts';

/** The state and the words of each finding, by what it is about; the last of several. */
function found({ stdout }: Ended): Record<string, string> {
  const lines = stdout
    .split('\n')
    .map((line) => /^(ok|warn|fail) +(\S+(?: \S+)*) {2,}(.*)$/.exec(line));
  return Object.fromEntries(
    lines.flatMap((line) => (line === null ? [] : [[line[2] ?? '', `${line[1]} ${line[3]}`]])),
  );
}

test('each finding says what is so, and what to do where it is wrong', async () => {
  const simulator = await createSimulator({ startAt: noon, speed: 0 });
  const database = await createTestDatabase();
  const empty = await createEmptyDatabase();
  const env = { ...environmentOf(simulator, database.connectionString), ...stoppedAt(noon) };

  const well = await runHere(['doctor'], { env });
  expect(found(well)).toMatchObject({
    settings: 'ok project default',
    database: expect.stringMatching(/^ok PostgreSQL \d+.* answers in \d+ ms$/) as string,
    TLS: 'ok none, on this machine',
    pooler: 'ok none in front of the database',
    schema: 'ok of this release',
    rights: 'ok statements run as outlast_writer, which cannot delete what is archived',
    platform: expect.stringMatching(
      /^ok http:.* takes the key, answers in \d+ ms, and shows [\d,]+ orders$/,
    ) as string,
    clock: 'ok this machine’s agrees with the platform’s',
  });
  expect(well.stdout).toMatch(/\nOutlast can work here\.\n$/);
  expect(well.code).toBe(0);

  const ill = await runHere(['doctor'], {
    env: {
      ...env,
      DATABASE_URL: empty.connectionString,
      OUTLAST_API_SECRET: 'another-secret',
    },
  });
  expect(found(ill)).toMatchObject({
    schema: 'ok none yet: the first sync makes it',
    platform: expect.stringMatching(
      /^fail the platform refused .* check the API key and secret/,
    ) as string,
  });
  expect(ill.stdout).toMatch(/\nSomething keeps Outlast from working\.\n$/);
  expect(ill.code).toBe(1);
  // Nothing was made.
  const again = await runHere(['status'], { env: { DATABASE_URL: empty.connectionString } });
  expect(again.stderr).toContain('This database holds no Outlast archive.');

  const late = await runHere(['doctor', '--json'], {
    env: {
      ...env,
      ...stoppedAt(noon + 3_600_000),
      DATABASE_URL: 'postgres://nobody:a-password@127.0.0.1:1/none',
      OUTLAST_BASE_URL: `${simulator.url}/elsewhere`,
    },
  });
  const { findings } = JSON.parse(late.stdout) as { findings: { about: string; state: string }[] };
  expect(findings.filter(({ state }) => state === 'fail').map(({ about }) => about)).toEqual([
    'database',
    'platform',
  ]);
  expect(late.stdout).not.toMatch(/a-password|a-secret/);
  expect(late.code).toBe(1);

  const ahead = await runHere(['doctor'], { env: { ...env, ...stoppedAt(noon + 3_600_000) } });
  expect(found(ahead)['clock']).toMatch(
    /^warn this machine’s is 1 h ahead of the platform’s: while they disagree/,
  );
  expect(ahead.code).toBe(0);

  await simulator.close();
  await database.drop();
  await empty.drop();
});

test('wrong settings are told with all else that can be looked at', async () => {
  const { stdout, code } = await runHere(['doctor'], {
    env: { OUTLAST_DATA_DIR: '/tmp/none-of-outlast' },
  });
  expect(stdout).toContain('OUTLAST_API_KEY is not set');
  expect(stdout).toMatch(/^ok {4}database +embedded, none in \/tmp\/none-of-outlast yet/m);
  expect(code).toBe(1);
});
