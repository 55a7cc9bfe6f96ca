#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that analyze --watch shows a growing trace, by process id and by file, says how old its
# data are, and ends with the recording, also where the recorder was killed, by q on a terminal, and
# by SIGINT.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true

"$TEEPERF" cc -O1 -DPERIOD_US=1000 -I "$root/include" -o main "$lib/until_told.c"
begin live "$TEEPERF" record -o live.trace ./main
recorder=$begun
trap 'kill "$recorder" 2>/dev/null || :' EXIT
await live.out ready
program=$(sed -n 's/^ready //p' live.out)

# rounds FILE: wait until there were three that show leaf.
rounds() {
	shown=$1
	await_true '[ "$(grep -c " leaf" "$shown")" -ge 3 ]' "three rounds in $1"
}

begin by_pid "$TEEPERF" analyze --watch --interval 50ms "$program"
by_pid=$begun
begin by_file "$TEEPERF" analyze --watch --interval 50ms --sort calls live.trace
by_file=$begun
rounds by_pid.out
says '^watching .* MB, written .* s ago; recording on, for ' by_pid.out
# By SIGINT it ends well; a shell's children in the background ignore it unless they ask for it.
python3 - "$TEEPERF" <<'EOF' || fail "SIGINT, or q on a terminal"
import os, pty, select, signal, subprocess, sys
watch = [sys.argv[1], "analyze", "--watch", "--interval", "50ms", "live.trace"]
process = subprocess.Popen(watch, stdout=subprocess.PIPE)
for line in process.stdout:
    if b" leaf" in line:
        break
process.send_signal(signal.SIGINT)
process.stdout.read()
assert process.wait() == 0, process.returncode
# On a terminal; redrawn from its top until q is pressed.
pid, terminal = pty.fork()
if pid == 0:
    os.execv(watch[0], watch)
shown = b""
while shown.count(b"\x1b[H\x1b[J") < 2 or b" leaf" not in shown:
    shown += os.read(terminal, 65536)
os.write(terminal, b"q")
try:
    while os.read(terminal, 65536):
        pass
except OSError:
    pass
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
EOF
# The first three rounds of the file may have no chunk that is drained: they come when it ends.
kill -TERM "$program"
wait "$recorder" || fail "the recorder: $(cat live.err)"
trap - EXIT
wait "$by_pid" || fail "by process id: $(cat by_pid.err)"
wait "$by_file" || fail "by file: $(cat by_file.err)"
says '^watching +the recording has ended: this is all of it' by_file.out
says '^watching +the recording has ended: this is all of it' by_pid.out
[ ! -s by_pid.err ] || fail "$(cat by_pid.err)"

# What it showed last is what there is.
"$TEEPERF" analyze --format csv live.trace >all 2>/dev/null
calls=$(sed -n "s/^leaf,\([0-9]*\),.*/\1/p" all)
tail -5 by_file.out | tr -d , | grep -Eq "^ *$calls  .* leaf( |$)" ||
	fail "not all of $calls calls: $(tail -5 by_file.out)"
expect 0 "$TEEPERF" analyze --watch live.trace
[ "$(grep -c '^watching' out)" -eq 1 ] || fail "more than once"

expect 1 "$TEEPERF" analyze --watch nothing.trace
expect 1 "$TEEPERF" analyze --watch 2147483647
expect 129 "$TEEPERF" analyze --watch --interval 0 live.trace

# A recorder that was killed writes no end. That there is none is seen from the log, which is left:
# it says so, and ends.
for how in file pid; do
	rm -f killed.trace*
	begin killed_run "$TEEPERF" record -o killed.trace ./main
	recorder=$begun
	trap 'kill "$recorder" "$program" 2>/dev/null || :' EXIT
	await killed_run.out ready
	program=$(sed -n 's/^ready //p' killed_run.out)
	what=killed.trace
	[ $how = file ] || what=$program
	begin killed "$TEEPERF" analyze --watch --interval 50ms "$what"
	watch=$begun
	await killed.out ' written '
	kill -KILL "$recorder" "$program"
	wait "$recorder" || :
	gone "$program"
	# It may look a few times more, but not for good.
	before=$(grep -c ' written ' killed.out)
	await_true '! kill -0 "$watch" 2>/dev/null || [ "$(grep -c " written " killed.out)" -ge $((before + 20)) ]'
	[ "$(grep -c ' written ' killed.out)" -lt $((before + 20)) ] || {
		kill "$watch"
		fail "by $how: it goes on when the recorder was killed"
	}
	ended 0 killed
	trap - EXIT
	says '^watching +the recorder is gone: see teeperf-recover' killed.out
	[ "$(grep -c 'recorder is gone' killed.out)" = 1 ] || fail "by $how: it went on"
	expect 0 "$TEEPERF" recover killed.trace
	expect 0 "$TEEPERF" analyze --watch killed.trace
	says '^watching +the recording has ended: this is all of it' out
done

# In mode ring a look sees a snapshot, which it removes: it goes on until the recording has ended.
begin ring_run "$TEEPERF" record --mode ring -o ring.trace ./main
recorder=$begun
trap 'kill "$program" "$recorder" 2>/dev/null || :' EXIT
await ring_run.out ready
program=$(sed -n 's/^ready //p' ring_run.out)
begin ring "$TEEPERF" analyze --watch --interval 50ms "$program"
watch=$begun
rounds ring.out
says '^watching +the last records of each thread' ring.out
begin ring_file "$TEEPERF" analyze --watch --interval 50ms ring.trace
await ring_file.out 'in memory: give the process id, not the file'
kill -INT "$begun"
wait "$begun" || :
! grep 'recording has ended' ring.out || fail "it has not ended"
kill -TERM "$program"
wait "$recorder" || fail "the recorder: $(cat ring_run.err)"
trap - EXIT
wait "$watch" || fail "a ring: $(cat ring.err)"
[ "$(grep -c 'recording has ended' ring.out)" = 1 ] || fail "the end: $(tail ring.out)"
[ ! -s ring.err ] || fail "$(cat ring.err)"
for left in ring.trace.snapshot*; do
	[ ! -e "$left" ] || fail "$left was left"
done
