#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that recordings of two builds of a program, in which functions have other numbers and
# addresses, add up in a fleet: sums by key are those of analyze and SQL, and percentiles of
# histograms are within the stated error. A trace that is added twice is there once.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# Two builds of a name, the second with a function more at its beginning, and two static functions
# of one name.
cat >other.c <<'END'
static volatile unsigned other_sink;
__attribute__((noinline)) static void twin(void) { other_sink++; }
__attribute__((noinline)) void other(void) { twin(); }
END
cat >program.c <<'END'
#include <pthread.h>
#define KEEP __attribute__((noinline))
static volatile unsigned sink;
void other(void);
#ifdef MORE
KEEP static void more(void) { sink++; }
#endif
KEEP static void twin(void) { sink++; }
KEEP static void inner(unsigned n) { for (; n; n--) sink++; }
KEEP static void recurse(unsigned n) { if (n) recurse(n - 1); inner(n); }
KEEP static void outer(unsigned n) { for (; n; n--) inner(n % 50); twin(); other(); }
static void *work(void *arg) { outer(300); recurse(5); return arg; }
int main(void)
{
	pthread_t threads[3];
#ifdef MORE
	more();
#endif
	for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
	outer(1000);
	return 0;
}
END
for build in before after; do
	mkdir $build
	[ $build = before ] && more= || more=-DMORE
	expect 0 "$TEEPERF" cc -O1 -g -pthread $more -o $build/program program.c other.c
	for i in 1 2; do
		expect 0 "$TEEPERF" record -q --clock tsc -o $build$i.trace -- ./$build/program
	done
done
expect 0 "$TEEPERF" fleet add --to runs/fleet --label environment=test --label "a b=c\"d" \
	--label "q\"k=v" --git-revision 1234abcd before1.trace before2.trace
says '^teeperf fleet add: added .before1.trace. as run [0-9]{8}-[0-9]{6}-[0-9a-f]{16}: [0-9]+ functions' err
expect 0 "$TEEPERF" fleet add --to runs/fleet --host elsewhere after1.trace after2.trace
python3 "$lib/fleet_check.py" "$TEEPERF" runs/fleet before1.trace before2.trace after1.trace \
	after2.trace >checked || fail "$(cat checked)"
says '^4 runs, [0-9]+ functions, [0-9]+ paths, [0-9]{2,} percentiles$' checked

# Twice is once, under another name, too; nothing was written.
find runs -type f | sort | xargs cksum >was
cp before1.trace again.trace
expect 0 "$TEEPERF" fleet add --to runs/fleet again.trace
says 'is already in the fleet, as run ' err
find runs -type f | sort | xargs cksum | cmp - was || fail "a second time changes files"

# The rows of runs; the function of two files has both.
cat >look.py <<'END'
import json, os, sys
sys.argv = ["look", "", "runs/fleet"]
sys.path.insert(0, os.environ["LIB"])
import fleet_check
runs = {row["trace"]: row for row in fleet_check.table("runs")}
one = runs["before1.trace"]
assert json.loads(one["labels"]) == {"environment": "test", "a b": 'c"d', 'q"k': "v"}, one
assert one["git_revision"] == "1234abcd" and one["host"] == os.uname().nodename, one
assert runs["after1.trace"]["host"] == "elsewhere" and runs["after1.trace"]["labels"] == "{}", runs
assert one["program"] == "program" and one["program_path"] == "./before/program" and one["complete"] == 1, one
assert one["unit"] == "ns" and one["exit_code"] == 0 and one["exit_signal"] is None and one["threads"] == 4, one
assert json.loads(one["facts"])["host"] == one["host"] and one["mode"] == json.loads(one["facts"])["mode"], one
assert one["build_id"] and one["build_id"] != runs["after1.trace"]["build_id"], one
rows = [row for row in fleet_check.table("functions") if row["function"] == "twin"]
assert len(rows) == 4 and all(row["same_key"] == 2 and row["calls"] == 8 for row in rows), rows
keys = {row["fn_key"] for row in fleet_check.table("functions") if row["function"] == "outer"}
assert len(keys) == 1, keys
groups = {row["thread_group"] for row in fleet_check.table("profile")}
assert groups == {"program"}, groups
END
LIB=$lib python3 look.py || fail "rows"

# Wrong usage.
expect 129 "$TEEPERF" fleet add before1.trace
says 'give the fleet.s folder with --to' err
expect 129 "$TEEPERF" fleet add --to runs/fleet
expect 129 "$TEEPERF" fleet add --to runs/fleet --label nothing before1.trace
expect 129 "$TEEPERF" fleet add --to runs/fleet --label a=1 --label a=2 before1.trace
expect 129 "$TEEPERF" fleet
expect 0 "$TEEPERF" fleet --help
# What cannot be added does not keep others out.
expect 1 "$TEEPERF" fleet add --to runs/more nowhere.trace after1.trace
says "nowhere.trace" err
[ "$(find runs/more -name runs.parquet | wc -l)" = 1 ] || fail "the second trace"
[ -z "$(find runs -name '.add-*')" ] || fail "a temporary folder is left"
