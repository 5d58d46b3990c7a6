import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

/** Files that replace modules: what they load must not reach other files. As patterns, from this folder. */
const alone = readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) =>
    readFileSync(join(import.meta.dirname, 'test', name), 'utf8').includes('vi.mock('),
  )
  .map((name) => `test/${name.replaceAll('\\', '/')}`);

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Three files at a time keep two cores busy: one often waits for a server or a child process.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...alone],
          // A worker keeps what it has loaded of src/ from one file to the next: to load it anew takes most of a second.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
