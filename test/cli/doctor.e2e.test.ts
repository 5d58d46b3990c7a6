// `outlast doctor`, as a person reads it, against databases and platforms that are fine and that are not; and `init`.
import { existsSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { DoctorFinding } from '../../src/cli/doctor-command.ts';
import { createAsker, envText } from '../../src/cli/init-command.ts';
import { tryFolder } from '../../src/files.ts';
import { createSimulator } from '../../src/simulator/simulator-server.ts';
import { noon } from '../support/archive.ts';
import {
  environmentOf,
  hasTerminal,
  runCommand,
  startCommand,
  startOnTerminal,
  type Ended,
} from '../support/command.ts';
import { runHere, succeedHere } from '../support/command-here.ts';
import { queryAt } from '../support/client.ts';
import { fresh, freshFolder } from '../support/fresh.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { copyOf, createEmptyDatabase, createTestDatabase } from '../support/postgres.ts';
import { practise } from '../support/practise.ts';

/** The state and the words of each finding, by what it is about; the last of several. */
function found({ stdout }: Ended): Record<string, string> {
  const lines = stdout
    .split('\n')
    .map((line) => /^(ok|warn|fail) +(\S+(?: \S+)*) {2,}(.*)$/.exec(line));
  return Object.fromEntries(
    lines.flatMap((line) => (line === null ? [] : [[line[2] ?? '', `${line[1]} ${line[3]}`]])),
  );
}

test('each finding says what is so, and what to do where it is wrong', async () => {
  const { simulator, env: given } = await practise();
  const empty = await fresh(createEmptyDatabase());
  const env = given();

  const well = await runHere(['doctor'], { env });
  expect(found(well)).toMatchObject({
    settings: 'ok project default',
    database: expect.stringMatching(/^ok PostgreSQL \d+.* answers in \d+ ms$/) as string,
    TLS: 'ok none, on this machine',
    pooler: 'ok none in front of the database',
    schema: 'ok of this release',
    rights: 'ok a sync runs as outlast_writer, which cannot delete what is archived',
    platform: expect.stringMatching(
      /^ok http:.* takes the key, answers in \d+ ms, and shows [\d,]+ orders and [\d,]+ NFT classes$/,
    ) as string,
    clock: 'ok this machine’s agrees with the platform’s',
  });
  expect(well.stdout).toMatch(/\nOutlast can work here\.\n$/);
  expect(well.code).toBe(0);

  const ill = await runHere(['doctor'], {
    env: {
      ...env,
      DATABASE_URL: empty.connectionString,
      OUTLAST_API_SECRET: 'another-secret',
    },
  });
  expect(found(ill)).toMatchObject({
    schema: 'ok none yet: the first sync makes it',
    platform: expect.stringMatching(
      /^fail the platform refused .* check the API key and secret/,
    ) as string,
  });
  expect(ill.stdout).toMatch(/\nSomething keeps Outlast from working\.\n$/);
  expect(ill.code).toBe(1);
  // Nothing was made.
  const again = await runHere(['status'], { env: { DATABASE_URL: empty.connectionString } });
  expect(again.stderr).toContain('This database holds no Outlast archive.');

  const late = await runHere(['doctor', '--json'], {
    env: {
      ...env,
      ...stoppedAt(noon + 3_600_000),
      DATABASE_URL: 'postgres://nobody:a-password@127.0.0.1:1/none',
      OUTLAST_BASE_URL: `${simulator.url}/elsewhere`,
    },
  });
  const { findings } = JSON.parse(late.stdout) as { findings: { about: string; state: string }[] };
  expect(findings.filter(({ state }) => state === 'fail').map(({ about }) => about)).toEqual([
    'database',
    // Each list.
    'platform',
    'platform',
  ]);
  // Who gives no answer says nothing of a clock either.
  const silent = await runHere(['doctor'], {
    env: { ...env, OUTLAST_BASE_URL: 'http://127.0.0.1:1' },
  });
  expect(found(silent)['platform']).toMatch(/^fail the platform gave no page of .*ECONNREFUSED/);
  expect(silent.stdout).not.toContain('usable Date');
  expect(late.stdout).not.toMatch(/a-password|a-secret/);
  expect(late.code).toBe(1);

  const ahead = await runHere(['doctor'], { env: { ...env, ...stoppedAt(noon + 3_600_000) } });
  expect(found(ahead)['clock']).toMatch(
    /^warn this machine’s is 1 h ahead of the platform’s: while they disagree no day is proved, and none is final or lost before both say/,
  );
  expect(ahead.code).toBe(0);
});

test('a database that a sync could not use is a fault, and what every first sync would say is said before it', async () => {
  const simulator = await fresh(createSimulator({ startAt: noon, speed: 0 }));
  const empty = await fresh(createEmptyDatabase());
  const admin = new pg.Client({ connectionString: empty.connectionString });
  await admin.connect();
  const login = `${empty.name}_login`;
  await admin.query(`create role ${login} login password 'a-secret'`);
  const address = new URL(empty.connectionString);
  [address.username, address.password] = [login, 'a-secret'];
  const env = { ...environmentOf(simulator, address.href), ...stoppedAt(noon) };
  const both = async (): Promise<Record<string, unknown>> => {
    const { code: sync, stderr } = await runHere(['sync'], { env });
    const doctor = await runHere(['doctor'], { env });
    return { ...found(doctor), code: doctor.code, sync, stderr };
  };

  expect(await both()).toMatchObject({
    database: `fail The database user ${login} may not create schemas here: let an administrator run \`grant create on database ${empty.name} to ${login};\`, or run \`outlast migrate\` as the owner of the database.`,
    code: 1,
    sync: 2,
  });
  await admin.query(`grant create on database ${empty.name} to ${login}`);
  const able = await runHere(['doctor'], { env });
  expect(found(able)).toMatchObject({
    schema: 'ok none yet: the first sync makes it',
    rights: expect.stringMatching(/^warn Nothing keeps this database user from deleting/) as string,
  });
  expect(able.code).toBe(0);

  for (const schema of ['archive', 'analytics', 'sync']) {
    await admin.query(`create schema ${schema}; create table ${schema}.t ()`);
    const foreign = `This database has a schema ${schema} that is not Outlast's. Give Outlast a database of its own`;
    const said = await both();
    expect(said).toMatchObject({ code: 1, sync: 2 });
    expect(said['database']).toContain(`fail ${foreign}`);
    expect(said['stderr']).toContain(`outlast: ${foreign}`);
    expect((await runHere(['status'], { env })).stderr).toContain(foreign);
    await admin.query(`drop schema ${schema} cascade`);
  }

  // As the sync itself, it works as the role that this login may become, whatever else is noted. The roles
  // come with the first database of a server.
  await (await createTestDatabase()).drop();
  await admin.query(`grant outlast_writer, outlast_reader to ${login}`);
  await succeedHere(['migrate'], { env });
  await admin.query(
    `revoke all on sync.slices from outlast_writer;
     revoke all on function sync.journal_ledger from public, outlast_writer, outlast_reader;
     alter function sync.journal_ledger owner to current_user`,
  );
  const unable = await both();
  expect(unable).toMatchObject({
    database: expect.stringMatching(/^fail .*slices/) as string,
    code: 1,
    sync: 2,
  });
  await admin.query(
    `grant all on sync.slices to outlast_writer;
     alter function sync.journal_ledger owner to ${login}`,
  );

  // Busy now is no fault: a sync would try again.
  await admin.query('begin; lock table sync.slices');
  const busy = await runHere(['doctor'], { env });
  await admin.query('rollback');
  const failures = Object.entries(found(busy)).filter(([, text]) => text.startsWith('fail'));
  expect(failures).toEqual([]);
  expect(found(busy)['database']).toMatch(/^warn The database kept Outlast waiting for too long/);
  expect(busy.code).toBe(0);

  await admin.query(`drop owned by ${login}; drop role ${login}`);
  await admin.end();
});

test('a replica that is down, behind or of another archive is told', async () => {
  const database = await fresh(createTestDatabase());
  const run = (at: string): string =>
    `insert into sync.projects (project_id, base_url, key_salt, key_fingerprint, added_at, first_day)
     values ('shop', 'http://a', sha256(random()::text::bytea), '', now(), now()) on conflict do nothing;
     insert into sync.runs (project_id, run_id, started_at) values ('shop', '${at}', '${at}')`;
  await queryAt(database.connectionString, run('2026-04-07T00:00:00Z'));
  const copy = await fresh(copyOf(database));
  const other = await fresh(createTestDatabase());
  await queryAt(other.connectionString, run('2026-04-07T00:00:00Z'));
  const empty = await fresh(createEmptyDatabase());
  const replica = async (address: string): Promise<string | undefined> => {
    const { stdout, code } = await runHere(['doctor', '--json'], {
      env: { DATABASE_URL: database.connectionString, OUTLAST_READ_DATABASE_URL: address },
    });
    // The platform's settings are missing.
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout) as { findings: DoctorFinding[] };
    const [first] = findings.filter(({ about }) => about === 'replica');
    return first && `${first.state} ${first.text}`;
  };
  expect(await replica('')).toBeUndefined();
  expect(await replica(copy.connectionString)).toBe('ok no standby, has the newest run');
  await queryAt(database.connectionString, run('2026-04-07T00:04:00Z'));
  expect(await replica(copy.connectionString)).toBe('ok no standby, has the newest run');
  await queryAt(database.connectionString, run('2026-04-07T02:00:00Z'));
  expect(await replica(copy.connectionString)).toMatch(/^warn no standby, is 2 h behind: see/);
  expect(await replica(other.connectionString)).toMatch(/^fail holds another archive than DATA/);
  expect(await replica(empty.connectionString)).toMatch(/^fail This database holds no Outlast/);
  expect(await replica('postgres://a:b@127.0.0.1:1/c')).toMatch(
    /^fail The database cannot be reached.* OUTLAST_READ_DATABASE_URL /,
  );
});

