// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace as text. Each section's text is assembled again at once; if that does not give the very
// same bytes, the section is written as bytes, so that the text is always the whole truth.
#include "dump_text.h"

#include "analyzer/trace/reader.h"
#include "analyzer/trace/timebase.h"
#include "common/bytes.h"
#include "common/chunks/chunk_codec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_IN_A_LINE 32

static void add_quoted(struct tp_buf *out, const char *text, size_t size)
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

static void add_hex(struct tp_buf *out, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		tp_buf_addf(out, "%02x", data[i]);
}

static void add_bytes(struct tp_buf *out, const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size; at += BYTES_IN_A_LINE) {
		tp_buf_add_string(out, "bytes ");
		add_hex(out, data + at, size - at < BYTES_IN_A_LINE ? size - at : BYTES_IN_A_LINE);
		tp_buf_add_char(out, '\n');
	}
}

// COUNTS and its PAIRS pairs of words, if so many are there. Returns how many words are theirs.
static size_t add_counts(struct tp_buf *out, uint32_t pairs, const uint64_t *words, size_t left)
{
	tp_buf_addf(out, "\tcounts %" PRIu32 "\n", pairs);
	if (pairs > TEEPERF_COUNTS_MAX || pairs > left / 2)
		return 0;
	for (size_t i = 0; i < pairs; i++)
		tp_buf_addf(out, "\t%s 0x%" PRIx64 " %" PRIu64 "\n",
		    words[i * 2] & TEEPERF_COUNTS_SAMPLED ? "sampled" : "count",
		    words[i * 2] & ~TEEPERF_COUNTS_SAMPLED, words[i * 2 + 1]);
	return (size_t)pairs * 2;
}

// One record; *i is its index and is moved on over the words that belong to it.
static void add_record(
    struct tp_buf *out, const uint64_t *words, size_t count, size_t *i, uint64_t *high)
{
	static const char *const kinds[] = {"enter", "exit"};
	static const char *const borders[] = {"call-out", "call-in", "return-out", "return-in"};
	const uint64_t word = words[*i];
	const uint32_t name = (uint32_t)(word >> 32);
	const uint32_t low = (uint32_t)word;
	const uint32_t kind = name & TEEPERF_KIND_MASK;
	const uint32_t address = name & ~TEEPERF_KIND_MASK;
	const uint64_t time = *high | low;
	if (name >= TEEPERF_NAME_FIRST && kind == TEEPERF_KIND_UNTIMED && low == 0) {
		tp_buf_addf(out, "\texit 0x%" PRIx32 "\n", address);
	} else if (name >= TEEPERF_NAME_FIRST && kind <= TEEPERF_KIND_EXIT) {
		tp_buf_addf(out, "\t%" PRIu64 " %s 0x%" PRIx32 "\n", time, kinds[kind], address);
	} else if (name >= TEEPERF_NAME_FIRST && kind == TEEPERF_KIND_RESYNC && *i + 1 < count) {
		const uint64_t to = words[++*i];
		tp_buf_addf(out, "\t%" PRIu64 " %s 0x%" PRIx32 " %" PRIu64 "\n", time,
		    to & TEEPERF_POSITION_LEAVES ? "leave" : "resync", address,
		    to & ~TEEPERF_POSITION_LEAVES);
	} else if (name == TEEPERF_CONTROL_SYNC) {
		tp_buf_addf(out, "\tsync %" PRIu32 "\n", low);
		*high = (uint64_t)low << 32;
	} else if (name == TEEPERF_CONTROL_LOST) {
		tp_buf_addf(out, "\tlost %" PRIu32 "\n", low);
	} else if (name == TEEPERF_CONTROL_MODULE) {
		tp_buf_addf(out, "\tof-module %" PRIu32 "\n", low);
	} else if (name == TEEPERF_CONTROL_FORK) {
		tp_buf_addf(out, "\tfork %" PRIu32 "\n", low);
	} else if (name == TEEPERF_CONTROL_COUNTS) {
		*i += add_counts(out, low, words + *i + 1, count - *i - 1);
	} else if (name >= TEEPERF_CONTROL_CALL_OUT && name <= TEEPERF_CONTROL_RETURN_IN) {
		tp_buf_addf(
		    out, "\t%" PRIu64 " %s\n", time, borders[name - TEEPERF_CONTROL_CALL_OUT]);
	} else if (name == TEEPERF_CONTROL_CROSSING) {
		tp_buf_addf(out, "\tcrossing %" PRIu32 "\n", low);
	} else if (name == TEEPERF_CONTROL_LEFT) {
		tp_buf_addf(out, "\tleft %" PRIu32 "\n", low);
	} else if (name == TEEPERF_CONTROL_PAD && low == 0) {
		tp_buf_add_string(out, "\tpad\n");
	} else if (name == TEEPERF_CONTROL_THREAD_END && low == 0) {
		tp_buf_add_string(out, "\tthread-end\n");
	} else {
		tp_buf_addf(out, "\tword 0x%016" PRIx64 "\n", word);
	}
}

