#!/usr/bin/env bash
# Hold a server against a folder of cases, with canaries laid out that no answer
# may show.
#
#   cases.sh CASES BINARY [UID]
#
# CASES holds run.py, BINARY is a built cloche. With UID, which needs root, the
# server runs as that user without any privilege; otherwise as the caller.
# Everything that is started is ended by its process id, also after a fault.
set -euo pipefail

cases=$1 binary=$2 uid=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
only=ESC,LEG,OUT,VAL,API,CON,RES
canaries=/tmp/cnry_dir # the cases name this folder and 127.0.0.1:9001

dir=$(mktemp -d /tmp/cases.XXXXXX)
server='' canary='' made=''

die() { printf 'cases: %s\n' "$*" >&2; exit 1; }

# end PID: stop a child of this shell and wait for it.
end() {
	[[ -n $1 ]] || return 0
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

# cleanup STATUS: give everything back; after a fault, say what the server had to say.
cleanup() {
	if (($1 != 0)) && [[ -s $dir/log ]]; then
		echo "The server's last warnings:" >&2
		grep -v '"level":"INFO"' "$dir/log" | tail -n 20 >&2 || true
	fi
	end "$server"
	end "$canary"
	rm -rf "$dir" ${made:+"$made"}
}
trap 'cleanup $?' EXIT
trap 'exit 130' INT TERM

# await FILE PID WHAT: wait for the first line of FILE while PID lives.
await() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		[[ $(wc -l <"$1") -eq 0 ]] || return 0
		kill -0 "$2" 2>/dev/null || die "$3 ended before it was ready"
		sleep 0.1
	done
	die "$3 was not ready after 30 s"
}

lay_canaries() {
	: >"$dir/canary.out"
	python3 "$here/canary.py" "$canaries" 127.0.0.1:9001 >"$dir/canary.out" </dev/null &
	canary=$!
	await "$dir/canary.out" "$canary" "the canary"
	made=$canaries
}

start_server() {
	local as=()
	if [[ -n $uid ]]; then
		as=(setpriv --reuid="$uid" --regid="$uid" --clear-groups --no-new-privs --)
		chown "$uid:$uid" "$dir/home" "$dir/home/work"
	fi
	: >"$dir/ready"
	env HOME="$dir/home" CNRY=cnry-env-7f3a AWS_ACCESS_KEY_ID=cnry-akid AWS_SECRET_ACCESS_KEY=cnry-secret \
		AWS_SESSION_TOKEN=cnry-token AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001 PYTHONPATH="$canaries" \
		"${as[@]}" "$dir/cloche" serve --addr 127.0.0.1:0 --data "$dir/home/data" --work "$dir/home/work" \
		>"$dir/ready" 2>"$dir/log" </dev/null &
	server=$!
	await "$dir/ready" "$server" "the server"
}

# stop_server: a server told to stop must end by itself, well, and leave nothing.
stop_server() {
	local pid=$server status=0
	server=''
	kill "$pid"
	wait "$pid" || status=$?
	((status == 0)) || die "the server ended with status $status"
	[[ -z $(find "$dir/home/work" -mindepth 1 2>/dev/null) ]] || die "the server left files in its work folder"
}

chmod 0711 "$dir"
mkdir -m 0711 "$dir/home" "$dir/home/work"
install -m 0755 "$binary" "$dir/cloche"
cd "$dir" # not a folder that the server's user may be unable to see

lay_canaries
start_server
url=$(awk '{ print $NF; exit }' "$dir/ready")
python3 "$cases/run.py" --url "$url" --pid "$server" --work "$dir/home/work" --only "$only"
stop_server
