#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --tee: threads of a client that make commands at the same time, each of which lies in the
# calls of all the others. Client and application tell no numbers: the application's calls stand in
# the calls of the thread that made the command, all of them and with the limits of that thread, and
# the operations are what they were. Threads that tell numbers by hand go with those that do not.
# The stand-ins are those of tee/examples.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
make=$(command -v make || command -v gmake) || skip "no make"
unset MAKEFLAGS MAKELEVEL MFLAGS
prefix=${TEEPERF_BUILD:-$(dirname "$TEEPERF")/..}
kit=$root/test/tee/optee_kit
commands=10
mkdir -p client/lib ta
cp -r "$root/examples" "$root/include" .
cp -r "$kit/include" client
${CC:-cc} -O1 -fPIC -shared -pthread -I "$kit/include" -o client/lib/libteec.so \
	"$kit/src/teec_process.c" || skip "no C compiler (CC=${CC:-cc})"

# application: as examples/optee is now, in ta/.
application() {
	expect 0 "$make" -C examples/optee/ta TA_DEV_KIT_DIR="$kit" TEEPERF_PREFIX="$PWD" \
		TEEPERF="$TEEPERF" TEEPERF_CFLAGS='-Os -g -fpie -ffreestanding' \
		TEEPERF_RUNTIME="$prefix/lib/teeperf/ports/libteeperf-optee.a"
	cp examples/optee/ta/*.ta examples/optee/ta/*.elf ta
}
TEEC_APPLICATIONS=$PWD/ta
export TEEC_APPLICATIONS
"$TEEPERF" cc -O2 -g -pthread -I client/include -I include \
	-I examples/optee/host -I examples/optee/ta -o threads \
	"$root/test/tee/optee_threads.c" examples/optee/host/teeperf_client.c -Lclient/lib -lteec \
	-Wl,-rpath,"$PWD/client/lib"

# What each thread's commands call: is_prime for each number below its limit, and divides until a
# divisor is found.
python3 - $commands >wanted <<'EOP'
import sys
for client in range(4):
    limit = 20 * (client + 1)
    divides = 0
    for number in range(2, limit):
        divisor = 2
        while divisor * divisor <= number:
            divides += 1
            if number % divisor == 0:
                break
            divisor += 1
    for path, calls in (("", 1), (";is_prime", limit - 2), (";is_prime;divides", divides)):
        print("client_%d;primes_below%s %d" % (client, path, int(sys.argv[1]) * calls))
EOP

# try ARGUMENT...: all calls of the application are where they belong.
try() {
	expect 7 env TEEC_TOGETHER=4 "$TEEPERF" record --tee --port optee --size 8M \
		-o a.trace -- ./threads "$@"
	! grep -Eq 'events of the TEE were lost|of their own|of its own|got the nearest' err ||
		fail "not all is joined (threads $*): $(cat err)"
	says '^teeperf record: '$((4 * commands))' calls into the TEE joined' err
	expect 0 "$TEEPERF" export --debug-dir ta --format folded --weight calls -o - a.trace
	sed 's/^[^;]*;[^;]*;//' out | grep primes_below |
		awk '{ n[$1] += $2 } END { for (p in n) print p, n[p] }' | sort >counted
	sort wanted | diff - counted >&2 ||
		fail "the application's calls are in those of other threads (threads $*)"
	expect 0 "$TEEPERF" query --format csv a.trace \
		"SELECT count(*) FROM calls c JOIN calls p ON p.id = c.parent
		WHERE p.tid <> c.tid OR c.t0 < p.t0 OR c.t1 > p.t1"
	[ "$(tail -n 1 out)" = 0 ] || fail "$(tail -n 1 out) calls are not inside of their callers"
}

application
expect 7 env TEEC_TOGETHER=4 ./threads 1 3
try 1 $commands

# The application asks for the number that the client tells: of those threads that do, the label
# says nothing.
sed -i 's/^\tresult = run(/\tteeperf_border_handle(params[0].value.b);\n&/' \
	examples/optee/ta/entry.c
grep -q teeperf_border_handle examples/optee/ta/entry.c ||
	fail "the application does not ask for numbers"
application
try 1 $commands hand
try 1 $commands

# A log that cannot be mapped: all threads learn of it at the same time. It is said once, and no
# command fails.
expect 7 env TEEC_TOGETHER=4 TEEC_MAP_MAX=100000 "$TEEPERF" record --tee --port optee \
	-o none.trace -- ./threads 1 3 helper
[ "$(grep -c '^the TEE has no memory to map a log' err)" = 1 ] ||
	fail "it is not said once that the log cannot be mapped: $(cat err)"
