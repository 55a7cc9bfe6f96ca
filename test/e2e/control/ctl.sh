#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# teeperf ctl: another process switches a recording, asks about it, and has it written; what happens
# with a program that listens, one that does not, and one that never comes.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true

"$TEEPERF" cc -O1 -DPERIOD_US=100 -I "$root/include" -o main "$lib/until_told.c"
fake=

# start OPTIONS... PROGRAM...: record it in the background; sets recorder and program.
start() {
	begin run "$TEEPERF" record -o ctl.trace "$@"
	recorder=$begun
	await run.out ready
	program=$(sed -n 's/^ready //p' run.out)
}
# is_on STATE: wait until the recording is.
is_on() {
	state=$1
	await_true '"$TEEPERF" ctl status "$recorder" 2>&1 | grep -q "^recording  $state\$"' \
		"a recording that is $1"
	expect 0 "$TEEPERF" ctl status "$recorder"
}
# switch STATE PROCESS [PATTERN]: ask for it, and wait until it is obeyed. On a busy machine that
# may take longer than ctl waits for the program, which then says so, as PATTERN.
switch() {
	"$TEEPERF" ctl "$1" "$2" >out 2>err || says "${3:-has not obeyed yet}" err
	is_on "$1"
}
stop() {
	kill -TERM "$program"
	ended 0 run
}

# It listens: obeyed at once, by either process id.
start --control --on-start off ./main
expect 0 "$TEEPERF" ctl status "$recorder"
says '^recording  off$' out
says '^listens    to signal 23$' out
says "^program    process $program\$" out
switch on "$program"
expect 0 "$TEEPERF" ctl status "$program"
says '^recording  on$' out
expect 0 "$TEEPERF" ctl on "$recorder"
switch off "$recorder"
says '^recording  off$' out
says '^switches   2$' out
stop
facts ctl.trace switches=on,off lost=0
"$TEEPERF" analyze ctl.trace --format csv >top.csv 2>err
says '^leaf,' top.csv

# A recorder that stands still keeps nobody from recording, though its queue is full of those who
# looked if it was alive.
start ./main
kill -STOP "$recorder"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	expect 0 "$TEEPERF" record -q -o other.trace true
done
kill -CONT "$recorder"
expect 0 "$TEEPERF" ctl status "$recorder"
stop

# Complete chunks are in the file after a flush, though the drain would have written them at the
# end.
start --control --drain end ./main
await_true 'expect 0 "$TEEPERF" ctl flush "$recorder"; facts ctl.trace; [ "$(fact chunks_sections)" -gt 0 ]' \
	'a chunk in the file'
says '^threads=1$' facts
stop

# It does not listen, but it takes chunks: it can be switched off, not on.
start ./main busy
expect 0 "$TEEPERF" ctl off "$recorder"
is_on off
says '^listens    when it takes a new chunk' out
expect 1 "$TEEPERF" ctl on "$recorder"
says "reads no commands until it calls teeperf_poll\(\).*'--control'" err
expect 0 "$TEEPERF" ctl status "$recorder"
says '^requested  on$' out
stop
facts ctl.trace switches=off
# ... and for one that takes none, ctl says so.
start ./main still
expect 0 "$TEEPERF" ctl off "$recorder"
says "obeys when it next takes a chunk" err
stop
# A program that polls.
start --on-start off ./main polls
switch on "$recorder" 'reads no commands until it calls teeperf_poll'
switch off "$recorder"
stop
facts ctl.trace switches=on,off

# Signals of the user's own.
start --signals --control=IO ./main
kill -USR2 "$program"
is_on off
kill -USR1 "$program"
is_on on
switch off "$program"
stop
facts ctl.trace switches=off,on,off

# The program has another use for the signal.
begin run sh -c "trap '' URG; exec \"\$@\"" sh "$TEEPERF" record -o used.trace \
	--control ./main still
await run.out ready
program=$(sed -n 's/^ready //p' run.out)
stop
says "uses signal 23 itself" run.err

# It never attaches.
cat >plain.sh <<'EOF'
echo "ready $$"
exec sleep 1000
EOF
start sh ./plain.sh
expect 0 "$TEEPERF" ctl off "$recorder"
says "no instrumented program has attached yet; it will begin without recording" err
expect 0 "$TEEPERF" ctl status "$program"
says '^recording  no instrumented program has attached yet' out
kill -TERM "$program"
wait "$recorder" || true

