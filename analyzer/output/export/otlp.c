// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The export "otlp": ProfilesData of OpenTelemetry, which is also the body of an OTLP request:
// opentelemetry-proto 1.11.0 (and 1.10.0; before, samples had other numbers),
// profiles/v1development/profiles.proto, whose numbers of fields these are. It is alpha.
#include "analyzer/output/format/export.h"
#include "analyzer/output/format/path_sums.h"
#include "analyzer/output/format/protobuf.h"
#include "analyzer/output/view.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/index.h"
#include "common/varint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>
#include <xxhash.h>

enum {
	DATA_RESOURCE_PROFILES = 1,
	DATA_DICTIONARY = 2,
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILES = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	ANY_STRING = 1,
	ANY_INT = 3,
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_ID = 7,
	PROFILE_ATTRIBUTES = 11,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4,
	MAPPING_START = 1,
	MAPPING_LIMIT = 2,
	MAPPING_OFFSET = 3,
	MAPPING_FILE = 4,
	MAPPING_ATTRIBUTES = 5,
	STACK_LOCATIONS = 1,
	LOCATION_MAPPING = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINES = 3,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,
	FUNCTION_FILE = 3,
	FUNCTION_LINE = 4,
};

// The strings of the dictionary, each once.
struct strings {
	struct tp_buf text;
	uint32_t *offsets; // of string number 1, 2, ... in it
	uint32_t count;
	uint32_t room;
	struct tp_index index;
};

struct writer {
	const struct tp_analysis *analysis;
	const struct tp_path_sums *sums;
	struct strings strings;
	struct tp_buf dictionary;
	uint64_t attributes; // so far
	uint64_t counted;    // the first stack of functions that were only counted
	uint64_t heading;    // the attribute that has what stands above a view
	uint64_t only_counted;
	struct tp_buf message; // being made
	struct tp_buf part;    // of it
	struct tp_buf value;   // of an attribute
};

// ---- strings

static uint64_t hash_text(const char *text)
{
	return tp_hash_number(tp_hash_string(TEEPERF_HASH_START, text));
}

static uint32_t hash_string(const void *context, uint32_t number)
{
	const struct strings *strings = context;
	return (uint32_t)hash_text(strings->text.data + strings->offsets[number - 1]);
}

// The number of TEXT. 0: it is empty, or there is no memory.
static uint64_t add_string(struct writer *writer, const char *text)
{
	struct strings *strings = &writer->strings;
	if (!*text)
		return 0;
	if (!tp_index_reserve(&strings->index, strings->count, hash_string, strings) ||
	    !TP_GROW(strings->offsets, strings->room, strings->count + UINT64_C(1))) {
		writer->dictionary.failed = true;
		return 0;
	}
	uint32_t *slot = tp_index_first(&strings->index, (uint32_t)hash_text(text));
	while (*slot && strcmp(strings->text.data + strings->offsets[*slot - 1], text) != 0)
		slot = tp_index_next(&strings->index, slot);
	if (!*slot) {
		strings->offsets[strings->count++] = (uint32_t)strings->text.size;
		tp_buf_add(&strings->text, text, strlen(text) + 1);
		writer->dictionary.failed |= strings->text.failed || strings->text.size > INT32_MAX;
		if (strings->text.failed) {
			strings->count--;
			return 0;
		}
		tp_protobuf_add_text(&writer->dictionary, DICTIONARY_STRING, text);
		*slot = strings->count;
	}
	return *slot;
}

// ---- the dictionary

// Item 0 of each table is empty and means "unknown".
static void add_zeroes(struct writer *writer)
{
	for (uint32_t table = DICTIONARY_MAPPING; table <= DICTIONARY_STACK; table++)
		tp_protobuf_add_bytes(&writer->dictionary, table, NULL, 0);
	writer->attributes = 1;
}

static void add_index(struct tp_buf *message, uint32_t field, uint64_t index)
{
	if (index)
		tp_protobuf_add_number(message, field, index);
}

