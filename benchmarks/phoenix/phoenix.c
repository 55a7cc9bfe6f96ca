// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the eight kernels share. See phoenix.h.
#define _GNU_SOURCE
#include "phoenix.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 256, WRONG_USAGE = 129 };

static void print_usage(FILE *file, const struct phx_program *program)
{
	fprintf(file,
	    "usage: %s [--size N] [--seed S] [--threads T] [--dump-input]\n"
	    "  --size N      %s (default %zu)\n"
	    "  --seed S      of the generated input (default 1)\n"
	    "  --threads T   that compute (default 2)\n"
	    "  --dump-input  print the input instead of computing\n",
	    program->name, program->unit, program->default_size);
}

static uint64_t parse_number(const struct phx_program *program, const char *option,
    const char *text, uint64_t min, uint64_t max)
{
	char *end;
	errno = 0;
	const unsigned long long number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number < min || number > max) {
		fprintf(stderr, "%s: %s is '%s', not a number from %llu to %llu\n", program->name,
		    option, text, (unsigned long long)min, (unsigned long long)max);
		exit(WRONG_USAGE);
	}
	return number;
}

struct phx_options phx_options_parse(int argc, char **argv, const struct phx_program *program)
{
	static const struct option table[] = {
	    {"size", required_argument, NULL, 'n'},
	    {"seed", required_argument, NULL, 's'},
	    {"threads", required_argument, NULL, 't'},
	    {"dump-input", no_argument, NULL, 'd'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	struct phx_options options = {.size = program->default_size, .seed = 1, .threads = 2};
	int option;
	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (option) {
		case 'n':
			options.size = parse_number(
			    program, "--size", optarg, program->min_size, program->max_size);
			break;
		case 's':
			options.seed = parse_number(program, "--seed", optarg, 0, UINT64_MAX);
			break;
		case 't':
			options.threads =
			    (unsigned)parse_number(program, "--threads", optarg, 1, MAX_THREADS);
			break;
		case 'd':
			options.dump_input = true;
			break;
		case 'h':
			print_usage(stdout, program);
			exit(phx_finish());
		default:
			print_usage(stderr, program);
			exit(WRONG_USAGE);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'; see --help\n", program->name,
		    argv[optind]);
		exit(WRONG_USAGE);
	}
	return options;
}

void *phx_allocate(size_t count, size_t size_bytes)
{
	void *memory = calloc(count ? count : 1, size_bytes);
	if (!memory) {
		fprintf(stderr, "no memory for %zu times %zu bytes; try a smaller --size\n", count,
		    size_bytes);
		exit(1);
	}
	return memory;
}

int phx_finish(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "cannot write to standard output: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}

uint64_t phx_random_next(struct phx_random *random)
{
	uint64_t x = random->state += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

uint64_t phx_random_below(struct phx_random *random, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)phx_random_next(random) * limit >> 64);
}

// About evenly distributed logarithm, as in Zipf's law: of each power of two below LIMIT as many.
uint64_t phx_random_skewed(struct phx_random *random, uint64_t limit)
{
	const unsigned bits = 64 - (unsigned)__builtin_clzll(limit);
	const uint64_t part = limit >> phx_random_below(random, bits);
	return phx_random_below(random, part);
}

void phx_random_fill(struct phx_random *random, void *bytes, size_t size_bytes)
{
	unsigned char *to = bytes;
	while (size_bytes) {
		const uint64_t number = phx_random_next(random);
		const size_t piece = size_bytes < sizeof(number) ? size_bytes : sizeof(number);
		memcpy(to, &number, piece);
		to += piece;
		size_bytes -= piece;
	}
}

size_t phx_word_spell(uint64_t index, char *out)
{
	static const char consonants[] = "bdfghklmnprstvwz";
	static const char vowels[] = "aeio";
	size_t length = 0;
	do {
		out[length++] = consonants[index % 16];
		out[length++] = vowels[index / 16 % 4];
		index /= 64;
	} while (index);
	return length;
}

void phx_text_append(struct phx_text *text, const char *bytes, size_t length)
{
	if (length > text->capacity - text->length) {
		text->capacity = 2 * text->capacity + length + 4096;
		text->bytes = realloc(text->bytes, text->capacity);
		if (!text->bytes) {
			fprintf(stderr, "no memory for %zu bytes of text; try a smaller --size\n",
			    text->capacity);
			exit(1);
		}
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

void phx_text_append_string(struct phx_text *text, const char *string)
{
	phx_text_append(text, string, strlen(string));
}

void phx_text_append_word(struct phx_text *text, uint64_t index)
{
	char word[PHX_WORD_MAX];
	phx_text_append(text, word, phx_word_spell(index, word));
}

struct share {
	pthread_t thread;
	phx_work *work;
	void *context;
	unsigned number;
	size_t first;
	size_t end;
};

static void *share_run(void *argument)
{
	const struct share *share = argument;
	share->work(share->context, share->number, share->first, share->end);
	return NULL;
}

// Where the share of thread NUMBER begins: items * number / threads without overflow.
static size_t share_first(size_t items, unsigned threads, unsigned number)
{
	const size_t rest = items % threads;
	return items / threads * number + (number < rest ? number : rest);
}

void phx_threads_run(unsigned threads, size_t items, phx_work *work, void *context)
{
	// A thread that only waits for the other one would look busy to a profiler that takes wall
	// times.
	if (threads == 1) {
		work(context, 0, 0, items);
		return;
	}
	struct share *shares = phx_allocate(threads, sizeof(*shares));
	for (unsigned i = 0; i < threads; i++) {
		shares[i] = (struct share){
		    .work = work,
		    .context = context,
		    .number = i,
		    .first = share_first(items, threads, i),
		    .end = share_first(items, threads, i + 1),
		};
		const int error = pthread_create(&shares[i].thread, NULL, share_run, &shares[i]);
		if (error) {
			fprintf(stderr, "cannot start thread %u: %s\n", i, strerror(error));
			exit(1);
		}
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(shares[i].thread, NULL);
	free(shares);
}

static uint64_t read_clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct phx_timer phx_timer_start(void)
{
	return (struct phx_timer){
	    .wall_ns = read_clock_ns(CLOCK_MONOTONIC),
	    .cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	};
}

void phx_timer_stop(const struct phx_timer *timer, const char *name)
{
	const struct phx_timer now = phx_timer_start();
	fprintf(stderr, "%s %llu %llu\n", name, (unsigned long long)(now.wall_ns - timer->wall_ns),
	    (unsigned long long)(now.cpu_ns - timer->cpu_ns));
}

void phx_checksum_init(struct phx_checksum *sum)
{
	sum->value = 0xcbf29ce484222325;
}

void phx_checksum_bytes(struct phx_checksum *sum, const void *bytes, size_t size_bytes)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < size_bytes; i++)
		sum->value = (sum->value ^ at[i]) * 0x100000001b3;
}

void phx_checksum_number(struct phx_checksum *sum, uint64_t number)
{
	unsigned char bytes[8];
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(number >> 8 * i);
	phx_checksum_bytes(sum, bytes, sizeof(bytes));
}