# A recorder that was killed leaves a socket that answers nobody; the next one removes it.
start ./main still
kill -KILL "$recorder"
wait "$recorder" || true
socket=$(find /dev/shm -name "teeperf-$recorder.*.ctl")
[ -S "$socket" ] || fail "there is no socket"
expect 1 "$TEEPERF" ctl status "$recorder"
says "process $recorder is neither your 'teeperf record' nor" err
kill -TERM "$program"
gone "$program"
start ./main still
[ ! -e "$socket" ] || fail "the socket of a dead recorder was left"
stop
[ -z "$(find /dev/shm -name "teeperf-$recorder.*.ctl")" ] || fail "a socket was left"

# So does one that was killed before its socket listened; younger files than a minute stay.
python3 - /dev/shm/teeperf-999999998.ctl.new /dev/shm/teeperf-999999999.ctl.new <<'EOF'
import os, socket, sys
for path in sys.argv[1:]:
    socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(path)
os.utime(sys.argv[1], (1, 1))
EOF
start ./main still
[ ! -e /dev/shm/teeperf-999999998.ctl.new ] || fail "a socket that never listened was left"
[ -e /dev/shm/teeperf-999999999.ctl.new ] || fail "a socket that may be about to listen was removed"
rm /dev/shm/teeperf-999999999.ctl.new
stop

# Several processes: all of them obey, and are written.
cat >two.c <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <teeperf/teeperf.h>
static volatile sig_atomic_t ended;
static void on_term(int number)
{
	(void)number;
	ended = 1;
}
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
__attribute__((noinline)) static void forked(void)
{
	__asm__ volatile("");
}
int main(void)
{
	signal(SIGTERM, on_term);
	const pid_t child = fork();
	if (child)
		printf("ready %d\nchild %d\n", (int)getpid(), (int)child);
	fflush(stdout);
	if (!child)
		forked();
	for (int was = 1; !ended;) {
		for (int i = 0; i < 1000; i++)
			leaf();
		usleep(100);
		const int is = teeperf_is_on();
		if (!child && is != was) {
			puts(is ? "now on" : "now off");
			fflush(stdout);
		}
		was = is;
	}
	if (child) {
		kill(child, SIGTERM);
		wait(NULL);
	}
	return 0;
}
EOF
"$TEEPERF" cc -O1 -I "$root/include" -o two two.c
rm -f ctl.trace*
start -f --control --drain end ./two
child=$(sed -n 's/^child //p' run.out)
await_true 'expect 0 "$TEEPERF" ctl flush "$recorder"; facts "ctl.trace.$child"; [ "$(fact chunks_sections)" -gt 0 ]' \
	'a chunk of the child'
says '^end_sections=0$' facts
expect 0 "$TEEPERF" ctl status "$recorder"
[ "$(sed -n 's/^records *\([0-9]*\).*/\1/p' out)" -gt 0 ] || fail "$(cat out)"
# The child has to see the first command before the second.
for state in off on; do
	switch $state "$recorder"
	await run.out "^now $state"
done
stop
facts ctl.trace switches=off,on end_sections=1
facts "ctl.trace.$child" switches=off,on end_sections=1
"$TEEPERF" analyze "ctl.trace.$child" --format csv >top.csv 2>err
says '^leaf,' top.csv

# Wrong usage.
expect 129 "$TEEPERF" ctl
says 'a command and a process id are needed' err
expect 129 "$TEEPERF" ctl on
expect 129 "$TEEPERF" ctl on 1 2
expect 129 "$TEEPERF" ctl explode 1
says "the command is on, off, status, flush, mark, stop, only, add or drop, not 'explode'" err
for pid in x 0 -1 12x 99999999999 ''; do
	expect 129 "$TEEPERF" ctl -- on "$pid"
	says "'$pid' is not a process id" err
done
expect 1 "$TEEPERF" ctl status 1
says 'process 1 is neither' err
for signal in KILL STOP 0 65 9 19 TERMINATE; do
	expect 129 "$TEEPERF" record --control=$signal ./main
	says "takes a signal that can be caught, .* not '$signal'" err
done
for signal in 4 5 6 7 8 11 31; do
	expect 129 "$TEEPERF" record --control=$signal ./main
	says "cannot use the fault signal $signal" err
done
expect 129 "$TEEPERF" record --signals --control=USR1 ./main
