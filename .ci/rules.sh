#!/usr/bin/env bash
# Checks the alert rules for Prometheus in deploy/prometheus with promtool: they can be read, and each fires and is
# quiet when outlast.rules.test.yml says so. Says what is missing where there is no promtool. Takes about 15 seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../deploy/prometheus"

if ! command -v promtool >/dev/null; then
  echo 'rules: not checked: there is no promtool here (Debian and Ubuntu: apt-get install prometheus)'
  exit 0
fi
promtool --version 2>&1 | head -n 1
promtool check rules outlast.rules.yml
promtool test rules outlast.rules.test.yml
