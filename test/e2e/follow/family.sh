#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# analyze --family: the sums over all processes of a recording are those of its traces, function by
# function; functions of one name in two programs stay apart; and traces that are missing, damaged,
# of another recording or of another clock are reported, as are losses.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >first.c <<'EOS'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
__attribute__((noinline)) static void work(int n)
{
	for (volatile int x = 0; x < n;)
		x = step(x);
}
/* Who is whose child, for the test to compare. */
static void tell(const char *what)
{
	FILE *file = fopen("told", "a");
	if (!file)
		_exit(9);
	fprintf(file, "%s %d %d\n", what, (int)getpid(), (int)getppid());
	fclose(file);
}
static void wait_all(void)
{
	while (wait(NULL) > 0)
		;
}
int main(void)
{
	work(100);
	tell("first");
	if (fork() == 0) {
		tell("child");
		work(50);
		if (fork() == 0) {
			tell("grandchild");
			work(7);
			_exit(0);
		}
		wait_all();
		_exit(0);
	}
	if (fork() == 0) {
		tell("other");
		execl("./second", "second", (char *)NULL);
		_exit(9);
	}
	wait_all();
	return 0;
}
EOS
cat >second.c <<'EOS'
__attribute__((noinline)) static int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int main(void)
{
	for (volatile int x = 0; x < 40;)
		x = step(x);
	return 0;
}
EOS
printf 'default:allow\nfun:tell=skip\nfun:wait_all=skip\n' >app.allow
for program in first second; do
	expect 0 "$TEEPERF" cc -O1 -g --allowlist=app.allow -o $program $program.c
done
record() {
	rm -f told
	expect 0 "$TEEPERF" record --follow-fork -o "$1" -- ./first
}
# pid WHO, parent WHO: as the programs have printed.
pid() {
	sed -n "s/^$1 \([0-9]*\) .*/\1/p" told
}
parent() {
	sed -n "s/^$1 [0-9]* //p" told
}
family() {
	wanted=$1
	shift
	expect "$wanted" "$TEEPERF" analyze --family "$@"
}
record run.trace

# adds_up TRACE...: family.csv is what the traces' own tables come to.
adds_up() {
	n=0
	rm -f single.*.csv
	for trace; do
		n=$((n + 1))
		"$TEEPERF" analyze --format csv "$trace" >single.$n.csv 2>single.err
	done
	python3 - single.*.csv <<'EOS' || fail "the sums are not those of: $*"
import csv, sys
KEYS = ("function", "module", "linkage", "address")
PARTS = tuple("%s_%s_ns" % (of, part) for of in ("self", "inclusive") for part in ("cpu", "wait", "preempted"))
SUMS = ("calls", "self_ns", "inclusive_ns", "timed_calls", "self_uncertainty_ns") + PARTS

def read(name):
    rows = list(csv.DictReader(open(name)))
    assert rows, name
    return [(tuple(row[key] for key in KEYS), row) for row in rows]

wanted = {}
for name in sys.argv[1:]:
    for key, row in read(name):
        it = wanted.setdefault(key, {"processes": 0, "min_ns": [], "max_ns": []} | {key: [] for key in SUMS})
        it["processes"] += 1
        for column in SUMS + ("min_ns", "max_ns"):
            it[column].append(row[column])
family = read("family.csv")
assert len(family) == len(wanted), (family, wanted)
for key, row in family:
    it = wanted[key]
    assert int(row["processes"]) == it["processes"], row
    for column in SUMS:
        known = all(value != "" for value in it[column])
        expected = str(sum(map(int, it[column]))) if known else ""
        assert row[column] == expected, (column, row, it)
    assert int(row["min_ns"]) == min(map(int, it["min_ns"])), (row, it)
    assert int(row["max_ns"]) == max(map(int, it["max_ns"])), (row, it)
    assert row["p50_ns"] == row["p90_ns"] == row["p99_ns"] == "", row
EOS
}
child=run.trace.$(pid child)
grandchild=run.trace.$(pid grandchild)
other=$(echo run.trace."$(pid other)"*)
for file in "$child" "$grandchild" "$other"; do
	[ -f "$file" ] || fail "there is no $file: $(ls)"
done
family 0 --format csv run.trace
cp out family.csv
# Under load the system may be asked for thread switches late, which is said.
but_busy err
! grep -v "waits  *1 thread recorded up to" err >wrong ||
	fail "something is wrong with a sound family: $(cat wrong)"
