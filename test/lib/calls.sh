# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs that make the same calls wherever they run (calls_*.c, calls_*.cpp), and their calls.
# After e2e.sh. Used where something else than the program changes: the processor, the machine, the
# way to the recorder.

threads=$lib/calls_threads.c
contexts=$lib/calls_contexts.c
unwind=$lib/calls_unwind.cpp

# calls_list: what of them is instrumented, as an allowlist; a library of theirs is library.cpp.
calls_list() {
	printf '%s\n' 'src:*calls_threads.c' 'src:*calls_contexts.c' 'src:*calls_unwind.cpp' \
		'src:*library.cpp' 'fun:wait_for_counter=skip' 'name:std::*=skip'
}

# calls_of TRACE: lines "path calls", and "sum of FUNCTION CALLS"; fails where the trace has odd
# records.
calls_of() {
	"$TEEPERF" analyze "$1" --view tree --format csv >tree.csv 2>tree.err
	if grep -i 'unmatched\|lost' tree.err >&2; then
		show_trace "$1" 'odd records'
		fail "the records of $1 are odd"
	fi
	"$TEEPERF" analyze "$1" --format csv >top.csv 2>top.err
	python3 "$lib/tree_paths.py" tree.csv
	python3 -c 'import csv
for row in sorted(csv.DictReader(open("top.csv")), key=lambda row: row["function"]):
	print("sum of", row["function"], row["calls"])'
}
