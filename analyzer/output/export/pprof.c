// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "pprof": a profile of github.com/google/pprof, profile.proto, whose numbers of fields
// these are.
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/gzip.h"
#include "analyzer/output/format/path_sums.h"
#include "analyzer/output/format/protobuf.h"
#include "analyzer/output/view.h"
#include "common/varint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5,
};

// Strings that are used everywhere, by their number in the profile's table.
enum {
	STRING_EMPTY,
	STRING_CALLS,
	STRING_COUNT,
	STRING_TIME,
	STRING_TIME_UNIT,
	STRING_THREAD,
	STRING_TID,
	STRING_PATH,
	STRING_COUNTED,
	STRINGS
};

#define COMMENTED_THREADS 32

struct writer {
	const struct tp_analysis *analysis;
	const struct tp_path_sums *sums;
	struct tp_buf *out;
	uint64_t strings;      // so far
	struct tp_buf message; // being made
	struct tp_buf part;    // of it
};

static uint64_t add_string(struct writer *writer, const char *text)
{
	tp_protobuf_add_text(writer->out, PROFILE_STRING, text);
	return writer->strings++;
}

static void add_fixed_strings(struct writer *writer)
{
	static const char *const texts[STRINGS] = {
	    [STRING_EMPTY] = "",
	    [STRING_CALLS] = "calls",
	    [STRING_COUNT] = "count",
	    [STRING_TIME] = "time",
	    [STRING_THREAD] = "thread",
	    [STRING_TID] = "tid",
	    [STRING_PATH] = "path",
	    [STRING_COUNTED] = "unknown: only counted",
	};
	for (int i = 0; i < STRINGS; i++)
		add_string(writer, texts[i]                       ? texts[i]
				   : writer->analysis->time.known ? "nanoseconds"
								  : "ticks");
}

static void add_type(struct writer *writer, uint32_t field, uint64_t type, uint64_t unit)
{
	tp_protobuf_add_number(&writer->message, TYPE_TYPE, type);
	tp_protobuf_add_number(&writer->message, TYPE_UNIT, unit);
	tp_protobuf_add_part(writer->out, field, &writer->message);
}

static void add_head(struct writer *writer, enum tp_weight weight)
{
	const struct tp_analysis *analysis = writer->analysis;
	add_type(writer, PROFILE_SAMPLE_TYPE, STRING_CALLS, STRING_COUNT);
	if (!analysis->timeless) {
		add_type(writer, PROFILE_SAMPLE_TYPE, STRING_TIME, STRING_TIME_UNIT);
		add_type(writer, PROFILE_PERIOD_TYPE, STRING_TIME, STRING_TIME_UNIT);
	} else {
		add_type(writer, PROFILE_PERIOD_TYPE, STRING_CALLS, STRING_COUNT);
	}
	tp_protobuf_add_number(writer->out, PROFILE_PERIOD, 1);
	tp_protobuf_add_number(writer->out, PROFILE_DEFAULT_SAMPLE_TYPE,
	    weight == TP_WEIGHT_CALLS ? STRING_CALLS : STRING_TIME);
	tp_protobuf_add_number(
	    writer->out, PROFILE_TIME_NANOS, analysis->trace->header.created_unix_ns);
	if (analysis->time.known || analysis->trace->has_end)
		tp_protobuf_add_number(
		    writer->out, PROFILE_DURATION_NANOS, tp_analysis_duration_ns(analysis));
}

// What stands above a view, line by line: clock, losses, compensation.
static void add_comments(struct writer *writer)
{
	struct tp_buf text;
	tp_buf_init(&text);
	tp_view_add_header(writer->analysis, false, &text);
	if (text.failed)
		writer->out->failed = true;
	for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (*line)
			tp_protobuf_add_number(
			    writer->out, PROFILE_COMMENT, add_string(writer, line));
	}
	tp_buf_release(&text);
}

