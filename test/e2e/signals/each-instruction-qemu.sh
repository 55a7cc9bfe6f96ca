#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# As signals/each-instruction.sh on the other processors, under qemu-user: a signal handler at each
# instruction of the recorded functions and of the runtime behind them, one after another, by
# breakpoints that the program puts into its own code; the stacks are exact, and a handler is
# recorded whole, or reported as lost; marks are whole, too.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
full=${TEEPERF_FULL:-0}
patience=300
[ "$full" != 1 ] || patience=3000
find_machines aarch64 riscv64

cat >list <<'END'
src:*interrupted.cpp
fun:counted=count
fun:sampled=sample/2
fun:leave_room=skip
fun:_Z*=skip
name:std::*=skip
END

# What runs between two instructions of a program: the recorded functions, and those of the
# runtime's files that the sequence leads to.
ranges() {
	{
		printf '%s\n%s.recorded\n' leaf leaf counted counted sampled sampled untried \
			untried catches catches work work
		nm --defined-only "$TEEPERF_BUILD/lib/teeperf/$1/libteeperf.a" 2>/dev/null | awk '
			/^[a-z_0-9]*\.o:$|^[a-zA-Z_0-9.]*:$/ { used = /^(thread|counts|mark|slow_|record_)/ }
			used && $2 ~ /^[tT]$/ && $3 !~ /[$.]/ { print $3 }'
	} | grep -Ev '^(tp_thread_end|tp_call_preserving|__teeperf_(leave|arrive|home|counted|counted_gone))$' >names
	nm -S --defined-only interrupted | awk '
		NR == FNR { wanted[$1] = 1; next }
		$3 ~ /^[tT]$/ && $4 in wanted && !($1 in seen) { seen[$1] = 1; print $1 "-" $2 }' \
		names -
}

# interrupted MACHINE SHAPE STRIDE HANDLER SWEEPS FIRST
interrupted() {
	"$TEEPERF" c++ --shape "$2" --allowlist list --check off --target=$1-linux-gnu -O1 -static \
		-I "$root/include" "$lib/interrupted.cpp" -o interrupted
	# shellcheck disable=SC2046 # words are meant
	expect 0 "$TEEPERF" record --clock soft -q -o i.trace -- \
		timeout $patience qemu-$1 ./interrupted "$4" "$3" "$5" "$6" $(ranges "$1")
	grep '^rounds' out >said || fail "$*: no result: $(cat out err)"
	"$TEEPERF" analyze i.trace --view tree --format csv >tree.csv 2>tree.err
	"$TEEPERF" analyze i.trace --format csv >top.csv 2>top.err
	"$TEEPERF" analyze i.trace --view threads --format csv >threads.csv 2>threads.err
	"$TEEPERF" query --format csv i.trace 'SELECT name FROM marks' >marks.csv 2>marks.err
	printf '%s %s from %s: ' "$1" "$2" "$6"
	python3 "$lib/check_interrupted.py" "$4" said tree.csv top.csv threads.csv marks.csv ||
		fail "$*: the profile is not exact"
	[ "${4%+*}" = jump ] || ! grep -E 'unmatched .*(without|unknown)' tree.err ||
		fail "$*: odd records"
}
for machine in $machines; do
	if [ "$full" = 1 ]; then
		for shape in inline call dual; do
			for handler in plain nested big jump plain+marks jump+marks; do
				interrupted "$machine" $shape 1 $handler 24 0
			done
		done
	else
		interrupted "$machine" inline 1 plain 1 0
		interrupted "$machine" inline 5 nested 3 7
		interrupted "$machine" inline 41 big 1 11
		interrupted "$machine" call 5 jump 2 11
		interrupted "$machine" dual 5 nested 2 3
		interrupted "$machine" inline 3 plain+marks 1 7
		interrupted "$machine" dual 3 jump+marks 1 11
	fi
done
