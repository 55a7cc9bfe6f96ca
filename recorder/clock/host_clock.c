// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clocks of the host: which one a log uses, reading it, and the points that tie its ticks to
// nanoseconds.
#include "host_clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <teeperf/atomic.h>
#include <teeperf/hardware_clock.h>

#include "recorder/region/proc.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdlib.h>

static void read_clock_source(const char *name, char *text, size_t size)
{
	char path[96];
	snprintf(path, sizeof(path), "/sys/devices/system/clocksource/clocksource0/%s", name);
	FILE *file = fopen(path, "re");
	if (!file || !fgets(text, (int)size, file))
		*text = '\0';
	if (file)
		fclose(file);
}

// Linux has found that it jumps, or that those of processors differ: then it does not offer it any
// more, and uses a slow one. (In a virtual machine it may use the host's.)
static bool is_given_up(void)
{
	char now[64];
	char offered[256];
	read_clock_source("current_clocksource", now, sizeof(now));
	read_clock_source("available_clocksource", offered, sizeof(offered));
	return (!strncmp(now, "hpet", 4) || !strncmp(now, "acpi_pm", 7) ||
		   !strncmp(now, "jiffies", 7)) &&
	       *offered && !strstr(offered, "tsc");
}

// CPUID alone does not say that the counters of all sockets agree.
bool tp_clock_has_steady_counter(void)
{
	char *flags = tp_proc_cpu("flags");
	const bool steady =
	    flags && strstr(flags, " constant_tsc") && strstr(flags, " nonstop_tsc");
	free(flags);
	return steady && !is_given_up();
}

// CPUID leaf 15h (Intel SDM vol. 2A): crystal frequency times EBX / EAX.
static uint64_t stated_hz(void)
{
	unsigned denominator, numerator, crystal, unused;
	if (!__get_cpuid(0x15, &denominator, &numerator, &crystal, &unused))
		return 0;
	return denominator && numerator ? (uint64_t)crystal * numerator / denominator : 0;
}
#else
// The generic timer of Arm is architecturally steady. RISC-V wants a constant rate, and all harts
// in step.
bool tp_clock_has_steady_counter(void)
{
	return TP_HARDWARE_CLOCK != TEEPERF_CLOCK_NONE;
}

// Of RISC-V only the device tree knows it: the points of the trace tell.
static uint64_t stated_hz(void)
{
	uint64_t value = 0;
#if defined(__aarch64__)
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(value));
#endif
	return value;
}
#endif

int tp_clock_choose(enum tp_clock_choice choice, uint32_t *clock, struct tp_err *err)
{
	const bool steady = tp_clock_has_steady_counter();
	if (choice == TP_CLOCK_CHOICE_HARDWARE && !steady)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "this processor has no counter with a constant rate (constant_tsc and "
		    "nonstop_tsc): use '--clock soft'");
	if (choice == TP_CLOCK_CHOICE_ORDERED &&
	    (!steady || TP_HARDWARE_CLOCK != TEEPERF_CLOCK_TSC))
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
		    "'tsc-ordered' needs x86-64 with a counter of constant rate: use '--clock "
		    "auto'");
	if (choice == TP_CLOCK_CHOICE_ORDERED)
		*clock = TEEPERF_CLOCK_TSC_ORDERED;
	else if (choice == TP_CLOCK_CHOICE_NONE)
		*clock = TEEPERF_CLOCK_NONE;
	else if (choice == TP_CLOCK_CHOICE_COUNT)
		*clock = TEEPERF_CLOCK_SOFT_COUNT;
	else if (choice == TP_CLOCK_CHOICE_SOFT || !steady)
		*clock = steady && TP_HARDWARE_CLOCK == TEEPERF_CLOCK_TSC
			     ? TEEPERF_CLOCK_SOFT_TSC
			     : TEEPERF_CLOCK_SOFT_MONOTONIC;
	else
		*clock = TP_HARDWARE_CLOCK;
	return 0;
}

