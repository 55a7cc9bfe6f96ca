# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions for tests that compare a profile with an independent count of the same calls; after
# e2e.sh.
#
# The independent count is callgrind's, of the very same binary, with no recorder there. It follows
# the machine code's calls and returns and knows nothing of the instrumentation. The two are
# comparable because the pass leaves each call of an instrumented function a call (tail calls become
# call and return), and because both runs do the same: options keep the work of the programs
# independent of time, addresses and random numbers.
#
# Debian's valgrind stumbles over the DWARF 5 of newer compilers: programs are built with DWARF 4.

command -v valgrind >/dev/null || skip "valgrind is not there: run tools/setup"

# fetch PACKAGE: the Debian source package, copied to ./PACKAGE.
fetch() {
	source=$("$root/tools/fetch-source" "$1" 2>fetch.log) || {
		cat fetch.log >&2
		skip "the source package '$1' cannot be fetched here"
	}
	cp -R "$source" "$1"
}

# compare_counts STATUS SOURCES INPUT COMMAND...: run COMMAND, which ends with STATUS, under the
# recorder and under callgrind, demand the same output and the same count for each function whose
# source is below SOURCES.
compare_counts() {
	status=$1
	sources=$2
	input=$3
	shift 3
	expect "$status" "$TEEPERF" record -q --mode full --size 256M --ready 256M \
		-o run.trace -- "$@" <"$input"
	mv out recorded.out
	expect "$status" valgrind -q --tool=callgrind \
		--callgrind-out-file=callgrind.out "$@" <"$input"
	mv out counted.out
	cmp recorded.out counted.out || fail "the two runs did not do the same"
	[ -s recorded.out ] || fail "the program did nothing"
	"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv
	awk -F, 'NR > 1 && $5 != 0 { exit 1 }' threads.csv || fail "events were lost"
	"$TEEPERF" analyze run.trace --view top --format csv >top.csv
	python3 "$lib/compare_counts.py" top.csv callgrind.out "$sources" ||
		fail "the counts differ"

	# The comparison itself: one call more in one function, or one function less, is seen.
	awk -F, -v OFS=, 'NR == 3 { $2 += 1 } { print }' top.csv >more.csv
	expect 1 python3 "$lib/compare_counts.py" more.csv callgrind.out "$sources"
	says ': 1 differ$' out
	sed 4d top.csv >less.csv
	expect 1 python3 "$lib/compare_counts.py" less.csv callgrind.out "$sources"
	says ': 1 differ$' out
}
