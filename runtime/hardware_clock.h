/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading the hardware clock. */
#ifndef TP_HARDWARE_CLOCK_H
#define TP_HARDWARE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <teeperf/log.h>

/* pre: the platform allows it (attach.c has checked the log's clock). */
static inline uint64_t tp_hardware_clock(void)
{
#if defined(__x86_64__)
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#elif defined(__riscv) && __riscv_xlen == 64
	uint64_t ticks;
	__asm__ volatile("rdtime %0" : "=r"(ticks));
	return ticks;
#else
#error "no hardware clock is known for this processor"
#endif
}

#if defined(__x86_64__)
#define TP_HARDWARE_CLOCK TEEPERF_CLOCK_TSC
#elif defined(__aarch64__)
#define TP_HARDWARE_CLOCK TEEPERF_CLOCK_CNTVCT
#else
#define TP_HARDWARE_CLOCK TEEPERF_CLOCK_RDTIME
#endif

/* Whether a program on this processor reads the log's clock by itself. */
static inline bool tp_clock_is_hardware(uint32_t clock)
{
	return clock == TP_HARDWARE_CLOCK ||
	       (TP_HARDWARE_CLOCK == TEEPERF_CLOCK_TSC && clock == TEEPERF_CLOCK_TSC_ORDERED);
}

#endif