test('a folder that another one who tries it removes meanwhile can be written all the same', async () => {
  const folder = join(await freshFolder(), 'heads');
  const other = setInterval(() => void rmdir(folder).catch(() => undefined), 20);
  for (let round = 0; round < 300; round++) await tryFolder(folder);
  clearInterval(other);
  expect(existsSync(folder)).toBe(false);
});

test('folders that cannot be written and lists that are not there are told, and no folder is made', async () => {
  const folder = await freshFolder();
  const { simulator, env: given } = await practise();
  const env = given();
  await writeFile(join(folder, 'file'), '');
  const doctor = (heads: string, certificates: string): Promise<Ended> =>
    runHere(['doctor'], {
      env: {
        ...env,
        OUTLAST_HEADS_DIR: join(folder, heads),
        OUTLAST_CERTIFICATES_DIR: join(folder, certificates),
      },
    });
  const well = await doctor('new/heads', 'new/certificates');
  expect([well.code, await readdir(folder)]).toEqual([0, ['file']]);
  const ill = await doctor('file/heads', 'file');
  expect(ill.stdout).toMatch(
    /^fail +folders +.*\/file cannot be written \(EEXIST\): .* OUTLAST_CERTIFICATES_DIR to/m,
  );
  expect(ill.stdout).toMatch(/^fail +folders +.*\/file\/heads cannot be .* OUTLAST_HEADS_DIR to/m);
  expect(ill.code).toBe(1);
  if (process.platform === 'linux') {
    // Its rights allow what the system does not.
    const proc = await doctor('new/heads', '../../proc/outlast');
    expect(proc.stdout).toMatch(/^fail +folders +\/proc\/outlast cannot be written \(ENOENT\)/m);
  }

  const path = '/v1beta1/nft/classes';
  simulator.setFaults({ textNotFound: { path } });
  const none = await doctor('new', 'new');
  expect(found(none)['platform']).toMatch(/^fail http:.* knows no list of NFT classes \(404\)/);
  simulator.setFaults({ textNotFound: null, serverError: { path } });
  const broken = await doctor('new', 'new');
  expect(found(broken)['platform']).toMatch(/^fail the platform gave no page of \/v1beta1\/nft/);
  expect([none.code, broken.code, await readdir(folder)]).toEqual([1, 1, ['file']]);
});

