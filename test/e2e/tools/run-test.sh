#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tools/run-test removes the folder of a test that has passed, and keeps that of one that failed,
# was skipped, or ran with TEEPERF_KEEP=1. tools/run-tests shows the ten slowest tests, and ctest's
# count is its last line.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
# left STATUS KEEP: how a test ends, and whether its folder is there afterwards.
left() {
	expect "$1" env "TEST_TMP=$PWD/one" TEEPERF_KEEP="$2" "$root/tools/run-test" \
		sh -c 'pwd >found && [ -z "${TEEPERF_KEEP:-}" ] && exit '"$1"
	[ ! -d one ] || says "^$PWD/one\$" one/found
	[ -d one ] && echo kept || echo removed
}
[ "$(left 0 0)" = removed ] || fail "the folder of a passed test is kept"
[ "$(left 0 1)" = kept ] || fail "TEEPERF_KEEP=1 does not keep a folder"
[ "$(left 1 0)" = kept ] || fail "the folder of a failed test is gone"
[ "$(left 77 0)" = kept ] || fail "the folder of a skipped test is gone"
# A command that failed with its messages in a file is not silent.
expect 1 env "TEST_TMP=$PWD/one" "$root/tools/run-test" sh \
	-ec 'cat "no such file" 2>notes; echo never'
says '^== notes$' out
says 'no such file' out
! grep never out || fail "the test went on"

mkdir suite
for number in 01 02 03 04 05 06 07 08 09 10 11; do
	echo "add_test(passes$number true)"
done >suite/CTestTestfile.cmake
cat >>suite/CTestTestfile.cmake <<'EOS'
add_test(slow sleep 0.5)
add_test(skipped sh -c "exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
EOS
expect 0 "$root/tools/run-tests" suite
[ "$(tail -n 1 out)" = '100% tests passed, 0 tests failed out of 13 (1 skipped)' ] ||
	fail "the last line: $(tail -n 1 out)"
sed '1,/^The slowest, in seconds:$/d; /^$/,$d' out >slowest
[ "$(wc -l <slowest)" = 10 ] || fail "not ten slowest tests: $(cat slowest)"
says '^ +[0-9]+\.[0-9]+ slow$' slowest
echo 'add_test(broken false)' >>suite/CTestTestfile.cmake
expect 8 "$root/tools/run-tests" suite
[ "$(tail -n 1 out)" = '93% tests passed, 1 tests failed out of 14 (1 skipped)' ] ||
	fail "the last line: $(tail -n 1 out)"