// LEVEL: 0, or the one that the chunk was packed with.
static bool add_chunk(struct tp_buf *out, struct tp_bytes *bytes, uint32_t level)
{
	struct teeperf_chunk chunk;
	tp_bytes_copy(bytes, &chunk, sizeof(chunk));
	const size_t count = tp_bytes_left(bytes) / 8;
	uint64_t *words = malloc(count * 8 + 8);
	if (!words) {
		out->failed = true;
		return false;
	}
	tp_bytes_copy(bytes, words, count * 8);
	tp_buf_addf(out,
	    "chunk thread=%" PRIu32 " sequence=%" PRIu64 " tid=%" PRIu64 " time=%" PRIu64,
	    chunk.thread, chunk.sequence, chunk.os_tid, chunk.first_time);
	if (chunk.home)
		tp_buf_addf(out, " home=%" PRIu64, chunk.home);
	if (level)
		tp_buf_addf(out, " packed=%" PRIu32, level);
	tp_buf_add_char(out, '\n');
	uint64_t high = chunk.first_time >> 32 << 32;
	for (size_t i = 0; i < count; i++)
		add_record(out, words, count, &i, &high);
	free(words);
	return !bytes->underflow;
}

// A packed chunk; nothing if it does not unpack, so that it is written as bytes.
static void add_packed(struct tp_buf *out, const struct tp_section *section, uint64_t chunk_size)
{
	struct tp_bytes bytes;
	struct teeperf_packed header;
	struct tp_unpacker unpacker = {0};
	tp_bytes_init(&bytes, section->payload, section->header.size);
	tp_bytes_copy(&bytes, &header, sizeof(header));
	struct teeperf_chunk *chunk = malloc(chunk_size);
	uint32_t count;
	if (!chunk || tp_unpacker_init(&unpacker, chunk_size, NULL)) {
		out->failed = true;
	} else if (tp_unpacker_unpack(&unpacker, section->payload, section->header.size,
		       (uint64_t *)(chunk + 1), &count, NULL, 0, NULL) == 0) {
		*chunk = header.chunk;
		tp_bytes_init(&bytes, chunk, sizeof(*chunk) + (size_t)count * 8);
		add_chunk(out, &bytes, header.level);
	}
	tp_unpacker_release(&unpacker);
	free(chunk);
}

// What a module without a build ID is known by, if it has any of it.
static void add_code(struct tp_buf *out, const struct teeperf_module *module)
{
	static const uint8_t none[sizeof(module->uuid)];
	if (memcmp(module->uuid, none, sizeof(none)) != 0) {
		tp_buf_add_string(out, " uuid=");
		add_hex(out, module->uuid, sizeof(module->uuid));
	}
	if (module->code_hash || module->code_size)
		tp_buf_addf(out, " code=0x%" PRIx32 " code-size=0x%" PRIx32 " code-hash=0x%" PRIx64,
		    module->code_offset, module->code_size, module->code_hash);
}

