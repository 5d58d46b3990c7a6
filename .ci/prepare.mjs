// Builds dist/ after `npm ci` and before `npm run outlast`, where it is imported and no script of its own: npm with
// ignore-scripts=true leaves those out. Where --omit=dev left out the compiler, or --omit=optional its program for this
// platform (node_modules/@typescript), what was built before stays; if nothing was, npm lends one, which cannot look at
// types, as those of other packages were left out, too.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

const run = (argv, env) =>
  spawnSync(process.execPath, argv, { stdio: 'inherit', env: { ...process.env, ...env } });

let built = { status: 0 };
const npm = process.env.npm_execpath;
if (existsSync('node_modules/@typescript')) {
  // As `npm run build`, without another npm, which took half of the time of `npm run outlast`.
  built = run(['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json']);
} else if (!existsSync('dist/src/main.js')) {
  built = { status: 1 };
  if (npm !== undefined) {
    const { typescript } = JSON.parse(readFileSync('package.json', 'utf8')).devDependencies;
    // From elsewhere: npm would run the one without its program.
    const elsewhere = `--prefix=${tmpdir()}`;
    const lent = `--package=typescript@${typescript}`;
    const compiler = ['exec', '--yes', elsewhere, lent, '--', 'tsc'];
    const borrowed = [
      npm,
      ...compiler,
      '-p',
      'tsconfig.build.json',
      '--noCheck',
      '--types',
      'null',
    ];
    built = run(borrowed, { npm_config_omit: '' });
  }
  if (built.status !== 0) {
    process.stderr.write(
      'outlast: dist/ is not built, and there is no compiler here: `npm ci` brings it and builds.\n',
    );
  }
}
if (built.status !== 0) process.exit(built.status ?? 1);
