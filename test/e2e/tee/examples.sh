#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# examples/ build by their own Makefiles and are recorded and analysed as their READMEs say. No SDK
# is here: of OP-TEE there is a stand-in of the dev kit and of the client library, whose application
# is a process of its own that shares nothing with the client but the registered memory, for the
# time of a command; of Gramine a launcher that gives the program what the manifest does.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
fake=
private_shm || true # Gramine's log has one name
make=$(command -v make || command -v gmake) || skip "no make"
unset MAKEFLAGS MAKELEVEL MFLAGS
prefix=${TEEPERF_BUILD:-$(dirname "$TEEPERF")/..}
kit=$root/test/tee/optee_kit
cp -r "$root/examples" .

# ---- OP-TEE
mkdir -p client/lib built
cp -r "$kit/include" client
${CC:-cc} -O1 -fPIC -shared -I "$kit/include" -o client/lib/libteec.so "$kit/src/teec_process.c" ||
	skip "no C compiler (CC=${CC:-cc})"
expect 2 "$make" -C examples/optee/ta
says 'TA_DEV_KIT_DIR must name the dev kit' err
cp -r "$root/include" include
expect 0 "$make" -C examples/optee TA_DEV_KIT_DIR="$kit" TEEC_EXPORT="$PWD/client" CC="${CC:-cc}" \
	TEEPERF_PREFIX="$PWD" TEEPERF="$TEEPERF" TEEPERF_CFLAGS='-Os -g -fpie -ffreestanding' \
	TEEPERF_RUNTIME="$prefix/lib/teeperf/ports/libteeperf-optee.a" \
	LDFLAGS="-Wl,-rpath,$PWD/client/lib"
uuid=3f6d2a1c-7b0e-4f5d-9a64-5e1f0c8b7d21
mv examples/optee/ta/$uuid.elf built
nm examples/optee/ta/$uuid.stripped.elf 2>&1 | grep -q ' [tT] ' && fail "what runs is not stripped"
TEEC_APPLICATIONS=$PWD/examples/optee/ta
export TEEC_APPLICATIONS
client=examples/optee/host/primes_client
expect 0 $client 3 1000
says '^168 primes below 1000$' out

# host_events TRACE CALL: the kernel's events are there, by no function of the TEE: its thread
# numbers are not the host's.
host_events() {
	! grep 'no system events' err || fail "they are refused"
	expect 0 "$TEEPERF" analyze --view system --limit 0 "$1"
	says "^system .*no function is named, because the recorded threads have different numbers" \
		out
	says " $2 +\\(no recorded thread\\)\$" out
	[ "$(sed -n '/^ *count /,$p' out | sed '1d; / total/d; /(no recorded thread)$/d' |
		wc -l)" = 0 ] || fail "$1: functions of the TEE are named: $(cat out)"
}

# What primes.c calls: is_prime for each number below the limit, and divides until a divisor is
# found.
commands=20
python3 - $commands 1000 >wanted <<'EOP'
import sys
commands, limit = int(sys.argv[1]), int(sys.argv[2])
divides = 0
for number in range(2, limit):
    divisor = 2
    while divisor * divisor <= number:
        divides += 1
        if number % divisor == 0:
            break
        divisor += 1
print("divides,%d" % (commands * divides))
print("is_prime,%d" % (commands * (limit - 2)))
print("primes_below,%d" % commands)
EOP
expect 0 "$TEEPERF" record --port optee --size 4M -o ta.trace -- $client $commands 1000
says '^168 primes below 1000$' out
! grep -q 'not recorded' err || fail "the client is refused: $(cat err)"
expect 0 "$TEEPERF" analyze --debug-dir built --view top --format csv ta.trace
sed -n '2,$p' out | cut -d, -f1,2 | sort >counted
diff wanted counted >&2 ||
	fail "the application's functions are not in the trace as they are called"
grep -q '19,960 of `is_prime` and 105,740 of `divides`' examples/optee/README.md ||
	fail "the README tells other numbers"
