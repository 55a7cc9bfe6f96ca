#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that functions of several recordings can be added up: fn_key in Parquet and SQL is the same for a function whatever
# its number is, in runs that have called other functions, and in runs of a program that was built anew and is loaded elsewhere.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"

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

# The old name of calls.self_raw is understood, and in the way of nobody.
"$TEEPERF" query --format csv one.trace 'SELECT sum(self) = sum(self_raw) AS same FROM calls' >out
[ "$(cat out)" = 'same
1' ] || fail "calls.self: $(cat out)"
"$TEEPERF" query --format csv one.trace 'SELECT * FROM calls LIMIT 1' >out
says '^id,parent,tid,fn,path,depth,rec,t0,t1,dur,self_raw,cost,how,away$' out
"$TEEPERF" export --format csv -o - one.trace >out
says '^id,parent,tid,thread,fn,function,path,depth,rec,t0,t1,dur,self_raw,cost,how,away$' out
