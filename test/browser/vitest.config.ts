import { defineConfig } from 'vitest/config';

// `npm run check:browser`: needs a Chromium, which `npm test` does not.
export default defineConfig({
  test: {
    root: '.',
    include: ['test/browser/*.browser.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
