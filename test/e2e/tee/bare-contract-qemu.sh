#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tier: long
#
# The TEE contract on aarch64 and riscv64, under qemu-user: a program on the port 'bare', without
# libc and linked to nothing, which has only the log in common with its host, is recorded exactly
# with the soft clock, with one thread and with two. Behind the mapping of the log and the start of
# its second thread it makes one system call, the last; and it executes no instruction that reads
# the processor's clock. With a clock that it was not compiled for the error is clear. A host that
# does nothing at all loses events, but neither ends the program nor stops it. (An emulator has
# neither seccomp nor a clock that could be forbidden: it says which calls and instructions there
# were.)
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
from=$root/test/tee
rounds=4000
machines=
for machine in aarch64 riscv64; do
	[ "$machine" != "$(uname -m)" ] || continue
	links_for $machine || continue
	command -v qemu-$machine >/dev/null &&
		[ -e "$TEEPERF_BUILD/lib/teeperf/$machine/ports/libteeperf-bare.a" ] &&
		machines="$machines $machine"
done
[ -n "$machines" ] ||
	skip "no other processor: qemu-user or the C libraries of the others are not there"
${CC:-cc} -O1 -o launch "$from/tee_launch.c" || skip "no C compiler (CC=${CC:-cc})"
${CC:-cc} -O1 -I "$root/include" -o still_host "$from/still_host.c"

# build OPTION...: ./program, compiled with the options.
build() {
	"$TEEPERF" cc "$@" $target -O2 -g -ffreestanding -c -o work.o "$from/work.c"
	"$TEEPERF" cc --port=bare $target -nostdlib -static -o program work.o start.o
	[ -z "$(nm -u program)" ] || fail "the program is linked to something"
}

# exact THREADS: x.trace has the calls of THREADS threads, and nothing is lost.
exact() {
	cat >wanted <<END
deep,$(($1 * rounds / 100 * 20))
leaf,$(($1 * rounds * 2))
middle,$(($1 * rounds))
work,$1
END
	expect 0 "$TEEPERF" analyze x.trace --format csv
	sed 1d out | cut -d, -f1,2 | sort >got
	diff wanted got || fail "$machine: the calls are not the program's"
	facts x.trace lost=0
}

# Instructions that read a clock, of those that were executed; and the number of the processor's
# own.
reads_clock='cntvct|cntpct|rdtime|rdcycle|csrr[swc]+i? .*(time|cycle)'
for machine in $machines; do
	target=--target=$machine-linux-gnu
	emulator=$(command -v qemu-$machine)
	hardware=2
	more=-mno-outline-atomics
	[ $machine = aarch64 ] || { more= hardware=3; }
	# shellcheck disable=SC2086 # words are meant
	"$TEEPERF" cc --level=off $target $more -DEMULATED -O1 -ffreestanding -fno-stack-protector \
		-fno-pie -I "$root/include" -DWORK_PATH="\"$TEST_TMP/program\"" -c \
		-o start.o "$from/bare_start.c"
	for options in --clock=auto --clock=soft --shape=call --exits=untimed; do
		build $options
		# Without a recorder it runs as it is.
		expect 7 ./launch any "$emulator" ./program 100 1
		for threads in 1 2; do
			expect 7 "$TEEPERF" record -q -o x.trace --clock soft -- \
				./launch any "$emulator" -strace ./program $rounds $threads
			cp err said
			sed -n '/ mmap(/,$s/^[0-9]* \([a-z_]*\)(.*/\1/p' said >calls
			[ "$(grep -v clone calls | tr '\n' ' ')" = 'mmap exit_group ' ] ||
				fail "$machine: system calls: $(cat said)"
			[ "$(grep -c clone calls)" = $((threads - 1)) ] ||
				fail "$machine: no $threads threads: $(cat said)"
			exact $threads
		done
		expect 7 "$TEEPERF" record -q -o x.trace --clock soft -- \
			./launch any "$emulator" -d in_asm -D executed ./program 100 2
		grep -q ret executed || fail "the emulator does not say what is executed"
		! grep -Ei "$reads_clock" executed ||
			fail "$machine $options: a clock of the processor's was read"
	done
	# The test would see that.
	build --clock=auto
	./still_host -t$hardware 4 7 0 ./launch any "$emulator" -d in_asm \
		-D executed ./program 100 1 >out || true
	grep -q 'attach=1 .*events=[1-9]' out ||
		fail "$machine: nothing was recorded with the processor's clock: $(cat out)"
	grep -Eiq "$reads_clock" executed ||
		fail "$machine: a reading of the clock would not be seen"

	# A clock that it was not compiled for.
	build --clock=tsc
	expect 7 "$TEEPERF" record -o x.trace \
		--clock soft -- ./launch any "$emulator" ./program 100 1
	says 'ran without recording: it was compiled for another clock; record with' err

	# A host that stops: its clock stands still, and it has four chunks, each of which holds
	# 8184 records.
	build --clock=soft
	many=12000
	calls=$((1 + 3 * many + many / 100 * 20))
	for threads in 1 2; do
		expect 0 ./still_host 4 7 $((2 * threads * calls)) ./launch any "$emulator" \
			./program $many $threads
	done
	echo "$machine: the contract holds"
done
