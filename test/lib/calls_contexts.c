// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Five contexts that take turns on stacks of their own, with the same calls wherever it runs.
// Opening braces are on the line of the name, as addr2line tells where the body begins.
// clang-format off
#include <ucontext.h>
#define KEEP __attribute__((noinline))
enum { FIBERS = 5, ROUNDS = 40 };
static ucontext_t scheduler, fibers[FIBERS];
static char stacks[FIBERS][1 << 16];
static int current;
KEEP static void deep(int n) {
	if (n)
		deep(n - 1);
	else
		swapcontext(&fibers[current], &scheduler);
	__asm__ volatile("" ::: "memory");
}
KEEP static void fiber(void) {
	for (int i = 0; i < ROUNDS; i++)
		deep(current);
}
int main(void) {
	for (int i = 0; i < FIBERS; i++) {
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = stacks[i];
		fibers[i].uc_stack.ss_size = sizeof(stacks[i]);
		fibers[i].uc_link = &scheduler;
		makecontext(&fibers[i], fiber, 0);
	}
	for (int i = 0; i <= ROUNDS; i++)
		for (current = 0; current < FIBERS; current++)
			swapcontext(&scheduler, &fibers[current]);
	return 0;
}
