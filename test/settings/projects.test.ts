// The projects file: several projects, no secrets, and mistakes that name where they stand.
import { describe, expect, it } from 'vitest';
import { isOutlastError } from '../../src/errors.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { blocksIn, fileText } from '../support/repository.ts';

const shop = {
  name: 'shop',
  baseUrl: 'https://platform.example',
  apiKeyEnv: 'SHOP_KEY',
  apiSecretEnv: 'SHOP_SECRET',
};
const game = { ...shop, name: 'game', apiKeyEnv: 'GAME_KEY', apiSecretEnv: 'GAME_SECRET' };
const keys = {
  SHOP_KEY: 'shop-key',
  SHOP_SECRET: 'shop-sesame',
  GAME_KEY: 'game-key',
  GAME_SECRET: 'game-sesame',
};

const projectsOf = (list: unknown, env: Record<string, string> = {}) =>
  readSettings(
    {
      needs: 'platform',
      readFile: (path) => {
        if (path === '/etc/outlast/projects.json') {
          return typeof list === 'string' ? list : JSON.stringify(list);
        }
        if (path === '/etc/outlast/secrets/shop') return 'sesame-of-a-file\n';
        throw Object.assign(new Error('missing'), { code: 'ENOENT' });
      },
    },
    { OUTLAST_PROJECTS_FILE: '/etc/outlast/projects.json', ...keys, ...env },
  ).projects;

function mistakes(list: unknown, env: Record<string, string> = {}): string {
  try {
    projectsOf(list, env);
  } catch (error) {
    if (isOutlastError(error, 'settings_invalid')) return error.message;
    throw error;
  }
  throw new Error('this projects file was accepted');
}

describe('a projects file', () => {
  it('is a list, or an object with a list, and takes secrets from the variables it names', () => {
    expect(projectsOf({ projects: [shop, game] })).toEqual(projectsOf([shop, game]));
    expect(projectsOf([shop, game])).toMatchObject([
      { id: 'shop', apiKey: 'shop-key', apiSecret: 'shop-sesame' },
      { id: 'game', apiKey: 'game-key', apiSecret: 'game-sesame' },
    ]);
  });

  it('finds the files it names from its own folder', () => {
    const { apiSecretEnv: _none, ...rest } = shop;
    expect(projectsOf([{ ...rest, apiSecretFile: 'secrets/shop' }])).toMatchObject([
      { apiSecret: 'sesame-of-a-file' },
    ]);
  });

  it('leaves out orders, classes, or both, where it is told to', () => {
    expect(projectsOf([{ ...shop, orders: 'none', classes: 'none' }])).toMatchObject([
      { orders: 'none', classes: 'none' },
    ]);
    expect(projectsOf([shop])).toMatchObject([{ orders: 'all', classes: 'all' }]);
  });

  it('gives each project a rate of its own, or the common one', () => {
    expect(
      projectsOf([{ ...shop, maxRps: 0.5 }, game], { OUTLAST_MAX_RPS: '9' }).map(
        ({ maxRps }) => maxRps,
      ),
    ).toEqual([0.5, 9]);
  });

  it.each([
    ['the first of an address by default', [undefined, undefined], ['all', 'none']],
    ['the second when the first is told not to', ['none', undefined], ['none', 'all']],
    ['the one that is told to', [undefined, 'all'], ['none', 'all']],
    ['the one that has owners', [undefined, ['a', 'b', 'a']], ['none', ['a', 'b']]],
    ['nobody when all are told not to', ['none', 'none'], ['none', 'none']],
  ])('lets one project carry the class list: %s', (_, told, taken) => {
    const list = [shop, game].map((project, i) => ({ ...project, classes: told[i] }));
    expect(projectsOf(list).map(({ classes }) => classes)).toEqual(taken);
  });

  it('lets each address have its own carrier of the class list', () => {
    expect(
      projectsOf([shop, { ...game, baseUrl: 'https://other.example' }]).map(
        ({ classes }) => classes,
      ),
    ).toEqual(['all', 'all']);
  });
});

