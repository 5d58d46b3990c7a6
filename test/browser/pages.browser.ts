// Every page in a real browser: busy, empty, in both languages, on a phone, in the dark, by keyboard, while the
// database is down; and with names in it that mean harm.
import type { Browser } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openArchive } from '../../src/index.ts';
import { pages } from '../../src/http/web/web-routes.tsx';
import { fresh, setUp } from '../support/fresh.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { serveArchive } from '../support/served.ts';
import { axeFindings, expectSound, openBrowser, openPage, overflow } from './browser.ts';
import { bearer, createWorld, hostile, type World } from './world.ts';

let browser: Browser;
let world: World;
/** An address of every page, and of each record that means harm. */
let addresses: string[];

setUp(async (keep) => {
  browser = await keep(openBrowser());
  world = await createWorld(keep);
  const ids = hostile.map((name, i) => `op-${i}-${name}`.slice(0, 500));
  const inPath: Record<string, string> = {
    resource: 'orders',
    day: '2026-04-05',
    id: 'op-changed',
  };
  addresses = [
    // Some of their parts stand for what only that page has.
    ...pages
      .map(({ path }) => path.replaceAll(/:(\w+)/g, (_, name: string) => inPath[name] ?? 'none'))
      .map((path) => path.replace('/nft_classes/op-changed', '/nft_classes/class-0')),
    '/days/orders/2026-01-12',
    '/days/nft_classes/2026-04-05',
    ...ids.map((id) => `/orders/${encodeURIComponent(id)}`),
    '/docs',
    '/sign-in',
  ];
});

const phone = { width: 360, height: 780 };

describe.each([
  ['English, wide, light', { viewport: { width: 1280, height: 900 } }],
  ['Chinese, on a phone, dark', { viewport: phone, locale: 'zh-CN', colorScheme: 'dark' as const }],
])('%s', (_, options) => {
  test('every page is sound', async () => {
    expect(addresses).toContain('/orders/op-changed');
    const opened = await openPage(browser, world.served.url, options);
    for (const address of addresses) {
      const answer = await opened.page.goto(address);
      const isExpected =
        address.endsWith('/none') ||
        address.startsWith('/transactions/') ||
        address.startsWith('/tokens/');
      if (!isExpected) expect([address, answer?.status()]).toEqual([address, 200]);
      if (isExpected) opened.troubles.length = 0;
      await expectSound(opened, address);
      if (!address.startsWith('/docs') && address !== '/sign-in') {
        const lang = await opened.page.locator('html').getAttribute('lang');
        expect(lang).toBe('locale' in options ? 'zh-CN' : 'en');
      }
    }
  });
});

test('an opened operation of /docs is no wider than a phone', async () => {
  const opened = await openPage(browser, world.served.url, { viewport: phone });
  await opened.page.goto('/docs');
  await opened.page.evaluate(
    `document.querySelectorAll('details').forEach((one) => (one.open = true))`,
  );
  expect(await overflow(opened.page)).toEqual([]);
});

test('an archive without a day says so on every page', async () => {
  const database = await fresh(createTestDatabase());
  const archive = await fresh(openArchive({ connectionString: database.connectionString }));
  const served = await fresh(serveArchive(archive));
  const opened = await openPage(browser, served.url);
  await opened.page.goto('/');
  expect(await opened.page.locator('h1').textContent()).toBe('Nothing is archived yet.');
  for (const { path } of pages.filter((one) => !one.path.includes(':'))) {
    expect([path, (await opened.page.goto(path))?.status()]).toEqual([path, 200]);
    await expectSound(opened, path);
  }
});

test('by keyboard: past the navigation, through the calendar, into a day', async () => {
  const opened = await openPage(browser, world.served.url);
  const { page } = opened;
  await page.goto('/');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.locator('a.cell[tabindex="0"]').count()).toBe(1);
  await page.locator('a.cell[href="./days/orders/2026-04-02"]').focus();
  const focused = (): Promise<unknown> =>
    page.evaluate(`document.activeElement.getAttribute('href')`);
  await page.keyboard.press('ArrowRight');
  expect(await focused()).toBe('./days/orders/2026-04-03');
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toBe('./days/nft_classes/2026-04-03');
  await page.keyboard.press('ArrowLeft');
  expect(await focused()).toBe('./days/nft_classes/2026-04-02');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  expect(await focused()).toBe('./days/nft_classes/2026-03-31');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  // The place is kept for whoever comes back.
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('./days/nft_classes/2026-04-02');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/days/nft_classes/2026-04-02');
});

