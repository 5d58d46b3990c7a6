// The package as its users meet it: the examples of docs/library.md run, and the declarations need no package but ours.
import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as face from '../../src/index.ts';
import { makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { openEmpty } from '../support/opened.ts';
import { blocksIn, fileText } from '../support/repository.ts';
import { writeClass, writeOrder } from '../support/rows.ts';

const root = resolve(import.meta.dirname, '../..');
const project = 'p';
let archive: face.Archive;

setUp(async (keep) => {
  const { db, ...opened } = await keep(openEmpty());
  ({ archive } = opened);
  await writeOrder(db, { project, id: 'op_0001', amount: '9007199254740993', status: 3 });
  await writeOrder(db, { project, id: 'op_0002', createdAt: '2026-04-01T00:00:00Z' });
  await writeClass(db, { project, id: 'c', name: 'A Cat', owner: 'me' });
});

const page = fileText('docs/library.md');
/** The page's examples, the imports left out. */
const examples = blocksIn(page, 'ts').map((code) => code.replace(/^import .*$/gm, ''));

test('docs/library.md names every code that an argument can meet', () => {
  const codes = ['reader', 'check-arguments', 'cursor', 'changes'].flatMap((name) => {
    const source = fileText(`src/query/${name}.ts`);
    return [...source.matchAll(/(?:settingsError|transient)\(\s*'([a-z_]+)'/g)].map(
      ([, code = '']) => code,
    );
  });
  expect(codes.length).toBeGreaterThan(5);
  for (const code of codes) expect(page).toContain(code.replace(/^database_.*/, 'database_'));
});

/** Runs the page's example with these words in it, as it stands there; what it declares under the names. */
async function run(words: string, ...names: string[]): Promise<unknown[]> {
  const code = examples.find((one) => one.includes(words)) ?? '';
  const given = { archive, project, owner: 'me', kept: null, isOutlastError: face.isOutlastError };
  const text = `export default async ({ ${Object.keys(given).join()} }) => {
    ${code}
    return [${names.join()}];
  };`;
  const made = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
    default: (of: typeof given) => Promise<unknown[]>;
  };
  return made.default(given);
}

describe('the examples of docs/library.md', () => {
  test.each([
    ['orders.stream', { lines: ['op_0001,2026-03-10T10:00:00Z,9007199254740993'] }],
    ['cursor: page.next', { page: { items: [{ operationId: 'op_0001' }] }, more: null }],
    ['orders.get', { fee: 9_007_199_254_740_993n }],
    ['changes.list', { happened: [] }],
    ['nftClasses.list', { classes: { items: [{ owner: 'me' }] } }],
    ['transactions.get', { v1beta1: undefined, v3: undefined, tokens: [] }],
    ['orders.history', { changes: ['2026-03-11T00:00:00Z: 3'], monthEnd: { items: [] } }],
    ['archive.coverage', { uncertain: [], summary: [] }],
    ['statistics.orders', { lines: ['null: 0.00 (may still change)'] }],
    [
      'watchedOperations',
      { lost: { items: [] }, newest: undefined, months: [], pageSize: undefined },
    ],
    ['archive.progress', { day: null, alerts: [] }],
    ['isOutlastError', {}],
  ])('that with %s', async (words, wanted) => {
    const names = Object.keys(wanted);
    const values = await run(words, ...names);
    expect(Object.fromEntries(names.map((name, i) => [name, values[i]]))).toMatchObject(wanted);
  });
});

test('the face opens archives and tells errors apart, and exports nothing that writes but watch', () => {
  const exported = ['OutlastError', 'isOutlastError', 'openArchive', 'watch'];
  expect(Object.keys(face).toSorted()).toEqual(exported);
});

describe('the declarations', () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  let folder: string;

  /** What the compiler has to say; '' when it has no complaint. */
  const compile = (...flags: string[]): Promise<string> =>
    new Promise((done) => {
      execFile(process.execPath, [compiler, ...flags], { cwd: root }, (_error, stdout) =>
        done(stdout),
      );
    });

  setUp(async (keep) => {
    folder = await keep(makeFolder(), removeFolder);
    // As `npm test` has just built them, where no package of ours lies above them.
    await cp(join(root, 'dist/src'), join(folder, 'src'), { recursive: true });
    // By itself: the compiler looks for every package's types beside those that it is led to.
    await mkdir(join(folder, 'types'));
    await symlink(join(root, 'node_modules/@types/node'), join(folder, 'types/node'));
  });

  /** Compiles a user's files, by name, where no other package can be found, declarations included. */
  async function asUser(codes: Record<string, string>, from = 'index'): Promise<string> {
    const files = Object.keys(codes).map((name) => join(folder, `${name}.mts`));
    for (const [i, code] of Object.values(codes).entries()) {
      await writeFile(files[i] ?? '', `import * as outlast from './src/${from}.js';\n${code}`);
    }
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'];
    const target = ['--target', 'es2023', '--module', 'nodenext'];
    const node = ['--typeRoots', join(folder, 'types'), '--types', 'node'];
    return compile(...files, '--ignoreConfig', '--noEmit', ...strict, ...target, ...node);
  }
  const open = `const archive = await outlast.openArchive({ connectionString: '', log: { warn() {} } });`;

  test('serve a user who has no other package but the types of Node, and refuse what is wrong', async () => {
    const right = `
      const page = await archive.orders.list({ project: 'p', status: [1] });
      const amount: string | null | undefined = page.items[0]?.amountFen;
      export { amount };`;
    const said = await asUser({
      right: open + right,
      value: `${open} await archive.orders.list({ project: 'p', status: 4 });`,
      name: `${open} await archive.orders.list({ owner: 'p' });`,
    });
    const complaints = said.split('\n').filter((line) => /error TS/.test(line));
    expect(complaints).toHaveLength(2);
    expect(complaints).toContainEqual(expect.stringMatching(/value\.mts.*TS2322/));
    expect(complaints).toContainEqual(expect.stringMatching(/name\.mts.*TS2353/));
  });

  test('take every example of docs/library.md', async () => {
    const [opening = '', ...others] = examples;
    expect(others).toHaveLength(12);
    const given = `const { openArchive, isOutlastError } = outlast;
      declare const project: string, owner: string, kept: string | null;`;
    const blocks = others.map((code) => `{\n${code}}`);
    expect(await asUser({ examples: [given, opening, ...blocks].join('\n') })).toBe('');
  });

  test('sabotaged by a face that shows its inside, are of no use to that user', async () => {
    expect(await asUser({ inside: 'export { outlast };' }, 'store/ledger')).toMatch(
      `'drizzle-orm'`,
    );
  });
});