test('what `start` refuses, `doctor` tells with the same sentence, and leaves nothing where it tried', async () => {
  const folder = await freshFolder();
  const { env } = await practise();
  const taken = createServer((_, response) => response.end('{"hello":"world"}'));
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const well = {
    ...env(),
    OUTLAST_EXPORT_TO: join(folder, 'new', 'exports'),
    OUTLAST_EXPORT_FORMAT: 'csv',
  };
  const readers = async (text: string, mode = 0o600): Promise<{ OUTLAST_READERS_FILE: string }> => {
    const path = join(await mkdtemp(join(folder, 'readers-')), 'readers.json');
    await writeFile(path, text);
    await chmod(path, mode);
    return { OUTLAST_READERS_FILE: path };
  };
  await mkdir(join(folder, 'foreign'));
  await writeFile(join(folder, 'foreign', 'file'), '');
  const one = JSON.stringify([{ id: 'bi', secret: 's', projects: ['default'] }]);

  const right = await runHere(['doctor'], { env: { ...well, ...(await readers(one)) } });
  expect(found(right)).toMatchObject({
    readers: expect.stringMatching(/^ok 1 in /) as string,
    export: expect.stringMatching(/^ok .*exports takes what is written$/) as string,
    HTTP: 'ok any free port of 127.0.0.1',
  });
  expect(right.code, right.stdout).toBe(0);
  expect(await readdir(folder)).not.toContain('new');

  const wrong: Record<string, Record<string, string>> = {
    'no such file or directory': { OUTLAST_READERS_FILE: join(folder, 'none') },
    'others may read it: chmod 600 it': await readers(one, 0o644),
    'it is no JSON': await readers('bi: s'),
    [`port ${port}: it is taken`]: { OUTLAST_PORT: String(port) },
    'Cannot serve on 203.0.113.7 port 0': { OUTLAST_HOST: '203.0.113.7' },
    'it has the form s3://bucket/prefix': { OUTLAST_EXPORT_TO: 's3://a b' },
    'holds files that are not Outlast’s': {
      DATABASE_URL: '',
      OUTLAST_DATA_DIR: join(folder, 'foreign'),
    },
    'is, or lies under, a file': {
      DATABASE_URL: '',
      OUTLAST_DATA_DIR: join(folder, 'foreign', 'file', 'below'),
    },
    ...(process.platform === 'linux'
      ? { 'cannot be made or used (ENOENT: ': { DATABASE_URL: '', OUTLAST_DATA_DIR: '/proc/a/b' } }
      : {}),
  };
  for (const [sentence, env] of Object.entries(wrong)) {
    const doctor = await runHere(['doctor'], { env: { ...well, ...env } });
    const start = await runHere(['start'], { env: { ...well, ...env } });
    expect([doctor.code, start.code], sentence).toEqual([1, 2]);
    expect(doctor.stdout).toContain(sentence);
    expect(start.stderr).toContain(sentence);
    // Beside it `start` may log what it did on the way.
    const [, refusal] = /^outlast: (.*)$/m.exec(start.stderr) ?? [];
    expect(doctor.stdout).toContain(refusal);
  }
  const foreign = { ...well, OUTLAST_EXPORT_TO: join(folder, 'foreign') };
  const full = await runHere(['doctor'], { env: foreign });
  expect(found(full)['export']).toMatch(/^fail .* holds other things and no export/);

  // An `outlast start` that runs already has the port.
  const s = startCommand(['start'], { env: { ...well, OUTLAST_EXPORT_TO: '' } });
  const [, own = ''] = await s.waitFor(/127\.0\.0\.1:(\d+)/);
  const beside = await runHere(['doctor'], { env: { ...well, OUTLAST_PORT: own } });
  expect(found(beside)['HTTP']).toMatch(
    /^warn port \d+ .* is taken by a service that answers as Outlast does: a second `start` is refused$/,
  );
  expect(beside.code).toBe(0);
  await s.stop();

  taken.close();
});

test.skipIf(process.getuid?.() === 0)('a folder of another user is told', async () => {
  const folder = await freshFolder();
  await chmod(folder, 0o500);
  const { stdout } = await runHere(['doctor'], { env: { OUTLAST_HEADS_DIR: join(folder, 'a') } });
  expect(stdout).toMatch(/^fail +folders .* cannot be written \(EACCES\)/m);
});

test('wrong settings are told with all else that can be looked at', async () => {
  const { stdout, code } = await runHere(['doctor'], {
    env: { OUTLAST_DATA_DIR: '/tmp/none-of-outlast' },
  });
  expect(stdout).toContain('OUTLAST_API_KEY is not set');
  expect(stdout).toMatch(/^ok {4}database +embedded, none in \/tmp\/none-of-outlast yet/m);
  expect(code).toBe(1);
});

test('a line of a file of settings that is none is told', async () => {
  const folder = await freshFolder();
  const file = join(folder, 'mine.env');
  await writeFile(file, '# Mine\nDATABASE_URL: postgres://u:a-secret@127.0.0.1:1/d\n');
  for (const command of ['status', 'sync']) {
    const { stderr, code } = await runHere([command], { env: { OUTLAST_ENV_FILE: file } });
    expect(stderr).toContain(`Line 2 of ${file} is no setting: write it as NAME=value`);
    expect(stderr).not.toContain('a-secret');
    expect(code).toBe(2);
  }
});

