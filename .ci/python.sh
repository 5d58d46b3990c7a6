# Sourced by the checks that take packages from PyPI, which set `check` to their name: says what is missing, and makes a
# Python environment in $scratch that goes when they end, with the server that they start.
say() { printf '%s: %s\n' "$check" "$*"; }
skip() {
  say "not done: $*"
  exit 0
}
fail() {
  say "FAILED: $*"
  exit 1
}

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

# serve <command…>: starts the archive that the check needs; awaited, once $scratch/served holds what it printed.
serve() {
  [ -f dist/src/main.js ] || npm run --silent build
  "$@" >"$scratch/served" &
  server=$!
}
awaited() {
  local i
  for ((i = 0; i < 480; i++)); do
    [ -s "$scratch/served" ] && return
    kill -0 "$server" 2>/dev/null || { server=; fail 'the archive did not start'; }
    sleep 0.25
  done
  fail 'there was no archive in time'
}

python3 -m venv "$scratch/venv" >/dev/null 2>&1 || skip 'python3 cannot make an environment of its own (venv, ensurepip)'
PATH=$scratch/venv/bin:$PATH
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 PIP_RETRIES=1 PIP_TIMEOUT=15
