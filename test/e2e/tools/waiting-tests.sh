#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What tests wait with (test/lib/e2e.sh): 'await' sees nothing that an earlier process has said, and
# gives up, showing both sides and ending them, when what it waits for does not come. So does
# 'ended' with a process that hangs.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# As slow to begin as a process on a busy machine can be: it has written nothing when the wait
# begins.
for round in one two three; do
	begin slow sh -c "sleep 0.2; echo waiting for $round"
	await slow.out waiting
	says "waiting for $round" slow.out
	ended 0 slow
done

# A test of a test, with a minute of two looks; its process has all the time that it needs to start.
sed 's/1200 \*/2 */' "$lib/e2e.sh" >quick.sh
cat >hangs.sh <<'EOS'
set -eu
. "$1/quick.sh"
begin idle sh -c 'echo I wait; exec sleep 1000'
until grep -q 'I wait' idle.out; do
	sleep 0.05
done
echo "$begun" >idle.pid
case $2 in
await) await idle.out never ;;
ended) ended 0 idle ;;
wait) wait "$begun" ;;
esac
echo 'it went on' >&2
EOS
mkdir lib e2e
cp hangs.sh e2e
for how in await ended wait; do
	expect 1 env TEST_TMP="$PWD/inner" sh e2e/hangs.sh "$PWD" $how
	says '^FAILED: waited in vain for ' err
	says "^---- 'idle', process [0-9]+:" err
	says 'sleep 1000 +State:' err
	says '^I wait' err
	! grep 'it went on' err || fail "$how: a test that gave up went on"
	gone "$(cat inner/idle.pid)"
done
