// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text as a trace: one line at a time, a section being written when the next one begins.
#include "dump_text.h"

#include "analyzer/trace/text/line.h"
#include "analyzer/trace/timebase.h"
#include "analyzer/trace/section.h"
#include "common/arena.h"
#include "common/chunks/chunk_codec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/trace.h>

struct named {
	struct named *next;
	const char *name;
	uint64_t value;
};

struct assembler {
	struct tp_buf *out;
	struct tp_line line;
	struct tp_arena arena;
	bool begun;           // the file header has been written
	uint32_t type;        // of the section that is open, 0: none
	struct tp_buf body;   // its payload
	struct named *names;  // functions, by symbol lines
	struct named *labels; // positions, by @label behind a record
	uint32_t chunk_shift;
	uint64_t chunk_count;
	struct teeperf_chunk chunk; // header of the open chunk
	uint64_t high;              // upper half of the time in it
	int level;                  // to pack it with, 0: not at all
};

// Put the packed chunk in place of the chunk in the body, if it is smaller.
static void pack_body(struct assembler *as)
{
	struct tp_packer packer;
	if (tp_packer_init(&packer, as->body.size, as->level, NULL)) {
		as->out->failed = true;
		return;
	}
	const uint64_t size = tp_packer_pack(&packer, (const void *)as->body.data);
	if (size) {
		tp_buf_reset(&as->body);
		tp_buf_add(&as->body, packer.packed, size);
		as->type = TEEPERF_SECTION_PACKED;
	}
	tp_packer_release(&packer);
}

static void close_section(struct assembler *as)
{
	if (!as->type)
		return;
	// The body is shorter than its header if memory ran out.
	if (as->type == TEEPERF_SECTION_CHUNK && as->body.size >= sizeof(as->chunk)) {
		as->chunk.used = as->body.size;
		memcpy(as->body.data, &as->chunk, sizeof(as->chunk));
		if (as->level && !as->body.failed)
			pack_body(as);
	}
	tp_trace_section_add(as->out, as->type, as->body.data, as->body.size);
	if (as->body.failed)
		as->out->failed = true;
	tp_buf_reset(&as->body);
	as->type = 0;
}

static void add_file_header(struct assembler *as, const struct teeperf_trace_header *header)
{
	tp_buf_add(as->out, header, sizeof(*header));
	as->chunk_shift = header->chunk_shift;
	as->begun = true;
}

static struct teeperf_trace_header default_header(void)
{
	return (struct teeperf_trace_header){
	    .magic = TEEPERF_TRACE_MAGIC,
	    .major = TEEPERF_TRACE_MAJOR,
	    .oldest_major = TEEPERF_TRACE_OLDEST_MAJOR,
	    .minor = TEEPERF_TRACE_MINOR,
	    .header_size = sizeof(struct teeperf_trace_header),
	    .chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT,
	};
}

static void open_section(struct assembler *as, uint32_t type)
{
	close_section(as);
	if (!as->begun) {
		const struct teeperf_trace_header header = default_header();
		add_file_header(as, &header);
	}
	as->type = type;
}

static const struct named *find(const struct named *list, const char *name)
{
	while (list && strcmp(list->name, name) != 0)
		list = list->next;
	return list;
}

static void define(struct assembler *as, struct named **list, const char *name, uint64_t value)
{
	struct named *entry = tp_arena_alloc(&as->arena, sizeof(*entry));
	const char *copy = tp_arena_copy(&as->arena, name, strlen(name));
	if (!entry || !copy) {
		as->out->failed = true;
		return;
	}
	*entry = (struct named){.next = *list, .name = copy, .value = value};
	*list = entry;
}

static void do_trace(struct assembler *as)
{
	struct tp_line *line = &as->line;
	struct teeperf_trace_header header = default_header();
	if (as->begun)
		tp_line_fail(line, "'trace' has to be the first line");
	header.major = (uint16_t)tp_line_option(line, "major", header.major, UINT16_MAX);
	header.oldest_major =
	    (uint16_t)tp_line_option(line, "oldest-major", header.oldest_major, UINT16_MAX);
	header.minor = (uint16_t)tp_line_option(line, "minor", header.minor, UINT16_MAX);
	header.chunk_shift =
	    (uint32_t)tp_line_option(line, "chunk-shift", header.chunk_shift, UINT32_MAX);
	header.machine = (uint32_t)tp_line_option(line, "machine", 0, UINT32_MAX);
	header.created_unix_ns = tp_line_option(line, "created", 0, UINT64_MAX);
	add_file_header(as, &header);
}

