#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A handler that comes between load and store of the cursor and records so much that the interrupted
# chunk has been drained, cleared and handed out again: the interrupted code does not go on in it.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
[ "$(uname -m)" = x86_64 ] || skip 'it steps by the trap flag of x86-64'

cat >long.c <<'EOF'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "keep_up.h"

static volatile int go;
static unsigned long place;
static int calls;

__attribute__((noinline)) void in_handler(void)
{
	__asm__ volatile("");
}
__attribute__((noinline)) void in_main(void)
{
	__asm__ volatile("");
}
__attribute__((noinline)) void in_thread(void)
{
	__asm__ volatile("");
}
static void trapped(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	if ((unsigned long)registers[REG_RIP] != place)
		return;
	registers[REG_EFL] &= ~0x100L;
	// In steps, so that the recorder keeps up.
	for (int i = 0; i < calls; i++) {
		in_handler();
		if (i % 1000 == 999)
			keep_up(4);
	}
}
static void *run(void *unused)
{
	while (!go)
		usleep(1000);
	for (int i = 0; i < 20000; i++) {
		in_thread();
		if (i % 1000 == 999)
			keep_up(4);
	}
	return unused;
}
int main(int argc, char **argv)
{
	calls = atoi(argv[argc - 1]);
	keep_up(4);
	pthread_t thread;
	pthread_create(&thread, NULL, run, NULL);
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	sigaction(SIGTRAP, &action, NULL);
	// add $8, %rdx: between load and store of the cursor.
	place = (unsigned long)memmem((void *)in_main, 200, "\x48\x83\xc2\x08", 4);
	if (!place)
		return 3;
	for (int i = 0; i < 100; i++)
		in_main();
	__asm__ volatile("pushfq; orq $0x100,(%%rsp); popfq" ::: "memory", "cc");
	in_main();
	for (int i = 0; i < 3000; i++)
		in_main();
	go = 1;
	pthread_join(thread, NULL);
	for (int i = 0; i < 3000; i++)
		in_main();
	return 0;
}
EOF
printf 'fun:in_*\n' >list
"$TEEPERF" cc --allowlist list --clock tsc --shape inline -O1 -pthread -I "$lib" \
	-I "$root/include" long.c -o long
for calls in 100 3000 30000; do
	expect 0 "$TEEPERF" record -q --clock tsc --size 1M --drain now -o l.trace -- ./long $calls
	"$TEEPERF" analyze l.trace --format csv >top.csv 2>top.err
	for want in "in_handler $calls" 'in_main 6101' 'in_thread 20000'; do
		[ "$(awk -F, -v name="${want% *}" '$1 == name { print $1, $2 }' top.csv)" = \
			"$want" ] || fail "$calls: not '$want': $(cat top.csv top.err)"
	done
	! grep -E 'unmatched .*(without|unknown)' top.err || fail "$calls: odd records"
done
