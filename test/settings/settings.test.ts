// Settings: what is taken when little is said, and that every mistake is told at once, with what to do.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReaders } from '../../src/cli/start-serving.ts';
import { currentAddress } from '../../src/database-address.ts';
import { isOutlastError } from '../../src/errors.ts';
import { envExample, settings, table } from '../../src/settings/table.ts';
import {
  environmentWithFile,
  readSmallFile,
  type Environment,
} from '../../src/settings/environment.ts';
import { freshFolder } from '../support/fresh.ts';
import { replace } from '../support/replaced.ts';
import { mistakesInProxies, proxiesIn, proxiesShown } from '../../src/settings/proxies.ts';
import { handOnForLibraries, readSettings, type Needs } from '../../src/settings/settings.ts';

const pair = { OUTLAST_API_KEY: 'key-1', OUTLAST_API_SECRET: 'sesame-1' };
const one = { OUTLAST_BASE_URL: 'https://platform.example', ...pair };

const read = (env: Record<string, string | undefined>, files: Record<string, string> = {}) =>
  readSettings({ needs: 'platform', readFile: fileOf(files) }, env);

function fileOf(files: Record<string, string>): (path: string) => string {
  return (path) => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
    return text;
  };
}

/** The sentences of a refusal, a line each; fails where the settings are accepted. */
function mistakes(
  env: Record<string, string | undefined>,
  files: Record<string, string> = {},
  needs: Needs = 'platform',
): string[] {
  try {
    readSettings({ needs, readFile: fileOf(files) }, env);
  } catch (error) {
    if (!isOutlastError(error, 'settings_invalid')) throw error;
    expect(error.kind).toBe('settings');
    const lines = error.message.split('\n').map((line) => line.trim());
    return lines.length === 1 ? lines : lines.slice(1);
  }
  throw new Error('these settings were accepted');
}

describe('what is taken when little is said', () => {
  it('needs an address and a key pair, and has a default for everything else', () => {
    expect(read(one)).toEqual({
      projects: [
        {
          id: 'default',
          baseUrl: 'https://platform.example',
          apiKey: 'key-1',
          apiSecret: 'sesame-1',
          orders: 'all',
          classes: 'all',
          tokensUrl: null,
          maxRps: 5,
        },
      ],
      database: { kind: 'embedded', dataDir: './.outlast' },
      readDatabase: { kind: 'embedded', dataDir: './.outlast' },
      certificatesDir: './.outlast/certificates',
      headsDir: null,
      host: '127.0.0.1',
      port: 8080,
      concurrency: 4,
      timeoutMs: 10_000,
      deadlineMarginMs: 86_400_000,
      leaseMs: 25_000,
      refreshMs: 21_600_000,
      tokensEveryMs: 86_400_000,
      keepCertificates: null,
      readersFile: null,
      schedule: '* * * * *',
      logLevel: 'info',
      alerts: {
        webhookUrl: null,
        format: 'json',
        secret: null,
        reminderMs: 86_400_000,
        heartbeatUrl: null,
      },
      exports: { to: null, schedule: '20 3 * * *', format: 'parquet', addressing: null },
      proxies: null,
    });
  });

  it('takes an empty variable for one that is not set', () => {
    expect(read({ ...one, OUTLAST_PORT: '', OUTLAST_TYPO: '', DATABASE_URL: '' })).toEqual(
      read(one),
    );
  });

  it('keeps a path in front of the interface and drops the slash at the end of an address', () => {
    const [project] = read({ ...one, OUTLAST_BASE_URL: 'https://Platform.example/api/' }).projects;
    expect(project?.baseUrl).toBe('https://platform.example/api');
  });

  it('needs no platform for commands that only read the archive, and looks at none', () => {
    const { projects } = readSettings(
      { needs: 'database' },
      { OUTLAST_BASE_URL: 'nonsense', OUTLAST_PROJECTS_FILE: '/nowhere', OUTLAST_KEY_OF_SHOP: 'x' },
    );
    expect(projects).toEqual([]);
  });
});

