// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The export "ctf": a directory in the Common Trace Format 1.8 (diamon.org/ctf), as babeltrace2 and
 * Trace Compass read it: `metadata`, text that describes the other files, and a stream for each
 * thread.
 *
 * Events and their fields (addr, and vtid and procname of the thread) have the names of LTTng's
 * function tracing, from which Trace Compass makes call stacks. Names of functions are labels of an
 * enumeration, so each is written once.
 */
#include "analyzer/output/completeness.h"
#include "analyzer/output/format/slices.h"
#include "common/out_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>

#define MAGIC UINT32_C(0xc1fc1fc1)
#define PACKET_BYTES ((size_t)64 << 10) // of events, and one more
#define PROCNAME_MAX 64

enum event { EVENT_ENTRY = 0, EVENT_EXIT = 1, EVENT_LOST = 2, EVENT_OFF = 3, EVENT_ON = 4 };
enum { EVENT_MARK = EVENT_ON + 1, EVENT_PHASE_BEGIN, EVENT_PHASE_END };

struct packet_header {
	uint32_t magic;
	uint32_t stream_id;
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size; // bits
	uint64_t packet_size;  // bits
	uint64_t events_discarded;
};

struct state {
	struct tp_out_file file;
	bool open; // the current thread's file is there
	struct tp_buf events;
	uint64_t begin_ns; // of the events
	uint64_t end_ns;
	uint64_t discarded;
	char context[4 + PROCNAME_MAX + 1]; // of each event: vtid and procname
	size_t context_size;
	char name[32]; // of the file
	struct tp_err err;
	int code; // of a write that failed, returned when the thread ends
};

// ---- metadata

// As a string literal: names may have any characters.
static void add_literal(struct tp_buf *out, const char *text)
{
	tp_buf_add_char(out, '"');
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == '"' || *at == '\\')
			tp_buf_add_char(out, '\\');
		tp_buf_add_char(out, *at < 0x20 || *at == 0x7f ? '?' : (char)*at);
	}
	tp_buf_add_char(out, '"');
}

static void add_trace(const struct tp_slices *slices, struct tp_buf *out)
{
	tp_buf_add_string(out,
	    "/* CTF 1.8 */\n"
	    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	    "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := address_t;\n"
	    "\n"
	    "trace {\n"
	    "\tmajor = 1;\n"
	    "\tminor = 8;\n"
	    "\tbyte_order = le;\n"
	    "\tpacket.header := struct {\n"
	    "\t\tuint32_t magic;\n"
	    "\t\tuint32_t stream_id;\n"
	    "\t};\n"
	    "};\n"
	    "\n"
	    "env {\n"
	    "\tdomain = \"ust\";\n"
	    "\ttracer_name = \"lttng-ust\";\n"
	    "\ttracer_major = 2;\n"
	    "\ttracer_minor = 7;\n"
	    "\tproducer = \"teeperf " TEEPERF_VERSION "\";\n"
	    "\ttimes = \"as recorded\";\n"
	    "\ttrace = \"");
	tp_completeness_add_text(slices->analysis, out);
	tp_buf_add_string(out, "\";\n\tprogram = ");
	add_literal(out, tp_slices_process(slices));
	tp_buf_addf(out, ";\n\tvpid = %u;\n\tlost_events = %" PRIu64 ";\n};\n\n",
	    tp_slices_pid(slices),
	    slices->analysis->lost < INT64_MAX ? slices->analysis->lost : INT64_MAX);
	tp_buf_add_string(out, "clock {\n"
			       "\tname = teeperf;\n"
			       "\tdescription = \"since the first record\";\n"
			       "\tfreq = 1000000000;\n"
			       "\toffset = 0;\n"
			       "};\n"
			       "typealias integer { size = 64; align = 8; signed = false; "
			       "map = clock.teeperf.value; } := "
			       "time_t;\n\n");
}

static void add_functions(const struct tp_analysis *analysis, struct tp_buf *out)
{
	tp_buf_add_string(out, "enum functions : uint32_t {\n");
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		tp_buf_add_char(out, '\t');
		add_literal(out, analysis->functions[i].symbol.name);
		tp_buf_addf(out, " = %u,\n", i);
	}
	// One label at least has to be there.
	tp_buf_addf(out, "\t\"\" = %u\n};\n\n", UINT32_MAX);
}

