// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves what the program recorded from the region to the trace file.
// One file above 600 lines: one thread takes chunks and writes tables, in an order that both keep.
#define _GNU_SOURCE
#include "drain.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recorder/region/proc.h"
#include "recording.h"

static const uint64_t MS = 1000 * 1000;
// A program that has taken no chunk for so long is not disturbed when its chunks are written.
static const uint64_t QUIET_MS = 50;
static const uint64_t NAMES_MS = 100;
enum { NAMES_LOOK = 64 };
enum { MODULES_FEW = 64, SHORT_LIVES = 64 };
// Thread switches: bytes that are written at once, and bytes that a flight recorder keeps, some
// 130,000 switches.
enum { SCHED_BYTES = 64 << 10, SCHED_KEPT_BYTES = 2 << 20 };
// Services of the kernel for the program: bytes that are written at once.
enum { SYSTEM_BYTES = 1 << 20 };

/*
 * Whether the program has filled so much of the log that packing, which takes twice as long as
 * writing a chunk as it is, would make it lose events. The tail is its word: a false one can only
 * make the trace larger. In a small log most of it is always full.
 */
static bool is_behind(struct tp_drain *drain)
{
	const uint32_t limit = tp_region_limit(drain->region);
	const uint64_t filled = tp_load_relaxed(&drain->region->header->tail) - drain->taken;
	return drain->region->mode == TEEPERF_MODE_STREAM && limit >= TP_DRAIN_HURRY_CHUNKS &&
	       (int64_t)filled >= (int64_t)limit / 8 * 5;
}

// Copy the chunk, then judge and write the copy: the program may change the original meanwhile. Of
// a complete one, copy only the used part: threads that live for a moment leave theirs nearly
// empty.
static void take_chunk(struct tp_drain *drain, uint32_t number, bool complete)
{
	struct tp_region *region = drain->region;
	struct teeperf_chunk *shared = tp_region_chunk(region, number);
	const uint64_t size =
	    complete ? tp_drain_clamp_used(tp_load_relaxed(&shared->used)) : TP_REGION_CHUNK_SIZE;
	tp_region_copy(drain->chunk, shared, size);
	struct teeperf_chunk *copy = (void *)drain->chunk;
	copy->used = complete ? size : tp_drain_find_used(drain->chunk);
	tp_trace_writer_add(drain->writer, TEEPERF_SECTION_CHUNK, copy, copy->used);
	tp_fetch_add_relaxed(&drain->record_bytes, copy->used - sizeof(*copy));
	if (!complete)
		return;
	drain->taken++;
	tp_region_withdraw(region, number);
	// Free before it is cleared: if we are killed meanwhile, nobody takes its remains for a
	// chunk.
	tp_store_release(&region->states[number], TEEPERF_CHUNK_FREE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (region->mode == TEEPERF_MODE_STREAM) {
		memset(shared, 0, size);
		tp_region_supply(region, number);
	}
	if (drain->see)
		drain->see(drain->see_context, copy);
}

// ---- The same with the help of the clock's thread, which copies and clears.

static void write_copy(
    void *context, uint32_t number, const struct teeperf_chunk *copy, uint32_t checksum)
{
	struct tp_drain *drain = context;
	tp_trace_writer_add_chunk(drain->writer, copy, checksum);
	tp_fetch_add_relaxed(&drain->record_bytes, copy->used - sizeof(*copy));
	drain->taken++;
	tp_region_withdraw(drain->region, number);
	// It is cleared next: as above.
	tp_store_release(&drain->region->states[number], TEEPERF_CHUNK_FREE);
	if (drain->see)
		drain->see(drain->see_context, copy);
	tp_clock_log_tick(drain->clock_log);
}

static void supply_cleared(void *context, uint32_t number)
{
	struct tp_drain *drain = context;
	tp_region_supply(drain->region, number);
}

static void take_with_help(struct tp_drain *drain, uint32_t count)
{
	const struct tp_relay_steps steps = {
	    .region = drain->region,
	    .write = write_copy,
	    .supply = supply_cleared,
	    .context = drain,
	};
	tp_relay_take(&drain->relay, drain->numbers, count, &steps);
	drain->helped_chunks += count;
}

// One look at all chunks in these states: how many were taken. In the order in which threads filled
// them, so that a file that ends early lacks the end of each thread and nothing between.
static uint32_t take_chunks(struct tp_drain *drain, uint32_t states)
{
	const uint32_t count = tp_region_collect(drain->region, states, drain->numbers);
	if (drain->relay.slices) {
		take_with_help(drain, count);
		return count;
	}
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t number = drain->numbers[i];
		// Once nobody writes any more there is time.
		drain->writer->hurry = !tp_load_relaxed(&drain->worker.stop) && is_behind(drain);
		take_chunk(drain, number,
		    tp_load_acquire(&drain->region->states[number]) == TEEPERF_CHUNK_DONE);
		// Half a log takes long enough for many of the clock's points.
		if (!tp_load_relaxed(&drain->worker.stop))
			tp_clock_log_tick(drain->clock_log);
	}
	return count;
}

