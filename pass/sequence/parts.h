/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the texts of all processors are put together with: only for the files that write them. */
#ifndef TP_SEQUENCE_PARTS_H
#define TP_SEQUENCE_PARTS_H

#include "text.h"

/*
 * In the parts `#` and a letter stand for an operand:
 *   #G gate   #N name   #K kind   #P position   #A, #a, #w and #B, #b registers of 64, 32, 16 bits
 *   #T code that loads the address of the thread's block   #F what is before an address in it
 *   #S whether it is sampled now   #O the gate that tells whether recording is on
 * and `$` is doubled, as LLVM wants it. Local labels: 1 the cold path, 2 the end, 6 no record now.
 */
struct tp_text_names {
	char a64[16], a32[16], a16[16], b64[16], b32[16];
	const char *thread, *segment;
	char gate[32], on[32], name[32], kind[4], position[16], sampled[16];
};

void tp_text_append(struct tp_text *text, const struct tp_text_names *names, const char *part);
void tp_text_constrain(struct tp_text *text, const char *constraint);

/*
 * For processors whose operands are "$N" in all sizes: name and constrain those of a record. `time`: a register takes
 * the time. What else the text changes is to be constrained behind them.
 */
void tp_text_operands(struct tp_text *text, struct tp_text_names *names,
    const struct tp_text_request *request, bool time);

extern const struct tp_text_machine tp_text_x86_64, tp_text_aarch64, tp_text_riscv64;

#endif
