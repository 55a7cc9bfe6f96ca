#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# C with threads, also counted and sampled, C with contexts, and C++ with exceptions and longjmp
# make the same calls on each path whichever way their events take to the recorder: a log that is
# mapped once (by path, by descriptor, handed over), one that is there for the time of a call only,
# frames of a private log (through a file, a pipe, a socket, an edge call), a recorder inside. On
# this processor and, under qemu-user, on aarch64 and riscv64. Nothing may depend on speed: logs
# hold all, and so do private ones, for which a thread that nobody lets send does no harm.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/calls.sh"
private_shm || true
host=$(uname -m)
from=$root/test/tee
calls_list >list
{
	calls_list
	printf 'fun:step=count\nfun:fib=sample/3\n'
} >list.counted
kinds='threads counted contexts unwind'
# How often a program runs in one process.
times=2
[ "${TEEPERF_FULL:-0}" = 0 ] || times=6
export SIDE_TIMES

# driver KIND: the language of a program.
driver() {
	[ "$1" = unwind ] && echo c++ || echo cc
}

# compile MACHINE OPTIONS...: the instrumented part of each program, once for all transports.
compile() {
	machine=$1
	shift
	target=
	emulator=
	if [ "$machine" != "$host" ]; then
		target=--target=$machine-linux-gnu
		emulator="qemu-$machine -L /usr/$machine-linux-gnu"
	fi
	for kind in $kinds; do
		list=list
		case $kind in
		counted) source=$threads list=list.counted ;;
		*) eval "source=\$$kind" ;;
		esac
		expect 0 "$TEEPERF" "$(driver $kind)" --allowlist $list --check off $target -O2 -g \
			-pthread "$@" -c -o $kind.o "$source"
	done
}

# link PORT SIDE: ./KIND of each program, whose other side takes ./image for it.
link() {
	expect 0 "$TEEPERF" cc --level=off $target -D"$2" -DSIDE_PATH="\"$TEST_TMP/image\"" -O1 \
		-I "$root/include" -c -o side.o "$from/calls_side.c"
	for kind in $kinds; do
		expect 0 "$TEEPERF" "$(driver $kind)" --check off --port="$1" $target -pthread \
			-Wl,--wrap=main -Wl,--wrap=pthread_create -o $kind $kind.o side.o
	done
}

