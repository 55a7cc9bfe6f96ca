#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that signals to the recorder reach the program once, that the recorder dies as the program
# does, and that a second SIGINT ends the recording but not the program.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
build_fake

# start END: the recorder in the background, SIGINT not ignored as a shell would have it.
start() {
	begin run env --default-signal=INT "$TEEPERF" record -o "$1.trace" ./fake 20000 "$1"
	recorder=$begun
	await run.out ready
}
# stops STATUS: the recorder ends, with STATUS.
stops() {
	ended "$1" run
}

start pause
kill -INT "$recorder"
stops 130
facts pause.trace records=20000 end_sections=1 exit=2/2

start pause
kill -HUP "$recorder"
stops 129
facts pause.trace records=20000 exit=2/1

start linger
kill -TERM "$recorder"
stops 9
facts linger.trace records=20000 exit=1/9

start linger
kill -INT "$recorder"
await run.out interrupted
sleep 0.2 # what comes within 100 ms is the same wish
kill -INT "$recorder"
stops 0
facts linger.trace records=20000 exit=0/0 end_sections=1
[ "$(grep -c interrupted run.out)" = 1 ] || fail "the second SIGINT was passed on"
program=$(sed -n 's/^ready //p' run.out)
says "\(process $program\) runs on" run.err
kill -TERM "$program" || fail "the program did not run on"
gone "$program"

# timeout(1) sends its signal to us and to our group at once: that is one wish. (A machine that is
# too busy to see both within 100 ms is asked again.)
for try in $(seq 30); do
	rm run.out
	start linger
	kill -INT "$recorder"
	while ! grep -q interrupted run.out; do
		:
	done
	kill -INT "$recorder"
	kill -TERM "$(sed -n 's/^ready //p' run.out)"
	wait "$recorder" || true
	grep -q 'runs on without' run.err || break
done
says 'the program exited with 9' run.err
