#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that in stream mode a small log is recycled: a program that waits for the recorder loses
# nothing, and one that does not has each of its losses counted. (fake_program also demands that
# the chunks it is given are zero throughout.)
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake

# 2 million records are 245 chunks; the log has 8.
expect 0 "$TEEPERF" record -o wait.trace --size 512K ./fake 2000000 0 wait
facts wait.trace records=2000000 lost=0 mode=1 draws=245 chunks_sections=245

expect 0 "$TEEPERF" record -o big.trace --size 64M ./fake 2000000 0 wait
facts big.trace records=2000000 lost=0 draws=245

fake=
expect 0 "$TEEPERF" record -o lose.trace --size 512K ./fake 2000000 0 lose
facts lose.trace
total=$(($(fact records) + $(fact lost)))
[ "$total" = 2000000 ] || fail "$total records are there or lost, not 2000000"
