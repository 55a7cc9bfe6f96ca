/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The clock of this processor, for who reads it by itself: a row of enum teeperf_clock, and how to
 * read it. Not installed.
 */
#ifndef TEEPERF_HARDWARE_CLOCK_H
#define TEEPERF_HARDWARE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <teeperf/log.h>

#if defined(__x86_64__)
#define TP_HARDWARE_CLOCK TEEPERF_CLOCK_TSC
#elif defined(__aarch64__)
#define TP_HARDWARE_CLOCK TEEPERF_CLOCK_CNTVCT
#elif defined(__riscv) && __riscv_xlen == 64
#define TP_HARDWARE_CLOCK TEEPERF_CLOCK_RDTIME
#else
#define TP_HARDWARE_CLOCK TEEPERF_CLOCK_NONE
#endif

/* pre: the platform allows it (attach.c has checked the log's clock). No barrier. */
static inline __attribute__((always_inline)) uint64_t tp_hardware_clock(void)
{
#if defined(__x86_64__)
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#else
	uint64_t ticks = 0;
#if defined(__aarch64__)
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#elif defined(__riscv) && __riscv_xlen == 64
	__asm__ volatile("rdtime %0" : "=r"(ticks));
#endif
	return ticks;
#endif
}

/* Whether a program on this processor reads the log's clock by itself. */
static inline bool tp_clock_is_hardware(uint32_t clock)
{
	return (clock != TEEPERF_CLOCK_NONE && clock == TP_HARDWARE_CLOCK) ||
	       (TP_HARDWARE_CLOCK == TEEPERF_CLOCK_TSC && clock == TEEPERF_CLOCK_TSC_ORDERED);
}

#endif