static void write_modules(struct tp_drain *drain)
{
	const struct tp_region *region = drain->region;
	const uint64_t seen = tp_count_acquire(&region->header->module_count);
	const uint64_t count = seen < region->module_capacity ? seen : region->module_capacity;
	const uint64_t size = count * sizeof(*drain->modules);
	tp_region_copy(drain->modules, region->modules, size);
	tp_trace_writer_add(drain->writer, TEEPERF_SECTION_MODULES, drain->modules, size);
	drain->modules_seen = seen;
	drain->modules_refused = seen - count;
	for (uint64_t i = 0; i < count; i++)
		drain->modules_refused += (drain->modules[i].flags & TEEPERF_MODULE_COLLIDES) != 0;
}

// The name that the kernel knows a thread by; one that is gone keeps what it has.
static void find_name(uint64_t pid, struct teeperf_thread *thread)
{
	if (!thread->os_tid || thread->os_tid > INT_MAX || pid > INT_MAX)
		return;
	char path[32];
	char name[sizeof(thread->name)] = "";
	snprintf(path, sizeof(path), "task/%d/comm", (int)thread->os_tid);
	tp_proc_read((pid_t)pid, path, name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	if (name[0])
		memcpy(thread->name, name, sizeof(name));
}

// A program that was started is not the first process of this machine: one that says so is an
// enclave, or of a world of its own.
static bool is_foreign(struct tp_drain *drain)
{
	if (drain->started && tp_load_relaxed(&drain->region->header->pid) == 1)
		tp_store32_release(&drain->foreign, true);
	return drain->foreign;
}

// Whether the name is the thread's own word at its end, or at that of the process; its first word
// may be old.
static bool has_told_last(const struct teeperf_thread *thread)
{
	return thread->ended || thread->cpu_ns;
}

// Threads may rename themselves while they run: look at a few of them now and then.
static void look_at_names(struct tp_drain *drain)
{
	const uint64_t now = tp_clock_monotonic_ns();
	if (is_foreign(drain) || now < drain->names_ns)
		return;
	drain->names_ns = now + NAMES_MS * MS;
	const uint64_t pid = tp_load_relaxed(&drain->region->header->pid);
	const uint32_t count = tp_region_thread_count(drain->region);
	for (uint32_t i = 0; i < NAMES_LOOK && i < count; i++) {
		drain->names_at = drain->names_at + 1 < count ? drain->names_at + 1 : 0;
		struct teeperf_thread *known = &drain->threads[drain->names_at];
		if (!has_told_last(known))
			find_name(pid, known);
	}
}

// The table's private copy.
static uint32_t copy_threads(struct tp_drain *drain)
{
	const struct tp_region *region = drain->region;
	const uint64_t pid = tp_load_relaxed(&region->header->pid);
	const uint32_t count = tp_region_thread_count(region);
	const bool foreign = is_foreign(drain);
	for (uint32_t i = 0; i < count; i++) {
		struct teeperf_thread *copy = &drain->threads[i];
		const struct teeperf_thread before = *copy;
		tp_region_copy(copy, &region->threads[i], sizeof(*copy));
		copy->lost = tp_count_acquire(&copy->lost);
		copy->chunks = tp_count_acquire(&copy->chunks);
		// A name that was found while the thread lived outlasts it.
		if (has_told_last(copy))
			continue;
		if (before.os_tid == copy->os_tid && before.name[0])
			memcpy(copy->name, before.name, sizeof(copy->name));
		if (!foreign)
			find_name(pid, copy);
	}
	return count;
}

static void write_threads(struct tp_drain *drain)
{
	const uint32_t count = copy_threads(drain);
	tp_trace_writer_add(drain->writer, TEEPERF_SECTION_THREADS, drain->threads,
	    count * sizeof(*drain->threads));
}

// Behind the threads: of the table that was written then.
static void write_cpu(struct tp_drain *drain)
{
	struct tp_buf section;
	tp_buf_init(&section);
	tp_cpu_times_add(
	    &drain->cpu, drain->threads, tp_region_thread_count(drain->region), &section);
	if (section.size)
		tp_trace_writer_add(drain->writer, TEEPERF_SECTION_CPU, section.data, section.size);
	tp_buf_release(&section);
}

static void meet_process(struct tp_drain *drain)
{
	const uint64_t pid = tp_load_acquire(&drain->region->header->pid);
	if (drain->meet && pid && drain->meet(drain->context, pid))
		drain->meet = NULL;
}

// Switches of the threads: only of the process whose log it is, unless its ids are of another
// world.
static void take_sched(struct tp_drain *drain)
{
	const uint64_t pid = tp_load_relaxed(&drain->region->header->pid);
	tp_sched_take(&drain->sched, is_foreign(drain) || pid > INT_MAX ? 0 : (pid_t)pid);
}

// All that have been taken, in mode ring those that are kept.
static void write_sched(struct tp_drain *drain)
{
	struct tp_buf section;
	tp_buf_init(&section);
	take_sched(drain);
	tp_sched_add(&drain->sched, &section);
	if (section.size)
		tp_trace_writer_add(
		    drain->writer, TEEPERF_SECTION_SCHED, section.data, section.size);
	if (section.size && drain->writer->unwritten >> TEEPERF_SECTION_SCHED & 1)
		tp_sched_give_back(&drain->sched, &section);
	tp_buf_release(&section);
}

static void follow_sched(struct tp_drain *drain)
{
	if (drain->writer->failed)
		return; // they are counted in the end
	take_sched(drain);
	if (!drain->sched.most && tp_sched_bytes(&drain->sched) >= SCHED_BYTES)
		write_sched(drain);
}

// What the kernel has done for the program since this was written last.
static void write_system(struct tp_drain *drain)
{
	struct tp_buf section;
	tp_buf_init(&section);
	tp_bpf_reader_add(&drain->system, &section);
	if (section.size)
		tp_trace_writer_add(
		    drain->writer, TEEPERF_SECTION_SYSTEM, section.data, section.size);
	if (section.size && drain->writer->unwritten >> TEEPERF_SECTION_SYSTEM & 1)
		tp_bpf_reader_lose(
		    &drain->system, (section.size - sizeof(struct teeperf_trace_system)) /
					sizeof(struct teeperf_system_event));
	tp_buf_release(&section);
}

// One drain takes for all of them.
static void follow_system(struct tp_drain *drain)
{
	if (drain->system.bpf && !drain->system.process)
		tp_bpf_take(drain->system.bpf);
	if (tp_bpf_reader_bytes(&drain->system) >= SYSTEM_BYTES)
		write_system(drain);
}

static void write_clock(struct tp_drain *drain)
{
	const struct tp_clock_log *log = drain->clock_log;
	struct {
		struct teeperf_trace_clock clock;
		struct teeperf_trace_point points[TP_CLOCK_POINTS];
	} section = {.clock = {.kind = log->clock, .point_count = log->count}};
	const uint64_t measured = tp_clock_log_hz(log);
	section.clock.hz = measured       ? measured
			   : log->foreign ? log->stated_hz
					  : tp_clock_stated_hz(log->clock);
	if (drain->counter) {
		section.clock.stores = tp_load_relaxed(&drain->counter->stores);
		section.clock.max_gap_ns = tp_load_relaxed(&drain->counter->gaps.max_ns);
		section.clock.starved_ns = tp_load_relaxed(&drain->counter->gaps.starved_ns);
		section.clock.period_ns = drain->counter->options.period_ns;
	}
	memcpy(section.points, log->points, log->count * sizeof(log->points[0]));
	tp_trace_writer_add(drain->writer, TEEPERF_SECTION_CLOCK, &section,
	    sizeof(section.clock) + log->count * sizeof(log->points[0]));
}

static uint64_t switches_bytes(struct tp_drain *drain)
{
	return drain->switches.words.size + drain->selections.entries.size +
	       tp_selection_windows_bytes(&drain->selections) + tp_mark_log_bytes(&drain->marks);
}

static void write_switches(struct tp_drain *drain)
{
	const struct tp_buf *words = &drain->switches.words;
	const struct tp_buf *selections = &drain->selections.entries;
	const struct tp_buf *windows = &drain->selections.windows;
	if (words->size)
		tp_trace_writer_add(
		    drain->writer, TEEPERF_SECTION_SWITCHES, words->data, words->size);
	if (selections->size)
		tp_trace_writer_add(
		    drain->writer, TEEPERF_SECTION_SELECTIONS, selections->data, selections->size);
	pthread_mutex_lock(&drain->selections.lock);
	if (windows->size)
		tp_trace_writer_add(
		    drain->writer, TEEPERF_SECTION_WINDOWS, windows->data, windows->size);
	drain->switches_written = words->size + selections->size + windows->size;
	pthread_mutex_unlock(&drain->selections.lock);
	const struct tp_buf *marks = &drain->marks.entries;
	pthread_mutex_lock(&drain->marks.lock);
	if (marks->size)
		tp_trace_writer_add(drain->writer, TEEPERF_SECTION_MARKS, marks->data, marks->size);
	drain->switches_written += marks->size;
	pthread_mutex_unlock(&drain->marks.lock);
}

// Each section holds them all. It is written at once while they are few, then when they are twice
// as many: so all sections together are not much longer than the last one. New switches meanwhile
// wait for the next checkpoint.
static bool have_switches_grown(struct tp_drain *drain)
{
	const uint64_t size = switches_bytes(drain);
	const uint64_t written = drain->switches_written;
	return size > written &&
	       (size <= sizeof(drain->region->header->switches) || size - written >= written);
}

// A selection's gap is among the switches when the program says that it has obeyed.
static void follow_switches(struct tp_drain *drain)
{
	const struct teeperf_log_header *header = drain->region->header;
	tp_selection_log_follow(&drain->selections, header);
	tp_switch_log_follow(&drain->switches, header);
}

// What the program says about itself, as soon as it says it.
static void follow_program(struct tp_drain *drain)
{
	const struct teeperf_log_header *header = drain->region->header;
	if (!tp_load32_acquire(&header->attach))
		return;
	tp_trace_writer_set_machine(drain->writer, tp_load32_acquire(&header->machine));
	if (drain->writer->failed)
		return; // the room is for what ends the file
	// Each section holds them all: of many, further ones wait for the next checkpoint, or for
	// more.
	const uint64_t modules = tp_count_acquire(&header->module_count);
	if (modules > drain->modules_seen &&
	    (modules <= MODULES_FEW || modules - drain->modules_seen >= modules / 4))
		write_modules(drain);
	follow_switches(drain);
	if (have_switches_grown(drain))
		write_switches(drain);
}

// The tables that change all the time.
static void write_tables(struct tp_drain *drain)
{
	if (tp_count_acquire(&drain->region->header->module_count) != drain->modules_seen)
		write_modules(drain);
	write_threads(drain);
	write_cpu(drain);
	if (!drain->sched.most)
		write_sched(drain);
	write_system(drain);
	tp_clock_log_point(drain->clock_log);
	write_clock(drain);
	if (switches_bytes(drain) != drain->switches_written)
		write_switches(drain);
}

// Tables for the case that we are killed: soon after the start, then less and less often.
static void checkpoint(struct tp_drain *drain)
{
	const uint64_t now = tp_clock_monotonic_ns();
	if (now < drain->checkpoint_ns || drain->writer->failed)
		return;
	write_tables(drain);
	drain->checkpoint_ns = now + drain->checkpoint_gap_ns;
	// A flight recorder may run for weeks, and its trace holds nothing else.
	if (drain->checkpoint_gap_ns < 30000 * MS || drain->region->mode == TEEPERF_MODE_RING)
		drain->checkpoint_gap_ns *= 2;
}

/*
 * Whether to take chunks now. `tail` is the program's word, and so a hint: a false one makes us
 * take them at another time.
 */
static bool is_time(struct tp_drain *drain)
{
	if (drain->policy != TP_DRAIN_LATE)
		return drain->policy == TP_DRAIN_NOW;
	const uint64_t tail = tp_load_relaxed(&drain->region->header->tail);
	const uint64_t now = tp_clock_monotonic_ns();
	if (tail != drain->tail_seen) {
		drain->tail_seen = tail;
		drain->tail_since_ns = now;
	}
	if (now - drain->tail_since_ns >= QUIET_MS * MS)
		return true;
	// Most chunks are of threads that have ended: it costs little, and more chunks cost a lot.
	const uint64_t threads = tp_load_relaxed(&drain->region->header->thread_count);
	if (drain->region->mode == TEEPERF_MODE_STREAM && tail < 2 * threads &&
	    tail - drain->taken >= SHORT_LIVES)
		return true;
	// With help, a chunk that is used again costs less than one whose memory is fetched.
	// Without, it is the other way round.
	const uint32_t limit = tp_region_limit(drain->region);
	const uint32_t all = drain->relay.slices && drain->ready < limit ? drain->ready : limit;
	// In mode full no room is gained by it.
	return drain->region->mode == TEEPERF_MODE_STREAM && tail - drain->taken >= all / 2;
}

// A trace of its own, as whole as the recording's.
static void write_snapshot(struct tp_drain *drain, struct tp_trace_writer *writer)
{
	struct tp_trace_writer *trace = drain->writer;
	const struct tp_drain_snapshots *snapshots = &drain->snapshots;
	const uint64_t modules = drain->modules_seen;
	const uint64_t switches = drain->switches_written;
	drain->writer = writer;
	tp_trace_writer_set_machine(writer, trace->header.machine);
	snapshots->begin(snapshots->context);
	// Of a thread that begins meanwhile there is a chunk and no entry; the other way round, it
	// would look as if its chunk had been overwritten. The modules of all records were there
	// before them.
	write_threads(drain);
	write_cpu(drain);
	tp_rings_write(drain->region, drain->numbers, writer);
	write_sched(drain);
	write_modules(drain);
	follow_switches(drain);
	tp_clock_log_point(drain->clock_log);
	write_clock(drain);
	write_switches(drain);
	tp_trace_add_end(drain, &(struct teeperf_trace_end){.exit_kind = TEEPERF_EXIT_UNKNOWN,
				    .start_ns = *snapshots->start_ns,
				    .end_ns = tp_clock_monotonic_ns()});
	drain->writer = trace;
	drain->modules_seen = modules;
	drain->switches_written = switches;
}

static void snapshot(struct tp_drain *drain)
{
	struct tp_drain_snapshots *snapshots = &drain->snapshots;
	struct tp_trace_writer writer;
	const int length = snprintf(snapshots->last, sizeof(snapshots->last), "%s.snapshot-%u",
	    drain->writer->path, ++snapshots->count);
	int r = 0;
	if (!drain->writer->regular || length >= (int)sizeof(snapshots->last))
		r = tp_err_set(&snapshots->error, TP_ERR_LIMIT, drain->writer->path,
		    "is not a regular file, so a snapshot cannot be written next to it");
	else
		r = tp_trace_writer_open(
		    &writer, snapshots->last, true, drain->writer->packer.level, &snapshots->error);
	if (!r) {
		write_snapshot(drain, &writer);
		// Half a snapshot would take the room that the recording's own trace needs.
		if (writer.failed) {
			snapshots->error = writer.error;
			r = writer.error.code;
			tp_trace_writer_discard(&writer);
		} else {
			r = tp_trace_writer_close(&writer, &snapshots->error);
		}
	}
	snapshots->failed = r != 0;
}

static void flush(struct tp_drain *drain)
{
	const uint64_t asked = tp_load_acquire(&drain->flush_asked);
	if (asked == drain->flush_done)
		return;
	if (drain->region->mode == TEEPERF_MODE_RING) {
		snapshot(drain);
	} else {
		take_chunks(drain, TP_REGION_DONE);
		if (!drain->writer->failed)
			write_tables(drain);
	}
	tp_store_release(&drain->flush_done, asked);
}

uint64_t tp_drain_ask_flush(struct tp_drain *drain)
{
	const uint64_t number = tp_load_relaxed(&drain->flush_asked) + 1;
	tp_store_release(&drain->flush_asked, number);
	tp_doorbell_ring(&drain->worker.bell);
	return number;
}

bool tp_drain_has_flushed(const struct tp_drain *drain, uint64_t number)
{
	return tp_load_acquire(&drain->flush_done) >= number;
}

bool tp_drain_flush(struct tp_drain *drain, uint32_t timeout_ms)
{
	const uint64_t number = tp_drain_ask_flush(drain);
	const struct timespec nap = {.tv_nsec = (long)MS};
	for (uint32_t i = 0; i < timeout_ms; i++) {
		if (tp_drain_has_flushed(drain, number))
			return !drain->writer->failed && !drain->snapshots.failed;
		nanosleep(&nap, NULL);
	}
	return false;
}

// How long it really slept, but not beyond its nap: who comes back later had no processor, or was
// stopped.
static uint64_t nap(struct tp_drain *drain, int nap_ms)
{
	const uint64_t before = tp_clock_monotonic_ns();
	tp_doorbell_wait(&drain->worker.bell, nap_ms);
	const uint64_t slept = tp_clock_monotonic_ns() - before;
	const uint64_t most = (uint64_t)nap_ms * MS;
	return slept < most ? slept : most;
}

static void *run(void *argument)
{
	struct tp_drain *drain = argument;
	const int nap_ms = drain->policy == TP_DRAIN_NOW ? 1 : 4;
	const uint64_t start = tp_clock_monotonic_ns();
	const uint64_t written = drain->writer->write_ns;
	uint64_t accounted = 0; // asleep as it wanted
	while (!tp_load_relaxed(&drain->worker.stop)) {
		meet_process(drain);
		follow_program(drain);
		flush(drain);
		if (!is_time(drain) || !take_chunks(drain, TP_REGION_DONE))
			accounted += nap(drain, nap_ms);
		tp_clock_log_tick(drain->clock_log);
		tp_cpu_times_look(&drain->cpu);
		look_at_names(drain);
		follow_sched(drain);
		follow_system(drain);
		checkpoint(drain);
	}
	// The writes contain part of its processor time, too: so the remainder is a little too
	// small.
	const uint64_t wrote = drain->writer->write_ns - written;
	accounted += wrote + drain->relay.waited_ns + tp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t passed = tp_clock_monotonic_ns() - start;
	drain->ran_ns = passed;
	drain->wrote_ns = wrote < passed ? wrote : passed;
	drain->absent_ns = passed > accounted ? passed - accounted : 0;
	return NULL;
}

static void release(struct tp_drain *drain)
{
	tp_switch_log_release(&drain->switches);
	tp_selection_log_release(&drain->selections);
	tp_mark_log_release(&drain->marks);
	tp_cpu_times_release(&drain->cpu);
	tp_sched_close(&drain->sched);
	tp_bpf_reader_release(&drain->system);
	tp_relay_release(&drain->relay);
	free(drain->chunk);
	free(drain->numbers);
	free(drain->threads);
	free(drain->modules);
}

int tp_drain_start(struct tp_drain *drain, struct tp_err *err)
{
	drain->chunk = malloc(TP_REGION_CHUNK_SIZE);
	drain->numbers = calloc(drain->region->chunk_count, sizeof(*drain->numbers));
	drain->threads = calloc(TP_REGION_THREADS, sizeof(*drain->threads));
	drain->modules = calloc(TP_REGION_MODULES, sizeof(*drain->modules));
	tp_switch_log_init(&drain->switches, !drain->start_off);
	tp_selection_log_init(&drain->selections);
	tp_mark_log_init(&drain->marks);
	int r = tp_cpu_times_init(&drain->cpu, drain->region, drain->foreign ? -1 : drain->process,
	    drain->process_is_old, err);
	if (r) {
		release(drain);
		return r;
	}
	// The clock's thread cannot pack chunks; and in other modes no chunk comes back.
	const bool helped =
	    !drain->writer->packer.context && drain->region->mode == TEEPERF_MODE_STREAM;
	r = tp_relay_init(&drain->relay, helped ? drain->slices : NULL, err);
	if (r) {
		release(drain);
		return r;
	}
	if (!drain->chunk || !drain->numbers || !drain->threads || !drain->modules) {
		release(drain);
		return tp_err_memory(err, NULL);
	}
	tp_clock_log_point(drain->clock_log);
	write_clock(drain);
	if (drain->region->mode == TEEPERF_MODE_RING)
		drain->sched.most = SCHED_KEPT_BYTES;
	drain->checkpoint_gap_ns = 250 * MS;
	drain->checkpoint_ns = tp_clock_monotonic_ns() + 50 * MS;
	r = tp_worker_start(&drain->worker, run, drain, "the drain thread", err);
	if (r)
		release(drain);
	return r;
}

void tp_drain_stop(struct tp_drain *drain)
{
	tp_worker_stop(&drain->worker);
	drain->relay.slices = NULL; // the clock may be stopped
	tp_clock_log_point(drain->clock_log);
}

/*
 * The table as it was before the rest was taken, with what has been lost since then: a program that
 * runs on may have taken a chunk that is not in the trace, as the recording was over.
 */
static void write_threads_of_rest(struct tp_drain *drain, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t lost = tp_count_acquire(&drain->region->threads[i].lost);
		const uint64_t ended = tp_load_relaxed(&drain->region->threads[i].ended);
		drain->threads[i].lost = lost;
		drain->threads[i].ended = ended;
	}
	tp_trace_writer_add(drain->writer, TEEPERF_SECTION_THREADS, drain->threads,
	    count * sizeof(*drain->threads));
}