test('init tries what it is given, and writes what every command then finds; never over a file that is there', async () => {
  const folder = await freshFolder();
  const practice = await practise();
  const { OUTLAST_BASE_URL: baseUrl = '', ...env } = { ...practice.env(), OUTLAST_ENV_FILE: '' };
  const init = (more: Record<string, string>, ...args: string[]): Promise<Ended> =>
    runHere(['init', ...args], { cwd: folder, env: { ...env, ...more } });

  const wrong = await init({ OUTLAST_API_SECRET: 'another-secret' }, '--base-url', baseUrl);
  expect(wrong.stdout).toMatch(/^fail +platform .*\n\nNothing was written\./ms);
  expect([wrong.code, await readdir(folder)]).toEqual([1, []]);
  const mistyped = await init({ OUTLAST_SCHEDULE: 'often' }, '--base-url', baseUrl);
  expect([mistyped.code, await readdir(folder)]).toEqual([2, []]);

  const right = await init({}, '--base-url', baseUrl, '--project', 'shop');
  expect(right.stdout).toContain('Written to .env.');
  expect(right.code).toBe(0);
  expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600);

  const found = await runCommand(['doctor'], {
    cwd: folder,
    env: { ...stoppedAt(noon), OUTLAST_ENV_FILE: '' },
  });
  expect(found.stdout).toMatch(/^ok +settings +project shop\n/m);
  expect(found.code).toBe(0);

  const again = await init({}, '--base-url', baseUrl);
  expect(again.stderr).toMatch(/^outlast: There is a \.env in this folder already\./);
  expect(again.code).toBe(2);
});

