// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace, opened: collects what the reader finds.
#include "tracefile.h"

#include "analyzer/trace/host_threads.h"
#include "analyzer/trace/reader.h"
#include "common/array.h"
#include "common/clean.h"
#include "common/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A trace that is being opened.
struct loader {
	struct tp_tracefile *trace;
	struct tp_err *err;
	int code; // 0, or the error that ends it
};

static void fail(struct loader *loader)
{
	loader->code = tp_err_memory(loader->err, loader->trace->source.name);
}

static void reject(struct loader *loader, const struct tp_section *section, const char *why)
{
	struct tp_tracefile *trace = loader->trace;
	tp_problems_add_at(&trace->problems, TP_ERR_FORMAT, trace->source.name, section->offset,
	    "%s section of %" PRIu64 " bytes is not used: %s",
	    tp_section_name(section->header.type), section->header.size, why);
}

// Takes a section whose parts fit. NULL, or why it is not used.
typedef const char *(*taker)(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts);

// A copy of it takes the place of the one before.
static const char *keep(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts)
{
	struct tp_tracefile *trace = loader->trace;
	char *copy = tp_arena_copy(&trace->arena, parts->payload, parts->size);
	if (!copy) {
		fail(loader);
		return NULL;
	}
	struct tp_section_parts *kept = &trace->kept[section->header.type];
	tp_section_split(tp_section_kind(section->header.type), copy, parts->size, kept);
	kept->offset = section->offset;
	kept->copy = copy;
	return NULL;
}

// A chunk or a packed one. The latter is unpacked when it is replayed.
static const char *add_chunk(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts)
{
	struct tp_tracefile *trace = loader->trace;
	const bool is_packed = section->header.type == TEEPERF_SECTION_PACKED;
	const uint64_t size = parts->size;
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, parts->payload, size);
	struct teeperf_packed packed = {0};
	const struct teeperf_chunk *header = &packed.chunk;
	tp_bytes_copy(&bytes, &packed, is_packed ? sizeof(packed) : sizeof(*header));
	if (bytes.underflow || header->used > UINT64_C(1) << trace->header.chunk_shift ||
	    header->used < sizeof(*header) || header->used % 8 != 0 ||
	    (is_packed ? size >= header->used : size != header->used))
		return "its size does not fit a chunk";
	if (header->sequence >= UINT64_C(1) << (62 - trace->header.chunk_shift))
		// A thread cannot have written more bytes than a position can count.
		return "its sequence number is too large";
	if (is_packed && tp_bytes_left(&bytes) != (uint64_t)packed.names_size + packed.times_size)
		return "its parts do not add up to its size";
	if (!TP_GROW(trace->chunks, trace->chunk_room, trace->chunk_count + 1)) {
		fail(loader);
		return NULL;
	}
	const uint64_t payload = section->offset + sizeof(section->header);
	trace->chunks[trace->chunk_count++] = (struct tp_chunk){
	    .offset = payload + (is_packed ? 0 : sizeof(*header)),
	    .first_time = header->first_time,
	    .sequence = header->sequence,
	    .os_tid = header->os_tid,
	    .home = header->home,
	    .thread = header->thread,
	    .word_count = (uint32_t)((header->used - sizeof(*header)) / 8),
	    .packed_size = is_packed ? (uint32_t)size : 0,
	    .checksum = section->header.checksum,
	};
	return NULL;
}

// The working directory, then the arguments.
static const char *add_command(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts)
{
	struct tp_tracefile *trace = loader->trace;
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, parts->payload, parts->size);
	size_t count = 0;
	while (tp_bytes_left(&bytes) && tp_bytes_string(&bytes))
		count++;
	if (bytes.underflow || count == 0)
		return "its strings do not end";
	const char **arguments = tp_arena_alloc(&trace->arena, count * sizeof(*arguments));
	if (!arguments)
		fail(loader);
	else
		keep(loader, section, parts);
	if (loader->code)
		return NULL;
	char *text = trace->kept[TEEPERF_SECTION_COMMAND].copy;
	trace->directory = text;
	for (size_t i = 0; i + 1 < count; i++) {
		text += strlen(text) + 1;
		arguments[i] = text;
		tp_clean(text, strlen(text));
	}
	trace->arguments = arguments;
	return NULL;
}

