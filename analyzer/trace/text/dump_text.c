// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace as text. Each section's text is assembled again at once; if that does not give the very
// same bytes, the section is written as bytes, so that the text is always the whole truth.
#include "dump_text.h"

#include "analyzer/trace/reader.h"
#include "analyzer/trace/text/line.h"
#include "common/bytes.h"
#include "common/chunks/chunk_codec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_IN_A_LINE 32

static void add_bytes(struct tp_buf *out, const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size; at += BYTES_IN_A_LINE) {
		tp_buf_add_string(out, "bytes ");
		tp_text_add_hex(
		    out, data + at, size - at < BYTES_IN_A_LINE ? size - at : BYTES_IN_A_LINE);
		tp_buf_add_char(out, '\n');
	}
}

static void add_counts(struct tp_buf *out, const uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i += 2)
		tp_buf_addf(out, "\t%s 0x%" PRIx64 " %" PRIu64 "\n",
		    words[i] & TEEPERF_COUNTS_SAMPLED ? "sampled" : "count",
		    words[i] & ~TEEPERF_COUNTS_SAMPLED, words[i + 1]);
}

// The name in the TEXT records at WORDS, COUNT words being left. Returns how many records that are,
// 0: none, or not as the runtime writes them.
static uint32_t add_name(struct tp_buf *out, const uint64_t *words, uint32_t count)
{
	uint32_t pieces = 0;
	while (pieces < count && words[pieces] >> 32 == TEEPERF_CONTROL_TEXT)
		pieces++;
	if (!pieces || !(uint32_t)words[pieces - 1])
		return 0;
	char *name = malloc((size_t)pieces * 4);
	if (!name) {
		out->failed = true;
		return 0;
	}
	for (size_t i = 0; i < pieces; i++)
		memcpy(name + i * 4, &(uint32_t){(uint32_t)words[i]}, 4);
	size_t size = (size_t)pieces * 4;
	while (!name[size - 1])
		size--;
	tp_buf_add_char(out, ' ');
	tp_text_add_quoted(out, name, size);
	free(name);
	return pieces;
}

// One record; AT is behind it, and goes on over the name of a mark.
static void add_record(
    struct tp_buf *out, struct tp_record_cursor *at, const struct tp_record *record)
{
	static const char *const kinds[] = {"enter", "exit"};
	const struct tp_text_control *control = tp_text_control(record->tagged, NULL);
	const uint32_t name = record->tagged & ~TEEPERF_KIND_MASK;
	switch (record->form) {
	case TP_RECORD_ENTER:
	case TP_RECORD_EXIT:
		tp_buf_addf(out, "\t%" PRIu64 " %s 0x%" PRIx32 "\n", record->time,
		    kinds[record->form], name);
		return;
	case TP_RECORD_UNTIMED:
		if (record->value)
			break;
		tp_buf_addf(out, "\texit 0x%" PRIx32 "\n", name);
		return;
	case TP_RECORD_RESYNC:
		if (record->cut)
			break;
		tp_buf_addf(out, "\t%" PRIu64 " %s 0x%" PRIx32 " %" PRIu64 "\n", record->time,
		    *record->more & TEEPERF_POSITION_LEAVES ? "leave" : "resync", name,
		    *record->more & ~TEEPERF_POSITION_LEAVES);
		return;
	case TP_RECORD_NOTHING:
		if (record->value || record->tagged == TEEPERF_CONTROL_EMPTY)
			break;
		tp_buf_addf(out, "\t%s\n", control->word);
		return;
	case TP_RECORD_NUMBER:
	case TP_RECORD_HIGH:
	case TP_RECORD_PAIRS:
		tp_buf_addf(out, "\t%s %" PRIu32 "\n", control->word, record->value);
		if (record->cut)
			at->i = record->at + 1; // the words behind it are shown all the same
		else
			add_counts(out, record->more, record->more_count);
		return;
	case TP_RECORD_NAMED:
	case TP_RECORD_BORDER:
		tp_buf_addf(out, "\t%" PRIu64 " %s", record->time, control->word);
		if (record->form == TP_RECORD_NAMED)
			at->i += add_name(out, at->words + at->i, at->count - at->i);
		tp_buf_add_char(out, '\n');
		return;
	case TP_RECORD_UNKNOWN:
		break;
	}
	tp_buf_addf(out, "\tword 0x%08" PRIx32 "%08" PRIx32 "\n", record->tagged, record->value);
}