static void add_modules(struct tp_buf *out, struct tp_bytes *bytes)
{
	tp_buf_add_string(out, "modules\n");
	while (!bytes->underflow && tp_bytes_left(bytes)) {
		struct teeperf_module module;
		tp_bytes_copy(bytes, &module, sizeof(module));
		tp_buf_addf(out,
		    "\tmodule bias=0x%" PRIx64 " start=0x%" PRIx64 " end=0x%" PRIx64
		    " anchor=0x%" PRIx64 " loaded=%" PRIu64 " unloaded=%" PRIu64 " flags=%" PRIu32
		    " build-id=",
		    module.bias, module.start, module.end, module.anchor, module.loaded,
		    module.unloaded, module.flags);
		add_hex(out, module.build_id,
		    module.build_id_size < TEEPERF_BUILD_ID_SIZE ? module.build_id_size
								 : TEEPERF_BUILD_ID_SIZE);
		add_code(out, &module);
		tp_buf_add_string(out, " path=");
		add_quoted(out, module.path, strnlen(module.path, sizeof(module.path)));
		tp_buf_add_char(out, '\n');
	}
}

static void add_threads(struct tp_buf *out, struct tp_bytes *bytes)
{
	tp_buf_add_string(out, "threads\n");
	while (!bytes->underflow && tp_bytes_left(bytes)) {
		struct teeperf_thread thread;
		tp_bytes_copy(bytes, &thread, sizeof(thread));
		tp_buf_addf(out,
		    "\tthread tid=%" PRIu64 " lost=%" PRIu64 " chunks=%" PRIu64 " ended=%" PRIu64
		    " first=%" PRIu64,
		    thread.os_tid, thread.lost, thread.chunks, thread.ended, thread.first);
		if (thread.cpu_ns)
			tp_buf_addf(out, " cpu=%" PRIu64, thread.cpu_ns);
		tp_buf_add_string(out, " name=");
		add_quoted(out, thread.name, strnlen(thread.name, sizeof(thread.name)));
		tp_buf_add_char(out, '\n');
	}
}

static void add_clock(struct tp_buf *out, struct tp_bytes *bytes)
{
	struct teeperf_trace_clock clock;
	tp_bytes_copy(bytes, &clock, sizeof(clock));
	tp_buf_addf(out,
	    "clock kind=%s hz=%" PRIu64 " stores=%" PRIu64 " max-gap=%" PRIu64 " starved=%" PRIu64
	    " period=%" PRIu64 "\n",
	    tp_timebase_clock_name(clock.kind), clock.hz, clock.stores, clock.max_gap_ns,
	    clock.starved_ns, clock.period_ns);
	while (!bytes->underflow && tp_bytes_left(bytes)) {
		const uint64_t ticks = tp_bytes_u64(bytes);
		const uint64_t ns = tp_bytes_u64(bytes);
		tp_buf_addf(out, "\tpoint %" PRIu64 " %" PRIu64 "\n", ticks, ns);
	}
}

// Strings that each end in END.
static void add_strings(
    struct tp_buf *out, struct tp_bytes *bytes, const char *title, const char *item, char end)
{
	tp_buf_addf(out, "%s\n", title);
	while (tp_bytes_left(bytes)) {
		const char *text = (const char *)bytes->data + bytes->at;
		const char *stop = memchr(text, end, tp_bytes_left(bytes));
		const size_t size = stop ? (size_t)(stop - text) : tp_bytes_left(bytes);
		tp_bytes_take(bytes, stop ? size + 1 : size);
		tp_buf_addf(out, "\t%s ", item);
		add_quoted(out, text, size);
		tp_buf_add_char(out, '\n');
	}
}

static void add_switches(struct tp_buf *out, struct tp_bytes *bytes)
{
	tp_buf_add_string(out, "switches\n");
	while (!bytes->underflow && tp_bytes_left(bytes)) {
		const uint64_t word = tp_bytes_u64(bytes);
		tp_buf_addf(out, "\t%s %" PRIu64 "\n", word & 1 ? "on" : "off", word >> 1);
	}
}

