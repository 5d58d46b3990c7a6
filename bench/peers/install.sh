#!/usr/bin/env bash
# Installs what `npm run bench -- --peers` compares with into bench/peers/.installed, from PyPI and npm. Needs Python 3.10
# or newer and npm.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p .installed
cd .installed

python3 -m venv dlt
dlt/bin/pip install --quiet --disable-pip-version-check 'dlt[postgres]==1.31.0'
python3 -m venv singer
singer/bin/pip install --quiet --disable-pip-version-check singer-sdk==0.54.9 meltanolabs-target-postgres==0.8.1
npm install --silent --no-audit --no-fund --no-save --prefix stripe @supabase/stripe-sync-engine@0.48.5
