#!/usr/bin/env bash
# Hold a server against its own OpenAPI document with schemathesis, which makes up
# requests that the document allows and others that it does not.
#
#   contract.sh BINARY
set -euo pipefail

config=$(cd "$(dirname "$0")" && pwd)/schemathesis.toml
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
dir=$(mktemp -d /tmp/contract.XXXXXX)
server=''

cleanup() {
	[[ -z $server ]] || { kill "$server" 2>/dev/null && wait "$server"; } || true
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check schemathesis==4.32.0

chmod 0711 "$dir"
mkdir -m 0711 "$dir/work"
"$binary" serve --addr 127.0.0.1:0 --data "$dir/data" --work "$dir/work" >"$dir/ready" 2>"$dir/log" &
server=$!
for ((n = 0; n < 100; n++)); do
	[[ ! -s $dir/ready ]] || break
	sleep 0.1
done
url=$(awk '{ print $NF; exit }' "$dir/ready")

cd "$dir"
venv/bin/schemathesis --config-file "$config" run "$url/openapi.json" --url "$url" --phases examples,coverage,fuzzing --max-examples 200 --workers 2 \
	--checks all --request-timeout 60 --generation-deterministic 2>&1 | tee out | tail -n 40
