// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the text form of traces calls the parts of a trace.
#include "line.h"

#include "analyzer/trace/timebase.h"

#include <inttypes.h>
#include <string.h>
#include <teeperf/trace.h>

enum form {
	DECIMAL, // of 2, 4 or 8 bytes
	HEX,
	PLAIN, // decimal, without the key
	CLOCK, // the name of a clock
	STRING,
	BYTES,
	COUNTED, // bytes; the 4 before them are how many
};

struct field {
	enum tp_text_struct of;
	const char *key;
	uint32_t offset;
	uint32_t size;
	enum form form;
	uint32_t group;     // 0: it always stands there; else if one of its group is not all zeroes
	uint64_t otherwise; // without the option, unless it is 0
};

#define FIELD(type, member) \
	.offset = offsetof(struct type, member), .size = sizeof(((struct type *)0)->member)

static const struct field fields[] = {
    {TP_TEXT_CHUNK_THREAD, "thread", FIELD(teeperf_chunk, thread)},
    {TP_TEXT_CHUNK, "sequence", FIELD(teeperf_chunk, sequence)},
    {TP_TEXT_CHUNK, "tid", FIELD(teeperf_chunk, os_tid)},
    {TP_TEXT_CHUNK, "time", FIELD(teeperf_chunk, first_time)},
    {TP_TEXT_CHUNK, "home", FIELD(teeperf_chunk, home), .group = 1},
    {TP_TEXT_HEADER, "major", FIELD(teeperf_trace_header, major), .otherwise = TEEPERF_TRACE_MAJOR},
    {TP_TEXT_HEADER, "oldest-major", FIELD(teeperf_trace_header, oldest_major),
	.otherwise = TEEPERF_TRACE_OLDEST_MAJOR},
    {TP_TEXT_HEADER, "minor", FIELD(teeperf_trace_header, minor), .otherwise = TEEPERF_TRACE_MINOR},
    {TP_TEXT_HEADER, "chunk-shift", FIELD(teeperf_trace_header, chunk_shift),
	.otherwise = TEEPERF_CHUNK_SHIFT_DEFAULT},
    {TP_TEXT_HEADER, "machine", FIELD(teeperf_trace_header, machine)},
    {TP_TEXT_HEADER, "created", FIELD(teeperf_trace_header, created_unix_ns)},
    {TP_TEXT_MODULE, "bias", FIELD(teeperf_module, bias), .form = HEX},
    {TP_TEXT_MODULE, "start", FIELD(teeperf_module, start), .form = HEX},
    {TP_TEXT_MODULE, "end", FIELD(teeperf_module, end), .form = HEX},
    {TP_TEXT_MODULE, "anchor", FIELD(teeperf_module, anchor), .form = HEX},
    {TP_TEXT_MODULE, "loaded", FIELD(teeperf_module, loaded)},
    {TP_TEXT_MODULE, "unloaded", FIELD(teeperf_module, unloaded)},
    {TP_TEXT_MODULE, "flags", FIELD(teeperf_module, flags)},
    {TP_TEXT_MODULE, "build-id", FIELD(teeperf_module, build_id), .form = COUNTED},
    {TP_TEXT_MODULE, "uuid", FIELD(teeperf_module, uuid), .form = BYTES, .group = 1},
    {TP_TEXT_MODULE, "code", FIELD(teeperf_module, code_offset), .form = HEX, .group = 2},
    {TP_TEXT_MODULE, "code-size", FIELD(teeperf_module, code_size), .form = HEX, .group = 2},
    {TP_TEXT_MODULE, "code-hash", FIELD(teeperf_module, code_hash), .form = HEX, .group = 2},
    {TP_TEXT_MODULE, "path", FIELD(teeperf_module, path), .form = STRING},
    {TP_TEXT_THREAD, "tid", FIELD(teeperf_thread, os_tid), .otherwise = 1},
    {TP_TEXT_THREAD, "lost", FIELD(teeperf_thread, lost)},
    {TP_TEXT_THREAD, "chunks", FIELD(teeperf_thread, chunks)},
    {TP_TEXT_THREAD, "ended", FIELD(teeperf_thread, ended), .otherwise = 1},
    {TP_TEXT_THREAD, "first", FIELD(teeperf_thread, first)},
    {TP_TEXT_THREAD, "cpu", FIELD(teeperf_thread, cpu_ns), .group = 1},
    {TP_TEXT_THREAD, "name", FIELD(teeperf_thread, name), .form = STRING},
    {TP_TEXT_CLOCK, "kind", FIELD(teeperf_trace_clock, kind), .form = CLOCK,
	.otherwise = TEEPERF_CLOCK_TSC},
    {TP_TEXT_CLOCK, "hz", FIELD(teeperf_trace_clock, hz)},
    {TP_TEXT_CLOCK, "stores", FIELD(teeperf_trace_clock, stores)},
    {TP_TEXT_CLOCK, "max-gap", FIELD(teeperf_trace_clock, max_gap_ns)},
    {TP_TEXT_CLOCK, "starved", FIELD(teeperf_trace_clock, starved_ns)},
    {TP_TEXT_CLOCK, "period", FIELD(teeperf_trace_clock, period_ns)},
    {TP_TEXT_POINT, "ticks", FIELD(teeperf_trace_point, ticks), .form = PLAIN},
    {TP_TEXT_POINT, "ns", FIELD(teeperf_trace_point, monotonic_ns), .form = PLAIN},
    {TP_TEXT_CPU, "ns", FIELD(teeperf_trace_cpu, cpu_ns)},
    {TP_TEXT_CPU, "wall", FIELD(teeperf_trace_cpu, wall_ns)},
    {TP_TEXT_CPU, "flags", FIELD(teeperf_trace_cpu, flags), .otherwise = TEEPERF_CPU_EXACT},
    {TP_TEXT_CPU_THREAD, "thread", FIELD(teeperf_trace_cpu_thread, thread), .form = PLAIN},
    {TP_TEXT_CPU_THREAD, "ns", FIELD(teeperf_trace_cpu_thread, cpu_ns)},
    {TP_TEXT_CPU_THREAD, "delay", FIELD(teeperf_trace_cpu_thread, delay_ns)},
    {TP_TEXT_CPU_THREAD, "flags", FIELD(teeperf_trace_cpu_thread, flags),
	.otherwise = TEEPERF_CPU_EXACT | TEEPERF_CPU_DELAY},
    {TP_TEXT_END, "exit-kind", FIELD(teeperf_trace_end, exit_kind), .otherwise = TEEPERF_EXIT_CODE},
    {TP_TEXT_END, "exit-value", FIELD(teeperf_trace_end, exit_value)},
    {TP_TEXT_END, "start", FIELD(teeperf_trace_end, start_ns)},
    {TP_TEXT_END, "end", FIELD(teeperf_trace_end, end_ns)},
    {TP_TEXT_END, "chunks", FIELD(teeperf_trace_end, chunk_count)},
    {TP_TEXT_END, "chunk-draws", FIELD(teeperf_trace_end, chunk_draws)},
    {TP_TEXT_END, "lost-early", FIELD(teeperf_trace_end, lost_early)},
    {TP_TEXT_END, "lost-overflow", FIELD(teeperf_trace_end, lost_overflow)},
    {TP_TEXT_END, "refused", FIELD(teeperf_trace_end, refused)},
    {TP_TEXT_END, "log-bytes", FIELD(teeperf_trace_end, log_bytes)},
    {TP_TEXT_END, "mode", FIELD(teeperf_trace_end, mode), .otherwise = TEEPERF_MODE_STREAM},
    {TP_TEXT_END, "attach", FIELD(teeperf_trace_end, attach), .otherwise = TEEPERF_ATTACH_DONE},
    {TP_TEXT_END, "modules", FIELD(teeperf_trace_end, module_count)},
    {TP_TEXT_END, "threads", FIELD(teeperf_trace_end, thread_count)},
    {TP_TEXT_END, "forked", FIELD(teeperf_trace_end, forked)},
    {TP_TEXT_END, "missing-chunks", FIELD(teeperf_trace_end, missing_chunks), .group = 1},
    {TP_TEXT_END, "unwritten", FIELD(teeperf_trace_end, unwritten), .group = 1},
    {TP_TEXT_END, "missing-events", FIELD(teeperf_trace_end, missing_events), .group = 1},
    {TP_TEXT_END, "missing-calls", FIELD(teeperf_trace_end, missing_calls), .group = 1},
    {TP_TEXT_MISSING, "thread", FIELD(teeperf_trace_missing, thread), .form = PLAIN},
    {TP_TEXT_MISSING, "chunks", FIELD(teeperf_trace_missing, chunks)},
    {TP_TEXT_MISSING, "events", FIELD(teeperf_trace_missing, events)},
    {TP_TEXT_MISSING, "calls", FIELD(teeperf_trace_missing, calls)},
    {TP_TEXT_SCHED, "from", FIELD(teeperf_trace_sched, from_ns)},
    {TP_TEXT_SCHED, "lost", FIELD(teeperf_trace_sched, lost)},
    {TP_TEXT_SCHED_SWITCH, "ns", FIELD(teeperf_trace_sched_switch, time_ns), .form = PLAIN},
    {TP_TEXT_SCHED_SWITCH, "tid", FIELD(teeperf_trace_sched_switch, os_tid), .otherwise = 1},
    {TP_TEXT_SCHED_SWITCH, "kind", FIELD(teeperf_trace_sched_switch, kind)},
    {TP_TEXT_SCHED_SWITCH, "cpu", FIELD(teeperf_trace_sched_switch, cpu)},
    {TP_TEXT_SYSTEM, "groups", FIELD(teeperf_trace_system, groups)},
    {TP_TEXT_SYSTEM, "lost-calls", FIELD(teeperf_trace_system, lost_calls), .group = 1},
    {TP_TEXT_SYSTEM, "lost-faults", FIELD(teeperf_trace_system, lost_faults), .group = 1},
    {TP_TEXT_SYSTEM, "lost-blocks", FIELD(teeperf_trace_system, lost_blocks), .group = 1},
    {TP_TEXT_SYSTEM, "lost-allocations", FIELD(teeperf_trace_system, lost_allocations), .group = 1},
    {TP_TEXT_SYSTEM, "lost-threads", FIELD(teeperf_trace_system, lost_threads), .group = 1},
    {TP_TEXT_SYSTEM, "lost-sgx", FIELD(teeperf_trace_system, lost_sgx), .group = 2},
    {TP_TEXT_SYSTEM_EVENT, "kind", FIELD(teeperf_system_event, kind), .form = PLAIN},
    {TP_TEXT_SYSTEM_EVENT, "start", FIELD(teeperf_system_event, start_ns)},
    {TP_TEXT_SYSTEM_EVENT, "duration", FIELD(teeperf_system_event, duration_ns)},
    {TP_TEXT_SYSTEM_EVENT, "tid", FIELD(teeperf_system_event, os_tid)},
    {TP_TEXT_SYSTEM_EVENT, "pid", FIELD(teeperf_system_event, os_pid)},
    {TP_TEXT_SYSTEM_EVENT, "flags", FIELD(teeperf_system_event, flags), .group = 1},
    {TP_TEXT_SYSTEM_EVENT, "number", FIELD(teeperf_system_event, number)},
    {TP_TEXT_SYSTEM_EVENT, "result", FIELD(teeperf_system_event, result)},
    {TP_TEXT_SYSTEM_EVENT, "argument", FIELD(teeperf_system_event, argument), .form = HEX},
    {TP_TEXT_SYSTEM_EVENT, "detail", FIELD(teeperf_system_event, detail)},
    {TP_TEXT_SYSTEM_EVENT, "waker", FIELD(teeperf_system_event, waker_tid), .group = 2},
    {TP_TEXT_SYSTEM_EVENT, "woken", FIELD(teeperf_system_event, woken_ns), .group = 2},
    {TP_TEXT_SELECTION, "number", FIELD(teeperf_trace_selection, number), .form = PLAIN},
    {TP_TEXT_SELECTION, "time", FIELD(teeperf_trace_selection, time)},
    {TP_TEXT_SELECTION, "only", FIELD(teeperf_trace_selection, only)},
    {TP_TEXT_SELECTION, "hash", FIELD(teeperf_trace_selection, hash), .form = HEX, .group = 1},
    {TP_TEXT_WINDOW, "selection", FIELD(teeperf_trace_window, selection), .form = PLAIN},
    {TP_TEXT_MARK, "ns", FIELD(teeperf_trace_mark, monotonic_ns), .form = PLAIN},
    {TP_TEXT_MARK, "name", FIELD(teeperf_trace_mark, name), .form = STRING},
    {TP_TEXT_METERS, "interval", FIELD(teeperf_trace_meters, interval_ns)},
    {TP_TEXT_METERS, "left-out", FIELD(teeperf_trace_meters, left_out), .group = 1},
    {TP_TEXT_METER, "unit", FIELD(teeperf_trace_meter, unit)},
    {TP_TEXT_METER, "kind", FIELD(teeperf_trace_meter, kind)},
    {TP_TEXT_METER, "flags", FIELD(teeperf_trace_meter, flags)},
    {TP_TEXT_METER, "name", FIELD(teeperf_trace_meter, name), .form = STRING},
    {TP_TEXT_METER, "note", FIELD(teeperf_trace_meter, note), .form = STRING, .group = 1},
    {TP_TEXT_READING, "ns", FIELD(teeperf_trace_reading, monotonic_ns), .form = PLAIN},
    {TP_TEXT_READING, "meter", FIELD(teeperf_trace_reading, meter)},
    {TP_TEXT_READING, "cause", FIELD(teeperf_trace_reading, cause)},
    {TP_TEXT_READING, "value", FIELD(teeperf_trace_reading, value)},
    {TP_TEXT_READING, "enabled", FIELD(teeperf_trace_reading, enabled_ns), .group = 1},
    {TP_TEXT_READING, "running", FIELD(teeperf_trace_reading, running_ns), .group = 1},
};
static const size_t field_count = sizeof(fields) / sizeof(fields[0]);
_Static_assert(offsetof(struct teeperf_module, build_id) ==
		   offsetof(struct teeperf_module, build_id_size) + sizeof(uint32_t),
    "the count is before the bytes");

