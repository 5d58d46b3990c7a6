// What the code cites is here: every promise, page, section, heading, link and file that a comment, a
// test or a page names stands in the repository.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';

/** Texts by their path below the root. */
type Tree = Map<string, string>;

/** What can be cited. */
type Known = {
  files: ReadonlySet<string>;
  /** Headings of a page, as they stand there without backticks. */
  headings: (page: string) => string[];
  /** Of the table in docs/design.md. */
  promises: ReadonlySet<string>;
};

const design = 'docs/design.md';

function known(tree: Tree): Known {
  const text = tree.get(design) ?? '';
  const headings = new Map<string, string[]>();
  for (const [file, page] of tree) if (file.endsWith('.md')) headings.set(file, headingsOf(page));
  return {
    files: new Set(tree.keys()),
    headings: (page) => headings.get(page) ?? [],
    promises: new Set([...text.matchAll(/^\| (P\d+) /gm)].map(([, name]) => name ?? '')),
  };
}

const withoutFences = (page: string): string => page.replaceAll(/^```[\s\S]*?^```/gm, '');

const headingsOf = (page: string): string[] =>
  [...withoutFences(page).matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading]) =>
    (heading ?? '').replaceAll('`', ''),
  );

/** As GitHub makes them. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** Every citation that leads nowhere, a sentence each; empty when all is well. */
function dangling(tree: Tree): string[] {
  const all = known(tree);
  return [...tree].flatMap(([file, text]) => {
    const told = isPage(file) ? withoutFences(text) : text;
    // A citation may go on in the next line of its comment.
    const prose = told.replaceAll(/\s*\n\s*(?:\/\/+|\*+(?!\/)|--|#)?\s*/g, ' ');
    const found = [
      ...wrongPromises(prose, all),
      ...wrongSections(prose, all),
      ...(isPage(file) ? wrongLinks(file, told, all) : []),
      ...wrongFiles(file, told, all),
    ];
    return [...new Set(found)].map((sentence) => `${file}: ${sentence}`);
  });
}

const isPage = (file: string): boolean => file.endsWith('.md');

function wrongPromises(prose: string, { promises }: Known): string[] {
  const named = prose.match(/\bP[1-9]\d?\b/g) ?? [];
  return named.filter((name) => !promises.has(name)).map((name) => `there is no promise ${name}`);
}

/** `docs/a.md §4.1-4.3, §5` and `docs/a.md, "Heading"`. */
function wrongSections(prose: string, { headings }: Known): string[] {
  const found: string[] = [];
  for (const [, page = '', list = ''] of prose.matchAll(
    /([\w./-]+\.md)((?:,? (?:and )?§[\d.]*\d(?:[-–][\d.]*\d)?)+)/g,
  )) {
    for (const number of list.match(/\d[\d.]*/g) ?? []) {
      const numbered = headings(page).some((one) =>
        one.replace(/\. .*/, ' ').startsWith(`${number} `),
      );
      if (!numbered) found.push(`${page} has no §${number}`);
    }
  }
  for (const [, page = '', heading = ''] of prose.matchAll(/([\w./-]+\.md),? \(?"([^"]+)"/g)) {
    if (!headings(page).includes(heading)) found.push(`${page} has no heading "${heading}"`);
  }
  return found;
}

function wrongLinks(file: string, page: string, { files, headings }: Known): string[] {
  return [...page.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : posix.join(posix.dirname(file), path);
    if (!files.has(target)) return [`there is no ${target}`];
    const isThere = anchor === undefined || headings(target).map(slugOf).includes(anchor);
    return isThere ? [] : [`${target} has no heading #${anchor}`];
  });
}

/** Files by the end of their path, in comments and on pages: strings of tests may name what they make up. */
function wrongFiles(file: string, text: string, { files }: Known): string[] {
  const comments = text.match(/^\s*(?:\/\/|\/?\*|--|#).*$|(?<=[\w;,){}] )\/\/ .*$/gm) ?? [];
  // Links are looked at by themselves.
  const told = isPage(file) ? text.replaceAll(/\]\([^)]*\)/g, ']') : comments.join('\n');
  const named = told.matchAll(
    /(?<![\w./:@*-])(?:\.\.?\/)*((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|mjs|sql|md))\b/g,
  );
  return [...named].flatMap(([, name = '']) => {
    const isThere = files.has(name) || [...files].some((one) => one.endsWith(`/${name}`));
    return isThere ? [] : [`there is no ${name}`];
  });
}

const root = fileURLToPath(new URL('..', import.meta.url));
/** Not ours, or made by a command; this file names what does not exist. */
const skipped =
  /(^|\/)(node_modules|dist|coverage|secrets|\.git|\.outlast[\w-]*)$|^test\/citations\.test\.ts$/;
const isText = /\.(ts|mjs|sql|md|sh|ya?ml)$|(^|\/)(Dockerfile|run|\.env\.example)$/;

/**
 * All that is kept here, by a walk of its own: a packed copy has no git. Texts that cite nothing are only known to be
 * there.
 */
function repository(): Tree {
  const tree: Tree = new Map();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (skipped.test(path)) continue;
      if (entry.isDirectory()) walk(path);
      else tree.set(path, isText.test(path) ? readFileSync(join(root, path), 'utf8') : '');
    }
  };
  walk('');
  return tree;
}

