/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The sequence of abi.h as inline assembly: one text for each processor, clock and kind of record.
 *
 * Text rather than IR, because it is the same on every LLVM, is not taken apart by the register
 * allocator, and compiles faster: see docs/decisions/0007-sequence-as-assembly.md.
 */
#ifndef TP_SEQUENCE_TEXT_H
#define TP_SEQUENCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <teeperf/abi.h>

enum tp_shape {
	TP_SHAPE_INLINE = 0, /* the whole sequence in line */
	TP_SHAPE_CALL,       /* the gate in line, and a call of __teeperf_record */
};

/* What is asked for. */
struct tp_text_request {
	enum teeperf_compiled_clock clock;
	enum tp_shape shape;
	enum teeperf_kind kind; /* UNTIMED: no clock is read */
	bool position;          /* the record's position is wanted: output 0 */
	bool name_in_register;  /* the name comes in a register, not as a symbol */
	bool sampled;           /* only if a further operand is not 0 */
	bool one_thread;        /* the thread's block is not thread-local (abi.h) */
	unsigned gate;          /* offset of the function's gate from its operand */
};

/* A counted call (teeperf_counted in abi.h). */
struct tp_text_count {
	unsigned offset; /* of the count from the thread's pointer */
	unsigned gate;
	bool no_red_zone;
	bool wants_count; /* the number of the call, 0 if it was not counted: output 0 */
};

/*
 * What it is made of: assembly for LLVM with its constraints. Operands in this order: the outputs
 * (the position first if it is wanted, then scratch registers), all i64; then the object file's
 * teeperf_functions, the function's name, and whether it is sampled now, if that is asked.
 */
struct tp_text {
	char assembly[1536];
	char constraints[256];
	unsigned output_count;
};

/* A processor: the beginning of its target triples. */
struct tp_text_machine {
	const char *prefix;
	void (*write)(struct tp_text *text, const struct tp_text_request *request);
	/* The position of an activation without a record. Operands: the output, teeperf_functions. */
	void (*write_between)(struct tp_text *text, bool one_thread);
	/* Operands: the output, the thread's pointer, teeperf_functions, teeperf_counted. */
	void (*write_count)(struct tp_text *text, const struct tp_text_count *request);
	/* Return addresses are pushed: nothing may live below the stack pointer. */
	bool needs_no_red_zone;
};

/* The machine that a target triple names, NULL if it is not supported. */
const struct tp_text_machine *tp_text_find(const char *triple);

#endif