// The value is in writer->value. Returns the number of the attribute.
static uint64_t add_attribute(struct writer *writer, const char *key)
{
	tp_protobuf_add_number(&writer->part, KEY_VALUE_KEY, add_string(writer, key));
	tp_protobuf_add_part(&writer->part, KEY_VALUE_VALUE, &writer->value);
	tp_protobuf_add_part(&writer->dictionary, DICTIONARY_ATTRIBUTE, &writer->part);
	return writer->attributes++;
}

static uint64_t add_text_attribute(struct writer *writer, const char *key, const char *text)
{
	tp_protobuf_add_text(&writer->value, ANY_STRING, text);
	return add_attribute(writer, key);
}

// Those of threads come first: 1 is that of thread 0.
static void add_threads(struct writer *writer)
{
	const struct tp_analysis *analysis = writer->analysis;
	for (uint32_t i = 0; analysis->thread_count > 1 && i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		tp_protobuf_add_number(
		    &writer->value, ANY_INT, thread->os_tid ? thread->os_tid : thread->number);
		add_attribute(writer, "thread.id");
	}
}

// Clock, losses, compensation: there is no other place for it.
static void add_heading(struct writer *writer)
{
	struct tp_buf text;
	tp_buf_init(&text);
	tp_view_add_header(writer->analysis, false, &text);
	writer->dictionary.failed |= text.failed;
	writer->heading = add_text_attribute(writer, "teeperf.heading", text.data);
	tp_buf_release(&text);
}

static void add_mappings(struct writer *writer)
{
	const struct tp_module_map *map = &writer->analysis->trace->map;
	for (uint32_t i = 0; i < map->count; i++) {
		const struct teeperf_module *module = &map->modules[i];
		char build_id[2 * TEEPERF_BUILD_ID_SIZE + 1] = "";
		for (uint32_t j = 0; j < module->build_id_size && j < TEEPERF_BUILD_ID_SIZE; j++)
			snprintf(build_id + (size_t)2 * j, 3, "%02x", module->build_id[j]);
		const uint64_t attribute =
		    *build_id
			? add_text_attribute(writer, "process.executable.build_id.gnu", build_id)
			: 0;
		tp_protobuf_add_number(&writer->message, MAPPING_START, module->start);
		tp_protobuf_add_number(&writer->message, MAPPING_LIMIT, module->end);
		tp_protobuf_add_number(&writer->message, MAPPING_OFFSET, 0); // as in pprof.c
		add_index(&writer->message, MAPPING_FILE, add_string(writer, module->path));
		if (attribute) {
			tp_varint_add(&writer->part, attribute);
			tp_protobuf_add_part(&writer->message, MAPPING_ATTRIBUTES, &writer->part);
		}
		tp_protobuf_add_part(&writer->dictionary, DICTIONARY_MAPPING, &writer->message);
	}
}

// A function and a location for each one, numbered alike, from 1.
static void add_functions(struct writer *writer)
{
	const struct tp_analysis *analysis = writer->analysis;
	struct tp_buf *message = &writer->message;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_symbol *symbol = &analysis->functions[i].symbol;
		const char *linkage = symbol->linkage[0] ? symbol->linkage : symbol->name;
		add_index(message, FUNCTION_NAME, add_string(writer, symbol->name));
		add_index(message, FUNCTION_SYSTEM_NAME, add_string(writer, linkage));
		add_index(message, FUNCTION_FILE, add_string(writer, symbol->file));
		add_index(message, FUNCTION_LINE, symbol->line);
		tp_protobuf_add_part(&writer->dictionary, DICTIONARY_FUNCTION, message);

		if (symbol->place < analysis->trace->map.count)
			tp_protobuf_add_number(
			    message, LOCATION_MAPPING, (uint64_t)symbol->place + 1);
		tp_protobuf_add_number(message, LOCATION_ADDRESS,
		    tp_path_sums_address(analysis, &analysis->functions[i]));
		tp_protobuf_add_number(&writer->part, LINE_FUNCTION, (uint64_t)i + 1);
		add_index(&writer->part, LINE_LINE, symbol->line);
		tp_protobuf_add_part(message, LOCATION_LINES, &writer->part);
		tp_protobuf_add_part(&writer->dictionary, DICTIONARY_LOCATION, message);
	}
}

