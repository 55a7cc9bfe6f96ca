// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that end deep in a stack: by pthread_exit, by cancellation where they allow it and
// anywhere, with cleanup handlers and destructors of thread-specific data. What was open ends with
// the thread.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "flow.h"

static pthread_key_t key;
static sem_t ready;

KEEP void work(void)
{
	DONE;
}
KEEP void clean(void *arg)
{
	(void)arg;
	work();
}
KEEP void destroy(void *arg)
{
	(void)arg;
	work();
}
KEEP void leaves(int n)
{
	if (n == 0)
		pthread_exit(NULL);
	leaves(n - 1);
	DONE;
}
KEEP void *exits(void *arg)
{
	pthread_setspecific(key, arg);
	pthread_cleanup_push(clean, NULL);
	leaves(3);
	pthread_cleanup_pop(0);
	return arg;
}
KEEP void sleeps(int n)
{
	if (n == 0) {
		sem_post(&ready);
		for (;;)
			pause();
	}
	sleeps(n - 1);
	DONE;
}
KEEP void *waits(void *arg)
{
	pthread_cleanup_push(clean, NULL);
	sleeps(2);
	pthread_cleanup_pop(0);
	return arg;
}
KEEP void spins(void)
{
	sem_post(&ready);
	for (;;)
		DONE;
}
KEEP void *computes(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	spins();
	return arg;
}
KEEP void run(void *(*start)(void *), int cancel)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, start, &key))
		abort();
	if (cancel) {
		sem_wait(&ready);
		pthread_cancel(thread);
	}
	pthread_join(thread, NULL);
}
int main(void)
{
	pthread_key_create(&key, destroy);
	sem_init(&ready, 0, 0);
	for (int i = 0; i < 20; i++) {
		run(exits, 0);
		run(waits, 1);
		run(computes, 1);
	}
	return 0;
}

// says: open
// want: computes 20
// want: computes;spins 20
// want: exits 20
// want: exits;leaves 20
// want: exits;leaves;leaves 20
// want: exits;leaves;leaves;leaves 20
// want: exits;leaves;leaves;leaves;leaves 20
// want: main 1
// want: main;run 60
// want: waits 20
// want: waits;sleeps 20
// want: waits;sleeps;sleeps 20
// want: waits;sleeps;sleeps;sleeps 20
// want: exits;clean 20
// want: exits;clean;work 20
// want: exits;destroy 20
// want: exits;destroy;work 20
// want: waits;clean 20
// want: waits;clean;work 20