static void do_chunk(struct assembler *as)
{
	struct tp_line *line = &as->line;
	open_section(as, TEEPERF_SECTION_CHUNK);
	as->chunk = (struct teeperf_chunk){
	    .thread = (uint32_t)tp_line_option(line, "thread", 0, UINT32_MAX),
	    .sequence = tp_line_option(line, "sequence", 0, UINT64_MAX),
	};
	as->chunk.os_tid = tp_line_option(line, "tid", as->chunk.thread + UINT64_C(1), UINT64_MAX);
	as->chunk.home = tp_line_option(line, "home", 0, UINT64_MAX);
	as->chunk.first_time = tp_line_option(line, "time", 0, UINT64_MAX);
	as->level = (int)tp_line_option(line, "packed", 0, TP_PACKER_LEVEL_MAX);
	as->high = as->chunk.first_time >> 32;
	as->chunk_count++;
	tp_buf_add(&as->body, &as->chunk, sizeof(as->chunk));
}

static void do_clock(struct assembler *as)
{
	struct tp_line *line = &as->line;
	struct teeperf_trace_clock clock = {0};
	const char *kind = tp_line_option_word(line, "kind", "tsc");
	while (strcmp(tp_timebase_clock_name(clock.kind), kind) != 0)
		if (clock.kind++ > TEEPERF_CLOCK_SOFT_COUNT) {
			tp_line_fail(line, "there is no clock '%s'", kind);
			break;
		}
	open_section(as, TEEPERF_SECTION_CLOCK);
	clock.hz = tp_line_option(line, "hz", 0, UINT64_MAX);
	clock.stores = tp_line_option(line, "stores", 0, UINT64_MAX);
	clock.max_gap_ns = tp_line_option(line, "max-gap", 0, UINT64_MAX);
	clock.starved_ns = tp_line_option(line, "starved", 0, UINT64_MAX);
	clock.period_ns = tp_line_option(line, "period", 0, UINT64_MAX);
	tp_buf_add(&as->body, &clock, sizeof(clock));
}

static void do_cpu(struct assembler *as)
{
	struct tp_line *line = &as->line;
	open_section(as, TEEPERF_SECTION_CPU);
	const struct teeperf_trace_cpu cpu = {
	    .cpu_ns = tp_line_option(line, "ns", 0, UINT64_MAX),
	    .wall_ns = tp_line_option(line, "wall", 0, UINT64_MAX),
	    .flags = (uint32_t)tp_line_option(line, "flags", TEEPERF_CPU_EXACT, UINT32_MAX),
	};
	tp_buf_add(&as->body, &cpu, sizeof(cpu));
}

// of-thread NUMBER [ns=N] [delay=N] [flags=N]
static void do_cpu_thread(struct assembler *as)
{
	struct tp_line *line = &as->line;
	const struct teeperf_trace_cpu_thread thread = {
	    .thread = (uint32_t)tp_line_number(line, UINT32_MAX),
	    .cpu_ns = tp_line_option(line, "ns", 0, UINT64_MAX),
	    .delay_ns = tp_line_option(line, "delay", 0, UINT64_MAX),
	    .flags = (uint32_t)tp_line_option(
		line, "flags", TEEPERF_CPU_EXACT | TEEPERF_CPU_DELAY, UINT32_MAX),
	};
	tp_buf_add(&as->body, &thread, sizeof(thread));
	struct teeperf_trace_cpu *cpu = (void *)as->body.data;
	if (!as->body.failed)
		cpu->thread_count++;
}

