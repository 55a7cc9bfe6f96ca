#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that nothing that was recorded is lost when program, recorder or both are killed at any
# moment: each call that the program knows to be complete is in the trace, once it was recovered, or
# is counted as lost. TEEPERF_FULL=1: 500 rounds. A failed round is repeated with TEEPERF_CRASH_SEED
# and TEEPERF_CRASH_ROUNDS=1.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"

private_shm || true
rounds=30
[ "${TEEPERF_FULL:-0}" = 1 ] && rounds=500
echo 'fun:leaf' >leaf.allow
expect 0 "$TEEPERF" cc --allowlist=leaf.allow -O1 -g -pthread -o crash "$lib/crash_program.c"
python3 "$lib/crash_rounds.py" "$TEEPERF" ./crash "${TEEPERF_CRASH_ROUNDS:-$rounds}" \
	"${TEEPERF_CRASH_SEED:-1}"
