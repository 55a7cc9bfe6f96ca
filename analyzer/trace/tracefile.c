// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, opened: collects what the reader finds.
#include "tracefile.h"

#include "analyzer/trace/reader.h"
#include "analyzer/trace/verify.h"
#include "common/array.h"
#include "common/clean.h"
#include "common/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const struct tp_tracefile *trace, struct tp_err *err)
{
	return tp_err_set(err, TP_ERR_MEMORY, trace->source.name, TP_ERR_NO_OFFSET,
	    "out of memory while the trace was opened");
}

static void reject(struct tp_tracefile *trace, const struct tp_section *section, const char *why)
{
	tp_problems_add(&trace->problems, TP_ERR_FORMAT, trace->source.name, section->offset,
	    "%s section of %" PRIu64 " bytes is not used: %s",
	    tp_section_name(section->header.type), section->header.size, why);
}

static int append_chunk(
    struct tp_tracefile *trace, const struct tp_chunk *chunk, struct tp_err *err)
{
	if (!TP_GROW(trace->chunks, trace->chunk_room, trace->chunk_count + 1))
		return no_memory(trace, err);
	trace->chunks[trace->chunk_count++] = *chunk;
	return 0;
}

// A chunk or a packed one. The latter is unpacked when it is replayed.
static int add_chunk(
    struct tp_tracefile *trace, const struct tp_section *section, struct tp_err *err)
{
	const bool is_packed = section->header.type == TEEPERF_SECTION_PACKED;
	const uint64_t size = section->header.size;
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, section->payload, size);
	struct teeperf_packed packed = {0};
	const struct teeperf_chunk *header = &packed.chunk;
	tp_bytes_copy(&bytes, &packed, is_packed ? sizeof(packed) : sizeof(*header));
	if (bytes.underflow || header->used > UINT64_C(1) << trace->header.chunk_shift ||
	    header->used < sizeof(*header) || header->used % 8 != 0 ||
	    (is_packed ? size >= header->used : size != header->used)) {
		reject(trace, section, "its size is not that of a chunk");
		return 0;
	}
	// A thread cannot have written more bytes than a position can count.
	if (header->sequence >= UINT64_C(1) << (62 - trace->header.chunk_shift)) {
		reject(trace, section, "its sequence number is impossible");
		return 0;
	}
	const uint64_t parts = (uint64_t)packed.names_size + packed.times_size;
	if (is_packed && tp_bytes_left(&bytes) != parts) {
		reject(trace, section, "its parts are not of its size");
		return 0;
	}
	const uint64_t payload = section->offset + sizeof(section->header);
	const struct tp_chunk chunk = {
	    .offset = payload + (is_packed ? 0 : sizeof(*header)),
	    .first_time = header->first_time,
	    .sequence = header->sequence,
	    .os_tid = header->os_tid,
	    .home = header->home,
	    .thread = header->thread,
	    .word_count = (uint32_t)((header->used - sizeof(*header)) / 8),
	    .packed_size = is_packed ? (uint32_t)size : 0,
	};
	return append_chunk(trace, &chunk, err);
}

// Copy what is left of a section, if that is COUNT entries. *entries is NULL if it is not, which becomes a problem for
// the reason WHY, and without memory.
static int copy_entries(struct tp_tracefile *trace, const struct tp_section *section,
    struct tp_bytes *bytes, uint64_t count, size_t entry_size, const char *why, void **entries,
    struct tp_err *err)
{
	const size_t size = tp_bytes_left(bytes);
	*entries = NULL;
	if (bytes->underflow || count > UINT32_MAX || size != count * entry_size) {
		reject(trace, section, why);
		return 0;
	}
	*entries = tp_arena_alloc(&trace->arena, size);
	if (!*entries)
		return no_memory(trace, err);
	tp_bytes_copy(bytes, *entries, size);
	return 0;
}

