#!/usr/bin/env bash
# Runs dbt/README.md word by word: its commands, against an archive whose roles were made as docs/operations.md says.
# With the newest dbt that can be installed. Needs Python, PyPI and psql; says what is missing where they are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

check=dbt
. .ci/python.sh
command -v psql >/dev/null || skip 'there is no psql here'
PATH=$scratch/venv/bin:$PATH
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 PIP_RETRIES=1 PIP_TIMEOUT=15
[ -f dist/src/main.js ] || npm run --silent build
node .ci/dbt-serve.mjs "$scratch" >"$scratch/address" &
server=$!
# From 1.12 on a part of dbt-core is fetched from GitHub, which not every machine may.
pip install dbt-postgres >/dev/null 2>&1 || pip install dbt-postgres 'dbt-core<1.12' >/dev/null 2>&1 ||
  skip 'dbt-postgres cannot be had from PyPI'
pip freeze | grep -E '^dbt-(core|postgres)='

for ((i = 0; i < 240; i++)); do
  [ -s "$scratch/address" ] && break
  kill -0 "$server" 2>/dev/null || { server=; say 'FAILED: there is no archive to build from'; exit 1; }
  sleep 0.25
done
[ -s "$scratch/address" ] || { say 'FAILED: there was no archive to build from in time'; exit 1; }

DATABASE_URL=$(cat "$scratch/address")
PGPORT=$(node -p 'new URL(process.argv[1]).port' "$DATABASE_URL")
export DATABASE_URL PGPORT HOME=$scratch DBT_SEND_ANONYMOUS_USAGE_STATS=false
cp -R dbt "$scratch/dbt"
cd "$scratch/dbt"
# The page's lines as they stand; what is installed is so already.
sed -n '/^```sh$/,/^```$/p' README.md | grep -v '^```\|^pip install' >"$scratch/lines"
[ "$(grep -c . "$scratch/lines")" -ge 8 ] || { say 'FAILED: dbt/README.md has no commands to run'; exit 1; }
bash -euxo pipefail "$scratch/lines" >"$scratch/said" 2>&1 || {
  cat "$scratch/said"
  say 'FAILED: the last command above'
  exit 1
}
grep 'Done\. PASS' "$scratch/said"
say 'every line of dbt/README.md did what it should'
