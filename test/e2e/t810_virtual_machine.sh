#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The instrumented program in a virtual machine, and this machine's recorder: Debian's kernel in QEMU without KVM,
# which stands for a machine that is a TEE. Each call path has the calls that it has natively, through memory of a
# device (ivshmem), through frames of a serial port (virtio), and recorded inside; several programs, one after another;
# one that is killed; the machine killed hard; a host that goes away.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
. "$lib/calls.sh"
fake=
machine=x86_64
[ "$(uname -m)" = $machine ] || skip "the programs of this machine run in none of $machine"
command -v qemu-system-$machine >/dev/null || skip "qemu-system-$machine is not there: run tools/setup --machines"
kernel=$("$root/tools/fetch-kernel" amd64 2>fetch.log) || {
	cat fetch.log >&2
	skip "Debian's kernel cannot be fetched here"
}
${CC:-cc} -O1 -static -o init "$root/test/tee/machine_init.c" || skip "no C compiler (CC=${CC:-cc})"
began=$(date +%s)
trap 'python3 "$lib/machine.py" kill on 2>/dev/null || true' EXIT

# guest COMMAND FOLDER ARGUMENTS...: the machine does this.
guest() {
	python3 "$lib/machine.py" "$@"
}

# at_work WHAT: a line with the time that has passed.
at_work() {
	echo "$1 ($(($(date +%s) - began)) s)"
}

# How it was called and fails: one line, at once.
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
# build NAME DRIVER SOURCE OPTIONS...: ./NAME for here, vm/NAME for the machine, and what is wanted of it.
mkdir -p vm
build() {
	name=$1
	driver=$2
	source=$3
	shift 3
	expect 0 "$TEEPERF" "$driver" --allowlist list --check off -g -O2 "$@" "$source" -o "$name"
	expect 0 "$TEEPERF" "$driver" --port=vm --allowlist list --check off -g -O2 "$@" "$source" -o "vm/$name"
	arguments=
	[ "$name" != threads ] || arguments=wait
	expect 0 "$TEEPERF" record -q --clock soft --mode full --size 64M -o "$name.trace" -- "./$name" $arguments
	cp out "$name.said"
	calls_of "$name.trace" >"$name.want"
}
build threads cc "$threads" -pthread
build contexts cc "$contexts"
build unwind c++ "$unwind"
expect 0 "$TEEPERF" cc --port=vm -g -O2 stays.c -o vm/stays
expect 0 "$TEEPERF" c++ --port=vm --allowlist list --check off -g -O2 -static "$unwind" -o vm/static
cp unwind.want static.want
cp unwind.said static.said

# same TRACE NAME: it has the calls of NAME.
same() {
	calls_of "$1" >got
	diff "$2.want" got >&2 || fail "calls in $1 are not those of '$2' here"
}

# recorder OPTIONS...: one in the background, with its trace in run.trace, that waits.
recorder() {
	: >recorder.err
	"$TEEPERF" record -o run.trace --port vm "$@" >recorder.out 2>recorder.err &
	recorder=$!
	while ! grep -Eq 'now start|waiting for' recorder.err; do
		kill -0 $recorder 2>/dev/null || {
			cat recorder.err >&2
			fail "the recorder has ended"
		}
		sleep 0.02
	done
}

# ends STATUS PATTERN: the recorder does so, by itself.
ends() {
	got=0
	wait $recorder || got=$?
	[ $got = "$1" ] || {
		cat recorder.err >&2
		fail "the recorder's exit status is $got, not $1"
	}
	says "$2" recorder.err
}

# run NAME ENVIRONMENT: in the machine, where it does what it does here.
run() {
	arguments=
	[ "$1 $2" != "threads $log" ] || arguments=wait
	# shellcheck disable=SC2086 # words are meant
	guest run on "$2" "$TEST_TMP/vm/$1" $arguments >said || fail "'$1' has failed in the machine: $(cat said)"
	cmp "$1.said" said || fail "'$1' does something else in the machine"
}