// Who the threads are that labels have the numbers of; viewers show comments above everything.
static void add_thread_comments(struct writer *writer)
{
	const struct tp_analysis *analysis = writer->analysis;
	const bool some = analysis->thread_count > 1 && analysis->thread_count <= COMMENTED_THREADS;
	for (uint32_t i = 0; some && i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		char text[128];
		snprintf(text, sizeof(text), "thread     %" PRIu32 ", tid %" PRIu64 ": %s",
		    thread->number, thread->os_tid, tp_view_thread_name(thread));
		tp_protobuf_add_number(writer->out, PROFILE_COMMENT, add_string(writer, text));
	}
}

// With the names in it no viewer needs to look for symbols.
static void add_mappings(struct writer *writer)
{
	const struct tp_module_map *map = &writer->analysis->trace->map;
	struct tp_buf *message = &writer->message;
	for (uint32_t i = 0; i < map->count; i++) {
		const struct teeperf_module *module = &map->modules[i];
		char build_id[2 * TEEPERF_BUILD_ID_SIZE + 1] = "";
		for (uint32_t j = 0; j < module->build_id_size && j < TEEPERF_BUILD_ID_SIZE; j++)
			snprintf(build_id + 2 * j, 3, "%02x", module->build_id[j]);
		tp_protobuf_add_number(message, MAPPING_ID, (uint64_t)i + 1);
		tp_protobuf_add_number(message, MAPPING_START, module->start);
		tp_protobuf_add_number(message, MAPPING_LIMIT, module->end);
		// All of the file, as one piece: the lowest address is that of its beginning.
		tp_protobuf_add_number(message, MAPPING_OFFSET, 0);
		tp_protobuf_add_number(message, MAPPING_FILE, add_string(writer, module->path));
		tp_protobuf_add_number(message, MAPPING_BUILD_ID, add_string(writer, build_id));
		tp_protobuf_add_number(message, MAPPING_HAS_FUNCTIONS, 1);
		tp_protobuf_add_number(message, MAPPING_HAS_FILES, 1);
		tp_protobuf_add_number(message, MAPPING_HAS_LINES, 1);
		tp_protobuf_add_part(writer->out, PROFILE_MAPPING, message);
	}
}

// A function and a location for each one, numbered alike.
static void add_functions(struct writer *writer)
{
	const struct tp_analysis *analysis = writer->analysis;
	struct tp_buf *message = &writer->message;
	const char *last = "";
	uint64_t file = STRING_EMPTY;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_symbol *symbol = &analysis->functions[i].symbol;
		const uint64_t id = (uint64_t)i + 1;
		// Functions in the order of their addresses are often of one file.
		if (strcmp(symbol->file, last) != 0) {
			last = symbol->file;
			file = *last ? add_string(writer, last) : STRING_EMPTY;
		}
		const uint64_t name = add_string(writer, symbol->name);
		const bool same = !symbol->linkage[0] || !strcmp(symbol->linkage, symbol->name);
		tp_protobuf_add_number(message, FUNCTION_ID, id);
		tp_protobuf_add_number(message, FUNCTION_NAME, name);
		tp_protobuf_add_number(message, FUNCTION_SYSTEM_NAME,
		    same ? name : add_string(writer, symbol->linkage));
		tp_protobuf_add_number(message, FUNCTION_FILE, file);
		tp_protobuf_add_number(message, FUNCTION_LINE, symbol->line);
		tp_protobuf_add_part(writer->out, PROFILE_FUNCTION, message);

		tp_protobuf_add_number(message, LOCATION_ID, id);
		if (symbol->place < analysis->trace->map.count)
			tp_protobuf_add_number(
			    message, LOCATION_MAPPING, (uint64_t)symbol->place + 1);
		tp_protobuf_add_number(message, LOCATION_ADDRESS,
		    tp_path_sums_address(analysis, &analysis->functions[i]));
		tp_protobuf_add_number(&writer->part, LINE_FUNCTION, id);
		tp_protobuf_add_number(&writer->part, LINE_LINE, symbol->line);
		tp_protobuf_add_part(message, LOCATION_LINE, &writer->part);
		tp_protobuf_add_part(writer->out, PROFILE_LOCATION, message);
	}
}