static void add_event_class(struct tp_buf *out, int id, const char *name, const char *fields)
{
	tp_buf_addf(out,
	    "event {\n\tname = \"%s\";\n\tid = %d;\n\tstream_id = 0;\n"
	    "\tfields := struct {%s};\n};\n",
	    name, id, fields);
}

static void add_classes(struct tp_buf *out)
{
	static const char call[] = "\n\t\taddress_t addr;\n\t\tenum functions name;\n\t";
	tp_buf_add_string(out, "stream {\n"
			       "\tid = 0;\n"
			       "\tpacket.context := struct {\n"
			       "\t\ttime_t timestamp_begin;\n"
			       "\t\ttime_t timestamp_end;\n"
			       "\t\tuint64_t content_size;\n"
			       "\t\tuint64_t packet_size;\n"
			       "\t\tuint64_t events_discarded;\n"
			       "\t};\n"
			       "\tevent.header := struct {\n"
			       "\t\tuint8_t id;\n"
			       "\t\ttime_t timestamp;\n"
			       "\t};\n"
			       "\tevent.context := struct {\n"
			       "\t\tint32_t _vtid;\n"
			       "\t\tstring { encoding = UTF8; } _procname;\n"
			       "\t};\n"
			       "};\n\n");
	add_event_class(out, EVENT_ENTRY, "lttng_ust_cyg_profile:func_entry", call);
	add_event_class(out, EVENT_EXIT, "lttng_ust_cyg_profile:func_exit", call);
	add_event_class(out, EVENT_LOST, "teeperf:lost", "\n\t\tuint64_t count;\n\t");
	add_event_class(out, EVENT_OFF, "teeperf:switched_off", "");
	add_event_class(out, EVENT_ON, "teeperf:switched_on", "");
}

static void add_mark_classes(struct tp_buf *out)
{
	static const char name[] = "\n\t\tstring { encoding = UTF8; } name;\n\t";
	add_event_class(out, EVENT_MARK, "teeperf:mark", name);
	add_event_class(out, EVENT_PHASE_BEGIN, "teeperf:phase_begin", name);
	add_event_class(out, EVENT_PHASE_END, "teeperf:phase_end", name);
}

// ---- streams

static void keep(struct state *state, int code)
{
	if (code && !state->code)
		state->code = code;
}

static void write_packet(struct tp_slices *slices)
{
	struct state *state = slices->state;
	if (!state->events.size || state->code)
		return;
	const uint64_t bits = (sizeof(struct packet_header) + state->events.size) * 8;
	const struct packet_header header = {
	    .magic = MAGIC,
	    .timestamp_begin = state->begin_ns,
	    .timestamp_end = state->end_ns,
	    .content_size = bits,
	    .packet_size = bits,
	    .events_discarded = state->discarded,
	};
	if (!state->open) {
		keep(state,
		    tp_out_file_open_in(&state->file, slices->directory, state->name, &state->err));
		state->open = true;
	}
	tp_buf_add(&state->file.buf, &header, sizeof(header));
	tp_buf_add(&state->file.buf, state->events.data, state->events.size);
	state->file.buf.failed = state->file.buf.failed || state->events.failed;
	tp_buf_reset(&state->events);
}

static void add_event(
    struct tp_slices *slices, uint64_t ns, int id, const void *fields, size_t size)
{
	struct state *state = slices->state;
	const uint8_t number = (uint8_t)id;
	if (state->events.size > PACKET_BYTES)
		write_packet(slices);
	if (!state->events.size)
		state->begin_ns = ns;
	state->end_ns = ns;
	tp_buf_add(&state->events, &number, sizeof(number));
	tp_buf_add(&state->events, &ns, sizeof(ns));
	tp_buf_add(&state->events, state->context, state->context_size);
	tp_buf_add(&state->events, fields, size);
}

static void begin_stream(struct state *state, const char *file, uint32_t tid, const char *name)
{
	const size_t length = strnlen(name, PROCNAME_MAX);
	memcpy(state->context, &tid, 4);
	memcpy(state->context + 4, name, length);
	state->context[4 + length] = '\0';
	state->context_size = 4 + length + 1;
	snprintf(state->name, sizeof(state->name), "%s", file);
	state->discarded = 0;
}