test('what is cited is here', () => {
  const tree = repository();
  const { promises } = known(tree);
  expect(promises.size).toBe(12);
  expect(tree.size).toBeGreaterThan(400);
  expect(dangling(tree)).toEqual([]);
});

describe('the same check', () => {
  const page = `# Design
| P1  | one |
| P12 | twelve |

## Rules of proof

## What \`is\` asked, and when
`;
  const well: [string, string][] = [
    [design, page],
    ['docs/wire.md', '# Wire\n\n## 5. Who asks\n\n### 4.4 Orders\n\n### 4.5 Results\n'],
    ['src/store/db.ts', '// Of (P1, P12); see db.ts, docs/wire.md §4.4-4.5, §5.\n'],
    ['src/a.ts', '// SQLSTATE P0001 (docs/design.md, "Rules of\n// proof")\n'],
    ['README.md', '[a](docs/design.md#what-is-asked-and-when) [b](#top)\n\n# Top\n`store/db.ts`\n'],
  ];

  it('finds nothing where all is well', () => {
    expect(dangling(new Map(well))).toEqual([]);
  });

  it.each([
    ['a promise', 'test/b.test.ts', "test('P13: more', f);", 'there is no promise P13'],
    ['a page', 'src/b.ts', '// See docs/gone.md.', 'there is no docs/gone.md'],
    ['a page elsewhere', 'src/b.ts', '/** Of interface.md. */', 'there is no interface.md'],
    ['a page behind code', 'src/b.ts', 'f(); // as wire-facts.md', 'there is no wire-facts.md'],
    ['a section', 'src/b.ts', '// docs/wire.md §4.4, §4.6', 'docs/wire.md has no §4.6'],
    ['the end of some', 'src/b.ts', '// docs/wire.md §4.4-4.7', 'docs/wire.md has no §4.7'],
    ['a title', 'src/b.ts', '// docs/wire.md, "Gone"', 'docs/wire.md has no heading "Gone"'],
    ['a file', 'docs/b.md', 'In `store/gone.ts`.', 'there is no store/gone.ts'],
    ['a link', 'docs/b.md', '[x](gone.md#a)', 'there is no docs/gone.md'],
    ['a heading', 'docs/b.md', '[x](design.md#gone)', 'docs/design.md has no heading #gone'],
    ['a heading in a fence', 'docs/b.md', '[x](#y)\n```\n# y\n```', 'docs/b.md has no heading #y'],
  ])('names %s that is not there', (_, file, text, sentence) => {
    const told = dangling(new Map([...well, [file, `${text}\n`]]));
    expect(told).toEqual([`${file}: ${sentence}`]);
  });
});
