#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that the memory of exports with single calls does not grow with calls: ten times as many
# take the same. Prints times and sizes, too. The long form has 10 million events, and lets uftrace
# read them.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >calls.c <<'EOS'
#include <pthread.h>
#include <stdlib.h>
#define KEEP __attribute__((noinline))
static long calls;
KEEP static int leaf(int x)
{
	__asm__ volatile("");
	return x + 1;
}
KEEP static int even(int n);
KEEP static int odd(int n)
{
	int r = n ? even(n - 1) : leaf(n);
	__asm__ volatile("");
	return r + 1;
}
KEEP static int even(int n)
{
	int r = n ? odd(n - 1) + leaf(n) : leaf(n);
	__asm__ volatile("");
	return r;
}
static void *work(void *argument)
{
	int *sum = argument;
	for (long i = 0; i < calls; i += 8)
		*sum += even((int)(i % 9));
	return argument;
}
int main(int argc, char **argv)
{
	pthread_t threads[4];
	int sums[4] = {0};
	calls = atol(argv[argc - 1]) / 4;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, &sums[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOS
cat >measure.py <<'EOS'
"""measure.py FORMAT FEW MANY LIMIT: export both, print what it takes, and fail if MANY takes LIMIT MiB more."""
import os
import resource
import subprocess
import sys
import time

form, few, many, limit = sys.argv[1:]
peaks = []
for trace in (few, many):
    out = f"{trace}.{form}"
    start = time.monotonic()
    child = subprocess.Popen([os.environ["TEEPERF"], "export", "--format", form, *["--calls"][form != "speedscope":], "-o", out, trace],
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.monotonic() - start
    size = sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(out) for name in names) or os.path.getsize(out)
    peaks.append(usage.ru_maxrss / 1024)
    print(f"{form:18} {trace}: {took:6.2f} s, {peaks[-1]:5.1f} MiB, {size / 1e6:6.1f} MB")
    if status:
        sys.exit("failed")
if peaks[1] - peaks[0] > float(limit):
    sys.exit(f"memory grows with calls: {peaks}")
EOS
calls=600000
[ "${TEEPERF_FULL:-0}" = 0 ] || calls=5000000
expect 0 "$TEEPERF" cc -O1 -g -pthread -o calls calls.c
expect 0 "$TEEPERF" record -o few.trace -- ./calls $((calls / 10))
expect 0 "$TEEPERF" record -o many.trace -- ./calls $calls
for format in uftrace perfetto chrome speedscope firefox; do
	rm -rf few.trace.$format many.trace.$format
	python3 measure.py $format few.trace many.trace 4 || fail "$format"
	[ $format = uftrace ] || rm -rf few.trace.$format many.trace.$format
done
if [ "${TEEPERF_FULL:-0}" != 0 ] && command -v uftrace >/dev/null; then
	for view in report graph "dump --flame-graph"; do
		python3 -c 'import os, subprocess, sys, time
start = time.monotonic()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(" ".join(sys.argv[1:3]), f"{time.monotonic() - start:.2f} s, {usage.ru_maxrss / 1024:.1f} MiB")
sys.exit(status != 0)' uftrace $view -d many.trace.uftrace || fail "uftrace $view"
	done
	"$TEEPERF" analyze --raw --format csv many.trace >many.csv 2>notes
	expect 0 uftrace report -d many.trace.uftrace --no-pager
	cp out many.report
	expect 0 python3 "$lib/slices.py" uftrace-report many.report many.csv
	cat out
fi