test('init writes what it tried, into the file that is read: with secrets by file and all that the environment sets', async () => {
  const folder = await freshFolder();
  const simulator = await fresh(createSimulator({ startAt: noon, speed: 0 }));
  const database = await fresh(createTestDatabase());
  const address = new URL(database.connectionString);
  const password = decodeURIComponent(address.password) || 'any';
  address.password = '';
  const { OUTLAST_API_KEY = '', OUTLAST_API_SECRET = '', ...env } = environmentOf(simulator, '');
  await writeFile(join(folder, 'key'), OUTLAST_API_KEY);
  await writeFile(join(folder, 'secret'), `${OUTLAST_API_SECRET}\n`);
  const file = join(folder, 'other.env');
  const init = await runHere(['init', '--database-url', address.href], {
    env: {
      ...env,
      ...stoppedAt(noon),
      OUTLAST_ENV_FILE: file,
      OUTLAST_API_KEY_FILE: join(folder, 'key'),
      OUTLAST_API_SECRET_FILE: join(folder, 'secret'),
      DATABASE_PASSWORD: password,
      OUTLAST_DATA_DIR: join(folder, 'data'),
    },
  });
  expect(init.stdout).toMatch(
    /Written to .*other\.env\..*\nIt holds DATABASE_PASSWORD, .*OUTLAST_DATA_DIR/,
  );
  expect(init.code, init.stdout + init.stderr).toBe(0);
  const doctor = await runHere(['doctor'], {
    env: { ...stoppedAt(noon), OUTLAST_ENV_FILE: file },
  });
  expect(found(doctor)).toMatchObject({ schema: 'ok of this release' });
  expect(doctor.code).toBe(0);
  expect(parseEnv(await readFile(file, 'utf8'))).toMatchObject({
    DATABASE_PASSWORD: password,
    OUTLAST_DATA_DIR: join(folder, 'data'),
  });
});

test.runIf(hasTerminal)(
  'init tries each answer as it comes, asks again for what fails, and keeps what was typed when it ends early',
  async () => {
    const folder = await freshFolder();
    const simulator = await fresh(createSimulator());
    const database = await fresh(createTestDatabase());
    const { apiKey = '', apiSecret = '' } = simulator.projects[0] ?? {};
    /** Answers as the questions come; what stood on the screen. */
    const answered = async (answers: [RegExp, string][]): Promise<string> => {
      const env = { OUTLAST_ENV_FILE: '' };
      const init = startOnTerminal(['init'], { cwd: folder, env, columns: 200 });
      let seen = 0;
      for (const [question, answer] of answers) {
        await expect.poll(() => init.shown().slice(seen)).toMatch(question);
        seen = init.shown().length;
        init.type(answer);
      }
      await init.ended;
      return init.shown();
    };
    const first = await answered([
      [/Address of the platform/, 'http://127.0.0.1:1\r'],
      [
        /ECONNREFUSED[^]*Type it again[^]*\[http:\/\/127\.0\.0\.1:1\]/,
        `${simulator.url}/v3/orders\r`,
      ],
      [/\/v3\/orders[^]*Type it again/, `${simulator.url}\r`],
      [/API key/, `${apiKey}\r`],
      [/API secret/, 'mistyped\r'],
      [/authentication failed[^]*API key of the project \[as it was\]/, '\r'],
      [/API secret/, `${apiSecret}\r`],
      [/Name of the project/, '\u0003'],
    ]);
    expect(first).toContain('What was typed is kept in .env.unfinished');
    expect(first).not.toContain(apiSecret);
    expect(await readdir(folder)).toEqual(['.env.unfinished']);
    expect((await stat(join(folder, '.env.unfinished'))).mode & 0o777).toBe(0o600);
    const second = await answered([
      [/Going on with[^]*Address of the platform/, '\r'],
      [/API key/, '\r'],
      [/API secret/, '\r'],
      [/Name of the project/, 'shop\r'],
      [/PostgreSQL/, 'postgres://127.0.0.1:1/none\r'],
      [/ECONNREFUSED[^]*PostgreSQL/, `${database.connectionString}\r`],
    ]);
    expect(second).toContain('Written to .env.');
    expect(await readdir(folder)).toEqual(['.env']);
    expect(parseEnv(await readFile(join(folder, '.env'), 'utf8'))).toEqual({
      OUTLAST_BASE_URL: simulator.url,
      OUTLAST_API_KEY: apiKey,
      OUTLAST_API_SECRET: apiSecret,
      OUTLAST_PROJECT: 'shop',
      DATABASE_URL: database.connectionString,
    });
  },
);

