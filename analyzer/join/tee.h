/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The TEE's records, as they go into a joined trace: whatever they are, what is written is calls that nest and end, of
 * the TEE's functions, at times that fit.
 */
#ifndef TP_JOIN_TEE_H
#define TP_JOIN_TEE_H

#include "analyzer/join/splice.h"

/*
 * Write RECORD, at LIMIT at the latest. It ends no call but those that are open above BASE. 0 or a negative
 * tp_error.
 */
int tp_join_tee_record(
    struct tp_splice *splice, const struct tp_join_record *record, uint32_t base, uint64_t limit);

/* Calls that have ended without a time end by TIME. */
void tp_join_tee_settle(struct tp_splice *splice, uint64_t time);

/* Those above BASE end. */
void tp_join_tee_end(struct tp_splice *splice, uint32_t base, uint64_t time, uint64_t limit);

#endif
