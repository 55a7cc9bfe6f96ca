#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the trace is complete and the exit status passed on however the program ends.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake

# ends END STATUS KIND/VALUE: 20000 records fill two chunks and part of a third.
ends() {
	expect "$2" "$TEEPERF" record -o "$1.trace" -- ./fake 20000 "$1"
	facts "$1.trace" records=20000 lost=0 chunks_sections=3 end_sections=1 modules=1 threads=1 \
		machine=62 attach=1 draws=3 "command=./fake|20000|$1" "exit=$3"
	says "20000 records of 1 thread .* 0 lost, .*next: teeperf analyze $1.trace" err
}
ends 0 0 1/0
ends 7 7 1/7
ends _exit 5 1/5
ends abort 134 2/6
ends kill 137 2/9
[ -z "$(find . -name 'core*')" ] || fail "a core dump was left"

# Nothing is written but the trace if --quiet is given, and FILE has a default.
expect 0 "$TEEPERF" record -q ./fake 10 0
[ ! -s err ] && [ ! -s out ] || fail "--quiet prints: $(cat out err)"
facts teeperf.trace records=10

# The soft clock: published, and named in the trace.
expect 0 "$TEEPERF" record -q --clock soft -o soft.trace ./fake 10 0
facts soft.trace records=10 stored=1
[ "$(fact clock)" = 4 ] || [ "$(fact clock)" = 5 ] || fail "clock $(fact clock)"
