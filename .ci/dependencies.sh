#!/usr/bin/env bash
# The licences of what is installed with Outlast, the advisories that the npm registry knows about it, and whether other
# packages can import it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
node -e '
  const { packages } = require("./package-lock.json");
  const allowed = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"];
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== "" && !dev);
  const others = installed.filter(([, { license }]) => !allowed.includes(license));
  for (const [path, { license }] of others) console.error(`${path}: ${license ?? "no licence"}`);
  if (others.length > 0) process.exit(1);
  console.log(`${installed.length} packages, all under ${allowed.join(", ")}`);
'
report=$(npm audit --omit=dev --json 2>/dev/null) || true
node -e '
  const { vulnerabilities, message } = JSON.parse(process.argv[1] || "{}");
  if (vulnerabilities === undefined) {
    console.log(`The registry tells no advisories, so that none were looked at: ${message ?? "no answer"}`);
    process.exit(0);
  }
  const known = Object.values(vulnerabilities);
  for (const { name, severity } of known) console.error(`${name}: ${severity}; see npm audit`);
  if (known.length > 0) process.exit(1);
  console.log("No advisory is known");
' "$report"

# Whether others can import the package: what they install is the tarball. It is for ESM alone; Node 20.19 and newer
# load it by require() all the same.
[ -f dist/src/index.d.ts ] || npm run --silent build
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tarball=$scratch/$(npm pack --silent --ignore-scripts --pack-destination "$scratch" | tail -n 1)
# lint <package> <arguments…>
lint() {
  local package=$1
  shift
  if ! npm_config_loglevel=silent npx --yes "$package" --version >/dev/null 2>&1; then
    echo "$package cannot be had from the registry: not asked"
    return 0
  fi
  npx --yes "$package" "$@" >"$scratch/said" 2>&1 || {
    cat "$scratch/said"
    return 1
  }
  echo "$package finds nothing"
}
lint publint@0.3.25 run --strict "$tarball"
lint @arethetypeswrong/cli@0.18.5 "$tarball" --ignore-rules cjs-resolves-to-esm
