// The embedded Postgres among several commands: shared, stopped by the last one out, and taken over after kills.
import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { codeOf } from '../../../src/errors.ts';
import { createLog, silentLog } from '../../../src/log.ts';
import { openDb } from '../../../src/store/db.ts';
import type { Embedded } from '../../../src/store/embedded/embedded.ts';
import { queryAt } from '../../support/client.ts';
import { mainFile } from '../../support/command.ts';
import { isPostgres, serverPid, startChild } from '../../support/embedded.ts';
import { binOf, createHomes } from '../../support/embedded-homes.ts';

const homes = createHomes();
let dataDir = '';
beforeEach(async () => void (dataDir = await homes.withCluster()));
afterEach(() => void vi.unstubAllEnvs());

const open = (): Promise<Embedded> => homes.open(dataDir);

/** A session of psql's; `ended`: the code that the server ends it with. */
async function startPsql({ connectionString }: Embedded): Promise<{ ended: Promise<unknown> }> {
  const psql = new pg.Client({ connectionString });
  // Two events come: the server's farewell, then the cut.
  const ended = new Promise((resolve) => psql.on('error', (error) => resolve(codeOf(error))));
  await psql.connect();
  return { ended };
}

describe('several commands', () => {
  test('begun at once on a new folder share one server, and the last one out stops it', async () => {
    dataDir = homes.add();
    const children = Array.from({ length: 4 }, () => startChild({ dataDir }));
    const opened = await Promise.all(children.map((child) => child.opened));
    expect(new Set(opened.map(({ connectionString }) => connectionString)).size).toBe(1);
    const asked = await Promise.all(children.map((child) => child.ask('query select 1 as one')));
    expect(asked).toEqual(children.map(() => ({ one: 1 })));

    const closed = await Promise.all(children.map((child) => child.close()));
    expect(closed).toContainEqual({ stopped: true });
  });

  test('that come and go all the time never lose their connection nor a row', async () => {
    const first = await open();
    await queryAt(first.connectionString, 'create table seen (n int)');
    await first.close();
    const comeAndGo = async (worker: number): Promise<void> => {
      for (let round = 0; round < 3; round++) {
        const embedded = await open();
        await queryAt(
          embedded.connectionString,
          `insert into seen values (${10 * worker + round})`,
        );
        await embedded.close();
        await sleep(7 * worker);
      }
    };
    await Promise.all([0, 1, 2].map(comeAndGo));
    const last = await open();
    const rows = await queryAt(
      last.connectionString,
      'select count(distinct n)::int as n from seen',
    );
    expect(rows).toEqual([{ n: 9 }]);
    expect(last.connectionString).toBe(first.connectionString);
    expect(await last.close()).toEqual({ stopped: true });
  });

  test('do not count psql sessions: the last command ends them', async () => {
    const embedded = await open();
    const { ended } = await startPsql(embedded);
    expect(await embedded.close()).toEqual({ stopped: true });
    expect(await ended).toBe('57P01');
  });

  test('end one that was told to wait for its sessions, as when a machine shuts down', async () => {
    const embedded = await open();
    const { ended } = await startPsql(embedded);
    process.kill(serverPid(dataDir) ?? 0, 'SIGTERM');
    expect(await ended).toBe('57P01');
    await expect
      .poll(() => queryAt(embedded.connectionString, 'select 1 as one').catch(() => 'not yet'))
      .toEqual([{ one: 1 }]);
    expect(await embedded.close()).toEqual({ stopped: true });
  });

  test('of which one waits for a seat do not wait for it when they leave', async () => {
    const all = await Promise.all(Array.from({ length: 64 }, () => open()));
    const waiting = open();
    // By then all of them look whether the server runs, and wait for the lock.
    await sleep(3_500);
    expect(await all.pop()?.close()).toEqual({ stopped: false });
    all.push(await waiting);
    const closed = await Promise.all(all.map((embedded) => embedded.close()));
    expect(closed).toContainEqual({ stopped: true });
  });
});

