# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions for end-to-end tests. The caller has TEEPERF and TEST_TMP in its environment.
: "${TEEPERF:?path of the built teeperf}" "${TEST_TMP:?scratch folder}"
lib=$(cd "$(dirname "$0")/../lib" && pwd)
root=$(cd "$lib/../.." && pwd)
unset TEEPERF_ALLOWLIST TEEPERF_CHECK TEEPERF_CLOCK TEEPERF_EXITS TEEPERF_INVENTORY TEEPERF_LEVEL TEEPERF_MODULE TEEPERF_SHAPE TEEPERF_TAIL_CALLS TEEPERF_LLVM TEEPERF_LOG
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
