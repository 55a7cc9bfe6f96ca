/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Clocks of the host: which one a log uses, reading it, and the points that tie its ticks to
 * nanoseconds.
 */
#ifndef TP_HOST_CLOCK_H
#define TP_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <teeperf/trace.h>

#include "common/err.h"

enum tp_clock_choice {
	TP_CLOCK_CHOICE_AUTO = 0, /* the processor's counter if it is steady, else soft */
	TP_CLOCK_CHOICE_HARDWARE, /* read by the program */
	TP_CLOCK_CHOICE_ORDERED,  /* the same, between fences */
	TP_CLOCK_CHOICE_SOFT,     /* published by the recorder */
	TP_CLOCK_CHOICE_COUNT,    /* counted by the recorder */
	TP_CLOCK_CHOICE_NONE,     /* no time */
};

/* Whether this processor has a counter that ticks evenly on all cores, also while they sleep. */
bool tp_clock_has_steady_counter(void);

/* 0 and *clock (an enum teeperf_clock), or TP_ERR_NOT_FOUND if this machine cannot do it. */
int tp_clock_choose(enum tp_clock_choice choice, uint32_t *clock, struct tp_err *err);

/*
 * Ticks of `clock` now, as the program would see them (soft clocks: as they would be published).
 * pre: not TEEPERF_CLOCK_SOFT_COUNT, which only its counter thread knows.
 */
uint64_t tp_clock_ticks(uint32_t clock);

/* A clock of the system in nanoseconds; 0: it has no such clock. */
uint64_t tp_clock_ns(clockid_t clock);
/* CLOCK_MONOTONIC_RAW. */
uint64_t tp_clock_monotonic_ns(void);

/* Ticks per second as the processor states it, 0 if it does not. */
uint64_t tp_clock_stated_hz(uint32_t clock);

/* Points of a recording: dense at first, thinned whenever the array is full, so bounded. */
enum { TP_CLOCK_POINTS = 1024 };
struct tp_clock_log {
	uint32_t clock;
	uint32_t count;
	const uint64_t *word; /* SOFT_COUNT: where its time is, else NULL */
	uint64_t interval_ns; /* between points; doubles when the array is full */
	bool foreign; /* a clock that this machine does not have: points come from elsewhere */
	uint64_t stated_hz; /* foreign: what its owner says, 0: nothing */
	uint64_t slept_ns;  /* for how long the machine was suspended before the points */
	struct teeperf_trace_point points[TP_CLOCK_POINTS];
};

/* Take the first point. `word`: for SOFT_COUNT, else NULL. */
void tp_clock_log_init(struct tp_clock_log *log, uint32_t clock, const uint64_t *word);
/* A clock of another machine's: without points, which the caller may put there later. */
void tp_clock_log_init_foreign(struct tp_clock_log *log, uint32_t clock, uint64_t stated_hz);
/* Take a point if it is time; call it as often as you like. */
void tp_clock_log_tick(struct tp_clock_log *log);
/* The clock's ticks now; 0 of a foreign one. */
uint64_t tp_clock_log_now(const struct tp_clock_log *log);
/* Take a point now, in place of the last one if the array is full. */
void tp_clock_log_point(struct tp_clock_log *log);
/* Ticks per second by the first and the last point, 0 without two. */
uint64_t tp_clock_log_hz(const struct tp_clock_log *log);

#endif
