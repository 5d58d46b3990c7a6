// `outlast watch` as a person uses it: ids in, a sync, and status says what became of each.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Ended } from '../support/command.ts';
import { expectRefused, runHere } from '../support/command-here.ts';
import { readOnly } from '../support/few-days.ts';
import { freshFolder } from '../support/fresh.ts';
import { practise, type Practice } from '../support/practise.ts';

const world = {
  ordersPerDay: 1,
  classesPerDay: 1,
  quietShare: 0,
  transactionsPerDay: 9,
  tokens: 2,
};
let practice: Practice;
beforeEach(async () => void (practice = await practise({ world })));

/** Of the window its ends are read: what is watched is on no list. */
const readFewDays = (): Promise<void> =>
  readOnly(practice.database.connectionString, practice.simulator, [
    '2026-03-01',
    '2026-04-05',
    '2026-04-06',
  ]);

const outlast = (...args: string[]): Promise<Ended> => runHere(args, { env: practice.env() });

test('ids from arguments and a file are asked for by the next sync; status names what is lost', async () => {
  const [first = '', ...others] = practice.simulator.oracle.operationIds('2026-04-01');
  const none = join(await freshFolder(), 'none');
  const nowhere = await runHere(['watch', first], { env: { OUTLAST_DATA_DIR: none } });
  expectRefused(nowhere, 'no archive to put the operations into: DATABASE_URL is not');
  expect(existsSync(none)).toBe(false);
  expectRefused(await outlast('watch', first), 'Run `outlast sync` first');
  await readFewDays();
  expect(await outlast('sync')).toMatchObject({ code: 0 });

  const file = join(await freshFolder(), 'ids.txt');
  await writeFile(file, `\ufeff${others.join('\r\n')}\r\n\r\n`);
  const watched = await outlast('watch', first, '--file', file, '--created-on', '2026-04-01');
  expect(watched).toMatchObject({ code: 0 });
  expect(watched.stdout).toContain(`default: ${others.length + 1} more operations are watched.`);
  const { stdout: screen } = await runHere(['status'], { env: practice.env(), columns: 80 });
  for (const said of [/(due by.*\s[^]*){2}/, / \d+ operations watched/, / tokens: /]) {
    expect(screen).toMatch(said);
  }
  // With the line below it, where the next command is typed.
  expect(screen.split('\n').length).toBeLessThanOrEqual(40);
  const again = await outlast('watch', first, '--json');
  expect(JSON.parse(again.stdout)).toEqual({
    project_id: 'default',
    given: 1,
    added: 0,
    changed: 0,
  });
  const ahead = await outlast('watch', 'from-long-ago', '--created-on', '2062-11-30');
  expect(ahead.stdout).toContain('more than a month ahead: it counts as not given');
  const soon = await outlast('watch', 'from-long-ago', '--created-on', '2026-04-20');
  expect(soon.stdout).toContain('2026-04-20 has not begun yet. If the day is mistyped');
  const gone = await outlast('watch', 'from-long-ago', '--created-on', '2025-11-30');
  expect(gone).toMatchObject({ code: 0 });
  expect(gone.stdout).toContain('watched before, and 1 of them changed by this.');

  const synced = await outlast('sync', '--json');
  expect(synced.code, synced.stderr).toBe(0);
  expect(JSON.parse(synced.stdout)).toMatchObject({
    projects: [{ operations_done: others.length + 1, operations_lost: 1 }],
  });
  const status = await outlast('status');
  expect(status.stdout).toContain(
    `${others.length + 2} operations watched, ${others.length + 1} done`,
  );
  expect(status.stdout).toContain('1 LOST');
  expect(status.stdout).toContain('LOST from-long-ago: it was never found');
  expect(status.stdout).toContain('tokens: 2 held, read');
  const old = ['--created-on', '2025-11-30'] as const;
  expect((await outlast('watch', first, ...old)).stdout).not.toContain('lost');
  expect((await outlast('watch', first, 'another', ...old)).stdout).toContain('them as lost');
});

test('P12: mistakes are named before anything is entered', async () => {
  await readFewDays();
  await outlast('sync');
  const folder = await freshFolder();
  const file = join(folder, 'ids.csv');
  await writeFile(file, 'operation id;amount\nop_1;5\n');
  for (const [args, sentence] of [
    [['watch'], 'there are none'],
    [['watch', '--file', file], 'an id is 1 to 64 letters'],
    [['watch', '--file', join(folder, 'nothing')], '--file cannot be read'],
    [['watch', 'op', '--created-on', '2026-02-30'], '--created-on must be a UTC day'],
    [['watch', 'op', '--api-version', 'v2'], 'v1beta1, v3'],
    [
      ['watch', 'op', '--project', 'other'],
      'Nothing is archived for a project "other" here, only for default.',
    ],
  ] as const) {
    expectRefused(await outlast(...args), sentence);
  }
  const status = await outlast('status', '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({ projects: [{ operations: null }] });
});
