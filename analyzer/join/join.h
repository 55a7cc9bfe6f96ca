/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two traces become one: that of a host program and that of its TEE, recorded on one clock
 * (`teeperf record --tee`). What a thread did in the TEE stands in the host's thread, where that
 * had called there. Of what the TEE says nothing changes the host's own calls and times: its calls
 * are made to nest, its times to lie between the host's, and its names to be of its own modules.
 * docs/decisions/0028-joined-traces.md.
 */
#ifndef TP_JOIN_H
#define TP_JOIN_H

#include "analyzer/trace/tracefile.h"
#include "common/buf.h"

struct tp_join_counts {
	uint64_t calls;     /* of the host into the TEE that are joined */
	uint64_t ambiguous; /* calls in the TEE that may be several of the host's: not joined */
	uint64_t alone;     /* ... of which the host has none: not joined */
	uint64_t moved; /* modules of the TEE that share addresses with others, and got new ones */
	uint64_t times; /* records of the TEE whose times were not between the host's */
	uint64_t dropped;   /* ... that are of no module of the TEE's: left out */
	uint64_t unmatched; /* ... that end no call that is open: left out */
	uint32_t threads;   /* threads of their own, as not all of their calls are joined */
};

/*
 * Write the joined trace to OUT. Unless the two are KNOWN to be of one recording, the host's must
 * have a mark of a call into a TEE: TP_ERR_NOT_FOUND, with nothing written, if it has none. 0 or a
 * negative tp_error.
 */
int tp_join(const struct tp_tracefile *host, const struct tp_tracefile *tee, bool known,
    struct tp_buf *out, struct tp_join_counts *counts, struct tp_err *err);

#endif
