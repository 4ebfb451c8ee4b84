#!/usr/bin/env bash
# Run the image as Lambda is reported to run a function, and see what holds.
#
#   like.sh allow|refuse IMAGE [CASES]
#
# A non-root user, a read-only root, /tmp as the only place to write, no capability,
# no shared memory, no new privileges. `refuse` also refuses what Lambda's kernel
# is reported to refuse: prctl, seccomp, ptrace, namespaces, Landlock. CASES is a
# folder with run.py and cases.jsonl, run when it is given. Needs DOCKER_HOST.
set -euo pipefail
cd "$(dirname "$0")"
mode=$1 image=$2 cases=${3:-}
[[ $mode == allow || $mode == refuse ]] || { echo "like.sh: mode is allow or refuse" >&2; exit 2; }

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
# In `refuse` the runs' user is nobody else's here, and fewer layers are accepted.
settings=(-e CLOCHE_DATA=/tmp/data -e CLOCHE_ADDR=0.0.0.0:8080 -e CLOCHE_ALLOW_REMOTE=true -e CLOCHE_ALLOW_HOSTS='*' -e CLOCHE_SOLE_USER=true)
[[ $mode == allow ]] || settings+=(-e CLOCHE_REQUIRE=none)

container=$(docker run -d --user 10001:10001 --read-only --tmpfs /tmp:rw,exec,size=512m,mode=1777 --cap-drop ALL \
	--ipc none --security-opt no-new-privileges --security-opt "seccomp=$PWD/$mode.json" \
	"${secrets[@]}" "${settings[@]}" "$image")
address=$(docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$container")
pid=$(docker inspect -f '{{.State.Pid}}' "$container")
url=http://$address:8080
for ((n = 0; n < 100; n++)); do
	curl -fsS -o /dev/null "$url/health" 2>/dev/null && break
	sleep 0.1
done

echo "== $mode: layers, hostile code, the next run"
python3 hostile.py "$mode" "$url" "$pid"
if [[ -n $cases ]]; then
	only=LEG,OUT,RES
	[[ $mode == refuse ]] || only=ESC,$only
	base=$(find "/proc/$pid/root/tmp" -maxdepth 1 -name 'cloche-*' | head -n 1)
	echo "== $mode: cases $only"
	# With a /tmp of its own, so that other programs' files are not taken for the server's.
	unshare --mount sh -c 'mount -t tmpfs tmpfs /tmp && exec "$@"' sh \
		python3 "$cases/run.py" --url "$url" --pid "$pid" --work "$base" --only "$only"
fi
