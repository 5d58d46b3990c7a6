// The command line's frame: help, mistakes and exit codes of the real command.
import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settings } from '../../src/settings/table.ts';
import { mainFile, runCommand as runLinked, type CommandOptions } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { freshFolder } from '../support/fresh.ts';

const manifest = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as {
  version: string;
  scripts: Record<string, string>;
};

const runCommand = (args: string[], options: CommandOptions = {}) =>
  runLinked(args, { ...options, main: mainFile });

/** Node itself, run to its end. */
const runNode = (args: string[], more: SpawnSyncOptions = {}) => {
  const env = { PATH: process.env['PATH'] };
  const { status, stderr } = spawnSync(process.execPath, args, { env, maxBuffer: 1e9, ...more });
  return { status, stderr: String(stderr) };
};

it('every module of it loads', () => {
  const dist = dirname(mainFile);
  const modules = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    // Those for browsers, and the one that runs.
    .filter((name) => name.endsWith('.js') && !/\/browser\/|^main\.js$/.test(name))
    .map((name) => `import ${JSON.stringify(join(dist, name))};`);
  expect(modules.length).toBeGreaterThan(200);
  const loading = ['--input-type=module', '--eval', modules.join('')];
  expect(runNode(loading)).toEqual({ status: 0, stderr: '' });
});

describe('help', () => {
  it('names every command and every exit code, on stdout, and fits on a screen', async () => {
    const { code, stdout, stderr } = await runCommand(['--help']);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    for (const command of ['simulate', 'migrate', 'sync', 'start', 'status', 'query', 'demo']) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
    for (const exit of [0, 1, 2, 75]) expect(stdout).toMatch(new RegExp(`(^|[ ,])${exit} `, 'm'));
    expect(stdout.split('\n').length).toBeLessThanOrEqual(40);
  });

  it('of settings names every one', async () => {
    const { code, stdout, stderr } = await runCommand(['help', 'settings']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const { name } of settings) expect(stdout).toContain(name);
    // Heads, names and what goes on below them, however a command begins where it is typed.
    const env = { npm_lifecycle_event: 'outlast', COLUMNS: '80' };
    const lines = (await runCommand(['help', 'settings'], { env })).stdout.split('\n');
    expect(new Set(lines.map((line) => line.search(/\S|$/))).size).toBe(3);
  });

  it.each([
    ['--help', 'Usage: outlast <command>', ['--help migrate']],
    ['migrate --help', '--json', ['help migrate']],
    [
      'query orders --help',
      'Usage: outlast query orders',
      ['help query orders', 'help -- query orders'],
    ],
  ])('%s is asked for in other ways, too', async (asked, said, others) => {
    const { code, stdout } = await runHere(asked.split(' '));
    expect([code, stdout]).toEqual([0, expect.stringContaining(said)]);
    for (const one of others) expect((await runHere(one.split(' '))).stdout).toBe(stdout);
  });

  it.runIf(existsSync('/dev/full'))('that cannot be written is no success', () => {
    const disk = openSync('/dev/full', 'w');
    for (const args of [['--help'], ['--version']]) {
      expect(runNode([mainFile, ...args], { stdio: ['ignore', disk, 'pipe'] })).toEqual({
        status: 1,
        stderr: expect.stringMatching(
          /^outlast: What was to be printed could not be written: ENOSPC.*\n$/,
        ),
      });
    }
    closeSync(disk);
  });

  it('loads no command but the one asked for, so that it answers at once', () => {
    // By Node's own account of the modules it reads; a time would depend on the machine.
    const env = { PATH: process.env['PATH'], NODE_DEBUG: 'esm' };
    const loadedBy = (args: string[]): string => runNode([mainFile, ...args], { env }).stderr;
    const heavy = /\/node_modules\/(undici|pg|drizzle-orm|zod)\/|dist\/src\/(sync|store)\//;
    const general = loadedBy(['--help']);
    expect(general).toContain('dist/src/cli/program.js');
    expect(general).not.toMatch(heavy);
    expect(loadedBy(['--version'])).not.toContain('dist/src/cli/');
    const ofOne = loadedBy(['migrate', '--help']);
    expect(ofOne).toMatch(heavy);
    // Who asks no platform does without what asks it.
    expect(ofOne).not.toMatch(/\/node_modules\/undici\/|dist\/src\/(alert|sync|platform\/client)/);
  });

  it('tells the version of the package', async () => {
    expect(await runCommand(['--version'])).toMatchObject({
      code: 0,
      stdout: `${manifest.version}\n`,
    });
  });

  // What it would load is no syntax to them.
  it.each(['18.20.8', '20.18.3'])('is refused by Node %s in a sentence', (node) => {
    const older = `Object.defineProperty(process, 'versions', { value: { node: '${node}' } })`;
    expect(runNode(['--import', `data:text/javascript,${older}`, mainFile, 'status'])).toEqual({
      status: 2,
      stderr: `outlast: Outlast needs Node 20.19 or newer, and this is ${node}. Install a newer one (https://nodejs.org).\n`,
    });
  });
});

