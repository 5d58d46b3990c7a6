// `npm run check:mutants`: makes one mistake after the other in a copy of the tree and runs the tests that must notice
// it. Words behind `--` choose mutants by area or text. Ends with 1 when a mutant survives, no longer applies, or
// nothing runs with it.
import { spawn } from 'node:child_process';
import { chmod, cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startTestServer } from '../support/test-server.ts';
import { anywhere, mutants, type Mutant } from './list.ts';

/** What tests read of the tree. */
const copied = 'src test migrations docs dist package.json tsconfig.json vitest.config.ts'.split(
  ' ',
);
/** A mutant may send a loop round for ever: that is noticed, too. */
const timeoutMs = 240_000;

type Ran = { failed: string[]; passed: number; isTimeUp: boolean; output: string };

const root = process.cwd();
const words = process.argv.slice(2);
const chosen = mutants.filter(({ area, wrong }) =>
  words.every((word) => `${area} ${wrong}`.includes(word)),
);

async function filesBelow(folder: string, end: string): Promise<string[]> {
  const names = await readdir(join(root, folder), { recursive: true });
  return names.filter((name) => name.endsWith(end)).map((name) => join(folder, name));
}

const sources = await Promise.all(
  (await filesBelow('src', '.ts')).map(async (file) => ({
    file,
    text: await readFile(join(root, file), 'utf8'),
  })),
);
const testFiles = await filesBelow('test', '.test.ts');

/** The file that a mutant is of, mutated. Throws where its text stands nowhere, or more than once. */
function mutated({ wrong, find, put }: Mutant): { file: string; text: string } {
  const hits = sources.flatMap((source) =>
    Array.from(source.text.matchAll(anywhere(find)), () => source),
  );
  const [hit] = hits;
  if (hit === undefined || hits.length > 1) {
    throw new Error(`"${wrong}": its text stands ${hits.length} times in src/:\n${find}`);
  }
  return { file: hit.file, text: hit.text.replace(anywhere(find), () => put) };
}

function fileOf(test: string): string {
  const file = join('test', `${test}.test.ts`);
  if (!testFiles.includes(file)) throw new Error(`there is no ${file}`);
  return file;
}

async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'outlast-mutants-'));
  await chmod(copy, 0o755);
  for (const name of copied) await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs test files in a copy, up to the first failure. */
async function runTests(
  copy: string,
  files: string[],
  databaseUrl: string,
  atMostMs: number,
): Promise<Ran> {
  const report = join(copy, 'report.json');
  await rm(report, { force: true });
  const args = ['run', '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const child = spawn(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), ...args, ...files],
    {
      cwd: copy,
      env: { ...process.env, TEST_DATABASE_URL: databaseUrl },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => (output += part.toString()));
  }
  let isTimeUp = false;
  const timer = setTimeout(() => {
    isTimeUp = true;
    // Its workers are children of its own.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, atMostMs);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  const text = await readFile(report, 'utf8').catch(() => '{}');
  const { testResults = [] } = JSON.parse(text) as {
    testResults?: { name: string; assertionResults: { status: string; fullName: string }[] }[];
  };
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((one) => ({ ...one, file: basename(name, '.test.ts') })),
  );
  return {
    failed: all
      .filter(({ status }) => status === 'failed')
      .map(({ file, fullName }) => `${file}: ${fullName}`),
    passed: all.filter(({ status }) => status === 'passed').length,
    isTimeUp,
    output,
  };
}

/** Whether the tests notice it, and a line that says which of them does. */
async function judge(
  copy: string,
  mutant: Mutant,
  databaseUrl: string,
): Promise<{ isKilled: boolean; said: string }> {
  const { file, text } = mutated(mutant);
  const original = await readFile(join(copy, file), 'utf8');
  await writeFile(join(copy, file), text);
  const ran = await runTests(copy, mutant.tests.map(fileOf), databaseUrl, timeoutMs);
  await writeFile(join(copy, file), original);
  const killedBy = ran.isTimeUp ? 'it never ends' : ran.failed[0];
  if (killedBy !== undefined) return { isKilled: true, said: killedBy };
  // Nobody has looked: a file that could not be loaded kills nothing.
  const said = ran.passed > 0 ? 'SURVIVES' : `NOTHING RUNS\n${ran.output.slice(-2000)}`;
  return { isKilled: false, said };
}

if (chosen.length === 0) throw new Error(`No mutant is meant by ${words.join(' ')}`);
for (const mutant of chosen) {
  mutated(mutant);
  mutant.tests.forEach(fileOf);
}
const server = await startTestServer();
const copies = await Promise.all(Array.from({ length: availableParallelism() }, copyTree));
let judged = 0;
let killed = 0;
try {
  // Unmutated they must pass: a test that fails anyway kills nothing.
  const named = [...new Set(chosen.flatMap(({ tests }) => tests.map(fileOf)))];
  const sound = await runTests(copies[0] ?? root, named, server.connectionString, 10 * timeoutMs);
  if (sound.failed.length > 0 || sound.passed === 0) {
    throw new Error(`The tests fail without any mutant: ${sound.failed.join()}\n${sound.output}`);
  }
  const waiting = [...chosen];
  const work = async (copy: string): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { isKilled, said } = await judge(copy, next, server.connectionString);
      if (isKilled) killed++;
      process.stdout.write(`${++judged}/${chosen.length}  ${next.area}: ${next.wrong}: ${said}\n`);
    }
  };
  await Promise.all(copies.map(work));
} finally {
  await server.stop();
  await Promise.all(copies.map((copy) => rm(copy, { recursive: true, force: true })));
}
process.stdout.write(`${killed} killed, ${judged - killed} not\n`);
process.exitCode = killed === judged ? 0 : 1;
