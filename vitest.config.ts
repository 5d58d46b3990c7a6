import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files go by their size where there is no record of an earlier run. Those that start processes are short and take
 * long: the last ones would have nothing beside them. So as long as there are any, they take turns with the others.
 */
class InTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Vitest's own, not an array's.
    // oxlint-disable-next-line unicorn/no-array-sort
    const sorted = await super.sort(files);
    const startsProcesses = ({ moduleId }: TestSpecification): boolean =>
      moduleId.endsWith('.e2e.test.ts');
    const long = sorted.filter(startsProcesses);
    const others = sorted.filter((one) => !startsProcesses(one));
    const turns = others.flatMap((one, i) => [...long.slice(i, i + 1), one]);
    return [...turns, ...long.slice(others.length)];
  }
}

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
    sequence: { sequencer: InTurns },
    include: ['test/**/*.test.ts'],
    // A worker keeps what it has loaded of src/ from one file to the next: to load it anew takes most of a second.
    isolate: false,
  },
});
