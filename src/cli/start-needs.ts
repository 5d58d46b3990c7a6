// What `start` needs beside the platform and the database: it refuses where one of them is missing, and `doctor` tells of
// each.
import { checkAddress } from '../http/server.ts';
import type { Settings } from '../settings/settings.ts';
import { readPlace } from './export-places.ts';
import { readReaders } from './reader-keys.ts';

type Need = {
  about: string;
  /** Throws settings `readers_invalid`, `bad_bucket` or `serve_failed`. Says what is so, null where nothing is asked for. */
  check: (settings: Settings) => string | null | Promise<string | null>;
};

export const startNeeds: Need[] = [
  {
    about: 'readers',
    check(settings) {
      const readers = readReaders(settings).length - settings.projects.length;
      return settings.readersFile === null ? null : `${readers} in ${settings.readersFile}`;
    },
  },
  {
    about: 'export',
    check({ exports: { to } }) {
      if (to !== null) readPlace(to);
      return null;
    },
  },
  {
    about: 'HTTP',
    async check({ host, port }) {
      await checkAddress(host, port);
      return port === 0 ? `any free port of ${host}` : `port ${port} of ${host} is free`;
    },
  },
];
