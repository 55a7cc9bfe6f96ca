/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The parser of trace files (trace.h): the file header, then one section after the other. A fault
 * of a section becomes a problem, and reading goes on behind it where that is possible.
 */
#ifndef TP_READER_H
#define TP_READER_H

#include "common/err.h"
#include "analyzer/trace/source.h"
#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <teeperf/trace.h>

struct tp_reader {
	const struct tp_source *source;
	struct tp_problems *problems;
	struct teeperf_trace_header header;
	uint64_t at;  /* offset of the next section */
	bool skims;   /* of chunks only the beginning is read, and not compared with the checksum */
	bool stopped; /* no section can be found behind `at`, which is not the end */
	/* Why, if bytes that are there could not be read; else its code is 0. */
	struct tp_err unread;
	uint8_t *buffer;   /* the payload of the current section */
	uint64_t capacity; /* bytes of buffer */
};

struct tp_section {
	uint64_t offset; /* of its header in the file */
	struct teeperf_section header;
	/*
	 * header.size bytes, until the next call; of chunks that are skimmed at most sizeof(struct
	 * teeperf_packed)
	 */
	const uint8_t *payload;
	bool damaged; /* the checksum does not fit: do not believe the payload */
};

/*
 * Read the file header. Fails if this is not a trace, or of a version that we do not read. The
 * source and the problems must outlive the reader. Release it in any case.
 */
int tp_reader_init(struct tp_reader *reader, const struct tp_source *source,
    struct tp_problems *problems, struct tp_err *err);
void tp_reader_release(struct tp_reader *reader);

/*
 * The next section: 1 and *section; 0 at the end, or where nothing more can be read (a problem has
 * been added); TP_ERR_MEMORY. Sections whose checksum is wrong are handed out, marked and reported.
 */
int tp_reader_next(struct tp_reader *reader, struct tp_section *section, struct tp_err *err);

/* "chunk", "modules", ..., or NULL. */
const char *tp_section_name(uint32_t type);

/* ---- sections of a trace that is made in memory */

/*
 * Add a section (docs/format.md) of `size` bytes to OUT, with its checksum and what fills it up to
 * a multiple of 8.
 */
void tp_trace_section_add(struct tp_buf *out, uint32_t type, const void *payload, uint64_t size);
/* The same with the contents of PAYLOAD, which is empty then. If that has failed, so has OUT. */
void tp_trace_section_put(struct tp_buf *out, uint32_t type, struct tp_buf *payload);

#endif