describe('mistakes (P12)', () => {
  it('are all told at once, a line each', () => {
    const given = {
      OUTLAST_BASE_URL: 'platform.example',
      OUTLAST_API_KEY: 'two words',
      OUTLAST_PROJECT: 'Shop 1',
      OUTLAST_PORT: '80800',
      OUTLAST_MAX_RPS: '0',
      OUTLAST_LOG_LEVEL: 'loud',
      OUTLAST_SCHEDULE: 'hourly',
      OUTLAST_HOST: '127.0.0.1:8080',
      OUTLAST_CONCURENCY: '2',
      DATABASE_URL: 'mysql://db/outlast',
    };
    const told = mistakes(given).map((line) => line.split(' ')[0]);
    expect(told).toHaveLength(11);
    expect(new Set(told)).toEqual(new Set([...Object.keys(given), 'OUTLAST_API_SECRET']));
  });

  it.each([
    [{ OUTLAST_BASE_URL: 'ftp://platform.example' }, 'must begin with https:// or http://'],
    [{ OUTLAST_BASE_URL: 'https://me:pw@platform.example' }, 'must not hold a user or a password'],
    [{ OUTLAST_BASE_URL: 'https://platform.example/?a=1' }, 'must not have a query'],
    [{ OUTLAST_BASE_URL: 'https://platform.example/#' }, 'must not have a query or a fragment'],
    [
      { OUTLAST_BASE_URL: 'https://platform.example/api/v3/orders/' },
      'ends with /v3/orders, which',
    ],
    [{ OUTLAST_PORT: '8080.5' }, 'a whole number from 0 to 65535'],
    [{ OUTLAST_PORT: 'tcp://10.0.0.7:8080' }, 'enableServiceLinks'],
    [{ OUTLAST_TIMEOUT_MS: '1e4' }, 'is "1e4": give a whole number'],
    [{ OUTLAST_CLASS_OWNERS: ' , ' }, 'names separated by commas'],
    [{ OUTLAST_LEASE_SECONDS: '1' }, 'a whole number from 3'],
    [{ OUTLAST_HOST: '[::1]' }, 'without port or brackets'],
    [{ OUTLAST_DATA_DIR: 's3://bucket' }, 'begins with s3://: give the path of a folder.'],
    [{ OUTLAST_HEADS_DIR: 'file:///mnt' }, 'begins with file://: give the path of a folder.'],
    [
      { OUTLAST_EXPORT_TO: 'GS://bucket' },
      'begins with gs://: give the path of a folder, or s3://',
    ],
    [{ OUTLAST_PROJEKT: 'shop' }, 'did you mean OUTLAST_PROJECT?'],
    [{ OUTLAST_COLOUR: 'green' }, 'OUTLAST_COLOUR is no setting: remove it'],
    [{ OUTLAST_API_SECRET: 'sesame ' }, 'begins or ends with a blank'],
    [{ DATABASE_URL: 'postgres://u:a/b@host:5432/db' }, 'written as %40'],
    [{ DATABASE_URL: 'postgres://u:a%@host/db' }, 'written %25.'],
    [
      { OUTLAST_READ_DATABASE_URL: 'postgres://u@db/o?sslmode=verify&service=x' },
      'OUTLAST_READ_DATABASE_URL asks for an unknown sslmode: give one of disable, allow, prefer, require, verify-ca, verify-full; it has a parameter that Outlast does not know, service: take it out.',
    ],
    [{ DATABASE_PASSWORD: 'x' }, 'DATABASE_URL is not: give the address'],
    [
      { DATABASE_PASSWORD: 'x', DATABASE_URL: 'postgres://u:p@db/outlast' },
      'holds a password: keep one',
    ],
    [{ DATABASE_PASSWORD: 'x', DATABASE_URL: 'postgres:///outlast' }, 'needs a user and a host'],
  ])('%o: %s', (env, sentence) => {
    const told = mistakes({ ...one, ...env });
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(sentence);
  });

  it('are not found in what Kubernetes tells a pod about a Service called outlast', () => {
    const service = { OUTLAST_SERVICE_HOST: '10.0.0.7', OUTLAST_SERVICE_PORT_HTTP: '8080' };
    const port = { OUTLAST_PORT_8080_TCP_ADDR: '10.0.0.7' };
    const tcp = { OUTLAST_PORT_8080_TCP: 'tcp://10.0.0.7:8080' };
    expect(() => read({ ...one, ...service, ...port, ...tcp })).not.toThrow();
  });
});

