// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parser of trace files: the file header, then one section after the other. And sections made
// in memory.
#include "reader.h"

#include "analyzer/trace/sections.h"
#include "common/bytes.h"
#include "common/chunks/checksum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Chunk sizes that we believe: 4 KiB to 16 MiB.
#define CHUNK_SHIFT_MIN 12
#define CHUNK_SHIFT_MAX 24

const char *tp_section_name(uint32_t type)
{
	const struct tp_section_kind *kind = tp_section_kind(type);
	return kind ? kind->title : NULL;
}

// Whether all that the file begins with is letters, digits and their like.
static bool is_text(const struct tp_source *source)
{
	struct tp_err ignored;
	uint8_t bytes[64];
	const uint64_t size = source->size < sizeof(bytes) ? source->size : sizeof(bytes);
	if (tp_source_read_again(source, 0, bytes, size, &ignored))
		return false;
	for (uint64_t i = 0; i < size; i++)
		if ((bytes[i] < ' ' && !strchr("\n\t\r", bytes[i])) || !bytes[i] || bytes[i] > 126)
			return false;
	return true;
}

int tp_reader_init(struct tp_reader *reader, const struct tp_source *source,
    struct tp_problems *problems, struct tp_err *err)
{
	*reader = (struct tp_reader){.source = source, .problems = problems};
	struct teeperf_trace_header *header = &reader->header;
	const char *file = source->name;
	if (source->size == 0)
		return tp_err_set_at(err, TP_ERR_TRUNCATED, file, 0,
		    "the file is empty: nothing was recorded in it");
	uint64_t magic = 0;
	if (source->size < sizeof(magic))
		return tp_err_set_at(err, TP_ERR_FORMAT, file, 0, "not a TeePerf trace: too short");
	int code = tp_source_read_again(source, 0, &magic, sizeof(magic), err);
	if (code)
		return code;
	if (magic == TEEPERF_LOG_MAGIC)
		return tp_err_set_at(err, TP_ERR_FORMAT, file, 0,
		    "this is a shared log, not a trace: 'teeperf record' writes the trace");
	if (memcmp(&magic, "\177ELF", 4) == 0)
		return tp_err_set_at(err, TP_ERR_FORMAT, file, 0,
		    "not a TeePerf trace: a program; 'teeperf record' runs it and writes one");
	if (magic != TEEPERF_TRACE_MAGIC && is_text(source))
		return tp_err_set_at(
		    err, TP_ERR_FORMAT, file, 0, "not a TeePerf trace: a text file");
	if (magic != TEEPERF_TRACE_MAGIC)
		return tp_err_set_at(err, TP_ERR_FORMAT, file, 0,
		    "not a TeePerf trace: it begins with 0x%016" PRIx64, magic);
	code = tp_source_read_again(source, 0, header, sizeof(*header), err);
	if (code)
		return code;
	if (header->major < header->oldest_major || header->major < TEEPERF_TRACE_OLDEST_MAJOR ||
	    header->oldest_major > TEEPERF_TRACE_MAJOR)
		return tp_err_set_at(err, TP_ERR_VERSION, file,
		    offsetof(struct teeperf_trace_header, major),
		    "trace format %u.%u (readable from major %u on), but this teeperf reads %u to "
		    "%u: use the teeperf that recorded it, or a newer one",
		    header->major, header->minor, header->oldest_major, TEEPERF_TRACE_OLDEST_MAJOR,
		    TEEPERF_TRACE_MAJOR);
	if (header->header_size < sizeof(*header) || header->header_size % 8)
		return tp_err_set_at(err, TP_ERR_FORMAT, file,
		    offsetof(struct teeperf_trace_header, header_size),
		    "header of %u bytes; expected at least %zu and a multiple of 8",
		    header->header_size, sizeof(*header));
	if (header->chunk_shift < CHUNK_SHIFT_MIN || header->chunk_shift > CHUNK_SHIFT_MAX)
		return tp_err_set_at(err, TP_ERR_FORMAT, file,
		    offsetof(struct teeperf_trace_header, chunk_shift),
		    "chunk size 2^%" PRIu32 "; expected 2^%d to 2^%d", header->chunk_shift,
		    CHUNK_SHIFT_MIN, CHUNK_SHIFT_MAX);
	reader->at = header->header_size;
	return 0;
}

void tp_reader_release(struct tp_reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
	reader->capacity = 0;
}

// Bytes that are there cannot be read: who goes on with a trace must not take this for its end.
static void stop_unread(struct tp_reader *reader, const struct tp_err *err)
{
	reader->stopped = true;
	reader->unread = *err;
	tp_problems_add_at(reader->problems, err->code, err->file, err->offset, "%s", err->what);
}

static const char *name_of(const struct teeperf_section *header)
{
	const char *name = tp_section_name(header->type);
	return name ? name : "unknown";
}

