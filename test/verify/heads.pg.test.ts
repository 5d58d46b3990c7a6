// Heads of the journal leave the database: into a file that only grows, into `status`, with alerts and the heartbeat;
// and what is kept there finds out a journal that was made anew.
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bodyOf } from '../../src/alert/message.ts';
import { silentLog } from '../../src/log.ts';
import { readStatus } from '../../src/query/status.ts';
import { newestHeads } from '../../src/store/journal/heads.ts';
import { headsIn, publishHeads } from '../../src/verify/publish-heads.ts';
import { createBench, noon, type Bench } from '../support/archive.ts';
import { queryAt } from '../support/client.ts';
import { makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { observe } from '../support/observe.ts';
import { remadeJournal } from '../support/tamperings.ts';
import { verified } from '../support/verified.ts';

let bench: Bench;
let headsDir: string;

setUp(async (keep) => {
  headsDir = await keep(makeFolder('outlast heads '), removeFolder);
  bench = await keep(
    createBench(
      // At no quarter of an hour, when today is read whole.
      { startAt: noon + 300_000, world: { ordersPerDay: 1, classesPerDay: 1, quietShare: 0.5 } },
      { headsDir: join(headsDir, 'new') },
    ),
  );
  // Today's last page is read by itself from the second run on.
  await bench.run();
  await bench.run();
});

const path = (): string => join(headsDir, 'new', 'p.heads');
const lines = async (): Promise<string[]> =>
  (await readFile(path(), 'utf8')).split('\n').slice(0, -1);
const write = (id: string, at: string): Promise<void> =>
  observe(
    bench.db,
    { project: 'p', resource: 'orders' },
    [{ operation_id: id, status: 2, create_time: '2026-04-01T10:00:00Z' }],
    at,
  );
const saidOf = async (heads: string[]): Promise<string[]> =>
  (await verified(bench.db, { resources: [], heads })).findings.map(({ says }) => says);

test('a run that wrote something adds a line; one that wrote nothing adds no entry and no line', async () => {
  const first = await lines();
  expect(first).toHaveLength(2);
  const entries = async (): Promise<unknown> =>
    (await bench.db.query('select count(*)::int as n from sync.journal')).rows[0];
  const before = await entries();
  await bench.run();
  expect(await entries()).toEqual(before);
  expect(await lines()).toEqual(first);
  await write('one', '2026-04-06T12:30:00Z');
  await bench.run();
  const second = await lines();
  expect(second.slice(0, 2)).toEqual(first);
  expect(second).toHaveLength(3);
});

test('P9: a pipe in the place of the file is told of, and holds up no run', async () => {
  const given = { ...bench.worker, headsDir: join(headsDir, 'piped') };
  await mkdir(given.headsDir);
  execFileSync('mkfifo', [join(given.headsDir, 'p.heads')]);
  expect(await publishHeads(given)).toMatchObject({ kind: 'files_unwritten' });
});

test('status, alerts and the file name the same head', async () => {
  const [project] = await readStatus(bench.db);
  const kept = headsIn(await readFile(path(), 'utf8'));
  const no = Number((await lines()).at(-1)?.split('\t')[0]);
  expect(project?.head).toMatchObject({ no, head: kept.at(-1) });
  const heads = await newestHeads(bench.db, ['p', 'nobody']);
  expect(JSON.parse(bodyOf([], 'json', heads))).toMatchObject({
    heads: [{ project: 'p', no, head: kept.at(-1) }],
    text: expect.stringContaining(`Journal of p: head ${no} is ${kept.at(-1)}`),
  });
});

test('what earlier processes owed is covered by the newest, behind a line that was cut off', async () => {
  const before = await lines();
  await appendFile(path(), '4\t2026-04-06T');
  await write('two', '2026-04-06T12:31:00Z');
  await publishHeads({ projectId: 'p', db: bench.db, log: silentLog() });
  await write('three', '2026-04-06T12:32:00Z');
  await publishHeads({ ...bench.worker });
  const after = await lines();
  expect(after.slice(0, -1)).toEqual([...before, '4\t2026-04-06T']);
  const [project] = await readStatus(bench.db);
  expect(after.at(-1)).toBe(`${project?.head?.no}\t${project?.head?.at}\t${project?.head?.head}`);
  expect(await saidOf(headsIn(await readFile(path(), 'utf8')))).toEqual([]);
});

test('sabotaged: a journal made anew passes none of the heads kept, and nothing of it is added to them', async () => {
  const before = await readFile(path(), 'utf8');
  await queryAt(bench.connectionString, remadeJournal());
  const errors: string[] = [];
  const log = Object.assign(silentLog(), {
    error: (_: object, sentence: string) => errors.push(sentence),
  });
  expect(await publishHeads({ ...bench.worker, log })).toMatchObject({ kind: 'archive_altered' });
  expect(errors).toEqual([
    expect.stringMatching(
      /^The last head in the project’s file of OUTLAST_HEADS_DIR is none of this archive/,
    ),
  ]);
  expect(await readFile(path(), 'utf8')).toBe(before);
  expect(await saidOf([])).toEqual([]);
  // One thing to tell, however many were kept.
  const kept = headsIn(before);
  expect(kept).toHaveLength(4);
  expect(await saidOf(kept)).toEqual([
    `4 heads, from ${kept[0]} to ${kept[3]}, were kept elsewhere, and no entry of this journal has them: it was made anew, or is an older one`,
  ]);
});
