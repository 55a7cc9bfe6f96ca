// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime under ThreadSanitizer: threads that come and go and record, count and resynchronise,
// while others switch recording, add and remove modules and counted objects, and the host, here a
// thread as well, takes complete chunks and hands them out again.
//
//   runtime_threads ROUNDS
//
// The host reads and clears chunks with ordinary accesses, so a chunk that is given back too early
// is a race. In the end each event must have been recorded or counted as lost.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/runtime.h"

enum { CHUNKS = 32, THREADS = 4096, MODULES = 64, WORKERS = 4, COUNTED = 3, EVENTS = 12000 };
#define REGION ((size_t)TP_CHUNK_SIZE * (8 + CHUNKS))

static struct teeperf_log_header *header;
static uint64_t *supply, *states;
static uint64_t stop;
static struct {
	uint64_t events, counted; // by the program
	uint64_t records, counts; // in the log
	uint64_t chunks, switches, modules, threads;
} sum;

static void die(const char *what)
{
	fprintf(stderr, "FAILED: %s\n", what);
	exit(1);
}

static void add(uint64_t *to, uint64_t more)
{
	__atomic_fetch_add(to, more, __ATOMIC_RELAXED);
}

// ---- the host -----------------------------------------------------------------------------------

static struct teeperf_chunk *chunk_at(uint64_t number)
{
	return (struct teeperf_chunk *)(void *)((char *)header + header->chunks_offset +
						number * TP_CHUNK_SIZE);
}

static void serve(uint64_t chunk)
{
	const uint64_t head = header->head;
	tp_store_release(&supply[head % CHUNKS], TEEPERF_SUPPLY_SLOT(head, chunk));
	tp_store_release(&header->head, head + 1);
}

static void make_log(void)
{
	char path[] = "/dev/shm/tsan-teeperf-XXXXXX";
	const int fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, (off_t)REGION))
		die("cannot make a log");
	header = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		die("cannot map the log");
	*header = (struct teeperf_log_header){
	    .magic = TEEPERF_LOG_MAGIC,
	    .major = TEEPERF_LOG_MAJOR,
	    .header_size = TEEPERF_LOG_HEADER_SIZE,
	    .chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT,
	    .chunk_count = CHUNKS,
	    .region_size = REGION,
	    .supply_offset = 4096,
	    .state_offset = 4096 + 8 * CHUNKS,
	    .modules_offset = 8192,
	    .threads_offset = 8192 + MODULES * sizeof(struct teeperf_module),
	    .chunks_offset = 8 * TP_CHUNK_SIZE,
	    .module_capacity = MODULES,
	    .thread_capacity = THREADS,
	    .clock = TEEPERF_CLOCK_SOFT_COUNT,
	    .control = TEEPERF_ACTIVE,
	};
	supply = (uint64_t *)(void *)((char *)header + header->supply_offset);
	states = (uint64_t *)(void *)((char *)header + header->state_offset);
	for (uint64_t i = 0; i < CHUNKS; i++)
		serve(i);
	close(fd);
	setenv(TEEPERF_LOG_ENV, path, 1);
}

static void read_chunk(const struct teeperf_chunk *chunk)
{
	const uint64_t *words = (const uint64_t *)chunk;
	for (uint64_t i = sizeof(*chunk) / 8; i < chunk->used / 8; i++) {
		const uint64_t name = words[i] >> 32;
		if (name == TEEPERF_CONTROL_COUNTS) {
			const uint64_t pairs = words[i] & UINT32_MAX;
			for (uint64_t j = 0; j < pairs; j++)
				sum.counts += words[i + 2 + 2 * j];
			i += 2 * pairs;
		} else if ((name & TEEPERF_KIND_MASK) == TEEPERF_KIND_RESYNC && name > 4096) {
			i++;
			sum.records++;
		} else if (name >= TEEPERF_NAME_FIRST) {
			sum.records++;
		}
	}
}

static void drain(void)
{
	for (uint64_t i = 0; i < CHUNKS; i++) {
		if (tp_load_acquire(&states[i]) != TEEPERF_CHUNK_DONE)
			continue;
		read_chunk(chunk_at(i));
		memset(chunk_at(i), 0, TP_CHUNK_SIZE);
		tp_store_release(&states[i], TEEPERF_CHUNK_FREE);
		serve(i);
		sum.chunks++;
	}
}

static void *run_host(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; !tp_load_relaxed(&stop); i++) {
		drain();
		tp_store_relaxed(&header->counter, tp_load_relaxed(&header->counter) + (i << 20));
		if (i % 64 == 0) {
			const uint64_t word = (i / 64 + 1) * 2 + (i / 64 % 2);
			tp_store_release(&header->control, word);
		}
		sched_yield();
	}
	return NULL;
}

// ---- the program --------------------------------------------------------------------------------

struct module {
	struct teeperf_module_block block;
	struct {
		struct teeperf_functions head;
		uint8_t gates[8];
		uint64_t hashes[3];
	} functions;
};

// As a module's constructor and destructor, which the loader calls one at a time.
static pthread_mutex_t loader = PTHREAD_MUTEX_INITIALIZER;

static struct module *load(void)
{
	struct module *module = calloc(1, sizeof(*module));
	module->functions.head.size = sizeof(module->functions);
	module->functions.head.count = 3;
	for (int i = 0; i < 3; i++) {
		module->functions.gates[i] = TEEPERF_GATE_SOFT;
		module->functions.hashes[i] = i ? (uint64_t)i + 100 : TEEPERF_HASH_ALWAYS;
	}
	module->block.functions = (uint8_t *)&module->functions;
	module->block.functions_end = (uint8_t *)(&module->functions + 1);
	pthread_mutex_lock(&loader);
	__teeperf_module(TEEPERF_ABI << 8 | TEEPERF_COMPILED_AUTO, &module->block);
	pthread_mutex_unlock(&loader);
	return module;
}

static void unload(struct module *module)
{
	pthread_mutex_lock(&loader);
	__teeperf_module_gone(&module->block);
	pthread_mutex_unlock(&loader);
	// Its memory goes with it: who still walks over it is found.
	memset(module, 0xff, sizeof(*module));
	free(module);
}

static struct module *first;

// An object with counted functions, as the pass makes it.
static struct {
	struct teeperf_counted head;
	const void *functions[COUNTED];
} object = {{.count = COUNTED}, {"a", "b", "c"}};
static _Thread_local void *object_pointer;

static uint64_t event(uint64_t name)
{
	struct teeperf_thread_block *block = &__teeperf_thread;
	if (__atomic_load_n(&first->functions.gates[1], __ATOMIC_RELAXED) == TEEPERF_GATE_OFF)
		return TEEPERF_POSITION_OFF;
	add(&sum.events, 1);
	const uint64_t time = tp_load_relaxed(block->counter);
	if (time >> 32 == block->clock_high && block->cursor + 8 > block->start &&
	    block->cursor + 8 <= block->end) {
		uint64_t *at = (uint64_t *)(uintptr_t)block->cursor;
		block->cursor += 8;
		tp_store_relaxed(at, (time & UINT32_MAX) | name << 32);
		return (uint64_t)(uintptr_t)at + block->bias;
	}
	return tp_slow(name);
}

static void count(unsigned function)
{
	if (__atomic_load_n(&first->functions.gates[2], __ATOMIC_RELAXED) == TEEPERF_GATE_OFF)
		return;
	add(&sum.counted, 1);
	uint64_t at = (uint64_t)(uintptr_t)object_pointer;
	if (!at)
		at = tp_count((uint64_t)(uintptr_t)&object);
	if (!at)
		return;
	uint64_t *word = (uint64_t *)(uintptr_t)(at + TEEPERF_COUNTED_OFFSET(function));
	tp_store_relaxed(word, tp_load_relaxed(word) + 1);
}

static void *record(void *unused)
{
	(void)unused;
	// Enough events to fill chunks.
	for (unsigned i = 0; i < EVENTS; i++) {
		const uint64_t position = event(0x10000);
		count(i % COUNTED);
		event(0x10000 | TEEPERF_KIND_EXIT);
		if (i % 1000 == 0)
			__teeperf_poll();
		(void)position;
	}
	return NULL;
}

static void *run_worker(void *rounds)
{
	for (uint64_t i = 0; i < *(const uint64_t *)rounds; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, record, NULL))
			die("no thread");
		pthread_join(thread, NULL);
		add(&sum.threads, 1);
	}
	return NULL;
}

static void *run_switcher(void *unused)
{
	(void)unused;
	for (int on = 0; !tp_load_relaxed(&stop); on = !on) {
		__teeperf_switch(on);
		(void)__teeperf_is_on();
		add(&sum.switches, 1);
		sched_yield();
	}
	return NULL;
}

static void *run_loader(void *unused)
{
	(void)unused;
	while (!tp_load_relaxed(&stop)) {
		struct module *module = load();
		sched_yield();
		unload(module);
		sum.modules++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
	make_log();
	first = load();
	unlink(getenv(TEEPERF_LOG_ENV));
	if (tp_load32_acquire(&header->attach) != TEEPERF_ATTACH_DONE)
		die("not attached");
	__teeperf_counted(&object.head, &object_pointer);
	void *(*const others[])(void *) = {run_host, run_switcher, run_switcher, run_loader};
	enum { OTHERS = sizeof(others) / sizeof(others[0]) };
	pthread_t threads[OTHERS];
	pthread_t workers[WORKERS];
	for (int i = 0; i < OTHERS; i++)
		pthread_create(&threads[i], NULL, others[i], NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, run_worker, (void *)(uintptr_t)&rounds);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	tp_store_relaxed(&stop, 1);
	for (int i = 0; i < OTHERS; i++)
		pthread_join(threads[i], NULL);
	__teeperf_counted_gone(&object.head);
	drain();
	uint64_t lost = header->lost_overflow;
	const struct teeperf_thread *table =
	    (const void *)((const char *)header + header->threads_offset);
	for (int i = 0; i < THREADS; i++)
		lost += table[i].lost;
	printf(
	    "threads=%llu events=%llu counted=%llu records=%llu counts=%llu lost=%llu chunks=%llu "
	    "switches=%llu modules=%llu\n",
	    (unsigned long long)sum.threads, (unsigned long long)sum.events,
	    (unsigned long long)sum.counted, (unsigned long long)sum.records,
	    (unsigned long long)sum.counts, (unsigned long long)lost,
	    (unsigned long long)sum.chunks, (unsigned long long)sum.switches,
	    (unsigned long long)sum.modules);
	if (sum.events + sum.counted != sum.records + sum.counts + lost)
		die("an event is neither recorded nor lost");
	if (!sum.records || !sum.counts || !sum.modules || !sum.switches || sum.chunks < CHUNKS)
		die("too little was done");
	return 0;
}