// npm with ignore-scripts=true runs no script before another's: the build is a part of each.
it.each(['outlast', 'demo'])(
  '`npm run %s` builds by itself, or says why it cannot',
  async (name) => {
    const script = manifest.scripts[name]?.split(' ') ?? [];
    const prepare = new URL('../../.ci/prepare.mjs', import.meta.url).href;
    expect(script.slice(0, 3)).toEqual(['node', '--import', './.ci/prepare.mjs']);
    const nowhere = { cwd: await freshFolder(), env: {} };
    expect(runNode(['--import', prepare, ...script.slice(3)], nowhere)).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^outlast: dist\/ is not built, .*\n$/),
    });
  },
);

it('what builds it before a command starts no second npm, which took longer than the command', () => {
  const inTree = { cwd: new URL('../../', import.meta.url), env: {} };
  expect(runNode(['.ci/prepare.mjs'], inTree)).toEqual({ status: 0, stderr: '' });
});

describe('a mistake in the arguments is one sentence and exit code 2 (P12)', () => {
  it.each([
    ['an unknown command', ['snyc'], "outlast: unknown command 'snyc' (Did you mean sync?)\n"],
    [
      'the help of an unknown command',
      ['help', 'nothing'],
      "outlast: unknown command 'nothing' (see outlast --help)\n",
    ],
    [
      'the help of what is no command within a command',
      ['help', 'query', 'nothing'],
      "outlast: unknown command 'nothing' (see outlast --help)\n",
    ],
    [
      'an unknown option',
      ['migrate', '--jsn'],
      "outlast: unknown option '--jsn' (Did you mean --json?)\n",
    ],
    [
      'an unknown option of a command within a command',
      ['query', 'orders', '--csv'],
      "outlast: unknown option '--csv' (see outlast query orders --help)\n",
    ],
    [
      'an unknown option of outlast itself',
      ['--nope'],
      "outlast: unknown option '--nope' (see outlast --help)\n",
    ],
    [
      'an option of a subcommand too early',
      ['--json', 'migrate'],
      "outlast: unknown option '--json' (see outlast --help)\n",
    ],
    [
      'a word that every object of JavaScript knows',
      ['constructor'],
      "outlast: unknown command 'constructor' (see outlast --help)\n",
    ],
    [
      'a command of earlier versions',
      ['plan', '--json'],
      "outlast: 'plan' is now: outlast status --plan (see outlast --help)\n",
    ],
    [
      'another one',
      ['facts'],
      "outlast: 'facts' is now: outlast query facts (see outlast --help)\n",
    ],
    [
      'a word too many',
      ['migrate', 'now'],
      "outlast: too many arguments for 'migrate'. Expected 0 arguments but got 1. (see outlast migrate --help)\n",
    ],
  ])('%s', async (_, args, sentence) => {
    expect(await runHere(args)).toMatchObject({ code: 2, stdout: '', stderr: sentence });
  });

  it('no command at all: the help, on stderr', async () => {
    const env = { npm_lifecycle_event: 'outlast' };
    const { code, stdout, stderr } = await runCommand([], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: npm run -s outlast -- <command>/);
    expect((await runCommand(['--help'], { env })).stdout).toBe(stderr);
  });
});

describe('settings', () => {
  it('that are wrong are told all at once, exit code 2', async () => {
    const { code, stdout, stderr } = await runHere(['migrate'], {
      env: { OUTLAST_PORT: 'http', OUTLAST_LOG_LEVLE: 'debug', DATABASE_URL: 'localhost' },
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      'outlast: 3 settings are wrong.',
      '  OUTLAST_LOG_LEVLE is no setting: did you mean OUTLAST_LOG_LEVEL?',
      expect.stringContaining('  DATABASE_URL is no PostgreSQL address'),
      '  OUTLAST_PORT is "http": give a whole number from 0 to 65535.',
      '',
    ]);
  });

  it('that are wrong are told by doctor, too, with commands that work where they are printed', async () => {
    const env = { npm_lifecycle_event: 'outlast', COLUMNS: '200' };
    const { stdout } = await runCommand(['doctor'], { env });
    expect(stdout).toContain('(to try Outlast without a platform: npm run -s outlast -- demo)');
  });

  it('that are right but lead nowhere end with 75, and never show the password (P10)', async () => {
    const { code, stderr } = await runCommand(['migrate'], {
      env: { DATABASE_URL: 'postgres://u:sesame-77@127.0.0.1:1/x' },
    });
    expect(code).toBe(75);
    expect(stderr).toContain('outlast: The database cannot be reached');
    expect(stderr).toContain('the right host and port: connect ECONNREFUSED');
    expect(stderr).not.toContain('sesame-77');
  });
});

describe('an error that nobody foresaw', () => {
  const failing = (level: string) => {
    // A module loaded before the command makes it fail in the middle of its work.
    const fault = `const fail = () => process.listenerCount('unhandledRejection') === 0
      ? setTimeout(fail, 10)
      : Promise.reject(new Error('the roof came down', { cause: new Error('snow') }));
      fail();`;
    const loaded = ['--import', `data:text/javascript,${encodeURIComponent(fault)}`];
    const env = { PATH: process.env['PATH'], OUTLAST_LOG_LEVEL: level };
    return runNode([...loaded, mainFile, 'simulate'], { env });
  };

  it('is one sentence with its causes, exit code 1', () => {
    const { status, stderr } = failing('info');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^outlast: something unexpected happened: the roof came down: snow$/m);
    expect(stderr).not.toContain('    at ');
  });

  it('shows where it happened at log level debug', () => {
    expect(failing('debug').stderr).toContain('    at ');
  });
});