// COUNTERS and ENERGY are the same.
#define METERS                                                                                    \
	.head = TP_TEXT_METERS, .head_size = sizeof(struct teeperf_trace_meters),                 \
	.count_at = offsetof(struct teeperf_trace_meters, meter_count), .item = "meter",          \
	.entry = TP_TEXT_METER, .entry_size = sizeof(struct teeperf_trace_meter),                 \
	.more_count_at = offsetof(struct teeperf_trace_meters, reading_count), .more = "reading", \
	.more_entry = TP_TEXT_READING, .more_size = sizeof(struct teeperf_trace_reading)

const struct tp_text_section *tp_text_section(uint32_t type, const char *title)
{
	static const struct tp_text_section sections[] = {
	    {TEEPERF_SECTION_MODULES, "modules", .item = "module", .entry = TP_TEXT_MODULE,
		.entry_size = sizeof(struct teeperf_module)},
	    {TEEPERF_SECTION_THREADS, "threads", .item = "thread", .entry = TP_TEXT_THREAD,
		.entry_size = sizeof(struct teeperf_thread)},
	    {TEEPERF_SECTION_CLOCK, "clock", .head = TP_TEXT_CLOCK,
		.head_size = sizeof(struct teeperf_trace_clock),
		.count_at = offsetof(struct teeperf_trace_clock, point_count), .item = "point",
		.entry = TP_TEXT_POINT, .entry_size = sizeof(struct teeperf_trace_point)},
	    {TEEPERF_SECTION_COMMAND, "command", .item = "string", .end = '\0'},
	    {TEEPERF_SECTION_HOST, "host", .item = "line", .end = '\n'},
	    {TEEPERF_SECTION_SYMBOLS, "symbols", .item = "line", .end = '\n'},
	    {TEEPERF_SECTION_SWITCHES, "switches", .item = NULL},
	    {TEEPERF_SECTION_CPU, "cpu", .head = TP_TEXT_CPU,
		.head_size = sizeof(struct teeperf_trace_cpu),
		.count_at = offsetof(struct teeperf_trace_cpu, thread_count), .item = "of-thread",
		.entry = TP_TEXT_CPU_THREAD, .entry_size = sizeof(struct teeperf_trace_cpu_thread)},
	    {TEEPERF_SECTION_END, "end", .head = TP_TEXT_END,
		.head_size = sizeof(struct teeperf_trace_end)},
	    {TEEPERF_SECTION_MISSING, "missing", .item = "thread", .entry = TP_TEXT_MISSING,
		.entry_size = sizeof(struct teeperf_trace_missing)},
	    {TEEPERF_SECTION_SCHED, "sched", .head = TP_TEXT_SCHED,
		.head_size = sizeof(struct teeperf_trace_sched), .item = "switch",
		.entry = TP_TEXT_SCHED_SWITCH,
		.entry_size = sizeof(struct teeperf_trace_sched_switch)},
	    {TEEPERF_SECTION_SYSTEM, "system", .head = TP_TEXT_SYSTEM,
		.head_size = sizeof(struct teeperf_trace_system), .item = "event",
		.entry = TP_TEXT_SYSTEM_EVENT, .entry_size = sizeof(struct teeperf_system_event)},
	    {TEEPERF_SECTION_SELECTIONS, "selections", .item = "selection",
		.entry = TP_TEXT_SELECTION, .entry_size = sizeof(struct teeperf_trace_selection)},
	    {TEEPERF_SECTION_WINDOWS, "windows", .item = "window", .entry = TP_TEXT_WINDOW,
		.entry_size = sizeof(struct teeperf_trace_window)},
	    {TEEPERF_SECTION_MARKS, "marks", .item = "marked", .entry = TP_TEXT_MARK,
		.entry_size = sizeof(struct teeperf_trace_mark)},
	    {TEEPERF_SECTION_COUNTERS, "counters", METERS},
	    {TEEPERF_SECTION_ENERGY, "energy", METERS},
	};
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (title ? strcmp(sections[i].title, title) == 0 : sections[i].type == type)
			return &sections[i];
	return NULL;
}

