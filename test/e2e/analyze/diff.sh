#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that diff shows the changes between runs whose functions have moved, in each format,
# reports when a change may be chance, and fails by its rules and not otherwise.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# run NAME A CALLS BASE: main calls a CALLS times, A ns each; functions begin at BASE.
run() {
	{
		printf 'clock kind=tsc hz=1000000000\ncommand\n\tstring "prog"\nsymbols\n'
		printf '\tsymbol %d main\n\tsymbol %d "a, \\"b\\""\nchunk\n\t0 enter main\n' "$4" \
			$(($4 + 16))
		at=10
		for i in $(seq "$3"); do
			printf '\t%d enter %d\n\t%d exit %d\n' $at \
				$(($4 + 16)) $((at + $2)) $(($4 + 16))
			at=$((at + $2 + 10))
		done
		printf '\t%d exit main\nend\n' $((at + 1000))
	} >"$1.txt"
	"$TEEPERF" dump --assemble "$1.txt" -o "$1.trace"
}

run old1 100 3 4096
run old2 104 3 4096
run old3 102 3 4096
run new1 130 3 8192
run new2 133 3 8192
run new3 128 4 8192

expect 0 "$TEEPERF" diff old1.trace new1.trace
says '^before +old1\.trace \(complete\): ' out
says '^p +unknown: ' out
says '^time +wall: .*; not cpu: has wall time only, not running and waiting times: ' out
says '^ *300 ns +390 ns +\+90 ns +\+30\.0% +\+90 ns +3 +3 +a, "b"$' out
expect 0 "$TEEPERF" diff old1.trace old2.trace old3.trace -- new1.trace new2.trace new3.trace
says '^after +new1\.trace and others \(3 runs, complete\)' out
says '^ *306 ns +434 ns +\+128 ns +\+41\.7% +0\.[01][0-9]* ' out

# Changes of a thousand per cent and more are numbers, too.
run far 1210 3 4096
run farther 25000 3 4096
expect 0 "$TEEPERF" diff old1.trace far.trace
says '\+1110%' out
expect 0 "$TEEPERF" diff old1.trace farther.trace
says '\+24900%' out
! grep 'e+' out || fail "a share is in powers of ten"

# A row for each function, and for each path; each format says the same.
expect 0 "$TEEPERF" diff --format csv old1.trace new1.trace
says '^300,390,90,0\.300000,,300,390,90,0\.300000,,3,3,0\.000000,,"a, ""b""",,"a, ""b""","a, ""b""",300,390,90,0\.300000,,300,390,90,0\.300000,$' out
[ "$(wc -l <out)" -eq 3 ] || fail "not a row for each function"
expect 0 "$TEEPERF" diff --by path --format csv old1.trace new1.trace
says ',"main;a, ""b""",300,390,' out
expect 0 "$TEEPERF" diff --format json --by path old1.trace old2.trace -- new1.trace
python3 - out <<'EOF'
import json, sys
diff = json.load(open(sys.argv[1]))
assert [len(diff[side]) for side in ("before", "after")] == [2, 1], diff
row = [row for row in diff["functions"] if row["path"] == 'main;a, "b"'][0]
assert row["self_before_ns"] == 306 and row["self_after_ns"] == 390 and row["self_p"] is None, row
EOF

# Of a program that had a processor for a third of the time, the time in which it ran is compared.
# starved NAME RAN TOOK: main runs for RAN of the TOOK ns that it takes.
starved() {
	cat >"$1.txt" <<EOF3
clock kind=tsc hz=1000000000
	point 0 5000
	point 100000000 100005000
threads
	thread tid=10
host
	line "sched=perf"
symbols
	symbol 0x401000 main
sched from=5000 lost=0
	switch 5000 tid=10 kind=0
	switch $((6000 + $2)) tid=10 kind=2
	switch $((6000 + $3)) tid=10 kind=0
chunk tid=10
	1000 enter main
	$((1000 + $3)) exit main
end start=5000 end=$((6000 + $3))
EOF3
	"$TEEPERF" dump --assemble "$1.txt" -o "$1.trace"
}
starved quick 5000 14000
starved slow 9000 10000
expect 0 "$TEEPERF" diff quick.trace slow.trace
says '^time +cpu: that of calls in which they had a processor; in wall time 14\.00 us -> 10\.00 us \(-28\.6%\)$' out
says '^ *5\.000 us +9\.000 us +\+4\.000 us +\+80\.0% +-4\.000 us +\+4\.000 us ' out
expect 1 "$TEEPERF" diff --fail-if 'self>+5%' --fail-if 'inclusive>+5%' quick.trace slow.trace
says '^self>\+5%: main: 5000 -> 9000 ns of cpu \(\+80\.0%\)$' err
says '^inclusive>\+5%: main: 5000 -> 9000 ns of cpu' err
expect 1 "$TEEPERF" diff --fail-if 'total>+5%' --by path quick.trace slow.trace
expect 0 "$TEEPERF" diff --time wall --fail-if 'self>+5%' quick.trace slow.trace
says '^time +wall: that of calls from enter to exit$' out
says '^ *14\.00 us +10\.00 us +-4\.000 us +-28\.6% +-4\.000 us +1 +1 +main$' out
expect 0 "$TEEPERF" diff --time preempted --format csv quick.trace slow.trace
says '^9000,1000,-8000,.*,main,14000,10000,-4000,' out
expect 0 "$TEEPERF" diff --time cpu --min-time 6us --format csv quick.trace slow.trace
says '^0,9000,9000,.*,main,,,,,,,,,,$' out
expect 0 "$TEEPERF" diff --format json --by path quick.trace slow.trace
python3 - out <<'EOF'
import json, sys
diff = json.load(open(sys.argv[1]))
row = diff["functions"][0]
assert (diff["time"], diff["total_after_ns"], diff["wall_total_after_ns"]) == ("cpu", 9000, 10000), diff
assert (row["self_before_ns"], row["wall_self_before_ns"]) == (5000, 14000), row
EOF
# Where one trace does not know it, wall time is compared, and diff says so.
expect 0 "$TEEPERF" diff --format csv quick.trace old1.trace
says "wall time is compared: 'old1.trace' has wall time only" err
says '^14000,' out
expect 1 "$TEEPERF" diff --time cpu quick.trace old1.trace
says "'old1.trace': has wall time only" err

