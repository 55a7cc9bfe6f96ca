/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Addresses for a TEE's modules in a joined trace: their own, or others where the host's modules are. */
#ifndef TP_JOIN_NAMES_H
#define TP_JOIN_NAMES_H

#include "analyzer/trace/tracefile.h"

struct tp_join_names {
	struct tp_join_place *places; /* by the names before */
	uint32_t count;
	struct teeperf_module *modules; /* as they are to be in the joined trace; count of them */
	uint32_t moved;                 /* of these, how many are not where they were */
};

/* 0 or a negative tp_error; release it in any case. */
int tp_join_names_init(struct tp_join_names *names, const struct tp_tracefile *host,
    const struct tp_tracefile *tee, struct tp_err *err);
void tp_join_names_release(struct tp_join_names *names);

/* What a record's name becomes; 0: it is that of no module of the TEE. */
uint32_t tp_join_names_find(const struct tp_join_names *names, uint32_t name);
/* The same of an address. */
uint64_t tp_join_names_address(const struct tp_join_names *names, uint64_t address);

#endif