// Read the section header at `at`; false (and stopped) if there is none.
static bool read_header(struct tp_reader *reader, struct teeperf_section *header)
{
	const char *file = reader->source->name;
	const uint64_t left = reader->source->size - reader->at;
	struct tp_err err;
	reader->stopped = true;
	if (left < sizeof(*header))
		tp_problems_add_at(reader->problems, TP_ERR_TRUNCATED, file, reader->at,
		    "the file ends inside a section header; the part before it is used");
	else if (tp_source_read_again(reader->source, reader->at, header, sizeof(*header), &err))
		stop_unread(reader, &err);
	else if (header->magic != TEEPERF_SECTION_MAGIC)
		tp_problems_add_at(reader->problems, TP_ERR_FORMAT, file, reader->at,
		    "no section begins here (0x%08" PRIx32 "): the rest of the file is not used",
		    header->magic);
	else if (header->size > left - sizeof(*header))
		tp_problems_add_at(reader->problems, TP_ERR_TRUNCATED, file, reader->at,
		    "%s section of %" PRIu64 " bytes, but only %" PRIu64
		    " are there; the part before it is used",
		    name_of(header), header->size, left - sizeof(*header));
	else
		reader->stopped = false;
	// It may be on its way to the file.
	if (reader->stopped)
		tp_source_forget(reader->source, reader->at);
	return !reader->stopped;
}

static int make_room(struct tp_reader *reader, uint64_t size, struct tp_err *err)
{
	if (size <= reader->capacity)
		return 0;
	uint8_t *buffer = realloc(reader->buffer, size);
	if (!buffer)
		return tp_err_set_at(err, TP_ERR_MEMORY, reader->source->name, reader->at,
		    "out of memory while reading a section of %" PRIu64 " bytes", size);
	reader->buffer = buffer;
	reader->capacity = size;
	return 0;
}

// How many bytes of the payload are to be read.
static uint64_t wanted_bytes(const struct tp_reader *reader, const struct teeperf_section *header)
{
	const bool is_chunk =
	    header->type == TEEPERF_SECTION_CHUNK || header->type == TEEPERF_SECTION_PACKED;
	return reader->skims && is_chunk && header->size > sizeof(struct teeperf_packed)
		   ? sizeof(struct teeperf_packed)
		   : header->size;
}

int tp_reader_next(struct tp_reader *reader, struct tp_section *section, struct tp_err *err)
{
	if (reader->stopped || reader->at == reader->source->size)
		return 0;
	if (reader->at > reader->source->size) {
		reader->stopped = true;
		tp_problems_add_at(reader->problems, TP_ERR_TRUNCATED, reader->source->name,
		    reader->source->size, "the file ends inside a section's padding or the header");
		return 0;
	}
	memset(section, 0, sizeof(*section));
	section->offset = reader->at;
	struct teeperf_section *header = &section->header;
	if (!read_header(reader, header))
		return 0;
	const uint64_t wanted = wanted_bytes(reader, header);
	const int code = make_room(reader, wanted ? wanted : 1, err);
	if (code)
		return code;
	struct tp_err failure;
	if (wanted && tp_source_read_again(reader->source, reader->at + sizeof(*header),
			  reader->buffer, wanted, &failure)) {
		stop_unread(reader, &failure);
		return 0;
	}
	section->payload = reader->buffer;
	reader->at += sizeof(*header) + (header->size + 7) / 8 * 8;

	const uint32_t found =
	    wanted < header->size ? header->checksum : tp_checksum(reader->buffer, header->size);
	if (found != header->checksum) {
		section->damaged = true;
		tp_source_forget(reader->source, section->offset);
		tp_problems_add_at(reader->problems, TP_ERR_FORMAT, reader->source->name,
		    section->offset,
		    "%s section is damaged: its checksum is 0x%08" PRIx32
		    ", but its bytes give 0x%08" PRIx32 "; the section is not used",
		    name_of(header), header->checksum, found);
	} else if (header->flags || (!tp_section_name(header->type) &&
					reader->header.minor <= TEEPERF_TRACE_MINOR)) {
		// A newer minor may add types and flags; in one that we know they are damage.
		section->damaged = true;
		tp_problems_add_at(reader->problems, TP_ERR_FORMAT, reader->source->name,
		    section->offset,
		    "section of type %" PRIu32 " with flags 0x%" PRIx32
		    " is not part of format %u.%u; it is not used",
		    header->type, header->flags, reader->header.major, reader->header.minor);
	}
	return 1;
}

void tp_trace_section_add(struct tp_buf *out, uint32_t type, const void *payload, uint64_t size)
{
	const struct teeperf_section header = {
	    .magic = TEEPERF_SECTION_MAGIC,
	    .type = type,
	    .size = size,
	    .checksum = tp_checksum(payload, size),
	};
	tp_buf_add(out, &header, sizeof(header));
	tp_buf_add(out, payload, size);
	tp_buf_add(out, "\0\0\0\0\0\0\0", (8 - size % 8) % 8);
}

void tp_trace_section_put(struct tp_buf *out, uint32_t type, struct tp_buf *payload)
{
	tp_trace_section_add(out, type, payload->data, payload->size);
	out->failed |= payload->failed;
	tp_buf_reset(payload);
}
