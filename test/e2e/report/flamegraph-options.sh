#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves what a flame graph shows that is inverted, compared with another trace, an icicle, or cut.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/export_traces.sh"
frames() {
	python3 "$lib/flamegraph_frames.py" "$@"
}
flame() {
	"$TEEPERF" export --format flamegraph "$@"
}

# Inverted: each function with its self time, of all threads, and above it the ways to it.
golden_traces
real_trace plain
for trace in recursion two-threads contexts cxx compensated hostile counts real-plain; do
	for options in "" --raw --icicle; do
		expect 0 flame --inverted $options -o out.svg $trace.trace
		expect 0 "$TEEPERF" analyze \
			--format csv $(echo $options | sed s/--icicle//) $trace.trace
		mv out $trace.csv
		expect 0 frames out.svg inverted $trace.csv
		says '[1-9][0-9]* functions compared' out
	done
done
expect 0 flame --inverted -o out.svg recursion.trace
expect 0 frames out.svg list
diff - out <<'EOS'
0 - prog: 1.000 us, 100.00%
1 - a: 600 ns, 60.00%; 3 calls
1 - b: 200 ns, 20.00%; 1 call
1 - main: 200 ns, 20.00%; 1 call
2 - a: 200 ns, 20.00% in a from here; 1 call
2 - a: 200 ns, 20.00% in b from here; 1 call
2 - b: 100 ns, 10.00% in a from here; 1 call
2 - main: 300 ns, 30.00% in a from here; 1 call
3 - a: 100 ns, 10.00% in a from here; 1 call
3 - a: 200 ns, 20.00% in b from here; 1 call
3 - main: 200 ns, 20.00% in a from here; 1 call
4 - a: 100 ns, 10.00% in a from here; 1 call
4 - main: 200 ns, 20.00% in b from here; 1 call
5 - main: 100 ns, 10.00% in a from here; 1 call
EOS
expect 0 flame --inverted --weight calls -o out.svg no-clock.trace
expect 0 frames out.svg list

# Compared: by names, whatever the addresses, the threads and the rate of the clock are.
trace() {
	printf 'clock kind=tsc hz=%s\ncommand\n\tstring "/"\n\tstring "program"\nsymbols\n' $1
	printf '\tsymbol 0x%s000 main\n\tsymbol 0x%s010 same\n\tsymbol 0x%s020 more\n' $2 $2 $2
	printf '\tsymbol 0x%s030 less\n\tsymbol 0x%s040 "new<>"\n\tsymbol 0x%s050 gone\n' $2 $2 $2
	cat
	echo end
}
trace 1000000000 401 >before.txt <<'EOS'
chunk
	0 enter main
	0 enter same
	100 exit same
	100 enter more
	200 exit more
	200 enter less
	600 exit less
	600 enter gone
	650 enter same
	680 exit same
	680 exit gone
	700 exit main
EOS
trace 500000000 7f1 >after.txt <<'EOS'
chunk thread=1
	0 enter main
	0 enter same
	50 exit same
	50 enter more
	300 exit more
	300 enter less
	400 exit less
	400 enter new<>
	401 exit new<>
	411 exit main
EOS
for name in before after; do
	expect 0 "$TEEPERF" dump --assemble $name.txt -o $name.trace
done
expect 0 flame --baseline before.trace -o out.svg after.trace
expect 0 frames out.svg list
diff - out <<'EOS'
0 same0 program: 822 ns, 100.00% (was 620 ns, +32.6%)
1 same0 main: 822 ns, 100.00% (was 620 ns, +32.6%); self 20 ns (was 20 ns, +0.0%); 1 call
2 less3 less: 200 ns, 24.33% (was 400 ns, -50.0%); self 200 ns (was 400 ns, -50.0%); 1 call
2 more4 more: 500 ns, 60.83% (was 100 ns, +400.0%); self 500 ns (was 100 ns, +400.0%); 1 call
2 same0 new<>: 2 ns, 0.24% (new); self 2 ns (new); 1 call
2 same0 same: 100 ns, 12.17% (was 100 ns, +0.0%); self 100 ns (was 100 ns, +0.0%); 1 call
EOS
says '; gone: 80 ns' out.svg
says 'orange: more self time than in before.trace, blue: less' out.svg
expect 0 flame --baseline before.trace --weight calls -o out.svg after.trace
expect 0 frames out.svg list
says '^2 more4 new<>: 1 call, .* \(new\); self 2 ns; 1 call of it here \(new\)$' out
says '^2 same0 less: ' out
says '; gone: 2 calls' out.svg
# Against itself nothing has changed.
expect 0 flame --baseline real-plain.trace -o out.svg real-plain.trace
expect 0 frames out.svg list
! grep -Ev '^[0-9]+ same0 ' out || fail "a trace differs from itself"
! grep -E '[(]was' out | grep -v '+0.0%)' || fail "a trace differs from itself"

# Nor if a function calls two others of one name.
cat >twins.txt <<'EOT'
clock kind=tsc hz=1000000000
symbols
	symbol 0x1000 main
	symbol 0x2000 init
	symbol 0x3000 init
	symbol 0x4000 first
	symbol 0x5000 second
chunk
	0 enter 0x1000
	10 enter 0x2000
	11 enter 0x4000
	15 exit 0x4000
	20 exit 0x2000
	30 enter 0x3000
	31 enter 0x5000
	60 exit 0x5000
	70 exit 0x3000
	100 exit 0x1000
end threads=1
EOT
"$TEEPERF" dump --assemble twins.txt -o twins.trace
expect 0 flame --baseline twins.trace -o out.svg twins.trace
expect 0 frames out.svg list
! grep -Ev '^[0-9]+ same0 ' out || fail "a trace with two functions of a name differs from itself"

# Without times there is nothing to compare but calls.
expect 1 flame --baseline no-clock.trace -o out.svg before.trace
says "'no-clock.trace': recorded without a clock.*use --weight calls" err
expect 0 flame --baseline no-clock.trace --weight calls -o out.svg before.trace
expect 0 flame --baseline compensated.trace -o out.svg before.trace
says 'only one of the traces has times as recorded.*--raw' err
expect 0 flame --baseline compensated.trace --raw -o out.svg before.trace
! grep -q 'only one of the traces' err || fail "--raw makes them alike"
expect 1 flame --baseline missing.trace -o out.svg before.trace
says "'missing.trace'" err

# Cut: narrower branches are absent, and counted. 1176 pixels are the whole.
expect 0 flame --min-width 300 -o out.svg before.trace
expect 0 frames out.svg list
[ "$(wc -l <out)" = 3 ] || fail "$(cat out)"
says ', 12 events; 3 branches too narrow' out.svg

for wrong in "--min-width 0" "--min-width x" "--min-width 1e9" "--min-width nan" \
	"--inverted --baseline before.trace"; do
	expect 129 flame $wrong -o out.svg before.trace
done
for option in --icicle --inverted "--baseline before.trace" "--min-width 1"; do
	expect 129 "$TEEPERF" export --format folded $option before.trace
	says "option '${option%% *}' needs '--format flamegraph'" err
done