static void do_end(struct assembler *as)
{
	struct tp_line *line = &as->line;
	open_section(as, TEEPERF_SECTION_END);
	const struct teeperf_trace_end end = {
	    .exit_kind = (uint32_t)tp_line_option(line, "exit-kind", TEEPERF_EXIT_CODE, UINT32_MAX),
	    .exit_value = (uint32_t)tp_line_option(line, "exit-value", 0, UINT32_MAX),
	    .start_ns = tp_line_option(line, "start", 0, UINT64_MAX),
	    .end_ns = tp_line_option(line, "end", 0, UINT64_MAX),
	    .chunk_count = tp_line_option(line, "chunks", as->chunk_count, UINT64_MAX),
	    .chunk_draws = tp_line_option(line, "chunk-draws", as->chunk_count, UINT64_MAX),
	    .lost_early = tp_line_option(line, "lost-early", 0, UINT64_MAX),
	    .lost_overflow = tp_line_option(line, "lost-overflow", 0, UINT64_MAX),
	    .refused = tp_line_option(line, "refused", 0, UINT64_MAX),
	    .log_bytes = tp_line_option(line, "log-bytes", 0, UINT64_MAX),
	    .mode = (uint32_t)tp_line_option(line, "mode", TEEPERF_MODE_STREAM, UINT32_MAX),
	    .attach = (uint32_t)tp_line_option(line, "attach", TEEPERF_ATTACH_DONE, UINT32_MAX),
	    .module_count = tp_line_option(line, "modules", 0, UINT64_MAX),
	    .thread_count = tp_line_option(line, "threads", 0, UINT64_MAX),
	    .forked = tp_line_option(line, "forked", 0, UINT64_MAX),
	    .missing_chunks = (uint32_t)tp_line_option(line, "missing-chunks", 0, UINT32_MAX),
	    .unwritten = (uint32_t)tp_line_option(line, "unwritten", 0, UINT32_MAX),
	    .missing_events = tp_line_option(line, "missing-events", 0, UINT64_MAX),
	    .missing_calls = tp_line_option(line, "missing-calls", 0, UINT64_MAX),
	};
	tp_buf_add(&as->body, &end, sizeof(end));
}

// thread N [chunks=N] [events=N] [calls=N]: what it lacks
static void do_missing(struct assembler *as)
{
	struct tp_line *line = &as->line;
	const struct teeperf_trace_missing missing = {
	    .thread = (uint32_t)tp_line_number(line, UINT32_MAX),
	    .chunks = tp_line_option(line, "chunks", 0, UINT64_MAX),
	    .events = tp_line_option(line, "events", 0, UINT64_MAX),
	    .calls = tp_line_option(line, "calls", 0, UINT64_MAX),
	};
	tp_buf_add(&as->body, &missing, sizeof(missing));
}

static void do_module(struct assembler *as)
{
	struct tp_line *line = &as->line;
	struct teeperf_module module = {
	    .bias = tp_line_option(line, "bias", 0, UINT64_MAX),
	    .start = tp_line_option(line, "start", 0, UINT64_MAX),
	    .end = tp_line_option(line, "end", 0, UINT64_MAX),
	    .anchor = tp_line_option(line, "anchor", 0, UINT64_MAX),
	    .loaded = tp_line_option(line, "loaded", 0, UINT64_MAX),
	    .unloaded = tp_line_option(line, "unloaded", 0, UINT64_MAX),
	    .flags = (uint32_t)tp_line_option(line, "flags", 0, UINT32_MAX),
	    .code_offset = (uint32_t)tp_line_option(line, "code", 0, UINT32_MAX),
	    .code_size = (uint32_t)tp_line_option(line, "code-size", 0, UINT32_MAX),
	    .code_hash = tp_line_option(line, "code-hash", 0, UINT64_MAX),
	};
	const char *id = tp_line_option_word(line, "build-id", "");
	module.build_id_size = tp_line_hex(line, id, module.build_id, sizeof(module.build_id));
	id = tp_line_option_word(line, "uuid", "");
	tp_line_hex(line, id, module.uuid, sizeof(module.uuid));
	tp_line_option_string(line, "path", module.path, sizeof(module.path));
	tp_buf_add(&as->body, &module, sizeof(module));
}

