import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // What waits for ever ends here. A busy machine takes its time: none of these is a measure of speed.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Three files at a time keep two cores busy: one often waits for a server or a child process. A worker more costs
    // a tenth of all processor time: it loads and compiles everything anew.
    maxWorkers: 3,
    // What a test leaves behind is mostly gone before it would be copied: a thirtieth of a worker's processor time.
    execArgv: ['--max-semi-space-size=64'],
    include: ['test/**/*.test.ts'],
    // A worker keeps what it has loaded of src/ from one file to the next: to load it anew takes most of a second.
    isolate: false,
  },
});
