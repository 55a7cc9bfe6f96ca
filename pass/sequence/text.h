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
	TP_SHAPE_AUTO = 0, /* two bodies where they are cheap (pass/bodies.c), else in line */
	TP_SHAPE_INLINE,   /* the whole sequence in line */
	TP_SHAPE_CALL,     /* the gate in line, and a call of __teeperf_record */
	TP_SHAPE_DUAL,     /* in line in a second body of the function (pass/bodies.c) */
};

/* Where the thread's block is (abi.h). */
enum tp_threads {
	TP_THREADS_MANY = 0, /* in thread-local storage */
	TP_THREADS_ONE,      /* in a variable */
	TP_THREADS_APART,    /* where a thread-local pointer says */
	TP_THREADS,
};

/* The wanted sequence. */
struct tp_text_request {
	enum teeperf_compiled_clock clock;
	enum tp_shape shape;
	enum teeperf_kind kind; /* UNTIMED: no clock is read */
	bool position;          /* the record's position is wanted: output 0 */
	bool name_in_register;  /* the name comes in a register, not as a symbol */
	bool sampled;           /* only if a further operand is not 0 */
	enum tp_threads threads;
	bool is_second; /* in a body that calls reach by open gates (pass/bodies.c) */
	bool is_open;   /* the function's gate has just been found open */
	unsigned gate;  /* offset of the function's gate from its operand */
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

/*
 * In the parts of a processor `#` and a letter stand for an operand:
 *   #G gate   #N name   #K kind   #P position   #A, #a and #B, #b registers of 64 and 32 bits
 *   #T code that loads the address of the thread's block   #F the text before an address in it
 *   #S whether it is sampled now   #O the gate that tells whether recording is on
 *   #R the routine of runtime/arch/record.S
 *   #L and #l code that moves the stack pointer off the red zone, and back
 * and of a counted call:
 *   #C the thread's pointer   #D the teeperf_counted   #I offset of the count
 *   #P number of the call
 * `$` is doubled, as LLVM wants it. Local labels: 1 the cold path, 2 the end, 6 no record now.
 */
struct tp_text_names {
	const char *of['z' + 1]; /* by letter */
	char room[16][32];       /* for those that are made */
	unsigned used;
};

/*
 * A processor: its parts, in the order in which they come in a text, or NULL. Of two, [1] is the
 * one for messages.
 */
struct tp_text_machine {
	const char *prefix;     /* the beginning of its target triples */
	bool needs_no_red_zone; /* it pushes return addresses: below the stack pointer is no room */
	bool has_modifiers;  /* operands are ${N:q} in registers and ${N:c} as symbols, else $N */
	const char *symbol;  /* the constraint of symbols */
	const char *changed; /* what a text changes that takes no registers */
	/*
	 * Take what registers the text needs (tp_text_take), and name them; returns what it changes
	 * beside them.
	 */
	const char *(*take_registers)(struct tp_text *text, struct tp_text_names *names,
	    const struct tp_text_request *request);
	const char *thread[TP_THREADS]; /* NULL: not there; changes no flags */
	const char *segment, *lower, *raise;
	const char *on; /* without a record there is still a position, unless recording is off */
	const char *sampled;
	const char *gate[3];  /* the clock is chosen at run time; and in a second body */
	const char *call[2];  /* name in a register; then comes the end */
	const char *begin[2]; /* name in a register */
	const char *choose[2], *soft, *hardware;  /* in a second body */
	const char *high[2];                      /* untimed */
	const char *cursor, *bias, *bump, *place; /* bias and place: for the position */
	const char *take_name[2];                 /* name in a register */
	const char *store[2];                     /* untimed */
	const char *ahead; /* at exits: once a call is enough for a line every four calls */
	const char *done, *chosen_hardware[2]; /* in a second body */
	const char *cold[2];                   /* name in a register */
	const char *end[2];                    /* with a position */
	const char *between, *count[2];        /* the number of the call is wanted */
};
extern const struct tp_text_machine tp_text_x86_64, tp_text_aarch64, tp_text_riscv64;

/* The machine that a target triple names, NULL if it is not supported. */
const struct tp_text_machine *tp_text_find(const char *triple);

void tp_text_write(struct tp_text *text, const struct tp_text_machine *machine,
    const struct tp_text_request *request);
/* The position of an activation without a record. Operands: the output, teeperf_functions. */
void tp_text_write_between(
    struct tp_text *text, const struct tp_text_machine *machine, enum tp_threads threads);
/* Operands: the output, the thread's pointer, teeperf_functions, teeperf_counted. */
void tp_text_write_count(struct tp_text *text, const struct tp_text_machine *machine,
    const struct tp_text_count *request);

/* For take_registers: one more register, an output of the text; and what a letter stands for. */
void tp_text_take(struct tp_text *text);
void tp_text_name(struct tp_text_names *names, char letter, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
