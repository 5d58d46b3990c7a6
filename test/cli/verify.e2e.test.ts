// `outlast verify` as a person or a program runs it: what it prints, and the exit code that says what to do next.
import { isOnCluster } from '../support/postgres.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environmentOf, linkedFile, type Ended } from '../support/command.ts';
import { runHere, succeedHere } from '../support/command-here.ts';
import { createCertified, type Certified } from '../support/certified.ts';
import { setUp } from '../support/fresh.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { copied } from '../support/tamperings.ts';
import type { Finding } from '../../src/verify/finding.ts';

let archive: Certified;
setUp(async (keep) => void (archive = await keep(createCertified())));

const settings = (): Record<string, string> => ({
  DATABASE_URL: archive.connectionString,
  OUTLAST_CERTIFICATES_DIR: archive.folder,
  OUTLAST_LOG_LEVEL: 'error',
});

const verify = (...args: string[]): Promise<Ended> =>
  runHere(['verify', ...args], { env: settings() });

const platformSettings = (): Record<string, string> => ({
  ...environmentOf(archive.simulator, archive.connectionString),
  OUTLAST_CERTIFICATES_DIR: archive.folder,
  OUTLAST_LOG_LEVEL: 'error',
  OUTLAST_PROJECT: 'p',
  ...stoppedAt(archive.simulator.clock.now()),
});

/** The exit code of a command in a shell, where its output may go elsewhere. */
async function judged(command: string): Promise<number | null> {
  const script = `set -o pipefail; "$0" ${linkedFile} ${command}`;
  const env = { ...settings(), PATH: process.env['PATH'], OUTLAST_LOG_LEVEL: 'trace' };
  const child = spawn('bash', ['-c', script, process.execPath], { env, stdio: 'ignore' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

const askPlatform = (...args: string[]): Promise<Ended> =>
  runHere(['verify', '--platform', ...args], { env: platformSettings() });

describe('an archive that nobody touched', () => {
  test('is told to be so in the last line, with what to keep elsewhere, and no key is needed', async () => {
    const { code, stdout, stderr } = await verify();
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(
      /2026-03 +p +orders +\d+ +0 +2026-05-01 11:05 +holds, 1 of 31 days never proved whole$/m,
    );
    expect(stdout).toMatch(/p\/orders-2026-03\.certificate\.json has SHA-256\n {2}[0-9a-f]{64}\n/);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^\d+ orders and \d+ NFT classes: nothing held was altered\. Not complete, or not proved to be: orders of p, 1 day never proved whole; NFT classes of p, 4 days never proved whole \(--json names them\)\.$/,
    );
  });

  test('is one JSON object for programs, narrowed to a month where one is named', async () => {
    const { code, stdout } = await verify('--json', '--month', '2026-03', '--project', 'p');
    expect(code).toBe(0);
    const { rows } = await archive.db.query(
      `select 1 from archive.orders where slice_day < '2026-04-01'`,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      findings: [],
      lists: [
        { resource: 'orders', records: rows.length, certificates: [{ month: '2026-03' }] },
        { resource: 'nft_classes' },
        { resource: 'transactions', records: 0 },
      ],
    });
    const later = await verify('--json', '--from-month', '2026-04');
    expect(JSON.parse(later.stdout)).toMatchObject({ lists: [{ certificates: [] }, {}, {}] });
  });

  test('passes the heads that were kept elsewhere; another one ends with 1, and what is none with 2', async () => {
    const { rows } = await archive.db.query<{ head: string }>(
      `select encode(head, 'hex') as head from sync.journal order by no`,
    );
    const file = join(archive.folder, 'p.heads');
    await writeFile(file, rows.map(({ head }, i) => `${i + 1}\t2026-05-01\t${head}\n`).join(''));
    const passed = await verify('--heads', file, '--head', rows[0]?.head ?? '');
    expect(passed.code, passed.stdout).toBe(0);
    expect(passed.stdout).toContain(`the journal of p has head ${rows.length}, of `);
    expect(passed.stdout).toContain('of the heads that were kept elsewhere');
    const other = await verify('--head', '0'.repeat(64));
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(/journal +p: the head 0{64} was kept elsewhere, and no entry/);
    expect(await verify('--head', 'abc')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no head: give its 64 hex digits'),
    });
  });

  test('is narrowed to a resource where one is named', async () => {
    const { code, stdout } = await verify('--resource', 'tokens');
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      '0 tokens: every one follows from what the platform said.',
    );
    const json = await verify('--json', '--resource', 'orders');
    expect(JSON.parse(json.stdout)).toMatchObject({ lists: [{ resource: 'orders', files: 0 }] });
  });

  test('is confirmed by the platform, and nothing is written for it', async () => {
    const written = () =>
      archive.db.query('select * from sync.slices order by resource, day').then(({ rows }) => rows);
    const before = await written();
    const { code, stdout, stderr } = await askPlatform();
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/proved days the platform confirms \d+ now, contradicts 0/);
    expect(await written()).toEqual(before);
    const { platform } = JSON.parse(
      (await askPlatform('--json', '--resource', 'nft_classes')).stdout,
    ) as { platform: { resource: string }[] };
    expect(new Set(platform.map(({ resource }) => resource))).toEqual(new Set(['nft_classes']));
  });
});

