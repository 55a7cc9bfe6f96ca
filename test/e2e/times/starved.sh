#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program beside a busy loop on one processor, which it has for half of the time at most. With a
# soft clock, whose thread has the same processor: nothing is said of how far off times are. With a
# hardware clock: that they may be waits, all of them. Each view, SQL and the report say the same.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
command -v taskset >/dev/null || skip "taskset is not there"

cat >app.c <<'EOS'
#include <time.h>
__attribute__((noinline)) static void leaf(void)
{
	for (volatile int i = 0; i < 2000; i++)
		;
}
/* Until this thread has had the processor for long enough for others to get their turns. */
int main(void)
{
	struct timespec t;
	do {
		leaf();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (!t.tv_sec && t.tv_nsec < 150000000);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -o app app.c
core=$(taskset -pc $$ | sed 's/.*: //; s/[^0-9].*//')
taskset -c "$core" sh -c 'while :; do :; done' &
busy=$!
trap 'kill $busy 2>/dev/null || true' EXIT

# number TRACE KEY: of what JSON says of the whole.
number() {
	"$TEEPERF" analyze --format json "$1" 2>/dev/null |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"
}

# holds CONDITION: of numbers, as awk has it.
holds() {
	awk "BEGIN { exit !($1) }" || fail "not so: $1"
}

# stolen: what the hypervisor and interrupts have had of all processors so far, in ns. The kernel
# may take it off a program's processor time, and no switch tells.
stolen() {
	awk -v hz="$(getconf CLK_TCK)" \
		'/^cpu / { printf "%.0f\n", ($7 + $8 + $9) * 1e9 / hz }' /proc/stat
}

taskset -c "$core" "$TEEPERF" record -q --clock soft -o soft.trace -- ./app
kill -0 $busy || fail "the busy loop is gone"
holds "$(number soft.trace clock_starved_ns) >= 0.1 * $(number soft.trace duration_ns)"
"$TEEPERF" analyze soft.trace >table
says '^uncertain  by an unknown amount: the clock stood still for ' table
says '^coarse ' table
! grep -q '+/-' table || fail "the table says how far off times are: $(cat table)"
"$TEEPERF" analyze --format csv soft.trace >csv 2>err
says '^function,.*,p99_ns,self_uncertainty_ns,' csv
[ "$(awk -F, '$1 == "leaf" { print $16 }' csv)" = "" ] ||
	fail "CSV says how far off times are: $(cat csv)"
"$TEEPERF" analyze --format json soft.trace >json 2>err
[ "$(grep -c '"self_uncertainty_ns":null' json)" = 2 ] ||
	fail "JSON says how far off times are: $(cat json)"
"$TEEPERF" query --format csv soft.trace \
	'SELECT count(*) FROM functions WHERE self_uncertainty_ns IS NOT NULL' >sql 2>err
says '^0$' sql
"$TEEPERF" report -o soft.html soft.trace 2>err
says 'coarse: stood still for ' soft.html
says 'by an unknown amount' soft.html

if grep -q constant_tsc /proc/cpuinfo; then
	before=$(stolen)
	taskset -c "$core" "$TEEPERF" record -q --clock tsc --sched off -o tsc.trace -- ./app
	taken=$(($(stolen) - before))
	kill -0 $busy || fail "the busy loop is gone"
	share=$(number tsc.trace processor_share)
	delay=$(number tsc.trace processor_delay_ns)
	# So long the program ran by its own account.
	holds "$(number tsc.trace processor_ns) >= 150000000"
	holds "$share < 0.9"
	"$TEEPERF" analyze tsc.trace >table
	says '^processor  ran for .* of the time that it could run; waited .* for one$' table
	says '^starved    the program had a processor for ' table
	self=$("$TEEPERF" query --format csv tsc.trace \
		"SELECT self_ns FROM functions WHERE function = 'leaf'" 2>err | sed 1d)
	off=$("$TEEPERF" query --format csv tsc.trace \
		"SELECT self_uncertainty_ns FROM functions WHERE function = 'leaf'" 2>err | sed 1d)
	# What the function has beyond what the whole process had of processors can be nothing but
	# waits.
	holds "$off >= ($self < $delay ? $self : $delay) * 0.999"

	# Where the kernel reported switches, it is known who waited, and nothing about that is
	# unsure.
	before=$(stolen)
	taskset -c "$core" "$TEEPERF" record -q --clock tsc -o told.trace -- ./app
	off_told=$(($(stolen) - before + 10000000)) # and a tick
	if "$TEEPERF" dump told.trace | grep -q '^sched '; then
		"$TEEPERF" analyze told.trace >table
		says '^starved    the program had a processor for .* look at --time cpu' table
		"$TEEPERF" query told.trace --format csv \
			"SELECT self_cpu_ns <= 1.03 * m.value + $off_told AND
			self_preempted_ns > 0 AND self_uncertainty_ns < self_preempted_ns / 2
			FROM functions, meta m
			WHERE function = 'leaf' AND m.key = 'processor_ns'" >told 2>err
		says '^1$' told
	fi
	holds "$self - $off <= $(number tsc.trace processor_ns) + $taken"
	"$TEEPERF" query --format csv tsc.trace \
		"SELECT value FROM meta WHERE key = 'processor_share'" >sql 2>err
	holds "$(sed 1d sql) == $share"
	"$TEEPERF" report -o tsc.html tsc.trace 2>err
	says '<dt>Had a processor</dt>' tsc.html
else
	echo "not tried: tsc, which does not run steadily here"
fi
