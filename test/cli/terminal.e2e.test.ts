// What every command prints fits into a terminal of 80 columns: tables, prose, help, mistakes, log lines and the line
// that says how far it is. Only what is to be copied in one piece may be longer.
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { widthOf } from '../../src/cli/print.ts';
import { createBench, fiveDays, noon, type Bench } from '../support/archive.ts';
import { environmentOf, hasTerminal, startOnTerminal, type Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { makeFolder, setUp, removeFolder } from '../support/fresh.ts';
import { stoppedAt } from '../support/machine-clock.ts';

let bench: Bench;
let folder: string;
setUp(async (keep) => {
  folder = await keep(makeFolder('outlast '), removeFolder);
  bench = await keep(createBench({ ...fiveDays, startAt: noon }));
  await bench.seal();
  const said = `余额不足，请充值后重试 ${'the account has too little for this '.repeat(4)}`;
  // What a long life leaves behind, all at once.
  await bench.db.query(
    `insert into sync.slices (project_id, resource, day, state, proof, deadline_at, due_at, last_error, attempts)
     select 'p', 'orders', day, (array['lost', 'final', 'open'])[1 + extract(day from day)::int % 3], 'none',
            '2026-03-30', null, $1, 3
       from generate_series('2025-12-31'::date, '2026-02-28', '1 day') day`,
    [said],
  );
  await bench.db.query(
    `insert into sync.alerts (project_id, kind, subject, text, opened_at) values ('p', 'days_lost', 'x', $1, now())`,
    [said],
  );
  await bench.db.query(
    `insert into sync.watched_operations (project_id, operation_id, state, last_error)
     values ('p', 'op_' || repeat('0123456789abcdef', 3), 'lost', $1)`,
    [said],
  );
});

const settings = (): Record<string, string> => ({
  ...environmentOf(bench.simulator, bench.connectionString),
  ...stoppedAt(bench.simulator.clock.now()),
  OUTLAST_PROJECT: 'p',
  OUTLAST_LOG_LEVEL: 'debug',
  OUTLAST_CERTIFICATES_DIR: folder,
});

const at80 = (...args: string[]): Promise<Ended> => runHere(args, { columns: 80, env: settings() });

/** Lines as they stand on the terminal, also those that were drawn over, wider than it is. */
const tooWide = ({ stdout, stderr }: Ended): string[] =>
  stripVTControlCharacters(stdout + stderr)
    .split(/[\r\n]+/)
    .filter((line) => widthOf(line) > 80 && line.trim().includes(' '));

test('every command fits into 80 columns', async () => {
  const { rows } = await bench.db.query<{ id: string }>(
    'select operation_id as id from archive.orders order by length(operation_id) desc limit 1',
  );
  const id = rows[0]?.id ?? '';
  const names = ['init', 'simulate', 'demo', 'sync', 'status', 'verify', 'export', 'query'];
  const commands: [string[], RegExp][] = [
    [['status'], /^ {2}2026-04 {2}orders +\?s/m],
    [['status', '--all'], /^ {2}2025-12 {2}orders/m],
    [['status', '--plan'], /(is|are) due by/],
    [['query', 'alerts'], /^opened/],
    [['verify'], /follow/],
    [['verify', '--platform'], /confirms/],
    [['rebuild'], /altered/],
    [['query', 'dictionary'], /^analytics\.orders_as_of/m],
    [['query', 'dictionary', 'orders'], /^operation_id/m],
    [['query', 'dictionary', 'nft_classes_as_of'], /:/],
    [['query', 'orders'], /…/],
    [['query', 'orders', '--id', id], /^operation id +\S{64}$/m],
    [['query', 'orders', '--id', id, '--history'], /in force/],
    [['query', 'nft_classes'], /…/],
    [['query', 'transactions'], /No results/],
    [['sync'], /outcome/],
    [['query', 'tokens'], /symbol/],
    [['export', join(folder, 'export')], /files written/],
    [['import', join(folder, 'export')], /holds an archive already/],
    [['doctor'], /Outlast can work here/],
    [['migrate'], /up to date/],
    [['status', '--probe'], /orders\.limit/],
    [['watch', 'op_1'], /1 more operation/],
    [['--help'], /Usage/],
    [['help', 'settings'], /OUTLAST_BASE_URL/],
    ...names.map((name): [string[], RegExp] => [[name, '--help'], /Usage/]),
    [['query', '--help'], / NFT classes/],
    [['query', 'orders', '--help'], /--as-of/],
    [['query', 'orders', '--status', 'done'], /must be one of/],
    [['status', '--project', 'x'.repeat(60)], /Nothing is archived/],
  ];
  for (const [args, expected] of commands) {
    const ended = await at80(...args);
    const plain = stripVTControlCharacters(ended.stdout + ended.stderr);
    expect(plain, args.join(' ')).toMatch(expected);
    expect({ args, lines: tooWide(ended) }).toEqual({ args, lines: [] });
  }
});

test('the calendar is that of the window and of months with lost days, unless all are asked for', async () => {
  const drawn = async (...args: string[]): Promise<string> =>
    stripVTControlCharacters((await at80('status', ...args)).stdout);
  expect(await drawn()).toMatch(/^ {2}2026-01 {2}orders +(NoL){10}N$/m);
  const december = /^ {2}2025-12 {2}orders +·{30}N$/m;
  expect(await drawn()).not.toMatch(december);
  expect(await drawn('--all')).toMatch(december);
});

test('what programs read is not wrapped: data, and the line for a monitor', async () => {
  const { stdout } = await at80('status', '--check');
  expect(stdout).toMatch(/^OUTLAST [A-Z]+: .{80,}\n$/);
  const json = await at80('query', 'orders', '--format', 'ndjson', '--limit', '1');
  expect(json.stdout).toMatch(/^\{.{80,}\}\n$/);
  const status = await at80('status', '--json');
  expect(() => JSON.parse(status.stdout) as unknown).not.toThrow();
});

describe.runIf(hasTerminal)('on a terminal', () => {
  const start = (args: string[], more = {}) =>
    startOnTerminal(args, { env: { ...settings(), ...more } });

  test('a bar is drawn, and nothing of it is left in the end; NO_COLOR is heeded', async () => {
    const { ended, shown } = start(['verify'], { NO_COLOR: '1' });
    expect(await ended, shown()).toBe(1);
    const at = shown().indexOf('project ');
    const [drawn, rest] = [shown().slice(0, at), shown().slice(at)];
    expect(drawn).toMatch(/\rp {2}█.* of [\d,]+ records/);
    expect(screenOf(drawn)).toBe('');
    expect(rest).toMatch(/^project[^]*do not follow/);
    expect(rest).not.toContain('\u001b');
  });

  test('Ctrl-C leaves nothing of the bar behind', async () => {
    // No second page comes before it is typed.
    bench.simulator.setFaults({ hang: { path: '/v3/orders', with: 'page_key=' } });
    const { ended, shown, type } = start(['sync', '--from', '2026-04-02', '--resource', 'orders']);
    await expect.poll(shown).toMatch(/\rp {2}/);
    type('\u0003');
    expect(await ended, shown()).toBe(75);
    expect(screenOf(shown())).not.toMatch(/slices.*\/s|[█░]/);
  });
});

/** What stands on the screen in the end: what was drawn over is gone. */
const screenOf = (output: string): string =>
  output
    .split('\n')
    .map((line) =>
      line.split('\r').reduce((shown, piece) => {
        const [text = '', ...erased] = piece.split('\u001b[K');
        return erased.length > 0 ? text + erased.join('') : text + shown.slice(text.length);
      }, ''),
    )
    .join('\n');