static const char *add_switches(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts)
{
	struct tp_tracefile *trace = loader->trace;
	if (tp_gaps_init(&trace->gaps, parts->items, parts->count, trace->source.name,
		section->offset, &trace->problems, &trace->arena))
		fail(loader);
	return NULL;
}

static const char *add_selections(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts)
{
	struct tp_tracefile *trace = loader->trace;
	if (tp_selections_init(&trace->selections, parts->items, parts->count, trace->source.name,
		section->offset, &trace->problems, &trace->arena))
		fail(loader);
	return NULL;
}

static const char *add_sched(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts)
{
	(void)section;
	if (tp_sched_read_add(&loader->trace->sched, parts->payload, parts->size))
		fail(loader);
	return NULL;
}

static const char *add_system(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts)
{
	(void)section;
	bool memory;
	const char *why =
	    tp_system_add(&loader->trace->system, parts->payload, parts->size, &memory);
	if (!memory)
		fail(loader);
	return why;
}

static const char *add_meters(
    struct loader *loader, const struct tp_section *section, const struct tp_section_parts *parts)
{
	struct tp_tracefile *trace = loader->trace;
	bool memory;
	const char *why = tp_meter_table_read(
	    section->header.type == TEEPERF_SECTION_ENERGY ? &trace->energy : &trace->counters,
	    &trace->arena, parts->payload, parts->size, &memory);
	if (!memory)
		fail(loader);
	return why || !memory ? why : keep(loader, section, parts);
}

static void add_section(struct loader *loader, const struct tp_section *section)
{
	static const taker takers[] = {
#define TP_SECTION(name, title, take, ...) [TEEPERF_SECTION_##name] = take,
#include "analyzer/trace/sections.def"
	};
	const struct tp_section_kind *kind = tp_section_kind(section->header.type);
	if (section->damaged || !kind) // of a newer minor version
		return;
	struct tp_section_parts parts;
	const char *why = tp_section_split(kind, section->payload, section->header.size, &parts);
	if (!why)
		why = takers[kind->type](loader, section, &parts);
	if (why)
		reject(loader, section, why);
}

// The head of the last section of that type. False: there is none.
static bool give_head(const struct tp_tracefile *trace, uint32_t type, void *to)
{
	const struct tp_section_parts *kept = &trace->kept[type];
	if (kept->copy)
		memcpy(to, kept->copy, tp_text_size(tp_section_kind(type)->head));
	return kept->copy;
}

static void give_kept(struct tp_tracefile *trace)
{
	const struct tp_section_parts *modules = &trace->kept[TEEPERF_SECTION_MODULES];
	struct teeperf_module *module = modules->copy;
	for (uint32_t i = 0; i < modules->count; i++, module++) {
		module->path[TEEPERF_MODULE_PATH_SIZE - 1] = '\0';
		if (module->build_id_size > TEEPERF_BUILD_ID_SIZE)
			module->build_id_size = TEEPERF_BUILD_ID_SIZE;
	}
	trace->modules = modules->copy;
	trace->module_count = modules->count;
	trace->has_clock = give_head(trace, TEEPERF_SECTION_CLOCK, &trace->clock);
	trace->points = trace->kept[TEEPERF_SECTION_CLOCK].items;
	trace->has_log = give_head(trace, TEEPERF_SECTION_LOG, &trace->log);
	trace->has_end = give_head(trace, TEEPERF_SECTION_END, &trace->end);
	give_head(trace, TEEPERF_SECTION_CPU, &trace->cpu);
	trace->host = trace->kept[TEEPERF_SECTION_HOST].copy;
	trace->symbols = trace->kept[TEEPERF_SECTION_SYMBOLS].copy;
}

// Only now all selections are known, wherever their section is.
static void give_windows(struct loader *loader)
{
	struct tp_tracefile *trace = loader->trace;
	const struct tp_section_parts *windows = &trace->kept[TEEPERF_SECTION_WINDOWS];
	if (tp_windows_init(&trace->windows, &trace->selections, windows->items, windows->count,
		trace->source.name, windows->offset, &trace->problems, &trace->arena))
		fail(loader);
}

// Gaps of no length are there for readers that know of no selections.
static void drop_gaps_of_selections(struct loader *loader)
{
	struct tp_tracefile *trace = loader->trace;
	struct tp_gap *kept =
	    tp_arena_alloc(&trace->arena, (trace->gaps.count + UINT64_C(1)) * sizeof(*kept));
	if (!kept) {
		fail(loader);
		return;
	}
	uint32_t count = 0;
	uint32_t at = 0;
	for (uint32_t i = 0; i < trace->gaps.count; i++) {
		const struct tp_gap *gap = &trace->gaps.items[i];
		while (at < trace->selections.count && trace->selections.times[at] + 1 < gap->from)
			at++;
		if (at < trace->selections.count && trace->selections.times[at] + 1 == gap->from &&
		    gap->to == gap->from)
			at++;
		else
			kept[count++] = *gap;
	}
	trace->gaps = (struct tp_gaps){.items = kept, .count = count};
}

// Ticks: when the recording ended, or what of it is here; 0: not known.
static uint64_t end_of_recording(const struct tp_tracefile *trace)
{
	struct tp_timebase base;
	tp_timebase_init(&base, &trace->clock, trace->points);
	if (!trace->has_clock || !base.has_origin)
		return 0;
	const uint64_t ns = trace->has_end
				? trace->end.end_ns
				: trace->points[trace->clock.point_count - 1].monotonic_ns;
	return tp_timebase_find(&base, &trace->clock, trace->points, ns);
}

// When a thread of that number ended, or went on as another program, behind the first record of the
// last chunk; 0: that is not known.
static uint64_t end_behind(const struct tp_thread *thread, const struct tp_sched_thread *host)
{
	const uint64_t from =
	    thread->chunk_count ? thread->chunks[thread->chunk_count - 1].first_time : 0;
	uint32_t i = 0;
	while (host && i < host->end_count && host->ends[i] < from)
		i++;
	return host && i < host->end_count ? host->ends[i] : 0;
}

/*
 * Until when a thread lived that does not say when it ended, and whose records are all here. Where
 * the program ENDED, or its thread did, that is when it last lost its processor. One that had one
 * then, and of whose end nothing tells, has started another program.
 */
static void give_until(
    struct tp_thread *thread, const struct tp_sched_thread *host, uint64_t end, bool lived)
{
	if (thread->ended || thread->cut || thread->unwritten.chunks)
		return;
	const bool lost_it = host && host->end != UINT64_MAX;
	const uint64_t known = end_behind(thread, host);
	if (known && known < end)
		thread->until = known;
	else if (lost_it && host->end < end && (!lived || thread->cpu_is_exact))
		thread->until = host->end;
	else if (!host || lost_it || lived)
		thread->until = end;
}

static int compare_tids(const void *a, const void *b)
{
	const struct tp_thread *x = *(struct tp_thread *const *)a;
	const struct tp_thread *y = *(struct tp_thread *const *)b;
	const int order = TP_COMPARE(x->os_tid, y->os_tid);
	return order ? order : TP_COMPARE(x->number, y->number);
}

// The system may have given a thread's number to a later one: when it ended itself may not be
// known.
static void forget_reused(struct loader *loader)
{
	struct tp_tracefile *trace = loader->trace;
	struct tp_thread **order = calloc(trace->thread_count + (size_t)1, sizeof(*order));
	if (!order) {
		fail(loader);
		return;
	}
	for (uint32_t i = 0; i < trace->thread_count; i++)
		order[i] = &trace->threads[i];
	qsort(order, trace->thread_count, sizeof(*order), compare_tids);
	for (uint32_t i = 1; i < trace->thread_count; i++)
		if (order[i - 1]->os_tid == order[i]->os_tid && order[i - 1]->until)
			order[i - 1]->until = end_behind(
			    order[i - 1], tp_sched_find(&trace->sched, order[i]->os_tid));
	free(order);
}

/*
 * When each thread had no processor. Ids of another machine, or of a library OS, would be taken for
 * those of the host's threads: there, nothing is known, unless times tell which of the host's
 * threads it was.
 */
static int give_sched(struct loader *loader)
{
	struct tp_tracefile *trace = loader->trace;
	char ids[16];
	const bool lived = !trace->has_end || trace->end.exit_kind == TEEPERF_EXIT_UNKNOWN;
	const uint64_t end = end_of_recording(trace);
	const int code = tp_sched_read_finish(
	    &trace->sched, &trace->clock, trace->points, lived ? end : 0, &trace->arena);
	if (code)
		return tp_err_memory(loader->err, trace->source.name);
	if (tp_tracefile_host(trace, "ids", ids, sizeof(ids))) {
		const int found =
		    strcmp(ids, "virtual") ? 0 : tp_host_threads_find(trace, loader->err);
		for (uint32_t i = 0; i < trace->thread_count; i++)
			give_until(&trace->threads[i], NULL, end, false);
		return found;
	}
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		struct tp_thread *thread = &trace->threads[i];
		const struct tp_sched_thread *host = tp_sched_find(&trace->sched, thread->os_tid);
		thread->host_tid = thread->os_tid;
		thread->off = host ? &host->off : NULL;
		give_until(thread, host, end, lived);
	}
	forget_reused(loader);
	return loader->code;
}

// Behind "KEY=" in the host section, up to the end of the line; NULL: it is not there.
static const char *host_value(const struct tp_tracefile *trace, const char *key)
{
	const size_t length = strlen(key);
	for (const char *line = trace->host; line && *line;) {
		const size_t end = strcspn(line, "\n");
		if (end > length && strncmp(line, key, length) == 0 && line[length] == '=')
			return line + length + 1;
		line += end + (line[end] == '\n');
	}
	return NULL;
}

struct attached {
	uint64_t tid;
	bool given;
};

static int compare_attached(const void *a, const void *b)
{
	return TP_COMPARE(((const struct attached *)a)->tid, ((const struct attached *)b)->tid);
}

// Which threads were there when the recorder attached. An id may be given to another thread later,
// which has a higher number.
static void give_attached(struct loader *loader)
{
	struct tp_tracefile *trace = loader->trace;
	const char *text = host_value(trace, "attached");
	const size_t length = text ? strcspn(text, "\n") : 0;
	struct attached *list = calloc(length / 2 + 1, sizeof(*list));
	size_t count = 0;
	char *end;
	for (const char *at = text; list && at && at < text + length; at = end + (*end == ',')) {
		const uint64_t tid = strtoull(at, &end, 10);
		if (end == at || (*end != ',' && end != text + length))
			break;
		list[count++].tid = tid;
	}
	if (list)
		qsort(list, count, sizeof(*list), compare_attached);
	else
		fail(loader);
	for (uint32_t i = 0; count && i < trace->thread_count; i++) {
		const struct attached key = {.tid = trace->threads[i].os_tid};
		struct attached *found =
		    bsearch(&key, list, count, sizeof(*list), compare_attached);
		trace->threads[i].attached = key.tid && found && !found->given;
		if (found)
			found->given = true;
	}
	free(list);
}

