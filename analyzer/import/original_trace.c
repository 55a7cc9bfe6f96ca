// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logs of the original TEE-Perf as traces: sorts the entries by thread, a chunk of each at a time.
#include "open.h"

#include "analyzer/import/original_log.h"
#include "analyzer/trace/reader.h"
#include "common/array.h"
#include "common/out_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/trace.h>
#include <unistd.h>

// Smaller chunks than usual, but for more threads at a time: 32 MiB in all.
#define CHUNK_SHIFT 14
#define CHUNK ((size_t)1 << CHUNK_SHIFT)
#define OPEN_CHUNKS 2048
#define THREADS_MAX 65536
#define FUNCTIONS_MAX (UINT32_C(1) << 22)
#define SWITCHES_MAX (UINT32_C(1) << 20)

// State of a thread. It may have no open chunk.
struct thread {
	uint8_t *chunk;    // CHUNK bytes: header and records, NULL if none is open
	size_t used;       // bytes of it
	uint64_t first;    // time of the chunk
	uint64_t high;     // upper half of the time in it
	uint64_t sequence; // of the next chunk
	uint64_t last;     // time of the last event
	uint64_t lost;     // since then
};

struct translation {
	struct tp_original_log log;
	struct tp_buf *out;
	struct tp_number_set numbers; // pthread_self of each thread
	struct thread *threads;       // as many as there is room for in numbers.items
	uint32_t thread_room;
	struct tp_number_set functions;
	struct tp_buf switches;
	bool on;
	bool began; // something has been recorded, or switched
	uint64_t last_switch;
	uint64_t chunk_count;
	uint64_t lost;              // events whose thread is not known
	uint32_t open[OPEN_CHUNKS]; // threads that have a chunk
	uint32_t open_count;
	uint32_t next_victim;
};

static void flush(struct translation *to, uint32_t index)
{
	struct thread *thread = &to->threads[index];
	const struct teeperf_chunk header = {
	    .thread = index,
	    .sequence = thread->sequence,
	    .os_tid = to->numbers.items[index],
	    .first_time = thread->first,
	    .used = thread->used,
	};
	if (thread->used == sizeof(header))
		return;
	memcpy(thread->chunk, &header, sizeof(header));
	tp_trace_section_add(to->out, TEEPERF_SECTION_CHUNK, thread->chunk, thread->used);
	thread->sequence++;
	thread->used = sizeof(header);
	to->chunk_count++;
}

// Give the thread a chunk: a new one, or that of a thread whose turn it is to do without.
static bool open_chunk(struct translation *to, uint32_t index)
{
	struct thread *thread = &to->threads[index];
	if (to->open_count < OPEN_CHUNKS) {
		thread->chunk = malloc(CHUNK);
		if (!thread->chunk)
			return false;
		to->open[to->open_count++] = index;
	} else {
		struct thread *victim = &to->threads[to->open[to->next_victim]];
		flush(to, to->open[to->next_victim]);
		thread->chunk = victim->chunk;
		victim->chunk = NULL;
		to->open[to->next_victim] = index;
		to->next_victim = (to->next_victim + 1) % OPEN_CHUNKS;
	}
	thread->used = sizeof(struct teeperf_chunk);
	return true;
}

// Room for two words at TIME, in a chunk that is open.
static bool make_room(struct translation *to, uint32_t index, uint64_t time)
{
	struct thread *thread = &to->threads[index];
	if (!thread->chunk && !open_chunk(to, index))
		return false;
	if (thread->used + 16 > CHUNK)
		flush(to, index);
	if (thread->used == sizeof(struct teeperf_chunk)) {
		thread->first = time;
		thread->high = time >> 32;
	}
	return true;
}

static void add_word(struct thread *thread, uint64_t low, uint64_t high)
{
	const uint64_t word = (low & UINT32_MAX) | high << 32;
	memcpy(thread->chunk + thread->used, &word, sizeof(word));
	thread->used += sizeof(word);
}

