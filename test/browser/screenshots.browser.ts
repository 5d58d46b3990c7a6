// The pictures of README and docs/see.md, of the time-lapse at its end: `npm run screenshots`.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions } from 'playwright-core';
import { test } from 'vitest';
import { openBrowser, openPage } from './browser.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'docs/images');

const wide: BrowserContextOptions = { viewport: { width: 1200, height: 880 } };
const phone: BrowserContextOptions = {
  viewport: { width: 360, height: 1330 },
  deviceScaleFactor: 2,
  colorScheme: 'dark',
  locale: 'zh-CN',
};

const pictures: readonly [name: string, path: string, options: BrowserContextOptions][] = [
  ['overview', '/', wide],
  ['overview-phone-zh', '/', phone],
  ['day', '/days/orders/2026-02-06', wide],
  ['figures', '/figures', wide],
];

test.runIf(process.env['SCREENSHOTS'] !== undefined)(
  'takes the pictures',
  { timeout: 400_000 },
  async () => {
    mkdirSync(folder, { recursive: true });
    const home = mkdtempSync(join(tmpdir(), 'outlast-pictures-'));
    const command = [join(root, 'dist/src/main.js'), 'demo', '--time-lapse', '--seconds', '90'];
    const demo = spawn(process.execPath, command, {
      cwd: home,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    demo.stdout.on('data', (piece: Buffer) => (said += piece.toString()));
    const heard = async (words: RegExp): Promise<string> => {
      for (;;) {
        const [, found] = words.exec(said) ?? [];
        if (found !== undefined) return found;
        if (demo.exitCode !== null) throw new Error(`the demo ended: ${said}`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    };
    const browser = await openBrowser();
    try {
      const url = await heard(/(http:\/\/127\.0\.0\.1:\d+)\/ to watch/);
      await heard(/(Ctrl-C)/);
      for (const [name, path, options] of pictures) {
        const { page } = await openPage(browser, url, options);
        await page.goto(path);
        await page.waitForTimeout(500);
        await page.screenshot({ path: join(folder, `${name}.png`) });
      }
    } finally {
      await browser.close();
      demo.kill();
      await new Promise((resolve) => demo.once('exit', resolve));
      rmSync(home, { recursive: true, force: true });
    }
  },
);
