// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four threads with the same calls wherever they run; with an argument it waits until the counter
// word moves. Opening braces are on the line of the name, as addr2line tells where the body begins.
// clang-format off
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#define KEEP __attribute__((noinline))
enum { THREADS = 4, CALLS = 20000 };
extern __thread uint64_t block[] __asm__("__teeperf_thread");
KEEP static int fib(int n) {
	int r = n < 2 ? n : fib(n - 1) + fib(n - 2);
	__asm__ volatile("" : "+r"(r)); // or the second call becomes a loop
	return r;
}
KEEP static int step(int x) {
	__asm__ volatile("");
	return x + 1;
}
static void *work(void *argument) {
	int *x = argument;
	for (int i = 0; i < CALLS; i++)
		*x = step(*x);
	*x += fib(10);
	return argument;
}
// The counter word is the host's: it moves though nobody here stores it.
KEEP static void wait_for_counter(void) {
	const volatile uint64_t *counter = (const volatile uint64_t *)block[1];
	const uint64_t first = *counter;
	while (*counter == first)
		usleep(1000);
}
int main(int argc, char **argv) {
	(void)argv;
	pthread_t threads[THREADS];
	int results[THREADS] = {0};
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], 0, work, &results[i]);
	int wrong = 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], 0);
		wrong += results[i] != CALLS + 55;
	}
	if (argc > 1)
		wait_for_counter();
	return wrong;
}
