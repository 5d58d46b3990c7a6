// What lies in the repository beside the code, for tests that hold it to what it says. Needs no test runner.
import { readFileSync } from 'node:fs';

/** The text of a file, by its path below the root. */
export const fileText = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The blocks of a page that are marked as of that language, in their order. */
export const blocksIn = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );
