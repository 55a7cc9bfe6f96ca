// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of work that several threads share.
#define _GNU_SOURCE // sched_getaffinity
#include "workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

struct shared {
	uint32_t count;
	int (*work)(void *context, uint32_t number, struct tp_err *err);
	void *context;
	atomic_uint next;
	pthread_mutex_t lock;
	atomic_int code; // set under lock, the first error; and err
	struct tp_err err;
};

uint32_t tp_workers_count(void)
{
	// Not all that there are: taskset and containers leave a process some of them.
	cpu_set_t allowed;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		return (uint32_t)CPU_COUNT(&allowed);
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	return processors > 0 ? (uint32_t)processors : 1;
}

static void *run(void *argument)
{
	struct shared *shared = argument;
	while (!atomic_load(&shared->code)) {
		struct tp_err err;
		const unsigned next = atomic_fetch_add(&shared->next, 1);
		if (next >= shared->count)
			break;
		const int code = shared->work(shared->context, next, &err);
		if (!code)
			continue;
		pthread_mutex_lock(&shared->lock);
		if (!atomic_load(&shared->code)) {
			shared->err = err;
			atomic_store(&shared->code, code);
		}
		pthread_mutex_unlock(&shared->lock);
	}
	return NULL;
}

int tp_workers_each(uint32_t count, uint32_t workers,
    int (*work)(void *context, uint32_t number, struct tp_err *err), void *context,
    struct tp_err *err)
{
	struct shared shared = {
	    .count = count, .work = work, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t threads[TP_WORKERS_MAX];
	uint32_t started = 0;
	workers = workers < count ? workers : count;
	// This thread works as well, so a failed pthread_create costs only time.
	while (started + 1 < workers && started < TP_WORKERS_MAX &&
	       pthread_create(&threads[started], NULL, run, &shared) == 0)
		started++;
	run(&shared);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	if (shared.code && err)
		*err = shared.err;
	return shared.code;
}
