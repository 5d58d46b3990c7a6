// `outlast migrate`: brings the database to this release's schema. Commands that write do so themselves; this one is
// for people who run migrations as the database's owner.
import type { Command } from 'commander';
import { readSettings } from '../settings/settings.ts';
import { bringUpToDate, closing, openStore } from './open-store.ts';
import { openLog } from './log-lines.ts';
import { counted, print, printJson } from './print.ts';

export const migrateCommand = (command: Command): Command =>
  command
    .option('--distributed', 'lay the tables out over the workers of a Citus cluster, by project')
    .option('--json', 'print the result as JSON')
    .action(async (flags: { distributed?: true; json?: true }) => {
      const settings = readSettings({ needs: 'database' });
      const log = openLog(settings.logLevel);
      await closing(async (keep) => {
        const store = keep(await openStore(settings.database, log));
        const done = await bringUpToDate(store, log, flags);
        if (flags.json === true) printJson(done);
        else {
          const applied = done.to - done.from;
          print(
            applied === 0
              ? 'The database is up to date.'
              : `Applied ${counted(applied, 'migration')}.`,
          );
          if (done.distributed !== undefined) {
            const { tables, workers } = done.distributed;
            print(`${tables} tables are distributed over ${counted(workers, 'worker')}.`);
          }
          for (const note of done.notes) print(`Note: ${note}`);
        }
      });
    });
