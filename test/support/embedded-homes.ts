// Data folders for the tests of the embedded Postgres. After each test none of them may have a server that runs; at the
// end of the file all are removed.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openEmbedded, type Embedded } from '../../src/store/embedded/embedded.ts';
import { findPackage } from '../../src/store/embedded/programs.ts';
import { removeScratch, scratchFolder, serverPid } from './embedded.ts';

type Options = Partial<Parameters<typeof openEmbedded>[0]>;

export function createHomes() {
  const scratch = scratchFolder();
  const all: string[] = [];
  // So that a folder wrongly found unreachable fails here and leaves nothing on the machine.
  const elsewhere = join(scratch, 'elsewhere');
  let made: string | undefined;
  afterEach(() => {
    for (const home of all) expect(serverPid(home), 'a server was left running').toBeNull();
  });
  afterAll(() => removeScratch(scratch, all));
  /** A folder that is not there yet. */
  const add = (home = join(scratch, `home-${all.length}`)): string => {
    all.push(home);
    return home;
  };
  const open = (dataDir: string, options: Options = {}): Promise<Embedded> =>
    openEmbedded({ dataDir, elsewhere, log: silentLog(), ...options });
  return {
    scratch,
    elsewhere,
    add,
    open,
    /** One with a cluster that was made before, its owner as it was: to make one takes a second of the processor. */
    withCluster: async (home = add()): Promise<string> => {
      if (made === undefined) {
        made = add();
        await (await open(made)).close();
      }
      copy(made, home);
      return home;
    },
  };
}

/** With owners, rights and links as they are. */
export function copy(folder: string, to: string): void {
  execFileSync('cp', ['-a', folder, to]);
}

/** The copies of the programs in a home. */
export const copies = (home: string): string[] =>
  readdirSync(home).filter((name) => name.startsWith('binaries-'));

/** Where the programs lie that a home's server runs from. */
export async function binOf(home: string): Promise<string> {
  const [copied] = copies(home);
  return join(
    copied === undefined ? join(await findPackage(), 'native') : join(home, copied),
    'bin',
  );
}
