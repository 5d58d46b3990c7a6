// Builds dist/ after `npm ci` and before `npm run outlast`, where it is imported and no script of its own: npm with
// ignore-scripts=true leaves those out. Without the compiler (--omit=dev) what was built before stays.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

if (existsSync('node_modules/typescript')) {
  // As `npm run build`, without another npm, which took half of the time of `npm run outlast`.
  const compiler = ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json'];
  const built = spawnSync(process.execPath, compiler, { stdio: 'inherit' });
  if (built.status !== 0) process.exit(built.status ?? 1);
} else if (!existsSync('dist/src/main.js')) {
  process.stderr.write(
    'outlast: dist/ is not built, and --omit=dev leaves out the compiler. Run `npm ci`, which builds it, and then `npm prune --omit=dev`.\n',
  );
  process.exit(1);
}