static void do_thread(struct assembler *as)
{
	struct tp_line *line = &as->line;
	struct teeperf_thread thread = {
	    .os_tid = tp_line_option(line, "tid", 1, UINT64_MAX),
	    .lost = tp_line_option(line, "lost", 0, UINT64_MAX),
	    .chunks = tp_line_option(line, "chunks", 0, UINT64_MAX),
	    .ended = tp_line_option(line, "ended", 1, UINT64_MAX),
	    .first = tp_line_option(line, "first", 0, UINT64_MAX),
	    .cpu_ns = tp_line_option(line, "cpu", 0, UINT64_MAX),
	};
	tp_line_option_string(line, "name", thread.name, sizeof(thread.name));
	tp_buf_add(&as->body, &thread, sizeof(thread));
}

// symbol ADDRESS NAME [file="FILE"] [line=N] [size=N]: a line of the section, and a name for records
static void do_symbol(struct assembler *as)
{
	struct tp_line *line = &as->line;
	char name[1024] = "";
	char file[1024] = "";
	const uint64_t address = tp_line_number(line, UINT64_MAX);
	tp_line_word_or_string(line, name, sizeof(name));
	tp_line_option_string(line, "file", file, sizeof(file));
	const uint64_t number = tp_line_option(line, "line", 0, UINT64_MAX);
	const uint64_t size = tp_line_option(line, "size", 16, UINT64_MAX);
	tp_buf_addf(&as->body, "%" PRIx64 "\t%" PRIx64 "\t%s\t%s\t%" PRIu64 "\n", address, size,
	    name, file, number);
	define(as, &as->names, name, address);
}

// The word of a function: an address up to MAX, or the name of a symbol.
static uint64_t function_address(struct assembler *as, uint64_t max)
{
	const char *word = tp_line_word(&as->line);
	const struct named *named = find(as->names, word);
	uint64_t value = 0;
	if (named)
		value = named->value;
	else if (!tp_line_parse(word, max, &value))
		tp_line_fail(&as->line, "'%s' is neither an address nor a symbol's name", word);
	return value;
}

static uint32_t function_name(struct assembler *as)
{
	const uint64_t value = function_address(as, UINT32_MAX);
	if (value & TEEPERF_KIND_MASK || (uint32_t)value < TEEPERF_NAME_FIRST)
		tp_line_fail(&as->line, "a function is at a multiple of 4, from 4096 on");
	return (uint32_t)value;
}

static void add_word(struct assembler *as, uint64_t low, uint64_t high)
{
	const uint64_t word = (low & UINT32_MAX) | high << 32;
	tp_buf_add(&as->body, &word, sizeof(word));
}

static void set_time(struct assembler *as, uint64_t time)
{
	if (time >> 32 == as->high)
		return;
	as->high = time >> 32;
	add_word(as, as->high, TEEPERF_CONTROL_SYNC);
}

// TIME call-out|call-in|return-out|return-in; false: it is something else.
static bool do_border(struct assembler *as, const char *word, uint64_t time)
{
	static const char *const borders[] = {"call-out", "call-in", "return-out", "return-in"};
	for (uint32_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++) {
		if (strcmp(borders[i], word) != 0)
			continue;
		set_time(as, time);
		add_word(as, time, TEEPERF_CONTROL_CALL_OUT + i);
		return true;
	}
	return false;
}

// TIME enter|exit|resync|leave FUNCTION [POSITION] [@label], or a border
static void do_timed(struct assembler *as, uint64_t time)
{
	static const struct {
		const char *word;
		uint32_t kind;
		uint64_t flag; // of the position
	} kinds[] = {
	    {"enter", TEEPERF_KIND_ENTER, 0},
	    {"exit", TEEPERF_KIND_EXIT, 0},
	    {"resync", TEEPERF_KIND_RESYNC, 0},
	    {"leave", TEEPERF_KIND_RESYNC, TEEPERF_POSITION_LEAVES},
	};
	const size_t count = sizeof(kinds) / sizeof(kinds[0]);
	struct tp_line *line = &as->line;
	const char *word = tp_line_word(line);
	size_t i = 0;
	while (i < count && strcmp(kinds[i].word, word) != 0)
		i++;
	if (i == count && do_border(as, word, time))
		return;
	if (i == count) {
		tp_line_fail(line, "'%s' is none of enter, exit, resync, leave", word);
		return;
	}
	const uint32_t kind = kinds[i].kind;
	const uint32_t name = function_name(as);
	set_time(as, time);
	const uint64_t position = (as->chunk.sequence << (as->chunk_shift & 63)) + as->body.size;
	add_word(as, time, name | kind);
	if (kind == TEEPERF_KIND_RESYNC) {
		const char *to = tp_line_word(line);
		const struct named *label = find(as->labels, to);
		uint64_t value = label ? label->value : 0;
		if (!label && !tp_line_parse(to, UINT64_MAX, &value))
			tp_line_fail(line, "'%s' is neither a position nor a label", to);
		value |= kinds[i].flag;
		tp_buf_add(&as->body, &value, sizeof(value));
	}
	const char *label = tp_line_peek(line);
	if (label && label[0] == '@')
		define(as, &as->labels, tp_line_word(line), position);
}