// Copy a section that is entries and nothing else.
static int copy_table(struct tp_tracefile *trace, const struct tp_section *section,
    size_t entry_size, void **entries, uint64_t *count, struct tp_err *err)
{
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, section->payload, section->header.size);
	*count = section->header.size / entry_size;
	return copy_entries(trace, section, &bytes, *count, entry_size,
	    "its size is not a multiple of an entry's", entries, err);
}

// Copy a section that is one structure; a newer version's may be longer.
static void copy_one(
    struct tp_tracefile *trace, const struct tp_section *section, void *to, size_t size, bool *has)
{
	if (section->header.size < size) {
		reject(trace, section, "it is too short");
		return;
	}
	memcpy(to, section->payload, size);
	*has = true;
}

static int add_modules(
    struct tp_tracefile *trace, const struct tp_section *section, struct tp_err *err)
{
	void *entries;
	uint64_t count;
	const int code =
	    copy_table(trace, section, sizeof(struct teeperf_module), &entries, &count, err);
	if (!entries)
		return code;
	struct teeperf_module *modules = entries;
	for (uint64_t i = 0; i < count; i++) {
		modules[i].path[TEEPERF_MODULE_PATH_SIZE - 1] = '\0';
		if (modules[i].build_id_size > TEEPERF_BUILD_ID_SIZE)
			modules[i].build_id_size = TEEPERF_BUILD_ID_SIZE;
	}
	trace->modules = modules;
	trace->module_count = (uint32_t)count;
	return 0;
}

static int add_clock(
    struct tp_tracefile *trace, const struct tp_section *section, struct tp_err *err)
{
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, section->payload, section->header.size);
	struct teeperf_trace_clock clock;
	tp_bytes_copy(&bytes, &clock, sizeof(clock));
	void *points;
	const int code = copy_entries(trace, section, &bytes, clock.point_count,
	    sizeof(struct teeperf_trace_point), "its size is not that of a clock and its points",
	    &points, err);
	if (!points)
		return code;
	trace->clock = clock;
	trace->has_clock = true;
	trace->points = points;
	return 0;
}

static int add_command(
    struct tp_tracefile *trace, const struct tp_section *section, struct tp_err *err)
{
	char *text =
	    tp_arena_copy(&trace->arena, (const char *)section->payload, section->header.size);
	if (!text)
		return no_memory(trace, err);
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, text, section->header.size);
	size_t count = 0;
	while (tp_bytes_left(&bytes) && tp_bytes_string(&bytes))
		count++;
	if (bytes.underflow || count == 0) {
		reject(trace, section, "its strings do not end");
		return 0;
	}
	const char **arguments = tp_arena_alloc(&trace->arena, count * sizeof(*arguments));
	if (!arguments)
		return no_memory(trace, err);
	tp_bytes_init(&bytes, text, section->header.size);
	trace->directory = tp_bytes_string(&bytes);
	for (size_t i = 0; i + 1 < count; i++) {
		arguments[i] = tp_bytes_string(&bytes);
		char *argument = text + (arguments[i] - text);
		tp_clean(argument, strlen(argument));
	}
	trace->arguments = arguments;
	return 0;
}

static int add_text(struct tp_tracefile *trace, const struct tp_section *section, const char **text,
    struct tp_err *err)
{
	*text = tp_arena_copy(&trace->arena, (const char *)section->payload, section->header.size);
	return *text ? 0 : no_memory(trace, err);
}

static int add_switches(
    struct tp_tracefile *trace, const struct tp_section *section, struct tp_err *err)
{
	const uint64_t size = section->header.size;
	if (size % 8 || size / 8 > UINT32_MAX) {
		reject(trace, section, "its size is not that of switches");
		return 0;
	}
	const int code = tp_gaps_init(&trace->gaps, section->payload, size / 8, trace->source.name,
	    section->offset, &trace->problems, &trace->arena);
	return code ? no_memory(trace, err) : 0;
}

