// TLS to the database as libpq's parameters ask for it. In front of the real Postgres stands one that speaks TLS for
// it, as poolers do.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { currentAddress } from '../../src/database-address.ts';
import { exitCodeOf, type OutlastError } from '../../src/errors.ts';
import { silentLog } from '../../src/log.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { readAddress } from '../../src/store/pg-client.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { openEmbedded } from '../../src/store/embedded/embedded.ts';
import { certify, speakTlsFor, type Certified } from '../support/certificates.ts';
import { queryAt } from '../support/client.ts';
import { freshFolder, makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { listenHere } from '../support/loopback.ts';
import { adminConnectionString, createEmptyDatabase } from '../support/postgres.ts';

const authorityName = 'Outlast test authority';
let folder: string;
let plain: URL;
let authority: Certified;
let fronts: Record<
  'local' | 'elsewhere' | 'expired' | 'strict',
  Awaited<ReturnType<typeof speakTlsFor>>
>;
const file = (name: string): string => join(folder, name);

setUp(async (keep) => {
  folder = await keep(makeFolder(), removeFolder);
  plain = new URL(await adminConnectionString());
  authority = certify(authorityName);
  const client = certify('postgres', authority);
  await writeFile(file('root.crt'), authority.certificate);
  await writeFile(file('client.crt'), client.certificate);
  await writeFile(file('client.key'), client.key);
  const yesterday = Date.now() - 86_400_000;
  fronts = {
    local: await keep(speakTlsFor(plain, certify('localhost', authority))),
    elsewhere: await keep(speakTlsFor(plain, certify('db.example', authority))),
    expired: await keep(speakTlsFor(plain, certify('localhost', authority, yesterday))),
    strict: await keep(speakTlsFor(plain, certify('localhost', authority), authority)),
  };
});

const says: Record<string, string> = {
  database_certificate_file: `cannot be read (E`,
  database_certificate: 'The certificate of the database is not accepted',
  database_address:
    'DATABASE_URL asks for an unknown sslmode: give one of disable, allow, prefer, require, verify-ca, verify-full. (What it leaves out, PGSSLMODE',
  database_tls_missing: 'DATABASE_URL asks for TLS and the server has none',
};

/** The code that opening the database ends with, and its exit code; `open` where it opens. */
async function opened(port: number, parameters: Record<string, string>): Promise<string> {
  const address = new URL(plain);
  address.hostname = 'localhost';
  address.port = String(port);
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return openedAt(address.href);
}

async function openedAt(connectionString: string): Promise<string> {
  try {
    const db = await openDb({ connectionString, role: null, log: silentLog() });
    await db.query('select 1');
    await db.close();
    return 'open';
  } catch (error) {
    const { code, message } = error as OutlastError;
    expect(message).toContain(says[code] ?? '');
    // P10: neither the password nor the address.
    expect(message).not.toContain(plain.password);
    return `${code} ${exitCodeOf(error)}`;
  }
}

test('require encrypts and checks nothing, verify-ca who signed it, verify-full whose it is as well', async () => {
  const { local, elsewhere, expired } = fronts;
  const root = { sslrootcert: file('root.crt') };
  expect(await opened(elsewhere.port, { sslmode: 'require' })).toBe('open');
  expect(elsewhere.seen.encrypted).toBeGreaterThan(0);
  expect(await opened(elsewhere.port, { sslmode: 'verify-ca', ...root })).toBe('open');
  expect(await opened(elsewhere.port, { sslmode: 'verify-full', ...root })).toBe(
    'database_certificate 2',
  );
  expect(await opened(local.port, { sslmode: 'verify-full', ...root })).toBe('open');
  expect(await opened(local.port, { sslmode: 'verify-full' })).toBe('database_certificate 2');
  expect(await opened(local.port, { sslmode: 'verify-full', sslrootcert: 'system' })).toBe(
    'database_certificate 2',
  );
  // As libpq: with an authority named, `require` is `verify-ca`.
  expect(await opened(expired.port, { sslmode: 'require', ...root })).toBe(
    'database_certificate 2',
  );
  expect(await opened(expired.port, { sslmode: 'require' })).toBe('open');
});

test('a certificate that expires while a service runs is told as at its start', async () => {
  const address = new URL(plain);
  address.hostname = 'localhost';
  address.port = String(fronts.local.port);
  address.searchParams.set('sslmode', 'verify-full');
  address.searchParams.set('sslrootcert', file('root.crt'));
  const connectionString = (): string => address.href;
  const db = await openDb({ connectionString, role: null, log: silentLog() });
  // The next connection is made to a server whose certificate has expired.
  address.port = String(fronts.expired.port);
  await expect(db.query('select 1')).rejects.toMatchObject({
    code: 'database_certificate',
    message: expect.stringContaining('(CERT_HAS_EXPIRED): it has expired.') as string,
  });
  await db.close();
});

test('prefer takes what there is; anything stronger is refused by a server without TLS', async () => {
  const port = Number(plain.port);
  const { encrypted } = fronts.local.seen;
  for (const sslmode of ['allow', 'prefer']) {
    expect(await opened(port, { sslmode })).toBe('open');
    expect(await opened(fronts.local.port, { sslmode })).toBe('open');
  }
  expect(fronts.local.seen.encrypted).toBeGreaterThan(encrypted);
  expect(await opened(port, { sslmode: 'disable' })).toBe('open');
  expect(await opened(port, { sslmode: 'require' })).toBe('database_tls_missing 2');
});

test('a certificate of our own opens a server that wants one', async () => {
  const own = { sslmode: 'require', sslcert: file('client.crt'), sslkey: file('client.key') };
  expect(await opened(fronts.strict.port, own)).toBe('open');
  expect(fronts.strict.seen.named).toContain('postgres');
  expect(await opened(fronts.strict.port, { sslmode: 'require' })).not.toBe('open');
  expect(await opened(fronts.strict.port, { ...own, sslkey: file('none.key') })).toBe(
    'database_certificate_file 2',
  );
  // A folder can be opened and not read.
  expect(await opened(fronts.local.port, { sslmode: 'verify-full', sslrootcert: folder })).toBe(
    'database_certificate_file 2',
  );
});

test.each(['', 'no certificate'])(
  'a file of an authority that holds none, but "%s"',
  async (text) => {
    await writeFile(file('none.crt'), text);
    const address = `${plain.href}?sslmode=verify-full&sslrootcert=${file('none.crt')}`;
    expect(() => readAddress(address)).toThrow(
      /none\.crt, which .* sslrootcert, holds no certificate/,
    );
  },
);

const pathTo = (query: string): string => `postgres://user:a-secret@localhost/db?${query}`;

test.each([
  ['sslmode=no-verify', 'asks for an unknown sslmode: give one of disable, allow'],
  ['sslmode=', 'asks for an unknown sslmode'],
  ['channel_binding=yes', 'asks for an unknown channel_binding'],
  ['sslmode=verify-ca&sslrootcert=', 'names no sslrootcert'],
  // Left out in silence, each of these would leave the way in plain text, or less safe than it was asked to be.
  ['ssl_mode=verify-full', 'does not know, ssl_mode: TLS is asked for by sslmode, sslrootcert'],
  ['sslMode=require', 'does not know, sslMode: TLS is asked for by'],
  ['tls=1', 'does not know, tls: TLS is asked for by'],
  ['ssl=1', 'does not know, ssl: TLS is asked for by'],
  ['sslmode=verify-full&sslcrl=/crl', 'does not know, sslcrl: TLS is asked for by'],
  ['gssencmode=require', 'does not know, gssencmode: take it out'],
  ['require_auth=scram-sha-256', 'does not know, require_auth: take it out'],
  ['hostaddr=10.0.0.1', 'does not know, hostaddr: take it out'],
  ['a-secret@localhost/db', 'has an @ behind its host: in a password'],
  ['a_secret#b@localhost/db', /^DATABASE_URL has an @ behind its host: [^_]+$/],
  ['a-secret', 'does not know, with a strange name'],
])('?%s is refused before anybody is asked, whatever the password', (query, sentence) => {
  const read = (): unknown => readAddress(pathTo(query));
  expect(read).toThrow(sentence);
  expect(read).toThrow(/^DATABASE_URL (?!.*a-secret)/);
});

test.each([
  ['postgres://user:5#cret@host/db', 'has an @ behind its host'],
  ['postgres://user:5/cret@host/db', 'has an @ behind its host'],
  ['postgres://user:s#cret@host/db', 'is no PostgreSQL address: it has the form'],
  ['postgres://user:s?cret@host/db', 'is no PostgreSQL address'],
  ['postgres://user:100%cret@host/db', 'has a % that no code of a character follows'],
  ['postgres://user:cret%ff@host/db', 'has a % that no code of a character follows'],
  ['postgres://user:cret@a:5432,b:5432/db', 'names several hosts, and Outlast takes one'],
  ['postgres://a,b/db?target_session_attrs=read-write', 'names several hosts'],
  [' postgres://a,b/db', 'names several hosts'],
  // Or as PGHOST adds it.
  ['postgres://user:cret@/db?host=a,b', /names several hosts.* PGHOST /],
  ['mysql://user:cret@host/db', 'is no PostgreSQL address'],
  ['host=localhost user=me password=cret', 'is no PostgreSQL address'],
])('%s is refused without what it holds (P10)', (address, sentence) => {
  expect(() => readAddress(address)).toThrow(sentence);
  expect(() => readAddress(address)).toThrow(/^DATABASE_URL (?!.*cret)/);
});

test('what is harmless is taken, and nothing of it reaches pg, which might read it in its own way', () => {
  const harmless =
    'connect_timeout=15&keepalives=1&client_encoding=LATIN1&gssencmode=prefer&target_session_attrs=any';
  const foreign = 'pgbouncer=true&connection_limit=1&pool_timeout=9&schema=public&supa=base';
  expect(readAddress(pathTo(`${harmless}&${foreign}`))).toEqual(readAddress(pathTo('')));
  expect(readAddress(pathTo('options=-c a.b%3D1&schema=a'))).toMatchObject({ options: '-c a.b=1' });
  expect(readAddress(` ${pathTo('')} `)).toEqual(readAddress(pathTo('')));
  expect(readAddress(pathTo('ssl=true'))).toEqual(readAddress(pathTo('sslmode=require')));
  const plainest = { user: 'user', password: 'a-secret', host: 'localhost', database: 'db' };
  expect(readAddress('postgresql://user:a-secret@localhost/db')).toMatchObject(plainest);
  expect(readAddress(pathTo('sslmode=disable'))).toMatchObject({ ...plainest, ssl: false });
});

test.each([
  'postgres://u%40x:p%25%2F%23@%2Frun%2Fpg/d?sslmode=require',
  // As Google's and others' pages write it.
  'postgres://u%40x:p%25%2F%23@/d?host=/run/pg&sslmode=require',
  'postgresql:///d?host=/run/pg&user=u%40x&password=p%25%2F%23&sslmode=require',
])('%s is a socket, and TLS is not asked for there', (address) => {
  expect(readAddress(address)).toMatchObject({
    host: '/run/pg',
    user: 'u@x',
    password: 'p%/#',
    database: 'd',
    ssl: false,
  });
});

test('channel_binding=require: the login is bound to TLS, or nothing is sent', async () => {
  const bound = { sslmode: 'require', channel_binding: 'require' };
  const refused = 'database_channel_binding 2';
  // Whoever ends TLS in between cannot offer it.
  expect(await opened(fronts.local.port, bound)).toBe(refused);
  expect(await opened(Number(plain.port), { channel_binding: 'require' })).toBe(refused);
  expect(await opened(fronts.local.port, { ...bound, channel_binding: 'prefer' })).toBe('open');

  const home = await freshFolder();
  const options = { dataDir: join(home, 'home'), elsewhere: join(home, 'elsewhere') };
  const server = await openEmbedded({ ...options, log: silentLog() });
  const { key, certificate } = certify('localhost', authority);
  const put = (text: string, name: string): Promise<unknown> =>
    queryAt(
      server.connectionString,
      `copy (select unnest(string_to_array('${text.trim()}', E'\n'))) to program 'umask 077; cat > ${name}'`,
    );
  await put(certificate, 'server.crt');
  await put(key, 'server.key');
  await queryAt(server.connectionString, 'alter system set ssl = on');
  await queryAt(server.connectionString, 'select pg_reload_conf()');
  const address = new URL(server.connectionString);
  for (const [name, value] of Object.entries(bound)) address.searchParams.set(name, value);
  const open = (connectionString: string): Promise<Db> =>
    openDb({ connectionString, role: null, log: silentLog() });
  await expect.poll(() => open(address.href).then((db) => db.close())).toBeUndefined();
  // A server that lets in without a proof has not shown who it is.
  await writeFile(join(home, 'home', 'pgdata', 'pg_hba.conf'), 'host all all all trust\n');
  await queryAt(server.connectionString, 'select pg_reload_conf()');
  await expect
    .poll(() =>
      open(address.href).then(
        (db) => db.close(),
        ({ code }: OutlastError) => code,
      ),
    )
    .toBe('database_channel_binding');
  await server.close();
});

// Authentication requests of the protocol (3): cleartext, MD5 with a salt, SASL without a mechanism that binds.
test.each([
  ['the password itself', 3, ''],
  ['its MD5', 5, 'salt'],
  ['SCRAM without binding', 10, 'SCRAM-SHA-256\0\0'],
])('channel_binding=require: whoever asks for %s gets nothing', async (_name, kind, text) => {
  const more = Buffer.from(text);
  const head = Buffer.from([0x52, 0, 0, 0, 8 + more.length, 0, 0, 0, kind]);
  const got: Buffer[] = [];
  const asking = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.on('data', (piece) => void got.push(piece));
      socket.write(Buffer.concat([head, more]));
    });
  });
  const { port, close } = await listenHere(asking);
  expect(await opened(port, { channel_binding: 'require' })).toBe('database_channel_binding 2');
  await close();
  expect(got).toEqual([]);
});