// What the thread has lost so far goes before what comes next, at TIME.
static bool tell_lost(struct translation *to, uint32_t index, uint64_t time)
{
	struct thread *thread = &to->threads[index];
	while (thread->lost) {
		const uint64_t part = thread->lost < UINT32_MAX ? thread->lost : UINT32_MAX;
		if (!make_room(to, index, time))
			return false;
		add_word(thread, part, TEEPERF_CONTROL_LOST);
		thread->lost -= part;
	}
	return true;
}

// The thread of an event; NULL: there are too many, or no memory (*failed).
static struct thread *thread_of(
    struct translation *to, const struct tp_original_event *event, uint32_t *index, bool *failed)
{
	// A log without threads is of one, which the trace has to call something.
	*index = tp_number_set_add(&to->numbers, to->log.threads ? event->thread : 1);
	*failed = to->numbers.failed;
	if (*index == TP_NUMBER_NONE)
		return NULL;
	if (*index >= to->thread_room) {
		const uint32_t before = to->thread_room;
		if (!TP_GROW(to->threads, to->thread_room, *index + UINT64_C(1))) {
			*failed = true;
			return NULL;
		}
		memset(&to->threads[before], 0, (to->thread_room - before) * sizeof(struct thread));
	}
	return &to->threads[*index];
}

// Only what changes something is a switch, and none is before the one before it.
static void add_switch(struct translation *to, bool on, uint64_t ticks)
{
	// Events of the same tick came before it.
	const uint64_t time = on || ticks >= INT64_MAX ? ticks : ticks + 1;
	const bool at_first = on && !to->began;
	if ((on == to->on && !at_first) || to->switches.size / 8 >= SWITCHES_MAX)
		return;
	to->last_switch = time > to->last_switch ? time : to->last_switch;
	const uint64_t word = to->last_switch << 1 | on;
	tp_buf_add(&to->switches, &word, sizeof(word));
	to->on = on;
	to->began = true;
}

// An entry that tells nothing, or the call or return of one that has no name that a record can
// hold.
static bool add_lost(struct translation *to, const struct tp_original_event *event)
{
	uint32_t index;
	bool failed = false;
	struct thread *thread =
	    event->thread || !to->log.threads ? thread_of(to, event, &index, &failed) : NULL;
	if (thread)
		thread->lost++;
	else
		to->lost++;
	return !failed;
}

static bool add_call(struct translation *to, const struct tp_original_event *event)
{
	uint32_t index;
	bool failed;
	const uint32_t name = tp_original_name(event->function);
	if (name < TEEPERF_NAME_FIRST)
		return add_lost(to, event);
	struct thread *thread = thread_of(to, event, &index, &failed);
	if (!thread) {
		to->lost++;
		return !failed;
	}
	tp_number_set_add(&to->functions, event->function);
	if (!tell_lost(to, index, event->ticks) || !make_room(to, index, event->ticks))
		return false;
	if (event->ticks >> 32 != thread->high) {
		thread->high = event->ticks >> 32;
		add_word(thread, thread->high, TEEPERF_CONTROL_SYNC);
	}
	add_word(thread, event->ticks,
	    name | (event->type == TP_ORIGINAL_ENTER ? TEEPERF_KIND_ENTER : TEEPERF_KIND_EXIT));
	thread->last = event->ticks;
	to->began = true;
	return !to->functions.failed;
}

static int no_memory(const struct translation *to, struct tp_err *err)
{
	return tp_err_memory(err, to->log.source->name);
}

