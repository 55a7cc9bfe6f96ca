// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast one drain thread moves records from the log to a trace: a thread plays the program and
// fills chunks from prepared records as fast as it is given any, or at a set rate.
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/trace/tracefile.h"
#include "common/chunks/checksum.h"
#include "recorder/drain/drain.h"

enum {
	CHUNK = TP_REGION_CHUNK_SIZE,
	RECORDS = (CHUNK - sizeof(struct teeperf_chunk)) / 8, /* of one chunk */
	PREPARED = 256,                                       /* different chunks: 16 MiB */
	WAIT_SPINS = 64,
};

static uint64_t prepared[PREPARED][RECORDS];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "drain: %s\n", what);
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t number(const char *text)
{
	char *end;
	const uint64_t value = strtoull(text, &end, 10);
	if (!*text || *end)
		die("an option's argument is not a number; see README.md");
	return value;
}

// Calls of 64 functions at random depths, 20 to 83 ticks between events.
static void prepare_made_up(void)
{
	uint64_t random = 42;
	uint32_t time = 0;
	uint32_t stack[64];
	unsigned depth = 0;
	for (size_t i = 0; i < (size_t)PREPARED * RECORDS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		time += 20 + (uint32_t)(random >> 58);
		uint32_t name;
		if (depth && (depth == 64 || random >> 40 & 1))
			name = stack[--depth] | TEEPERF_KIND_EXIT;
		else
			name = stack[depth++] = 0x401000 + (uint32_t)(random >> 50 & 63) * 16;
		prepared[i / RECORDS][i % RECORDS] = (uint64_t)name << 32 | time;
	}
}

// The first full chunks of a trace, again and again if there are fewer.
static void prepare_from(const char *path)
{
	struct tp_err err;
	char text[1024];
	struct tp_tracefile trace;
	struct tp_chunk_reader reader;
	size_t count = 0;
	if (tp_tracefile_open(&trace, path, &err) || tp_chunk_reader_init(&reader, &trace, &err))
		die(tp_err_format(&err, text, sizeof(text)));
	for (uint64_t i = 0; i < trace.chunk_count && count < PREPARED; i++) {
		if (trace.chunks[i].word_count != RECORDS)
			continue;
		if (tp_chunk_reader_read(&reader, &trace.chunks[i], &err))
			die(tp_err_format(&err, text, sizeof(text)));
		memcpy(prepared[count++], reader.words, sizeof(prepared[0]));
	}
	if (!count)
		die("the trace has no full chunk");
	for (size_t i = count; i < PREPARED; i++)
		memcpy(prepared[i], prepared[i % count], sizeof(prepared[0]));
	tp_chunk_reader_release(&reader);
	tp_tracefile_close(&trace);
}

struct producer {
	struct tp_region *region;
	uint64_t chunks;   /* to fill */
	uint64_t rate_hz;  /* events per second; 0: wait for the drain instead of losing */
	uint64_t filled;   /* chunks */
	uint64_t lost;     /* chunks */
	uint64_t sequence; /* of the next chunk */
};

static bool has_chunk(const struct tp_region *region)
{
	const uint64_t head = tp_load_acquire(&region->header->head);
	return (int64_t)(head - tp_load_relaxed(&region->header->tail)) > 0;
}

static void fill_chunk(struct producer *producer)
{
	struct tp_region *region = producer->region;
	const uint64_t ticket = tp_fetch_add_relaxed(&region->header->tail, 1);
	const uint64_t slot = tp_load_acquire(&region->supply[ticket & (region->chunk_count - 1)]);
	const uint32_t number = slot & ((1 << TEEPERF_SUPPLY_CHUNK_BITS) - 1);
	struct teeperf_chunk *chunk = tp_region_chunk(region, number);
	chunk->os_tid = 1;
	chunk->sequence = producer->sequence++;
	memcpy(chunk + 1, prepared[chunk->sequence % PREPARED], sizeof(prepared[0]));
	chunk->used = CHUNK;
	tp_store_release(&region->states[number], TEEPERF_CHUNK_DONE);
	producer->filled++;
}

static void *produce(void *argument)
{
	struct producer *producer = argument;
	const uint64_t start = now_ns(CLOCK_MONOTONIC);
	const double chunk_ns =
	    producer->rate_hz ? (double)RECORDS * 1e9 / (double)producer->rate_hz : 0;
	for (uint64_t i = 0; i < producer->chunks; i++) {
		if (producer->rate_hz) {
			const uint64_t due = start + (uint64_t)((double)i * chunk_ns);
			while (now_ns(CLOCK_MONOTONIC) < due)
				;
			if (has_chunk(producer->region))
				fill_chunk(producer);
			else
				producer->lost++;
			continue;
		}
		for (int spins = 0; !has_chunk(producer->region);)
			if (++spins > WAIT_SPINS)
				nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
		fill_chunk(producer);
	}
	return NULL;
}

static int create(const char *folder, char *path, size_t size)
{
	snprintf(path, size, "%s/drain-XXXXXX", folder);
	const int file = mkstemp(path);
	if (file < 0)
		die("cannot create a file in the folder");
	return file;
}

// Fill a file of this size and remove it, so that the memory has been in use before: in a virtual
// machine the first use of each page costs ten times what the drain does.
static void warm_up(const char *folder, uint64_t size)
{
	char path[512];
	const int file = create(folder, path, sizeof(path));
	for (uint64_t done = 0; done < size; done += sizeof(prepared))
		if (write(file, prepared, sizeof(prepared)) != sizeof(prepared))
			die("cannot write a file of the trace's size in the folder");
	close(file);
	unlink(path);
}

