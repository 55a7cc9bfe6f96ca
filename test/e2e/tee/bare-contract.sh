#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The TEE contract: a program on the port 'bare', without libc, linked to nothing, which has only
# the log in common with its host, must not read the time-stamp counter, and is killed at any system
# call but the last one, is recorded exactly with the soft clock. With a clock that it was not
# compiled for the error is clear. And a host that does nothing at all loses events, but neither
# ends the program nor stops it.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
from=$root/test/tee
${CC:-cc} -O1 -o launch "$from/tee_launch.c" || skip "no C compiler (CC=${CC:-cc})"
rounds=20000

# build NAME OPTION...: the program, compiled with the options.
build() {
	name=$1
	shift
	"$TEEPERF" cc "$@" -O2 -g -ffreestanding -c -o "$name.work.o" "$from/work.c"
	${CC:-cc} -O1 -ffreestanding -fno-stack-protector -fno-pie -I "$root/include" \
		-DWORK_PATH="\"$TEST_TMP/$name\"" -c -o "$name.start.o" "$from/bare_start.c"
	"$TEEPERF" cc --port=bare -nostdlib -static -o "$name" "$name.work.o" "$name.start.o"
}

# counts TRACE THREADS: the calls in it are those of THREADS threads.
counts() {
	expect 0 "$TEEPERF" analyze "$1" --view top --format csv
	sed -n '2,$p' out | cut -d, -f1,2 | sort >calls
	{
		echo "deep,$(($2 * rounds / 100 * 20))"
		echo "leaf,$(($2 * rounds * 2))"
		echo "middle,$(($2 * rounds))"
		echo "work,$2"
	} >wanted
	diff wanted calls >&2 || fail "$1 does not have the program's calls"
	expect 0 "$TEEPERF" analyze "$1" --view threads --format csv
	[ "$(sed -n '2,$p' out | cut -d, -f5 | sort -u)" = 0 ] || fail "events were lost in $1"
}

for options in --clock=auto --clock=soft --shape=call --exits=untimed; do
	build program $options
	nm -u program | grep . && fail "the program is linked to something"
	# Without a recorder it runs as it is.
	expect 7 ./launch none ./program 100 1
	for threads in 1 2; do
		expect 7 "$TEEPERF" record -o x.trace --clock soft -- \
			./launch none ./program $rounds $threads
		counts x.trace $threads
	done
done

# The hardware's clock, where it is allowed.
build program --clock=auto
expect 7 "$TEEPERF" record -o x.trace --clock tsc -- ./launch any ./program $rounds 2
counts x.trace 2

# Some virtual machines let programs read the counter whatever the kernel was asked for.
cat >reads.c <<'EOS'
#include <sys/prctl.h>
#include <x86intrin.h>
int main(void)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	return (int)(__rdtsc() & 0);
}
EOS
if [ "$(uname -m)" != x86_64 ]; then
	:
elif "${CC:-cc}" -O1 -o reads reads.c && ./reads; then
	echo 'not tested: this machine does not keep programs from reading the counter'
else
	# The test would see a reading of the clock.
	expect 139 "$TEEPERF" record -o x.trace --clock tsc -- ./launch none ./program $rounds 1
fi

# A clock that it was not compiled for.
build program --clock=tsc
expect 7 "$TEEPERF" record -o x.trace --clock soft -- ./launch none ./program 100 1
says "ran without recording: it was compiled for another clock; record with" err

# A host that stops: two threads need more than its four chunks, each of which holds 8184 records.
${CC:-cc} -O1 -I "$root/include" -o still_host "$from/still_host.c"
build program --clock=soft
calls=$((1 + 3 * rounds + rounds / 100 * 20))
for threads in 1 2; do
	expect 0 ./still_host 4 7 $((2 * threads * calls)) ./launch none ./program $rounds $threads
done
