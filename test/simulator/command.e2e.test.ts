// `outlast simulate` as people and programs run it: a child process with options, signals and exit codes.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { signedHeaders } from '../../src/platform/sign.ts';
import { linkedFile, startCommand, type Running } from '../support/command.ts';
import { expectRefused, runHere } from '../support/command-here.ts';
import { freshFolder } from '../support/fresh.ts';

let running: Running | null = null;
afterEach(() => void running?.child.kill('SIGKILL'));

const simulate = (...options: string[]): Running =>
  (running = startCommand(['simulate', ...options]));

type Announced = { url: string; apiKey: string; apiSecret: string; projects: object[] };

test('it says where it listens, answers as it was told, and leaves cleanly on SIGTERM', async () => {
  const simulating = simulate(
    ...(
      '--json --seed 5 --orders-per-day 3 --classes-per-day 2 --projects 2 --at 2026-03-18T09:30:00Z --speed 0 ' +
      '--api-key k --api-secret s --dialect lastKey=absent maxOrders=7 --fault serverError=1x slow=0,ms=9'
    ).split(' '),
  );
  const announced = JSON.parse((await simulating.waitFor(/^\{.*\n/))[0]) as Announced;
  expect(announced).toMatchObject({ apiKey: 'k', apiSecret: 's' });
  expect(announced.projects).toHaveLength(2);
  const ask = async () => {
    const path = '/v3/orders';
    const query = { limit: '50' };
    const timestamp = String(Date.parse('2026-03-18T09:30:00Z'));
    const headers = signedHeaders({ path, query, timestamp, secret: 's', apiKey: 'k' });
    return fetch(`${announced.url}${path}?limit=50`, { headers });
  };
  expect((await ask()).status).toBe(500);
  const answer = await ask();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('date')).toBe('Wed, 18 Mar 2026 09:30:00 GMT');
  const { data } = (await answer.json()) as { data: { order_infos: object[] } };
  expect(data.order_infos).toHaveLength(7);
  const { code, stderr, stdout } = await simulating.stop('SIGTERM');
  expect(code).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(`listens on ${announced.url}`);
});

test('SIGINT ends it cleanly too, and without --json stdout stays empty and no secret is told', async () => {
  const simulating = simulate('--api-secret', 'not-to-be-seen');
  await simulating.waitFor(/./);
  const { code, stdout, stderr } = await simulating.stop('SIGINT');
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).not.toContain('not-to-be-seen');
});

test('what it prints to type works as it stands: an archive of its own, results, and alerts that arrive', async () => {
  const simulating = simulate();
  await simulating.waitFor(/that arrive are shown here/);
  const typed = simulating
    .stderr()
    .split('\n')
    .filter((line) => /^ {2}(export|outlast (?!start))/.test(line));
  const { stdout } = await promisify(execFile)(
    'bash',
    [
      '-euc',
      `outlast() { '${process.execPath}' '${linkedFile}' "$@"; }
       ${typed.join('\n')}
       outlast sync --json
       outlast query watched-operations`,
    ],
    {
      cwd: await freshFolder('outlast practice '),
      env: { PATH: process.env['PATH'], DATABASE_URL: 'postgres://not.touched/x' },
    },
  );
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ state: 'done' });
  expect(simulating.stderr()).toMatch(
    /\d\d:\d\d:\d\d {2}alert as json\n {2}Outlast: a test message/,
  );
  expect(simulating.stderr()).toMatch(/ {2}heartbeat from outlast \(default \d+ /);
});

test.each([
  [['--port', '70000'], '--port is "70000": give a whole number from 0 to 65535'],
  [['--at', 'yesterday'], '--at is a time like'],
  [['--speed', '-1'], '--speed is "-1": give a number from 0 to 1000000'],
  [['--dialect', 'dayEnd=never'], 'the switch dayEnd is one of inclusive, exclusive, instant'],
  [['--dialect', 'dayEnd'], '--dialect takes switch=value'],
  [['--dialect', 'dayEnds=inclusive'], 'there is no switch "dayEnds"; there are dayEnd, '],
  [['--dialect', 'maxOrders=-1'], 'the switch maxOrders is a whole number'],
  [['--dialect', 'classesWindow=maybe'], 'the switch classesWindow is on or off'],
  [['--fault', 'meteor'], 'there is no fault "meteor"; there are tooMany, '],
  [['--fault', 'tooMany=often'], 'write name, name=0.05 or name=3x'],
  [['--fault', 'slow,speed=3'], 'has no detail "speed"'],
  [['--fault', 'tooMany=7'], 'a number from 0 to 1'],
  [['--fault', 'slow,ms=long'], 'ms of the fault slow is milliseconds'],
  [['--api-key', ''], 'must not be empty'],
])('%o is one clear sentence and exit code 2', async (options, sentence) => {
  expectRefused(await runHere(['simulate', ...options]), sentence);
});

test('--help names every switch and fault', async () => {
  const { code, stdout } = await runHere(['simulate', '--help']);
  expect(code).toBe(0);
  for (const name of ['dayEnd=', 'keyExpired=', 'monthEnd=', 'lyingTotal', 'wrongDate']) {
    expect(stdout).toContain(name);
  }
});
