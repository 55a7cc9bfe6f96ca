#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# Proves that the recorder for targets (the presets '*target') is one static file without libdwarf,
# libelf, SQLite and C++, that what it records and recovers is exact and read by the complete
# teeperf, that it says what it cannot do, and that its build for aarch64 does the same under
# qemu-user. And that a complete teeperf which has nothing to build with beside it says that this is
# a target, and does not ask for a compiler. And that it tells system events if it is built to.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
. "$lib/system.sh"
private_shm || true
build_fake
prefix=${TEEPERF_BUILD:-$(dirname "$TEEPERF")/..}
command -v ninja >/dev/null || skip "no ninja, which the presets build with"

cat >app.c <<'EOS'
#define KEEP __attribute__((noinline))
KEEP int leaf(int n)
{
	volatile int x = n;
	return x;
}
KEEP int middle(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 100; i++)
		sum += middle(50);
	return sum != 122500 ? 1 : 7;
}
EOS

# counts TRACE LINE...: the complete teeperf finds these calls, and nothing wrong.
counts() {
	expect 0 "$TEEPERF" query --format csv "$1" \
		"SELECT function, calls FROM functions ORDER BY function"
	shift
	printf '%s\n' function,calls "$@" | diff - out >&2 || fail "the calls are not right"
}

# build PRESET FOLDER [OPTION]
build() {
	cmake -S "$root" --preset "$1" -B "$2" -DCMAKE_BUILD_TYPE=None \
		-DTEEPERF_WERROR=ON ${3-} >log 2>&1 && cmake --build "$2" -j2 >>log 2>&1 &&
		cmake --install "$2" --prefix "$2/there" >>log 2>&1 ||
		fail "the recorder of preset '$1' is not built: $(cat log)"
	recorder=$PWD/$2/there/bin/teeperf
}

# bare FILE: a static program without the libraries that recording does not need.
bare() {
	readelf -lW "$1" >headers
	! grep -Eq 'INTERP|DYNAMIC|NEEDED' headers || fail "$1 is not static: $(cat headers)"
	nm "$1" >symbols
	says ' tp_session_start$' symbols # what follows looks at something
	! grep -E ' (dwarf_(init|child|attr)|sqlite3_|elf_begin|gelf_|inflate|__cxa_demangle|_ZNS|_ZSt)' symbols >&2 ||
		fail "$1 has more in it than a recorder"
}

# talks COMMAND...: what the recorder, run so, says of itself.
talks() {
	expect 0 "$@" --help
	[ "$(sed -n 's/^  \([a-z-]*\) .*/\1/p' out | xargs)" = 'ctl doctor record recover' ] ||
		fail "$(cat out)"
	expect 0 "$@" record --help
	says '^usage: teeperf record' out
	expect 0 "$@" doctor
	says '^- +compiler +no compiler here: this is a target;' out
	says '^(ok|-) +clock' out
	! grep -Eq '^(missing|wrong)|^[^ ]+ +(runtime|llvm)' out ||
		fail "doctor on a target: $(cat out)"
	expect 1 "$@" doctor ./app
	says '^missing +program +this teeperf only records' out
	expect 129 "$@" analyze app.trace
	says "unknown command 'analyze'" err
	says 'the complete TeePerf has all other commands' err
}

# ---- the complete command alone
mkdir -p board/bin
cp "$TEEPERF" board/bin/teeperf
"$PWD/board/bin/teeperf" doctor >out || fail "doctor on a target: $(cat out)"
[ "$(head -n 1 out | cut -d' ' -f1)" = - ] || fail "$(cat out)"
says '^- +compiler +no compiler here: this is a target; .*board/lib' out
! grep -Eq '^(missing|wrong)|^[^ ]+ +(runtime|llvm)' out || fail "doctor on a target: $(cat out)"
# Half of what building takes is a fault, no target.
mkdir -p board/lib
: >board/lib/libteeperf.a
expect 1 "$PWD/board/bin/teeperf" doctor
says '^missing +compiler' out
says '^missing +runtime .*libteeperf.so' out

# ---- for this processor
"$TEEPERF" cc -O1 -g app.c -o app
build target native
bare "$recorder"
talks "$recorder"
expect 7 "$recorder" record -o app.trace -- ./app
says "next, with a complete TeePerf: teeperf analyze app.trace" err
counts app.trace leaf,5000 main,1 middle,100

if [ "$(sed -n 's/^TEEPERF_TARGET_ZSTD:[A-Z]*=//p' native/CMakeCache.txt)" = 1 ]; then
	expect 7 "$recorder" record --compress -o packed.trace -- ./app
	counts packed.trace leaf,5000 main,1 middle,100
	[ "$(wc -c <packed.trace)" -lt "$(wc -c <app.trace)" ] ||
		fail "'--compress' compressed nothing"
