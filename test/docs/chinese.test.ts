// README.zh-CN.md keeps in step with README.md: the same headings, commands, output, promises and figures.
import { describe, expect, test } from 'vitest';
import { fileText } from '../support/repository.ts';

/** What must be the same in any language. */
function bones(page: string) {
  const blocks = [...page.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, kind, text = '']) => [
    kind,
    // Comments are translated.
    kind === 'text' ? text : text.replaceAll(/ *(?:#|--) .*$/gm, ''),
  ]);
  const prose = page.replaceAll(/```[\s\S]*?```/g, '');
  return {
    blocks,
    headings: [...prose.matchAll(/^(#+) /gm)].map(([, level]) => level),
    bullets: [...prose.matchAll(/^- /gm)].length,
    firstCells: [...prose.matchAll(/^\| (`[^`]*`|\d+) +\|/gm)].map(([, cell]) => cell),
    code: [...prose.matchAll(/`[^`]+`/g)].map(([code]) => code).toSorted(),
    links: [...prose.matchAll(/\]\(([^)]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !link.startsWith('README'))
      .toSorted(),
    figures: [...prose.replaceAll(/`[^`]+`|\([^)]*\.md[^)]*\)/g, '').matchAll(/\d[\d,.]*\d|\d/g)]
      .map(([figure]) => figure)
      .toSorted(),
  };
}

describe('README.zh-CN.md', () => {
  test('says what README.md says', () => {
    const english = bones(fileText('README.md'));
    expect(english.firstCells.length).toBeGreaterThan(20);
    expect(english.blocks.length).toBeGreaterThan(3);
    expect(bones(fileText('README.zh-CN.md'))).toEqual(english);
  });

  test('notices a command, a promise or a figure that is missing', () => {
    const page = fileText('README.zh-CN.md');
    for (const gone of [
      'npm run demo -- --time-lapse',
      '\n- 已存档',
      '每秒 5 个',
      '## 使用',
      '`outlast init`',
    ]) {
      expect(page).toContain(gone);
      expect(bones(page.replace(gone, ''))).not.toEqual(bones(page));
    }
  });
});