# start: the machine, with its memory in ./memory, and a port that is connected to ./stream.
start() {
	guest start on "$kernel" init --memory memory --stream stream vm/* threads contexts unwind "$TEEPERF" || exit 1
}

truncate -s 64M memory
start
at_work 'the machine runs'
log=TEEPERF_LOG=/sys/bus/pci/devices/0000:00:10.0/resource2
guest run on "$TEEPERF" doctor >said || true
says "${log#*=}" said

# ---- Memory of a device: this machine's recorder makes the log, and the time in it.
for name in threads contexts unwind static; do
	recorder --attach memory
	run $name $log
	ends 0 'the program said that it was over'
	same run.trace $name
	facts run.trace lost=0 end_sections=1 host.port=vm
	at_work "$name through ivshmem: $(grep -vc '^sum' got) paths, $(awk '/^sum/ { n += $NF } END { print n }' got) calls"
done
# The machine's own counter, of which nobody here knows the rate.
for clock in tsc none; do
	recorder --attach memory --clock $clock
	run unwind $log
	ends 0 'the program said that it was over'
	same run.trace unwind
done
# Without a recorder: what was there is over.
run unwind $log

# A program that is killed inside. The machine's memory stays mapped, so nobody notices but who is told.
finish() {
	until guest ask on get /output | grep -q done; do
		sleep 0.1
	done
}
recorder --attach memory
guest ask on start $log "$TEST_TMP/vm/stays"
finish
guest ask on kill || [ $? = 137 ] || fail "the program was not killed"
kill -TERM $recorder
ends 0 'records of 1 thread'
"$TEEPERF" analyze run.trace --format csv >top.csv 2>err
grep -q '^leaf,12345,' top.csv || fail "the calls before the end are not all there: $(cat top.csv)"
expect 1 "$TEEPERF" record -o x.trace --attach memory
says 'still has it mapped.*--force' err
at_work 'killed inside'

# The machine is killed hard: all that was recorded by then is there.
recorder --attach memory --force
guest ask on start $log "$TEST_TMP/vm/stays"
finish
guest kill on
ends 0 'nobody had the log any more'
"$TEEPERF" analyze run.trace --format csv >top.csv 2>err
grep -q '^leaf,12345,' top.csv || fail "the calls before the end are not all there: $(cat top.csv)"
facts run.trace lost=0 end_sections=1
at_work 'killed hard, idle'

# ---- Frames of a serial port: no memory is shared. QEMU connects to each recorder again.
start
at_work 'the machine runs again'
for name in threads contexts unwind static; do
	recorder --stream unix:stream
	port=$(guest ask on await teeperf here)
	run $name "TEEPERF_STREAM=$port"
	ends 0 'the program said that it was over'
	same run.trace $name
	facts run.trace lost=0 end_sections=1 host.port=vm host.transport=stream
	guest ask on await teeperf gone >/dev/null
	at_work "$name through virtio-serial: the same"
done
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

# ---- All of it inside.
for name in threads contexts unwind; do
	arguments=
	[ $name != threads ] || arguments=wait
	# shellcheck disable=SC2086 # words are meant
	guest run on "$TEEPERF" record -q --clock soft --size 64M --mode full -o /run.trace -- "$TEST_TMP/$name" $arguments \
		>said || fail "recording inside: $(cat said)"
	guest ask on get /run.trace >run.trace
	same run.trace $name
	at_work "$name recorded inside: the same"
done
guest run on "$TEEPERF" record -q -o /auto.trace -- "$TEST_TMP/unwind" >said || fail "recording inside: $(cat said)"
# With the recorder's warnings, if the clock stood still.
grep -Fxq "$(cat unwind.said)" said || fail "'unwind' does something else inside: $(cat said)"
guest ask on get /auto.trace >run.trace
same run.trace unwind
guest stop on
at_work 'the machine is off'

# ---- Killed hard while it records, again and again.
rounds=0
[ "${TEEPERF_FULL:-0}" = 0 ] || rounds=10
while [ $rounds -gt 0 ]; do
	rounds=$((rounds - 1))
	start
	recorder --attach memory
	guest ask on start $log "$TEST_TMP/vm/stays" busy
	finish
	guest kill on
	ends 0 'nobody had the log any more'
	facts run.trace end_sections=1
	"$TEEPERF" analyze run.trace --format csv >top.csv 2>err
	! grep -i unmatched err || fail "records are odd where the machine was killed"
	at_work "killed hard, busy: $(sed -n 's/^leaf,\([0-9]*\).*/\1/p' top.csv) calls"
done
