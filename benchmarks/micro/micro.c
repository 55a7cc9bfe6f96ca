// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the micro benchmarks share. See micro.h.
#define _GNU_SOURCE
#include "micro.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRONG_USAGE = 129, DEFAULT_ROUNDS = 5, DEFAULT_PERIOD_NS = 100 };

#if defined(LIMIT) || defined(LIMIT_SOFT) || defined(LIMIT_NONE)
MICRO_PRIVATE uint64_t micro_buffer[MICRO_RECORDS];
MICRO_PRIVATE uint64_t micro_next;
_Alignas(4096) MICRO_HIDDEN uint64_t micro_counter;
_Alignas(4096) MICRO_HIDDEN uint64_t micro_after_counter; // keeps others off its line
#elif defined(LIMIT_COUNT)
MICRO_PRIVATE uint64_t micro_counts[MICRO_IDS];
#endif

static uint64_t read_clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#ifdef LIMIT_SOFT
static uint64_t period_ticks;

static void *publish(void *argument)
{
	uint64_t last = 0;
	for (;;) {
		const uint64_t now = micro_clock();
		if (now - last >= period_ticks) {
			__atomic_store_n(&micro_counter, now, __ATOMIC_RELAXED);
			last = now;
		}
#if defined(__x86_64__)
		__builtin_ia32_pause();
#else
		__asm__ volatile("isb");
#endif
	}
	return argument;
}

static double ticks_per_ns(void)
{
	const uint64_t start_ns = read_clock_ns(CLOCK_MONOTONIC);
	const uint64_t start = micro_clock();
	uint64_t ns;
	do
		ns = read_clock_ns(CLOCK_MONOTONIC) - start_ns;
	while (ns < 20000000);
	return (double)(micro_clock() - start) / (double)ns;
}

// Give the publisher the last core, and the program the others, if there are enough.
static void divide_cores(pthread_t publisher, unsigned threads)
{
	cpu_set_t cores;
	if (sched_getaffinity(0, sizeof(cores), &cores) || CPU_COUNT(&cores) < (int)threads + 1) {
		fprintf(stderr, "note: too few cores for %u threads and the counter\n", threads);
		return;
	}
	int last = CPU_SETSIZE - 1;
	while (!CPU_ISSET((size_t)last, &cores))
		last--;
	cpu_set_t own;
	CPU_ZERO(&own);
	CPU_SET((size_t)last, &own);
	CPU_CLR((size_t)last, &cores);
	if (pthread_setaffinity_np(publisher, sizeof(own), &own) ||
	    sched_setaffinity(0, sizeof(cores), &cores))
		fprintf(stderr, "note: the counter has no core of its own\n");
}

static void start_publisher(uint64_t period_ns, unsigned threads)
{
	period_ticks = (uint64_t)((double)period_ns * ticks_per_ns());
	pthread_t publisher;
	const int error = pthread_create(&publisher, NULL, publish, NULL);
	if (error) {
		fprintf(stderr, "cannot start the counter's thread: %s\n", strerror(error));
		exit(1);
	}
	divide_cores(publisher, threads);
	while (!__atomic_load_n(&micro_counter, __ATOMIC_RELAXED))
		sched_yield();
}
#else
static void start_publisher(uint64_t period_ns, unsigned threads)
{
	(void)period_ns;
	(void)threads;
}
#endif

static void print_usage(FILE *file, const char *name, uint64_t default_calls)
{
	fprintf(file,
	    "usage: %s [--rounds R] [--calls N] [--period NS]\n"
	    "  --rounds R   of which the best and the median are printed (default %d)\n"
	    "  --calls N    in each round (default %llu)\n"
	    "  --period NS  between stores of the counter, with -DLIMIT_SOFT (default %d)\n",
	    name, DEFAULT_ROUNDS, (unsigned long long)default_calls, DEFAULT_PERIOD_NS);
}

static uint64_t parse_number(const char *name, const char *option, const char *text, uint64_t max)
{
	char *end;
	errno = 0;
	const unsigned long long number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number < 1 || number > max) {
		fprintf(stderr, "%s: %s is '%s', not a number from 1 to %llu\n", name, option, text,
		    (unsigned long long)max);
		exit(WRONG_USAGE);
	}
	return number;
}

struct micro_options micro_start(
    int argc, char **argv, const char *name, uint64_t default_calls, unsigned threads)
{
	static const struct option table[] = {
	    {"rounds", required_argument, NULL, 'r'},
	    {"calls", required_argument, NULL, 'c'},
	    {"period", required_argument, NULL, 'p'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	struct micro_options options = {.rounds = DEFAULT_ROUNDS, .calls = default_calls};
	uint64_t period_ns = DEFAULT_PERIOD_NS;
	int option;
	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (option) {
		case 'r':
			options.rounds =
			    (unsigned)parse_number(name, "--rounds", optarg, MICRO_MAX_ROUNDS);
			break;
		case 'c':
			options.calls = parse_number(name, "--calls", optarg, 1000000000);
			break;
		case 'p':
			period_ns = parse_number(name, "--period", optarg, 1000000);
			break;
		case 'h':
			print_usage(stdout, name, default_calls);
			exit(micro_finish());
		default:
			print_usage(stderr, name, default_calls);
			exit(WRONG_USAGE);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'; see --help\n", name, argv[optind]);
		exit(WRONG_USAGE);
	}
	start_publisher(period_ns, threads);
	return options;
}

struct micro_watch micro_watch_now(void)
{
	return (struct micro_watch){
	    .wall_ns = read_clock_ns(CLOCK_MONOTONIC),
	    .cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID),
	};
}

void micro_times_add_ns(struct micro_times *times, double wall_ns, double cpu_ns)
{
	times->wall_ns[times->rounds] = wall_ns;
	times->cpu_ns[times->rounds] = cpu_ns;
	times->rounds++;
}

void micro_times_add(struct micro_times *times, const struct micro_watch *start, uint64_t calls)
{
	const struct micro_watch now = micro_watch_now();
	micro_times_add_ns(times, (double)(now.wall_ns - start->wall_ns) / (double)calls,
	    (double)(now.cpu_ns - start->cpu_ns) / (double)calls);
}

static int compare_numbers(const void *left, const void *right)
{
	const double a = *(const double *)left;
	const double b = *(const double *)right;
	return (a > b) - (a < b);
}

void micro_times_print(struct micro_times *times)
{
	const unsigned middle = times->rounds / 2;
	qsort(times->wall_ns, times->rounds, sizeof(times->wall_ns[0]), compare_numbers);
	qsort(times->cpu_ns, times->rounds, sizeof(times->cpu_ns[0]), compare_numbers);
	printf("%s %.3f %.3f %.3f %.3f\n", times->name, times->wall_ns[0], times->cpu_ns[0],
	    times->wall_ns[middle], times->cpu_ns[middle]);
}

int micro_finish(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "cannot write to standard output: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
