/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What hosts do by chance, and when: each run can be repeated by its seed. */
#ifndef HOSTILE_DICE_H
#define HOSTILE_DICE_H

#include <stdint.h>
#include <time.h>

static uint64_t random_state; /* not 0 */

/* A number below BELOW, by xorshift64 (Marsaglia 2003). */
static uint64_t any(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % below;
}

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void nap(long ns)
{
	const struct timespec time = {.tv_nsec = ns};
	nanosleep(&time, NULL);
}

#endif
