#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# The hostile host of host-against-runtime.sh against the other ports and transports: a log that was
# inherited, mapped or handed over for good (scone, gramine, vm, bare, sgxsdk, openenclave), and one
# that comes and goes at other addresses (bare by teeperf_enter, optee), where after each call a
# page fault waits for whoever still points there. With frames the host has nothing to write to:
# what it can do is in host-against-frames.sh.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
rounds=3500
by_call=1500 # each with page faults for each call
[ "${TEEPERF_FULL:-0}" = 0 ] || rounds=200000 by_call=200000
from=$root/test/hostile
# The program puts guards around the log.
wrap="-Wl,--wrap=tp_port_reserve -Wl,--wrap=tp_port_map_whole"
${CC:-cc} -O1 -I "$root/include" -o host "$from/hostile_host.c" ||
	skip "no C compiler (CC=${CC:-cc})"
printf 'fun:*\nfun:*only_counted*=count\nfun:*only_sampled*=sample/7\n' >levels.allow
"$TEEPERF" cc -O1 -shared -fPIC -o library.so "$from/hostile_library.c"

# attack NAME KINDS: the host against ./NAME, which does work of these kinds.
attack() {
	case $1 in
	*.BY_CALL) now=$by_call ;;
	*) now=$rounds ;;
	esac
	./host "./$1" "$TEST_TMP/library.so" $now 1 1 120 >figures || fail "$1: see above"
	! grep -Eq ' chunks=0( |$)' figures || fail "'$1' took no chunk"
	echo "$1: $(tail -1 figures)"
	for kind in $2; do
		! grep -q " $kind=0" figures || fail "'$1' did nothing of the kind '$kind'"
	done
}

for port in scone gramine vm; do
	"$TEEPERF" c++ --port=$port --allowlist levels.allow -O1 -pthread -I "$root/include" \
		-o $port "$from/hostile_program.cpp" -ldl $wrap
	attack $port 'calls throws jumps counts marks signals switches threads'
done
for how in bare:ALWAYS bare:BY_CALL sgxsdk:BY_REGION openenclave:BY_REGION optee:BY_CALL; do
	port=${how%:*}
	"$TEEPERF" c++ --port=$port --allowlist levels.allow -O1 -pthread -DHOSTILE_BARE \
		-I "$root/include" -c -o program.o "$from/hostile_program.cpp"
	"$TEEPERF" c++ --level=off -O1 -DHOSTILE_${how#*:} -I "$root/include" -c -o hooks.o \
		"$from/hostile_bare.cpp"
	"$TEEPERF" c++ --port=$port -pthread -o $port.${how#*:} program.o hooks.o -ldl $wrap \
		-Wl,--defsym=__ImageBase=__executable_start \
		-Wl,--defsym=__text_start=__executable_start
	attack $port.${how#*:} 'calls throws jumps counts marks signals switches'
done