const struct tp_text_control *tp_text_control(uint32_t code, const char *word)
{
	static const struct tp_text_control controls[] = {
#define TP_CONTROL(name, form, word, kind) {word, TEEPERF_CONTROL_##name, TP_RECORD_##form},
#include "common/chunks/records.def"
	};
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (word ? strcmp(controls[i].word, word) == 0 : controls[i].code == code)
			return &controls[i];
	return NULL;
}

void tp_text_add_quoted(struct tp_buf *out, const char *text, size_t size)
{
	tp_buf_add_char(out, '"');
	for (size_t i = 0; i < size; i++) {
		const unsigned char c = (unsigned char)text[i];
		if (c == '"' || c == '\\')
			tp_buf_addf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			tp_buf_addf(out, "\\x%02x", c);
		else
			tp_buf_add_char(out, (char)c);
	}
	tp_buf_add_char(out, '"');
}

void tp_text_add_hex(struct tp_buf *out, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		tp_buf_addf(out, "%02x", data[i]);
}

// Whether the field stands in a line: it, or another one of its group, is not all zeroes.
static bool is_there(const struct field *wanted, const uint8_t *data)
{
	uint8_t bits = !wanted->group;
	for (size_t i = 0; i < field_count && !bits; i++)
		for (uint32_t j = 0; fields[i].of == wanted->of &&
				     fields[i].group == wanted->group && j < fields[i].size;
		     j++)
			bits |= data[fields[i].offset + j];
	return bits;
}

static uint64_t number_at(const uint8_t *at, uint32_t size)
{
	uint64_t value = 0;
	memcpy(&value, at, size);
	return value;
}

static void add_value(struct tp_buf *out, const struct field *field, const uint8_t *at)
{
	const uint64_t value = field->form < STRING ? number_at(at, field->size) : 0;
	const uint64_t count = field->form == COUNTED ? number_at(at - 4, 4) : field->size;
	if (field->form == STRING)
		tp_text_add_quoted(out, (const char *)at, strnlen((const char *)at, field->size));
	else if (field->form >= BYTES)
		tp_text_add_hex(out, at, count < field->size ? count : field->size);
	else if (field->form == CLOCK)
		tp_buf_add_string(out, teeperf_clock_name((uint32_t)value));
	else
		tp_buf_addf(out, field->form == HEX ? "0x%" PRIx64 : "%" PRIu64, value);
}

void tp_text_add(struct tp_buf *out, enum tp_text_struct of, const void *data)
{
	for (size_t i = 0; i < field_count; i++) {
		const struct field *field = &fields[i];
		if (field->of != of || !is_there(field, data))
			continue;
		if (field->form == PLAIN)
			tp_buf_add_char(out, ' ');
		else
			tp_buf_addf(out, " %s=", field->key);
		add_value(out, field, (const uint8_t *)data + field->offset);
	}
}