test('init looks whether it can write before it asks anything', async () => {
  const folder = await freshFolder();
  await symlink('/nowhere/at/all', join(folder, 'link'));
  await mkdir(join(folder, 'venv'));
  const init = async (name: string, ...flags: string[]): Promise<string> => {
    const env = { OUTLAST_ENV_FILE: join(folder, name) };
    const { stdout, stderr, code } = await runHere(['init', ...flags], { env });
    expect([stdout, code]).toEqual(['', 2]);
    return stderr;
  };
  expect(await init('link')).toContain('There is a ');
  expect(await init('venv', '--force')).toContain('cannot be written (EISDIR): go to a folder');
  expect(await init('none/mine.env')).toContain('cannot be written (ENOENT): go to a folder');
  expect(await init('link/mine.env')).toContain('cannot be written (ENOENT): go to a folder');
  expect(await init('mine.env')).toContain('OUTLAST_BASE_URL is needed');
});

test('of lines pasted at once each answers its question, and none is shown', async () => {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: 'utf8' });
  const asker = createAsker(input, output);
  const secret = { secret: true } as const;
  const first = asker.ask('Address', {});
  input.write('https://a.example\nkey-sesame\nsecret-sesame\nshop-sesame');
  expect(await first).toBe('https://a.example');
  expect(await asker.ask('Key', secret)).toBe('key-sesame');
  expect(await asker.ask('Secret', secret)).toBe('secret-sesame');
  const project = asker.ask('Project', {});
  input.write('\n');
  expect(await project).toBe('shop-sesame');
  const typed = asker.ask('Database', {});
  input.write('post');
  input.write('gres\n');
  expect(await typed).toBe('postgres');
  const last = asker.ask('Secret', secret);
  // Ctrl-C.
  input.write('sesame\u0003');
  await expect(last).rejects.toMatchObject({ code: 'aborted' });
  const shown = String(output.read());
  expect(shown).toMatch(/Address: .*https:\/\/a\.example\r?\n.*Key: \nSecret: \nProject: \n/s);
  expect(shown).toContain('postgres');
  expect(shown).not.toContain('sesame');
  asker.close();
});

test('what init writes reads back as what it was', () => {
  const awkward = ['a b', 'a#b', ' lead', "it's", 'say "so"', '$HOME', 'a\\nb', 'x=y', '#', 'ä✓'];
  // One alone would read back, and swallow the next line.
  awkward.push(
    '"open',
    "'open",
    '`open',
    'trail\\',
    'two\nlines',
    '\\',
    '""',
    'a\'b"c',
    '${X}',
    'a`"\'b',
  );
  const answers = Object.fromEntries(awkward.map((value, i) => [`A_${i}`, value]));
  const text = envText(answers);
  expect(parseEnv(text)).toEqual(answers);
  // What expands $ leaves it alone between these.
  expect(text).toContain("'$HOME'");
  expect(() => envText({ OUTLAST_API_SECRET: `'"\`` })).toThrow('OUTLAST_API_SECRET_FILE');
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }), (values) => {
      const given = Object.fromEntries(values.map((value, i) => [`A_${i}`, value]));
      let written: string;
      try {
        written = envText(given);
      } catch {
        return;
      }
      expect(parseEnv(written)).toEqual(given);
    }),
  );
});
