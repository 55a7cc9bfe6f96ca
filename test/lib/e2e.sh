# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions for end-to-end tests. The caller has TEEPERF and TEST_TMP in its environment.
: "${TEEPERF:?path of the built teeperf}" "${TEST_TMP:?scratch folder}"
lib=$(dirname "$0")/../lib # of test/fault/NAME.sh
[ -d "$lib" ] || lib=$(dirname "$0")/../../lib # of test/e2e/AREA/NAME.sh
lib=$(cd "$lib" && pwd)
root=$(cd "$lib/../.." && pwd)
script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
unset TEEPERF_ALLOWLIST TEEPERF_CHECK TEEPERF_CLOCK TEEPERF_EXITS TEEPERF_INVENTORY TEEPERF_LEVEL \
	TEEPERF_MODULE TEEPERF_PORT TEEPERF_SHAPE TEEPERF_SWITCHES TEEPERF_TAIL_CALLS \
	TEEPERF_THREADS TEEPERF_LLVM TEEPERF_LOG TEEPERF_LOG_OFFSET TEEPERF_FORK TEEPERF_STREAM
# The LLVM that a test is run with, if not the default one.
if [ "${TEEPERF_TEST_LLVM:-}" ]; then
	TEEPERF_LLVM=$TEEPERF_TEST_LLVM
	export TEEPERF_LLVM
fi
# The shape of what it compiles, if the test does not say.
if [ "${TEEPERF_TEST_SHAPE:-}" ]; then
	TEEPERF_SHAPE=$TEEPERF_TEST_SHAPE
	export TEEPERF_SHAPE
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

# needs PROGRAM...: for a test of 'make test': tools/setup installs them.
needs() {
	for needed; do
		command -v "$needed" >/dev/null || fail "'$needed' is not there: run tools/setup"
	done
}

# Makefiles of others take no folder that has spaces in its name.
plain_folder() {
	case $TEEPERF$PWD in
	*[[:space:]]*)
		skip "the makefiles of this program take no folder with spaces in its name"
		;;
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

# but_busy FILE: leaves out what a command warned of if it is only that the machine was busy, for
# who wants no warnings.
but_busy() {
	sed -i '/: warning: starved /d; /: warning: waits /d
		/: warning: cost .*the machine was busy/d' "$1"
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

# show_trace TRACE WHAT: on standard error, the facts about a wrong trace: its threads, what each
# has lost, and the records around each note of a loss. The trace is kept where the next run of the
# test leaves it.
show_trace() {
	kept=$TEST_TMP.odd/$(date +%Y%m%d-%H%M%S)-$$.trace
	mkdir -p "$TEST_TMP.odd" && cp "$1" "$kept" || kept="nowhere, as it cannot be copied"
	{
		echo "---- $2: the trace is kept: $kept"
		"$TEEPERF" analyze --view threads --format csv "$1"
		"$TEEPERF" dump "$1" | awk '
			/^chunk/ { chunk = $0 }
			/^threads/ { table = "" } # the last one counts
			/^\tthread / { table = table $0 "\n" }
			{ line[NR % 5] = $0 }
			/^\tlost / && notes++ < 10 {
				print chunk
				for (i = NR - 4; i < NR; i++)
					print line[i % 5]
				after = 5
			}
			after-- > 0
			/^end / { printf "%s%s\n", table, $0 }'
	} >&2 2>&1 || true
}

build_fake() {
	${CC:-cc} -O1 -I "$root/include" -o fake "$lib/fake_program.c" ||
		skip "no C compiler (CC=${CC:-cc})"
}

# llvm: the major that 'teeperf cc' uses here. 0 if it does not say, so that a comparison of numbers
# fails loudly.
llvm() {
	if [ -z "${teeperf_llvm:-}" ]; then
		teeperf_llvm=$("$TEEPERF" cc --version |
			sed -n '1s/.*version \([0-9][0-9]*\).*/\1/p')
		[ -n "$teeperf_llvm" ] ||
			echo "'teeperf cc --version' does not say which LLVM it is" >&2
	fi
	echo "${teeperf_llvm:-0}"
}

# links_for MACHINE: whether the LLVM that is used here links programs for it.
links_for() {
	[ "$1" != riscv64 ] || [ "$(llvm)" -ge 15 ] && return
	echo "not tried: riscv64, for which the linker of LLVM $(llvm) does not link what is compiled for relaxation"
	return 1
}

# find_machines MACHINE...: sets $machines to those that are not this processor, and that C++
# programs can be built for and run on here; skips the test where there is none.
find_machines() {
	machines=
	for machine; do
		[ "$machine" != "$(uname -m)" ] || continue
		links_for $machine || continue
		command -v qemu-$machine >/dev/null &&
			[ -e "$TEEPERF_BUILD/lib/teeperf/$machine/libteeperf.a" ] &&
			[ -e /usr/$machine-linux-gnu/lib/libstdc++.so.6 ] &&
			machines="$machines $machine"
	done
	[ -n "$machines" ] ||
		skip "no other processor: qemu-user or the C++ libraries of the" \
		"others are not there"
}

# lto COMMAND...: COMMAND links with -flto; false where no LLVM that is used here can do that, which
# is then refused in one sentence.
lto() {
	[ "$(llvm)" -lt 15 ] || return 0
	expect 1 "$@"
	says '^teeperf c(c|\+\+): -flto needs LLVM 15 or newer, since the linker of LLVM 14 loads no plugin: ' err
	[ "$(wc -l <err)" = 1 ] || fail "more than one sentence: $(cat err)"
	echo "not tried, as LLVM $(llvm) cannot: $*"
	return 1
}

# ---- What runs beside a test.
#
# begin NAME COMMAND...: run COMMAND in the background; $begun is its process id. Its output goes to
# NAME.out and NAME.err. They are empty before anybody can look for something in them: with
# '>NAME.out &' the new process empties the file, and until then it has the output of an earlier
# one.
begin() {
	begun_name=$1
	shift
	: >"$begun_name.out"
	: >"$begun_name.err"
	"$@" >>"$begun_name.out" 2>>"$begun_name.err" &
	begun=$!
	sides="$(for begun_side in ${sides:-}; do
		[ "${begun_side%=*}" = "$begun_name" ] || echo "$begun_side"
	done) $begun_name=$begun"
}