static int add_events(struct translation *to, struct tp_problems *problems, struct tp_err *err)
{
	struct tp_original_event event;
	int code;
	while ((code = tp_original_log_next(&to->log, &event, err)) > 0) {
		bool added = true;
		if (event.type == TP_ORIGINAL_ON || event.type == TP_ORIGINAL_OFF)
			add_switch(to, event.type == TP_ORIGINAL_ON, event.ticks);
		else if (event.type == TP_ORIGINAL_LOST)
			added = add_lost(to, &event);
		else
			added = add_call(to, &event);
		if (!added)
			return no_memory(to, err);
		if (to->out->failed)
			return 0; // for the caller to see
	}
	if (code < 0)
		tp_problems_add_at(problems, code, to->log.source->name, err->offset,
		    "%s; the part before it is used", err->what);
	for (uint32_t i = 0; i < to->numbers.count; i++) {
		struct thread *thread = &to->threads[i];
		if (thread->last && !tell_lost(to, i, thread->last))
			return no_memory(to, err);
		to->lost += thread->lost; // of a thread of which nothing else is known
	}
	for (uint32_t i = 0; i < to->open_count; i++)
		flush(to, to->open[i]);
	return 0;
}

static void add_threads(struct translation *to, struct tp_buf *payload)
{
	for (uint32_t i = 0; i < to->numbers.count; i++) {
		const struct teeperf_thread thread = {
		    .os_tid = to->numbers.items[i],
		    .chunks = to->threads[i].sequence,
		};
		tp_buf_add(payload, &thread, sizeof(thread));
	}
	tp_trace_section_put(to->out, TEEPERF_SECTION_THREADS, payload);
}

static int add_modules(struct translation *to, const struct tp_original_options *options,
    struct tp_buf *payload, struct tp_problems *notes, struct tp_err *err)
{
	const char *file = to->log.source->name;
	struct teeperf_module module;
	bool found;
	const int code = tp_original_names_find(
	    options, to->log.header.map_info, &to->functions, file, &module, &found, notes, err);
	if (code)
		return code;
	tp_original_names_list(
	    options, &to->functions, found ? &module : NULL, file, payload, notes);
	if (payload->size)
		tp_trace_section_put(to->out, TEEPERF_SECTION_SYMBOLS, payload);
	if (found) {
		tp_trace_section_add(to->out, TEEPERF_SECTION_MODULES, &module, sizeof(module));
		tp_buf_add(payload, "", 1); // no folder
		tp_buf_add(payload, module.path, strlen(module.path) + 1);
		tp_trace_section_put(to->out, TEEPERF_SECTION_COMMAND, payload);
	}
	to->out->failed |= payload->failed;
	return 0;
}

// What comes behind the chunks.
static int add_rest(struct translation *to, const struct tp_original_options *options,
    struct tp_problems *notes, struct tp_err *err)
{
	const struct tp_original_header *header = &to->log.header;
	const struct teeperf_trace_clock clock = {.kind = TEEPERF_CLOCK_SOFT_COUNT};
	struct tp_buf payload;
	tp_buf_init(&payload);
	add_threads(to, &payload);
	const int code = add_modules(to, options, &payload, notes, err);
	if (!code) {
		if (to->switches.size)
			tp_trace_section_put(to->out, TEEPERF_SECTION_SWITCHES, &to->switches);
		tp_trace_section_add(to->out, TEEPERF_SECTION_CLOCK, &clock, sizeof(clock));
		tp_buf_addf(
		    &payload, "clock=soft-count\nmode=full\nprocess=%" PRIu64 "\n", header->pid);
		tp_trace_section_put(to->out, TEEPERF_SECTION_HOST, &payload);
	}
	tp_buf_release(&payload);
	if (code)
		return code;
	const struct teeperf_trace_end end = {
	    .exit_kind = TEEPERF_EXIT_UNKNOWN,
	    .chunk_count = to->chunk_count,
	    .chunk_draws = to->chunk_count,
	    .lost_overflow = to->lost,
	    .log_bytes = header->size,
	    .mode = TEEPERF_MODE_FULL,
	    .attach = TEEPERF_ATTACH_DONE,
	    .thread_count = to->numbers.count,
	};
	tp_trace_section_add(to->out, TEEPERF_SECTION_END, &end, sizeof(end));
	return to->switches.failed ? no_memory(to, err) : 0;
}

