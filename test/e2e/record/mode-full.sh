#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that in full mode each chunk is used once, and what comes later is counted as lost.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake

# 8 chunks of 8184 records.
expect 0 "$TEEPERF" record -o full.trace --mode full --size 512K ./fake 100000 0
facts full.trace records=65472 lost=34528 mode=2 draws=8 chunks_sections=8
says '34528 events were lost: the log was full' err

# A size that is no power of two is rounded down; one that is too small is refused.
expect 0 "$TEEPERF" record -o full.trace --mode full --size 1023K ./fake 100000 0
facts full.trace records=65472
expect 1 "$TEEPERF" record -o full.trace --size 511K ./fake 1 0
says "'--size' must be at least 512K" err
# More than there is: the message names the place and the option.
expect 1 "$TEEPERF" record -o full.trace --size 900G ./fake 1 0
says "does not fit in /dev/shm, .* smaller '--size'" err