grep -Fxq "divides,105740" wanted || fail "the README tells other numbers"
if may_bpf; then
	expect 0 "$TEEPERF" record --port optee --events sched,syscalls,io,faults \
		-o events.trace -- $client 2 1000
	host_events events.trace sendmsg
fi
# The client's side, too: what the kernel tells of its thread goes for the application's calls,
# except the system call that a command lies in.
"$TEEPERF" cc -O1 -g -I client/include -I include -I examples/optee/ta \
	-o both examples/optee/host/primes_client.c \
	examples/optee/host/teeperf_client.c -Lclient/lib -lteec -Wl,-rpath,"$PWD/client/lib"
events=
! may_bpf || events='--events sched,syscalls'
# one QUERY: its answer.
one() {
	expect 0 "$TEEPERF" query --raw --debug-dir built --format csv both.trace "$1"
	tail -n 1 out
}
# own_wait: most waits for the application are the client's own; not all, as the clock may have been
# late in some.
own_wait() {
	[ "$(one "SELECT count(*) >= 5 AND 2 * sum(function IN ('is_prime', 'divides')) < count(*) FROM syscalls
		WHERE call = 'recvfrom' AND function IS NOT NULL")" = 1 ]
}
# A clock that had no processor cannot tell in which call a wait lies: u_system and running-in-tee
# hold the rule itself.
wrong=0
for try in 1 2 3 4 5; do
	expect 0 "$TEEPERF" record --tee --port optee --size 8M $events \
		-o both.trace -- ./both 5 5000
	says "^teeperf record: 5 calls into the TEE joined" err
	may_bpf || break
	! own_wait || break
	expect 0 "$TEEPERF" analyze --debug-dir built both.trace
	grep -q '^coarse  *times are coarse' out || wrong=$((wrong + 1))
done
[ $wrong -lt 3 ] || fail "what waits for the application is taken for its calls, $wrong times"
if "$TEEPERF" dump both.trace | grep -q '^sched '; then
	[ "$(one "SELECT count(*) FROM functions WHERE abs(self_cpu_ns + self_wait_ns + self_preempted_ns - self_ns) > 5 OR
		self_cpu_ns IS NULL")" = 0 ] ||
		fail "what the calls ran and waited is not all of them"
	expect 0 "$TEEPERF" analyze both.trace
	! grep 'times are not known' out || fail "a thread is not known"
fi
# The signed application has no names of its own, and a build of another day's source is not taken
# for it.
expect 0 "$TEEPERF" analyze --debug-dir examples/optee/ta --view top --format csv ta.trace
says 'it is the recorded file, but stripped' err
# A log that the TEE does not register: the client says so, and works.
expect 0 env TEEC_MEMORY_MAX=100000 "$TEEPERF" record --port optee --size 4M \
	-o none.trace -- $client 2 1000
says '^168 primes below 1000$' out
says "^cannot register [0-9]* bytes of '.*' with the TEE .*try a smaller log" err
# One that is registered, but that OP-TEE has no memory to map: the command is made without it.
expect 0 env TEEC_MAP_MAX=100000 "$TEEPERF" record --port optee -o none.trace -- $client 2 1000
says '^168 primes below 1000$' out
[ "$(grep -c '^the TEE has no memory to map a log of [0-9]* bytes; not recorded from here on' \
	err)" = 1 ] || fail "the client does not say once that its log cannot be mapped: $(cat err)"
says 'no code in the TEE has attached to the log' err
# What the TEE is given is small unless it is asked otherwise, and never more than can be mapped.
expect 0 env TEEC_MEMORY_MAX=1200000 "$TEEPERF" record --port optee -o small.trace -- $client 1 100
! grep -q 'cannot register' err || fail "the default log is too large: $(cat err)"
expect 129 "$TEEPERF" record --port optee --size 16M -o none.trace -- $client 1 100
says "with '--port optee' '--size' is at most 8M" err
expect 129 "$TEEPERF" record --tee --port optee --size 16M -o none.trace -- $client 1 100
expect 0 "$make" -C examples/optee clean TA_DEV_KIT_DIR="$kit"
[ -z "$(find examples/optee -name '*.o' -o -name '*.ta' -o -name '*.elf')" ] ||
	fail "make clean leaves files"

