#!/usr/bin/env bash
# The whole test suite, or what is named, on the oldest PostgreSQL that is supported, as Debian packages it; `npm test`
# takes the newest.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=/usr/lib/postgresql/15/bin
if [ ! -x $bin/initdb ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  { apt-get update -q && apt-get install -q -y postgresql-15; } >/dev/null 2>&1 || true
fi
if [ ! -x $bin/initdb ]; then
  echo "PostgreSQL 15 is not installed ($bin): the tests were not run on it."
  exit 0
fi

# In memory where there is room, as the tests' own server.
scratch=$(mktemp -d -p "$([ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 8000000 ] 2>/dev/null && echo /dev/shm || echo /tmp)")
# Root may not run a server.
as_server() {
  if [ "$(id -u)" = 0 ]; then su postgres -s /bin/sh -c "$1"; else sh -c "$1"; fi
}
stop() {
  as_server "$bin/pg_ctl -D $scratch/data -m immediate stop" >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap stop EXIT

echo 'tests-only' >"$scratch/password"
if [ "$(id -u)" = 0 ]; then chown -R postgres "$scratch"; fi
# Below the ports that systems hand out by themselves.
port=$((20000 + RANDOM % 12000))
settings="-p $port -k $scratch -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=200"
as_server "$bin/initdb -D $scratch/data -U postgres -A scram-sha-256 --pwfile=$scratch/password -E UTF8 --locale=C" >/dev/null
as_server "$bin/pg_ctl -D $scratch/data -o '$settings' -l $scratch/log -w start" >/dev/null
TEST_DATABASE_URL="postgres://postgres:tests-only@127.0.0.1:$port/postgres" npx vitest run "$@"