// At most, of all that follows the last chunk.
static uint64_t bytes_of_end(struct tp_drain *drain, uint32_t threads)
{
	enum { HOST_AND_END = 16384 };
	const uint64_t told = tp_load_acquire(&drain->region->header->module_count);
	const uint64_t modules = told < TP_REGION_MODULES ? told : TP_REGION_MODULES;
	return HOST_AND_END + modules * sizeof(*drain->modules) +
	       threads * (sizeof(*drain->threads) + sizeof(struct teeperf_trace_cpu_thread)) +
	       drain->clock_log->count * sizeof(drain->clock_log->points[0]) +
	       tp_sched_bytes(&drain->sched) + sizeof(struct teeperf_trace_sched) +
	       switches_bytes(drain) + tp_bpf_reader_bytes(&drain->system) +
	       drain->writer->missing.count * sizeof(struct teeperf_trace_missing);
}

void tp_drain_finish(struct tp_drain *drain)
{
	follow_program(drain);
	const uint32_t threads = copy_threads(drain);
	if (drain->region->mode == TEEPERF_MODE_RING) {
		drain->record_bytes = tp_rings_write(drain->region, drain->numbers, drain->writer);
	} else {
		take_chunks(drain, TP_REGION_DONE);
		// Looked for apart, a chunk that becomes complete between two looks would be in
		// neither, and one that becomes so after them would be there twice.
		take_chunks(drain, TP_REGION_DONE | TP_REGION_OWNED);
	}
	take_sched(drain);
	if (drain->writer->failed) {
		// No chunk makes room for them: what does not fit now is counted.
		tp_sched_drop(&drain->sched);
		write_system(drain);
	}
	tp_trace_writer_make_room(drain->writer, bytes_of_end(drain, threads));
	drain->sched.lost += drain->writer->cut_switches;
	tp_bpf_reader_lose(&drain->system, drain->writer->cut_events);
	write_modules(drain);
	write_threads_of_rest(drain, threads);
	write_cpu(drain);
	write_sched(drain);
	write_system(drain);
	write_clock(drain);
	write_switches(drain);
	release(drain);
}