// Both are sorted by number, or should be: an entry that comes too late is not found.
static void give_cpu(struct tp_tracefile *trace)
{
	const struct tp_section_parts *kept = &trace->kept[TEEPERF_SECTION_CPU];
	const struct teeperf_trace_cpu_thread *cpu = kept->items;
	uint32_t at = 0;
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		struct tp_thread *thread = &trace->threads[i];
		while (at < kept->count && cpu[at].thread < thread->number)
			at++;
		if (at == kept->count || cpu[at].thread != thread->number)
			continue;
		thread->has_cpu = cpu[at].flags & (TEEPERF_CPU_EXACT | TEEPERF_CPU_AT_LEAST);
		thread->cpu_is_exact = cpu[at].flags & TEEPERF_CPU_EXACT;
		thread->cpu_ns = cpu[at].cpu_ns;
		thread->has_delay = cpu[at].flags & TEEPERF_CPU_DELAY;
		thread->delay_ns = cpu[at].delay_ns;
	}
}

// Sections that are in memory, and whole: ours.
static void add_more(struct loader *loader)
{
	const struct tp_source *source = &loader->trace->source;
	for (uint64_t at = 0; !loader->code && at < source->more_size;) {
		struct tp_section section = {
		    .offset = TP_SOURCE_MORE + at,
		    .payload = source->more + at + sizeof(section.header),
		};
		memcpy(&section.header, source->more + at, sizeof(section.header));
		add_section(loader, &section);
		at += sizeof(section.header) + (section.header.size + 7) / 8 * 8;
	}
}

int tp_tracefile_load(struct tp_tracefile *trace, struct tp_err *err)
{
	struct loader loader = {.trace = trace, .err = err};
	struct tp_reader reader;
	struct tp_section section;
	int code = tp_reader_init(&reader, &trace->source, &trace->problems, err);
	if (!code)
		trace->header = reader.header;
	reader.skims = trace->defers;
	while (!code && (code = tp_reader_next(&reader, &section, err)) > 0) {
		add_section(&loader, &section);
		code = loader.code;
	}
	if (!code) {
		add_more(&loader);
		code = loader.code;
	}
	give_kept(trace);
	if (!code && trace->selections.count) {
		drop_gaps_of_selections(&loader);
		give_windows(&loader);
		code = loader.code;
	}
	if (code)
		goto out;
	char mode[8];
	trace->rings = trace->has_end ? trace->end.mode == TEEPERF_MODE_RING
				      : tp_tracefile_host(trace, "mode", mode, sizeof(mode)) &&
					    !strcmp(mode, "ring");
	const struct tp_section_parts *threads = &trace->kept[TEEPERF_SECTION_THREADS];
	code = tp_verify_threads(trace, threads->items, threads->count, err);
	if (!code && trace->defers)
		code = tp_chunk_checks_make(trace, err);
	if (code)
		goto out;
	give_attached(&loader);
	give_cpu(trace);
	code = loader.code ? loader.code : give_sched(&loader);
	if (code)
		goto out;
	tp_verify_end(trace, reader.stopped);
	if (tp_module_map_init(&trace->map, trace->modules, trace->module_count, trace->source.name,
		&trace->problems, &trace->arena)) {
		fail(&loader);
		code = loader.code;
	}
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
	tp_sched_read_release(&trace->sched);
	free(trace->chunks);
	free(trace->threads);
	free(trace->checks);
	trace->checks = NULL;
	tp_system_release(&trace->system);
	trace->chunks = NULL;
	trace->threads = NULL;
}

bool tp_tracefile_host(const struct tp_tracefile *trace, const char *key, char *value, size_t size)
{
	const char *found = host_value(trace, key);
	if (!found)
		return false;
	const size_t left = strcspn(found, "\n");
	const size_t kept = left < size ? left : size - 1;
	memcpy(value, found, kept);
	value[kept] = '\0';
	tp_clean(value, kept);
	return true;
}

const char *tp_tracefile_program(const struct tp_tracefile *trace)
{
	const char *path = trace->arguments ? trace->arguments[0] : NULL;
	if (!path || !*path)
		return "program";
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}
