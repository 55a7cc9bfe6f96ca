#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# A recorder is killed that has not written the last choices of functions: 'teeperf recover' adds
# the last one, and says how many are not known.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/choose.sh"
private_shm || true
fake= # the functions are where the trace says

cat >calls.c <<'EOC'
#include <stdio.h>
#define KEEP __attribute__((noinline, used))
KEEP void first(void) { __asm__ volatile(""); }
KEEP void second(void) { __asm__ volatile(""); }
KEEP void third(void) { __asm__ volatile(""); }
int main(void)
{
	char line[8];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		first();
		second();
		third();
		puts("done");
		fflush(stdout);
	}
	return 0;
}
EOC
"$TEEPERF" cc -O1 -o calls calls.c
# Enough functions that a further change is not written at once.
awk 'BEGIN { print "default:allow"; for (i = 0; i < 1000; i++) print "fun:f" i "=skip" }' >many

mkfifo in
begin run sh -c 'exec "$@" <in' sh "$TEEPERF" record --control -o calls.trace ./calls
recorder=$begun
exec 7>in
await run.out ready
choose only many
for function in first second third; do
	choose drop $function
done
expect 0 "$TEEPERF" ctl status "$recorder"
program=$(sed -n 's/^program *process //p' out)
kill -KILL "$recorder"
ended 137 run
echo >&7
await run.out done
exec 7>&-
gone "$program"
expect 0 "$TEEPERF" recover calls.trace
"$TEEPERF" dump calls.trace >dump.txt
sed -n 's/^\tselection \([0-9]*\) .*/\1/p' dump.txt | sort -nu | tr '\n' ' ' >numbers
expect 0 "$TEEPERF" analyze calls.trace
! grep -q "is not used" err || fail "the choices are not read"
case $(cat numbers) in
	"0 1 2 3 4 ") ;; # a checkpoint came between
	"0 1 2 ") says '^changed .*2 selections are unknown, because the recorder was killed' out ;;
	"0 1 2 3 ") says '^changed .*1 selection is unknown, because the recorder was killed' out ;;
	*) fail "the trace has the choices $(cat numbers)" ;;
esac
