#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that marks and phases reach the trace from each kind of port as the program made them:
# names, order, thread, between which calls, and with an end or without. The log is shared (scone,
# sgxsdk), there for the time of a command (optee), sent in frames by an edge call (keystone) or to
# a file (vm), or all that a program without libc and system calls has (bare).
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
from=$root/test/tee
rounds=2000
${CC:-cc} -O1 -o launch "$from/tee_launch.c" || skip "no C compiler (CC=${CC:-cc})"
has_stream=
"$TEEPERF" record --help >out
! grep -q -- --stream out || has_stream=1

# build PORT SIDE OPTION...: ./PORT, its instrumented part compiled with the options.
build() {
	port=$1
	side=$2
	shift 2
	"$TEEPERF" cc --port="$port" "$@" -O2 -g -I "$root/include" -c \
		-o "$port.work.o" "$from/marks_work.c"
	${CC:-cc} -O1 -g -I "$root/include" -DPORT="\"$port\"" -DWORK_PATH="\"$TEST_TMP/$port\"" \
		-c -o "$port.host.o" "$from/$side.c"
	"$TEEPERF" cc --port="$port" -pthread -o "$port" "$port.work.o" "$port.host.o" \
		-Wl,--defsym=__ImageBase=__executable_start \
		-Wl,--defsym=__text_start=__executable_start
}

# marks TRACE THREADS WORKS [ROUNDS]
marks() {
	python3 "$lib/check_marks.py" "$TEEPERF" "$1" "${4:-$rounds}" "$2" "$3" ||
		fail "$port: see above"
}

# from_stream STATUS VARIABLE: run ./$port with frames to ./stream, and read that.
from_stream() {
	rm -f stream
	expect "$1" env "$2"=stream ./"$port" $rounds 1
	[ "$has_stream" ] || return 0
	expect 0 "$TEEPERF" record -q -o stream.trace --stream stream
	marks stream.trace 1 1
}

for shape in inline dual; do
	build scone posix_side --shape=$shape
	for clock in soft none; do
		expect 3 "$TEEPERF" record -q -o x.trace --clock $clock -- ./scone $rounds 3
		marks x.trace 3 1
	done
	build sgxsdk sdk_host --shape=$shape
	expect 7 "$TEEPERF" record -q -o x.trace --clock soft -- ./sgxsdk $rounds 2
	marks x.trace 2 $((rounds / 100)) 100
done
build optee sdk_host --clock=soft
for clock in soft none; do
	expect 7 "$TEEPERF" record -q -o x.trace --clock $clock -- ./optee $rounds 1
	marks x.trace 1 $((rounds / 100)) 100
done
build keystone sdk_host --clock=auto
from_stream 7 SDK_STREAM
build vm posix_side
from_stream 3 TEEPERF_STREAM

# Without libc; behind its start it may call nothing.
port=bare
for options in '--shape=inline --clock=soft' '--shape=dual --clock=auto'; do
	# shellcheck disable=SC2086 # words are meant
	"$TEEPERF" cc $options -O2 -g -ffreestanding -I "$root/include" -c \
		-o bare.work.o "$from/marks_work.c"
	${CC:-cc} -O1 -ffreestanding -fno-stack-protector -fno-pie -I "$root/include" \
		-DWORK_PATH="\"$TEST_TMP/bare\"" -c -o bare.start.o "$from/bare_start.c"
	"$TEEPERF" cc --port=bare -nostdlib -static -o bare bare.work.o bare.start.o
	expect 7 ./launch none ./bare $rounds 1
	for clock in soft none; do
		expect 7 "$TEEPERF" record -q -o x.trace \
			--clock $clock -- ./launch none ./bare $rounds 2
		marks x.trace 2 1
	done
done
