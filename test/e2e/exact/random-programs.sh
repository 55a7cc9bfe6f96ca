#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that random programs do the same with instrumentation as without, and that their profiles
# have each call of each function, path by path and thread by thread, as an interpreter of the same
# programs computes it: direct, indirect, virtual and tail calls, callbacks, exceptions, longjmp,
# signals, threads, constructors and early exits, in C and C++, several files and a shared library,
# all optimisations.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# The same seeds each time, so that a failure repeats.
if [ "${TEEPERF_FULL:-0}" = 1 ]; then
	python3 "$root/test/random/random_programs.py" 1000 1000 || fail "there are differences"
else
	python3 "$root/test/random/random_programs.py" --plain 5 1 24 ||
		fail "there are differences"
fi

# The comparison itself: a program that does not have all of its functions recorded is seen.
python3 "$root/test/random/random_programs.py" --spoil 1 2 >spoiled &&
	fail "a lost function is not seen"
says '^2 programs, .* 2 failed' spoiled