test('what PG variables say counts for a DATABASE_URL that says nothing of it, as with libpq, and nowhere else', async () => {
  const variables = {
    PGSSLMODE: 'verify-full',
    PGSSLROOTCERT: file('root.crt'),
    PGCHANNELBINDING: 'disable',
  };
  const asked = (port: number, parameters: Record<string, string>, more = {}): Promise<string> => {
    const address = new URL(plain);
    const { username: PGUSER, password: PGPASSWORD, pathname } = address;
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    address.href = `postgres:///?${address.searchParams}`;
    const env = {
      DATABASE_URL: address.href,
      ...variables,
      PGHOST: 'localhost',
      PGPORT: String(port),
      PGUSER,
      PGPASSWORD: decodeURIComponent(PGPASSWORD),
      PGDATABASE: pathname.slice(1),
      ...more,
    };
    const { database } = readSettings({ needs: 'database' }, env);
    return database.kind === 'url'
      ? openedAt(currentAddress(database.url))
      : Promise.resolve(database.kind);
  };
  const before = fronts.local.seen.encrypted;
  expect(await asked(fronts.local.port, {})).toBe('open');
  expect(fronts.local.seen.encrypted).toBeGreaterThan(before);
  expect(await asked(fronts.elsewhere.port, {})).toBe('database_certificate 2');
  expect(await asked(fronts.elsewhere.port, { sslmode: 'require', sslrootcert: '' })).toBe('open');
  expect(await asked(Number(plain.port), {})).toBe('database_tls_missing 2');
  expect(await asked(Number(plain.port), { sslmode: 'disable' })).toBe('open');
  expect(await asked(1, {}, { PGSSLMODE: 'verify' })).toBe('database_address 2');
  // The library takes nothing from the environment.
  vi.stubEnv('PGSSLMODE', 'require');
  expect(await opened(Number(plain.port), {})).toBe('open');
  vi.unstubAllEnvs();
});

