// A real browser for the pages: what it was told while a page was open, and whether that page is sound.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

export function openBrowser(): Promise<Browser> {
  const { CHROMIUM: executablePath } = process.env;
  if (executablePath === undefined) throw new Error('run this by npm run check:browser');
  // A container gives no sandbox of the kernel's to root.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

export type Opened = {
  page: Page;
  /**
   * What went wrong in it: errors of scripts, of loading, of the policy; dialogs, which only a foreign script opens.
   */
  troubles: string[];
};

/** Closed when the test is over. */
export async function openPage(
  browser: Browser,
  baseURL: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({ baseURL, locale: 'en-GB', ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('console', (message) => {
    // What could not be loaded is told below, with its address.
    const isTrouble = ['error', 'warning'].includes(message.type());
    if (isTrouble && !message.text().startsWith('Failed to load')) troubles.push(message.text());
  });
  page.on('response', (answer) => {
    const isPage = answer.request().isNavigationRequest();
    if (answer.status() >= 400 && !isPage) troubles.push(`${answer.status()} for ${answer.url()}`);
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('dialog', (dialog) => {
    troubles.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(baseURL)) troubles.push(`asks elsewhere: ${request.url()}`);
  });
  return { page, troubles };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violation = {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
};

/** Serious and critical findings of axe, a line each. */
export async function axeFindings(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(axe);
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return (found as Violation[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`,
      ),
    );
}

/** By how much the page is wider than its window, and what may be the cause; empty: it is not. */
export const overflow = (page: Page): Promise<string[]> =>
  page.evaluate(`document.documentElement.scrollWidth <= innerWidth ? [] : [
    document.documentElement.scrollWidth - innerWidth + ' px too wide',
    ...[...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      .map((one) => one.outerHTML.slice(0, 150)).slice(0, 20)]`) as Promise<string[]>;

/** What every page must be, however it was reached. */
export async function expectSound({ page, troubles }: Opened, where: string): Promise<void> {
  expect([where, await axeFindings(page)]).toEqual([where, []]);
  expect([where, await overflow(page)]).toEqual([where, []]);
  expect([where, troubles]).toEqual([where, []]);
  expect([where, await page.locator('h1').count()]).toEqual([where, 1]);
}
