/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shape "dual": a function keeps its body as it is, and gets a second one with the records. One
 * test at its entry leads to either, for the whole call.
 */
#ifndef TP_BODIES_H
#define TP_BODIES_H

#include "pass/sequence/sequence.h"

/*
 * Whether the function can have two bodies, and is worth it; what cannot keeps the records in line.
 */
bool tp_bodies_can(const struct tp_pass *pass, const struct tp_target *target);

/*
 * Give it a second body with enter, exit and resync records. False: no memory. pre: it can have
 * one.
 */
bool tp_bodies_inject(struct tp_sequence *sequence, const struct tp_target *target);

#endif
