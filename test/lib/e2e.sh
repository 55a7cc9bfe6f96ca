# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions for end-to-end tests. The caller has TEEPERF and TEST_TMP in its environment.
: "${TEEPERF:?path of the built teeperf}" "${TEST_TMP:?scratch folder}"
lib=$(cd "$(dirname "$0")/../lib" && pwd)
root=$(cd "$lib/../.." && pwd)
script=$(dirname "$lib")/$(basename "$(dirname "$0")")/$(basename "$0")
unset TEEPERF_ALLOWLIST TEEPERF_CHECK TEEPERF_CLOCK TEEPERF_EXITS TEEPERF_INVENTORY TEEPERF_LEVEL TEEPERF_MODULE TEEPERF_PORT TEEPERF_SHAPE TEEPERF_SWITCHES TEEPERF_TAIL_CALLS TEEPERF_LLVM TEEPERF_LOG TEEPERF_LOG_OFFSET TEEPERF_FORK TEEPERF_STREAM
# The LLVM that a test is run with, if not the default one.
if [ "${TEEPERF_TEST_LLVM:-}" ]; then
	TEEPERF_LLVM=$TEEPERF_TEST_LLVM
	export TEEPERF_LLVM
fi
XDG_CACHE_HOME=/dev/null # names that were found earlier are not used
export XDG_CACHE_HOME
mkdir -p "$TEST_TMP"
cd "$TEST_TMP"

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

skip() {
	echo "skipped: $*" >&2
	exit 77
}

# Makefiles of others take no folder that has spaces in its name.
plain_folder() {
	case $TEEPERF$PWD in
	*[[:space:]]*) skip "the makefiles of this program take no folder with spaces in its name" ;;
	esac
}

# expect WANTED COMMAND...: run COMMAND with its output in out and err, demand its exit status.
expect() {
	wanted=$1
	shift
	got=0
	"$@" >out 2>err || got=$?
	[ "$got" = "$wanted" ] || {
		cat out err >&2
		fail "exit status $got, not $wanted: $*"
	}
}

# says PATTERN FILE: FILE has a line that matches.
says() {
	grep -Eq -- "$1" "$2" || {
		cat "$2" >&2
		fail "'$1' is not in $2"
	}
}

# facts TRACE KEY=VALUE...: the trace is sound and holds this.
facts() {
	trace=$1
	shift
	python3 "$lib/trace_facts.py" "$trace" $fake >facts || {
		cat facts >&2
		fail "$trace is damaged"
	}
	for fact; do
		grep -Fxq -- "$fact" facts || {
			cat facts >&2
			fail "'$fact' is not true of $trace"
		}
	done
}
fake=--fake

# fact KEY: its value, after facts.
fact() {
	sed -n "s/^$1=//p" facts
}

build_fake() {
	${CC:-cc} -O1 -I "$root/include" -o fake "$lib/fake_program.c" ||
		skip "no C compiler (CC=${CC:-cc})"
}

# llvm: the major that 'teeperf cc' uses here.
llvm() {
	link=$(readlink "${TEEPERF_BUILD:-$(dirname "$TEEPERF")/..}/lib/teeperf/TeePerf.so")
	link=${link%/*}
	echo "${TEEPERF_LLVM:-${link#llvm-}}"
}

# links_for MACHINE: whether the LLVM that is used here links programs for it.
links_for() {
	[ "$1" != riscv64 ] || [ "$(llvm)" -ge 15 ] && return
	echo "not tried: riscv64, for which the linker of LLVM $(llvm) does not link what is compiled for relaxation"
	return 1
}

# find_machines MACHINE...: sets $machines to those that are not this processor, and that C++ programs can be built for
# and run on here; skips the test where there is none.
find_machines() {
	machines=
	for machine; do
		[ "$machine" != "$(uname -m)" ] || continue
		links_for $machine || continue
		command -v qemu-$machine >/dev/null && [ -e "$TEEPERF_BUILD/lib/teeperf/$machine/libteeperf.a" ] &&
			[ -e /usr/$machine-linux-gnu/lib/libstdc++.so.6 ] && machines="$machines $machine"
	done
	[ -n "$machines" ] || skip "no other processor: qemu-user or the C++ libraries of the others are not there"
}

# lto COMMAND...: COMMAND links with -flto; false where no LLVM that is used here can do that, which is then refused in
# one sentence.
lto() {
	[ "$(llvm)" -lt 15 ] || return 0
	expect 1 "$@"
	says '^teeperf c(c|\+\+): -flto needs LLVM 15 or newer, since the linker of LLVM 14 loads no plugin: ' err
	[ "$(wc -l <err)" = 1 ] || fail "more than one sentence: $(cat err)"
	echo "not tried, as LLVM $(llvm) cannot: $*"
	return 1
}

# await FILE PATTERN: until FILE has it; a test that hangs here is ended by ctest.
await() {
	while ! grep -q "$2" "$1" 2>/dev/null; do
		sleep 0.05
	done
}

# gone PID: until the process is no more, or only waits for a parent to take notice.
gone() {
	while grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null; do
		sleep 0.05
	done
}

# Whether programs can be run as another user: by root, but not by that of a namespace that has no others.
other_users() {
	[ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null
}

# Go on in a /dev/shm of our own (of $1 bytes, all if not given), so that no other recorder sweeps up what
# a test leaves there. Where that is not allowed, with the shared one: false.
private_shm() {
	[ -z "${private:-}" ] || return 0
	for how in -m -rm; do
		unshare $how sh -c 'mount -t tmpfs tmpfs /dev/shm' 2>/dev/null || continue
		export private="$how" private_size="${1:-}"
		exec unshare $how sh -c \
			'mount -t tmpfs ${private_size:+-o size=$private_size} tmpfs /dev/shm && exec "$0"' \
			"$script"
	done
	return 1
}