# A program whose file was renamed is the same; a library is not.
renamed() {
	cat >"$1.txt" <<EOF2
clock kind=tsc hz=1000000000
command
	string "/"
	string "$2"
modules
	module bias=0x555500000000 start=0x555500001000 end=0x555500002000 path="/nowhere/$3"
	module bias=0x7fff00000000 start=0x7fff10001000 end=0x7fff10002000 path="/nowhere/$4"
symbols
	symbol 0x555500001010 main
	symbol 0x7fff10001010 entry
chunk
	0 enter main
	10 enter entry
	20 exit entry
	$5 exit main
end
EOF2
	"$TEEPERF" dump --assemble "$1.txt" -o "$1.trace"
}
renamed first ./app-1 app-1 lib1.so 100
renamed second ./app-2 app-2 lib1.so 110
renamed third ./link app-3 lib2.so 110
for by in function path; do
	expect 0 "$TEEPERF" diff --by $by --format csv first.trace second.trace
	says '^90,100,10,.*main' out
	says '^10,10,0,.*entry' out
	[ "$(wc -l <out)" -eq 3 ] || fail "renamed: not a row for each function"
	! grep -q 'in common' err || fail "what is in common is not seen"
done
expect 0 "$TEEPERF" diff --format csv first.trace third.trace
says '^90,100,10,.*main' out
[ "$(wc -l <out)" -eq 4 ] || fail "the libraries are taken for the same"
sed 's/main$/start/; s/entry$/other/' first.txt >fourth.txt
"$TEEPERF" dump --assemble fourth.txt -o fourth.trace
expect 0 "$TEEPERF" diff first.trace fourth.trace
says 'no function in common' err

# Rules: a single run always counts; of several runs only changes that are not chance; and calls.
expect 1 "$TEEPERF" diff --fail-if 'self>+5%' old1.trace new1.trace
says '^self>\+5%: a, "b": 300 -> 390 ns \(\+30\.0%\)$' err
expect 0 "$TEEPERF" diff --fail-if 'self>+30%' --fail-if 'calls>+0' \
	--fail-if 'main:self>+5%' old1.trace new1.trace
expect 1 "$TEEPERF" diff --fail-if 'self>+5%' old1.trace old2.trace -- new1.trace new2.trace
expect 0 "$TEEPERF" diff --alpha 0.0001 --fail-if 'self>+5%' old1.trace old2.trace -- \
	new1.trace new2.trace
expect 0 "$TEEPERF" diff --min-share 50 --fail-if 'self>+5%' old1.trace new1.trace
expect 1 "$TEEPERF" diff --fail-if 'calls>+0' old1.trace new3.trace
expect 1 "$TEEPERF" diff --fail-if 'total>+50ns' old1.trace new1.trace
expect 0 "$TEEPERF" diff old1.trace -- new1.trace --fail-if 'self<-5%'
expect 1 "$TEEPERF" diff new1.trace -- old1.trace --fail-if 'self<-5%'

# The message about wrong usage names the right one.
expect 129 "$TEEPERF" diff old1.trace
expect 129 "$TEEPERF" diff old1.trace old2.trace new1.trace
expect 129 "$TEEPERF" diff old1.trace --
expect 129 "$TEEPERF" diff --fail-if 'self' old1.trace new1.trace
says "'self' is not a rule such as" err
expect 129 "$TEEPERF" diff --alpha 2 old1.trace new1.trace
expect 1 "$TEEPERF" diff --columns self,x old1.trace new1.trace
says "'x' is not a column of this table" err
expect 129 "$TEEPERF" diff --columns self --format csv old1.trace new1.trace
says "option '--columns' needs '--format table'" err
expect 129 "$TEEPERF" diff --min-share 1 old1.trace new1.trace
says "option '--min-share' needs '--fail-if'" err
expect 1 "$TEEPERF" diff old1.trace none.trace
printf 'clock kind=none\nchunk\n\t0 enter 4096\n\t0 exit 4096\nend\n' >timeless.txt
"$TEEPERF" dump --assemble timeless.txt -o timeless.trace
expect 1 "$TEEPERF" diff old1.trace timeless.trace
says 'record both with the same --clock' err

# Functions that a budget switched off for a part of the time.
"$TEEPERF" dump --assemble "$lib/../golden/windows/trace.txt" -o windows.trace
expect 0 "$TEEPERF" diff windows.trace windows.trace
says "1 function of 'windows.trace' was recorded for a part of the time only" err
expect 1 "$TEEPERF" diff --fail-if 'calls>+0' windows.trace windows.trace
says '1 function was recorded for a part of the time only .* --fail-if cannot judge it' err

# Without a clock nothing but calls can be judged.
expect 1 "$TEEPERF" diff --fail-if 'self>+5%' timeless.trace timeless.trace
says 'recorded without a clock, so only rules about calls can judge it' err
expect 0 "$TEEPERF" diff --fail-if 'calls>+0' timeless.trace timeless.trace
