#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that uftrace reads an export for it: dump has each call with its times, report, graph and
# replay have the analyzer's sums, and diff, tui, and dump for others work.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/slices.sh"
command -v uftrace >/dev/null || skip "no uftrace (package uftrace)"

slices_traces
# Two functions with one name.
sed -e 's/ one file/ same file/' -e 's/ two file/ same file/' hostile.txt >same.txt
expect 0 "$TEEPERF" dump --assemble same.txt -o traces/same.trace
"$TEEPERF" analyze --raw --format csv traces/same.trace >traces/same.csv 2>notes
slices_check uftrace
for trace in traces/*.trace; do
	name=$(basename "$trace" .trace)
	[ "$name" != contexts ] || continue
	for view in report graph replay; do
		expect 0 uftrace $view -d "$name.uftrace" --no-pager
		cp out "$name.$view"
		expect 0 python3 "$lib/slices.py" uftrace-$view "$name.$view" "traces/$name.csv" \
			"$(slices_how "$name")" "$name.uftrace"
	done
done
expect 0 uftrace report -d program.uftrace --no-pager --srcline
says 'shop::attempt\(int, int\*\) \[.*app.cpp:[0-9]+\]' out
expect 0 uftrace report -d program.uftrace --no-pager --task
says ' worker 1 *$' out
expect 0 uftrace report -d program.uftrace --no-pager --diff clock.uftrace
says 'shop::attempt' out
expect 0 uftrace report -d program.uftrace --no-pager -F 'shop::attempt(int, int*)'
expect 0 uftrace dump -d program.uftrace --flame-graph
says ';shop::attempt\(int, int\*\);shop::dig' out
expect 0 uftrace dump -d program.uftrace --chrome
cp out program.json
expect 0 python3 -m json.tool program.json
expect 0 uftrace replay -d lost.uftrace --no-pager
says 'LOST 3 records' out
# Quits as soon as it looks for a key, with the tree on the screen.
expect 0 env TERM=xterm sh -c 'printf q | script -qc "uftrace tui -d program.uftrace" /dev/null'
says 'shop::attempt' out

# A range of time, from the first record on, has the calls that are in it.
expect 0 uftrace report -d recursion.uftrace --no-pager -r 350ns~650ns
says ' 0\.100 us +0\.100 us +1  a' out
# And so has one that we have made.
expect 0 "$TEEPERF" export --format uftrace --time-range 350..650 \
	-o range.uftrace traces/recursion.trace
"$TEEPERF" analyze --raw --format csv --time-range 350..650 traces/recursion.trace >range.csv
expect 0 uftrace report -d range.uftrace --no-pager
cp out range.report
expect 0 python3 "$lib/slices.py" uftrace-report range.report range.csv

# Two modules, with functions of one name.
cat >one.c <<'EOS'
int common(int);
__attribute__((noinline)) static int same(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int main(void)
{
	return same(common(1)) != 4;
}
EOS
cat >two.c <<'EOS'
__attribute__((noinline)) static int same(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int common(int x)
{
	return same(x) + 1;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -fPIC -shared -o libtwo.so two.c
expect 0 "$TEEPERF" cc -O1 -g -o one one.c ./libtwo.so
expect 0 "$TEEPERF" record -o modules.trace -- ./one
expect 0 "$TEEPERF" export --format uftrace -o modules.uftrace modules.trace
says ' T main$' modules.uftrace/one.sym
says ' T same \(one.c:[0-9]+\)$' modules.uftrace/one.sym
says ' T common$' modules.uftrace/libtwo.so.sym
expect 0 uftrace report -d modules.uftrace --no-pager -f call
says '^ +1  same \(two.c:[0-9]+\)$' out

# Two modules of one name in different folders: two functions have one address.
cat >twins.txt <<'EOS'
clock kind=tsc hz=1000000000
modules
	module bias=0x400000 start=0x401000 end=0x402000 path="/nowhere/one/twin.so"
	module bias=0x500000 start=0x501000 end=0x502000 path="/nowhere/two/twin.so"
symbols
	symbol 0x401010 first
	symbol 0x501010 second
chunk
	0 enter first
	10 enter second
	30 exit second
	60 exit first
end
EOS
expect 0 "$TEEPERF" dump --assemble twins.txt -o twins.trace
expect 0 "$TEEPERF" export --format uftrace -o twins.uftrace twins.trace
expect 0 uftrace report -d twins.uftrace --no-pager
says '^ +0\.060 us +0\.040 us +1  first$' out
says '^ +0\.020 us +0\.020 us +1  second$' out

# Calls that are deeper than the reader's stack are left out, and reported.
{
	printf 'clock kind=tsc hz=1000000000\nsymbols\n\tsymbol 0x401000 down\nchunk\n'
	seq 3000 | sed 's/.*/\t& enter down/'
	seq 3001 6000 | sed 's/.*/\t& exit down/'
	echo end
} >deep.txt
expect 0 "$TEEPERF" dump --assemble deep.txt -o deep.trace
expect 0 "$TEEPERF" export --format uftrace -o deep.uftrace deep.trace
says '1977 calls deeper than 1023 levels' err
expect 0 uftrace report -d deep.uftrace --no-pager
says '^ +5\.999 us +5\.999 us +1023  down' out

# A directory is not overwritten, and does not go to standard output.
expect 1 "$TEEPERF" export --format uftrace -o deep.uftrace deep.trace
says 'not an empty directory' err
expect 1 "$TEEPERF" export --format uftrace -o - deep.trace
says 'cannot go to standard output' err
