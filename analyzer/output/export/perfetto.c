// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * The export "perfetto": a trace of TrackEvents, as ui.perfetto.dev and trace_processor read it.
 * Numbers of fields are those of protos/perfetto/trace in Perfetto's sources; its documentation
 * describes how they fit together: "Converting custom data to Perfetto", and "Synchronization of
 * multiple clock domains".
 *
 * Each thread is a track, and a sequence of packets of its own: names are written once and then
 * referred to by number, and times count from the packet before.
 */
#include "analyzer/output/completeness.h"
#include "analyzer/output/format/protobuf.h"
#include "analyzer/output/format/slices.h"
#include "analyzer/output/view.h"
#include "common/varint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };
enum { SNAPSHOT_CLOCK = 1 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_INCREMENTAL = 3 };
enum { BOOT_CLOCK = 6, OWN_CLOCK = 64 }; // from 64 on they are a sequence's own
enum { DEFAULTS_EVENT = 11 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { TRACK_COUNTER = 8, COUNTER_UNIT_NAME = 6 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_TYPE = 9, EVENT_NAME_IID = 10, EVENT_TRACK = 11, EVENT_NAME = 23 };
enum { EVENT_COUNTER_VALUE = 30, EVENT_SOURCE = 34 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { INTERNED_NAMES = 2, INTERNED_SOURCES = 4 };
enum { NAME_IID = 1, NAME_TEXT = 2 };
enum { SOURCE_IID = 1, SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };

// Sequences and tracks: of the process, then of each thread.
enum { PROCESS_SEQUENCE = 1, FIRST_SEQUENCE = 2 };
enum { PROCESS_UUID = 1, GAPS_UUID = 2, FIRST_UUID = 3 };
#define FIRST_PHASE_UUID (UINT64_C(1) << 41)   // one for each phase
#define FIRST_COUNTER_UUID (UINT64_C(1) << 40) // behind those of threads

struct state {
	uint32_t *told;   // for each function, in which part its name has been
	uint32_t part;    // threads and files so far
	uint64_t last_ns; // of the packet before
	struct tp_buf packet;
	struct tp_buf message;
	struct tp_buf inner;
	uint32_t sequence; // of the current thread
};

static int init(struct tp_slices *slices, struct tp_err *err)
{
	struct state *state = slices->state;
	tp_buf_init(&state->packet);
	tp_buf_init(&state->message);
	tp_buf_init(&state->inner);
	state->told = calloc(slices->analysis->function_count + UINT64_C(1), sizeof(*state->told));
	return state->told ? 0 : tp_err_memory(err, slices->analysis->trace->source.name);
}

static void release(struct tp_slices *slices)
{
	struct state *state = slices->state;
	free(state->told);
	tp_buf_release(&state->packet);
	tp_buf_release(&state->message);
	tp_buf_release(&state->inner);
}

static void end_packet(struct tp_slices *slices, uint32_t sequence)
{
	struct state *state = slices->state;
	tp_protobuf_add_number(&state->packet, PACKET_SEQUENCE, sequence);
	tp_protobuf_add_part(slices->out, TRACE_PACKET, &state->packet);
}

// An event on a track that is not the sequence's usual one, at an absolute time.
static void add_process_event(
    struct tp_slices *slices, uint64_t ns, uint32_t type, const char *name, uint64_t track)
{
	struct state *state = slices->state;
	tp_protobuf_add_number(&state->packet, PACKET_TIMESTAMP, ns);
	tp_protobuf_add_number(&state->packet, PACKET_CLOCK, BOOT_CLOCK);
	tp_protobuf_add_number(&state->message, EVENT_TYPE, type);
	tp_protobuf_add_number(&state->message, EVENT_TRACK, track);
	if (name)
		tp_protobuf_add_text(&state->message, EVENT_NAME, name);
	tp_protobuf_add_part(&state->packet, PACKET_EVENT, &state->message);
	end_packet(slices, PROCESS_SEQUENCE);
}

static void add_gaps(struct tp_slices *slices)
{
	struct state *state = slices->state;
	struct tp_slice_gap gap;
	bool any = false;
	for (uint32_t at = 0; tp_slices_next_gap(slices, &at, &gap);) {
		if (!any) {
			tp_protobuf_add_number(&state->message, TRACK_UUID, GAPS_UUID);
			tp_protobuf_add_text(&state->message, TRACK_NAME, "recording");
			tp_protobuf_add_number(&state->message, TRACK_PARENT, PROCESS_UUID);
			tp_protobuf_add_part(&state->packet, PACKET_TRACK, &state->message);
			end_packet(slices, PROCESS_SEQUENCE);
		}
		any = true;
		add_process_event(slices, gap.from_ns, TYPE_BEGIN, "switched off", GAPS_UUID);
		add_process_event(slices, gap.to_ns, TYPE_END, NULL, GAPS_UUID);
	}
}

static void add_counters(struct tp_slices *slices)
{
	struct state *state = slices->state;
	struct tp_slice_track track;
	uint64_t uuid = FIRST_COUNTER_UUID;
	for (uint64_t at = 0; tp_slices_next_track(slices, &at, &track); uuid++) {
		struct tp_slice_point point;
		tp_protobuf_add_text(&state->inner, COUNTER_UNIT_NAME, track.unit);
		tp_protobuf_add_number(&state->message, TRACK_UUID, uuid);
		tp_protobuf_add_text(&state->message, TRACK_NAME, track.meter->name);
		tp_protobuf_add_number(&state->message, TRACK_PARENT, PROCESS_UUID);
		tp_protobuf_add_part(&state->message, TRACK_COUNTER, &state->inner);
		tp_protobuf_add_part(&state->packet, PACKET_TRACK, &state->message);
		end_packet(slices, PROCESS_SEQUENCE);
		for (uint64_t i = 0; tp_slices_next_point(slices, &track, &i, &point);) {
			tp_protobuf_add_number(&state->message, EVENT_COUNTER_VALUE, point.value);
			add_process_event(slices, point.time_ns, TYPE_COUNTER, NULL, uuid);
		}
	}
}

/*
 * Marks are on the tracks of their threads, those from outside on the process's. A phase has a
 * track of its own among those below its thread's: on that it would have to nest with the calls.
 */
static void add_marks(struct tp_slices *slices)
{
	struct state *state = slices->state;
	const uint32_t count = slices->analysis->thread_count;
	struct tp_slice_mark mark;
	for (uint64_t at = 0; tp_slices_next_mark(slices, &at, &mark);) {
		const uint64_t thread =
		    mark.thread == count ? PROCESS_UUID : FIRST_UUID + (uint64_t)mark.thread;
		if (!mark.phase) {
			add_process_event(slices, mark.from_ns, TYPE_INSTANT, mark.name, thread);
			continue;
		}
		const uint64_t uuid = FIRST_PHASE_UUID + at;
		tp_protobuf_add_number(&state->message, TRACK_UUID, uuid);
		tp_protobuf_add_text(&state->message, TRACK_NAME, "phase");
		tp_protobuf_add_number(&state->message, TRACK_PARENT, thread);
		tp_protobuf_add_part(&state->packet, PACKET_TRACK, &state->message);
		end_packet(slices, PROCESS_SEQUENCE);
		add_process_event(slices, mark.from_ns, TYPE_BEGIN, mark.name, uuid);
		if (mark.ends)
			add_process_event(slices, mark.to_ns, TYPE_END, NULL, uuid);
	}
}

static int head(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct state *state = slices->state;
	char text[128];
	tp_protobuf_add_number(&state->inner, PROCESS_PID, tp_slices_pid(slices));
	tp_protobuf_add_text(&state->inner, PROCESS_NAME, tp_slices_process(slices));
	tp_protobuf_add_number(&state->message, TRACK_UUID, PROCESS_UUID);
	tp_protobuf_add_part(&state->message, TRACK_PROCESS, &state->inner);
	tp_protobuf_add_part(&state->packet, PACKET_TRACK, &state->message);
	tp_protobuf_add_number(&state->packet, PACKET_FLAGS, FLAG_CLEARED);
	end_packet(slices, PROCESS_SEQUENCE);
	if (slices->analysis->lost) {
		snprintf(
		    text, sizeof(text), "[%" PRIu64 " events lost in all]", slices->analysis->lost);
		add_process_event(slices, slices->from_ns, TYPE_INSTANT, text, PROCESS_UUID);
	}
	if (tp_analysis_lacks(slices->analysis)) {
		struct tp_buf lacks;
		tp_buf_init(&lacks);
		tp_completeness_add_text(slices->analysis, &lacks);
		add_process_event(slices, slices->from_ns, TYPE_INSTANT, lacks.data, PROCESS_UUID);
		tp_buf_release(&lacks);
	}
	add_gaps(slices);
	add_counters(slices);
	add_marks(slices);
	return 0;
}

static void add_clock(struct state *state, uint64_t id, uint64_t ns)
{
	tp_protobuf_add_number(&state->inner, CLOCK_ID, id);
	tp_protobuf_add_number(&state->inner, CLOCK_TIMESTAMP, ns);
	if (id == OWN_CLOCK)
		tp_protobuf_add_number(&state->inner, CLOCK_INCREMENTAL, 1);
	tp_protobuf_add_part(&state->message, SNAPSHOT_CLOCK, &state->inner);
}

static int thread_begin(struct tp_slices *slices, struct tp_err *err)
{
	(void)err;
	struct state *state = slices->state;
	const struct tp_thread *thread = slices->thread->thread;
	const uint32_t index = (uint32_t)(slices->thread - slices->analysis->threads);
	const uint64_t uuid = FIRST_UUID + (uint64_t)index;
	state->part++;
	state->sequence = FIRST_SEQUENCE + index;
	state->last_ns = slices->from_ns;

	tp_protobuf_add_number(&state->message, TRACK_UUID, uuid);
	tp_protobuf_add_number(&state->message, TRACK_PARENT, PROCESS_UUID);
	tp_protobuf_add_number(&state->inner, THREAD_PID, tp_slices_pid(slices));
	tp_protobuf_add_number(&state->inner, THREAD_TID, tp_slices_tid(slices));
	tp_protobuf_add_text(&state->inner, THREAD_NAME, tp_view_thread_name(thread));
	tp_protobuf_add_part(&state->message, TRACK_THREAD, &state->inner);
	tp_protobuf_add_part(&state->packet, PACKET_TRACK, &state->message);
	end_packet(slices, state->sequence);

	add_clock(state, BOOT_CLOCK, slices->from_ns);
	add_clock(state, OWN_CLOCK, slices->from_ns);
	tp_protobuf_add_part(&state->packet, PACKET_CLOCK_SNAPSHOT, &state->message);
	tp_protobuf_add_number(&state->packet, PACKET_FLAGS, FLAG_CLEARED);
	tp_protobuf_add_number(&state->inner, EVENT_TRACK, uuid);
	tp_protobuf_add_part(&state->message, DEFAULTS_EVENT, &state->inner);
	tp_protobuf_add_number(&state->message, PACKET_CLOCK, OWN_CLOCK);
	tp_protobuf_add_part(&state->packet, PACKET_DEFAULTS, &state->message);
	end_packet(slices, state->sequence);
	return 0;
}

// ---- events: millions of them, so that they are put together byte by byte

static uint8_t *put_number(uint8_t *at, uint32_t field, uint64_t value)
{
	return tp_varint_put(tp_varint_put(at, (uint64_t)field << 3), value);
}

/*
 * Add a packet with the EVENT and the fields in state->packet. A message is its field's number with
 * 2 in the low bits, its size, and its fields.
 */
static void add_event(struct tp_slices *slices, uint64_t ns, const uint8_t *event, size_t size)
{
	struct state *state = slices->state;
	uint8_t head[16];
	uint8_t packet[96];
	uint8_t *at = put_number(packet, PACKET_TIMESTAMP, ns - state->last_ns);
	at = tp_varint_put(at, PACKET_EVENT << 3 | 2);
	at = tp_varint_put(at, size);
	memcpy(at, event, size);
	at = put_number(at + size, PACKET_FLAGS, FLAG_NEEDED);
	at = put_number(at, PACKET_SEQUENCE, state->sequence);
	state->last_ns = ns;
	const size_t rest = (size_t)(at - packet);
	uint8_t *end = tp_varint_put(head, TRACE_PACKET << 3 | 2);
	end = tp_varint_put(end, state->packet.size + rest);
	tp_buf_add(slices->out, head, (size_t)(end - head));
	tp_buf_add(slices->out, state->packet.data, state->packet.size);
	tp_buf_add(slices->out, packet, rest);
	slices->out->failed = slices->out->failed || state->packet.failed;
	tp_buf_reset(&state->packet);
}

// Tell the name and the place of a function, which is number IID, in the packet.
static void tell(struct state *state, const struct tp_symbol *symbol, uint64_t iid)
{
	tp_protobuf_add_number(&state->inner, NAME_IID, iid);
	tp_protobuf_add_text(&state->inner, NAME_TEXT, symbol->name);
	tp_protobuf_add_part(&state->message, INTERNED_NAMES, &state->inner);
	if (symbol->file[0]) {
		tp_protobuf_add_number(&state->inner, SOURCE_IID, iid);
		tp_protobuf_add_text(&state->inner, SOURCE_FILE, symbol->file);
		tp_protobuf_add_text(&state->inner, SOURCE_FUNCTION, symbol->name);
		tp_protobuf_add_number(&state->inner, SOURCE_LINE, symbol->line);
		tp_protobuf_add_part(&state->message, INTERNED_SOURCES, &state->inner);
	}
	tp_protobuf_add_part(&state->packet, PACKET_INTERNED, &state->message);
}

static void begin(struct tp_slices *slices, const struct tp_slice *slice)
{
	struct state *state = slices->state;
	const uint32_t function = (uint32_t)(slice->function - slices->analysis->functions);
	const struct tp_symbol *symbol = &slice->function->symbol;
	if (state->told[function] != state->part) {
		state->told[function] = state->part;
		tell(state, symbol, function + UINT64_C(1));
	}
	uint8_t event[48];
	uint8_t *at = put_number(event, EVENT_TYPE, TYPE_BEGIN);
	at = put_number(at, EVENT_NAME_IID, function + UINT64_C(1));
	if (symbol->file[0])
		at = put_number(at, EVENT_SOURCE, function + UINT64_C(1));
	add_event(slices, slice->time, event, (size_t)(at - event));
}

static void end(struct tp_slices *slices, const struct tp_slice *slice)
{
	uint8_t event[16];
	const uint8_t *at = put_number(event, EVENT_TYPE, TYPE_END);
	add_event(slices, slice->time, event, (size_t)(at - event));
}

static void lost(struct tp_slices *slices, uint64_t time, uint64_t count, uint32_t depth)
{
	(void)depth;
	uint8_t event[64];
	char text[48];
	const int size = snprintf(text, sizeof(text), "[%" PRIu64 " events lost]", count);
	uint8_t *at = put_number(event, EVENT_TYPE, TYPE_INSTANT);
	at = tp_varint_put(at, EVENT_NAME << 3 | 2);
	at = tp_varint_put(at, (uint64_t)size);
	memcpy(at, text, (size_t)size);
	add_event(slices, time, event, (size_t)(at + size - event));
}

static const struct tp_slice_format format = {
    TP_SLICE_FORMAT, .init = init, .lost = lost, .release = release};

const struct tp_export tp_export_perfetto = {
    .name = "perfetto",
    .summary = "TrackEvents in protocol buffers, for ui.perfetto.dev and trace_processor",
    .suffix = ".perfetto-trace",
    .slices = &format,
};
