#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program on the port 'bare' for aarch64 and riscv64, without libc and linked to nothing, is recorded exactly with
# the soft clock under qemu-user; behind the mapping of the log it makes one system call, the last.
# (t800_bare_contract.sh has the whole contract; an emulator has no seccomp, and the program here one thread.)
set -eu
. "$(dirname "$0")/../lib/e2e.sh"
from=$root/test/tee
rounds=20000
machines=
for machine in aarch64 riscv64; do
	[ "$machine" != "$(uname -m)" ] || continue
	links_for $machine || continue
	command -v qemu-$machine >/dev/null &&
		[ -e "$TEEPERF_BUILD/lib/teeperf/$machine/ports/libteeperf-bare.a" ] && machines="$machines $machine"
done
[ -n "$machines" ] || skip "no other processor: qemu-user or the C libraries of the others are not there"

cat >wanted <<END
deep,$((rounds / 100 * 20))
leaf,$((rounds * 2))
middle,$rounds
work,1
END
for machine in $machines; do
	target=--target=$machine-linux-gnu
	more=
	[ $machine != aarch64 ] || more=-mno-outline-atomics
	# shellcheck disable=SC2086 # words are meant
	"$TEEPERF" cc --level=off $target $more -DEMULATED -O1 -ffreestanding -fno-stack-protector -fno-pie \
		-I "$root/include" -DWORK_PATH="\"$TEST_TMP/program\"" -c -o start.o "$from/bare_start.c"
	for options in --clock=auto --shape=call --exits=untimed; do
		"$TEEPERF" cc $options $target -O2 -g -ffreestanding -c -o work.o "$from/work.c"
		"$TEEPERF" cc --port=bare $target -nostdlib -static -o program work.o start.o
		[ -z "$(nm -u program)" ] || fail "the program is linked to something"
		expect 7 "$TEEPERF" record -q -o x.trace --clock soft -- \
			sh -c "exec 3<>\"\$TEEPERF_LOG\"; exec qemu-$machine -strace ./program $rounds 1"
		sed -n '/ mmap(/,/exit_group/p' err | sed 's/^[0-9]* \([a-z_]*\)(.*/\1/' >calls
		[ "$(tr '\n' ' ' <calls)" = 'mmap exit_group ' ] || fail "$machine: system calls: $(cat err)"
		expect 0 "$TEEPERF" analyze x.trace --format csv
		sed 1d out | cut -d, -f1,2 | sort >got
		diff wanted got || fail "$machine $options: the calls are not the program's"
	done
	echo "$machine: exact, and no system call"
done
