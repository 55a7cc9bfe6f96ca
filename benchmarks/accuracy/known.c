// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program whose functions take known times. It takes the time of each phase of known_phases.c
// itself, in turns of about two milliseconds: the plain copy, the plain copy with leaves that
// return at once, and the copy that a tool looks at; so that whatever else the machine does falls
// on all three. For each phase it prints a line:
//
//   phase NAME CALLS PLAIN_NS HOLLOW_NS LOOKED_AT_NS
//
// The hollow time is the callers' own, the difference from the plain one the leaves'. Nothing of
// that knows of records or of their cost.
#define _GNU_SOURCE
#include "known.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 3 };

uint64_t ticks_per_ms;
static double scale = 1;
static uint64_t turns_most = 50;
static int plain_only;
static const char *only; /* the phase to run, or NULL */

static void run_kind(int kind, const struct phase *phase, const struct phase *plain, uint64_t calls,
    uint64_t times[KINDS])
{
	if (plain_only && kind)
		return;
	const uint64_t start = now_ns();
	if (kind < 2)
		plain->run(calls, kind);
	else
		phase->run(calls, 0);
	times[kind] += now_ns() - start;
}

static void run(const struct phase *phase, const struct phase *plain)
{
	if (only && strcmp(only, phase->name) != 0)
		return;
	uint64_t units = (uint64_t)(phase->calls * scale / (double)phase->unit);
	units += !units;
	const uint64_t turns = units < turns_most ? units : turns_most;
	const uint64_t calls = units / turns * phase->unit;
	uint64_t times[KINDS] = {0};
	for (uint64_t turn = 0; turn < turns; turn++) {
		for (uint64_t i = 0; i < KINDS; i++)
			run_kind((int)((turn + i) % KINDS), phase, plain, calls, times);
	}
	printf("phase %s %llu %llu %llu %llu\n", phase->name, (unsigned long long)(calls * turns),
	    (unsigned long long)times[0], (unsigned long long)times[1],
	    (unsigned long long)times[2]);
}

static void *run_second(void *unused)
{
	run(&thread_phases[1], &plain_thread_phases[1]);
	return unused;
}

static int run_threads(void)
{
	pthread_t other;
	cpu_set_t cores;
	if (sched_getaffinity(0, sizeof(cores), &cores) || CPU_COUNT(&cores) < 2)
		return 0;
	if (pthread_create(&other, NULL, run_second, NULL))
		return 1;
	run(&thread_phases[0], &plain_thread_phases[0]);
	return pthread_join(other, NULL) != 0;
}

int main(int argc, char **argv)
{
	int threads = 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--plain")) {
			plain_only = 1;
		} else if (!strcmp(argv[i], "--no-threads")) {
			threads = 0;
		} else if (!strcmp(argv[i], "--scale") && i + 1 < argc) {
			scale = atof(argv[++i]);
		} else if (!strcmp(argv[i], "--turns") && i + 1 < argc && atoi(argv[i + 1]) > 0) {
			turns_most = (uint64_t)atoi(argv[++i]);
		} else if (!strcmp(argv[i], "--phase") && i + 1 < argc) {
			only = argv[++i];
		} else {
			fputs("usage: known [--plain] [--no-threads] [--scale N] "
			      "[--turns N] [--phase "
			      "NAME]\n",
			    stderr);
			return 129;
		}
	}
	const uint64_t start = now_ns();
	const uint64_t first = read_ticks();
	while (now_ns() - start < 20000000) {
	}
	ticks_per_ms = (read_ticks() - first) / 20;
	for (size_t i = 0; i < PHASES; i++)
		run(&phases[i], &plain_phases[i]);
	return threads ? run_threads() : 0;
}