static void do_record(struct assembler *as, const char *word)
{
	struct tp_line *line = &as->line;
	uint64_t value;
	if (tp_line_parse(word, UINT64_MAX, &value)) {
		do_timed(as, value);
	} else if (strcmp(word, "exit") == 0) {
		add_word(as, 0, function_name(as) | TEEPERF_KIND_UNTIMED);
	} else if (strcmp(word, "counts") == 0) {
		add_word(as, tp_line_number(line, UINT32_MAX), TEEPERF_CONTROL_COUNTS);
	} else if (strcmp(word, "count") == 0 || strcmp(word, "sampled") == 0) {
		const uint64_t mark = *word == 's' ? TEEPERF_COUNTS_SAMPLED : 0;
		const uint64_t address = function_address(as, UINT64_MAX) | mark;
		value = tp_line_number(line, UINT64_MAX);
		tp_buf_add(&as->body, &address, sizeof(address));
		tp_buf_add(&as->body, &value, sizeof(value));
	} else if (strcmp(word, "sync") == 0) {
		as->high = tp_line_number(line, UINT32_MAX);
		add_word(as, as->high, TEEPERF_CONTROL_SYNC);
	} else if (strcmp(word, "fork") == 0) {
		add_word(as, tp_line_number(line, UINT32_MAX), TEEPERF_CONTROL_FORK);
	} else if (strcmp(word, "lost") == 0) {
		add_word(as, tp_line_number(line, UINT32_MAX), TEEPERF_CONTROL_LOST);
	} else if (strcmp(word, "left") == 0) {
		add_word(as, tp_line_number(line, UINT32_MAX), TEEPERF_CONTROL_LEFT);
	} else if (strcmp(word, "crossing") == 0) {
		add_word(as, tp_line_number(line, UINT32_MAX), TEEPERF_CONTROL_CROSSING);
	} else if (strcmp(word, "of-module") == 0) {
		add_word(as, tp_line_number(line, UINT32_MAX), TEEPERF_CONTROL_MODULE);
	} else if (strcmp(word, "pad") == 0) {
		add_word(as, 0, TEEPERF_CONTROL_PAD);
	} else if (strcmp(word, "thread-end") == 0) {
		add_word(as, 0, TEEPERF_CONTROL_THREAD_END);
	} else if (strcmp(word, "empty") == 0) {
		add_word(as, 0, TEEPERF_CONTROL_EMPTY);
	} else if (strcmp(word, "word") == 0) {
		value = tp_line_number(line, UINT64_MAX);
		tp_buf_add(&as->body, &value, sizeof(value));
		if (value >> 32 == TEEPERF_CONTROL_SYNC)
			as->high = value & UINT32_MAX;
	} else {
		tp_line_fail(line, "'%s' is not a record", word);
	}
}

// on TICKS, off TICKS
static void do_switch(struct assembler *as, bool on)
{
	const uint64_t word = tp_line_number(&as->line, UINT64_MAX >> 1) << 1 | on;
	tp_buf_add(&as->body, &word, sizeof(word));
}

// string "..." and line "...": the bytes, and what ends them.
static void do_string(struct assembler *as, char end)
{
	tp_line_string(&as->line, &as->body);
	tp_buf_add_char(&as->body, end);
}

static void do_bytes(struct assembler *as)
{
	close_section(as);
	as->begun = true;
	uint8_t data[256];
	const char *hex = tp_line_peek(&as->line) ? tp_line_word(&as->line) : "";
	tp_buf_add(as->out, data, tp_line_hex(&as->line, hex, data, sizeof(data)));
}

