#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that functions of several recordings can be added up: fn_key in Parquet and SQL is the same
# for a function whatever its number is, in runs that have called other functions, and in runs of a
# program that was built anew and is loaded elsewhere.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# In the second run "first" was not called, so that all others have other numbers.
for run in one two; do
	{
		cat <<'EOF'
clock kind=tsc hz=1000000000
command
	string "/"
	string "fleet"
symbols
	symbol 0x401000 main file="main.c" line=1
	symbol 0x401010 first file="main.c" line=2
	symbol 0x401020 second file="main.c" line=3
	symbol 0x401030 "third(int)" file="main.c" line=4
chunk
EOF
		[ $run = two ] || printf '\t0 enter first\n\t70 exit first\n'
		printf '\t100 enter second\n\t200 enter 0x401030\n\t230 exit 0x401030\n\t300 exit second\nend\n'
	} >$run.txt
	expect 0 "$TEEPERF" dump --assemble $run.txt -o $run.trace
	expect 0 "$TEEPERF" export --format parquet -o made $run.trace
done
expect 0 python3 "$lib/fleet_query.py" "$TEEPERF" made one.trace two.trace
says '^3 functions, 5 calls of 2 runs$' out

# A program in two builds of the same name, the second with a function more at its beginning.
cat >program.c <<'EOF'
#define KEEP __attribute__((noinline))
static volatile unsigned sink;
#ifdef MORE
KEEP static void more(void) { sink++; }
#endif
KEEP static void inner(void) { sink++; }
KEEP static void outer(unsigned n) { for (; n; n--) inner(); sink++; }
int main(void)
{
#ifdef MORE
	more();
#endif
	outer(3);
	return 0;
}
EOF
for run in before after; do
	mkdir $run
	[ $run = before ] && more= || more=-DMORE
	expect 0 "$TEEPERF" cc -O1 $more -o $run/program program.c
	expect 0 "$TEEPERF" record -q --clock tsc -o $run.trace -- ./$run/program
	expect 0 "$TEEPERF" export --format parquet -o built $run.trace
done
expect 0 python3 "$lib/fleet_query.py" "$TEEPERF" built before.trace after.trace
says '^4 functions, 11 calls of 2 runs$' out