fi

printf '%s\n' 'default skip' 'fun:middle' 'fun:le*' >list
expect 7 "$recorder" record --only list -o only.trace -- ./app
says "'./app' cannot be read by this teeperf, .* \(fun:NAME\) are used$" err
counts only.trace middle,100
expect 1 "$recorder" record --only list --inventory app -o only.trace -- ./app
says 'reads no inventories: leave out' err

# A recorder that is asked, and then killed; what it left is completed.
begin killed "$recorder" record -q -o killed.trace ./fake 50000 pause
recording=$begun
await killed.out ready
await_true 'facts killed.trace log_sections=1 threads=1 modules=1 2>err' \
	'the tables of killed.trace'
expect 0 "$recorder" ctl status $recording
says "^recorder +process $recording$" out
kill -KILL $recording
wait $recording || true
program=$(sed -n 's/^ready //p' killed.out)
expect 1 "$recorder" recover killed.trace
says "the program \(process $program\) is still writing" err
kill -KILL $program
gone $program
expect 0 "$recorder" recover killed.trace
says '0 events were lost; next, with a complete TeePerf: teeperf analyze killed.trace$' err
facts killed.trace records=50000 threads=1 names=fake end_sections=1

# The two sides of a TEE are joined elsewhere.
from=$root/test/tee
plain="${CC:-cc} -O1 -g -I $root/include -pthread"
cc="$TEEPERF cc -I $root/include -O2 -g"
$plain -c -o sdk_u.o "$from/border_sdk_u.c" || skip "no C compiler (CC=${CC:-cc})"
for part in host u; do
	$cc -fno-pie -c -o $part.o "$from/border_$part.c"
done
$cc -fno-pie -no-pie -pthread -o host host.o u.o sdk_u.o
$cc --port=sgxsdk -fno-pie --clock=soft -c -o t.o "$from/border_t.c"
$plain -fpie -DIMAGE_PATH="\"$TEST_TMP/enclave\"" -c -o t_sdk.o "$from/border_sdk_t.c"
"$TEEPERF" cc --port=sgxsdk -fno-pie -no-pie -pthread -o enclave t.o t_sdk.o \
	-Wl,--defsym=__ImageBase=__executable_start -Wl,--defsym=__text_start=__executable_start
expect 7 "$recorder" record -o sides.trace --tee --port sgxsdk -- ./host ./enclave 20 1
says 'there: teeperf join -o joined.trace sides.trace sides.trace.tee$' err
expect 0 "$TEEPERF" join -o joined.trace sides.trace sides.trace.tee
expect 0 "$TEEPERF" analyze --view transitions --format csv joined.trace
[ "$(awk -F, '$10 == "sgx_ecall_sum" { print $1 }' out)" = 20 ] ||
	fail "the sides do not join: $(cat out)"

# With libbpf, which it is asked to have, it is one file, too, and tells system events.
archives=$(for name in bpf elf z; do ${CC:-cc} -print-file-name=lib$name.a; done)
if [ "$(echo "$archives" | grep -c /)" = 3 ] &&
	grep -q 'TEEPERF_BPF_CLANG:.*clang' "$prefix/CMakeCache.txt"; then
	build target native -DTEEPERF_EVENTS=ON
	readelf -lW "$recorder" >headers
	! grep -Eq 'INTERP|DYNAMIC|NEEDED' headers || fail "$recorder is not static: $(cat headers)"
	expect 7 "$recorder" record --events syscalls -o events.trace -- ./app
	if may_bpf; then
		! grep 'no system events' err || fail "they are refused"
		expect 0 "$TEEPERF" query --format csv events.trace \
			"SELECT count(*) FROM syscalls WHERE call = 'execve'"
		says '^1$' out
	else
		says 'warning: no system events are recorded: .*(BTF|root)' err
	fi
else
	echo "not tried: system events, whose libraries are not here as archives"
fi

# ---- for aarch64
emulator=$(command -v qemu-aarch64 || true)
if [ "$(uname -m)" = aarch64 ] || [ ! "$emulator" ] ||
	[ ! -e "$TEEPERF_BUILD/lib/teeperf/aarch64/libteeperf.a" ] ||
	[ ! -e /usr/aarch64-linux-gnu/lib/libc.a ]; then
	echo "not tried: aarch64, whose C library or emulator is not here"
	exit 0
fi
"$TEEPERF" cc --target=aarch64-linux-gnu -O1 -g app.c -o other
build aarch64-target other-build
bare "$recorder"
talks "$emulator" "$recorder"
expect 7 "$emulator" "$recorder" record --clock soft -o other.trace -- "$emulator" \
	-L /usr/aarch64-linux-gnu ./other
counts other.trace leaf,5000 main,1 middle,100