describe('docs/settings.md', () => {
  const page = fileText('docs/settings.md');
  const [example = ''] = blocksIn(page, 'json');

  it('shows a projects file that is accepted', () => {
    const files: Record<string, string> = {
      '/etc/projects.json': example,
      '/etc/secrets/game_key': 'game-key',
      '/etc/secrets/game_secret': 'game-sesame',
    };
    const { projects } = readSettings(
      { needs: 'platform', readFile: (path) => files[path] ?? '' },
      { OUTLAST_PROJECTS_FILE: '/etc/projects.json', SHOP_API_KEY: 'k', SHOP_API_SECRET: 's' },
    );
    expect(projects).toMatchObject([
      { id: 'shop', classes: 'none', maxRps: 5 },
      { id: 'game', classes: ['iaa1first', 'iaa1second'], apiSecret: 'game-sesame', maxRps: 2 },
    ]);
  });

  it('explains every field that the file can hold', () => {
    const told = mistakes([{ ...shop, url: 'x' }]);
    const fields = /it can hold (.*)\./.exec(told)?.[1]?.split(', ') ?? [];
    expect(fields.length).toBeGreaterThan(8);
    for (const field of fields)
      expect(page).toMatch(new RegExp(`^\\|.*\`${field}\`.*\\|.*\\|$`, 'm'));
  });
});

describe('a mistake in a projects file', () => {
  it.each([
    ['no JSON', '[{', 'is not valid JSON'],
    ['no projects', [], 'has no projects'],
    ['no list', { projects: 'shop' }, 'has no projects'],
    ['a project that is none', ['shop'], 'projects[0] must be an object'],
    [
      'a field of another name',
      [{ ...shop, url: 'x' }],
      'projects[0] holds "url", which it cannot',
    ],
    ['a bad name', [{ ...shop, name: 'Shop' }], 'projects[0].name is "Shop": give'],
    ['no name', [{ ...shop, name: undefined }], 'projects[0].name must be given as text'],
    ['a bad address', [{ ...shop, baseUrl: 'x' }], 'projects[0].baseUrl is no address'],
    ['bad classes', [{ ...shop, classes: 'some' }], 'classes must be "all", "none" or a list'],
    ['no owners', [{ ...shop, classes: [] }], 'classes must be "all", "none" or a list'],
    ['a bad rate', [{ ...shop, maxRps: '5' }], 'maxRps must be a number from 0.01'],
    ['owners of orders', [{ ...shop, orders: ['a'] }], 'orders must be "all" or "none"'],
    ['one name twice', [shop, { ...game, name: 'shop' }], 'two projects are called "shop"'],
    ['one key twice', [shop, { ...shop, name: 'again' }], 'the same address and key'],
    [
      'the class list twice',
      [
        { ...shop, classes: 'all' },
        { ...game, classes: 'all' },
      ],
      'give one of them "classes": "none"',
    ],
    ['two places for a key', [{ ...shop, apiKeyFile: 'x' }], 'must have exactly one of apiKey'],
    ['a variable not set', [{ ...shop, apiKeyEnv: 'NOPE' }], 'apiKeyEnv names a variable that is'],
    [
      'a file not there',
      [{ ...shop, apiSecretEnv: undefined, apiSecretFile: 'nope' }],
      'projects[0].apiSecretFile names a file that cannot be read (ENOENT)',
    ],
  ])('%s', (_, list, sentence) => {
    const told = mistakes(list);
    expect(told).toContain(sentence);
    expect(told.split('\n')).toHaveLength(1);
  });

  it('names every project that has one', () => {
    const told = mistakes([{ ...shop, name: '' }, game, { ...game, name: 'x'.repeat(41) }]);
    expect(told).toContain('projects[0].name');
    expect(told).toContain('projects[2].name');
    expect(told).not.toContain('projects[1]');
  });

  it('is a secret in the file itself, and a secret where the name of its variable belongs (P10)', () => {
    const secret = 'sesame-that-must-not-show';
    const inline = mistakes([{ ...shop, apiSecretEnv: undefined, apiSecret: secret }]);
    expect(inline).toContain('a secret must not stand in this file');
    expect(inline).not.toContain(secret);
    expect(mistakes([{ ...shop, apiSecretEnv: secret }])).not.toContain(secret);
    expect(mistakes([{ ...shop, apiSecretEnv: secret.replaceAll('-', '_') }])).toContain(
      'names a variable that is not set',
    );
  });

  it('is a setting of a single project beside it', () => {
    expect(mistakes([shop], { OUTLAST_PROJECT: 'shop' })).toContain(
      'OUTLAST_PROJECT and OUTLAST_PROJECTS_FILE are both set',
    );
  });

  it('is a misspelt variable, but not one that the file names', () => {
    const list = [{ ...shop, apiKeyEnv: 'OUTLAST_KEY_OF_SHOP' }];
    const env = { OUTLAST_KEY_OF_SHOP: 'shop-key' };
    expect(projectsOf(list, env)[0]?.apiKey).toBe('shop-key');
    expect(mistakes(list, { ...env, OUTLAST_PROT: '1' })).toBe(
      'OUTLAST_PROT is no setting: did you mean OUTLAST_PORT?',
    );
  });
});
