// The demo as an impatient person runs it: stopped early, killed, and run again (P3); then as anybody runs it.
import pg from 'pg';
import { expect, test } from 'vitest';
import { codeOf } from '../../src/errors.ts';
import { queryAt } from '../support/client.ts';
import {
  hasTerminal,
  runCommand,
  startCommand,
  startOnTerminal,
  type Running,
} from '../support/command.ts';
import { makeFolder, removeFolder, setUp } from '../support/fresh.ts';

let folder: string;
setUp(async (keep) => void (folder = await keep(makeFolder('outlast demo ü '), removeFolder)));

let held = 0;
/** How the sync before went, in words. */
let synced = '';
/** How many orders the table of what is held names. */
const ordersIn = (text: string): number =>
  Number(/^ +orders +([\d,]+)/m.exec(text)?.[1]?.replaceAll(',', ''));

/** Its platform shows first pages and no other: the first sync is in its middle for as long as it lives. */
const keepBack = `
  import { Server } from 'node:http';
  const { emit } = Server.prototype;
  Server.prototype.emit = function (name, request, ...more) {
    if (!(name === 'request' && request.url.includes('page_key='))) return emit.call(this, name, request, ...more);
    process.stdout.write('A page is kept back\\n');
    return true;
  };`;

async function startedInTheMiddle(): Promise<Running> {
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(keepBack)}` };
  const demo = startCommand(['demo'], { cwd: folder, env });
  await demo.waitFor(/A page is kept back/);
  return demo;
}

const demoRuns = /outlast: A demo runs already in this folder: stop it first[^\n]*\n$/;

// One archive, each test where the one before it left it.

test('Ctrl-C in the middle of the first sync says that nothing is lost', async () => {
  const demo = await startedInTheMiddle();
  const { code, stdout, stderr } = await demo.stop('SIGINT');
  // How far it was, where it took its five seconds.
  expect(stderr).toMatch(/^( {2}reading {3}[^\n]+ done\n)*$/);
  expect(stdout).toContain('Stopped. Nothing is lost');
  expect(stdout).not.toContain('Synced');
  expect(code).toBe(0);
});

test('killed in the middle of the first sync, it completes the archive when it is run again', async () => {
  const killed = await (await startedInTheMiddle()).stop('SIGKILL');
  expect(killed.stdout).not.toContain('Synced');
  // It asks this machine alone: what a profile names for the way out does not matter.
  const env = { HTTPS_PROXY: 'socks5h://proxy.example', HTTP_PROXY: 'http://user:pa ss/w@h:99999' };
  const again = await runCommand(['demo', '--once'], { cwd: folder, env });
  expect(again.code, again.stderr).toBe(0);
  expect(again.stdout).toMatch(
    /Synced in [\d.]+ s with [\d,]+ requests: [\d,]+ records are new[^.]*\.\n/,
  );
  expect(again.stdout).toMatch(/nft_classes +[\d,]+/);
  // On the last day of a month there are hours left.
  expect(again.stdout).toMatch(/leaves the platform’s window in \d+ (days?|h|min)\b/);
  held = ordersIn(again.stdout);
  synced = again.stdout.split('Synced')[1]?.slice(0, 60) ?? '';
  expect(held).toBeGreaterThan(1000);
});

test('run again it goes on with what it holds, can be looked into and watched, and leaves cleanly at Ctrl-C', async () => {
  const demo = startCommand(['demo'], { cwd: folder });
  const [, address = ''] = await demo.waitFor(/psql "(postgres:[^"]+)"/);
  expect(ordersIn(demo.stdout())).toBeGreaterThanOrEqual(held);
  expect(synced).not.toBe('');
  expect(demo.stdout()).not.toContain(synced);
  const rows = await queryAt(
    address,
    `select (select count(*) > 1000 from archive.orders) as filled,
            count(*) filter (where walked_at is null)::int as unread from sync.slices`,
  );
  expect(rows).toEqual([{ filled: true, unread: 0 }]);
  expect(demo.stdout()).toMatch(/ outlast watch op-\S+ --created-on \d{4}-\d\d-\d\d\n/);
  const [, page = ''] = /Open (http:\S+) to watch it/.exec(demo.stdout()) ?? [];
  expect((await fetch(page)).headers.get('content-type')).toMatch(/^text\/html/);
  await demo.waitFor(/^\d\d:\d\d:\d\d {2}\d+ new orders?\b/m);
  const second = await runCommand(['demo'], { cwd: folder });
  expect(second).toMatchObject({ code: 2, stderr: expect.stringMatching(demoRuns) });
  // npm hands on what the terminal has sent already: that is no second wish.
  demo.child.kill('SIGINT');
  expect((await demo.stop('SIGINT')).code).toBe(0);
  await expect(new pg.Client({ connectionString: address }).connect()).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });
});

test.runIf(hasTerminal)(
  'its terminal closed, it stops the embedded Postgres, though nobody takes what it prints',
  async () => {
    const { child, shown } = startOnTerminal(['demo'], { cwd: folder });
    await expect.poll(shown).toContain('Ctrl-C ends the demo');
    const [, connectionString] = /psql "(postgres:[^"]+)"/.exec(shown()) ?? [];
    child.kill('SIGKILL');
    const answer = async (): Promise<unknown> => {
      const client = new pg.Client({ connectionString });
      client.on('error', () => undefined);
      return client.connect().then(() => client.end(), codeOf);
    };
    await expect.poll(answer, { interval: 500 }).toBe('ECONNREFUSED');
  },
);