# What stands before a path is of the process and the thread, whose names not each TEE knows.
cat >merge.awk <<'EOA'
{
	calls = $NF
	sub(/ [0-9]+$/, "")
	count = split($0, part, ";")
	for (i = 1; i < count && part[i] !~ /^(main|work|fiber)$/; i++)
		;
	path = part[i]
	while (i++ < count)
		path = path ";" part[i]
	sums[path] += calls
}
END {
	for (path in sums)
		print path, sums[path]
}
EOA
# A table of functions, whose names may have commas, without its other columns.
cat >sums.awk <<'EOA'
NR > 1 {
	match($0, /^("[^"]*"|[^,]*),/)
	name = substr($0, 1, RLENGTH - 1)
	calls = substr($0, RLENGTH + 1)
	sub(/,.*/, "", calls)
	print "sum of", name, calls
}
EOA

# paths TRACE: lines "path calls" of its call paths, and "sum of FUNCTION calls", which counted
# functions have, too. What tells that events were lost, or that records are odd, is in ./odd.
paths() {
	expect 0 "$TEEPERF" export -o folded --format folded --weight calls "$1"
	mv err folded.err
	expect 0 "$TEEPERF" analyze --view threads --format csv "$1"
	mv out threads.csv
	mv err threads.err
	grep -Ei 'unmatched|lost' folded.err threads.err >odd || true
	[ "$(sed 1d threads.csv | cut -d, -f5 | sort -u)" = 0 ] ||
		echo "threads.csv: events were lost" >>odd
	expect 0 "$TEEPERF" analyze --format csv "$1"
	{
		awk -f merge.awk folded
		awk -f sums.awk out
	} | LC_ALL=C sort
}

# compared KIND: of lines of paths, those that are to be the same. Which calls are sampled depends
# on those before.
compared() {
	if [ "$1" = counted ]; then
		grep '^sum'
	else
		cat
	fi
}

# same KIND TRACE TIMES WHAT: TRACE has the program's calls, TIMES times, and nothing is lost.
same() {
	sort -u out | cmp - "said.$1" || fail "$machine: $4: '$1' itself differs"
	paths "$2" >all
	compared "$1" <all >got
	awk -v times="$3" '{ $NF *= times; print }' "want.$1" >wanted
	diff wanted got >difference || true
	[ ! -s odd ] && [ ! -s difference ] || {
		show_trace "$2" "$machine: $4: '$1', $3 times"
		cat odd difference >&2
		fail "$machine: $4: the calls of '$1' (>) are not those of the program alone (<)"
	}
	done=$((done + 1))
}
done=0

# shared WHAT COMMAND...: each program by the command's environment, with the recorder on this
# machine.
shared() {
	what=$1
	shift
	SIDE_TIMES=$times
	for kind in $kinds; do
		ln -sf $kind image
		# shellcheck disable=SC2086 # words are meant
		expect 0 "$TEEPERF" record -q --mode full --size 16M --clock $clock \
			-o x.trace -- "$@" $emulator ./$kind
		same $kind x.trace $times "$what"
	done
}

# streamed WHAT TIMES: each program, which sends its frames to a file.
streamed() {
	SIDE_TIMES=$2
	for kind in $kinds; do
		ln -sf $kind image
		rm -f stream
		# shellcheck disable=SC2086 # words are meant
		expect 0 env TEEPERF_STREAM=stream SIDE_STREAM=stream $emulator ./$kind
		mv out said
		expect 0 "$TEEPERF" record -q -o x.trace --stream stream
		mv said out
		same $kind x.trace "$2" "$1"
	done
}

# taken WHAT FROM TO: the recorder takes the frames as they come, from a pipe or a connection.
taken() {
	SIDE_TIMES=$times
	for kind in $kinds; do
		rm -f pipe
		mkfifo pipe
		begin recorder "$TEEPERF" record -o x.trace --stream "$2"
		await recorder.err waiting
		# shellcheck disable=SC2086 # words are meant
		expect 0 env TEEPERF_STREAM="$3" $emulator ./$kind
		ended 0 recorder
		same $kind x.trace $times "$1"
	done
}

# The reference: the programs as they are, natively, recorded as any program is.
SIDE_TIMES=1
compile "$host"
for kind in $kinds; do
	"$TEEPERF" "$(driver $kind)" -pthread -o $kind $kind.o
	expect 0 "$TEEPERF" record -q --mode full --size 16M -o x.trace -- ./$kind
	sort -u out >said.$kind
	paths x.trace >all
	[ ! -s odd ] || {
		show_trace x.trace "$host: the program alone: '$kind'"
		fail "$host: the program alone: '$kind': $(cat odd)"
	}
	compared $kind <all >want.$kind
	echo "$kind: $(grep -vc '^sum' \
		want.$kind) paths, $(awk '/^sum/ { n += $NF } END { print n }' want.$kind) calls"
done
grep -Fxq 'work;step 80000' want.threads ||
	fail "the paths are not those of the program: $(cat want.threads)"
grep -Fxq 'sum of step 80000' want.counted ||
	fail "the counts are not those of the program: $(cat want.counted)"
grep -Fxq 'main;catches(int);throws(int);throws(int);throws(int);throws(int);Guard::~Guard() 500' \
	want.unwind || fail "the paths are not those of the program: $(cat want.unwind)"

# By descriptor, as from a launcher.
cat >inherit.sh <<'EOS'
exec 9<>"$TEEPERF_LOG"
TEEPERF_LOG=fd:9 exec "$@"
EOS

clock=auto
link vm SIDE_NONE
# The recorder inside: in a world of its own if that is allowed, of which nothing but the trace
# comes out.
inside=
! unshare -rpf --mount-proc true 2>/dev/null || inside='unshare -rpf --mount-proc'
SIDE_TIMES=$times
for kind in $kinds; do
	expect 0 $inside "$TEEPERF" record -q --mode full --size 16M -o x.trace -- ./$kind
	same $kind x.trace $times 'recorder inside'
done
shared 'mapped once, by descriptor' sh inherit.sh
for kind in $kinds; do
	begin recorder "$TEEPERF" record -o x.trace --mode full --size 16M \
		--attach "$TEST_TMP/shared"
	await recorder.err 'now start'
	expect 0 env TEEPERF_LOG="$TEST_TMP/shared" ./$kind
	ended 0 recorder
	same $kind x.trace $times 'mapped once, by path'
done
streamed 'frames, in a file' $times
taken 'frames, through a pipe' pipe pipe
taken 'frames, through a socket' unix:socket unix:socket
# Few kernels have virtual sockets that lead back to the machine itself.
port=$((20000 + $$ % 20000))
if timeout 10 python3 - $port 2>/dev/null <<'EOP'; then
import socket, sys
with socket.socket(socket.AF_VSOCK) as server, socket.socket(socket.AF_VSOCK) as client:
    server.bind((socket.VMADDR_CID_ANY, int(sys.argv[1])))
    server.listen()
    client.settimeout(3)
    client.connect((1, int(sys.argv[1])))
EOP
	taken 'frames, through vsock' vsock::$((port + 1)) vsock:1:$((port + 1))
else
	echo "not tried: vsock, which has no loopback here"
fi
link occlum SIDE_NONE
streamed 'frames of occlum, in a file' $times
for machine in $host aarch64 riscv64; do
	if [ "$machine" != "$host" ]; then
		links_for $machine || continue
		command -v qemu-$machine >/dev/null &&
			[ -e "$TEEPERF_BUILD/lib/teeperf/$machine/libteeperf.a" ] &&
			[ -e /usr/$machine-linux-gnu/lib/libstdc++.so.6 ] || continue
		compile $machine
		clock=soft
		link vm SIDE_NONE
		shared 'mapped once, by path'
		streamed 'frames, in a file' $times
	fi
	link bare SIDE_REGION
	shared 'mapped once, handed over'
	link bare SIDE_BY_CALL
	shared 'mapped for each call'
	# This machine's own library is elsewhere. The log has room for what one run needs.
	library=$TEEPERF_BUILD/lib/teeperf/$machine/ports/libteeperf-keystone.a
	if [ "$machine" = "$host" ] || [ -e "$library" ]; then
		link keystone SIDE_SEND
		streamed 'frames, by an edge call' 1
	fi
	echo "$machine: $done traces have had the same calls so far"
done