// Keep the raw tables; tp_verify_threads makes the list of threads from the first and the chunks.
struct thread_table {
	const struct teeperf_thread *entries;
	size_t count;
	const struct teeperf_trace_cpu_thread *cpu;
	uint32_t cpu_count;
};

static int add_threads(struct tp_tracefile *trace, const struct tp_section *section,
    struct thread_table *table, struct tp_err *err)
{
	void *entries;
	uint64_t count;
	const int code =
	    copy_table(trace, section, sizeof(struct teeperf_thread), &entries, &count, err);
	if (!entries)
		return code;
	table->entries = entries;
	table->count = count;
	return 0;
}

static int add_cpu(struct tp_tracefile *trace, const struct tp_section *section,
    struct thread_table *table, struct tp_err *err)
{
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, section->payload, section->header.size);
	struct teeperf_trace_cpu cpu;
	tp_bytes_copy(&bytes, &cpu, sizeof(cpu));
	void *threads;
	const int code = copy_entries(trace, section, &bytes, cpu.thread_count,
	    sizeof(struct teeperf_trace_cpu_thread),
	    "its size is not that of a process and its threads", &threads, err);
	if (!threads)
		return code;
	trace->cpu = cpu;
	table->cpu = threads;
	table->cpu_count = cpu.thread_count;
	return 0;
}

// Both are sorted by number, or should be: an entry that comes too late is not found.
static void give_cpu(struct tp_tracefile *trace, const struct thread_table *table)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		struct tp_thread *thread = &trace->threads[i];
		while (at < table->cpu_count && table->cpu[at].thread < thread->number)
			at++;
		if (at == table->cpu_count || table->cpu[at].thread != thread->number)
			continue;
		const struct teeperf_trace_cpu_thread *cpu = &table->cpu[at];
		thread->has_cpu = cpu->flags & (TEEPERF_CPU_EXACT | TEEPERF_CPU_AT_LEAST);
		thread->cpu_is_exact = cpu->flags & TEEPERF_CPU_EXACT;
		thread->cpu_ns = cpu->cpu_ns;
		thread->has_delay = cpu->flags & TEEPERF_CPU_DELAY;
		thread->delay_ns = cpu->delay_ns;
	}
}

static int add_missing(
    struct tp_tracefile *trace, const struct tp_section *section, struct tp_err *err)
{
	void *entries;
	uint64_t count;
	const int code = copy_table(trace, section, sizeof(*trace->missing), &entries, &count, err);
	if (!entries)
		return code;
	trace->missing = entries;
	trace->missing_count = count;
	return 0;
}

static int add_section(struct tp_tracefile *trace, const struct tp_section *section,
    struct thread_table *table, struct tp_err *err)
{
	if (section->damaged)
		return 0;
	switch (section->header.type) {
	case TEEPERF_SECTION_CHUNK:
	case TEEPERF_SECTION_PACKED:
		return add_chunk(trace, section, err);
	case TEEPERF_SECTION_MODULES:
		return add_modules(trace, section, err);
	case TEEPERF_SECTION_THREADS:
		return add_threads(trace, section, table, err);
	case TEEPERF_SECTION_CLOCK:
		return add_clock(trace, section, err);
	case TEEPERF_SECTION_COMMAND:
		return add_command(trace, section, err);
	case TEEPERF_SECTION_HOST:
		return add_text(trace, section, &trace->host, err);
	case TEEPERF_SECTION_SYMBOLS:
		return add_text(trace, section, &trace->symbols, err);
	case TEEPERF_SECTION_SWITCHES:
		return add_switches(trace, section, err);
	case TEEPERF_SECTION_CPU:
		return add_cpu(trace, section, table, err);
	case TEEPERF_SECTION_MISSING:
		return add_missing(trace, section, err);
	case TEEPERF_SECTION_LOG:
		copy_one(trace, section, &trace->log, sizeof(trace->log), &trace->has_log);
		return 0;
	case TEEPERF_SECTION_END:
		copy_one(trace, section, &trace->end, sizeof(trace->end), &trace->has_end);
		return 0;
	}
	return 0; // of a newer minor version
}