adds_up run.trace "$child" "$grandchild" "$other"
# calls FUNCTION MODULE PROCESSES: as family.csv has it.
calls() {
	awk -F, -v name="$1" -v module="$2" -v processes="$3" \
		'$1 == name && $7 == module && $17 == processes { print $2 }' family.csv
}
[ "$(calls step first 3)" = 157 ] && [ "$(calls step second 1)" = 40 ] &&
	[ "$(calls work first 3)" = 3 ] && [ "$(calls main first 1)" = 1 ] &&
	[ "$(calls main second 1)" = 1 ] || fail "$(cat family.csv)"

# The same by SQL.
expect 0 "$TEEPERF" query --format csv --attach b="$child" \
	--attach c="$grandchild" --attach d="$other" run.trace \
	"SELECT module, sum(calls), sum(self_ns)
		FROM (SELECT * FROM functions UNION ALL SELECT * FROM b.functions
	UNION ALL SELECT * FROM c.functions UNION ALL SELECT * FROM d.functions)
	WHERE function = 'step'
	GROUP BY module ORDER BY module"
sed 1d out >sql
awk -F, '$1 == "step" { print $7 "," $2 "," $3 }' family.csv | LC_ALL=C sort >ours
cmp sql ours || fail "SQL has '$(cat sql)', the family '$(cat ours)'"

# Tables, and their orders.
family 0 --sort name run.trace
says '^family +of run.trace: 4 processes$' out
says '^ *157 .* 3  step  +first' out
says '^ *202 .* 4  total of 5 functions' out
family 0 --sort calls --columns calls,module --limit 1 run.trace
says '^ *157  first' out
says '4 more: --limit 0' out