describe('what does not follow', () => {
  test('is named, a line each, and the exit code is 1', async () => {
    const kept = await archive.db.query<{ id: string; message: string }>(
      `update archive.orders set message = E'\\u001b[2Jaltered' where operation_id = (select max(operation_id) from archive.orders)
       returning operation_id as id`,
    );
    const id = kept.rows[0]?.id ?? '';
    const { code, stdout } = await verify();
    expect(code).toBe(1);
    expect(stdout).toContain(`${id}: message is "\\u{1b}[2Jaltered" and the record says `);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(
      /One thing does not follow from what the platform said, named above\. Not complete, .*\n$/,
    );
    const json = JSON.parse((await verify('--json')).stdout) as { findings: unknown[] };
    expect(json.findings).toMatchObject([
      { kind: 'column', project_id: 'p', resource: 'orders', id },
    ]);
    // What docs/troubleshooting.md says restores it.
    const env = { DATABASE_URL: archive.connectionString };
    await succeedHere(['rebuild'], { env });
    expect((await verify()).code).toBe(0);
  });

  // A cluster lets nobody rename what it is distributed by.
  test.skipIf(isOnCluster)(
    'is looked for in projects that nothing names any more, or ever did',
    async () => {
      const { owner } = archive;
      await owner.query(`update sync.projects set project_id = 'other'`);
      await owner.query(copied('archive.orders', 'limit 1', { project_id: `'ghost'` }));
      const { code, stdout } = await verify('--json');
      await owner.query(
        `update sync.projects set project_id = 'p'; delete from archive.orders where project_id = 'ghost'`,
      );
      expect(code).toBe(1);
      const { findings } = JSON.parse(stdout) as { findings: Finding[] };
      const named = findings.map((one) => `${one.project_id} ${one.kind}: ${one.says}`);
      const line = 'ledger: something of it is held, and its line in sync.projects is gone';
      expect(named).toEqual([
        expect.stringMatching(/^ghost extra: a content .* is held, and nothing in the journal/),
        expect.stringContaining(`ghost ${line}`),
        expect.stringContaining(`p ${line}`),
      ]);
    },
  );

  test('is named a hundred times for a person, and each time in JSON', async () => {
    await archive.owner.query('update archive.orders set order_type = 77');
    const held = await archive.db.query('select 1 from archive.orders');
    const { stdout } = await verify();
    expect(stdout.match(/^column /gm)).toHaveLength(100);
    // Its certificate is what it was, and what is held of its month is not.
    expect(stdout).toMatch(/^2026-03 +p +orders .* DOES NOT HOLD, 1 of 31 /m);
    expect(stdout).toMatch(/^2026-03 +p +nft_classes .* holds, 4 of 31 /m);
    expect(stdout).toContain(`and ${held.rows.length - 100} more: --json names them all`);
    const json = JSON.parse((await verify('--json')).stdout) as { findings: unknown[] };
    expect(json.findings).toHaveLength(held.rows.length);
    await archive.db.query(`update sync.projects set parked_at = now(), parked_reason = 'no'`);
    // Whoever reads it: one that leaves at once, or a full disk.
    const codes = await Promise.all([
      judged('verify --json | head -c1'),
      judged('verify --json 2>&1 | true'),
      judged('verify 2>/dev/full | true'),
      judged('verify >/dev/full'),
      judged('status --check >/dev/full'),
    ]);
    await archive.db.query(`update sync.projects set parked_at = null, parked_reason = null`);
    expect(codes).toEqual([1, 1, 1, 1, 2]);
    await archive.owner.query(`update archive.orders set order_type = (raw ->> 'order_type')::int`);
  });

  test('with the platform is a day that it counts otherwise now', async () => {
    const { rows } = await archive.db.query<{ id: string; day: string }>(
      `select operation_id as id, slice_day as day from archive.orders
        where slice_day between '2026-04-05' and '2026-04-25' and status > 1 limit 1`,
    );
    archive.simulator.hide('orders', rows[0]?.id ?? '');
    const { code, stdout } = await askPlatform('--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      findings: [{ kind: 'platform', when: rows[0]?.day, id: null }],
    });
  });
});

