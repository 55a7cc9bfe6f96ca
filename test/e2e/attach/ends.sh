#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# record --pid of a program that ends at that time, sooner or later: the program ends as it would,
# and the recorder has a sound trace or says why not.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true
. "$lib/late.sh"

cat >brief.c <<'EOC'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("");
	return n + 1;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		usleep(100);
		work(i);
	}
	return 5;
}
EOC
"$TEEPERF" cc -O1 -o brief brief.c

taken=0
for calls in 0 10 20 40 60 80 100 120 150 200 400 10000 200000; do
	# The last one is as long as a recorder needs, on any machine.
	[ $calls -lt 200000 ] || [ $taken = 0 ] || break
	rm -f brief.trace
	begin brief ./brief $calls
	program=$begun
	# It may be another program's child still, just before exec.
	await_true "! cmp -s /proc/$$/exe /proc/$program/exe" 'exec'
	got=0
	"$TEEPERF" record --pid "$program" --size 16M -o brief.trace 2>err || got=$?
	if [ $got = 0 ]; then
		facts brief.trace lost=0 end_sections=1
		taken=$((taken + 1))
	else
		says '(has ended|process [0-9]* does not exist|only just started; try again|built with)' err
		[ "$(wc -l <err)" = 1 ] || fail "more than one sentence: $(cat err)"
	fi
	ended 5 brief
done
[ $taken != 0 ] || fail 'no program was recorded'