static void add_cpu(struct tp_buf *out, struct tp_bytes *bytes)
{
	struct teeperf_trace_cpu cpu;
	tp_bytes_copy(bytes, &cpu, sizeof(cpu));
	tp_buf_addf(out, "cpu ns=%" PRIu64 " wall=%" PRIu64 " flags=%" PRIu32 "\n", cpu.cpu_ns,
	    cpu.wall_ns, cpu.flags);
	while (!bytes->underflow && tp_bytes_left(bytes)) {
		struct teeperf_trace_cpu_thread thread;
		tp_bytes_copy(bytes, &thread, sizeof(thread));
		tp_buf_addf(out,
		    "\tof-thread %" PRIu32 " ns=%" PRIu64 " delay=%" PRIu64 " flags=%" PRIu32 "\n",
		    thread.thread, thread.cpu_ns, thread.delay_ns, thread.flags);
	}
}

static void add_end(struct tp_buf *out, struct tp_bytes *bytes)
{
	struct teeperf_trace_end end;
	tp_bytes_copy(bytes, &end, sizeof(end));
	tp_buf_addf(out,
	    "end exit-kind=%" PRIu32 " exit-value=%" PRIu32 " start=%" PRIu64 " end=%" PRIu64
	    " chunks=%" PRIu64 " chunk-draws=%" PRIu64 " lost-early=%" PRIu64
	    " lost-overflow=%" PRIu64 " refused=%" PRIu64 " log-bytes=%" PRIu64 " mode=%" PRIu32
	    " attach=%" PRIu32 " modules=%" PRIu64 " threads=%" PRIu64 " forked=%" PRIu64,
	    end.exit_kind, end.exit_value, end.start_ns, end.end_ns, end.chunk_count,
	    end.chunk_draws, end.lost_early, end.lost_overflow, end.refused, end.log_bytes,
	    end.mode, end.attach, end.module_count, end.thread_count, end.forked);
	if (end.missing_chunks || end.unwritten || end.missing_events || end.missing_calls)
		tp_buf_addf(out,
		    " missing-chunks=%" PRIu32 " unwritten=%" PRIu32 " missing-events=%" PRIu64
		    " missing-calls=%" PRIu64,
		    end.missing_chunks, end.unwritten, end.missing_events, end.missing_calls);
	tp_buf_add_char(out, '\n');
}

static void add_missing(struct tp_buf *out, struct tp_bytes *bytes)
{
	tp_buf_add_string(out, "missing\n");
	while (!bytes->underflow && tp_bytes_left(bytes)) {
		struct teeperf_trace_missing missing;
		tp_bytes_copy(bytes, &missing, sizeof(missing));
		tp_buf_addf(out,
		    "\tthread %" PRIu32 " chunks=%" PRIu64 " events=%" PRIu64 " calls=%" PRIu64
		    "\n",
		    missing.thread, missing.chunks, missing.events, missing.calls);
	}
}

static void add_structure(struct tp_buf *out, const struct tp_section *section, uint64_t chunk_size)
{
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, section->payload, section->header.size);
	switch (section->header.type) {
	case TEEPERF_SECTION_CHUNK:
		add_chunk(out, &bytes, 0);
		break;
	case TEEPERF_SECTION_PACKED:
		add_packed(out, section, chunk_size);
		break;
	case TEEPERF_SECTION_MODULES:
		add_modules(out, &bytes);
		break;
	case TEEPERF_SECTION_THREADS:
		add_threads(out, &bytes);
		break;
	case TEEPERF_SECTION_CLOCK:
		add_clock(out, &bytes);
		break;
	case TEEPERF_SECTION_COMMAND:
		add_strings(out, &bytes, "command", "string", '\0');
		break;
	case TEEPERF_SECTION_HOST:
		add_strings(out, &bytes, "host", "line", '\n');
		break;
	case TEEPERF_SECTION_SYMBOLS:
		add_strings(out, &bytes, "symbols", "line", '\n');
		break;
	case TEEPERF_SECTION_SWITCHES:
		add_switches(out, &bytes);
		break;
	case TEEPERF_SECTION_CPU:
		add_cpu(out, &bytes);
		break;
	case TEEPERF_SECTION_END:
		add_end(out, &bytes);
		break;
	case TEEPERF_SECTION_MISSING:
		add_missing(out, &bytes);
		break;
	}
}