# Columns have one name in all formats; SQL knows the old names for one release, and shows the new
# ones alone.
expect 0 "$TEEPERF" cc -O1 -pthread -o threads "$lib/query_program.c"
expect 0 "$TEEPERF" record -q --clock tsc -o threads.trace -- ./threads 2 20
old_names=0
for table in calls events functions latencies modules paths thread_paths threads; do
	expect 0 "$TEEPERF" query --schema=$table
	sed -n 's/^  old names, for one release: //p' out | tr ',' '\n' >names
	"$TEEPERF" query --format csv threads.trace "SELECT * FROM $table LIMIT 1" 2>/dev/null |
		head -n 1 | tr ',' '\n' >shown
	[ -s shown ] || fail "$table has no columns"
	while read -r old equals new; do
		[ "$equals" = = ] || fail "$table: $old $equals $new"
		old_names=$((old_names + 1))
		! grep -qx "$old" shown || fail "$table shows $old"
		"$TEEPERF" query --format csv threads.trace \
			"SELECT count(*) > 0 AND sum($old IS NOT $new) = 0 AS same FROM $table" \
			>out 2>err
		[ "$(cat out)" = 'same
1' ] || fail "$table.$old is not $new: $(cat out err)"
	done <names
done
[ $old_names -ge 40 ] || fail "$old_names old names"
for query in 'SELECT name, calls, timed, self, inclusive, total, min, max, p50, p90, p99
	FROM functions ORDER BY self DESC' \
	'SELECT id, tid, t0, t1, dur, self_raw, self, cost, dur_ticks, self_ticks FROM calls
		WHERE dur > 0 ORDER BY t0 LIMIT 3' \
	'SELECT os_tid, t_first, t_last, busy, cpu, delay FROM threads' \
	'SELECT tid, t FROM events LIMIT 3' \
	'SELECT tid, total, self, p50, p99, total_ticks, self_ticks FROM thread_paths' \
	'SELECT total, self, min, max FROM paths' \
	'SELECT calls, p999 FROM latencies' 'SELECT name, path, loaded, unloaded FROM modules'; do
	expect 0 "$TEEPERF" query threads.trace "$query"
done

# tid is the system's number everywhere, and thread the trace's. What joins by tid goes on working;
# a note says what has changed.
"$TEEPERF" analyze --view threads --format csv threads.trace | cut -d, -f1-3 >view
"$TEEPERF" query --format csv threads.trace 'SELECT thread, tid, name FROM threads' >out 2>err
cmp view out || fail "threads in SQL and in the view: $(cat view out)"
! grep -q 'note: tid' err || fail "a note about threads.tid: $(cat err)"
"$TEEPERF" query --format csv threads.trace \
	"SELECT count(*) = (SELECT count(*) FROM calls) AS joined,
	sum(t.thread = c.thread) = count(*) AS same FROM calls c JOIN threads t ON t.tid = c.tid" \
	>out 2>err
[ "$(cat out)" = 'joined,same
1,1' ] || fail "a join by tid: $(cat out)"
says 'note: tid is the system' err
# An alias that is a column, too, by an old name or the new one, is not what HAVING takes.
for name in total duration_ns; do
	expect 0 "$TEEPERF" query --format csv threads.trace \
		"SELECT fn, sum(duration_ns) AS $name FROM calls JOIN functions USING (fn)
		GROUP BY fn HAVING $name > 0"
	says "note: $name in HAVING is the column of that name" err
done
# Nor in brackets, in quotes, or as the second one.
for having in '(total > 0)' '"total" > 0' 'min(fn) > 0 AND calls >= 0 AND total > 0'; do
	expect 0 "$TEEPERF" query --format csv threads.trace \
		"SELECT fn, calls, sum(duration_ns) AS total
		FROM calls JOIN functions USING (fn) GROUP BY fn HAVING $having"
	says "note: total in HAVING is the column of that name" err
done
for having in 'sum(duration_ns) > 0' 'sum(total) > 0' 'all_of_it > 0' 'calls > 0'; do
	expect 0 "$TEEPERF" query --format csv threads.trace \
		"SELECT function, calls, sum(duration_ns) AS total, sum(duration_ns) AS all_of_it
		FROM calls JOIN functions USING (fn) GROUP BY fn HAVING $having"
	! grep -q 'note: .* in HAVING' err || fail "a note about $having: $(cat err)"
done
"$TEEPERF" query --format csv threads.trace "SELECT (SELECT count(*) FROM calls WHERE tid = t.tid) =
	(SELECT count(*) FROM calls WHERE +thread = t.thread) AS same, (SELECT count(*) FROM calls c JOIN functions f ON f.fn = c.fn
	WHERE c.tid > t.tid AND f.function = 'mix') = (SELECT count(*) FROM calls c JOIN functions f ON f.fn = c.fn JOIN threads o
	ON o.thread = +c.thread WHERE o.tid > t.tid AND f.function = 'mix') AS above
	FROM threads t" \
	2>/dev/null | sort -u >out
[ "$(cat out)" = '1,1
same,above' ] || fail "conditions on tid: $(cat out)"

"$TEEPERF" query --format csv one.trace 'SELECT * FROM calls LIMIT 1' >out
says '^id,parent,thread,fn,path,depth,rec,start_ns,end_ns,duration_ns,self_raw_ns,cost_ns,inclusive_ns,self_ns,how,away,self_cpu_ns,self_wait_ns,self_preempted_ns,inclusive_cpu_ns,inclusive_wait_ns,inclusive_preempted_ns$' out
"$TEEPERF" export --format csv -o - one.trace >out
says '^id,parent,thread,tid,name,fn,function,path,depth,rec,start_ns,end_ns,duration_ns,self_raw_ns,cost_ns,inclusive_ns,self_ns,how,away,self_cpu_ns,self_wait_ns,self_preempted_ns,inclusive_cpu_ns,inclusive_wait_ns,inclusive_preempted_ns$' out
