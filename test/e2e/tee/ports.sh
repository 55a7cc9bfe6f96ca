#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Each port but 'bare' (tee/bare-contract), with a stand-in for its host and its SDK: all calls of
# the program are in the trace, as natively. The log comes by a call (sgxsdk, openenclave), with
# each command at another address (optee), by a descriptor or a file (scone, gramine, vm), or goes
# out in frames (keystone, occlum, vm). Frames that cannot be sent are counted, and the program goes
# on. No SDK and no TEE is here: the test covers the runtime's side of each contract.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
from=$root/test/tee
${CC:-cc} -O1 -I "$root/include" -o stream_sum "$from/stream_sum.c" ||
	skip "no C compiler (CC=${CC:-cc})"
rounds=20000
calls=$((1 + 3 * rounds + rounds / 100 * 20))

# counts TRACE THREADS WORKS: the calls in it.
counts() {
	expect 0 "$TEEPERF" analyze "$1" --view top --format csv
	sed -n '2,$p' out | cut -d, -f1,2 | sort >counted
	{
		echo "deep,$(($2 * rounds / 100 * 20))"
		echo "leaf,$(($2 * rounds * 2))"
		echo "middle,$(($2 * rounds))"
		echo "work,$3"
	} >wanted
	diff wanted counted >&2 || fail "$1 does not have the program's calls"
	expect 0 "$TEEPERF" analyze "$1" --view threads --format csv
	[ "$(sed -n '2,$p' out | cut -d, -f5 | sort -u)" = 0 ] || fail "events were lost in $1"
}

# build PORT OPTION...: ./PORT, its instrumented part compiled with the options.
build() {
	port=$1
	shift
	"$TEEPERF" cc --port="$port" "$@" -O2 -g -c -o "$port.work.o" "$from/work.c"
	${CC:-cc} -O1 -g -I "$root/include" -DPORT="\"$port\"" -DWORK_PATH="\"$TEST_TMP/$port\"" \
		-c -o "$port.host.o" "$from/$side.c"
	"$TEEPERF" cc --port="$port" -pthread -o "$port" "$port.work.o" "$port.host.o" \
		-Wl,--defsym=__ImageBase=__executable_start \
		-Wl,--defsym=__text_start=__executable_start
}

# sums KEY=VALUE...: the contents of ./stream.
sums() {
	./stream_sum stream >sums || { cat sums >&2; fail "the stream is not as it should be"; }
	for fact; do
		grep -Fxq -- "$fact" sums || {
			cat sums >&2
			fail "'$fact' is not true of the stream"
		}
	done
}

# ---- the log comes by a call
side=sdk_host
for port in sgxsdk openenclave; do
	[ "$(uname -m)" = x86_64 ] || continue
	for options in '--clock=soft --level=count' --clock=auto --clock=soft; do
		build $port $options
		expect 7 ./$port $rounds 2
		for threads in 1 3; do
			expect 7 "$TEEPERF" record -o $port.trace \
				--clock soft -- ./$port $rounds $threads
			counts $port.trace $threads $((threads * rounds / 100))
			# An enclave says that it is process 1: not the one of this machine.
			[ -z "$(sed -n '2,$p' out | cut -d, -f3 | tr -d '\n')" ] ||
				fail "threads have names of another process: $(cat out)"
		done
	done
	# More thread control structures than there is room for: what they lose is counted.
	got=0
	"$TEEPERF" record -o $port.trace --clock soft -- ./$port 30000 2 300 >out 2>err || got=$?
	[ $got = 7 ] || fail "it ended with $got"
	expect 0 "$TEEPERF" analyze --format json $port.trace
	python3 - $((600 * 2 * (1 + 300 + 20))) <<-'EOS' ||
		import json
		import sys
		trace = json.load(open("out"))
		assert trace["lost"] > 0, "nothing was lost: there was room for all"
		assert trace["events"] + trace["lost"] == int(sys.argv[1]), trace["events"]
	EOS
		fail "$port: threads without room are not counted"
done
if [ "$(uname -m)" = x86_64 ]; then
	# No instruction of the runtime that an enclave may not execute: a program has these only
	# where it asks.
	for port in sgxsdk openenclave; do
		objdump -d --no-show-raw-insn \
			"$TEEPERF_BUILD/lib/teeperf/ports/libteeperf-$port.a" >code
		grep -Eq '[[:space:]]xsave' code || fail "nothing of the runtime was found"
		! grep -E '[[:space:]](cpuid|syscall|rdpmc|int |in |out |hlt)' code ||
			fail "the runtime for enclaves has an instruction that is not legal there"
	done
fi
# The host's side, in a program that is not recorded itself.
cat >host.c <<'EOS'
#include <stdio.h>
#include <teeperf/host.h>
int main(void)
{
	unsigned long long size = 1;
	const void *log = teeperf_host_log(&size);
	printf("%d %d\n", log != NULL, size > 4096);
	return log && *(const volatile char *)log == 0; // the magic number is there
}
EOS
for compiler in "${CC:-cc}" "${CC:-cc} -x c++"; do
	$compiler -Wall -Wextra -Werror -I "$root/include" -o host host.c
	expect 0 ./host
	says '^0 0$' out
	"$TEEPERF" record -o host.trace --clock soft -- ./host >out 2>err || :
	says '^1 1$' out
done
# Code for another port is not linked, and the linker says what to do.
"$TEEPERF" cc -O2 -c -o usual.o "$from/work.c"
! "$TEEPERF" cc --port=sgxsdk -o usual usual.o sgxsdk.host.o 2>err ||
	fail "code of the usual port was linked with the runtime for enclaves"
