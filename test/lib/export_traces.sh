# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Traces for tests of exports, after e2e.sh: golden ones, and one of a real program.

golden="recursion two-threads contexts resync cxx compensated counts sampled unmatched open lost no-clock"

# golden_traces: NAME.trace for each of $golden.
golden_traces() {
	for name in $golden hostile; do
		text=$root/test/golden/$name/trace.txt
		[ "$name" != hostile ] || text=hostile.txt
		"$TEEPERF" dump --assemble "$text" -o "$name.trace"
	done
}

# Names of all kinds: of other formats' syntax, too long, the same twice, and no UTF-8 at all.
cat >hostile.txt <<'EOS'
clock kind=tsc hz=1000000000
command
	string "/"
	string "pro;gram\" </svg>"
symbols
	symbol 0x401000 "(1) fn=main # x" file="a file, \"b\"; <c>&.c" line=3
	symbol 0x401010 "calls=7 0"
	symbol 0x401020 "  spaces  "
	symbol 0x401030 "+5 12"
	symbol 0x401040 "twin" file="one.c" line=1
	symbol 0x401050 "twin" file="two.c" line=2
	symbol 0x401060 "twin" file="two.c" line=2
	symbol 0x401070 "\xff\xfe bad \xc3"
	symbol 0x401080 "na\xc3\xafve \xe2\x86\x92"
	symbol 0x401090 "\\back\\slash'2"
	symbol 0x4010a0 "{closure#0}"
	symbol 0x4010b0 "</script><b>&amp;"
threads
	thread tid=11 name="</b>\"; DROP"
	thread tid=12 name="(2)"
chunk tid=11
	0 enter 0x401000
	10 enter 0x401010
	20 enter 0x401020
	40 exit 0x401020
	50 exit 0x401010
	60 enter 0x401030
	61 enter 0x401040
	63 enter 0x401050
	67 enter 0x401060
	75 exit 0x401060
	91 exit 0x401050
	95 exit 0x401040
	99 exit 0x401030
	100 enter 0x401070
	110 enter 0x401080
	111 enter 0x401070
	115 exit 0x401070
	120 exit 0x401080
	130 exit 0x401070
	140 enter 0x401090
	150 exit 0x401090
	160 exit 0x401000
chunk thread=1 tid=12
	5 enter 0x4010a0
	6 enter 0x4010b0
	1000000006 exit 0x4010b0
	1000000007 exit 0x4010a0
end
EOS

# real_trace NAME [ARGS]: real-NAME.trace of export_program.cpp, which is built with these ARGS,
# too; and real-NAME-1ghz.trace, the same with a clock of 1 GHz, so that nothing is rounded.
real_trace() {
	name=$1
	shift
	"$TEEPERF" c++ -O1 -g -pthread "$@" -o "program-$name" "$lib/export_program.cpp"
	expect 0 "$TEEPERF" record -q --clock tsc -o "real-$name.trace" -- "./program-$name"
	"$TEEPERF" dump "real-$name.trace" |
		sed '/^\tpoint/d; s/^clock kind=tsc hz=[0-9]*/clock kind=tsc hz=1000000000/' \
		>1ghz.txt
	"$TEEPERF" dump --assemble 1ghz.txt -o "real-$name-1ghz.trace"
}