uint64_t tp_clock_ns(clockid_t clock)
{
	struct timespec now;
	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t tp_clock_monotonic_ns(void)
{
	return tp_clock_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t tp_clock_ticks(uint32_t clock)
{
	switch (clock) {
	case TEEPERF_CLOCK_NONE:
		return 0;
	case TEEPERF_CLOCK_SOFT_MONOTONIC:
		return tp_clock_monotonic_ns();
	default:
		return tp_hardware_clock();
	}
}

uint64_t tp_clock_stated_hz(uint32_t clock)
{
	switch (clock) {
	case TEEPERF_CLOCK_NONE:
	case TEEPERF_CLOCK_SOFT_COUNT:
		return 0;
	case TEEPERF_CLOCK_SOFT_MONOTONIC:
		return 1000000000;
	default:
		return stated_hz();
	}
}

static uint64_t log_ticks(const struct tp_clock_log *log)
{
	return log->word ? tp_load_relaxed(log->word) : tp_clock_ticks(log->clock);
}

uint64_t tp_clock_log_now(const struct tp_clock_log *log)
{
	return log->foreign ? 0 : log_ticks(log);
}

// Both clocks at one moment: the closest of several tries, since we may be descheduled in between.
static struct teeperf_trace_point take_point(const struct tp_clock_log *log)
{
	struct teeperf_trace_point best = {0};
	uint64_t narrowest = UINT64_MAX;
	for (int i = 0; i < 5; i++) {
		const uint64_t before = log_ticks(log);
		const uint64_t ns = tp_clock_monotonic_ns();
		const uint64_t width = log_ticks(log) - before;
		if (width < narrowest) {
			narrowest = width;
			best = (struct teeperf_trace_point){before + width / 2, ns};
		}
	}
	return best;
}

// For how long the machine was suspended, since it booted.
static uint64_t slept_ns(void)
{
	struct timespec boot;
	struct timespec running;
	if (clock_gettime(CLOCK_BOOTTIME, &boot) || clock_gettime(CLOCK_MONOTONIC, &running))
		return 0;
	const int64_t ns =
	    (int64_t)(boot.tv_sec - running.tv_sec) * 1000000000 + boot.tv_nsec - running.tv_nsec;
	return ns > 0 ? (uint64_t)ns : 0;
}

void tp_clock_log_init(struct tp_clock_log *log, uint32_t clock, const uint64_t *word)
{
	memset(log, 0, sizeof(*log));
	log->clock = clock;
	log->word = word;
	log->interval_ns = 4 * 1000 * 1000;
	log->slept_ns = slept_ns();
	tp_clock_log_point(log);
}

void tp_clock_log_init_foreign(struct tp_clock_log *log, uint32_t clock, uint64_t stated_hz)
{
	memset(log, 0, sizeof(*log));
	log->clock = clock;
	log->foreign = true;
	log->stated_hz = stated_hz;
}

void tp_clock_log_point(struct tp_clock_log *log)
{
	enum { ALIKE_NS = 1000 * 1000 }; // two clocks are read one after the other
	if (log->foreign)
		return;
	// While the machine was suspended, CLOCK_MONOTONIC stood still, and the counter may have
	// gone on: a point behind that would scale all times. Those before it tell the rate.
	if (slept_ns() > log->slept_ns + ALIKE_NS) {
		if (log->count > 1)
			return;
		log->count = 0;
		log->slept_ns = slept_ns();
	}
	if (log->count == TP_CLOCK_POINTS)
		log->count--;
	log->points[log->count++] = take_point(log);
}

void tp_clock_log_tick(struct tp_clock_log *log)
{
	if (log->foreign)
		return;
	const struct teeperf_trace_point *last = &log->points[log->count - 1];
	if (tp_clock_monotonic_ns() - last->monotonic_ns < log->interval_ns)
		return;
	if (log->count == TP_CLOCK_POINTS) {
		for (uint32_t i = 1; 2 * i < log->count; i++)
			log->points[i] = log->points[2 * i];
		log->count /= 2;
		log->interval_ns *= 2;
	}
	tp_clock_log_point(log);
}

uint64_t tp_clock_log_hz(const struct tp_clock_log *log)
{
	if (!log->count)
		return 0;
	const struct teeperf_trace_point *first = &log->points[0];
	const struct teeperf_trace_point *last = &log->points[log->count - 1];
	if (last->monotonic_ns <= first->monotonic_ns || last->ticks < first->ticks)
		return 0;
	const uint64_t ns = last->monotonic_ns - first->monotonic_ns;
	const double hz = (double)(last->ticks - first->ticks) * 1e9 / (double)ns + 0.5;
	// Points may be a program's (log->foreign), which says what it likes.
	return hz < (double)INT64_MAX ? (uint64_t)hz : 0;
}
