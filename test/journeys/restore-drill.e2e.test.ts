// The restore drill, command by command: sync, export, kill it, export, import elsewhere, verify, sync on, export
// again.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Manifest } from '../../src/export/manifest.ts';
import { createUncertified, type Certified } from '../support/certified.ts';
import { environmentOf, startCommand, type Ended } from '../support/command.ts';
import { expectRefused, runHere, succeedHere } from '../support/command-here.ts';
import { makeFolder, setUp, removeFolder } from '../support/fresh.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { createUnlistedSource, type UnlistedSource } from '../support/unlisted.ts';

let source: UnlistedSource;
let archive: Certified;
let elsewhere: TestDatabase;
let folder = '';

setUp(async (keep) => {
  // Results, tokens and a certificate file, with their earlier contents; March ends meanwhile, and is certified.
  source = await keep(createUnlistedSource());
  archive = await keep(
    createUncertified(source.records, {
      ...source.worker,
      days: ['2026-03-05', '2026-03-20', '2026-04-10', '2026-04-29'],
    }),
  );
  await source.fill(archive);
  elsewhere = await keep(createTestDatabase());
  folder = await keep(makeFolder(), removeFolder);
});

const environment = (databaseUrl: string): { env: Record<string, string> } => ({
  env: {
    ...environmentOf(archive.simulator, databaseUrl),
    ...stoppedAt(archive.simulator.clock.now()),
    OUTLAST_LOG_LEVEL: 'error',
    OUTLAST_CERTIFICATES_DIR: join(folder, 'certificates'),
    OUTLAST_PROJECT: 'p',
  },
});

const succeeds = (args: string[], databaseUrl: string): Promise<Ended> =>
  succeedHere(args, environment(databaseUrl));

const manifestOf = async (name: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, name, 'manifest.json'), 'utf8')) as Manifest;

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.size > 0,
    () => false,
  );

/** Kills an export as soon as it has noted a file. */
async function killedMidway(to: string): Promise<void> {
  const running = startCommand(['export', to], environment(archive.connectionString));
  while (
    running.child.exitCode === null &&
    !(await isThere(join(to, '.unfinished', 'journal.jsonl')))
  ) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await running.stop('SIGKILL');
}

test('an archive survives its database, digest for digest, and goes on', async () => {
  const to = join(folder, 'export');
  await killedMidway(to);
  const done = await succeeds(['export', to], archive.connectionString);
  expect(done.stdout).toMatch(/p +archive\.orders +[\d,]+ +\d+ +\d+\n/);
  expect(done.stdout).toMatch(/\d+ files written, \d+ unchanged/);

  const restored = await succeeds(['import', to], elsewhere.connectionString);
  expect(restored.stdout).toContain('All of it was read back and is what was exported.');
  const verified = await succeeds(['verify'], elsewhere.connectionString);
  expect(verified.stdout).toMatch(/2026-03 +p +orders +\d+ +0 +.*holds/);
  expect(verified.stdout).toMatch(/^p +transactions +14 +3 +0 +1 +0 +0$/m);
  expect(verified.stdout).toMatch(/^p +tokens +4 +2 +1 +0 +0 +0$/m);
  const listsOf = async (databaseUrl: string): Promise<unknown> =>
    (
      JSON.parse((await succeeds(['verify', '--json'], databaseUrl)).stdout) as {
        lists: { certificates: object[] }[];
      }
    ).lists;
  expect(await listsOf(elsewhere.connectionString)).toEqual(
    await listsOf(archive.connectionString),
  );

  const again = join(folder, 'again');
  await succeeds(['export', again, '--json'], elsewhere.connectionString);
  const [first, second] = [await manifestOf('export'), await manifestOf('again')];
  expect(second.months).toEqual(first.months);
  expect(second.files.map((file) => [file.path, file.content_sha256])).toEqual(
    first.files.map((file) => [file.path, file.content_sha256]),
  );

  // The same platform is recognised, and the work goes on: nothing of the window is read anew from its beginning.
  // So it does with what no list shows: it knows what it was given before, and asks for what is given now.
  archive.simulator.advance(3_600_000);
  source.records.transactions['later'] = { v3: '{"status":1}' };
  await succeeds(['watch', 'later', 'moving', '--api-version', 'v3'], elsewhere.connectionString);
  const synced = await succeeds(['sync', '--json'], elsewhere.connectionString);
  expect(synced.stderr).not.toContain('changed');
  const confirmed = await succeeds(
    ['verify', '--platform', '--resource', 'transactions'],
    elsewhere.connectionString,
  );
  expect(confirmed.stdout).toMatch(/^p +transactions +15 +3 +0 +1 +0 +0$/m);
  expect(confirmed.stdout).toContain('Of 15 final results the platform confirms 15 now');
  // Of the same archive by now further on: the export in place may follow it.
  await succeeds(['export', to], elsewhere.connectionString);
});

test('mistakes end with 2 and one sentence', async () => {
  for (const [args, sentence] of [
    [['export'], "missing required argument 'place'"],
    [['export', folder], 'holds other things and no export'],
    [['import', join(folder, 'export')], 'an import needs an empty one'],
  ] as const) {
    expectRefused(await runHere([...args], environment(elsewhere.connectionString)), sentence);
  }
});
