#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A thread or process that renames itself after its first call is shown under its last name: also
# one that does not end by itself, and the first thread of a process.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

cat >names.c <<'EOC'
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}
static volatile int known, ready;
static void *work(void *name)
{
	for (int i = 0; i < 100; i++)
		leaf();
	__atomic_add_fetch(&known, 1, __ATOMIC_SEQ_CST);
	// The recorder knows the first name by now.
	while (access("go", F_OK))
		usleep(1000);
	prctl(PR_SET_NAME, name, 0, 0, 0);
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	if (((char *)name)[0] == 'e')
		return 0;
	for (;;)
		pause();
}
int main(int argc, char **argv)
{
	(void)argv;
	pthread_t threads[2];
	leaf();
	pthread_create(&threads[0], 0, work, "stays");
	pthread_create(&threads[1], 0, work, "ends");
	while (known < 2)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	while (ready < 2)
		usleep(1000);
	pthread_join(threads[1], 0);
	prctl(PR_SET_NAME, "first", 0, 0, 0);
	puts("renamed");
	fflush(stdout);
	while (access("end", F_OK))
		usleep(1000);
	if (argc > 1)
		_exit(0);
	return 0;
}
EOC
"$TEEPERF" cc -O1 -pthread -o names names.c
for how in '' _exit; do
	rm -f go end names.trace*
	# shellcheck disable=SC2086 # words are meant
	begin run "$TEEPERF" record -q -o names.trace ./names $how
	await run.out ready
	"$TEEPERF" ctl flush "$begun"
	# it is not complete
	"$TEEPERF" analyze --view threads --format csv names.trace >out 2>err || true
	[ "$(grep -c ',names,' out)" = 3 ] || fail "all threads begin as 'names': $(cat out)"
	: >go
	await run.out renamed
	# Its name is looked for now and then while it runs.
	await_true '"$TEEPERF" ctl flush "$begun"; "$TEEPERF" analyze --view threads --format csv names.trace 2>&1 | grep -q ",stays,"' \
		"the name of a thread that goes on"
	: >end
	ended 0 run
	expect 0 "$TEEPERF" analyze --view threads --format csv names.trace
	for name in stays ends first; do
		says ",$name," out
	done
done