static void add_stack(struct writer *writer)
{
	tp_protobuf_add_part(&writer->message, STACK_LOCATIONS, &writer->part);
	tp_protobuf_add_part(&writer->dictionary, DICTIONARY_STACK, &writer->message);
}

// A stack of each path, with its number; then those of functions that were only counted.
static void add_stacks(struct writer *writer)
{
	const struct tp_paths *paths = &writer->sums->paths;
	const struct tp_analysis *analysis = writer->analysis;
	for (uint32_t i = 1; i < paths->count && !writer->dictionary.failed; i++) {
		for (uint32_t path = i; path; path = paths->items[path].parent)
			tp_varint_add(&writer->part, (uint64_t)paths->items[path].function + 1);
		add_stack(writer);
	}
	writer->counted = paths->count;
	for (uint32_t i = 0; i < analysis->function_count; i++)
		if (analysis->functions[i].counted) {
			tp_varint_add(&writer->part, (uint64_t)i + 1);
			add_stack(writer);
			if (!writer->only_counted)
				writer->only_counted = add_text_attribute(
				    writer, "teeperf.path", "unknown: only counted");
		}
}

// ---- profiles

static void add_sample(struct writer *writer, struct tp_buf *profile, uint64_t stack,
    uint64_t attribute, uint64_t value)
{
	tp_protobuf_add_number(&writer->message, SAMPLE_STACK, stack);
	if (attribute) {
		tp_varint_add(&writer->part, attribute);
		tp_protobuf_add_part(&writer->message, SAMPLE_ATTRIBUTES, &writer->part);
	}
	tp_varint_add(&writer->part, value < INT64_MAX ? value : INT64_MAX);
	tp_protobuf_add_part(&writer->message, SAMPLE_VALUES, &writer->part);
	tp_protobuf_add_part(profile, PROFILE_SAMPLES, &writer->message);
}

static void add_samples(struct writer *writer, struct tp_buf *profile, bool calls)
{
	const struct tp_analysis *analysis = writer->analysis;
	const struct tp_path_sums *sums = writer->sums;
	uint64_t stack = writer->counted;
	for (uint32_t i = 0; i < sums->paths.row_count && !profile->failed; i++) {
		const struct tp_path_row *row = &sums->paths.rows[i];
		const uint64_t value =
		    calls ? tp_path_sums_node(analysis, row)->calls : sums->self[i];
		if (value)
			add_sample(writer, profile, row->path,
			    analysis->thread_count > 1 ? row->thread + UINT64_C(1) : 0, value);
	}
	for (uint32_t i = 0; calls && i < analysis->function_count; i++)
		if (analysis->functions[i].counted)
			add_sample(writer, profile, stack++, writer->only_counted,
			    analysis->functions[i].counted);
}

// 16 bytes by which a receiver may tell that it has the profile: the same each time.
static void add_id(struct writer *writer, struct tp_buf *profile)
{
	XXH128_canonical_t id;
	XXH128_canonicalFromHash(&id, XXH3_128bits(profile->data, profile->size));
	tp_protobuf_add_bytes(profile, PROFILE_ID, &id, sizeof(id));
	profile->failed |= writer->dictionary.failed;
}

static void add_profile(struct writer *writer, struct tp_buf *out, bool calls)
{
	const struct tp_analysis *analysis = writer->analysis;
	struct tp_buf profile;
	tp_buf_init(&profile);
	tp_protobuf_add_number(
	    &writer->message, TYPE_TYPE, add_string(writer, calls ? "calls" : "time"));
	tp_protobuf_add_number(&writer->message, TYPE_UNIT,
	    add_string(writer, calls                  ? "count"
			       : analysis->time.known ? "nanoseconds"
						      : "ticks"));
	tp_protobuf_add_part(&profile, PROFILE_SAMPLE_TYPE, &writer->message);
	add_samples(writer, &profile, calls);
	tp_protobuf_add_fixed64(&profile, PROFILE_TIME, analysis->trace->header.created_unix_ns);
	if (analysis->time.known || analysis->trace->has_end)
		tp_protobuf_add_number(
		    &profile, PROFILE_DURATION, tp_analysis_duration_ns(analysis));
	tp_varint_add(&writer->part, writer->heading);
	tp_protobuf_add_part(&profile, PROFILE_ATTRIBUTES, &writer->part);
	add_id(writer, &profile);
	tp_protobuf_add_part(out, SCOPE_PROFILES_PROFILES, &profile);
	tp_buf_release(&profile);
}

