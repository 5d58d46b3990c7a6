// The demo as an impatient person runs it: stopped early, killed, and run again (P3).
import { chmodSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand, startCommand } from '../support/command.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outlast demo '));
  // As root the embedded Postgres runs as another user, who must be able to pass through.
  chmodSync(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('killed in the middle of the first sync, it completes the archive when it is run again', async () => {
  const killed = startCommand(['demo'], { cwd: folder });
  // It is under way once the place of the archive is told; the sync takes seconds from there.
  await killed.waitFor(/archive {3}embedded PostgreSQL/);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(killed.stdout()).not.toContain('Synced');
  await killed.stop('SIGKILL');
  const again = startCommand(['demo'], { cwd: folder });
  const [, address = ''] = await again.waitFor(/psql "(postgres:[^"]+)"/, 60_000);
  expect(again.stdout()).toMatch(/Synced in [\d.]+ s with [\d,]+ requests: [^.]+\.\n/);
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query(
    `select count(*) filter (where walked_at is null)::int as unread from sync.slices`,
  );
  await client.end();
  expect(rows).toEqual([{ unread: 0 }]);
  expect((await again.stop('SIGINT')).code).toBe(0);
});

test('Ctrl-C in the middle of the first sync says that nothing is lost', async () => {
  const demo = startCommand(['demo'], { cwd: folder });
  await demo.waitFor(/archive {3}embedded PostgreSQL/);
  const { code, stdout, stderr } = await demo.stop('SIGINT');
  expect(stderr).toBe('');
  expect(stdout).toContain('Stopped. Nothing is lost');
  expect(code).toBe(0);
  const again = await runCommand(['demo', '--once'], { cwd: folder });
  expect(again.code, again.stderr).toBe(0);
});
