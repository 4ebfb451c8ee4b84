#!/usr/bin/env bash
# Run the image as Lambda is reported to run a function, and see what holds.
#
#   like.sh allow|refuse|host|root IMAGE [CASES]
#
# flags.sh says what the modes are. CASES is a folder with run.py and cases.jsonl, run
# when it is given. Needs root and DOCKER_HOST.
set -euo pipefail
cd "$(dirname "$0")"
mode=$1 image=$2 cases=${3:-}
. ./flags.sh
as_lambda "$mode" || { echo "like.sh: mode is allow, refuse, host or root" >&2; exit 2; }

container=
finish() {
	local status=$?
	if [[ -n $container ]]; then
		((status == 0)) || docker logs "$container" 2>&1 | grep -v '"msg":"run"' | tail -40
		docker rm -f "$container" >/dev/null
	fi
	exit $status
}
trap finish EXIT

# Everything that nothing in the container may find again.
secrets=(-e CNRY=cnry-env-7f3a -e AWS_ACCESS_KEY_ID=cnry-akid -e AWS_SECRET_ACCESS_KEY=cnry-secret
	-e AWS_SESSION_TOKEN=cnry-token -e AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001 -e PYTHONPATH=/tmp/cnry_dir)
settings=(-e CLOCHE_ADDR=0.0.0.0:8080 -e CLOCHE_ALLOW_REMOTE=true -e CLOCHE_ALLOW_HOSTS='*')

container=$(docker run -d "${flags[@]}" "${secrets[@]}" "${settings[@]}" "$image")
address=$(docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$container")
pid=$(docker inspect -f '{{.State.Pid}}' "$container")
url=http://$address:8080
for ((n = 0; n < 100; n++)); do
	curl -fsS -o /dev/null "$url/health" 2>/dev/null && break
	sleep 0.1
done

case $mode in
allow | refuse)
	echo "== $mode: layers, hostile code, the next run"
	python3 hostile.py "$mode" "$url" "$pid"
	;;
*)
	echo "== $mode: health, a run"
	curl -fsS "$url/health"
	echo
	answer=$(curl -fsS -H 'Content-Type: application/json' -d '{"code":"6 * 7"}' "$url/execute")
	echo "$answer"
	[[ $answer == *'"outcome":"OK"'*'"value":"42"'* ]]
	;;
esac
if [[ -n $cases ]]; then
	only=LEG,OUT,RES
	case $mode in
	allow) only=ESC,$only ;;
	root) only=ESC,LEG,OUT ;;
	esac
	base=$(find "/proc/$pid/root/tmp" -maxdepth 1 -name 'cloche-*' | head -n 1)
	echo "== $mode: cases $only"
	# With a /tmp of its own, so that other programs' files are not taken for the server's.
	# This folder and the cases may lie below /tmp themselves: the cases are seen at
	# another place meanwhile.
	unshare --mount sh -c 'mount --bind "$1" /mnt && mount -t tmpfs tmpfs /tmp && shift && cd /mnt && exec "$@"' sh "$cases" \
		python3 run.py --url "$url" --pid "$pid" --work "$base" --only "$only"
fi
