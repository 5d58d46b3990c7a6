#!/usr/bin/env bash
# Runs dbt/README.md word by word: its commands, against an archive whose roles were made as docs/operations.md says.
# With the newest dbt that can be installed. Needs Python, PyPI and psql; says what is missing where they are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'dbt: %s\n' "$*"; }
skip() {
  say "not done: $*"
  exit 0
}

command -v psql >/dev/null || skip 'there is no psql here'
command -v python3 >/dev/null || skip 'there is no python3 here'
python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
  skip 'python3 is older than 3.10, or has no venv'

scratch=$(mktemp -d)
# As root the embedded Postgres runs as another user, who must be able to pass through.
chmod 755 "$scratch"
server=
finish() {
  status=$?
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$scratch"
  exit "$status"
}
trap finish EXIT

python3 -m venv "$scratch/venv" >/dev/null 2>&1 || skip 'python3 cannot make an environment of its own (venv, ensurepip)'
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
