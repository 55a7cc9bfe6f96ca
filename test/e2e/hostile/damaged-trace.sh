#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that a real recorded trace with several threads, cut anywhere or with any bit flipped,
# never crashes a command, is never taken for a whole one, and still shows what precedes the damage.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >many.c <<'EOS'
#include <pthread.h>
#include <stddef.h>
__attribute__((noinline)) int step(int x) { __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) int walk(int n)
{
	int x = 0;
	while (n--)
		x = step(x);
	return x;
}
static void *work(void *unused) { (void)unused; return walk(9000) == 9000 ? NULL : "wrong"; }
int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOS
expect 0 "$TEEPERF" cc -O1 -g -pthread many.c -o many
expect 0 "$TEEPERF" record -q -o good.trace -- ./many
cuts=25
flips=45
[ "${TEEPERF_FULL:-0}" = 0 ] || cuts=50 flips=200
expect 0 python3 "$lib/damage_trace.py" "$TEEPERF" good.trace step $cuts $flips
says "$cuts cuts, $flips flipped bits, 0 failures" out
