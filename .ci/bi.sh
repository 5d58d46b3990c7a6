#!/usr/bin/env bash
# Runs what docs/bi.md says of Apache Superset: its commands, against an archive whose roles were made as
# docs/operations.md says, and what it saw there, over Superset's REST interface. With the newest Superset that can be
# installed. Needs Python and PyPI; says what is missing where they are not. Takes about two minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

check=bi
. .ci/python.sh
command -v openssl >/dev/null || skip 'there is no openssl here'
serve node .ci/archive-serve.mjs "$scratch"

sed -n '/^### Apache Superset/,/^### JDBC/{/^```sh$/,/^```$/p}' docs/bi.md | grep -v '^```' >"$scratch/lines"
install=$(grep '^pip install' "$scratch/lines") || fail 'docs/bi.md does not say how Superset is installed'
sed -i.page '/^pip install/d' "$scratch/lines"
# uv does in seconds what takes pip minutes. Where pandas has no wheel for this Python, nobody waits for its compiler.
pip install uv >/dev/null 2>&1 || skip 'uv cannot be had from PyPI'
export VIRTUAL_ENV=$scratch/venv
bash -c "uv $install --only-binary pandas" >"$scratch/uv.log" 2>&1 || {
  tail -n 5 "$scratch/uv.log"
  grep -q 'No solution' "$scratch/uv.log" && ! grep -q pandas "$scratch/uv.log" &&
    fail 'the packages that docs/bi.md names do not go together'
  skip 'Superset cannot be installed from PyPI under this Python'
}
uv pip freeze 2>/dev/null | grep '^apache-superset='

awaited
HOME=$scratch node .ci/bi-ask.mjs "$(cat "$scratch/served")" "$scratch/lines" || fail 'what Superset did stands above'
say 'Superset did what docs/bi.md says'