says "wrong_port__compile_all_files_with_the_port_of_the_link" err
build optee --clock=soft
expect 7 ./optee $rounds 1
expect 7 "$TEEPERF" record -o optee.trace --clock soft -- ./optee $rounds 1
counts optee.trace 1 $((rounds / 100))
# A log for another clock is refused, command by command, and the recorder says so.
build optee --clock=tsc
got=0
"$TEEPERF" record -o optee.trace --clock soft -- ./optee 100 1 >out 2>err || got=$?
says 'ran without recording: it was compiled for another clock' err

# ---- frames
has_stream=
"$TEEPERF" record --help >out
! grep -q -- --stream out || has_stream=1

# from_stream THREADS: what the recorder makes of ./stream.
from_stream() {
	[ "$has_stream" ] || return 0
	"$TEEPERF" record -o stream.trace --stream stream >out 2>err || {
		cat err >&2
		fail "record --stream"
	}
	counts stream.trace "$1" "$1"
}

build keystone --clock=auto
rm -f stream
expect 7 env SDK_STREAM=stream ./keystone $rounds 1
sums events=$((2 * calls)) lost=0 threads=1 modules=1 ended=700000003 attach=1
from_stream 1
build keystone --clock=soft
expect 7 env SDK_STREAM=stream ./keystone $rounds 1
sums events=$((2 * calls)) lost=0 clock=0 ended=700000003
# Nobody takes the frames.
expect 7 ./keystone $rounds 1
expect 7 env SDK_STREAM=/dev/full ./keystone $rounds 1

# ---- with POSIX
side=posix_side
for port in scone gramine vm; do
	build $port
	expect 3 ./$port $rounds 2
	expect 3 "$TEEPERF" record -o $port.trace -- ./$port $rounds 2
	counts $port.trace 2 2
done
for port in scone vm; do
	# TEEPERF_LOG names a descriptor.
	cat >inherit.sh <<'EOS'
exec 9<>"$TEEPERF_LOG"
TEEPERF_LOG=fd:9 exec "$@"
EOS
	expect 3 "$TEEPERF" record -o $port.trace -- sh inherit.sh ./$port $rounds 2
	counts $port.trace 2 2
done
for port in occlum vm; do
	build $port
	expect 3 ./$port $rounds 2
	rm -f stream
	expect 3 env TEEPERF_STREAM=stream ./$port $rounds 1
	sums events=$((2 * calls)) lost=0 threads=1 modules=1 ended=1 attach=1 points=2
	from_stream 1
	# A thread that is stopped while it sends may make others lose events, which are counted.
	rm -f stream
	expect 3 env TEEPERF_STREAM=stream ./$port $rounds 3
	sums threads=3 modules=1 ended=1
	[ "$(awk -F= '/^events|^lost/ { sum += $2 } END { print sum }' sums)" \
		= $((3 * 2 * calls)) ] ||
		fail "events are neither in the stream nor lost: $(cat sums)"
	: >stream
	expect 3 env TEEPERF_STREAM=fd:9 ./$port $rounds 1 9>stream
	sums events=$((2 * calls)) lost=0
	# Places that take nothing, or not all: the program does what it would have done.
	expect 3 env TEEPERF_STREAM=/dev/full ./$port $rounds 2
	expect 3 env TEEPERF_STREAM=/nowhere/stream ./$port $rounds 1
	for wrong in fd: fd:x fd:99 vsock:1 vsock:x:y vsock:1:2:3 unix: unix:/nowhere; do
		expect 3 env TEEPERF_STREAM=$wrong ./$port 100 1
	done
	# A second run takes the place of the first; a file that is something else stays as it is,
	# and so does one into which somebody sends.
	expect 3 env TEEPERF_STREAM=stream ./$port 100 1
	expect 3 env TEEPERF_STREAM=stream ./$port $rounds 1
	sums events=$((2 * calls)) lost=0
	expect 3 flock stream env TEEPERF_STREAM=stream ./$port 100 1
	sums events=$((2 * calls)) lost=0
	echo mine >other
	expect 3 env TEEPERF_STREAM=other ./$port 100 1
	[ "$(cat other)" = mine ] || fail "a file that is no stream was written to"
	rm -f not && ln -s other.new not
	expect 3 env TEEPERF_STREAM=not ./$port 100 1
	[ ! -e other.new ] || fail "a symbolic link was followed"
	# The program closes the stream, and gives its number to a file.
	expect 3 env TEEPERF_STREAM=stream ./$port $rounds 1 reuse
	[ -e own ] && [ ! -s own ] || fail "frames are in the program's own file"
	# A thread that is to end where it waits next does not end in the runtime, and others go on
	# sending.
	expect 3 env TEEPERF_STREAM=stream ./$port $rounds 2 cancel
	sums events=$((2 * calls)) lost=0 ended=1
	# The end is sent while others go on.
	expect 3 env TEEPERF_STREAM=stream ./$port $rounds 3 leave
	sums ended=1
	# Each frame waits until there is room.
	: >stream
	mkfifo full 2>/dev/null || true
	{ sleep 0.2; cat; } <full >stream & # paces
	expect 3 env TEEPERF_STREAM=fd:9 ./$port $rounds 1 nonblock 9>full
	wait $!
	sums events=$((2 * calls)) lost=0 ended=1
	# The limit of a file's size is no reason to end.
	rm -f stream
	(ulimit -f 1 && expect 3 env TEEPERF_STREAM=stream ./$port $rounds 1) ||
		fail "a limit ended the program"
	# A reader that goes away.
	{
		env TEEPERF_STREAM=fd:9 ./$port $rounds 1 9>&1 >/dev/null || echo $? >code
	} | head -c 100000 >/dev/null
	[ "$(cat code)" = 3 ] || fail "the program did not survive its reader"
done
