#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that babeltrace2 reads an export in the Common Trace Format: each call with its times,
# thread and name, whatever the name is; losses, of which it warns; and gaps.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/slices.sh"
command -v babeltrace2 >/dev/null || skip "no babeltrace2 (package babeltrace2)"

slices_traces
slices_check ctf
expect 0 babeltrace2 lost.ctf
says 'teeperf:lost: .*count = 3' out
says 'discarded' err
expect 0 babeltrace2 switches.ctf
says '03000\].*teeperf:switched_off' out
says '04000\].*teeperf:switched_on' out
expect 0 babeltrace2 program.ctf
says 'procname = "worker 1"' out
[ ! -s err ] || fail "babeltrace2 complains: $(cat err)"
# Each packet says when its first and its last event are, which viewers seek by. babeltrace2 does
# not show it: of a tracer called lttng-ust, it takes other times for the ends.
{
	printf 'clock kind=tsc hz=1000000000\nsymbols\n\tsymbol 0x401000 down\nchunk\n'
	seq 0 7 20993 | sed 's/.*/\t& enter down/'
	seq 21000 5 35995 | sed 's/.*/\t& exit down/'
	echo end
} >long.txt
expect 0 "$TEEPERF" dump --assemble long.txt -o long.trace
expect 0 "$TEEPERF" export --format ctf -o long.ctf long.trace
expect 0 babeltrace2 long.ctf
python3 - long.ctf/thread-0 \
	<<'EOS' || fail "packets are not from their first event to their last one"
import struct, sys
data = open(sys.argv[1], "rb").read()
packets = events = 0
while data:
    magic, _, begin, end, content, size, _ = struct.unpack("<IIQQQQQ", data[:48])
    assert magic == 0xC1FC1FC1 and content == size, (magic, content, size)
    body, times = data[48:size // 8], []
    while body:
        kind, time = struct.unpack("<BQ", body[:9])
        assert kind < 2, kind
        times.append(time)
        # vtid, procname, addr and name
        body = body[body.index(b"\0", 13) + 13:]
    assert (begin, end) == (times[0], times[-1]) and begin < end, (begin, end, times[0], times[-1])
    packets, events, data = packets + 1, events + len(times), data[size // 8:]
assert packets > 2 and events == 6000, (packets, events)
EOS
# Nothing recorded is a trace, too.
expect 0 "$TEEPERF" dump --assemble "$root/test/golden/empty/trace.txt" -o empty.trace
expect 0 "$TEEPERF" export --format ctf -o empty.ctf empty.trace
expect 0 babeltrace2 empty.ctf