// Add TEXT if it assembles to just these bytes, else the bytes.
static void add_checked(
    struct tp_buf *out, const struct tp_buf *text, const uint8_t *data, size_t size)
{
	struct tp_buf again;
	tp_buf_init(&again);
	int code = TP_ERR_SYNTAX;
	if (!text->failed && text->size)
		code = tp_dump_assemble(text->data, text->size, NULL, &again, NULL);
	const bool same = !code && again.size == size && memcmp(again.data, data, size) == 0;
	// Without memory nothing tells whether the text is right.
	if (text->failed || again.failed || code == TP_ERR_MEMORY)
		out->failed = true;
	if (same)
		tp_buf_add(out, text->data, text->size);
	else
		add_bytes(out, data, size);
	tp_buf_release(&again);
}

// Add what is between two offsets; TEXT is the form it should have, or NULL.
static int add_part(const struct tp_source *source, uint64_t from, uint64_t to,
    const struct tp_buf *text, struct tp_buf *out, struct tp_err *err)
{
	const size_t size = to - from;
	uint8_t *data = malloc(size ? size : 1);
	if (!data)
		return tp_err_set(
		    err, TP_ERR_MEMORY, source->name, from, "no memory for %zu bytes", size);
	const int code = tp_source_read(source, from, data, size, err);
	if (!code && text)
		add_checked(out, text, data, size);
	else if (!code)
		add_bytes(out, data, size);
	free(data);
	return code;
}

int tp_dump_text(const struct tp_source *source, struct tp_buf *out, struct tp_problems *problems,
    struct tp_err *err)
{
	struct tp_reader reader;
	struct tp_buf text;
	tp_buf_init(&text);
	int code = tp_reader_init(&reader, source, problems, err);
	if (code)
		goto out;
	const struct teeperf_trace_header *header = &reader.header;
	tp_buf_addf(&text,
	    "trace major=%u oldest-major=%u minor=%u chunk-shift=%" PRIu32 " machine=%" PRIu32
	    " created=%" PRIu64 "\n",
	    header->major, header->oldest_major, header->minor, header->chunk_shift,
	    header->machine, header->created_unix_ns);
	uint64_t done = reader.at < source->size ? reader.at : source->size;
	code = add_part(source, 0, done, &text, out, err);
	struct tp_section section;
	int more = 0;
	while (!code && (more = tp_reader_next(&reader, &section, err)) > 0) {
		tp_buf_reset(&text);
		if (!section.damaged) {
			// Sections are assembled one by one: no file header before them.
			tp_buf_add_string(&text, "bytes\n");
			add_structure(&text, &section, UINT64_C(1) << header->chunk_shift);
		}
		const uint64_t end = reader.at < source->size ? reader.at : source->size;
		struct tp_buf with_mark;
		tp_buf_init(&with_mark);
		const size_t before = out->size;
		code = add_part(source, section.offset, end, &text, &with_mark, err);
		// The mark is only for the check.
		const bool marked = with_mark.size > 6 && memcmp(with_mark.data, "bytes\n", 6) == 0;
		tp_buf_add(
		    out, with_mark.data + (marked ? 6 : 0), with_mark.size - (marked ? 6 : 0));
		if (with_mark.failed || out->size < before)
			out->failed = true;
		tp_buf_release(&with_mark);
		done = end;
	}
	if (!code)
		code = more;
	if (!code && done < source->size)
		code = add_part(source, done, source->size, NULL, out, err);
out:
	tp_buf_release(&text);
	tp_reader_release(&reader);
	return code;
}