static int end_stream(struct tp_slices *slices, struct tp_err *err)
{
	struct state *state = slices->state;
	struct tp_err ignored;
	write_packet(slices);
	if (state->events.failed)
		keep(state, tp_err_memory(&state->err, slices->directory));
	tp_buf_release(&state->events);
	int code = state->code;
	if (code)
		*err = state->err;
	if (state->open) {
		const int closed = tp_out_file_close(&state->file, code ? &ignored : err);
		code = code ? code : closed;
	}
	state->open = false;
	state->code = 0;
	return code;
}

// Gaps are a stream of their own.
static int add_gaps(struct tp_slices *slices, struct tp_err *err)
{
	struct tp_slice_gap gap;
	begin_stream(slices->state, "recording", 0, "recording");
	for (uint32_t at = 0; tp_slices_next_gap(slices, &at, &gap);) {
		add_event(slices, gap.from_ns, EVENT_OFF, NULL, 0);
		if (gap.ends)
			add_event(slices, gap.to_ns, EVENT_ON, NULL, 0);
	}
	return end_stream(slices, err);
}

// Marks of all threads are a stream, too; each event says whose it is.
static int add_marks(struct tp_slices *slices, struct tp_err *err)
{
	struct state *state = slices->state;
	uint64_t count;
	struct tp_slice_moment *moments = tp_slices_moments(slices, &count);
	if (!moments)
		return tp_err_memory(err, slices->directory);
	begin_stream(state, "marks", 0, "marks");
	for (uint64_t i = 0; i < count; i++) {
		const struct tp_slice_moment *moment = &moments[i];
		const uint32_t tid = moment->thread == slices->analysis->thread_count
					 ? tp_slices_pid(slices)
					 : slices->tids[moment->thread];
		memcpy(state->context, &tid, sizeof(tid));
		add_event(slices, moment->ns, EVENT_MARK + (int)moment->what, moment->name,
		    strlen(moment->name) + 1);
	}
	free(moments);
	return end_stream(slices, err);
}

static int head(struct tp_slices *slices, struct tp_err *err)
{
	struct tp_out_file file;
	struct tp_err ignored;
	int code = tp_out_file_open_in(&file, slices->directory, "metadata", err);
	if (!code) {
		add_trace(slices, &file.buf);
		add_functions(slices->analysis, &file.buf);
		add_classes(&file.buf);
		if (slices->marks->count)
			add_mark_classes(&file.buf);
	}
	const int closed = tp_out_file_close(&file, code ? &ignored : err);
	code = code ? code : closed;
	code = code ? code : add_gaps(slices, err);
	return code ? code : add_marks(slices, err);
}

static int init(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct state *state = slices->state;
	tp_buf_init(&state->events);
	return 0;
}

static void release(struct tp_slices *slices)
{
	struct tp_err ignored;
	end_stream(slices, &ignored);
}

static int thread_begin(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	const struct tp_thread *thread = slices->thread->thread;
	char file[32];
	snprintf(file, sizeof(file), "thread-%u", thread->number);
	begin_stream(slices->state, file, tp_slices_tid(slices),
	    thread->name[0] ? thread->name : tp_slices_process(slices));
	return 0;
}

static void add_call(struct tp_slices *slices, const struct tp_slice *slice, enum event id)
{
	const struct tp_analysis *analysis = slices->analysis;
	const struct tp_symbol_key *key = &slice->function->key;
	const uint32_t number = (uint32_t)(slice->function - analysis->functions);
	char fields[12];
	memcpy(fields, &key->address, 8);
	memcpy(fields + 8, &number, 4);
	add_event(slices, slice->time, id, fields, sizeof(fields));
}

static void begin(struct tp_slices *slices, const struct tp_slice *slice)
{
	add_call(slices, slice, EVENT_ENTRY);
}

static void end(struct tp_slices *slices, const struct tp_slice *slice)
{
	add_call(slices, slice, EVENT_EXIT);
}

static void lost(struct tp_slices *slices, uint64_t time, uint64_t count, uint32_t depth)
{
	(void)depth;
	struct state *state = slices->state;
	state->discarded += count;
	add_event(slices, time, EVENT_LOST, &count, sizeof(count));
}

static const struct tp_slice_format format = {TP_SLICE_FORMAT, .directory = true, .init = init,
    .lost = lost, .thread_end = end_stream, .release = release};

const struct tp_export tp_export_ctf = {
    .name = "ctf",
    .summary = "a directory in the Common Trace Format 1.8, for babeltrace2 and Trace Compass",
    .suffix = ".ctf",
    .slices = &format,
};
