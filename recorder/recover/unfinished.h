/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A trace without END, as far as that is needed to go on with it. */
#ifndef TP_UNFINISHED_H
#define TP_UNFINISHED_H

#include <stdbool.h>
#include <stdint.h>

#include <teeperf/trace.h>

#include "analyzer/trace/source.h"
#include "common/buf.h"
#include "common/err.h"
#include "recorder/drain/drain.h"

struct tp_unfinished {
	struct tp_source source;
	struct teeperf_trace_header header;
	uint64_t good; /* offset behind the last whole section */
	bool has_end;
	bool has_log;
	struct teeperf_trace_log log;
	uint64_t chunk_count;      /* CHUNK and PACKED sections, damaged ones too */
	struct tp_chunk_key *keys; /* of those that are not damaged, in order */
	uint64_t key_count;
	uint64_t key_room;
	/* The payloads of the last sections of their kinds; empty: there was none. */
	struct tp_buf threads;
	struct tp_buf clock;
	struct tp_buf switches;
	struct tp_buf host;
};

/*
 * Open the trace PATH for reading and writing, through links only if `follow`, and read it. Fails if it
 * is not a trace, or if sections cannot be told apart before its end: what is behind would be cut off.
 * pre: err is not NULL. Release it in any case.
 */
int tp_unfinished_read(
    struct tp_unfinished *trace, const char *path, bool follow, struct tp_err *err);
void tp_unfinished_release(struct tp_unfinished *trace);

bool tp_unfinished_has_chunk(const struct tp_unfinished *trace, uint32_t thread, uint64_t sequence);

#endif
