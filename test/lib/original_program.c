// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls in which nothing is left to chance: for analyze/original-log. `threads`: by two threads at
// a time. `switch`: with a signal in between. `nest`: recursion.
#include <pthread.h>
#include <signal.h>
#include <string.h>

#define KEEP __attribute__((noinline))
static volatile int sink;

KEEP static int leaf(int x)
{
	sink = x;
	return x + 1;
}

KEEP static int odd(int x);

KEEP static int even(int x)
{
	return x == 0 ? leaf(x) : odd(x - 1) + 1;
}

KEEP static int odd(int x)
{
	return x == 0 ? 0 : even(x - 1) + 1;
}

KEEP int work(int count)
{
	int sum = 0;
	for (int i = 0; i < count; i++)
		sum += leaf(i) + even(i % 7);
	return sum;
}

KEEP static void *run(void *count)
{
	work(*(int *)count);
	return NULL;
}

int main(int argc, char **argv)
{
	int counts[2] = {3000, 2000};
	pthread_t threads[2];
	const char *how = argc > 1 ? argv[1] : "";
	work(100);
	if (!strcmp(how, "switch"))
		raise(SIGUSR1);
	if (!strcmp(how, "nest"))
		even(200);
	for (int i = 0; i < 2 && !strcmp(how, "threads"); i++)
		pthread_create(&threads[i], NULL, run, &counts[i]);
	for (int i = 0; i < 2 && !strcmp(how, "threads"); i++)
		pthread_join(threads[i], NULL);
	return work(50) == 0;
}
