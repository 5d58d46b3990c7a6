// The version of this package.
import { createRequire } from 'node:module';

/** By the package's own name: the same from the sources and from dist/src. */
export const version = (): string =>
  (createRequire(import.meta.url)('outlast/package.json') as { version: string }).version;
