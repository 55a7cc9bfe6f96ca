#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The instrumented program in a virtual machine, and this machine's recorder: Debian's kernel in
# QEMU without KVM, which stands for a machine that is a TEE. Each call path has the calls that it
# has natively, through memory of a device (ivshmem), through frames of a serial port (virtio) or
# over vsock, and recorded inside; several programs, one after another; one that is killed; the
# machine killed hard; a host that goes away.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/calls.sh"
. "$lib/guest.sh"
fake=
[ "$(uname -m)" = x86_64 ] || skip "'teeperf' of this machine does not run in one of x86_64"
machine x86_64 amd64

# One that cannot boot: one line, at once.
mkdir -p broken/boot
echo 'no kernel' >broken/boot/vmlinuz-0
cp -R "$kernel/lib" broken/
expect 1 guest start off broken init init
says '^machine.py: the machine has ended at its start: .*kernel' err

calls_list >list
cat >stays.c <<'EOC'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static int leaf(int x)
{
	__asm__ volatile("");
	return x + 1;
}
int main(int argc, char **argv)
{
	(void)argv;
	int x = 0;
	for (int i = 0; i < 12345; i++)
		x = leaf(x);
	puts("done");
	fflush(stdout);
	while (argc < 2)
		pause();
	for (;;)
		x = leaf(x);
}
EOC
build threads cc "$threads" -pthread
build contexts cc "$contexts"
build unwind c++ "$unwind"
build_theirs static c++ "$unwind" -static
cp unwind.want static.want
cp unwind.said static.said
expect 0 "$TEEPERF" cc --port=vm -g -O2 stays.c -o vm/stays
inside="threads contexts unwind $TEEPERF"

# stay ARGUMENTS...: ./stays in the machine, until it has made 12,345 calls.
stay() {
	guest ask on start $log "$TEST_TMP/vm/stays" "$@"
	await_true 'guest ask on get /output | grep -q done' 'the calls of ./stays' 10
}

# shellcheck disable=SC2086 # words are meant
start $inside
at_work 'the machine runs'
guest run on "$TEEPERF" doctor >said || true
says "${log#*=}" said
says "/dev/vport[0-9]p[0-9], named 'teeperf', for a stream" said

through_memory threads contexts unwind static
# The machine's own counter, of which nobody here knows the rate.
for clock in tsc none; do
	recorder --attach memory --clock $clock
	run unwind $log
	ends 0 'the program reported its end'
	same run.trace unwind
done
# Without a recorder: what was there is over.
run unwind $log

# A program that is killed inside. The machine's memory stays mapped, so only a receiver of a
# message notices.
recorder --attach memory
stay
guest ask on kill >said || [ $? = 137 ] || fail "the program was not killed"
kill -TERM $recorder
ends 0 'records of 1 thread'
"$TEEPERF" analyze run.trace --format csv >top.csv 2>err
grep -q '^leaf,12345,' top.csv || fail "the calls before the end are not all there: $(cat top.csv)"
expect 1 "$TEEPERF" record -o x.trace --attach memory
says 'still has mapped.*--force' err
at_work 'killed inside'

# The machine is killed hard: all that was recorded by then is there.
recorder --attach memory --force
stay
guest kill on
ends 0 'no process had the log open any more'
"$TEEPERF" analyze run.trace --format csv >top.csv 2>err
grep -q '^leaf,12345,' top.csv || fail "the calls before the end are not all there: $(cat top.csv)"
facts run.trace lost=0 end_sections=1
at_work 'killed hard, idle'

# shellcheck disable=SC2086 # words are meant
start $inside
through_port threads contexts unwind static
# Nobody is there: the program runs as without teeperf.
run threads "TEEPERF_STREAM=$port"
# The recorder stops reading, which the program waits for, and is gone, which it does not.
recorder --stream unix:stream
port=$(guest ask on await teeperf here)
kill -STOP $recorder
guest ask on start "TEEPERF_STREAM=$port" "$TEST_TMP/vm/threads"
sleep 0.5
kill -KILL $recorder
wait $recorder || true
guest ask on wait || fail "the program has not survived the recorder: $?"
at_work 'the recorder killed'

# All of it inside.
for name in threads contexts unwind; do
	arguments=
	[ $name != threads ] || arguments=wait
	# shellcheck disable=SC2086 # words are meant
	guest run on "$TEEPERF" record -q --clock soft --size 64M --mode full -o /run.trace -- \
		"$TEST_TMP/$name" $arguments >said || fail "recording inside: $(cat said)"
	guest ask on get /run.trace >run.trace
	same run.trace $name
	at_work "$name recorded inside: the same"
done
guest run on "$TEEPERF" record -q -o /auto.trace -- "$TEST_TMP/unwind" >said ||
	fail "recording inside: $(cat said)"
# With the recorder's warnings, if the clock stood still.
grep -Fxq "$(cat unwind.said)" said || fail "'unwind' does something else inside: $(cat said)"
guest ask on get /auto.trace >run.trace
same run.trace unwind
# Frames over vsock, within the machine. A program that comes before the recorder listens runs
# without recording.
guest ask on start "$TEEPERF" record -q --stream vsock:1:5000 -o /vsock.trace
until guest ask on get /vsock.trace >/dev/null; do
	run unwind TEEPERF_STREAM=vsock:1:5000
done
guest ask on wait || fail "recording over vsock: $?"
guest ask on get /vsock.trace >run.trace
same run.trace unwind
facts run.trace lost=0 end_sections=1 host.transport=stream
at_work 'unwind over vsock: the same'
guest stop on
at_work 'the machine is off'

# Killed hard while it records, again and again.
rounds=0
[ "${TEEPERF_FULL:-0}" = 0 ] || rounds=10
while [ $rounds -gt 0 ]; do
	rounds=$((rounds - 1))
	start
	recorder --attach memory --force
	stay busy
	guest kill on
	ends 0 'no process had the log open any more'
	facts run.trace end_sections=1
	"$TEEPERF" analyze run.trace --format csv >top.csv 2>err
	! grep -i unmatched err || fail "records are odd where the machine was killed"
	calls=$(sed -n 's/^leaf,\([0-9]*\),.*/\1/p' top.csv)
	[ "${calls:-0}" -ge 12345 ] ||
		fail "the calls before the end are not all there: $(cat top.csv)"
	at_work "killed hard, busy: $calls calls"
done