static void do_line(struct assembler *as)
{
	static const struct {
		const char *word;
		uint32_t type;
	} openers[] = {
	    {"modules", TEEPERF_SECTION_MODULES},
	    {"threads", TEEPERF_SECTION_THREADS},
	    {"command", TEEPERF_SECTION_COMMAND},
	    {"host", TEEPERF_SECTION_HOST},
	    {"symbols", TEEPERF_SECTION_SYMBOLS},
	    {"switches", TEEPERF_SECTION_SWITCHES},
	    {"missing", TEEPERF_SECTION_MISSING},
	};
	struct tp_line *line = &as->line;
	if (!tp_line_peek(line))
		return;
	const char *word = tp_line_word(line);
	for (size_t i = 0; i < sizeof(openers) / sizeof(openers[0]); i++)
		if (strcmp(word, openers[i].word) == 0) {
			open_section(as, openers[i].type);
			return;
		}
	const uint32_t type = as->type;
	if (strcmp(word, "trace") == 0)
		do_trace(as);
	else if (strcmp(word, "chunk") == 0)
		do_chunk(as);
	else if (strcmp(word, "clock") == 0)
		do_clock(as);
	else if (strcmp(word, "end") == 0)
		do_end(as);
	else if (strcmp(word, "cpu") == 0)
		do_cpu(as);
	else if (strcmp(word, "bytes") == 0)
		do_bytes(as);
	else if (type == TEEPERF_SECTION_CHUNK)
		do_record(as, word);
	else if (type == TEEPERF_SECTION_MODULES && strcmp(word, "module") == 0)
		do_module(as);
	else if (type == TEEPERF_SECTION_THREADS && strcmp(word, "thread") == 0)
		do_thread(as);
	else if (type == TEEPERF_SECTION_CPU && strcmp(word, "of-thread") == 0)
		do_cpu_thread(as);
	else if (type == TEEPERF_SECTION_MISSING && strcmp(word, "thread") == 0)
		do_missing(as);
	else if (type == TEEPERF_SECTION_SYMBOLS && strcmp(word, "symbol") == 0)
		do_symbol(as);
	else if (type == TEEPERF_SECTION_SWITCHES &&
		 (strcmp(word, "on") == 0 || strcmp(word, "off") == 0))
		do_switch(as, word[1] == 'n');
	else if (type == TEEPERF_SECTION_COMMAND && strcmp(word, "string") == 0)
		do_string(as, '\0');
	else if ((type == TEEPERF_SECTION_HOST || type == TEEPERF_SECTION_SYMBOLS) &&
		 strcmp(word, "line") == 0)
		do_string(as, '\n');
	else if (type == TEEPERF_SECTION_CLOCK && strcmp(word, "point") == 0) {
		uint64_t point[2];
		point[0] = tp_line_number(line, UINT64_MAX);
		point[1] = tp_line_number(line, UINT64_MAX);
		tp_buf_add(&as->body, point, sizeof(point));
		struct teeperf_trace_clock *clock = (void *)as->body.data;
		if (!as->body.failed)
			clock->point_count++;
	} else
		tp_line_fail(line, "'%s' does not belong here", word);
}

int tp_dump_assemble(
    const char *text, size_t size, const char *file, struct tp_buf *out, struct tp_err *err)
{
	struct assembler as = {.out = out, .chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT};
	tp_buf_init(&as.body);
	tp_arena_init(&as.arena);
	tp_line_init(&as.line, file, err);
	while (as.line.code == 0 && !out->failed && !as.body.failed &&
	       tp_line_next(&as.line, &text, &size)) {
		do_line(&as);
		tp_line_finish(&as.line);
	}
	if (as.line.code == 0 && !as.begun && !as.body.failed)
		open_section(&as, 0);
	close_section(&as);
	int code = as.line.code;
	if (!code && (out->failed || as.line.failed))
		code = tp_err_set(err, TP_ERR_MEMORY, file, TP_ERR_NO_OFFSET,
		    "out of memory while the text was assembled");
	tp_line_release(&as.line);
	tp_arena_release(&as.arena);
	tp_buf_release(&as.body);
	return code;
}
