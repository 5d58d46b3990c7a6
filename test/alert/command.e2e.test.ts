// Alerts as a person sets them up: real commands, a real receiver, two replicas, and not a word of the addresses
// anywhere.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSimulator, type Simulator } from '../../src/simulator/simulator-server.ts';
import { noon, smallWorld } from '../support/archive.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { environmentOf, runCommand, startCommand, type Ended } from '../support/command.ts';
import { queryAt } from '../support/client.ts';
import { runHere } from '../support/command-here.ts';
import { readOnly } from '../support/few-days.ts';
import { fresh, freshFolder, setUp } from '../support/fresh.ts';
import { copyOf, createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

const token = 'sesame-4711';
const days = ['2026-03-01', '2026-03-03', '2026-04-05', '2026-04-06'];
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const webhook = (to = 'in'): string => `${receiver.url}/${to}/${token}?also=${token}`;

/** Neither the token nor the place. */
function expectNothingOfTheAddress({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toContain(token);
  expect(stdout + stderr).not.toContain(receiver.url.replace('http://', ''));
}

describe('outlast status --test-alert', () => {
  const sendTest = (env: Record<string, string>): Promise<Ended> =>
    runHere(['status', '--test-alert'], { env });

  test('needs no database, and says whether the message was taken', async () => {
    const sendAs = (format: string): Promise<Ended> =>
      sendTest({ OUTLAST_ALERT_WEBHOOK: webhook(), OUTLAST_ALERT_FORMAT: format });
    const taken = await sendAs('slack');
    expect(taken, taken.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('took') as string,
    });
    expect(receiver.bodies.map((body) => JSON.parse(body) as unknown)).toEqual([
      { text: 'Outlast: a test message. Alerts will arrive here.' },
    ]);
    receiver.be('refuses');
    const failed = await sendAs('dingtalk');
    expect(failed).toMatchObject({
      code: 75,
      stdout: '',
      stderr:
        'outlast: The webhook did not take the test message: status 200 with errcode 310000, "keywords not in content": let the robot’s keyword be Outlast.\n',
    });
    for (const ended of [taken, failed]) expectNothingOfTheAddress(ended);
  });

  test('the address may come from a file', async () => {
    const file = join(await freshFolder(), 'webhook');
    await writeFile(file, `${webhook()}\n`);
    expect(await sendTest({ OUTLAST_ALERT_WEBHOOK_FILE: file })).toMatchObject({ code: 0 });
    expect(receiver.requests[0]?.path).toBe(`/in/${token}?also=${token}`);
  });

  test.each([
    [{}, 'OUTLAST_ALERT_WEBHOOK is not set'],
    [{ OUTLAST_ALERT_WEBHOOK: `ftp://${token}` }, 'OUTLAST_ALERT_WEBHOOK is no address'],
    [{ OUTLAST_ALERT_WEBHOOK: token }, 'OUTLAST_ALERT_WEBHOOK is no address'],
    [{ OUTLAST_HEARTBEAT_URL: token }, 'OUTLAST_HEARTBEAT_URL is no address'],
    [{ OUTLAST_ALERT_WEBHOOK: `http://${token}%zz@x` }, 'write %25'],
    [{ OUTLAST_ALERT_FORMAT: 'xml' }, 'give one of json, slack, dingtalk, wecom, feishu'],
    [{ OUTLAST_ALERT_SECRET: token }, 'only dingtalk and feishu are signed'],
  ])('P12: %j ends with exit code 2 and a sentence without the secret', async (env, sentence) => {
    const ended = await sendTest(env);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(sentence);
    expectNothingOfTheAddress(ended);
  });
});

describe('with a platform', () => {
  let simulator: Simulator;
  let synced: TestDatabase;
  /** A copy of the one that was synced. */
  let database: TestDatabase;
  setUp(async (keep) => {
    const world = { ...smallWorld, ordersPerDay: 3, classesPerDay: 1 };
    simulator = await keep(createSimulator({ startAt: noon, speed: 0, world }));
    database = synced = await keep(createTestDatabase());
    await readOnly(synced.connectionString, simulator, days);
    const ended = await runHere(['sync'], { env: settings() });
    expect(ended.code, ended.stderr).toBe(0);
  });
  beforeEach(async () => {
    database = await fresh(copyOf(synced));
  });

  const settings = (more: Record<string, string> = {}): Record<string, string> => ({
    ...environmentOf(simulator, database.connectionString),
    OUTLAST_SCHEDULE: '* * * * * *',
    ...stoppedAt(noon),
    ...more,
  });
  const told = (): string[] => receiver.told().map(({ state, kind }) => `${state} ${kind}`);

  const query = (sql: string): Promise<Record<string, unknown>[]> =>
    queryAt(database.connectionString, sql);

  const stubborn = (resource = 'orders'): Promise<unknown> =>
    query(
      `update sync.slices set attempts = 5, last_error = 'x' where day = '2026-03-03' and resource = '${resource}'`,
    );

  test('P8: two replicas tell it once; status and alert show it; killed between delivery and note, a successor tells it again', async () => {
    await stubborn();
    const env = settings({ OUTLAST_ALERT_WEBHOOK: webhook() });
    const replicas = [startCommand(['start'], { env }), startCommand(['start'], { env })];
    await Promise.all(replicas.map((one) => one.waitFor(/Outlast is running/)));
    const noted = `select from sync.alerts where told_at is not null`;
    await expect.poll(() => query(noted)).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(told()).toEqual(['open proof_fails']);
    const only = { DATABASE_URL: database.connectionString };
    const status = await runHere(['status'], { env: only });
    expect(status.stdout).toContain('  ALERT  orders 2026-03: 1 day (2026-03-03) was tried');
    const json = await runHere(['status', '--json'], { env: only });
    expect(JSON.parse(json.stdout)).toMatchObject({
      projects: [{ problems: [{ kind: 'proof_fails', subject: 'orders 2026-03' }] }],
    });
    const listed = await runHere(['query', 'alerts', '--json'], { env: only });
    expect(JSON.parse(listed.stdout)).toMatchObject([
      {
        project_id: 'default',
        kind: 'proof_fails',
        subject: 'orders 2026-03',
        opened_at: expect.stringMatching(/^2026-04-06T12:00/) as string,
        told_at: expect.stringMatching(/^2026-04-06T12:00/) as string,
        resolved_at: null,
      },
    ]);
    const other = await runHere(['query', 'alerts', '--project', 'defualt'], { env: only });
    expect(other).toMatchObject({ code: 2, stdout: '' });

    // At least once.
    receiver.be('hangs');
    await stubborn('nft_classes');
    await expect.poll(told).toHaveLength(2);
    await Promise.all(replicas.map((one) => one.stop('SIGKILL')));
    receiver.be('takes');
    // Its claim has run out.
    await query(`update sync.alerts set telling_until = now() where told_at is null`);
    await runHere(['sync'], { env });
    await runHere(['sync'], { env });
    expect(receiver.told().map(({ state, subject }) => `${state} ${subject}`)).toEqual([
      'open orders 2026-03',
      'open nft_classes 2026-03',
      'open nft_classes 2026-03',
    ]);
  });

  test('start calls the heartbeat once a minute at most, and not at all while the platform is down; P10: the addresses appear in no output, at the loudest log level, whatever the receiver does', async () => {
    const due = (): Promise<unknown> =>
      query(`update sync.slices set due_at = '2026-04-06' where day = '2026-04-06'`);
    const env = settings({
      OUTLAST_ALERT_WEBHOOK: webhook(),
      OUTLAST_HEARTBEAT_URL: webhook('beat'),
      OUTLAST_LOG_LEVEL: 'trace',
    });
    // On a busy machine alerts may come between.
    const beats = (): unknown[] =>
      receiver.requests.filter(({ path }) => path.startsWith('/beat/'));
    simulator.setFaults({ serverError: {} });
    await due();
    const service = startCommand(['start'], { env });
    await service.waitFor(/A run left something due/);
    expect(beats()).toEqual([]);
    simulator.setFaults({ serverError: null });
    await due();
    await expect.poll(() => beats().length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(beats()).toHaveLength(1);
    receiver.be('fails');
    await stubborn();
    const failed = (): string[] => service.stderr().match(/.*did not take the alerts.*/g) ?? [];
    await expect.poll(failed).toHaveLength(1);
    for (const [i, mood] of (['cuts', 'redirects', 'gone'] as const).entries()) {
      if (mood === 'gone') await receiver.close();
      else receiver.be(mood);
      await query(`update sync.alerts set telling_until = null`);
      await expect.poll(failed).toHaveLength(i + 2);
    }
    const ended = await service.stop();
    expect(ended.code).toBe(0);
    expectNothingOfTheAddress(ended);
    expect(failed().at(-1)).toContain('ECONNREFUSED');
    expect(JSON.stringify(await query('select * from sync.alerts'))).not.toContain(token);
    receiver = await startReceiver();
    receiver.be('hangs');
    await query(`update sync.alerts set telling_until = null`);
    // It holds up the end of a sync by its ten seconds, and changes no exit code.
    const held = await runCommand(['sync'], {
      env: { ...env, OUTLAST_ALERT_WEBHOOK: webhook(), OUTLAST_HEARTBEAT_URL: webhook() },
    });
    expect(held.code).toBe(0);
    expect(held.stderr).toContain('no answer within 10 s');
    expectNothingOfTheAddress(held);
    const doctor = await runHere(['doctor'], { env: settings() });
    expect(doctor.stdout).toContain(
      'the webhook has not taken an alert: `outlast status --test-alert` says why',
    );
  });
});