// FIELD: whether VALUE is a number or a string.
static void add_label(struct writer *writer, uint64_t key, uint32_t field, uint64_t value)
{
	tp_protobuf_add_number(&writer->part, LABEL_KEY, key);
	tp_protobuf_add_number(&writer->part, field, value);
	tp_protobuf_add_part(&writer->message, SAMPLE_LABEL, &writer->part);
}

static void add_values(struct writer *writer, uint64_t calls, uint64_t time)
{
	tp_varint_add(&writer->part, calls < INT64_MAX ? calls : INT64_MAX);
	if (!writer->analysis->timeless)
		tp_varint_add(&writer->part, time < INT64_MAX ? time : INT64_MAX);
	tp_protobuf_add_part(&writer->message, SAMPLE_VALUE, &writer->part);
}

static void add_sample(struct writer *writer, uint32_t row)
{
	const struct tp_path *paths = writer->sums->paths.items;
	const struct tp_path_row *at = &writer->sums->paths.rows[row];
	const struct tp_thread *thread = writer->analysis->threads[at->thread].thread;
	for (uint32_t path = at->path; path; path = paths[path].parent)
		tp_varint_add(&writer->part, (uint64_t)paths[path].function + 1);
	tp_protobuf_add_part(&writer->message, SAMPLE_LOCATION, &writer->part);
	add_values(writer, tp_path_sums_node(writer->analysis, at)->calls, writer->sums->self[row]);
	// One label and no unit: each doubles what a sample takes of a reader's memory (0.6 GB for
	// 500,000 samples without any). Readers take a number that is 0 for none.
	if (writer->analysis->thread_count > 1)
		add_label(writer, thread->os_tid ? STRING_TID : STRING_THREAD, LABEL_NUMBER,
		    thread->os_tid ? thread->os_tid : thread->number);
	tp_protobuf_add_part(writer->out, PROFILE_SAMPLE, &writer->message);
}

// Calls of which no path is known, as if nothing had called them.
static void add_counted(struct writer *writer)
{
	const struct tp_analysis *analysis = writer->analysis;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		if (!analysis->functions[i].counted)
			continue;
		tp_varint_add(&writer->part, (uint64_t)i + 1);
		tp_protobuf_add_part(&writer->message, SAMPLE_LOCATION, &writer->part);
		add_values(writer, analysis->functions[i].counted, 0);
		add_label(writer, STRING_PATH, LABEL_STRING, STRING_COUNTED);
		tp_protobuf_add_part(writer->out, PROFILE_SAMPLE, &writer->message);
	}
}

static void write_profile(struct writer *writer, enum tp_weight weight)
{
	const struct tp_path_sums *sums = writer->sums;
	add_fixed_strings(writer);
	add_head(writer, weight);
	add_comments(writer);
	add_thread_comments(writer);
	add_mappings(writer);
	add_functions(writer);
	for (uint32_t i = 0; i < sums->paths.row_count && !writer->out->failed; i++)
		if (sums->self[i] ||
		    tp_path_sums_node(writer->analysis, &sums->paths.rows[i])->calls)
			add_sample(writer, i);
	add_counted(writer);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_path_sums sums;
	struct tp_gzip gzip;
	int code = tp_path_sums_init(&sums, analysis, TP_WEIGHT_SELF, err);
	if (!code)
		code = tp_path_sums_check(&sums, analysis, err);
	if (code)
		goto out;
	code = tp_gzip_init(&gzip, out, err);
	struct writer writer = {.analysis = analysis, .sums = &sums, .out = &gzip.buf};
	tp_buf_init(&writer.message);
	tp_buf_init(&writer.part);
	if (!code)
		write_profile(&writer, options->weight);
	tp_gzip_finish(&gzip);
	tp_buf_release(&writer.message);
	tp_buf_release(&writer.part);
out:
	tp_path_sums_release(&sums);
	return code;
}

const struct tp_export tp_export_pprof = {
    .name = "pprof",
    .summary = "call paths with calls and self time, for pprof and other readers of its profiles",
    .suffix = ".pb.gz",
    .pushed = true,
    .render = render,
};
