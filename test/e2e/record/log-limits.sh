#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a limit of files or addresses makes the log smaller only where nobody asked for a
# size, which is reported in one line; and that an impossible size is refused with the remedy.
# 'next:' names only files that can be read again.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake

limited() { # LIMIT COMMAND...
	limit=$1
	shift
	(
		ulimit $limit
		exec "$@"
	)
}
# size: of the log, in MiB.
size() {
	"$TEEPERF" dump x.trace | sed -n 's/.*log_bytes=\([0-9]*\).*/\1/p' | tail -1 |
		awk '{ print $1 / 1048576 }'
}
# POSIX counts blocks of 512 bytes.
expect 0 limited '-f 40000' "$TEEPERF" record -q -o x.trace ./fake 1000 0
says "^teeperf record: warning: the log has only 16 MiB, as 'ulimit -f' allows no more: raise that limit, or give" err
[ "$(grep -c . err)" = 1 ] || fail "more than one line: $(cat err)"
[ "$(size)" = 16 ] || fail "the log has $(size) MiB"
expect 1 limited '-f 40000' "$TEEPERF" record -o y.trace --size 64M sh -c 'touch started'
says "^teeperf record: a log of 67 MiB exceeds 'ulimit -f': raise that limit, or give a smaller '--size'$" err
expect 0 limited '-f 40000' "$TEEPERF" record -o x.trace --size 8M ./fake 1000 0
! grep -q ulimit err || fail "told of a size that was asked for: $(cat err)"
expect 1 limited '-f 200' "$TEEPERF" record -o y.trace sh -c 'touch started'
says "^teeperf record: 'ulimit -f' allows 100 KiB, too little for a log: raise that limit$" err

expect 0 limited '-v 400000' "$TEEPERF" record -q -o x.trace ./fake 1000 0
if grep -q ulimit err; then # else the machine has so little memory that the log is small anyway
	says "^teeperf record: warning: the log has only (64|128) MiB, as 'ulimit -v' allows no more" err
fi
expect 1 limited '-v 400000' "$TEEPERF" record -o y.trace --size 2G sh -c 'touch started'
says "^teeperf record: .*'--size'" err
[ ! -e started ] && [ ! -e y.trace ] || fail "something is left of a recording that never was"

# A trace that is not a file cannot be analyzed next.
expect 0 "$TEEPERF" record -o x.trace ./fake 1000 0
says "; next: teeperf analyze x.trace$" err
expect 0 "$TEEPERF" record -o /dev/null ./fake 1000 0
says "1000 records of .* in '/dev/null'$" err
mkfifo pipe
cat pipe >piped.trace &
expect 0 "$TEEPERF" record -o pipe ./fake 1000 0
wait
says "1000 records of .* in 'pipe'$" err
expect 0 sh -c '"$TEEPERF" record -o /dev/stdout ./fake 1000 0 >redirected.trace'
says "in '/dev/stdout'$" err
for trace in piped redirected; do
	facts $trace.trace records=1000 end_sections=1
done

# A program that locks its memory: it also locks the log, unless it does so before it has one.
cat >lock.c <<'EOS'
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	const int failed = mlockall(MCL_CURRENT | MCL_FUTURE);
	leaf();
	puts(failed ? "failed" : "locked");
	fflush(stdout);
	for (int i = 0; argc > 1 && i < 30000; i++) {
		leaf();
		usleep(10000);
	}
	return argv[0] == NULL;
}
EOS
"$TEEPERF" cc -O1 lock.c -o lock
./lock | grep -q locked || exit 0 # for want of rights
expect 0 "$TEEPERF" record -q --size 256M -o x.trace -- ./lock
if grep -q locked out; then # else the limit is between the two
	says "^teeperf record: warning: './lock' has locked its memory \(mlockall\), and" err
fi
expect 0 "$TEEPERF" record -q --size 16M -o x.trace -- ./lock
[ ! -s err ] || fail "a warning of 16 MiB: $(cat err)"
[ "$(uname -m)" = x86_64 ] || exit 0 # where programs cannot be attached to
begin lock ./lock wait
lock=$begun
await lock.out locked
if "$TEEPERF" record -q --pid "$lock" --size 256M --duration 1s -o x.trace 2>err; then
	locked=$(awk '$1 == "VmHWM:" { print $2 }' /proc/"$lock"/status)
	[ "$locked" -lt 131072 ] || fail "$locked KiB are in memory: the log is locked"
else
	says 'log' err # for want of rights
fi
kill "$lock"
wait "$lock" || true