// Sections that are in memory, and whole: ours.
static int add_more(struct tp_tracefile *trace, struct thread_table *table, struct tp_err *err)
{
	const struct tp_source *source = &trace->source;
	int code = 0;
	for (uint64_t at = 0; !code && at < source->more_size;) {
		struct tp_section section = {
		    .offset = TP_SOURCE_MORE + at,
		    .payload = source->more + at + sizeof(section.header),
		};
		memcpy(&section.header, source->more + at, sizeof(section.header));
		code = add_section(trace, &section, table, err);
		at += sizeof(section.header) + (section.header.size + 7) / 8 * 8;
	}
	return code;
}

int tp_tracefile_load(struct tp_tracefile *trace, struct tp_err *err)
{
	struct tp_reader reader;
	struct thread_table table = {0};
	int code = tp_reader_init(&reader, &trace->source, &trace->problems, err);
	if (code)
		goto out;
	trace->header = reader.header;
	struct tp_section section;
	while ((code = tp_reader_next(&reader, &section, err)) > 0) {
		code = add_section(trace, &section, &table, err);
		if (code)
			goto out;
	}
	if (!code)
		code = add_more(trace, &table, err);
	if (code)
		goto out;
	char mode[8];
	trace->rings = trace->has_end ? trace->end.mode == TEEPERF_MODE_RING
				      : tp_tracefile_host(trace, "mode", mode, sizeof(mode)) &&
					    !strcmp(mode, "ring");
	code = tp_verify_threads(trace, table.entries, table.count, err);
	if (code)
		goto out;
	give_cpu(trace, &table);
	tp_verify_end(trace, reader.stopped);
	if (tp_module_map_init(&trace->map, trace->modules, trace->module_count, trace->source.name,
		&trace->problems, &trace->arena))
		code = no_memory(trace, err);
out:
	tp_reader_release(&reader);
	return code;
}

static void clear(struct tp_tracefile *trace)
{
	memset(trace, 0, sizeof(*trace));
	trace->source.fd = -1;
	tp_arena_init(&trace->arena);
}

int tp_tracefile_begin(struct tp_tracefile *trace, const char *file, struct tp_err *err)
{
	clear(trace);
	return tp_source_open(&trace->source, file, err);
}

int tp_tracefile_open(struct tp_tracefile *trace, const char *file, struct tp_err *err)
{
	const int code = tp_tracefile_begin(trace, file, err);
	return code ? code : tp_tracefile_load(trace, err);
}

int tp_tracefile_from_memory(
    struct tp_tracefile *trace, const char *name, const void *data, size_t size, struct tp_err *err)
{
	clear(trace);
	tp_source_from_memory(&trace->source, name, data, size);
	return tp_tracefile_load(trace, err);
}

void tp_tracefile_close(struct tp_tracefile *trace)
{
	tp_source_close(&trace->source);
	tp_arena_release(&trace->arena);
	free(trace->chunks);
	free(trace->threads);
	trace->chunks = NULL;
	trace->threads = NULL;
}

bool tp_tracefile_host(const struct tp_tracefile *trace, const char *key, char *value, size_t size)
{
	const size_t length = strlen(key);
	for (const char *line = trace->host; line && *line;) {
		const size_t end = strcspn(line, "\n");
		if (end > length && strncmp(line, key, length) == 0 && line[length] == '=') {
			const size_t left = end - length - 1;
			const size_t kept = left < size ? left : size - 1;
			memcpy(value, line + length + 1, kept);
			value[kept] = '\0';
			tp_clean(value, kept);
			return true;
		}
		line += end + (line[end] == '\n');
	}
	return false;
}

const char *tp_tracefile_program(const struct tp_tracefile *trace)
{
	const char *path = trace->arguments ? trace->arguments[0] : NULL;
	if (!path || !*path)
		return "program";
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}
