// Builds dist/ after `npm ci` and before `npm run outlast`. Without the compiler (--omit=dev) what was built before stays.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (existsSync('node_modules/typescript')) {
  const built = spawnSync('npm run --silent build', { shell: true, stdio: 'inherit' });
  process.exitCode = built.status ?? 1;
} else if (!existsSync('dist/src/main.js')) {
  process.stderr.write(
    'outlast: dist/ is not built, and --omit=dev leaves out the compiler. Run `npm ci`, which builds it, and then `npm prune --omit=dev`.\n',
  );
  process.exitCode = 1;
}
