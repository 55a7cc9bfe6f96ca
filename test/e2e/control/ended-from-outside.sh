#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A recording is ended from outside: by 'teeperf ctl stop', and by SIGINT in the background of a
# script, where recorder and program have inherited that it is ignored. The program runs on, and the
# trace is complete when the command is done.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
build_fake

# running NAME END COMMAND...: COMMAND records ./fake in the background; sets $recorder and
# $program.
running() {
	name=$1
	end=$2
	shift 2
	begin "$name" "$@" "$TEEPERF" record -o "$name.trace" ./fake 20000 "$end"
	recorder=$begun
	await "$name.out" ready
	program=$(sed -n 's/^ready //p' "$name.out")
}
# runs_on NAME: the recording is over, and the program is not.
runs_on() {
	ended 0 "$1"
	says "\(process $program\) runs on without recording" "$1.err"
	facts "$1.trace" records=20000 end_sections=1 exit=0/0
	kill -TERM "$program" || fail "the program did not run on"
	gone "$program"
}

# The trace is complete when the command is done, not only some time later.
for who in recorder program; do
	running stop linger env
	eval "expect 0 '$TEEPERF' ctl stop \$$who"
	facts stop.trace records=20000 end_sections=1
	runs_on stop
done
expect 1 "$TEEPERF" ctl stop "$recorder"
says 'is neither your' err

# Whoever sends SIGINT to a process means it.
running ignored linger env --ignore-signal=INT
# ./fake handles the signal, and it is passed on: the second one ends the recording.
kill -INT "$recorder"
await ignored.out interrupted
sleep 0.2 # what comes within 100 ms is the same wish
kill -INT "$recorder"
runs_on ignored
running deaf pause env --ignore-signal=INT
kill -INT "$recorder"
runs_on deaf
# A recorder without a program of its own.
begin attach env --ignore-signal=INT "$TEEPERF" record -o attach.trace --attach "$PWD/place"
await attach.err 'now start'
kill -INT "$begun"
ended 1 attach
says 'no instrumented program attached' attach.err

# From a terminal, Ctrl-C is for the job in front: in the background it stays ignored, as the shell
# wants it.
cat >keyboard.py <<'EOP'
import os, pty, signal, sys, time
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.execv(sys.argv[1], sys.argv[1:])
said = b""
while b"ready" not in said:
    said += os.read(terminal, 4096)
program = int(said.split(b"ready ")[1].split()[0]) if said.endswith(b"\n") else 0
while not program:
    said += os.read(terminal, 4096)
    program = int(said.split(b"ready ")[1].split()[0]) if said.endswith(b"\n") else 0
for _ in range(3):
    os.write(terminal, b"\x03")
    time.sleep(0.3)
os.kill(program, signal.SIGTERM)
try:
    while data := os.read(terminal, 4096):
        said += data
except OSError:
    pass
status = os.waitpid(pid, 0)[1]
if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGTERM:
    sys.exit(f"the recorder's status is {status}: {said.decode(errors='replace')}")
EOP
timeout 300 python3 keyboard.py "$TEEPERF" record -q -o keyboard.trace ./fake 20000 pause ||
	fail "Ctrl-C in the background"
facts keyboard.trace records=20000 end_sections=1 exit=2/15

# What was not recorded could have been.
cat >forks.c <<'EOC'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
int main(void)
{
	if (fork() == 0) {
		leaf();
		_exit(0);
	}
	wait(0);
	return 0;
}
EOC
"$TEEPERF" cc -O1 -o forks forks.c
expect 0 "$TEEPERF" record ./forks
says "1 forked child was not recorded: record with '--follow-fork' to record it as well" err