# Who is who.
family 0 --view processes --format csv run.trace
row() {
	says "^$1,[^,]*run\.trace[^,]*\$" out
}
row "$(pid first),,first,1,204,0,102,[0-9]+,complete"
row "$(pid child),$(parent child),first,1,102,0,51,[0-9]+,complete"
row "$(pid grandchild),$(parent grandchild),first,1,16,0,8,[0-9]+,complete"
row "$(pid other),,second,1,82,0,41,[0-9]+,complete"
[ "$(wc -l <out)" = 5 ] || fail "$(cat out)"
family 0 --view threads --format csv run.trace
for line in "first,first,204,0,102" "child,first,102,0,51" "grandchild,first,16,0,8" \
	"other,second,82,0,41"; do
	who=${line%%,*}
	line=${line#*,}
	says "^$(pid "$who"),${line%%,*},0,$(pid "$who"),[^,]*,${line#*,}," out
done
family 0 --format json run.trace
python3 - <<'EOS' || fail "$(cat out)"
import json
found = json.load(open("out"))
assert found["complete"] and not found["lost"] and not found["left_out_traces"], found
assert len(found["family"]) == 4 and sum(it["events"] for it in found["family"]) == 404, found
assert sum(it["calls"] for it in found["functions"]) == 202, found
EOS

# Folded stacks: those of each trace, below the process.
for weight in self calls; do
	expect 0 "$TEEPERF" export --format folded --family --weight $weight run.trace
	LC_ALL=C sort out >family.folded
	for trace in run.trace "$child" "$grandchild" "$other"; do
		suffix=${trace#run.trace.}
		[ "$trace" != run.trace ] || suffix=$(pid first)
		"$TEEPERF" export --format folded --weight $weight "$trace" 2>/dev/null |
			sed "s/^\([^;]*\);/\1 $suffix;/"
	done | LC_ALL=C sort >singles.folded
	cmp family.folded singles.folded || fail "$(cat family.folded singles.folded)"
	[ "$(wc -l <family.folded)" -gt 3 ] || fail "$(cat family.folded)"
done
says "^first $(pid child);work;step 50\$" family.folded
says "^second ${other#run.trace.};main;step 40\$" family.folded
expect 129 "$TEEPERF" export --format pprof --family run.trace
expect 129 "$TEEPERF" export --format folded --family --thread 0 run.trace
expect 1 "$TEEPERF" export --format folded --family -o "$child" run.trace
says "'$child': is an input" err

# Other files with such a name. A trace of another recording is reported, and is not an error.
cp told told.run
record later.trace
cp later.trace."$(pid child)" run.trace.1
cp later.trace."$(pid child)" run.trace.x
cp later.trace run.trace.2-2
mv told.run told
family 0 --format csv run.trace
cmp out family.csv || fail "the sums have what does not belong to them: $(cat out)"
for name in run.trace.1 run.trace.2-2; do
	says "'$name' belongs to another recording than 'run.trace': it is left out\$" err
done
! grep -q 'trace\.x' err || fail "$(cat err)"
rm run.trace.1 run.trace.2-2 run.trace.x
# No trace at all.
echo nonsense >run.trace.3
family 1 --format csv run.trace
cmp out family.csv || fail "$(cat out)"
says "run\.trace\.3.*: it is left out" err
says '^.*left out   1 trace that could not be used' err
rm run.trace.3

# More processes than files that can be open.
for n in $(seq 60); do
	cp "$grandchild" run.trace.$((9000000 + n))
done
(
	ulimit -n 30
	family 0 --format csv run.trace
	awk -F, '$1 == "step" && $7 == "first" { print $2, $17 }' out >many
	[ "$(cat many)" = "$((157 + 60 * 7)) 63" ] || fail "$(cat out err)"
)
rm run.trace.90000??

# A missing one is reported where a child names it.
mv "$child" away
family 0 --format csv run.trace
says "process $(pid child), which forked '$grandchild', is the first one, or has no trace here" err
cp out family.csv
adds_up run.trace "$grandchild" "$other"
mv away "$child"

# change TRACE SED: the trace, changed in its text.
change() {
	cp "$1" away
	"$TEEPERF" dump "$1" >text
	sed "$2" text >changed
	! cmp -s text changed || fail "'$2' changes nothing"
	expect 0 "$TEEPERF" dump --assemble changed -o "$1"
}
# Losses of one are the sum's.
change "$child" 's/^\(\tthread tid=.*\)lost=0/\1lost=5/'
family 0 run.trace
says '^lost       5 events in 1 of 4 processes' out
says "^lost       5 events: .*\[$child\]" out
family 0 --view processes --format csv run.trace
row "$(pid child),$(parent child),first,1,102,5,51,[0-9]+,complete"
mv away "$child"
# Times of another clock are not added.
clock=$("$TEEPERF" dump "$child" | sed -n 's/^clock kind=\([a-z-]*\) .*/\1/p' | tail -n 1)
change "$child" \
	"s/^clock kind=$clock/clock kind=$([ "$clock" = tsc ] && echo tsc-ordered || echo tsc)/"
family 1 --format csv run.trace
says "the clock of '$child' is .* and that of 'run.trace' is $clock, so their times cannot be summed: it is left out" err
cp out family.csv
adds_up run.trace "$grandchild" "$other"
mv away "$child"
# Cut off: the remaining part is shown, and reported as incomplete.
cp "$child" away
head -c $(($(wc -c <away) - 60)) away >"$child"
family 1 --view processes run.trace
says "unfinished .*$child" out
says '^unfinished 1 of 4 processes' out
mv away "$child"
# A record that nobody wrote.
cp "$child" away
python3 - "$child" <<'EOS'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) // 2] ^= 255
open(sys.argv[1], "wb").write(data)
EOS
family 1 --view processes run.trace
says "damaged .*$child" out
says '^damaged    1 of 4 processes' out
mv away "$child"
# Without a clock calls are all there is.
expect 0 "$TEEPERF" record --clock none --follow-fork -o none.trace -- ./first
family 0 --format csv none.trace
says '^step,157,,,,,first,.*,157,,,,,3,,,,,,$' out
says '^step,40,,,,,second,.*,40,,,,,1,,,,,,$' out
family 0 none.trace
says '^ *157 +3  step  +first$' out

# What it is not for.
family 1 "$child"
says "is of process $(pid child) of a recording: --family takes the first process' trace" err
for wrong in '--view tree' '--thread 0' '--sort p99' '--focus step' '--watch' \
	'--time-range 0..1s'; do
	family 129 $wrong run.trace
done
expect 129 "$TEEPERF" analyze --view processes run.trace
says 'shows several traces: give --family' err
mkdir alone
cp run.trace alone
cd alone
family 0 run.trace
says "no trace of another process of this recording is next to 'run.trace'" err
