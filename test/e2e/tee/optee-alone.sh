#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A trusted application as OP-TEE has it (test/tee/ta_start.c): linked by a script without
# constructors, which nobody calls, with a thread pointer that points nowhere and is another one in
# each command. All calls are in the trace, in one thread; a command asks once what its log is;
# without a recorder it works. On this machine's processor and, where qemu-user is, on the one that
# OP-TEE runs on. No SDK is here.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
from=$root/test/tee
uuid=8aaaf200-2450-11e4-abe2-0002a5d5c51b
rounds=200
commands=20 # with two chunks each: no test waits for the recorder
prefix=${TEEPERF_BUILD:-$(dirname "$TEEPERF")/..}
flags='-O2 -g -ffreestanding -fpie -fno-stack-protector -fno-asynchronous-unwind-tables'

# build MACHINE LINKER RUNTIME OPTION...: ./app and ta/UUID.elf
build() {
	machine=$1 linker=$2 runtime=$3
	shift 3
	mkdir -p ta
	"$TEEPERF" cc --port=optee --target=$machine-linux-gnu --clock=soft "$@" $flags -c \
		-o work.o "$from/work.c"
	"$TEEPERF" cc --level=off --target=$machine-linux-gnu $flags -I "$root/include" -c \
		-o start.o "$from/ta_start.c"
	$linker -pie -z max-page-size=4096 --no-warn-rwx-segments -T "$from/ta_shape.lds" \
		-e _start -o ta/$uuid.elf start.o work.o "$runtime" 2>err || {
		cat err >&2
		fail "the application for $machine does not link"
	}
	! readelf -dW ta/$uuid.elf | grep -q TLS || fail "the application has thread-local storage"
	! readelf -lW ta/$uuid.elf | grep -q ' TLS ' ||
		fail "the application has thread-local storage"
	cp ta/$uuid.elf app
	strip_it=$(command -v llvm-strip-19 || command -v $machine-linux-gnu-strip || echo strip)
	$strip_it app
}

# try RUN: what ./app does when it is run so.
try() {
	expect 7 $1 ./app $rounds $commands
	for where in '' outside; do
		expect 7 "$TEEPERF" record --port optee --size 8M \
			-o a.trace -- $1 ./app $rounds $commands $where
		expect 0 "$TEEPERF" analyze a.trace --debug-dir ta --view top --format csv
		sed -n '2,$p' out | cut -d, -f1,2 | sort >counted
		printf '%s\n' "deep,$((commands * rounds / 100 * 20))" \
			"leaf,$((commands * rounds * 2))" \
			"middle,$((commands * rounds))" "work,$commands" | diff - counted >&2 ||
			fail "the application does not have its calls ($1 $where)"
		expect 0 "$TEEPERF" analyze a.trace --debug-dir ta --view threads --format csv
		[ "$(sed -n '2,$p' out | wc -l)" = 1 ] ||
			fail "an instance is more than one thread: $(cat out)"
	done
}

native=$(uname -m)
case $native in
x86_64 | aarch64) ;;
*) skip "the start code is for x86_64 and aarch64" ;;
esac
linker=$(command -v ld.bfd || command -v ld) || skip "no linker"
for options in '' --shape=call --level=count --level=sample/3 --exits=untimed; do
	build $native "$linker" "$prefix/lib/teeperf/ports/libteeperf-optee.a" $options
	try ''
done
# Code for many threads does not link: it would record into a thread's storage that is not there.
"$TEEPERF" cc --clock=soft $flags -c -o work.o "$from/work.c"
if $linker -pie -T "$from/ta_shape.lds" -e _start -o app start.o work.o \
	"$prefix/lib/teeperf/ports/libteeperf-optee.a" 2>err; then
	fail "code for many threads links with the runtime for one"
fi
says "wrong_port__compile_all_files_with_the_port_of_the_link" err

runtime=$prefix/lib/teeperf/aarch64/ports/libteeperf-optee.a
# Not lld: what it links by this script ends at once.
linker=$(command -v aarch64-linux-gnu-ld || true)
if [ -e "$runtime" ] && [ "$linker" ] && command -v qemu-aarch64 >/dev/null; then
	for options in '' --shape=call --level=count; do
		build aarch64 "$linker" "$runtime" $options
		try qemu-aarch64
	done
else
	echo "not tried: aarch64, whose runtime, linker or emulator is not here"
fi
