#!/usr/bin/env bash
# Asks the HTTP interface everything its own document allows and much that it does not, with schemathesis, against
# `outlast start` over a simulated platform: no 5xx, no answer that its schema forbids, no status or content type that
# is not in the document. Needs Python 3.10 or newer and PyPI; says what is missing where they are not. Takes about two
# minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=4.32.5
seconds=${FUZZ_SECONDS:-70}

check=fuzz
. .ci/python.sh
pip install "schemathesis==$version" >/dev/null 2>&1 || skip "schemathesis $version cannot be had from PyPI"

key=$(node -p 'crypto.randomBytes(32).toString("hex")')
serve node .ci/fuzz-serve.mjs "$scratch" "$key"
awaited
read -r open keyed <"$scratch/served"

# A cursor cannot be made up, and an id need not exist: what the document allows may be answered 400 or 404. The
# platform's own interface takes an empty parameter for none, and looks at none it does not know.
cat >"$scratch/schemathesis.toml" <<'TOML'
[checks]
positive_data_acceptance.enabled = false
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 413, 415, 431]

[[operations]]
include-path-regex = "^/(v3|v1beta1|token)/"
checks.negative_data_rejection.enabled = false
TOML

# /archive/v1/events never ends by itself.
# ask <document> <address> <seconds> <options…>
ask() {
  local document=$1 url=$2 time=$3
  shift 3
  say "asking $url for $time s"
  schemathesis --config-file "$scratch/schemathesis.toml" run "$document" \
    --url "$url" --seed 1 --workers 1 --max-time "$time" --phases examples,coverage,fuzzing --exclude-path /archive/v1/events \
    --max-response-time 10 --suppress-health-check all --continue-on-failure --warnings off --no-color "$@" \
    >"$scratch/report" 2>&1 || {
    cut -c1-1000 "$scratch/report"
    fail 'what schemathesis found stands above'
  }
  grep -E 'generated|Tested' "$scratch/report"
}
cd "$scratch"
ask open.json "$open" "$seconds"
# Where a key is needed: no route may answer without one, or with a wrong one.
ask keyed.json "$keyed" $((seconds / 3)) --include-path-regex '^/archive/' -H "Authorization: Bearer $key"

kill -0 "$server" 2>/dev/null || { server=; fail 'the server is gone'; }
say 'nothing was found'
