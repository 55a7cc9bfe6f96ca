#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --energy: what the machine consumed, by domain, or a note where it does not tell.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true

cat >main.c <<'EOC'
#include <time.h>
__attribute__((noinline)) static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, 0);
}
int main(void)
{
	for (int i = 0; i < 50; i++)
		nap();
	return 0;
}
EOC
"$TEEPERF" cc -O1 -g -o main main.c

expect 0 "$TEEPERF" record -o main.trace --energy=5 ./main
cp err said
"$TEEPERF" query --format csv main.trace \
	"SELECT domain, phase, energy_uj, note FROM energy WHERE phase = 0" >rows
[ "$(wc -l <rows)" -ge 2 ] || fail "there is no domain, and no note"
# Each row has a number, or a reason. A zero is neither.
awk -F, 'NR > 1 && ($3 == "" ? $4 == "" : $3 == 0 && $4 == "") { print; bad = 1 } END { exit bad }' rows >&2 ||
	fail "a domain has neither a value nor a reason"
if grep -q '^"*energy"*,' rows; then
	says 'not measured: energy: .*no RAPL' said
	expect 0 "$TEEPERF" analyze --view energy main.trace
	says 'no RAPL' out
else
	"$TEEPERF" query --format csv main.trace "SELECT count(*) FROM energy_readings" >count
	echo "domains: $(sed 1d rows | tr '\n' ' '), readings: $(sed 1d count)"
fi
# The text is what the trace is.
"$TEEPERF" dump main.trace >text
says '^energy interval=5000000' text
"$TEEPERF" dump --assemble text -o again.trace
cmp main.trace again.trace || fail "text and trace are not the same"

expect 129 "$TEEPERF" record --energy=-1 ./main
says "takes a number of milliseconds, not '-1'" err
expect 129 "$TEEPERF" record --energy=99999999 ./main
