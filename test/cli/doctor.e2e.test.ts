// `outlast doctor`, as a person reads it, against databases and platforms that are fine and that are not; and `init`.
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { envText } from '../../src/cli/init.ts';
import { createSimulator } from '../../src/simulator/server.ts';
import { noon } from '../support/archive.ts';
import { environmentOf, runCommand, type Ended } from '../support/command.ts';
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

test('a file of settings from Windows loses no line, and a line that is none is told', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-env-'));
  const file = join(folder, 'mine.env');
  await writeFile(file, '\ufeffDATABASE_URL=postgres://u:a-secret@127.0.0.1:1/d\r\n');
  const marked = await runHere(['doctor'], { env: { OUTLAST_ENV_FILE: file } });
  expect(found(marked)['database']).toMatch(/^fail The database cannot be reached/);
  await writeFile(file, '# Mine\nDATABASE_URL: postgres://u:a-secret@127.0.0.1:1/d\n');
  for (const command of ['status', 'sync']) {
    const { stderr, code } = await runHere([command], { env: { OUTLAST_ENV_FILE: file } });
    expect(stderr).toContain(`Line 2 of ${file} is no setting: write it as NAME=value`);
    expect(stderr).not.toContain('a-secret');
    expect(code).toBe(2);
  }
  await rm(folder, { recursive: true });
});

test('init tries what it is given, and writes what every command then finds; never over a file that is there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-init-'));
  const simulator = await createSimulator({ startAt: noon, speed: 0 });
  const database = await createTestDatabase();
  const { OUTLAST_BASE_URL: baseUrl = '', ...env } = {
    ...environmentOf(simulator, database.connectionString),
    ...stoppedAt(noon),
    OUTLAST_ENV_FILE: '',
  };
  const init = (more: Record<string, string>, ...args: string[]): Promise<Ended> =>
    runCommand(['init', ...args], { cwd: folder, env: { ...env, ...more } });

  const wrong = await init({ OUTLAST_API_SECRET: 'another-secret' }, '--base-url', baseUrl);
  expect(wrong.stdout).toMatch(/^fail +platform .*\n\nNothing was written\./ms);
  expect([wrong.code, await readdir(folder)]).toEqual([1, []]);

  const right = await init({}, '--base-url', baseUrl, '--project', 'shop');
  expect(right.stdout).toContain('Written to .env.');
  expect(right.code).toBe(0);
  expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);

  const found = await runCommand(['doctor'], {
    cwd: folder,
    env: { ...stoppedAt(noon), OUTLAST_ENV_FILE: '' },
  });
  expect(found.stdout).toMatch(/^ok +settings +project shop\n/m);
  expect(found.code).toBe(0);

  const again = await init({}, '--base-url', baseUrl);
  expect(again.stderr).toMatch(/^outlast: There is a \.env in this folder already\./);
  expect(again.code).toBe(2);

  await simulator.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

test('what init writes reads back as what it was', () => {
  const awkward = ['a b', 'a#b', ' lead', "it's", 'say "so"', '$HOME', 'a\\nb', 'x=y', '#', 'ä✓'];
  for (const value of awkward) {
    const text = envText({ OUTLAST_API_SECRET: value });
    expect(parseEnv(text)).toEqual({ OUTLAST_API_SECRET: value });
  }
  expect(() => envText({ OUTLAST_API_SECRET: `'"\`` })).toThrow('OUTLAST_API_SECRET_FILE');
});
