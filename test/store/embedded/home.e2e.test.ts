// Where the embedded Postgres lives: odd places, other users, strangers' folders, full disks.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import { checkPrograms, findPackage } from '../../../src/store/embedded/programs.ts';
import type { Embedded } from '../../../src/store/embedded/embedded.ts';
import { queryAt } from '../../support/client.ts';
import { isRoot, openWithSettings, startChild } from '../../support/embedded.ts';
import { copies, copy, createHomes } from '../../support/embedded-homes.ts';

const homes = createHomes();
const { scratch, elsewhere } = homes;
let dataDir = '';
beforeEach(() => void (dataDir = homes.add()));

const open = (programs?: string): Promise<Embedded> =>
  homes.open(dataDir, programs === undefined ? {} : { programs });

/** A copy of the installed programs as npm leaves them: without the links its blocked script would make. */
async function programsWithoutLinks(folder: string): Promise<string> {
  copy(await findPackage(), folder);
  const list = join(folder, 'native', 'pg-symlinks.json');
  for (const { target } of JSON.parse(readFileSync(list, 'utf8')) as { target: string }[]) {
    rmSync(join(folder, target), { force: true });
  }
  return folder;
}

describe('the server', () => {
  test('lives in a path with spaces, an umlaut and signs of shells, and gets the links that npm did not make', async () => {
    dataDir = homes.add(join(dataDir, `my "Büro" $HOME 'x' ü`));
    const programs = await programsWithoutLinks(join(scratch, 'plain'));
    const embedded = await open(programs);
    expect(embedded.dataDir).toBe(dataDir);
    expect(copies(dataDir)).toEqual([]);
    expect(await queryAt(embedded.connectionString, 'select current_database() as name')).toEqual([
      { name: 'outlast' },
    ]);
    expect(await embedded.close()).toEqual({ stopped: true });
  });

  test('commits to the disk, speaks UTF-8 and UTC, and listens on loopback alone', async () => {
    await homes.withCluster(dataDir);
    const embedded = await openWithSettings(
      { dataDir, elsewhere, log: silentLog() },
      { max_connections: '33' },
    );
    const rows = await queryAt(
      embedded.connectionString,
      `select name, setting from pg_settings
        where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'server_encoding',
                       'TimeZone', 'listen_addresses', 'max_connections', 'dynamic_shared_memory_type')
        order by name collate "C"`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      TimeZone: 'UTC',
      // A container's /dev/shm has 64 MB.
      dynamic_shared_memory_type:
        process.platform === 'linux' ? 'sysv' : (expect.any(String) as string),
      fsync: 'on',
      full_page_writes: 'on',
      listen_addresses: '127.0.0.1',
      max_connections: '33',
      server_encoding: 'UTF8',
      synchronous_commit: 'on',
    });
    expect(statSync(join(dataDir, 'pgdata', 'outlast.password')).mode & 0o777).toBe(0o600);
    const wrong = embedded.connectionString.replace(/:[^:@]+@/, ':wrong@');
    await expect(queryAt(wrong, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    await embedded.close();
  });

  test('keeps its port while that is free and says another if it is not, and the rows are there', async () => {
    await homes.withCluster(dataDir);
    const first = await open();
    await queryAt(first.connectionString, 'create table kept as select 7 as n');
    await first.close();
    const second = await open();
    await second.close();
    expect(second.connectionString).toBe(first.connectionString);
    const squatter = createServer();
    const { port } = new URL(first.connectionString);
    await new Promise<void>((resolve) => squatter.listen(Number(port), '127.0.0.1', resolve));
    const third = await open();
    squatter.close();
    expect(new URL(third.connectionString).port).not.toBe(port);
    expect(await queryAt(third.connectionString, 'select n from kept')).toEqual([{ n: 7 }]);
    await third.close();
  });
});

describe('a folder that cannot be used is refused in one sentence, and left as it was', () => {
  const refused = async (code: string, told: RegExp): Promise<void> => {
    const before = existsSync(dataDir) && statSync(dataDir).isDirectory() && readdirSync(dataDir);
    await expect(open()).rejects.toMatchObject({
      kind: 'settings',
      code,
      message: expect.stringMatching(told) as string,
    });
    if (before !== false) expect(readdirSync(dataDir)).toEqual(before);
  };

  test.each([
    ['another PostgreSQL’s data', 'PG_VERSION', / holds files .*\(PG_VERSION\)/],
    ['somebody’s files', 'thesis.txt', /new or empty folder/],
  ])('%s', async (_, name, told) => {
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, name), '{');
    await refused('embedded_data_dir_foreign', told);
    expect(readFileSync(join(dataDir, name), 'utf8')).toBe('{');
  });

  test('a file', async () => {
    writeFileSync(dataDir, '');
    await refused('embedded_data_dir_forbidden', /is, or lies under, a file/);
    rmSync(dataDir);
  });

  test.runIf(process.platform === 'linux')(
    'a place where the system makes no folders',
    async () => {
      dataDir = '/proc/self/outlast/deeper';
      await refused('embedded_data_dir_forbidden', /cannot be made or used \(ENOENT: .*\)/);
    },
  );

  test('data of another major version', async () => {
    await homes.withCluster(dataDir);
    const versionFile = join(dataDir, 'pgdata', 'PG_VERSION');
    writeFileSync(versionFile, '17\n');
    await refused('embedded_data_dir_version', /PostgreSQL 17.*carries 18.*export/i);
    expect(readFileSync(versionFile, 'utf8')).toBe('17\n');
  });
});

