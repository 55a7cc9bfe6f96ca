// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces memory of the log that went away, in a handler of SIGBUS.
#define _GNU_SOURCE
#include "log_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include <teeperf/atomic.h>

// Addresses; `to` 0: the place is free.
struct guarded {
	uint64_t from, to;
	uint64_t lost_bytes;
};
static struct guarded table[TP_LOG_GUARDS];
static uint32_t in_use;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // not for the handler, which only reads
static uint64_t page;
static struct sigaction old;

static bool put_empty(struct guarded *log, uint64_t start, uint64_t end)
{
	if (mmap((void *)(uintptr_t)start, end - start, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	tp_fetch_add_relaxed(&log->lost_bytes, end - start);
	return true;
}

// False: it is not ours to repair.
static bool replace(uint64_t at)
{
	const uint64_t start = at - at % page;
	for (uint32_t i = 0; i < TP_LOG_GUARDS; i++) {
		struct guarded *log = &table[i];
		const uint64_t end = tp_load_acquire(&log->to);
		if (at >= end || at < tp_load_relaxed(&log->from))
			continue;
		// Neighbours become one mapping. With holes everywhere there may be more mappings
		// than a process can have: then all that follows goes.
		return put_empty(log, start, start + page) || put_empty(log, start, end);
	}
	return false;
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	(void)context;
	const int saved = errno;
	// Not one that somebody has sent us with kill().
	const bool fault = info->si_code > 0;
	if (!fault || !replace((uint64_t)(uintptr_t)info->si_addr)) {
		// As if we had not been here: a fault comes again when we return.
		sigaction(SIGBUS, &old, NULL);
		if (!fault)
			raise(number);
	}
	errno = saved;
}

static int listen_to_bus(struct tp_err *err)
{
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGBUS, &action, &old))
		return tp_err_system(err, errno, NULL, "cannot handle SIGBUS");
	return 0;
}

static struct guarded *find(uint64_t base)
{
	for (uint32_t i = 0; i < TP_LOG_GUARDS; i++)
		if (table[i].to && table[i].from == base)
			return &table[i];
	return NULL;
}

static int add(uint64_t base, uint64_t size, struct tp_err *err)
{
	uint32_t i = 0;
	while (i < TP_LOG_GUARDS && table[i].to)
		i++;
	if (i == TP_LOG_GUARDS)
		return tp_err_set(
		    err, TP_ERR_LIMIT, NULL, "more than %d logs at once", TP_LOG_GUARDS);
	const int r = in_use ? 0 : listen_to_bus(err);
	if (r)
		return r;
	in_use++;
	table[i].lost_bytes = 0;
	tp_store_relaxed(&table[i].from, base);
	tp_store_release(&table[i].to, base + size);
	return 0;
}

int tp_log_guard_start(void *base, uint64_t size, struct tp_err *err)
{
	// A signal of a fault that is blocked ends the process.
	sigset_t bus;
	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
	pthread_mutex_lock(&lock);
	const int r = add((uint64_t)(uintptr_t)base, size, err);
	pthread_mutex_unlock(&lock);
	return r;
}

void tp_log_guard_stop(const void *base)
{
	pthread_mutex_lock(&lock);
	struct guarded *log = find((uint64_t)(uintptr_t)base);
	if (log) {
		tp_store_release(&log->to, 0);
		if (!--in_use)
			sigaction(SIGBUS, &old, NULL);
	}
	pthread_mutex_unlock(&lock);
}

uint64_t tp_log_guard_lost_bytes(const void *base)
{
	pthread_mutex_lock(&lock);
	const struct guarded *log = find((uint64_t)(uintptr_t)base);
	const uint64_t bytes = log ? tp_load_relaxed(&log->lost_bytes) : 0;
	pthread_mutex_unlock(&lock);
	return bytes;
}
