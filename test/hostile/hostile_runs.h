/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What hosts have in common: the memory that they share with hostile_program, and the sum of the
 * program's work.
 */
#ifndef HOSTILE_RUNS_H
#define HOSTILE_RUNS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hostile_side.h"

static struct hostile_side *side;
static int side_fd;

/* Of all runs so far. */
static struct {
	uint64_t runs, bursts, kinds[BURST_KINDS], came, refused;
} work;

/* 0 if it works. */
static int share_side(void)
{
	side_fd = memfd_create("hostile-side", MFD_CLOEXEC);
	if (side_fd < 0 || ftruncate(side_fd, sizeof(*side)))
		return -1;
	side = mmap(NULL, sizeof(*side), PROT_READ | PROT_WRITE, MAP_SHARED, side_fd, 0);
	return side == MAP_FAILED ? -1 : 0;
}

static void add_run(void)
{
	work.runs++;
	work.bursts += side->bursts;
	work.came += side->came;
	work.refused += side->refused;
	for (int i = 0; i < BURST_KINDS; i++)
		work.kinds[i] += side->kinds[i];
}

static void print_work(void)
{
	static const char *const names[BURST_KINDS] = {"calls", "throws", "jumps", "counts",
	    "signals", "switches", "threads", "libraries", "forks", "marks"};
	printf("bursts=%llu", (unsigned long long)work.bursts);
	for (int i = 0; i < BURST_KINDS; i++)
		printf(" %s=%llu", names[i], (unsigned long long)work.kinds[i]);
	if (work.came || work.refused)
		printf(" came=%llu refused=%llu", (unsigned long long)work.came,
		    (unsigned long long)work.refused);
	printf("\n");
}

#endif
