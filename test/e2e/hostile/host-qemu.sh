#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# The hostile host of host-against-runtime.sh against programs of aarch64 and riscv64 under
# qemu-user: linked to the usual runtime, to that of virtual machines, and to 'bare' with a log that
# stays, and one that comes and goes. It writes while they attach and while they run, stops, and
# cuts the log's file. Between single instructions, as there, an emulator cannot be stopped.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
rounds=250
[ "${TEEPERF_FULL:-0}" = 0 ] || rounds=10000
from=$root/test/hostile
# The program puts guards around the log.
wrap="-Wl,--wrap=tp_port_reserve -Wl,--wrap=tp_port_map_whole"
find_machines aarch64 riscv64
printf 'fun:*\nfun:*only_counted*=count\nfun:*only_sampled*=sample/7\n' >levels.allow

# attack NAME KINDS: the host against ./NAME, which does work of these kinds: while it runs, and
# while it attaches.
attack() {
	printf '#!/bin/sh\nexec qemu-%s -L /usr/%s-linux-gnu "%s"\n' $machine $machine \
		"$TEST_TMP/$1" >emulated
	chmod +x emulated
	: >figures
	for seeds in '1 2' '8 8'; do
		# shellcheck disable=SC2086 # words are meant
		./host ./emulated "$TEST_TMP/library.so" $rounds $seeds 120 >>figures ||
			fail "$machine, $1: see above"
	done
	! grep -Eq ' chunks=0( |$)' figures || fail "'$1' took no chunk"
	echo "$machine, $1: $(grep bursts figures)"
	for kind in $2; do
		grep -q " $kind=[1-9]" figures || fail "'$1' did nothing of the kind '$kind'"
	done
}

for machine in $machines; do
	clock=TEEPERF_CLOCK_CNTVCT
	[ $machine = aarch64 ] || clock=TEEPERF_CLOCK_RDTIME
	${CC:-cc} -O1 -DHOSTILE_CLOCK=$clock -I "$root/include" -o host "$from/hostile_host.c" ||
		skip "no C compiler (CC=${CC:-cc})"
	target=--target=$machine-linux-gnu
	"$TEEPERF" cc $target -O1 -shared -fPIC -o library.so "$from/hostile_library.c"
	for port in posix vm; do
		"$TEEPERF" c++ --port=$port --allowlist levels.allow --check off $target -O1 \
			-pthread -I "$root/include" -o $port "$from/hostile_program.cpp" -ldl $wrap
		attack $port 'calls throws jumps counts signals switches threads'
	done
	"$TEEPERF" c++ --allowlist levels.allow --check off $target -O1 -pthread -DHOSTILE_BARE \
		-I "$root/include" -c -o program.o "$from/hostile_program.cpp"
	for how in ALWAYS BY_CALL; do
		"$TEEPERF" c++ --level=off $target -O1 -DHOSTILE_$how -I "$root/include" -c \
			-o hooks.o "$from/hostile_bare.cpp"
		"$TEEPERF" c++ --check off --port=bare $target -pthread -o bare program.o hooks.o \
			-ldl $wrap
		attack bare 'calls throws jumps counts signals switches'
	done
done
