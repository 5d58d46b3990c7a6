// Every command in docs/operations.md that can be run here is run, in the order of the page, in one folder. The files
// in deploy/ name settings and paths that exist.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { chmod, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import { settings } from '../../src/settings/table.ts';
import { noon } from '../support/archive.ts';
import { speakTlsFor } from '../support/certificates.ts';
import { queryAt } from '../support/client.ts';
import { environmentOf, type Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { practise } from '../support/practise.ts';
import { blocksIn, fileText } from '../support/repository.ts';

const before = process.cwd();
let folder: string;
let simulator: Simulator;
let database: TestDatabase;
let elsewhere: TestDatabase;
setUp(async (keep) => {
  folder = await keep(makeFolder(), removeFolder);
  const world = { ordersPerDay: 12, classesPerDay: 5, since: '2026-04-03' };
  ({ simulator, database } = await practise({ world, days: ['2026-04-03', '2026-04-04'] }, keep));
  elsewhere = await keep(createEmptyDatabase());
  process.chdir(folder);
});
afterAll(() => process.chdir(before));

/** The lines of the page's blocks of that language. */
const linesOf = (page: string, language: string): string[] =>
  blocksIn(page, language)
    .flatMap((block) => block.split('\n'))
    .filter((line) => line !== '');

test('the commands of the page do what it says, one after the other', async () => {
  const page = fileText('docs/operations.md');
  const given = environmentOf(simulator, database.connectionString);
  const values: Record<string, string | undefined> = {
    KEY: given['OUTLAST_API_KEY'],
    SECRET: given['OUTLAST_API_SECRET'],
    PLATFORM: given['OUTLAST_BASE_URL'],
    DATABASE: database.connectionString,
    ELSEWHERE: elsewhere.connectionString,
  };
  const lines = linesOf(page, 'sh');
  expect(lines.length).toBeGreaterThan(8);
  // No two run at the same moment, as with a clock that goes; the platform's stands still.
  let now = noon;
  for (const line of lines) {
    const words = line
      .replaceAll(/\$([A-Z]+)/g, (_, name: string) => values[name] ?? '')
      .split(' ');
    const at = words.indexOf('outlast');
    if (at < 0) {
      // Throws with what it printed, where it does not end with 0.
      execFileSync(words[0] ?? '', words.slice(1), { stdio: 'pipe' });
      continue;
    }
    now += 1000;
    const env = Object.fromEntries(
      words.slice(0, at).map((word) => word.split(/=(.*)/s).slice(0, 2)),
    );
    const ended = await runHere(words.slice(at + 1), {
      env: { OUTLAST_ENV_FILE: '.env', ...env, ...stoppedAt(now) },
    }).catch((error: unknown) => Promise.reject(new Error(line, { cause: error })));
    expect([line, ended.code, ended.stderr]).toEqual([line, 0, expect.any(String)]);
  }
  // Sabotaged: one other digest would not pass.
  const [, ...compare] = lines.find((line) => line.startsWith('diff '))?.split(' ') ?? [];
  const sums = join(folder, 'drill', 'SHA256SUMS');
  await writeFile(sums, (await readFile(sums, 'utf8')).replace(/^./, 'x'));
  expect(() => execFileSync('diff', compare, { stdio: 'pipe' })).toThrow(/Command failed/);
});

test('to remove a project the others are exported, as many as there are, and no more', async () => {
  await queryAt(
    database.connectionString,
    `insert into sync.projects (project_id, base_url, key_salt, key_fingerprint, added_at, first_day)
     select id, 'http://127.0.0.1:9', 's', 'f', now(), '2026-03-01' from unnest(array['shop', 'gone']) id`,
  );
  const kept = (...projects: string[]): Promise<Ended> =>
    runHere(
      ['export', 'kept', '--format', 'csv', ...projects.flatMap((name) => ['--project', name])],
      { env: { OUTLAST_ENV_FILE: '.env' } },
    );
  expect(await kept('default', 'nine')).toMatchObject({
    code: 2,
    stderr:
      'outlast: Nothing is archived for a project "nine" here, only for default, gone, shop.\n',
  });
  expect(await kept('default', 'shop')).toMatchObject({ code: 0 });
  const manifest = JSON.parse(await readFile('kept/manifest.json', 'utf8')) as {
    projects: { project: string }[];
  };
  expect(manifest.projects.map(({ project }) => project).toSorted()).toEqual(['default', 'shop']);
  // Whoever leaves out the project that holds the classes of all is told so.
  await queryAt(
    database.connectionString,
    `update sync.projects set base_url = (select base_url from sync.projects where project_id = 'default')
      where project_id = 'shop'`,
  );
  const leftBehind = 'The NFT classes of the platform are held by project "default"';
  expect((await kept('default', 'shop')).stderr).not.toContain(leftBehind);
  await rm('kept', { recursive: true });
  expect((await kept('shop')).stderr).toContain(leftBehind);
  const remove = `delete from sync.projects where project_id in ('shop', 'gone')`;
  await queryAt(database.connectionString, remove);
});

test('behind a PgBouncer set up as the page says, TLS is checked on both sides', async ({
  skip,
}) => {
  skip(!hasPgBouncer, 'PgBouncer is not installed (apt-get install pgbouncer)');
  const page = fileText('docs/operations.md');
  const here = (text: string): string =>
    text
      .replaceAll('/etc/pgbouncer/', `${folder}/`)
      .replaceAll(/\b(pooler|postgres)\.example\b/g, 'localhost');
  const openssl = here(/^openssl [^\n]+\n[^\n]+/m.exec(page)?.[0] ?? '').replace('\\\n', '');
  execFileSync('openssl', openssl.split(/ +/).slice(1), { stdio: 'pipe' });
  // What is for PgBouncer's user alone is here for whoever that is.
  await chmod('server.key', 0o644);
  await chmod(folder, 0o755);
  // In place of Postgres' own TLS, with the same certificate.
  const server = new URL(database.connectionString);
  const front = await speakTlsFor(server, {
    key: await readFile('server.key', 'utf8'),
    certificate: await readFile('server.crt', 'utf8'),
  });
  await copyFile('server.crt', 'authority.crt');
  const login = `outlast_${server.pathname.slice(1)}`;
  const asOwner = (sql: string) => queryAt<{ format?: string }>(database.connectionString, sql);
  await asOwner(`create role "${login}" login superuser password 'password'`);
  const userlist = linesOf(page, 'sql').find((line) => line.includes('pg_authid')) ?? '';
  const [user] = await asOwner(userlist.replace(`'outlast'`, `'${login}'`));
  await writeFile('userlist.txt', user?.format ?? '');
  const pool = await startPgBouncer(
    folder,
    here(linesOf(page, 'ini').join('\n'))
      .replace('port=5432', `port=${front.port}`)
      .replace('dbname=outlast', `dbname=${server.pathname.slice(1)}`),
  );
  const [address = ''] = linesOf(page, 'text').filter((line) => line.startsWith('DATABASE_URL='));
  const env = {
    ...environmentOf(simulator, ''),
    DATABASE_URL: here(address.replace('DATABASE_URL=', ''))
      .replace('outlast:', `${login}:`)
      .replace(':6432', `:${pool.port}`)
      .replace('/path/to/', `${folder}/`),
    ...stoppedAt(noon),
  };
  const doctor = await runHere(['doctor'], { env });
  expect(doctor.stdout).toMatch(/^ok +TLS +TLSv1\.3, the certificate is checked$/m);
  expect(doctor.stdout).toMatch(/^ok +pooler +one stands in front of the database/m);
  const synced = await runHere(['sync'], { env });
  expect([synced.code, synced.stderr]).toEqual([0, '']);
  expect(front.seen.encrypted).toBeGreaterThan(0);
  await pool.close();
  await front.close();
  await asOwner(`drop owned by "${login}" cascade; drop role "${login}"`);
});

test('docs/troubleshooting.md quotes what the program says, each in a state that a test brings about', async () => {
  const page = fileText('docs/troubleshooting.md');
  const quoted = [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, sentence = '']) => sentence);
  expect(quoted.length).toBeGreaterThan(20);
  const textOf = (folder: string, isWanted: (name: string) => boolean): string =>
    readdirSync(new URL(`../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && isWanted(name))
      .map((name) => fileText(`${folder}/${name}`))
      .join('\n');
  // `${name}` of a setting.
  const sources = textOf('src', () => true).replaceAll('${name}', 'OUTLAST_API_KEY');
  expect(quoted.filter((sentence) => !sources.includes(sentence))).toEqual([]);
  const tests = textOf('test', (name) => !name.startsWith('docs'));
  expect(quoted.filter((sentence) => !tests.includes(sentence.trim()))).toEqual([]);
});

test('the files in deploy/ name settings that there are, paths that are served, and no root', async () => {
  const documents = parseAllDocuments(fileText('deploy/kubernetes/outlast.yaml'));
  type Container = {
    env: { name: string; value: string }[];
    readinessProbe: { httpGet: { path: string } };
    livenessProbe: { httpGet: { path: string } };
    securityContext: object;
  };
  const [deployment] = documents
    .map(
      (one) =>
        one.toJS() as {
          kind: string;
          spec: { template: { spec: { securityContext: object; containers: Container[] } } };
        },
    )
    .filter(({ kind }) => kind === 'StatefulSet');
  const { securityContext, containers } = deployment?.spec.template.spec ?? { containers: [] };
  const [container] = containers;
  expect(securityContext).toMatchObject({ runAsNonRoot: true });
  expect(container?.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  const known = settings.flatMap(({ name, about }) =>
    about.secret === true ? [name, `${name}_FILE`] : [name],
  );
  for (const { name, value } of container?.env ?? []) {
    expect(known).toContain(name);
    if (/KEY|SECRET|DATABASE_URL/.test(name)) expect(value).toMatch(/^\/run\/secrets\//);
  }
  expect(container?.readinessProbe.httpGet.path).toBe('/readyz');
  expect(container?.livenessProbe.httpGet.path).toBe('/healthz');
  const unit = fileText('deploy/systemd/outlast.service');
  expect(unit).toMatch(/^User=outlast$/m);
  expect(unit).toMatch(/^ExecStart=\S+ outlast start$/m);
  // A boot before the network or the clock is ready must not end the archiving for good.
  expect(unit).toMatch(/^Restart=always$/m);
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  expect(unit).not.toContain('RestartPreventExitStatus');
});