test('what changes is shown without asking again, and nobody loses their place', async () => {
  const opened = await openPage(browser, world.served.url);
  const { page } = opened;
  await page.goto('/');
  const cell = page.locator('a.cell[href="./days/orders/2026-04-04"]');
  await cell.focus();
  expect(await cell.getAttribute('class')).not.toContain('lost');
  await world.bench.db.query(
    `update sync.slices set state = 'lost' where day = '2026-04-04' and resource = 'orders'`,
  );
  await page.locator('a.cell.lost[href="./days/orders/2026-04-04"]').waitFor({ timeout: 15_000 });
  expect(await page.evaluate(`document.activeElement.getAttribute('href')`)).toBe(
    './days/orders/2026-04-04',
  );
  await world.bench.db.query(
    `update sync.slices set state = 'sealed' where day = '2026-04-04' and resource = 'orders'`,
  );
  expect(opened.troubles).toEqual([]);
});

test('a filter that was unfolded stays so when the page is shown again', async () => {
  const opened = await openPage(browser, world.served.url, { viewport: phone });
  const { page } = opened;
  await page.goto('/coverage');
  await page.locator('label[for=fold]').click();
  await page.locator('h1').click();
  const markOld = `document.querySelector('h1').dataset.old = 'yes'`;
  await page.evaluate(markOld);
  await world.bench.db.query(
    `update sync.slices set last_error = 'a' where day = '2026-04-04' and resource = 'orders'`,
  );
  await page.locator('h1:not([data-old])').waitFor({ timeout: 15_000 });
  expect(await page.locator('form[aria-label=Filter] button').isVisible()).toBe(true);
});

test('while the database is away an open page says so, and shows what changed when it is back', async () => {
  let isAway = false;
  const away = (): Promise<never> =>
    Promise.reject(Object.assign(new Error('gone'), { code: 'database_unreachable' }));
  const wavering = serveArchive({
    ...world.archive,
    progress: (query) => (isAway ? away() : world.archive.progress(query)),
    coverage: (query) => (isAway ? away() : world.archive.coverage(query)),
  });
  const served = await fresh(wavering);
  const opened = await openPage(browser, served.url);
  const { page } = opened;
  await page.goto('/');
  await page.waitForTimeout(500);
  isAway = true;
  await page
    .locator('#connection')
    .getByText('no answer: this may be out of date')
    .waitFor({ timeout: 10_000 });
  isAway = false;
  await page.locator('#connection').waitFor({ state: 'hidden', timeout: 10_000 });
  isAway = true;
  await page.goto('/');
  await page.getByText('The archive’s database does not answer.').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  isAway = false;
  await page.locator('a.cell').first().waitFor({ timeout: 10_000 });
});

test('a month of the calendar can be told without colour', async () => {
  const opened = await openPage(browser, world.served.url);
  await opened.page.goto('/');
  const looks = (await opened.page.evaluate(
    `[...document.querySelectorAll('.legend .cell')].map((one) => getComputedStyle(one).backgroundImage + getComputedStyle(one).borderStyle)`,
  )) as string[];
  // Solid is one of them, and no two are alike but for their colours.
  expect(new Set(looks.map((look) => look.replaceAll(/rgba?\([^)]*\)/g, 'c'))).size).toBe(
    looks.length,
  );
});

test('beyond loopback a person signs in, reads, takes a list along, and signs out', async () => {
  const opened = await openPage(browser, world.remote.url);
  const { page } = opened;
  await page.goto('/days/orders/2026-04-05');
  await page.locator('#key').fill('wrong');
  await page.locator('main button').click();
  await page.locator('.notice').waitFor();
  opened.troubles.length = 0;
  await page.locator('#key').fill(bearer);
  await page.locator('main button').click();
  await page.waitForURL('**/days/orders/2026-04-05');
  const csv = await page.evaluate(
    `fetch('/archive/v1/orders?format=csv').then((one) => one.status)`,
  );
  expect(csv).toBe(200);
  await expectSound(opened, 'signed in');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in');
  await page.goto('/');
  expect(page.url()).toContain('/sign-in');
});

test('on a phone the filter of a list is folded, and opens without scripts', async () => {
  for (const [viewport, isOpen] of [
    [phone, false],
    [{ width: 1280, height: 900 }, true],
  ] as const) {
    const options = { viewport, javaScriptEnabled: false };
    const opened = await openPage(browser, world.served.url, options);
    const { page } = opened;
    await page.goto('/orders');
    const field = page.locator('#by-account');
    expect(await field.isVisible()).toBe(isOpen);
    if (!isOpen) await page.locator('label[for=fold]').click();
    await field.fill('nobody');
    await page.locator('form[aria-label=Filter] button').click();
    await page.waitForURL(/account=nobody/);
    expect(page.url()).not.toContain('fold');
    expect(await field.isVisible()).toBe(true);
  }
});
