#!/usr/bin/env bash
# The licences of what is installed with Outlast, and the advisories that the npm registry knows about it.
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