// By the names of OpenTelemetry's semantic conventions.
static void add_label(struct writer *writer, struct tp_buf *resource, const char *label)
{
	const size_t size = strcspn(label, "=");
	struct tp_buf name;
	tp_buf_init(&name);
	tp_buf_add(&name, label, size);
	const char *key = strcmp(name.data, "service_name") == 0 ? "service.name"
			  : strcmp(name.data, "host") == 0       ? "host.name"
								 : name.data;
	tp_protobuf_add_text(&writer->part, KEY_VALUE_KEY, key);
	tp_protobuf_add_text(&writer->value, ANY_STRING, label + size + 1);
	tp_protobuf_add_part(&writer->part, KEY_VALUE_VALUE, &writer->value);
	tp_protobuf_add_part(resource, RESOURCE_ATTRIBUTES, &writer->part);
	resource->failed |= name.failed;
	tp_buf_release(&name);
}

static void write_data(
    struct writer *writer, const struct tp_export_options *options, struct tp_buf *out)
{
	struct tp_buf resource;
	struct tp_buf scope;
	struct tp_buf all;
	tp_buf_init(&resource);
	tp_buf_init(&scope);
	tp_buf_init(&all);
	add_zeroes(writer);
	add_threads(writer);
	add_heading(writer);
	add_mappings(writer);
	add_functions(writer);
	add_stacks(writer);
	for (uint32_t i = 0; i < options->label_count; i++)
		add_label(writer, &resource, options->labels[i]);
	tp_protobuf_add_part(&all, RESOURCE_PROFILES_RESOURCE, &resource);
	tp_protobuf_add_text(&writer->message, SCOPE_NAME, "teeperf");
	tp_protobuf_add_text(&writer->message, SCOPE_VERSION, TEEPERF_VERSION);
	tp_protobuf_add_part(&scope, SCOPE_PROFILES_SCOPE, &writer->message);
	// Viewers show the first one.
	const bool calls_first = options->weight == TP_WEIGHT_CALLS;
	for (int i = 0; i < 2; i++)
		if (calls_first == (i == 0) || !writer->analysis->timeless)
			add_profile(writer, &scope, calls_first == (i == 0));
	tp_protobuf_add_part(&all, RESOURCE_PROFILES_SCOPE_PROFILES, &scope);
	tp_protobuf_add_part(out, DATA_RESOURCE_PROFILES, &all);
	tp_protobuf_add_part(out, DATA_DICTIONARY, &writer->dictionary);
	tp_buf_release(&resource);
	tp_buf_release(&scope);
	tp_buf_release(&all);
}

static int render(const struct tp_analysis *analysis, const struct tp_export_options *options,
    struct tp_buf *out, struct tp_err *err)
{
	struct tp_path_sums sums;
	struct writer writer = {.analysis = analysis, .sums = &sums};
	int code = tp_path_sums_init(&sums, analysis, TP_WEIGHT_SELF, err);
	if (!code)
		code = tp_path_sums_check(&sums, analysis, err);
	tp_buf_init(&writer.strings.text);
	tp_buf_init(&writer.dictionary);
	tp_buf_init(&writer.message);
	tp_buf_init(&writer.part);
	tp_buf_init(&writer.value);
	if (!code)
		write_data(&writer, options, out);
	tp_buf_release(&writer.strings.text);
	free(writer.strings.offsets);
	tp_index_release(&writer.strings.index);
	tp_buf_release(&writer.dictionary);
	tp_buf_release(&writer.message);
	tp_buf_release(&writer.part);
	tp_buf_release(&writer.value);
	tp_path_sums_release(&sums);
	return code;
}

const struct tp_export tp_export_otlp = {
    .name = "otlp",
    .summary = "call paths with calls and self time, as OpenTelemetry's profiles (alpha)",
    .suffix = ".otlp",
    .pushed = true,
    .labels = true,
    .render = render,
};
