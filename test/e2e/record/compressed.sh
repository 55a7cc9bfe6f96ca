#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a trace that was compressed as it was recorded holds the same records: read by a
# decoder made from the format document alone, analyzed to the same counts, whole after a kill of
# the recorder; and that sections which cannot be unpacked are reported with file and offset.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
build_fake

expect 0 "$TEEPERF" record -o plain.trace --size 512K ./fake 2000000 0 wait
expect 0 "$TEEPERF" record --compress -o packed.trace --size 512K ./fake 2000000 0 wait
facts packed.trace records=2000000 lost=0 chunks_sections=0 packed_sections=245 end_chunks=245
[ $(($(wc -c <packed.trace) * 10)) -lt "$(wc -c <plain.trace)" ] ||
	fail "the compressed trace is not even ten times smaller"
expect 0 "$TEEPERF" record --compress=9 -o nine.trace --size 512K ./fake 2000000 0 wait
facts nine.trace records=2000000 lost=0 packed_sections=245
expect 0 "$TEEPERF" record --compress=0 -o none.trace --size 512K ./fake 2000000 0 wait
facts none.trace records=2000000 chunks_sections=245 packed_sections=0

calls() {
	"$TEEPERF" analyze --format csv "$1" 2>err | cut -d, -f1,2
}
calls plain.trace >plain.calls
calls packed.trace >packed.calls
[ "$(wc -l <plain.calls)" -gt 1 ] || fail "the program has no functions"
cmp plain.calls packed.calls || fail "the two recordings have different counts"

for level in 20 x '' -1; do
	expect 129 "$TEEPERF" record --compress="$level" ./fake 1 0
	says "option '--compress' takes " err
done

# A killed recorder leaves whole sections.
begin killed "$TEEPERF" record --compress -o killed.trace ./fake 20000 pause
recorder=$begun
await killed.out ready
await_true 'facts killed.trace
	[ "$(fact packed_sections)" = 2 ] && [ "$(fact threads)" = 1 ]' 'the chunks of killed.trace'
program=$(sed -n 's/^ready //p' killed.out)
kill -KILL "$recorder"
wait "$recorder" || true
facts killed.trace records=16368 end_sections=0
kill -KILL "$program"
gone "$program"
expect 0 "$TEEPERF" recover killed.trace
facts killed.trace records=20000 end_sections=1

# The third packed chunk is made to lie about its frame; its checksum is mended.
python3 "$lib/damage_packed.py" packed.trace bad.trace 3 >where
fake=
expect 1 "$TEEPERF" analyze --format csv bad.trace
says "'bad.trace' at offset $(cat where): packed chunk whose names do not unpack: " err
[ "$(grep -c 'unpack' err)" = 1 ] || fail "it is not one error"
# What precedes it is used: two chunks of 8184 records.
awk -F, 'NR > 1 { calls += $2 } END { exit calls < 8000 || calls > 16368 }' out ||
	fail "what precedes the damage is not shown"
