#!/usr/bin/env bash
# Opens every page in a real browser: nothing serious that axe finds, nothing wider than a phone, no script that is not
# ours. Says what is missing where there is no Chromium. Takes about a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for name in "${CHROMIUM:-chromium}" chromium chromium-browser google-chrome google-chrome-stable; do
  if browser=$(command -v "$name"); then break; fi
done
if [ -z "${browser:-}" ]; then
  echo 'browser: not checked: there is no Chromium here (Debian: apt-get install chromium; or name one in CHROMIUM)'
  exit 0
fi
"$browser" --version
CHROMIUM=$browser npx vitest run --config test/browser/vitest.config.ts "$@"
