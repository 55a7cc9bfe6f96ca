#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves what becomes of the output file: an older one is kept, one that cannot be written is
# reported, and one that cannot be finished holds all that fitted.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
build_fake

expect 0 "$TEEPERF" record -o x.trace ./fake 10 0
expect 0 "$TEEPERF" record -o x.trace ./fake 20 0
says "the older trace is now 'x.trace.old'" err
facts x.trace records=20
facts x.trace.old records=10

# The program is not even started if there is nowhere to write.
expect 1 "$TEEPERF" record -o nowhere/x.trace sh -c 'touch started'
says "'nowhere/x.trace': cannot create the trace: No such file or directory" err
expect 1 "$TEEPERF" record -o . sh -c 'touch started'
expect 1 "$TEEPERF" record -o /dev/full sh -c 'touch started'
says "'/dev/full': cannot write the trace: No space left on device" err
[ ! -e started ] || fail "the program ran although the trace cannot be written"
[ -c /dev/full ] || fail "/dev/full was renamed"

# ... nor if the log could not be found again should the recorder die.
mkdir small
in_page() {
	unshare -m sh -c 'mount -t tmpfs -o size=4k tmpfs small && exec "$@"' sh "$@"
}
if in_page true 2>err; then
	expect 1 in_page "$TEEPERF" record -o small/x.trace sh -c 'touch started' \
		"$(head -c 3900 /dev/zero | tr '\0' x)"
	says "'small/x.trace': cannot write the trace: No space left on device" err
	[ ! -e started ] || fail "the program ran although its log is not named"
fi
# A FIFO is not waited for.
mkfifo fifo
expect 1 "$TEEPERF" record -o fifo sh -c 'touch started'
says "'fifo': is a FIFO that nobody reads: start its reader first, or name a file" err
[ ! -e started ] || fail "the program ran although nobody reads the trace"
cat fifo >from.fifo &
exec 3>fifo
expect 0 "$TEEPERF" record -q -o fifo ./fake 100 0
exec 3>&-
wait
facts from.fifo records=100 end_sections=1

# A limit that is reached half-way stands for a disk that runs full. The program runs to its end.
(
	ulimit -f 8192 # 4 MiB, in blocks of 512 bytes
	expect 1 "$TEEPERF" record -o cut.trace --size 512K ./fake 1000000 7 wait
)
says "'cut.trace': cannot write the trace: File too large" err
says "lacks the last [0-9]+ chunks" err
facts cut.trace end_sections=1 exit=1/7 threads=1
[ "$(fact records)" -gt 100000 ] || fail "only $(fact records) records were kept"

# A pipe takes a trace too.
expect 0 sh -c '"$TEEPERF" record -q -o /dev/stdout ./fake 100 0 | cat >piped.trace'
facts piped.trace records=100 end_sections=1