describe('P3: after a SIGKILL', () => {
  test('of the only command the server is taken over, and stopped by the next one out', async () => {
    const child = startChild({ dataDir });
    await child.opened;
    await child.ask('query create table kept as select 7 as n');
    await child.signal('SIGKILL');
    const before = serverPid(dataDir);
    expect(before).not.toBeNull();

    const embedded = await open();
    expect(serverPid(dataDir)).toBe(before);
    expect(await queryAt(embedded.connectionString, 'select n from kept')).toEqual([{ n: 7 }]);
    expect(await embedded.close()).toEqual({ stopped: true });
  });

  test('of a command in the midst of its first start the next one makes a whole cluster', async () => {
    dataDir = homes.add();
    // Killed at several moments: before, during and after initdb.
    for (const afterMs of [120, 250, 400, 600]) {
      const child = startChild({ dataDir });
      child.opened.catch(() => undefined);
      await sleep(afterMs);
      await child.signal('SIGKILL');
    }
    const embedded = await open();
    expect(await queryAt(embedded.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await embedded.close()).toEqual({ stopped: true });
  });

  test('of the server the next command recovers every committed row', async () => {
    const child = startChild({ dataDir });
    await child.opened;
    await child.ask('query create table kept as select generate_series(1, 1000) as n');
    await child.signal('SIGKILL');
    const server = serverPid(dataDir) ?? 0;
    process.kill(server, 'SIGKILL');
    // A signal takes its time: who comes before it shares a server that dies under it.
    await expect.poll(() => isPostgres(server)).toBe(false);

    const embedded = await open();
    const rows = await queryAt(embedded.connectionString, 'select count(*)::int as n from kept');
    expect(rows).toEqual([{ n: 1000 }]);
    expect(await embedded.close()).toEqual({ stopped: true });
  });

  test('of the server under a command it is started again, at the same address', async () => {
    const embedded = await open();
    await queryAt(embedded.connectionString, 'create table kept as select 7 as n');
    process.kill(serverPid(dataDir) ?? 0, 'SIGKILL');
    await expect
      .poll(() => queryAt(embedded.connectionString, 'select n from kept').catch(() => 'not yet'), {
        interval: 100,
      })
      .toEqual([{ n: 7 }]);
    expect(await embedded.close()).toEqual({ stopped: true });
  });
});

describe('P3: a server that crashed', () => {
  test('and came back on another port is told of by each command, and not every three seconds', async () => {
    const logs = ['', ''];
    const openLogged = (i: number): Promise<Embedded> => {
      const log = createLog('error', { write: (line) => (logs[i] += line) });
      return homes.open(dataDir, { log });
    };
    const [one, two] = [await openLogged(0), await openLogged(1)];
    process.kill(serverPid(dataDir) ?? 0, 'SIGKILL');
    const { port } = new URL(one.connectionString);
    const squatter = createServer();
    const take = () => once(squatter.listen(Number(port), '127.0.0.1'), 'listening');
    await expect.poll(() => take().catch(() => null), { interval: 5 }).not.toBeNull();
    const told = () => logs.map((lines) => lines.match(/came back on another port/g)?.length);
    await expect.poll(told).toEqual([1, 1]);
    await sleep(3_500);
    expect(told()).toEqual([1, 1]);
    squatter.close();
    expect([await one.close(), await two.close()]).toContainEqual({ stopped: true });
  });

  test('is not told of while it runs, whatever its folder has lost meanwhile', async () => {
    let logged = '';
    const log = createLog('warn', { write: (line) => (logged += line) });
    const embedded = await homes.open(dataDir, { log });
    rmSync(join(dataDir, 'pgdata', 'outlast.password'));
    await sleep(3_500);
    expect(await queryAt(embedded.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await embedded.close()).toEqual({ stopped: true });
    expect(logged).toBe('');
  });

  // As in a container that begins anew: its processes get the same pids as before.
  test('and gets the pid that it had is not taken for ready before it is', async () => {
    const bin = await binOf(dataDir);
    const first = await open();
    const pidFile = join(dataDir, 'pgdata', 'postmaster.pid');
    const left = readFileSync(pidFile);
    await first.close();
    writeFileSync(pidFile, left);
    const { uid, gid } = statSync(join(dataDir, 'pgdata'));
    chownSync(pidFile, uid, gid);

    // It begins slowly, after its pid was written into the file that is left, whose time stays what it was.
    const programs = join(homes.scratch, 'slow');
    mkdirSync(join(programs, 'native', 'bin'), { recursive: true });
    const slow = `#!/bin/sh
if [ "$1" = -D ]; then
  sed "1s/.*/$$/" '${pidFile}' >"$2/renewed"
  touch -r '${pidFile}' "$2/renewed"
  mv "$2/renewed" '${pidFile}'
  sleep 0.3
fi
exec '${bin}/postgres' "$@"
`;
    writeFileSync(join(programs, 'native', 'bin', 'postgres'), slow, { mode: 0o755 });
    const embedded = await homes.open(dataDir, { programs });
    expect(await queryAt(embedded.connectionString, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await embedded.close()).toEqual({ stopped: true });
  });
});

test('Ctrl-C reaches the command and not the server, so that the command can finish', async () => {
  const child = startChild({ dataDir });
  await child.opened;
  const said = child.next();
  process.kill(-child.pid, 'SIGINT');
  expect(await said).toEqual({ work: 'finished', stopped: true });
});

test('nor what makes a new one', async () => {
  const bin = await binOf(dataDir);
  dataDir = homes.add();
  const programs = join(homes.scratch, 'waiting');
  mkdirSync(join(programs, 'native', 'bin'), { recursive: true });
  const go = join(programs, 'go');
  const waits = `mkdir "$2"; until [ -e '${go}' ]; do sleep 0.05; done`;
  for (const [name, first] of Object.entries({ postgres: ':', initdb: waits })) {
    const script = `#!/bin/sh\n${first}\nexec '${bin}/${name}' "$@"\n`;
    writeFileSync(join(programs, 'native', 'bin', name), script, { mode: 0o755 });
  }
  const child = startChild({ dataDir, programs });
  const isBegun = (): boolean =>
    /pgdata\.draft-[^.]*$/m.test((existsSync(dataDir) ? readdirSync(dataDir) : []).join('\n'));
  await expect.poll(isBegun, { interval: 5 }).toBe(true);
  process.kill(-child.pid, 'SIGINT');
  writeFileSync(go, '');
  expect(await child.opened).toHaveProperty('connectionString');
  expect(await child.close()).toEqual({ stopped: true });
});

const hasFullDisk = existsSync('/dev/full');
test.runIf(hasFullDisk)('is stopped by a command whose words go to a full disk', async () => {
  const env = { OUTLAST_ENV_FILE: '/dev/null', OUTLAST_DATA_DIR: dataDir };
  execFileSync(process.execPath, [mainFile, 'migrate'], { stdio: 'ignore', env });
  const disk = openSync('/dev/full', 'w');
  const command = spawn(process.execPath, [mainFile, 'status'], {
    stdio: ['ignore', disk, 'ignore'],
    env,
  });
  closeSync(disk);
  expect(await once(command, 'exit')).toEqual([1, null]);
});

test('is reached where the environment speaks of another', async () => {
  const variables = {
    PGSSLMODE: 'require',
    PGSSLNEGOTIATION: 'direct',
    PGOPTIONS: '-c none.such=1 -c nonsense=1',
    PGREPLICATION: 'database',
    PGCLIENT_ENCODING: 'LATIN1',
    PGHOST: 'nowhere.invalid',
    PGPORT: '1',
    PGUSER: 'a',
    PGPASSWORD: 'b',
    PGDATABASE: 'c',
    PGDATA: '/d',
    PGTZ: 'Mars',
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const embedded = await open();
  const { connectionString } = embedded;
  const db = await openDb({ connectionString, role: null, log: silentLog() });
  const { rows } = await db.query("select current_setting('client_encoding') as encoding");
  expect(rows).toEqual([{ encoding: 'UTF8' }]);
  expect(process.env).toMatchObject(variables);
  await db.close();
  expect(await embedded.close()).toEqual({ stopped: true });
});

describe('a pid that went to another process', () => {
  test('neither blocks the start nor costs that process its life', async () => {
    const first = await open();
    await queryAt(first.connectionString, 'create table kept as select 7 as n');
    const bin = await binOf(dataDir);
    const left = readFileSync(join(dataDir, 'pgdata', 'postmaster.pid'), 'utf8');
    await first.close();

    // A process of the server's own user: Postgres itself would refuse to start beside it.
    const { uid, gid } = statSync(join(dataDir, 'pgdata'));
    const stranger = spawn('sleep', ['600'], { uid, gid, stdio: 'ignore' });
    await once(stranger, 'spawn');
    const pidFile = join(dataDir, 'pgdata', 'postmaster.pid');
    const forged = left.replace(/^\d+/, String(stranger.pid));
    try {
      writeFileSync(pidFile, forged);
      // The twin: Postgres started as anyone would start it.
      expect(await startPlainly(bin, join(dataDir, 'pgdata'), { uid, gid })).toContain(
        'lock file "postmaster.pid" already exists',
      );
      const embedded = await open();
      expect(await queryAt(embedded.connectionString, 'select n from kept')).toEqual([{ n: 7 }]);
      expect(await embedded.close()).toEqual({ stopped: true });
      expect(stranger.exitCode).toBeNull();
    } finally {
      stranger.kill();
    }
  });
});

async function startPlainly(
  bin: string,
  pgdata: string,
  ids: { uid: number; gid: number },
): Promise<string> {
  const server = spawn(join(bin, 'postgres'), ['-D', pgdata], { ...ids, cwd: pgdata });
  let output = '';
  server.stderr.on('data', (data: Buffer) => (output += data.toString()));
  await once(server, 'close');
  return output;
}