// LEVEL: 0, or the one that the chunk was packed with.
static void add_chunk(struct tp_buf *out, struct tp_bytes *bytes, uint32_t level)
{
	struct teeperf_chunk chunk;
	tp_bytes_copy(bytes, &chunk, sizeof(chunk));
	const size_t count = tp_bytes_left(bytes) / 8;
	uint64_t *words = malloc(count * 8 + 8);
	if (!words) {
		out->failed = true;
		return;
	}
	tp_bytes_copy(bytes, words, count * 8);
	tp_buf_add_string(out, "chunk");
	tp_text_add(out, TP_TEXT_CHUNK_THREAD, &chunk);
	tp_text_add(out, TP_TEXT_CHUNK, &chunk);
	if (level)
		tp_buf_addf(out, " packed=%" PRIu32, level);
	tp_buf_add_char(out, '\n');
	struct tp_record_cursor at = tp_records_begin(words, (uint32_t)count, chunk.first_time);
	for (struct tp_record record; tp_record_next(&at, &record);)
		add_record(out, &at, &record);
	free(words);
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

// A line of fields. TITLE begins it.
static void add_line(
    struct tp_buf *out, const char *title, enum tp_text_struct of, struct tp_bytes *bytes)
{
	const uint32_t size = tp_text_size(of);
	uint64_t data[TP_TEXT_SIZE_MAX / sizeof(uint64_t)];
	tp_buf_add_string(out, title);
	if (size) {
		tp_bytes_copy(bytes, data, size);
		tp_text_add(out, of, data);
	}
	tp_buf_add_char(out, '\n');
}

static void add_string(struct tp_buf *out, char end, struct tp_bytes *bytes)
{
	const char *text = (const char *)bytes->data + bytes->at;
	const char *stop = memchr(text, end, tp_bytes_left(bytes));
	const size_t size = stop ? (size_t)(stop - text) : tp_bytes_left(bytes);
	tp_bytes_take(bytes, stop ? size + 1 : size);
	tp_buf_add_char(out, ' ');
	tp_text_add_quoted(out, text, size);
	tp_buf_add_char(out, '\n');
}

static void add_section(
    struct tp_buf *out, const struct tp_section_kind *section, struct tp_bytes *bytes)
{
	add_line(out, section->title, section->head, bytes);
	uint32_t items = 0;
	if (section->more && !bytes->underflow)
		memcpy(&items, bytes->data + section->count_at, sizeof(items));
	while (section->type != TEEPERF_SECTION_END && !bytes->underflow && tp_bytes_left(bytes)) {
		tp_buf_add_char(out, '\t');
		if (section->more && !items) {
			add_line(out, section->more, section->more_entry, bytes);
		} else if (section->entry && section->item) {
			items -= items != 0;
			add_line(out, section->item, section->entry, bytes);
		} else if (section->item) {
			tp_buf_add_string(out, section->item);
			add_string(out, section->end, bytes);
		} else {
			const uint64_t word = tp_bytes_u64(bytes);
			tp_buf_addf(out, "%s %" PRIu64 "\n", word & 1 ? "on" : "off", word >> 1);
		}
	}
}

static void add_structure(struct tp_buf *out, const struct tp_section *section, uint64_t chunk_size)
{
	struct tp_bytes bytes;
	tp_bytes_init(&bytes, section->payload, section->header.size);
	const struct tp_section_kind *known = tp_section_kind(section->header.type);
	if (section->header.type == TEEPERF_SECTION_CHUNK)
		add_chunk(out, &bytes, 0);
	else if (section->header.type == TEEPERF_SECTION_PACKED)
		add_packed(out, section, chunk_size);
	else if (known && !known->untold)
		add_section(out, known, &bytes);
}

// Before the text of a section, which is assembled without a file header.
#define NO_HEADER "bytes\n"

// Add TEXT if it assembles to just these bytes, else the bytes. NO_HEADER is not added.
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
	const size_t mark = strlen(NO_HEADER);
	if (same && text->size >= mark && memcmp(text->data, NO_HEADER, mark) == 0)
		tp_buf_add(out, text->data + mark, text->size - mark);
	else if (same)
		tp_buf_add(out, text->data, text->size);
	else
		add_bytes(out, data, size);
	tp_buf_release(&again);
}

// Add the bytes between two offsets; TEXT is the form that they should have, empty if there is
// none.
static int add_part(const struct tp_source *source, uint64_t from, uint64_t to,
    const struct tp_buf *text, struct tp_buf *out, struct tp_err *err)
{
	const size_t size = to - from;
	uint8_t *data = malloc(size ? size : 1);
	if (!data)
		return tp_err_set_at(err, TP_ERR_MEMORY, source->name, from,
		    "out of memory while allocating %zu bytes", size);
	const int code = tp_source_read(source, from, data, size, err);
	if (!code)
		add_checked(out, text, data, size);
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
	tp_buf_add_string(&text, "trace");
	tp_text_add(&text, TP_TEXT_HEADER, header);
	tp_buf_add_char(&text, '\n');
	uint64_t done = reader.at < source->size ? reader.at : source->size;
	code = add_part(source, 0, done, &text, out, err);
	struct tp_section section;
	int more = 0;
	while (!code && (more = tp_reader_next(&reader, &section, err)) > 0) {
		tp_buf_reset(&text);
		if (!section.damaged) {
			tp_buf_add_string(&text, NO_HEADER);
			add_structure(&text, &section, UINT64_C(1) << header->chunk_shift);
		}
		done = reader.at < source->size ? reader.at : source->size;
		code = add_part(source, section.offset, done, &text, out, err);
	}
	if (!code)
		code = more;
	tp_buf_reset(&text);
	if (!code && done < source->size)
		code = add_part(source, done, source->size, &text, out, err);
out:
	tp_buf_release(&text);
	tp_reader_release(&reader);
	return code;
}
