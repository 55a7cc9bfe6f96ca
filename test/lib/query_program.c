// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads whose calls recurse, take different times, and are left by longjmp: for the tests of
// queries. query_program THREADS ROUNDS
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline))

struct work {
	uint64_t seed;
	unsigned rounds;
	uint64_t sum;
	jmp_buf out;
};

KEEP static uint64_t mix(uint64_t seed)
{
	__asm__ volatile("" : "+r"(seed));
	return seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

KEEP static uint64_t spin(uint64_t count)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		__asm__ volatile("" : "+r"(sum));
		sum += i;
	}
	return sum;
}

KEEP static uint64_t recurse(struct work *work, unsigned depth)
{
	work->seed = mix(work->seed);
	if (depth == 7 && work->seed >> 60 == 3)
		longjmp(work->out, 1);
	const uint64_t sum = depth ? recurse(work, depth - 1) : spin(work->seed >> 56);
	__asm__ volatile("");
	return sum + depth;
}

KEEP static uint64_t one_round(struct work *work)
{
	if (setjmp(work->out))
		return 1;
	work->seed = mix(work->seed);
	const uint64_t sum = recurse(work, (unsigned)(work->seed >> 61) + 1);
	__asm__ volatile("");
	return sum + spin(10);
}

static void *run(void *argument)
{
	struct work *work = argument;
	for (unsigned i = 0; i < work->rounds; i++)
		work->sum += one_round(work);
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
	pthread_t threads[64];
	static struct work works[64];
	for (unsigned i = 0; i < count && i < 64; i++) {
		works[i].seed = i + 1;
		works[i].rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
		if (pthread_create(&threads[i], NULL, run, &works[i]) != 0)
			return 1;
	}
	uint64_t sum = 0;
	for (unsigned i = 0; i < count && i < 64; i++) {
		pthread_join(threads[i], NULL);
		sum += works[i].sum;
	}
	printf("%d\n", sum != 0);
	return 0;
}
