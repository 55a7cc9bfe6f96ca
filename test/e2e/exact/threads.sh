#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that 8 threads of 1,000,000 calls each are recorded exactly, each thread for itself, with
# no event lost, and that a thread goes to the word that all threads share once for each of its
# chunks.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
fake=

cat >app.c <<'EOS'
#include <pthread.h>
enum { THREADS = 8, CALLS = 1000000 };
__attribute__((noinline)) static int step(int x)
{
	__asm__ volatile("");
	return x + 1;
}
static void *work(void *argument)
{
	int *x = argument;
	for (int i = 0; i < CALLS; i++)
		*x = step(*x);
	return argument;
}
int main(void)
{
	pthread_t threads[THREADS];
	int results[THREADS] = {0};
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &results[i]);
	int wrong = 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		wrong += results[i] != CALLS;
	}
	return wrong;
}
EOS
expect 0 "$TEEPERF" cc -O2 -g -pthread -o app app.c

# 16,000,000 records of 8 bytes take 123 MiB and a little; all of the log is in place from the
# start, so that nothing is lost on a busy machine either.
for mode in full stream; do
	expect 0 "$TEEPERF" record -q --mode $mode --size 256M --ready 256M -o run.trace -- ./app
	"$TEEPERF" analyze run.trace --view threads --format csv >threads.csv
	# thread,tid,name,events,lost,calls,busy_ns: 8 threads with work and its steps, and main.
	awk -F, 'NR > 1 { print $4 "," $5 "," $6 }' threads.csv | sort | uniq -c >shapes
	[ "$(awk '{ print $1 "x" $2 }' shapes | sort |
		tr '\n' ' ')" = "1x2,0,1 8x2000002,0,1000001 " ] || {
		cat threads.csv >&2
		fail "the threads' calls are not exact ($mode)"
	}
	"$TEEPERF" analyze run.trace --view top --format csv >top.csv
	[ "$(awk -F, 'NR > 1 { print $1 "=" $2 }' top.csv | sort | tr '\n' ' ')" = \
		"main=1 step=8000000 work=8 " ] || {
		cat top.csv >&2
		fail "the functions' calls are not exact ($mode)"
	}
	# All chunks that were drawn are in the trace, and each was drawn once.
	facts run.trace lost=0
	chunks=$(fact chunks_sections)
	draws=$(fact draws)
	[ "$draws" = "$chunks" ] || fail "$draws draws for $chunks chunks ($mode)"
	# 16,000,018 records fill 8184 a chunk: no thread leaves more than one chunk unfinished.
	[ "$chunks" -ge 1956 ] && [ "$chunks" -le 1970 ] || fail "$chunks chunks ($mode)"
	echo "$mode: 8000009 calls, $chunks chunks, $draws draws"
done