# tree PID: this process, if it is our child, and what it has started.
tree() {
	grep -q "^PPid:[[:space:]]*${2:-$$}\$" "/proc/$1/status" 2>/dev/null || return 0
	echo "$1"
	for member in $(cat "/proc/$1/task"/*/children 2>/dev/null); do
		tree "$member" "$1"
	done
}

# show_sides: what runs beside this test, what it does, and what it has said.
show_sides() {
	for side in ${sides:-}; do
		echo "---- '${side%=*}', process ${side##*=}:"
		for member in $(tree "${side##*=}"); do
			echo "$member: $(tr '\0' ' ' <"/proc/$member/cmdline" 2>/dev/null)" \
				"$(grep '^State' "/proc/$member/status" 2>/dev/null ||
					echo 'is no more')"
		done
		tail -n 30 "${side%=*}.out" "${side%=*}.err"
	done
}

# await_true CONDITION [WHAT [MINUTES]]: until the shell finds CONDITION true. Gives up after a
# minute, and shows the known facts about both sides. A minute is 1200 looks 50 ms apart: on a
# machine that is slow or busy they take longer, as all else does.
await_true() (
	looks=0
	# The condition may fail as a test does (facts), and then ends without ending us.
	until (eval "$1"); do
		sleep 0.05
		looks=$((looks + 1))
		[ $looks = $((1200 * ${3:-1})) ] || continue
		show_sides >&2
		for side in ${sides:-}; do
			for member in $(tree "${side##*=}"); do
				kill -KILL "$member" 2>/dev/null || true
			done
		done
		fail "waited in vain for ${2:-$1}"
	done
)

# await FILE PATTERN: until FILE, which was empty or not there before, has it.
await() {
	awaited=$1
	awaited_pattern=$2
	await_true 'grep -q -- "$awaited_pattern" "$awaited" 2>/dev/null' "'$2' in the file '$1'"
}

# gone PID [MINUTES]: until the process is no more, or only waits for a parent to take notice.
gone() {
	await_true "! grep -q '^State:[[:space:]]*[^ZX]' /proc/$1/status 2>/dev/null" \
		"the end of process $1" "${2:-1}"
}

# wait PID...: as the shell's, which would wait for ever for what hangs. It may have much to do.
wait() {
	for awaited; do
		gone "$awaited" 10
	done
	command wait "$@"
}

# ended STATUS NAME: what begin has started as NAME ends, by itself, with STATUS.
ended() {
	for begun_side in $sides; do
		[ "${begun_side%=*}" != "$2" ] || begun=${begun_side##*=}
	done
	got=0
	wait "$begun" || got=$?
	[ "$got" = "$1" ] || {
		cat "$2.out" "$2.err" >&2
		fail "'$2' ended with $got, not $1"
	}
}

# Whether programs can be run as another user: by root, but not by that of a namespace that has no
# others.
other_users() {
	[ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null
}

# Go on in a /dev/shm of our own (of $1 bytes, all if not given), so that no other recorder sweeps
# up what a test leaves there. Where that is not allowed, with the shared one: false.
private_shm() {
	[ -z "${private:-}" ] || return 0
	for how in -m -rm; do
		unshare $how sh -c 'mount -t tmpfs tmpfs /dev/shm' 2>/dev/null || continue
		export private="$how" private_size="${1:-}"
		exec unshare $how sh -c 'mount -t tmpfs ${private_size:+-o size=$private_size} tmpfs /dev/shm && exec "$0"' "$script"
	done
	return 1
}
