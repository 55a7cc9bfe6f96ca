#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# A host that is hostile to programs which send frames (vm, occlum with hardly any room, keystone):
# it takes them slowly, in bits, not at all, not any more, changes the pipe or the file under them,
# and answers system calls and edge calls with errors, with less, and with what cannot be. The
# program waits where the host lets it wait and nowhere else, computes what it computes, and stores
# nothing outside of its private log. A host that does what any kernel may gets all of the events;
# what it has no room for is counted. What has come is then read by the recorder.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
fake=
rounds=1200
[ "${TEEPERF_FULL:-0}" = 0 ] || rounds=60000
from=$root/test/hostile
${CC:-cc} -O1 -I "$root/include" -o taker "$from/hostile_taker.c" ||
	skip "no C compiler (CC=${CC:-cc})"
${CC:-cc} -O1 -I "$root/include" -o stream_sum "$root/test/tee/stream_sum.c"
printf 'fun:*\nfun:*only_counted*=count\nfun:*only_sampled*=sample/7\n' >levels.allow
"$TEEPERF" cc -O1 -shared -fPIC -o library.so "$from/hostile_library.c"

# private NAME OPTION...: the private log, as the runtime has it, and the host's answers.
general=-mgeneral-regs-only
[ "$(uname -m)" != riscv64 ] || general=
# Definitions must stay in their order, with the guards around them: gcc has an option for this.
order=-fno-toplevel-reorder
cc=${CC:-cc}
$cc $order -fsyntax-only -x c /dev/null 2>/dev/null || cc=gcc
command -v $cc >/dev/null || skip "no gcc"
private() {
	name=$1
	shift
	$cc -O2 -g -std=gnu17 -fPIC -ftls-model=initial-exec -ffreestanding \
		-fno-stack-protector $general $order "$@" -I "$root" -I "$root/include" -c \
		-o $name.frames.o "$from/hostile_frames.c"
}
private vm -DTP_PRIVATE_CHUNKS=256
private occlum -DTP_PRIVATE_CHUNKS=4
private keystone

