// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces memory of the log that went away, in a handler of SIGBUS.
#define _GNU_SOURCE
#include "log_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared.h"

static uint64_t from, to; // addresses; both 0: nothing is guarded
static uint64_t page;
static uint64_t lost_bytes;
static struct sigaction old;

static bool put_empty(uint64_t start, uint64_t end)
{
	if (mmap((void *)(uintptr_t)start, end - start, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	tp_shared_add_relaxed(&lost_bytes, end - start);
	return true;
}

// False: it is not ours to repair.
static bool replace(uint64_t at)
{
	const uint64_t first = tp_shared_load_relaxed(&from);
	const uint64_t last = tp_shared_load_relaxed(&to);
	if (at < first || at >= last)
		return false;
	const uint64_t start = at - at % page;
	// Neighbours become one mapping. With holes everywhere there may be more mappings than a process
	// can have: then all that follows goes.
	return put_empty(start, start + page) || put_empty(start, last);
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

int tp_log_guard_start(void *base, uint64_t size, struct tp_err *err)
{
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	tp_shared_store_relaxed(&lost_bytes, 0);
	tp_shared_store_relaxed(&from, (uint64_t)(uintptr_t)base);
	tp_shared_store_relaxed(&to, (uint64_t)(uintptr_t)base + size);
	// A signal of a fault that is blocked ends the process.
	sigset_t bus;
	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
	struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGBUS, &action, &old))
		return tp_err_system(err, errno, NULL, "cannot listen to SIGBUS");
	return 0;
}

void tp_log_guard_stop(void)
{
	sigaction(SIGBUS, &old, NULL);
	tp_shared_store_relaxed(&to, 0);
	tp_shared_store_relaxed(&from, 0);
}

uint64_t tp_log_guard_lost_bytes(void)
{
	return tp_shared_load_relaxed(&lost_bytes);
}
