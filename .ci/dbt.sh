#!/usr/bin/env bash
# Runs dbt/README.md word by word: its commands, against an archive whose roles were made as docs/operations.md says.
# With the newest dbt that can be installed. Needs Python, PyPI and psql; says what is missing where they are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

check=dbt
. .ci/python.sh
command -v psql >/dev/null || skip 'there is no psql here'
serve node .ci/archive-serve.mjs "$scratch"
# From 1.12 on a part of dbt-core is fetched from GitHub, which not every machine may.
pip install dbt-postgres >/dev/null 2>&1 || pip install dbt-postgres 'dbt-core<1.12' >/dev/null 2>&1 ||
  skip 'dbt-postgres cannot be had from PyPI'
pip freeze | grep -E '^dbt-(core|postgres)='

awaited
DATABASE_URL=$(cat "$scratch/served")
PGPORT=$(node -p 'new URL(process.argv[1]).port' "$DATABASE_URL")
export DATABASE_URL PGPORT HOME=$scratch DBT_SEND_ANONYMOUS_USAGE_STATS=false
cp -R dbt "$scratch/dbt"
cd "$scratch/dbt"
# The page's lines as they stand; what is installed is so already.
sed -n '/^```sh$/,/^```$/p' README.md | grep -v '^```\|^pip install' >"$scratch/lines"
[ "$(grep -c . "$scratch/lines")" -ge 8 ] || fail 'dbt/README.md has no commands to run'
bash -euxo pipefail "$scratch/lines" >"$scratch/said" 2>&1 || {
  cat "$scratch/said"
  fail 'the last command above'
}
grep 'Done\. PASS' "$scratch/said"
say 'every line of dbt/README.md did what it should'
