#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that marks and phases of programs for aarch64 and riscv64 (qemu-user) are in the trace as
# the program made them: names, order, thread, between which calls, and with an end or without; in
# the shapes inline and dual, with the soft clock and without one, in a ring, and from a signal
# handler's point of view in signals/each-instruction-qemu.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=
find_machines aarch64 riscv64
rounds=2000
threads=3
for machine in $machines; do
	for shape in inline dual; do
		expect 0 "$TEEPERF" cc --target=$machine-linux-gnu \
			--shape=$shape -O2 -pthread -I "$root/include" -o app \
			"$root/test/tee/marks_work.c" "$root/test/tee/posix_side.c"
		# Nobody records.
		expect 3 qemu-$machine -L /usr/$machine-linux-gnu ./app $rounds $threads
		for options in '--clock soft' '--clock none' \
			'--clock soft --mode ring --ring 1M'; do
			# shellcheck disable=SC2086 # words are meant
			expect 3 "$TEEPERF" record -q $options --ready 8M --size 8M -o run.trace \
				-- qemu-$machine -L /usr/$machine-linux-gnu ./app $rounds $threads
			python3 "$lib/check_marks.py" "$TEEPERF" run.trace $rounds $threads 1 ||
				fail "$machine, $shape, $options: see above"
		done
	done
done
