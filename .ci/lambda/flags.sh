# shellcheck shell=bash
# Sourced. as_lambda MODE sets `flags`: how a container runs as Lambda is reported to
# run a function. A user without rights, a root that is only read, /tmp as the only
# place to write, no shared memory, no new privileges. MODE is
#   allow    the kernel refuses nothing else
#   refuse   it refuses what Lambda's is reported to refuse: prctl, seccomp, ptrace,
#            namespaces, Landlock
# and, for hosts of one's own:
#   host     the image's own user and Docker's profile, no privilege
#   root     uid 0 and whatever Docker gives it, as hosts do who do not care
as_lambda() {
	local profile strip=(--cap-drop ALL --security-opt no-new-privileges)
	profile=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/$1.json
	flags=(--read-only --tmpfs /tmp:rw,exec,size=512m,mode=1777 --ipc none)
	case $1 in
	allow | refuse)
		# The runs' user is nobody else's here, and in `refuse` fewer layers are accepted.
		flags+=("${strip[@]}" --user 10001:10001 --security-opt "seccomp=$profile" -e CLOCHE_DATA=/tmp/data -e CLOCHE_SOLE_USER=true)
		[[ $1 == allow ]] || flags+=(-e CLOCHE_REQUIRE=none)
		;;
	host) flags+=("${strip[@]}" --tmpfs /data:rw,uid=10001,gid=10001,mode=0700) ;;
	root) flags+=(--user 0:0 -e CLOCHE_DATA=/tmp/data) ;;
	*) return 2 ;;
	esac
}
