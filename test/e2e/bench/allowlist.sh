#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that benchmarks/allowlist can be run, and that each of its lists chooses something. It says
# nothing of the times.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v "${CC:-cc}" >/dev/null || skip "no C compiler (CC=${CC:-cc})"
expect 0 "$root/benchmarks/allowlist/run" -l 3000 -n 3000
says '^3000 lines, 3000 functions' out
rows=$(awk '$3 == "ms" && $5 == "ms" && $6 > 0 && $6 <= 3000 && $8 == "s"' out | wc -l)
[ "$rows" = 9 ] || {
	cat out >&2
	fail "$rows lists chose something, not 9"
}