describe('a platform that does not answer', () => {
  test('leaves what is held verified: it is told, and trying again later is what helps', async () => {
    archive.simulator.setFaults({ serverError: { share: 1 } });
    const { code, stdout, stderr } = await askPlatform();
    archive.simulator.setFaults({ serverError: null });
    expect(code).toBe(75);
    expect(stdout).toContain('nothing held was altered.');
    expect(stderr).toMatch(/^outlast: /m);
  });

  test('and one that refused the key is not asked', async () => {
    await archive.db.query(`update sync.projects set parked_at = now(), parked_reason = 'no'`);
    const requests = archive.simulator.requests.total;
    const { code, stdout, stderr } = await askPlatform();
    await archive.db.query(`update sync.projects set parked_at = null, parked_reason = null`);
    expect([code, archive.simulator.requests.total]).toEqual([75, requests]);
    expect(stdout).toContain('nothing held was altered.');
    expect(stderr).toContain('p: not asked, for the platform refused its key');
  });
});

describe('mistakes', () => {
  test.each([
    [['--month', '2026-13'], '--month must be a month as yyyy-MM, for example 2026-03'],
    [['--from-month', 'March'], '--from-month must be a month'],
    [['--month', '2026-03', '--from-month', '2026-03'], 'two ways to say it'],
    [['--resource', 'tokens', '--month', '2026-03'], 'Tokens belong to no month'],
    [['--month', '2020-01'], 'Nothing of 2020-01 was ever archived here'],
    [['--from-month', '2030-01'], 'Nothing of 2030-01 or later was ever archived here'],
    [['--resource', 'slices'], 'Allowed choices are orders, nft_classes, transactions, tokens'],
    [['--project', 'other'], 'Nothing is archived for a project "other" here, only for '],
    [['--platform', '--resource', 'tokens'], 'Tokens are compared with the platform by their next'],
    [['--platform'], 'OUTLAST_BASE_URL is not set'],
  ])('%j ends with 2 and one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await verify(...args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(sentence);
  });
});

// A cluster lets nobody return what is cast by a session's settings.
test.skipIf(isOnCluster)(
  'a record that is gone comes back by the sync of its day, and verify goes on naming it',
  async () => {
    const { rows } = await archive.owner.query<{ id: string; day: string }>(
      `delete from archive.orders where operation_id = (select operation_id from archive.orders order by slice_day desc, operation_id limit 1)
     returning operation_id as id, slice_day::text as day`,
    );
    const [{ id, day } = { id: '', day: '' }] = rows;
    const findings = async () =>
      (JSON.parse((await verify('--json')).stdout) as { findings: { kind: string; id: string }[] })
        .findings;
    expect(await findings()).toContainEqual(expect.objectContaining({ kind: 'missing', id }));
    await succeedHere(['sync', '--from', day, '--to', day, '--resource', 'orders'], {
      env: platformSettings(),
    });
    const held = await archive.db.query('select from archive.orders where operation_id = $1', [id]);
    expect(held.rows).toHaveLength(1);
    expect(await findings()).toEqual([expect.objectContaining({ kind: 'missing', id })]);
  },
);
