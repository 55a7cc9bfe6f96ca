#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that autotune fits beside other work: builds are idle, and runs are not; each build says
# its number and the total; with a given profile no builds are needed; and a list whose cost is
# unknown is not kept.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >app.c <<'EOS'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
__attribute__((noinline)) unsigned tiny(unsigned x) { return x * 2654435761u; }
__attribute__((noinline)) unsigned large(unsigned x)
{
	for (int i = 0; i < 5000; i++)
		x = x * 1664525 + 1013904223;
	return x;
}
int main(int argc, char **argv)
{
	unsigned x = 1;
	for (int i = 0; i < 5000; i++)
		x = tiny(x);
	for (int i = 0; i < 30; i++)
		x = large(x);
	printf("%u nice %d policy %d\n", x, getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
	if (argc < 2)
		return 0;
	// One run of three takes very much longer.
	FILE *runs = fopen(argv[1], "a");
	fputc('x', runs);
	if (ftell(runs) % 3 == 0)
		while (clock() < CLOCKS_PER_SEC / 15)
			;
	return 0;
}
EOS
cat >build.sh <<'EOS'
echo "$TEEPERF_LEVEL $(awk '{ print "nice", $19, "policy", $41 }' /proc/self/stat)" >>builds
exec $CC -O2 -o app app.c
EOS
builds() {
	awk '{ printf "%s%s", sep, $1; sep = " " }' builds
}
mine=$(awk '{ print "nice", $19, "policy", $41 }' /proc/self/stat)
tune() {
	rm -f builds
	"$TEEPERF" autotune --no-idle --budget 1000% --time cpu --runs 1 --rounds 1 -o list.allow \
		--build 'sh build.sh' "$@"
}

# Builds have what nobody else wants, which may be next to nothing: nothing is compiled here. Runs
# are as they always are.
idle() {
	rm -f builds
	"$TEEPERF" autotune --build 'CC=false; . ./build.sh' -- ./app
}
expect 1 idle
[ "$(cat builds)" = 'off nice 19 policy 5' ] || fail "not idle: $(cat builds)"
expect 0 tune -v -- ./app
[ "$(builds)" = 'off count event event' ] || fail "builds: $(builds)"
! grep -v " $mine\$" builds >others || fail "other than I am: $(cat others)"
says "^[0-9]+ $mine\$" err
says '^teeperf autotune: building without instrumentation \(build 1 of at most 4\)$' err
says '^teeperf autotune: building to count calls \(build 2 of at most 4; at most about [0-9]+ s left\)$' err
says '^teeperf autotune: building with the list \(build 4 of at most 4; at most about [0-9]+ s left\)$' err

# A profile that is given: no builds to find it.
expect 0 "$TEEPERF" cc -O2 -o app app.c
expect 0 "$TEEPERF" record -q -o all.trace -- ./app
rm list.allow
head -c -40 all.trace >cut.trace
expect 1 tune --from cut.trace -- ./app
says "'cut.trace': parts of it are missing, so calls and times are too low" err
expect 0 tune --from all.trace -v -- ./app
[ "$(builds)" = 'off event' ] || fail "builds with a profile: $(builds)"
says '\(build 2 of at most 2;' err
says "^calls counted +5031 calls, from 'all.trace': not built\$" out
says '^fun:large$' list.allow
ls | grep -q teeperf- && fail "copies were left over: $(ls)"
# The list has been built: its program is not the one of the profile any more.
expect 1 tune --from all.trace -- ./app
says "'all.trace': is not from the present build of '.*app', so its functions have no names" err
[ ! -e builds ] || fail "it was built nevertheless"
rm app
expect 1 tune --from all.trace -- ./app
says "app': must exist as it was recorded" err
# Calls alone: the times are still to be found.
expect 0 "$TEEPERF" cc --level=count -O2 -o app app.c
expect 0 "$TEEPERF" record -q --clock none -o counts.trace -- ./app
expect 0 tune --from counts.trace --format json -- ./app
[ "$(builds)" = 'off event event' ] || fail "builds with counts: $(builds)"
python3 - <<'EOS' || fail "$(cat out)"
import json
found = json.load(open("out"))
assert found["calls"] == 5031 and found["count_ns"] is None and found["profile"] == "trace", found
assert found["told"] is True and found["rounds"][0]["told"] is True, found
assert found["rounds"][0]["named_by_samples"] <= found["rounds"][0]["sample_bound"] + 1e-6, found
EOS

# The cost is unknown where single runs take many times as long as others: no list, and no message
# about one.
expect 0 "$TEEPERF" cc -O2 -o app app.c
expect 0 "$TEEPERF" record -q -o all.trace -- ./app
rm list.allow
expect 2 tune --from all.trace --budget 5% --runs 5 --rounds 3 -- ./app runs
says '^Budget 5 %: cannot be measured. The overheads of single runs are -[0-9.]+ to \+[0-9.]+ %' out
says '^list 1 \(\?\) ' out
says 'no list is kept, as its cost could not be measured' err
[ ! -e list.allow ] || fail "a list was written"
[ "$(builds)" = 'off event off' ] || fail "builds without a result: $(builds)"
! nm app | grep -q teeperf || fail "the program is not left without instrumentation"
ls | grep -q teeperf- && fail "copies were left over: $(ls)"
exit 0
