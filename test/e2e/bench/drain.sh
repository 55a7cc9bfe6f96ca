#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that benchmarks/drain can be run: every row is there with a number, for made-up records and
# for those of a trace, and nothing is lost where the program waits. It says nothing of the numbers.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
: "${TEEPERF_BUILD:?folder of the build}"
command -v "${CC:-cc}" >/dev/null || skip "no C compiler (CC=${CC:-cc})"
build_fake

# The libraries may have been built with sanitizers or for coverage.
CFLAGS=$(sed -n -e 's/^TEEPERF_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' \
	-e 's/^TEEPERF_COVERAGE:BOOL=ON/--coverage/p' "$TEEPERF_BUILD/CMakeCache.txt")
export CFLAGS
expect 0 "$TEEPERF" record -q -o fake.trace ./fake 20000 0 wait
expect 0 "$root/benchmarks/drain/run" -b "$TEEPERF_BUILD" -n 100000 fake.trace
mv out table
rows() {
	[ "$(grep -Ec -- "$1" table)" = "$2" ] || {
		cat table >&2
		fail "not $2 rows of '$1'"
	}
}
rows '^(made-up records|fake.trace), (raw|packed, level 1), ' 8
rows '^(memcpy out of the log|checksum|clear|write to a new file) +[0-9.]+ ns/event$' 32
rows '^moved to the trace +[0-9.]+ M events/s$' 8
rows '^lost +[0-9]+ of 98208 events$' 8
rows "^the drain's processor time +[0-9.]+ ns/event\$" 8
rows '^size of the trace +[0-9.]+ bytes/event$' 8
awk '/as fast as it goes/ { waits = 1 } /offered/ { waits = 0 }
	/^lost/ && waits && $2 != 0 { exit 1 }' table ||
	fail "events were lost though the program waits"

expect 1 "$root/benchmarks/drain/run" -b "$TEEPERF_BUILD" -n 100
says 'give a larger -n' err
