import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const folder = join(import.meta.dirname, 'test');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join(folder, name));
const altersModules = (file: string): boolean => readFileSync(file, 'utf8').includes('vi.mock(');

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Three files at a time keep two cores busy: one often waits for a server or a child process.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: files.filter((file) => !altersModules(file)),
          // A worker keeps what it has loaded of src/ from one file to the next: to load it anew takes most of a second.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: files.filter(altersModules) } },
    ],
  },
});
