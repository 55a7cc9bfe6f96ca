#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# teeperf record --budget: a function is switched off when it becomes hot, however long it was not,
# a slow one stays exact, and the hot one comes back when it is hot no more, until it is hot again.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
fake= # the functions are where the trace says

cat >phases.c <<'EOT'
#include <stdio.h>
#include <unistd.h>
#define KEEP __attribute__((noinline, used))
KEEP int tiny(int n) { __asm__ volatile(""); return n + 1; }
KEEP int slow(int n)
{
	for (int i = 0; i < 300000; i++)
		__asm__ volatile("" : "+r"(n));
	return n;
}
int main(void)
{
	int n = 0;
	int rounds = 0;
	fclose(fopen("begun", "w"));
	for (; access("end", F_OK); rounds++) {
		const int calls = access("calm", F_OK) ? 100000 : 1;
		for (int i = 0; i < calls; i++)
			n = tiny(n);
		n = slow(n);
	}
	printf("%d rounds\n", rounds);
	return 0;
}
EOT
"$TEEPERF" cc -O1 -o phases phases.c
# For all that is recorded before 'tiny' is switched off, however late that is on a busy machine.
room='--size 512M --ready 512M'

# switched PATTERN: until 'teeperf ctl status' says so about functions.
switched() {
	await_true "\"\$TEEPERF\" ctl status \"\$recorder\" >status 2>&1 && grep -q '^functions  $1\$' status" "functions: $1"
}
rm -f end
: >calm
begin run "$TEEPERF" record -o phases.trace $room --budget 5% ./phases
recorder=$begun
await_true '[ -e begun ]' 'the program'
began=$(date +%s)
await_true '[ "$(($(date +%s) - began))" -gt 1 ]' 'a second in which nothing is switched off'
switched 'all that are instrumented'
rm calm
switched 'all but [0-9]* functions* on a list'
expect 1 "$TEEPERF" ctl drop slow "$recorder"
says "'record --budget' selects the functions" err
: >calm
switched 'all that are instrumented'
rm calm
switched 'all but [0-9]* functions* on a list'
: >end
ended 0 run
rounds=$(sed -n 's/ rounds$//p' run.out)
says '^teeperf record: budget 5%: .*1 of [1-3] functions? was switched off for a part of the time: tiny \(' run.err

expect 0 "$TEEPERF" analyze --strict --format csv phases.trace
mv out top.csv
says "^slow,$rounds," top.csv
says '^main,1,' top.csv
expect 0 "$TEEPERF" analyze phases.trace
says '^budget     5%; .*1 function was switched off for a part of the time' out
says '^ *>?[0-9,]+ +[0-9.]+% .* tiny$' out
! grep -Eq '^ *[0-9,]+ +[0-9.]+% .* (slow|main)$' out ||
	fail 'a cheap function was not recorded all the time'
expect 0 "$TEEPERF" analyze --format json phases.trace
says '"id": *"budget"' out
# It is the same when it was written down as text.
"$TEEPERF" dump phases.trace >dump.txt
says 'budget=0\.05"$' dump.txt
"$TEEPERF" dump --assemble dump.txt -o again.trace
expect 0 "$TEEPERF" analyze --strict --format csv again.trace
cmp out top.csv

# Without names nothing can be switched.
rm -f calm end
cp phases stripped
strip stripped
begin run "$TEEPERF" record -o stripped.trace --budget 5% ./stripped
recorder=$begun
await_true '"$TEEPERF" ctl status "$recorder" >status 2>&1 && grep -q "^records    [0-9]\{7,\} " status' 'a million records'
: >end
ended 0 run
says 'the budget was not kept: [0-9]* functions without a name' run.err

# Jumps are recorded whatever is switched off: that is said, and not that functions became dear.
cat >jumps.c <<'EOT'
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>
static jmp_buf place;
__attribute__((noinline)) static void leap(int n) { longjmp(place, n); }
int main(void)
{
	volatile unsigned rounds = 0;
	fclose(fopen("begun", "w"));
	for (; rounds % 1000 || access("end", F_OK); rounds++)
		if (!setjmp(place))
			leap(1);
	return 0;
}
EOT
"$TEEPERF" cc -O1 -o jumps jumps.c
rm -f end begun
begin run "$TEEPERF" record -o jumps.trace --budget 1% ./jumps
await_true '[ -e begun ]' 'the program'
began=$(date +%s)
await_true '[ "$(($(date +%s) - began))" -gt 2 ]' 'the third second'
: >end
ended 0 run
says 'the budget was exceeded: jumps .* cost [0-9.]*% of the running time$' run.err

# A program that runs already, and has used processor time before.
if [ "$(uname -m)" = x86_64 ]; then
	rm -f calm end begun
	begin late ./phases
	program=$begun
	await_true '[ -e begun ]' 'the program'
	begin run "$TEEPERF" record --pid "$program" $room -o late.trace --budget 5%
	recorder=$begun
	switched 'all but [0-9]* functions* on a list'
	began=$(date +%s)
	: >calm
	switched 'all that are instrumented'
	# The cost of events is known from the second second on.
	await_true '[ "$(($(date +%s) - began))" -gt 2 ]' 'the third second'
	expect 0 "$TEEPERF" ctl stop "$recorder"
	ended 0 run
	: >end
	ended 0 late
	says '^teeperf record: budget 5%: .*1 of [1-3] functions? was switched off for a part of the time: tiny \(' run.err
	says 'events cost [0-9.]*%' run.err
	expect 0 "$TEEPERF" analyze --strict late.trace
	! grep -h 'has no name' out err || fail '[attached] is taken for a function without a name'
	says '^budget     5%; .*1 function was switched off for a part of the time' out
fi

# Texts that are not a budget, and recordings that cannot keep one.
for value in 0 0% -1% 150% 100% x '' 5%% nan; do
	expect 129 "$TEEPERF" record --budget "$value" ./phases
	says "option '--budget'" err
done
for option in --follow-fork --tee '--mode ring' '--drain end' '--drain late' '--clock none' \
	'--port gramine'; do
	expect 129 "$TEEPERF" record --budget 5% $option ./phases
	says "option '--budget' " err
done
expect 129 "$TEEPERF" record --budget 5% --attach ./log
says "option '--budget' needs a PROGRAM to start" err