describe('a cluster', () => {
  const openSpoilt = async (spoil: (pgdata: string) => void): Promise<unknown> => {
    await homes.withCluster(dataDir);
    spoil(join(dataDir, 'pgdata'));
    return open().catch((error: unknown) => error);
  };

  // Whose way out, another folder, would begin a second archive.
  test('that has lost its password is not taken for a folder without rights, and no server is left', async () => {
    expect(await openSpoilt((pgdata) => rmSync(join(pgdata, 'outlast.password')))).toMatchObject({
      kind: 'fatal',
      code: 'embedded_start_failed',
      message: expect.stringContaining('outlast.password') as string,
    });
  });

  test('with a setting that Postgres does not know is refused with its name', async () => {
    const write = (pgdata: string): void =>
      appendFileSync(join(pgdata, 'postgresql.auto.conf'), 'no_such_setting = 1\n');
    expect(await openSpoilt(write)).toMatchObject({
      code: 'embedded_start_failed',
      message: expect.stringContaining('no_such_setting') as string,
    });
  });
});

test('an empty volume, with what systems leave in one, is taken; where it is full, that is named, and once there is room it works; what a killed initdb left is cleared away', async () => {
  mkdirSync(join(dataDir, 'lost+found'), { recursive: true });
  // A limit on file sizes, 2 MB or less: the kernel refuses as it does on a full disk, wherever tests run.
  const child = startChild({ dataDir }, 'ulimit -f 2048; exec "$@"');
  const { error } = await child.opened;
  expect(error).toMatchObject({ code: 'embedded_disk_full', kind: 'fatal' });
  // One sentence, whatever the programs printed (P12).
  expect(error?.message).toMatch(/^There is no room .* in \/.*home-\d+\. .*disk\.$/);
  expect(readdirSync(dataDir).filter((name) => name.startsWith('pgdata'))).toEqual([]);

  const draft = join(dataDir, 'pgdata.draft-left');
  mkdirSync(draft);
  writeFileSync(join(draft, 'PG_VERSION'), '18\n');
  const embedded = await open();
  expect(await queryAt(embedded.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(existsSync(draft)).toBe(false);
  expect(await embedded.close()).toEqual({ stopped: true });
});

test('a disk that takes half a page is full, too', async () => {
  const programs = join(scratch, 'full');
  mkdirSync(join(programs, 'native', 'bin'), { recursive: true });
  const told = `FATAL:  could not extend file "base/1/2689": wrote only 4096 of 8192 bytes at block 4
HINT:  Check free disk space.`;
  const scripts = { postgres: '', initdb: `echo '${told}' >&2; exit 1` };
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(programs, 'native', 'bin', name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  await expect(open(programs)).rejects.toMatchObject({ code: 'embedded_disk_full' });
});

describe('the programs', () => {
  test('of a read-only installation without links are copied, for an ordinary user', async () => {
    const programs = await programsWithoutLinks(join(scratch, 'read-only'));
    const lib = join(programs, 'native', 'lib');
    chmodSync(lib, 0o555);
    const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
    const base = join(scratch, 'ordinary');
    mkdirSync(base);
    chmodSync(base, 0o777);
    dataDir = homes.add(join(base, 'home'));
    const child = startChild({ dataDir, programs, ...user });
    const opened = await child.opened;
    expect(opened).toMatchObject({ dataDir });
    expect(copies(dataDir)).toHaveLength(1);
    expect(await child.ask('query select 1 as one')).toEqual({ one: 1 });
    expect(await child.close()).toEqual({ stopped: true });
    chmodSync(lib, 0o755);
  });

  // As in OpenShift and with `docker run --user`: initdb asks for a name, the server does not.
  test.runIf(isRoot)('make nothing for a user without a name, and run what is there', async () => {
    const folder = join(scratch, 'numbered');
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    dataDir = homes.add(join(folder, 'home'));
    const numbered = { dataDir, uid: 54_321, gid: 54_321 };
    const { error } = await startChild(numbered).opened;
    expect(error).toMatchObject({ code: 'embedded_no_account', kind: 'settings' });
    expect(error?.message).toMatch(/ user 54321 is none here\. .* or set DATABASE_URL/);
    rmSync(dataDir, { recursive: true });
    await homes.withCluster(dataDir);
    execFileSync('chown', ['-R', '54321:54321', dataDir]);
    const child = startChild(numbered);
    expect(await child.opened).toMatchObject({ dataDir });
    expect(await child.close()).toEqual({ stopped: true });
  });

  test('that do not run here, as where the C library is another, are refused with the way out', async () => {
    const programs = join(scratch, 'foreign');
    mkdirSync(join(programs, 'native', 'bin'), { recursive: true });
    writeFileSync(join(programs, 'package.json'), '{"version":"1.0.0"}');
    writeFileSync(join(programs, 'native', 'bin', 'postgres'), '#!/no/such/loader\n', {
      mode: 0o755,
    });
    const unsupported = {
      kind: 'settings',
      code: 'embedded_platform_unsupported',
      message: expect.stringContaining('DATABASE_URL') as string,
    };
    await expect(open(programs)).rejects.toMatchObject(unsupported);
    // As `doctor` asks before there is an archive.
    await expect(checkPrograms(programs)).rejects.toMatchObject(unsupported);
    await checkPrograms(await findPackage());
  });
});

test('under a folder closed to others root’s data is kept where the server’s user can reach it', async () => {
  const closed = join(scratch, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  const programs = join(closed, 'programs');
  copy(await findPackage(), programs);
  const asked = join(closed, '.outlast');
  const first = await homes.open(asked, { programs });
  homes.add(first.dataDir);
  await queryAt(first.connectionString, 'create table kept as select 7 as n');
  await first.close();
  if (isRoot) {
    expect(first.dataDir.startsWith(elsewhere)).toBe(true);
    expect(copies(first.dataDir)).toHaveLength(1);
    expect(realpathSync(asked)).toBe(first.dataDir);
    // A folder with something in it, or a volume, makes no room for a link.
    const full = join(closed, 'full');
    mkdirSync(join(full, 'certificates'), { recursive: true });
    await expect(homes.open(full, { programs })).rejects.toMatchObject({
      code: 'embedded_data_dir_unreachable',
    });
    expect(readdirSync(elsewhere)).toHaveLength(1);
    // Nor is there a link to where nobody gets either.
    const nowhere = { programs, elsewhere: join(closed, 'elsewhere') };
    await expect(homes.open(join(closed, 'other'), nowhere)).rejects.toMatchObject({
      code: 'embedded_data_dir_unreachable',
    });
    expect(readdirSync(closed)).not.toContain('other');
  } else {
    // Everyone else runs the server as themselves and reaches what is theirs.
    expect(first.dataDir).toBe(asked);
    expect(copies(asked)).toEqual([]);
  }
  const second = await homes.open(asked, { programs });
  expect(second.dataDir).toBe(first.dataDir);
  expect(await queryAt(second.connectionString, 'select n from kept')).toEqual([{ n: 7 }]);
  expect(await second.close()).toEqual({ stopped: true });
});
