#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A client that opens its session again, and several at a time, each an instance of the application:
# the commands of all of them are in the trace, exactly, each instance a thread of its own; also
# where all of them are at the same addresses. The stand-ins are those of tee/examples.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
make=$(command -v make || command -v gmake) || skip "no make"
unset MAKEFLAGS MAKELEVEL MFLAGS
prefix=${TEEPERF_BUILD:-$(dirname "$TEEPERF")/..}
kit=$root/test/tee/optee_kit
mkdir -p client/lib
cp -r "$root/examples" "$root/include" .
cp -r "$kit/include" client
${CC:-cc} -O1 -fPIC -shared -I "$kit/include" -o client/lib/libteec.so "$kit/src/teec_process.c" ||
	skip "no C compiler (CC=${CC:-cc})"
expect 0 "$make" -C examples/optee/ta TA_DEV_KIT_DIR="$kit" TEEPERF_PREFIX="$PWD" \
	TEEPERF="$TEEPERF" TEEPERF_CFLAGS='-Os -g -fpie -ffreestanding' \
	TEEPERF_RUNTIME="$prefix/lib/teeperf/ports/libteeperf-optee.a"
TEEC_APPLICATIONS=$PWD/examples/optee/ta
export TEEC_APPLICATIONS
${CC:-cc} -O1 -I client/include -I examples/optee/host -I examples/optee/ta -o sessions \
	"$root/test/tee/optee_sessions.c" \
	examples/optee/host/teeperf_client.c -Lclient/lib -lteec -Wl,-rpath,"$PWD/client/lib"
expect 0 ./sessions 2 2 2 100

same=
if command -v setarch >/dev/null && setarch "$(uname -m)" -R true 2>/dev/null; then
	same="setarch $(uname -m) -R"
else
	echo "not tried: instances at the same addresses (no setarch)"
fi
# try ROUNDS SESSIONS COMMANDS [PREFIX...]
try() {
	rounds=$1 sessions=$2 commands=$3
	shift 3
	expect 0 "$TEEPERF" record --port optee --size 8M \
		-o a.trace -- "$@" ./sessions $rounds $sessions $commands 100
	! grep -q 'not recorded' err ||
		fail "some of $rounds x $sessions instances were not recorded: $(cat err)"
	! grep -q dlmopen err || fail "a library of Linux is told of: $(cat err)"
	expect 0 "$TEEPERF" analyze --debug-dir examples/optee/ta --view top --format csv a.trace
	all=$((rounds * sessions * commands))
	sed -n '2,$p' out | cut -d, -f1,2 | grep -v ^divides, | sort >counted
	printf '%s\n' "is_prime,$((98 * all))" "primes_below,$all" | diff - counted >&2 ||
		fail "$rounds times $sessions instances do not have their calls"
	expect 0 "$TEEPERF" analyze --debug-dir examples/optee/ta --view threads \
		--format csv a.trace
	[ "$(sed -n '2,$p' out | wc -l)" = $((rounds * sessions)) ] ||
		fail "instances are not threads: $(cat out)"
	[ "$(sed -n '2,$p' out | cut -d, -f5 | sort -u)" = 0 ] || fail "events were lost"
}

try 6 1 5
try 1 4 5
try 3 3 4
[ ! "$same" ] || try 3 3 4 $same