# ---- the same for the processor that OP-TEE runs on: with text at address 0, and nothing undefined
# but the SDK's
runtime=$prefix/lib/teeperf/aarch64/ports/libteeperf-optee.a
if [ -e "$runtime" ] && command -v ld.lld-19 >/dev/null && command -v clang-19 >/dev/null; then
	cd examples/optee/ta
	expect 0 "$make" primes.o TA_DEV_KIT_DIR="$kit" TEEPERF="$TEEPERF"
	clang-19 --target=aarch64-linux-gnu -ffreestanding -fpie -Os -I "$kit/include" \
		-I "$root/include" -c -o entry.o entry.c
	printf '%s\n' 'int TEE_CheckMemoryAccessRights(void) { return 0; }' \
		'void TEE_GenerateRandom(void) {}' 'int TEE_GetPropertyAsUUID(void) { return 1; }' \
		'int dl_iterate_phdr(void) { return 0; }' >sdk.c
	clang-19 --target=aarch64-linux-gnu -ffreestanding -fpie -Os -c -o sdk.o sdk.c
	ld.lld-19 -pie -z max-page-size=4096 -T "$root/test/tee/ta_shape.lds" \
		-e TA_InvokeCommandEntryPoint -o ta.elf entry.o primes.o "$runtime" sdk.o ||
		fail "the application for aarch64 does not link with the SDK's four functions alone"
	[ "$(nm ta.elf | sed -n 's/^\([0-9a-f]*\) . __text_start$/\1/p')" = 0000000000000000 ] ||
		fail "text is not at 0"
	cd "$TEST_TMP"
else
	echo "not tried: aarch64, whose runtime or linker is not here"
fi

# ---- Gramine: the program, and a launcher that gives it nothing but what the manifest does
lines() {
	python3 - "$1" <<'EOP'
import re, sys, tomllib
text = open(sys.argv[1]).read()
manifest = tomllib.loads(re.sub(r"{{.*?}}", "X", text))
for mount in manifest["fs"]["mounts"]:
    if mount.get("type") == "untrusted_shm":
        print("mount", mount["path"], mount["uri"])
print("allowed", *manifest["sgx"]["allowed_files"])
print("log", manifest["loader"]["env"]["TEEPERF_LOG"])
EOP
}
python3 -c 'import tomllib' 2>/dev/null ||
	skip "no tomllib (Python 3.11) to read the manifest of Gramine's example"
expect 0 "$make" -C examples/gramine collatz TEEPERF="$TEEPERF"
"$TEEPERF" gramine-manifest >printed
lines printed >printed.lines
lines examples/gramine/collatz.manifest.template >lines
diff printed.lines lines >&2 || fail "the manifest has other lines than gramine-manifest prints"
log=$(sed -n 's/^log //p' lines)
printf '#!/bin/sh\nexec env -i TEEPERF_LOG="%s" "$@"\n' "$log" >launcher
chmod +x launcher
[ ! -e "$log" ] || skip "another recording has '$log'"
expect 0 "$TEEPERF" record --port gramine -o gramine.trace -- ./launcher examples/gramine/collatz
expect 0 "$TEEPERF" analyze --view top --format csv gramine.trace
sed -n '2,$p' out | cut -d, -f1,2 | sort >counted
printf '%s\n' main,1 next,215015 steps,2999 | diff - counted >&2 || fail "collatz has other calls"
grep -q '2,999 of `steps` and 215,015 of `next`' examples/gramine/README.md ||
	fail "the README tells other numbers"
# What happens before the program, such as the launcher's execve, is no function's.
# tee/virtual-threads has the rest.
if may_bpf; then
	expect 0 "$TEEPERF" record --port gramine --events sched,syscalls,io,faults \
		-o events.trace -- ./launcher examples/gramine/collatz
	expect 0 "$TEEPERF" analyze --view system --limit 0 events.trace
	# Where the clock's thread had no processor, the program's first record may have a time of
	# before it was started.
	grep -q '^coarse ' out || says ' execve +\(no recorded (thread|call)\)$' out
else
	echo "not tried: system events, as there is no BPF here"
fi