describe('secrets', () => {
  it('come from files as well, also from those with a byte order mark', () => {
    const env = { ...one, OUTLAST_API_SECRET: '', OUTLAST_API_SECRET_FILE: '/run/secret' };
    expect(read(env, { '/run/secret': '\ufeffsesame-9\r\n' }).projects).toMatchObject([
      { apiSecret: 'sesame-9' },
    ]);
    const file = {
      projects: [{ name: 'a', baseUrl: 'https://a.example', apiKey: 'k', apiSecretEnv: 'S' }],
    };
    const several = { OUTLAST_PROJECTS_FILE: '/p.json', S: 'sesame-9' };
    expect(read(several, { '/p.json': `\ufeff${JSON.stringify(file)}` }).projects).toMatchObject([
      { id: 'a' },
    ]);
  });

  it.each([
    ['utf16le', '\ufeff'],
    ['utf16le', ''],
    ['utf16be', '\ufeff'],
  ])('and every other file is refused by its name where it is in %s%s', async (encoding, mark) => {
    const folder = await freshFolder();
    const file = join(folder, 'file');
    const named =
      'is in UTF-16, as Windows PowerShell writes with > and Out-File: save it as UTF-8.';
    const bytes = Buffer.from(`${mark}OUTLAST_PORT=1\n`, 'utf16le');
    writeFileSync(file, encoding === 'utf16le' ? bytes : bytes.swap16());
    const told = (env: Record<string, string>): string => {
      try {
        readReaders(readSettings({ needs: 'platform' }, env));
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(() => environmentWithFile({ OUTLAST_ENV_FILE: file })).toThrow(named);
    expect(told({ ...one, OUTLAST_API_KEY: '', OUTLAST_API_KEY_FILE: file })).toBe(
      `OUTLAST_API_KEY_FILE names a file that ${named}`,
    );
    expect(told({ OUTLAST_PROJECTS_FILE: file })).toBe(`OUTLAST_PROJECTS_FILE ${named}`);
    chmodSync(file, 0o600);
    expect(told({ ...one, OUTLAST_READERS_FILE: file })).toBe(
      `OUTLAST_READERS_FILE ${file}: it ${named}`,
    );
  });

  it.each(['"key-1"', "'key-1'", '“key-1”'])('in quotes are named as such: %s', (value) => {
    const named = 'stands in quotes, which `docker run --env-file` and files of secrets keep';
    expect(mistakes({ ...one, OUTLAST_API_KEY: value })).toEqual([
      expect.stringContaining(`OUTLAST_API_KEY ${named}`),
    ]);
    expect(
      mistakes({ ...one, DATABASE_URL_FILE: '/url', OUTLAST_SCHEDULE: value }, { '/url': value }),
    ).toEqual([
      expect.stringContaining(`DATABASE_URL ${named}`),
      expect.stringContaining(`OUTLAST_SCHEDULE ${named}`),
    ]);
    const project = { name: 'a', baseUrl: 'https://a.example', apiKeyEnv: 'K', apiSecretEnv: 'S' };
    const several = { OUTLAST_PROJECTS_FILE: 'p', K: 'key-1', S: value };
    expect(mistakes(several, { p: JSON.stringify([project]) })[0]).toContain(
      `projects[0].apiSecretEnv names a value that ${named}`,
    );
  });

  it('are refused when given twice, when their file is missing and when it is empty', () => {
    const files = { OUTLAST_API_KEY_FILE: '/missing', OUTLAST_API_SECRET_FILE: '/secret' };
    const env = { ...one, OUTLAST_API_KEY: '', ...files, DATABASE_URL_FILE: '/empty' };
    expect(mistakes(env, { '/secret': 'x', '/empty': '\n' })).toEqual([
      'OUTLAST_API_KEY_FILE names a file that cannot be read (ENOENT): check its path and rights.',
      'OUTLAST_API_SECRET and OUTLAST_API_SECRET_FILE are both set: keep one of them.',
      'DATABASE_URL_FILE names an empty file: put the value into it.',
    ]);
  });

  const anyPassword = fc
    .string({ unit: 'binary' })
    // A file of line breaks alone counts as empty.
    .filter((text) => text.replace(/[\r\n]+$/, '') !== '');

  it('of the database join the address exactly as they are', () => {
    fc.assert(
      fc.property(anyPassword, (password) => {
        const env = { ...one, DATABASE_URL: 'postgres://u@db:5432/o', DATABASE_PASSWORD_FILE: 'p' };
        const { database } = read(env, { p: `${password}\n` });
        if (database.kind !== 'url') throw new Error('a database with an address');
        expect(decodeURIComponent(new URL(currentAddress(database.url)).password)).toBe(
          password.replace(/[\r\n]+$/, ''),
        );
      }),
      { examples: [['a:b@c/d?e#f%41 ü']] },
    );
  });

  it('are never repeated in a mistake, wherever they were pasted (P10)', () => {
    const secret = 'Sesame-Sesame-77';
    const everywhere = Object.fromEntries(
      settings
        .filter(({ about }) => about.secret === true)
        .flatMap(({ name }) => [
          [name, ` ${secret}`],
          [`${name}_FILE`, '/secret'],
        ]),
    );
    const urls = { OUTLAST_BASE_URL: `https://me:${secret}@h`, OUTLAST_TOKENS_URL: secret };
    const told = mistakes({ ...everywhere, ...urls }, { '/secret': ` ${secret}` });
    expect(told.length).toBeGreaterThan(4);
    expect(told.join('\n')).not.toContain(secret);
  });

  it('would be noticed in a mistake (the check above can fail)', () => {
    const secret = 'Sesame-Sesame-77';
    expect(mistakes({ ...one, OUTLAST_PROJECT: secret }).join('\n')).toContain(secret);
  });
});

describe('the file .env', () => {
  const dotEnv = 'DATABASE_URL="postgres://from/file"\nOUTLAST_MAX_RPS=3 # a note\nOUTLAST_PORT=\n';
  const noFile = (code: string) => () => {
    throw Object.assign(new Error('no'), { code });
  };

  it('stands below the environment, name by name', () => {
    const env = { DATABASE_URL: 'postgres://from/env', OUTLAST_MAX_RPS: '' };
    expect(environmentWithFile(env, () => dotEnv)).toEqual({
      DATABASE_URL: 'postgres://from/env',
      OUTLAST_MAX_RPS: '3',
      OUTLAST_PORT: '',
    });
  });

  it('gives no secret that the environment names by file, nor the other way round', () => {
    const byFile = environmentWithFile({ DATABASE_URL_FILE: '/run/secrets/url' }, () => dotEnv);
    expect(byFile).not.toHaveProperty('DATABASE_URL');
    const byValue = environmentWithFile({ OUTLAST_API_KEY: 'k' }, () => 'OUTLAST_API_KEY_FILE=/x');
    expect(byValue).not.toHaveProperty('OUTLAST_API_KEY_FILE');
  });

  it('gives no setting for which the environment has another one of the same thing', () => {
    const file = [
      'DATABASE_URL_FILE=/url',
      'OUTLAST_READ_DATABASE_URL=postgres://replica/of-it',
      'OUTLAST_BASE_URL=https://a.example',
      'OUTLAST_API_KEY=k',
    ].join('\n');
    const kept = (env: Record<string, string>, text = file): string[] =>
      Object.keys(environmentWithFile(env, () => text)).filter((name) => !(name in env));
    const platform = ['OUTLAST_API_KEY', 'OUTLAST_BASE_URL'];
    expect(kept({ OUTLAST_DATA_DIR: './mine' })).toEqual(platform);
    expect(kept({ DATABASE_URL: 'postgres://mine/x' })).toEqual(platform);
    expect(kept({ OUTLAST_PROJECTS_FILE: './p.json' })).not.toContain('OUTLAST_BASE_URL');
    expect(kept({ OUTLAST_BASE_URL: 'https://b' }, 'OUTLAST_PROJECTS_FILE=p')).toEqual([]);
  });

  it('adds no password to an address of the environment that has one', () => {
    const files: Record<string, string> = {
      '.env': 'DATABASE_PASSWORD=other',
      '/url': 'postgres://u:own@h/d',
    };
    const addressOf = (env: Record<string, string>): string | null => {
      const putBack = replace(process, 'env', env);
      try {
        const { database } = readSettings({ needs: 'database', readFile: fileOf(files) });
        return database.kind === 'url' ? currentAddress(database.url) : null;
      } finally {
        putBack();
      }
    };
    const own = 'postgres://u:own@h/d';
    expect(addressOf({ DATABASE_URL: own })).toBe(own);
    expect(addressOf({ DATABASE_URL_FILE: '/url' })).toBe(own);
    expect(addressOf({ DATABASE_URL: 'postgres://u@h/d' })).toBe('postgres://u:other@h/d');
    expect(() => addressOf({ DATABASE_URL: own, DATABASE_PASSWORD: 'x' })).toThrow('keep one');
  });

  it('may be missing, unless it is named; one that cannot be read is told', () => {
    expect(environmentWithFile({}, noFile('ENOENT'))).toEqual({});
    expect(environmentWithFile({}, noFile('EISDIR'))).toEqual({});
    expect(() => environmentWithFile({}, noFile('EACCES'))).toThrow('.env cannot be read (EACCES)');
    const named = { OUTLAST_ENV_FILE: './mine' };
    expect(() => environmentWithFile(named, noFile('ENOENT'))).toThrow(
      'OUTLAST_ENV_FILE names a file that cannot be read (ENOENT)',
    );
  });
});

describe('mistakes in the file .env', () => {
  /** What is wrong with it, and that none of its contents is repeated (P10). */
  function told(text: string, env: Record<string, string> = {}): string[] {
    const found: string[] = [];
    environmentWithFile(
      env,
      () => text,
      (mistake) => void found.push(mistake),
    );
    expect(found.join()).not.toMatch(/sesame/);
    return found;
  }

  it('a byte order mark is no part of the first name', () => {
    expect(environmentWithFile({}, () => '\ufeffDATABASE_URL=postgres://a/b\n')).toEqual({
      DATABASE_URL: 'postgres://a/b',
    });
  });

  it('blanks at the end of a line, or alone in one, are no part of any setting', () => {
    for (const end of ['\n', '\r\n']) {
      const text = ['# mine ', 'A= ', 'B=1\t', ' \t', 'C=2', '  ', 'D=\t', 'E="3" '].join(end);
      expect(environmentWithFile({}, () => text)).toEqual({ A: '', B: '1', C: '2', D: '', E: '3' });
      expect(told(text)).toEqual([]);
    }
  });

  it('a line that is no NAME=value is told by its number, and never its content', () => {
    const text = `# Settings
      export OUTLAST_PORT = 1 # a note
      DATABASE_URL: postgres://u:sesame@h/d?sslmode=require

      DATABASE_URL postgres://u:sesame@h/d
      OUTLAST_API_SECRET="sesame
      # of two lines
      " # a note
      OUTLAST_API_KEY="sesame" sesame
      OUTLAST_PROJECT='sesame
      =sesame`;
    expect(told(text)).toEqual(
      [3, 5, 9, 11].map(
        (line) =>
          `Line ${line} of .env is no setting: write it as NAME=value, or with a # in front as a comment.`,
      ),
    );
    expect(told(text.replaceAll('\n', '\r\n'))).toHaveLength(4);
    expect(told('x', { OUTLAST_ENV_FILE: './mine.env' })[0]).toMatch(/^Line 1 of \.\/mine\.env /);
  });

  it('and every line that is not told is found again in what is read', () => {
    const value = fc
      .string({ unit: fc.constantFrom('a', '"', "'", '`', ' ', '#', '\\', '='), maxLength: 6 })
      // It would go on in the next line, which is then no line of its own.
      .filter((text) => /^ *($|[^"'` ]|(["'`]).*\2)/.test(text));
    const line = fc.tuple(
      fc.constantFrom('', 'export ', '  '),
      fc.stringMatching(/^[A-Z]{1,3}$/),
      fc.constantFrom('=', ' = '),
      value,
    );
    const strange = fc.constantFrom('A', 'A B', 'A: b', '=', ' =a', '"A"=b', 'A-', '- A=1');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), fc.option(strange), (lines, odd) => {
        const all = [...lines.map((parts) => parts.join('')), ...(odd === null ? [] : [odd])];
        const found = told(all.join('\n'));
        if (odd !== null) expect(found.at(-1)).toContain(`Line ${all.length} `);
        if (found.length > 0) return;
        const read = Object.keys(environmentWithFile({}, () => all.join('\n')));
        // Node 26 keeps the word before a name without a value, which sets nothing.
        const names = read.map((name) => name.replace(/^export /, ''));
        expect(new Set(names)).toEqual(new Set(lines.map(([, name]) => name)));
      }),
    );
  });

  it.each(['DATABSE_URL', 'DATABASE_ULR', 'database_url', 'DATABASE_URI'])(
    '%s is told where nothing else says which database',
    (name) => {
      const text = `${name}=postgres://u:sesame@h/d`;
      expect(told(text)).toEqual([`${name} in .env is no setting: did you mean DATABASE_URL?`]);
      expect(told(`DATABASE_URL=postgres://a/b\n${text}`)).toEqual([]);
      expect(told(text, { DATABASE_URL_FILE: '/x' })).toEqual([]);
    },
  );

  it('by file it is told as well; what another program may mean is not', () => {
    expect(told('DATABSE_URL_FILE=/x')[0]).toContain('did you mean DATABASE_URL_FILE?');
    expect(told('DATABASE_SSL=true\nDATABASE_URI=mysql://a/b\nDATABASE_USER=u')).toEqual([]);
  });

  it('its own name has no effect there', () => {
    expect(told('OUTLAST_ENV_FILE=other.env')).toEqual([
      'OUTLAST_ENV_FILE has no effect in .env, which was found without it: set it outside.',
    ]);
    // What starts Outlast may have read the same file.
    expect(told('OUTLAST_ENV_FILE=.env')).toEqual([]);
  });

  it('what Node reads before it is told, the time zone works', async () => {
    expect(told('NODE_EXTRA_CA_CERTS=/etc/ca.pem\nNODE_ENV=production')).toEqual([
      'NODE_EXTRA_CA_CERTS has no effect in .env: Node reads it as it starts. Set it outside.',
    ]);
    const folder = await freshFolder();
    writeFileSync(join(folder, 'env'), 'TZ=Asia/Shanghai\n');
    const own = { ...process.env };
    delete process.env['TZ'];
    process.env['OUTLAST_ENV_FILE'] = join(folder, 'env');
    handOnForLibraries();
    const hour = new Date(0).getHours();
    for (const name of ['OUTLAST_ENV_FILE', 'TZ']) {
      if (own[name] === undefined) delete process.env[name];
      else process.env[name] = own[name];
    }
    expect(hour).toBe(8);
  });
});

describe('proxies', () => {
  const shown = (env: Environment, own?: Environment): string | null =>
    proxiesShown(proxiesIn(env, own));

  it.each<[Environment, string | null]>([
    [{ NO_PROXY: 'a' }, null],
    [{ HTTP_PROXY: 'p:1', no_proxy: 'a, *' }, null],
    [{ HTTP_PROXY: 'p:1' }, 'http://p:1; directly: localhost,127.0.0.1,[::1]'],
    [
      { https_proxy: 'http://u:p@ss@q', HTTPS_PROXY: 'r', NO_PROXY: ' .a b:1,localhost' },
      'https by http://q, http directly; directly: .a,b:1,localhost,127.0.0.1,[::1]',
    ],
  ])('of %j: %s', (env, text) => {
    expect(shown(env)).toBe(text);
  });

  it('of the environment stand above those of a file, in whatever case', () => {
    expect(shown({ http_proxy: 'file', HTTP_PROXY: 'own' }, { HTTP_PROXY: 'own' })).toMatch(
      /^http:\/\/own;/,
    );
  });

  it('that are none are told without what they hold (P10)', () => {
    const none = ['http://sesame:4711@', 'socks5://sesame@h', 'sesame 4711', 'http://u:sesame%@h'];
    for (const HTTPS_PROXY of none) {
      expect(shown({ HTTPS_PROXY })).toBeNull();
      const [mistake = ''] = mistakesInProxies(proxiesIn({ HTTPS_PROXY }));
      expect(mistake).toMatch(/^HTTPS_PROXY is no address of a proxy: /);
      expect(mistake).not.toContain('sesame');
    }
    // One that stands for both is told once.
    expect(mistakesInProxies(proxiesIn({ HTTP_PROXY: 'socks5://h' }))).toHaveLength(1);
  });
});

describe('.env.example', () => {
  it('is what the table of settings says', async () => {
    // After a change of the table: npx vitest run test/settings/settings.test.ts -u
    await expect(envExample()).toMatchFileSnapshot('../../.env.example');
  });

  it('is accepted by node with every comment sign taken away', async () => {
    const folder = await freshFolder();
    const path = join(folder, '.env');
    writeFileSync(path, envExample().replaceAll(/^# (?=[A-Z_]+=)/gm, ''));
    const script = 'console.log(JSON.stringify(process.env))';
    const env = JSON.parse(
      execFileSync(process.execPath, [`--env-file=${path}`, '-e', script], {
        env: {},
        encoding: 'utf8',
      }),
    ) as Record<string, string>;
    const names = Object.keys(env).filter((name) => name in table);
    // Which file is read cannot stand in it.
    expect(new Set([...names, 'OUTLAST_ENV_FILE'])).toEqual(new Set(Object.keys(table)));
    expect(names).not.toContain('OUTLAST_ENV_FILE');
    const { OUTLAST_PROJECTS_FILE: _several, ...single } = env;
    expect(read({ ...single, ...pair })).toMatchObject({
      ...read(one),
      headsDir: '/mnt/elsewhere/outlast',
      readersFile: './secrets/readers.json',
      keepCertificates: ['files.example.org', '*.example.net'],
      exports: { to: 's3://bucket/prefix', addressing: 'host' },
      projects: [{ tokensUrl: 'https://node.example', classes: ['iaa1first', 'iaa1second'] }],
    });
  });
});

it.skipIf(process.platform === 'win32')(
  'P12: a pipe is read from whoever writes to it; one that nobody writes to is no file, and keeps nobody waiting',
  async () => {
    const folder = await freshFolder();
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const env = { ...one, OUTLAST_API_SECRET: '', OUTLAST_API_SECRET_FILE: path };
    expect(() => readSettings({ needs: 'platform' }, env)).toThrow(
      'OUTLAST_API_SECRET_FILE names a file that is a pipe that nobody writes to: name a file, or start what writes.',
    );
    // Open for the writer before it has begun.
    const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const slowly = 'sleep 0.3; echo se; sleep 0.1; echo same';
    spawn('sh', ['-c', slowly], { stdio: ['ignore', pipe, 'ignore'] });
    closeSync(pipe);
    expect(readSmallFile(path)).toBe('se\nsame\n');
    expect(readSmallFile('/dev/null')).toBe('');
  },
);

it('P12: a file longer than any setting is not read to its end, for a device has none', async () => {
  const folder = await freshFolder();
  const path = join(folder, 'file');
  writeFileSync(path, 'sesame-9 ü\n');
  expect(readSmallFile(path)).toBe('sesame-9 ü\n');
  writeFileSync(path, Buffer.alloc(4 * 1024 * 1024 + 1, 'x'));
  expect(() => readSmallFile(path)).toThrow(/longer than 4 MiB/);
});