# attack NAME TRANSPORTS KINDS: the host against ./NAME, which does work of these kinds.
attack() {
	mkdir -p $1.streams
	./taker "./$1" "$TEST_TMP/library.so" $rounds 1 1 120 $2 $1.streams >figures ||
		fail "$1: see above"
	! grep -Eq ' (chunks|left|whole)=0( |$)' figures ||
		fail "'$1': the host did nothing: $(cat figures)"
	echo "$1: $(cat figures)"
	for kind in $3; do
		! grep -q " $kind=0" figures || fail "'$1' did nothing of the kind '$kind'"
	done
	# What came, for a recorder with sanitizers if there is one.
	checked=${TEEPERF_BUILD:-}/asan/bin/teeperf
	[ -x "$checked" ] || checked=$TEEPERF
	for stream in $1.streams/*; do
		got=0
		ASAN_OPTIONS=exitcode=99 "$checked" record -q -o x.trace --stream "$stream" \
			--attach-timeout 0 >out 2>err || got=$?
		[ $got != 0 ] ||
			ASAN_OPTIONS=exitcode=99 "$checked" analyze x.trace >out 2>err || got=$?
		# Of a host that has lied there may be chunks missing.
		case $got:$stream in
		0:* | 1:*.streams/cut*) ;;
		*) fail "exit status $got, by $stream: $(cat err)" ;;
		esac
	done
}

for port in vm occlum; do
	"$TEEPERF" c++ --port=$port --allowlist levels.allow -DHOSTILE_FRAMES -O1 -pthread \
		-I "$root/include" -o $port "$from/hostile_program.cpp" $port.frames.o -ldl
	attack $port psuf 'calls throws jumps counts marks signals switches threads'
done
"$TEEPERF" c++ --port=keystone --allowlist levels.allow -DHOSTILE_FRAMES -DHOSTILE_BARE -O1 \
	-pthread -I "$root/include" -c -o program.o "$from/hostile_program.cpp"
"$TEEPERF" c++ --level=off -O1 -I "$root/include" -c -o hooks.o "$from/hostile_bare.cpp"
"$TEEPERF" c++ --port=keystone -pthread -o keystone program.o hooks.o keystone.frames.o -ldl
attack keystone psf 'calls throws jumps counts marks signals switches'

# Exact, whatever a kernel does that may do it; what it has no room for is counted.
calls=20000
events=$((2 * (1 + 3 * calls + calls / 100 * 20)))
echo 'fun:leaf=count' >counted.allow
"$TEEPERF" cc -O2 -g -c -o work.o "$root/test/tee/work.c"
"$TEEPERF" cc --allowlist counted.allow --check off -O2 -g -c -o counted.o "$root/test/tee/work.c"
"$TEEPERF" cc --level=off -O1 -c -o side.o "$root/test/tee/posix_side.c"
# A port without a system has one thread, and says itself that it is over.
cat >once.c <<'EOS'
#include "test/tee/work.h"
#include <stdlib.h>
#include <teeperf/teeperf.h>
int main(int argc, char **argv)
{
	const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	const int code = work(rounds) == WORK_SUM(rounds) ? 3 : 1;
	teeperf_over(code);
	return code;
}
EOS
"$TEEPERF" cc --level=off -O1 -I "$root" -I "$root/include" -c -o once.o once.c
for port in vm occlum keystone; do
	side=side.o
	[ $port != keystone ] || side="once.o hooks.o"
	# shellcheck disable=SC2086 # words are meant
	"$TEEPERF" c++ --port=$port -pthread -o exact work.o $side $port.frames.o -ldl
	for seed in 1 2 3; do
		for mode in 1 3; do
			: >stream
			expect 3 env HOSTILE_CALLS=$mode,$seed TEEPERF_STREAM=fd:9 ./exact $calls \
				1 9>>stream
			./stream_sum stream >sums ||
				fail "$port, mode $mode, seed $seed: $(cat sums)"
			[ "$(awk -F= '/^events|^lost/ { sum += $2 } END { print sum }' sums)" \
				= $events ] ||
				fail "$port: events are neither in the stream nor lost: $(cat sums)"
			[ $mode = 3 ] || grep -Fxq 'lost=0' sums ||
				fail "$port: events were lost: $(cat sums)"
			[ $mode = 1 ] || ! grep -Fxq 'lost=0' sums ||
				fail "$port: there was room for all"
		done
	done
	# Calls that are only counted, one each, are in a chunk of their own.
	# shellcheck disable=SC2086 # words are meant
	"$TEEPERF" c++ --port=$port -pthread -o exact counted.o $side $port.frames.o -ldl
	unsent=0
	for seed in 1 2 3 4 5 6 7 8; do
		: >stream
		expect 3 env HOSTILE_CALLS=3,$seed TEEPERF_STREAM=fd:9 ./exact $calls 1 9>>stream
		./stream_sum stream >sums || fail "$port, counts, seed $seed: $(cat sums)"
		[ "$(awk -F= '/^counted|^lost/ { sum += $2 } END { print sum }' sums)" \
			= $((2 * calls)) ] ||
			fail "$port: counted calls are neither in the stream nor lost: $(cat sums)"
		grep -Fxq lost=0 sums || unsent=$((unsent + 1))
	done
	[ $unsent -gt 0 ] && [ $unsent -lt 8 ] || fail "$port: counts were sent always, or never"
	# Behind half a frame no reader could separate new frames from its rest.
	if [ $port != keystone ]; then
		: >stream
		expect 3 env HOSTILE_CALLS=4,1 TEEPERF_STREAM=fd:9 ./exact $calls 1 9>>stream
		! ./stream_sum stream >sums || fail "$port: no frame was cut off"
		says '^error=cut at frame' sums
		expect 1 "$TEEPERF" record -o x.trace --stream stream --attach-timeout 0
		says 'the stream ends within a frame' err
	fi
done