static uint32_t read_clock(struct tp_line *line, const char *key, uint32_t otherwise)
{
	const char *name = tp_line_option_word(line, key, teeperf_clock_name(otherwise));
	for (uint32_t kind = 0; kind <= TEEPERF_CLOCK_TSC_ORDERED; kind++)
		if (strcmp(teeperf_clock_name(kind), name) == 0)
			return kind;
	tp_line_fail(line, "unknown clock '%s'", name);
	return otherwise;
}

static void read_value(struct tp_line *line, const struct field *field, uint8_t *at)
{
	const uint32_t size = field->size;
	if (field->form == STRING) {
		tp_line_option_string(line, field->key, (char *)at, size);
		return;
	}
	if (field->form >= BYTES) {
		const uint32_t count =
		    tp_line_hex(line, tp_line_option_word(line, field->key, ""), at, size);
		if (field->form == COUNTED)
			memcpy(at - sizeof(count), &count, sizeof(count));
		return;
	}
	const uint64_t most = UINT64_MAX >> (64 - 8 * size);
	uint64_t value = field->otherwise ? field->otherwise : number_at(at, size);
	if (field->form == PLAIN)
		value = tp_line_number(line, most);
	else if (field->form == CLOCK)
		value = read_clock(line, field->key, (uint32_t)value);
	else
		value = tp_line_option(line, field->key, value, most);
	memcpy(at, &value, size);
}

void tp_text_read(struct tp_line *line, enum tp_text_struct of, void *data)
{
	for (size_t i = 0; i < field_count; i++)
		if (fields[i].of == of)
			read_value(line, &fields[i], (uint8_t *)data + fields[i].offset);
}
