// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A log that is handed to the program while it runs: for good, or for the time of a call
// (teeperf.h).
#include "runtime.h"

/*
 * Who has entered. CHANGING while the first one puts the log in place, and the last one takes it
 * away. All of it is private memory, and nobody waits for the host; a host that stops the thread
 * that changes it makes others give up, which then do not record.
 */
enum { TRIES = 10000 };
#define CHANGING (UINT64_C(1) << 63)
#define FOR_GOOD (UINT64_C(1) << 62)
static uint64_t users;
static void *current;
static uint64_t current_size;

static void end_use(void)
{
	for (;;) {
		// Others may come and go; while we are among them nobody changes anything.
		const uint64_t now = tp_load_acquire(&users);
		if (!tp_change_acq_rel(&users, now, now == 1 ? CHANGING : now - 1))
			continue;
		if (now != 1)
			return;
		tp_attach_leave();
		tp_store_release(&users, 0);
		return;
	}
}

// Join those who use this very region, or become the first: *first.
static bool begin_use(void *region, uint64_t size, bool *first)
{
	for (int i = 0; i < TRIES; i++) {
		const uint64_t now = tp_load_acquire(&users);
		*first = now == 0;
		if (now & FOR_GOOD)
			return false;
		if (now & CHANGING)
			continue;
		if (tp_change_acq_rel(&users, now, *first ? CHANGING : now + 1)) {
			if (*first || (current == region && current_size == size))
				return true;
			end_use();
			return false;
		}
	}
	return false;
}

#if TP_ONE_THREAD
// The section TEEPERF_CONSTRUCTORS_SECTION: entries that the linker has put between others' are
// NULL.
extern void (*const __start_teeperf_constructors[])(void) __attribute__((weak)) TP_HIDDEN;
extern void (*const __stop_teeperf_constructors[])(void) __attribute__((weak)) TP_HIDDEN;

// What nobody has called before: linker scripts of such platforms may leave out constructors.
static void call_constructors(void)
{
	for (void (*const *at)(void) = __start_teeperf_constructors;
	     at < __stop_teeperf_constructors; at++)
		if (*at)
			(*at)();
}
#else
static void call_constructors(void)
{
}
#endif

/*
 * The size of the log may contain the call's label (log.h). It comes from the host and is only a
 * number to look up another one by: every use of the log is checked against the size.
 */
static uint64_t handle_of(uint64_t size)
{
	const uint64_t label = -size % TEEPERF_LABEL_ROOM;
	return label ? TEEPERF_LABEL_HANDLE(label) : 0;
}

static int come(void *region, uint64_t size, bool by_call)
{
	bool first;
	if (!region || tp_thread.entered) {
		tp_attach_refuse(NULL, 0, region ? TEEPERF_ATTACH_TAKEN : TEEPERF_ATTACH_NONE);
		return 0;
	}
	if (tp_load32_acquire(&tp_process.state) == TP_STATE_START)
		call_constructors();
	if (!begin_use(region, size, &first)) {
		tp_attach_refuse(NULL, 0, TEEPERF_ATTACH_TAKEN);
		return 0;
	}
	if (!first) {
		tp_thread_arrive();
		tp_border(TEEPERF_CONTROL_CALL_IN, handle_of(size));
		return 1;
	}
	const bool done = tp_attach_region(region, size, by_call);
	current = region;
	current_size = size;
	tp_store_release(&users, !done ? 0 : by_call ? 1 : FOR_GOOD);
	// A log for the time of a call is one of a call from the host.
	if (done && by_call)
		tp_border(TEEPERF_CONTROL_CALL_IN, handle_of(size));
	return done;
}

int __teeperf_region(void *region, unsigned long long size)
{
	return come(region, size, false);
}

int __teeperf_enter(void *region, unsigned long long size)
{
	return come(region, size, true);
}

void __teeperf_exit(void)
{
	if (!tp_process.by_call || !tp_thread.entered)
		return;
	tp_border(TEEPERF_CONTROL_RETURN_OUT, 0);
	tp_thread_depart();
	end_use();
}

void __teeperf_thread_over(void)
{
	tp_thread_end();
}
