#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: quick
#
# 'teeperf' alone shows how to begin, 'teeperf help' all commands, and who mistypes a command or an
# option reads which one is likely to be meant.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

expect 129 "$TEEPERF"
[ ! -s out ] || fail "wrong usage goes to standard error"
[ "$(sed -n 's/^  \([a-z+-]*\)  .*/\1/p' err | xargs)" = 'cc record analyze report diff' ] ||
	fail "$(cat err)"
says "'teeperf help' lists all commands" err
says '^  teeperf record -- ./app$' err
[ "$(wc -l <err)" -le 20 ] || fail "the beginning is long: $(cat err)"
expect 0 "$TEEPERF" help
cp out help
expect 0 "$TEEPERF" --help
cmp help out || fail "help and --help differ"
for command in allowlist fleet completion doctor query; do
	says "^  $command  " help
done

# mistyped WANTED WORD...: it is proposed for one of the words.
mistyped() {
	meant=$1
	shift
	expect 129 "$TEEPERF" "$@"
	says "did you mean '$meant'\?$" err
}
mistyped analyze analyse
mistyped record recrod -- ./app
mistyped check allowlist chekc
mistyped --format analyze --fromat csv
mistyped --format analyze --fromat=csv
mistyped --follow-fork record --folow-fork ./app
mistyped --no-family analyze --no-famliy
mistyped --help report --hlep
mistyped fish completion fihs
for word in x frobnicate; do
	expect 129 "$TEEPERF" $word
	! grep -q 'did you mean' err || fail "nothing is near to '$word': $(cat err)"
	expect 129 "$TEEPERF" analyze --$word
	says "unknown option '--$word'$" err
done
