#!/usr/bin/env bash
# Checks docker-compose.yml with Docker itself: the file is valid; and where an engine with the images is at hand, the
# whole stack starts, archives a simulated platform, and stops in order. Says what is missing where it cannot.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'compose: %s\n' "$*"; }
skip() {
  say "not checked further: $*"
  exit 0
}

if docker compose version >/dev/null 2>&1; then
  compose=(docker compose)
elif command -v docker-compose >/dev/null; then
  compose=(docker-compose)
else
  skip 'there is no docker CLI with compose here'
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export COMPOSE_PROJECT_NAME="outlast-check-$$"
export OUTLAST_IMAGE="outlast-check-$$"
export OUTLAST_SECRETS="$scratch"
export OUTLAST_BASE_URL=http://platform:9000
free_port() {
  node -e 's = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}
POSTGRES_PORT=$(free_port)
OUTLAST_PORT=$(free_port)
export POSTGRES_PORT OUTLAST_PORT
# Readable for the containers' users; the folder keeps others out.
umask 022
printf 'a password: with/odd @characters' >"$scratch/postgres_password"
printf 'check-key\n' >"$scratch/api_key"
printf 'check-secret\n' >"$scratch/api_secret"

# The stack as people run it, and beside it a platform from the same image.
cat >"$scratch/platform.yml" <<YAML
services:
  platform:
    image: $OUTLAST_IMAGE
    command: [simulate, --host, 0.0.0.0, --port, '9000', --orders-per-day, '40', --classes-per-day, '10',
      --api-key, check-key, --api-secret, check-secret]
    healthcheck:
      disable: true
YAML
run() { "${compose[@]}" -f docker-compose.yml -f "$scratch/platform.yml" "$@"; }

run config >"$scratch/config.yml"
say 'the file is valid'

docker info >/dev/null 2>&1 || skip 'no Docker engine answers here'
for image in postgres:17 node:24-bookworm-slim; do
  docker image inspect "$image" >/dev/null 2>&1 || timeout 300 docker pull --quiet "$image" >/dev/null 2>&1 ||
    skip "the image $image is not here and cannot be pulled"
done

finish() {
  status=$?
  if [ "$status" -ne 0 ]; then run logs --tail 40 || true; fi
  run down --volumes --timeout 30 >/dev/null 2>&1 || true
  docker image rm "$OUTLAST_IMAGE" >/dev/null 2>&1 || true
  rm -rf "$scratch"
  exit "$status"
}
trap finish EXIT

fail() {
  say "FAILED: $*"
  exit 1
}

run build
run up -d
outlast=$(run ps -q outlast)

# wait_for <seconds> <sentence> <command…>: until the command succeeds.
wait_for() {
  local until=$((SECONDS + $1)) sentence=$2
  shift 2
  until "$@"; do
    [ "$SECONDS" -lt "$until" ] || fail "$sentence, but did not in time"
    sleep 2
  done
  say "$sentence"
}

is_healthy() { [ "$(docker inspect -f '{{.State.Health.Status}}' "$outlast")" = healthy ]; }
holds_orders() {
  [ "$(run exec -T postgres psql -U outlast -d outlast -qAtc \
    'select count(*) >= 1000 from archive.orders' 2>/dev/null)" = t ]
}
wait_for 180 'Outlast archives a platform' holds_orders
wait_for 180 'Outlast reports itself healthy' is_healthy

[ "$(run exec -T outlast id -u)" = 1000 ] || fail 'Outlast runs as another user than 1000'
if run exec -T outlast sh -c 'touch /app/x' 2>/dev/null; then fail 'Outlast can write to its own code'; fi
say 'Outlast runs without root and cannot write to its own code'

# Into variables first: with a pipe, grep's early leave could pass for a failure of docker's.
seen=$(docker inspect "$outlast" "$(run ps -q postgres)" && run logs 2>&1)
if grep -q 'odd @characters\|check-secret' <<<"$seen"; then
  fail 'a secret can be seen with docker inspect or in a log'
fi
say 'no secret can be seen from outside'

ports=$(docker ps --filter "name=$COMPOSE_PROJECT_NAME" --format '{{.Ports}}')
for port in "$POSTGRES_PORT" "$OUTLAST_PORT"; do
  grep -qF "127.0.0.1:$port->" <<<"$ports" || fail "port $port is not published on loopback"
done
if grep -q '0\.0\.0\.0:\|:::' <<<"$ports"; then fail 'a port is published beyond loopback'; fi
say 'ports are published on loopback only'

run stop -t 60 outlast
code=$(docker inspect -f '{{.State.ExitCode}}' "$outlast")
[ "$code" = 0 ] || fail "Outlast left with exit code $code instead of 0"
say 'Outlast stops in order'