// What the drain cannot do without, each alone, in ns per event.
static void measure_baselines(const char *folder, uint64_t chunks)
{
	enum { SPAN = 4096 };
	const size_t rounds = chunks < 2 * SPAN ? chunks : 2 * SPAN; /* to 512 MiB of 256 */
	char *shared = aligned_alloc(CHUNK, (size_t)SPAN * CHUNK);
	char *copy = aligned_alloc(CHUNK, CHUNK);
	char path[512];
	const int file = create(folder, path, sizeof(path));
	if (!shared || !copy)
		die("no memory");
	memset(shared, 1, (size_t)SPAN * CHUNK);
	memset(copy, 1, CHUNK);
	static const char *const names[] = {
	    "memcpy out of the log", "checksum", "clear", "write to a new file"};
	static uint32_t sum;
	for (size_t what = 0; what < sizeof(names) / sizeof(names[0]); what++) {
		const uint64_t before = now_ns(CLOCK_MONOTONIC);
		for (size_t i = 0; i < rounds; i++) {
			char *chunk = shared + i % SPAN * CHUNK;
			if (what == 0)
				memcpy(copy, chunk, CHUNK);
			else if (what == 1)
				sum += tp_checksum(copy, CHUNK);
			else if (what == 2)
				memset(chunk, 0, CHUNK);
			else if (write(file, copy, CHUNK) != CHUNK)
				die("cannot write the baseline's file");
			__asm__ volatile("" ::"r"(copy), "r"(chunk), "r"(sum) : "memory");
		}
		const double ns = (double)(now_ns(CLOCK_MONOTONIC) - before);
		printf("%-34s %8.2f ns/event\n", names[what], ns / (double)rounds / (CHUNK / 8));
	}
	close(file);
	unlink(path);
	free(shared);
	free(copy);
}

static void measure_drain(struct producer producer, int level, const char *folder)
{
	static struct tp_region region;
	static struct tp_trace_writer writer;
	static struct tp_clock_log clock_log;
	struct tp_err err;
	char path[512];
	char text[1024];
	snprintf(path, sizeof(path), "%s/drain.trace", folder);
	unlink(path);
	const uint64_t ready = (uint64_t)TP_REGION_WORKING_CHUNKS * TP_REGION_CHUNK_SIZE;
	const struct tp_region_options wanted = {
	    .ready = ready, .mode = TEEPERF_MODE_STREAM, .clock = TEEPERF_CLOCK_TSC};
	if (tp_region_create(&region, &wanted, &err) ||
	    tp_trace_writer_open(&writer, path, false, level, &err))
		die(tp_err_format(&err, text, sizeof(text)));
	tp_clock_log_init(&clock_log, TEEPERF_CLOCK_TSC, NULL);
	struct tp_drain drain = {
	    .region = &region,
	    .writer = &writer,
	    .clock_log = &clock_log,
	    .policy = TP_DRAIN_NOW,
	};
	if (tp_drain_start(&drain, &err))
		die(tp_err_format(&err, text, sizeof(text)));
	clockid_t cpu_clock;
	pthread_t thread;
	producer.region = &region;
	const uint64_t start = now_ns(CLOCK_MONOTONIC);
	if (pthread_getcpuclockid(drain.worker.thread, &cpu_clock) ||
	    pthread_create(&thread, NULL, produce, &producer))
		die("cannot start the producer");
	pthread_join(thread, NULL);
	// All that was filled has been taken when the drain has seen it.
	while (tp_load_relaxed(&drain.record_bytes) < producer.filled * RECORDS * 8)
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	const uint64_t wall_ns = now_ns(CLOCK_MONOTONIC) - start;
	const uint64_t cpu_ns = now_ns(cpu_clock);
	tp_drain_stop(&drain);
	tp_drain_finish(&drain);
	const uint64_t file_bytes = writer.offset;
	if (tp_trace_writer_close(&writer, &err))
		die(tp_err_format(&err, text, sizeof(text)));
	tp_region_release(&region);
	unlink(path);
	const double events = (double)(producer.filled * RECORDS);
	printf("%-34s %8.1f M events/s\n", "moved to the trace", events * 1e3 / (double)wall_ns);
	printf("%-34s %8" PRIu64 " of %" PRIu64 " events\n", "lost", producer.lost * RECORDS,
	    producer.chunks * RECORDS);
	printf("%-34s %8.2f ns/event\n", "the drain's processor time", (double)cpu_ns / events);
	printf("%-34s %8.2f bytes/event\n", "size of the trace", (double)file_bytes / events);
}

int main(int argc, char **argv)
{
	struct producer producer = {.chunks = 100 * 1000 * 1000 / RECORDS};
	const char *data = NULL;
	int level = 0;
	for (int option; (option = getopt(argc, argv, "c:d:n:r:")) >= 0;)
		switch (option) {
		case 'c':
			level = (int)number(optarg);
			break;
		case 'd':
			data = optarg;
			break;
		case 'n':
			producer.chunks = number(optarg) / RECORDS;
			break;
		case 'r':
			producer.rate_hz = number(optarg);
			break;
		default:
			fprintf(stderr, "usage: drain [-c LEVEL] [-d TRACE] [-n EVENTS] [-r RATE] "
					"[FOLDER]\n");
			return 129;
		}
	const char *folder = argc > optind ? argv[optind] : "/dev/shm";
	if (level > TP_PACKER_LEVEL_MAX)
		die("-c takes a level of at most 19");
	if (!producer.chunks)
		die("at least one chunk of 8184 events is needed: give a larger -n");
	if (data)
		prepare_from(data);
	else
		prepare_made_up();
	warm_up(folder, producer.chunks * CHUNK);
	measure_baselines(folder, producer.chunks);
	measure_drain(producer, level, folder);
	return 0;
}