test.each([
  ['postgres://user@/d', '/run/pg'],
  ['postgres://user@/d?host=db.example', 'db.example'],
  ['postgres:///d?user=user&password=cret', '/run/pg'],
  ['postgres://user@localhost/d', 'localhost'],
])('%s beside PGHOST leads to %s', (DATABASE_URL, host) => {
  const passwords = DATABASE_URL.includes('cret') ? [''] : ['', 'cret'];
  for (const DATABASE_PASSWORD of passwords) {
    const env = { DATABASE_URL, DATABASE_PASSWORD, PGHOST: '/run/pg' };
    const { database } = readSettings({ needs: 'database' }, env);
    const address = database.kind === 'url' ? currentAddress(database.url) : '';
    expect(readAddress(address)).toMatchObject({ host, user: 'user', database: 'd' });
  }
});

test('a password that is wanted and not given, or wrong: 2, and where to write it', async () => {
  const address = new URL(plain);
  const open = (): Promise<unknown> =>
    openDb({ connectionString: address.href, role: null, log: silentLog() });
  address.password = 'another';
  await expect(open()).rejects.toThrow('The database refused the login. Check the user and');
  address.password = '';
  await expect(open()).rejects.toMatchObject({
    code: 'database_password_missing',
    kind: 'settings',
    message: expect.stringContaining('The database asks for a password and DATABASE_URL') as string,
  });
  // Nor is the server left waiting for it: for a minute no database could be dropped.
  const { name } = await createEmptyDatabase();
  const admin = new pg.Client({ connectionString: plain.href, statement_timeout: 40_000 });
  await admin.connect();
  await admin.query(`drop database "${name}"`);
  await admin.end();
});