static void release(struct translation *to)
{
	for (uint32_t i = 0; i < to->open_count; i++)
		free(to->threads[to->open[i]].chunk);
	free(to->threads);
	tp_number_set_release(&to->numbers);
	tp_number_set_release(&to->functions);
	tp_buf_release(&to->switches);
	tp_original_log_release(&to->log);
}

int tp_original_translate(const struct tp_source *source, const struct tp_original_options *options,
    struct tp_buf *out, struct tp_problems *problems, struct tp_problems *notes, struct tp_err *err)
{
	struct tp_original_header header;
	const enum tp_original_kind kind = tp_original_look(source, &header);
	if (kind == TP_ORIGINAL_NOT)
		return 0;
	if (kind == TP_ORIGINAL_UNUSED)
		return tp_err_set_at(err, TP_ERR_FORMAT, source->name, 0,
		    "a log of the original TEE-Perf without entries: was the program compiled with "
		    "that tool's flags?");
	struct translation to = {.out = out, .on = true};
	tp_number_set_init(&to.numbers, THREADS_MAX);
	tp_number_set_init(&to.functions, FUNCTIONS_MAX);
	tp_buf_init(&to.switches);
	const struct teeperf_trace_header trace = {
	    .magic = TEEPERF_TRACE_MAGIC,
	    .major = TEEPERF_TRACE_MAJOR,
	    .oldest_major = TEEPERF_TRACE_OLDEST_MAJOR,
	    .minor = TEEPERF_TRACE_MINOR,
	    .header_size = sizeof(trace),
	    .chunk_shift = CHUNK_SHIFT,
	    .machine = EM_X86_64,
	};
	int code = tp_original_log_init(&to.log, source, &header, problems, notes, err);
	if (code)
		goto out;
	tp_buf_add(out, &trace, sizeof(trace));
	code = add_events(&to, problems, err);
	// In a log of one thread all of it is that one's.
	to.lost += to.log.lost;
	if (!code && !out->failed)
		code = add_rest(&to, options, notes, err);
out:
	release(&to);
	return code ? code : 1;
}

int tp_original_open(struct tp_source *source, const struct tp_original_options *options,
    struct tp_problems *problems, struct tp_problems *notes, struct tp_err *err)
{
	struct tp_original_header header;
	if (tp_original_look(source, &header) == TP_ORIGINAL_NOT)
		return 0;
	const char *folder;
	const int fd = tp_temporary_open(&folder);
	const int kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (kept < 0) {
		const int saved = errno;
		if (fd >= 0)
			close(fd);
		return tp_err_system(err, saved, folder,
		    "cannot create a file for the translated log; set TMPDIR to another folder");
	}
	struct tp_out_file out;
	tp_out_file_from_fd(&out, fd, folder);
	int code = tp_original_translate(source, options, &out.buf, problems, notes, err);
	struct tp_err unwritten;
	const int written = tp_out_file_close(&out, &unwritten);
	if (code >= 0 && written)
		code = tp_err_set(err, written, folder,
		    "%s: the translated log needs up to half of the log's size there; set "
		    "TMPDIR to another folder",
		    unwritten.what);
	if (code < 0) {
		close(kept);
		return code;
	}
	tp_source_close(source);
	source->fd = kept;
	source->size = out.written;
	return 0;
}

int tp_import_begin(struct tp_tracefile *trace, const char *file,
    const struct tp_original_options *original, const void *more, size_t more_size,
    struct tp_err *err)
{
	const struct tp_original_options none = {0};
	int code = tp_tracefile_begin(trace, file, err);
	trace->source.more = more;
	trace->source.more_size = more_size;
	if (!code)
		code = tp_original_open(&trace->source, original ? original : &none,
		    &trace->problems, &trace->notes, err);
	return code;
}

int tp_import_open(struct tp_tracefile *trace, const char *file,
    const struct tp_original_options *original, const void *more, size_t more_size,
    struct tp_err *err)
{
	const int code = tp_import_begin(trace, file, original, more, more_size, err);
	return code ? code : tp_tracefile_load(trace, err);
}
