#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that 'teeperf tui --watch' shows a trace that grows, by file and by process id: numbers
# grow on each page, the cursor stays on its function, keys are answered, and after the end it shows
# the whole trace; and that it reports when the recorder was killed.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/tui.sh"
private_shm || true

"$TEEPERF" cc -O1 -DPERIOD_US=1000 -I "$root/include" -o main "$lib/until_told.c"
for how in file pid; do
	rm -f live.trace*
	begin live "$TEEPERF" record -o live.trace ./main
	recorder=$begun
	await live.out ready
	program=$(sed -n 's/^ready //p' live.out)
	what=live.trace
	[ $how = file ] || what=$program
	tui_walk live "$what" "$program"
	wait "$recorder" || fail "the recorder: $(cat live.err)"
done

begin killed "$TEEPERF" record -o killed.trace ./main
recorder=$begun
await killed.out ready
tui_walk gone killed.trace "$recorder" "$(sed -n 's/^ready //p' killed.out)"
wait "$recorder" || :
