// Who may import whom (docs/design.md, "The house"): the folders' borders, kept by reading the import statements. Our
// own reader of them: dependency-cruiser 18 reads TypeScript by the compiler's JavaScript API, which TypeScript 7 has
// no more.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { blocksIn, fileText } from './support/repository.ts';

/** Source files by their path below src/. */
type Tree = Map<string, string>;

const nouns =
  'model resources database-address day dial errors files http-client log meter problems semaphore tracing version'
    .split(' ')
    .map((name) => `${name}.ts`);

/** What each part may import besides itself: folders, or single files. The first part that a file belongs to counts. */
const parts: { name: string; files: RegExp; may: string[]; packages: RegExp }[] = [
  part('the nouns', new RegExp(`^(${nouns.join('|')})$`), [], /^(pino|undici|@opentelemetry\/.+)$/),
  part('the catalogue', /^catalogue\.ts$/, [], /^$/),
  part('settings', /^settings\//, [], /^(zod|node-cron)$/),
  part('platform', /^platform\//, [], /^(ipaddr\.js|undici|zod)$/),
  part('store', /^store\//, [], /^(pg|pg-connection-string|pg-copy-streams|drizzle-orm)$/),
  part('verify', /^verify\//, ['platform/', 'store/'], /^zod$/),
  part('sync', /^sync\//, ['platform/', 'store/', 'verify/'], /^(node-cron|zod)$/),
  part('alert', /^alert\//, ['settings/', 'store/', 'sync/'], /^undici$/),
  part('query', /^query\//, ['catalogue.ts', 'store/'], /^(pg|drizzle-orm|zod)$/),
  // The one file that talks to a bucket; its client is loaded where one is named, and nowhere else.
  part("the bucket's client", /^export\/s3\.ts$/, [], /^@aws-sdk\/client-s3$/),
  part('export', /^export\//, ['store/', 'verify/'], /^(@duckdb\/node-api|zod)$/),
  part(
    'http',
    /^http\//,
    // Beside signatures: the exact reader and writer of JSON, which know no platform.
    [
      'catalogue.ts',
      'query/',
      ...['sign', 'target', 'json', 'canonical', 'bytes'].map((name) => `platform/${name}.ts`),
    ],
    /^(fastify|@fastify\/.+|preact|preact-render-to-string|prom-client|zod)$/,
  ),
  part('simulator', /^simulator\//, ['platform/sign.ts', 'platform/target.ts'], /^zod$/),
  part(
    'the commands',
    /^cli\//,
    'catalogue.ts settings/ platform/ store/ verify/ sync/ alert/ query/ export/ http/ simulator/'.split(
      ' ',
    ),
    /^(commander|string-width|zod)$/,
  ),
  part('main', /^main\.ts$/, ['cli/'], /^$/),
  part("the package's face", /^index\.ts$/, ['catalogue.ts', 'query/', 'store/'], /^$/),
];

function part(name: string, files: RegExp, may: string[], packages: RegExp) {
  return { name, files, may: [...nouns, ...may], packages };
}

/** Node's own modules that only some parts may use: HTTP belongs to those that speak it. */
const speaksHttp = /^(platform|http|simulator|cli)\//;
/**
 * Reads the environment: settings/ for everyone, main.ts to hand it on, the account of a child process, what keeps it
 * from pg, and what knows the terminal (COLUMNS, TERM) or npm (its script).
 */
const readsEnvironment = [
  'settings/settings.ts',
  'store/pg-client.ts',
  'main.ts',
  'store/embedded/programs.ts',
  'cli/print.ts',
  'cli/signals.ts',
];

/** Every border that is crossed, a sentence each; empty when all is well. */
function violations(tree: Tree): string[] {
  return [...tree].flatMap(([file, text]) => violationsOf(file, text, tree));
}

function violationsOf(file: string, text: string, tree: Tree): string[] {
  const own = parts.find(({ files }) => files.test(file));
  if (own === undefined) return [`${file} belongs to no part that this test knows`];
  const found = importsOf(text).flatMap((wanted) => {
    const reason = whyNot(file, own, wanted, tree);
    return reason === null ? [] : [`${file} imports ${wanted}: ${reason}`];
  });
  const withoutStrings = text.replaceAll(/'(?:[^'\\\n]|\\.)*'|^\s*(\/\/|\*).*$/gm, '');
  if (/\bprocess\.env\b|\benv\s*\}\s*=\s*process\b/.test(withoutStrings)) {
    if (!readsEnvironment.includes(file)) found.push(`${file} reads the environment`);
  }
  if (/^import (?!type\b)[^;]*'drizzle-orm/m.test(text)) {
    found.push(`${file} loads drizzle's modules: store/drizzle-import.ts has them as one`);
  }
  return found;
}

function whyNot(
  file: string,
  own: (typeof parts)[number],
  wanted: string,
  tree: Tree,
): string | null {
  if (wanted.startsWith('node:')) {
    const isHttp = /^node:(http|https|http2)$/.test(wanted);
    return isHttp && !speaksHttp.test(file) ? `${own.name} speaks no HTTP` : null;
  }
  if (!wanted.startsWith('.')) {
    const name = wanted
      .split('/')
      .slice(0, wanted.startsWith('@') ? 2 : 1)
      .join('/');
    return own.packages.test(name) ? null : `${own.name} does without the package ${name}`;
  }
  const target = resolved(file, wanted);
  if (!tree.has(target)) return 'there is no such file';
  const isOwn = own.files.test(target);
  return isOwn || own.may.some((allowed) => target.startsWith(allowed))
    ? null
    : `${own.name} must not know it`;
}

/** The specifiers of static and dynamic imports and of re-exports, type imports included; prettier fixes their form. */
function importsOf(text: string): string[] {
  const patterns = [
    /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'/gm,
    /\bimport\(\s*'([^']+)'/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''));
}

const resolved = (file: string, wanted: string): string => posix.join(posix.dirname(file), wanted);

function sources(): Tree {
  const root = fileURLToPath(new URL('../src', import.meta.url));
  return new Map(
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => [path.replaceAll('\\', '/'), readFileSync(join(root, path), 'utf8')]),
  );
}

/** Who may import whom, as arrows; dotted where it is single files. The commands may import every part. */
function allowed(): string[] {
  const drawnAs: Record<string, string> = {
    export: 'exports',
    'the commands': 'cli',
    "the package's face": 'index',
  };
  const arrows = parts.flatMap(({ name, may }) =>
    may
      .filter((target) => target.includes('/'))
      .map((target) => {
        const [folder = '', file] = target.split('/');
        const to = name === 'the commands' ? 'parts' : folder;
        return `${drawnAs[name] ?? name} ${file === '' ? '--' : '-.'} ${to}`;
      }),
  );
  return [...new Set(arrows)];
}

describe('the borders between the folders', () => {
  it('are crossed by no import', () => {
    const tree = sources();
    expect(tree.size).toBeGreaterThan(50);
    expect(violations(tree)).toEqual([]);
  });

  it('are those of the picture in docs/design.md', () => {
    const [picture = ''] = blocksIn(fileText('docs/design.md'), 'mermaid');
    const arrows = picture.matchAll(/^ *(\w+)(?:\[.*?\])? (-->|-\..*\.->) (\w+)/gm);
    const drawn = [...arrows].map(([, from, arrow, to]) => `${from} ${arrow?.slice(0, 2)} ${to}`);
    expect(drawn.toSorted()).toEqual(allowed().toSorted());
  });

  const well: [string, string][] = [
    ['model.ts', "export type A = 1;\n// import { b } from './store/db.ts'\n"],
    ['catalogue.ts', "import './model.ts';\n"],
    ['platform/sign.ts', "import type { A } from '../model.ts';\n"],
    ['platform/client.ts', "import { Pool } from 'undici';\nimport { b } from './sign.ts';\n"],
    ['store/db.ts', "import pg from 'pg';\n"],
    ['query/orders.ts', "import { c } from '../store/db.ts';\n"],
    ['sync/run.ts', "import {\n  c,\n} from '../store/db.ts';\nimport '../platform/client.ts';\n"],
    ['settings/settings.ts', 'const env = process.env;\n'],
    ['cli/sync-command.ts', "const x = await import('../sync/run.ts');\nsay('process.env');\n"],
  ];

  it('leave room for what the house needs', () => {
    expect(violations(new Map(well))).toEqual([]);
  });

  // prettier-ignore
  it.each([
    ['SQL in the platform', 'platform/a.ts', "import pg from 'pg';", 'without the package pg'],
    ['the store in the platform', 'platform/a.ts', "import '../store/db.ts';", 'must not know it'],
    ['HTTP in the store', 'store/a.ts', "import { request } from 'undici';", 'package undici'],
    ['HTTP of Node in the store', 'store/a.ts', "import http from 'node:http';", 'speaks no HTTP'],
    ['a type of it in the store', 'store/a.ts', "import type { A } from '../platform/sign.ts';", 'must not know it'],
    ['the catalogue in the store', 'store/a.ts', "import '../catalogue.ts';", 'must not know it'],
    ['sync in a query', 'query/a.ts', "export * from '../sync/run.ts';", 'must not know it'],
    ['the platform in a query', 'query/a.ts', "import {\n  b,\n} from '../platform/client.ts';", 'must not know it'],
    ['SQL in the server', 'http/a.ts', "import type { SQL } from 'drizzle-orm';", 'package drizzle-orm'],
    ['drizzle by its modules', 'query/a.ts', "import { sql } from 'drizzle-orm';", 'store/drizzle-import.ts has'],
    ['the store in the server', 'http/a.ts', "const s = await import('../store/db.ts');", 'must not know it'],
    ['the client in the simulator', 'simulator/a.ts', "import '../platform/client.ts';", 'must not know it'],
    ['the environment outside settings', 'sync/a.ts', "const v = process.env['X'];", 'reads the environment'],
    ['the environment by another door', 'sync/a.ts', 'const { env } = process;', 'reads the environment'],
    ['a command in the settings', 'settings/a.ts', "import '../cli/sync-command.ts';", 'must not know it'],
    ['the client of buckets elsewhere', 'export/bucket.ts', "import { S3Client } from '@aws-sdk/client-s3';", 'the package @aws-sdk/client-s3'],
    ['a folder nobody knows', 'utils/a.ts', 'export {};', 'belongs to no part'],
    ['a file that is not there', 'sync/a.ts', "import './gone.ts';", 'there is no such file'],
  ])('notice %s', (_, file, text, sentence) => {
    const told = violations(new Map([...well, [file, `${text}\n`]]));
    expect(told.join('\n')).toContain(sentence);
    expect(told).toHaveLength(1);
  });
});
