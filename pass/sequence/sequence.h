/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Records in IR: what the functions of a module that get code of ours have in common, and the code
 * of one record.
 */
#ifndef TP_SEQUENCE_H
#define TP_SEQUENCE_H

#include "pass/pass.h"

struct tp_count_group;

/* What records in one module have in common. */
struct tp_sequence {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMTypeRef i8, i64, pointer;
	const struct tp_pass *pass;
	const struct tp_text_machine *machine;
	LLVMValueRef block;     /* the module's teeperf_module_block */
	LLVMValueRef functions; /* the object file's teeperf_functions */
	LLVMValueRef *hashes;   /* of the functions' names, so far */
	unsigned gate_count;    /* that will have gates of their own */
	unsigned next;          /* ... and have them */
	bool has_records;       /* functions with events were instrumented */
};

/* A function that is being instrumented. */
struct tp_target {
	LLVMValueRef function;
	LLVMValueRef name; /* the pointer that names it in records (log.h), without a kind */
	unsigned gate;     /* offset in the object file's teeperf_functions */
	uint32_t sample;   /* one call of this number has records, 1: each, 0: none */
	bool watched;      /* nothing is recorded of it */
	bool is_second;    /* it is a second body (pass/bodies.c) */
	bool is_open;      /* its gate has been found open before it begins */
	/* Of a function that is counted or sampled. */
	const struct tp_count_group *group;
	unsigned number; /* in the group */
	/* i64: whether this activation has records; NULL: always. Set by tp_count_at_entry. */
	LLVMValueRef sampled;
};

/* NULL if the module's processor is supported, else what to say about it. */
const char *tp_sequence_refuse(LLVMModuleRef module, enum tp_threads threads);

/*
 * Declares the runtime's symbols in `module`, and the module's own. Each target is begun with
 * tp_sequence_begin, GATE_COUNT of them not watched; tp_sequence_finish comes last. False: no
 * memory.
 * pre: not refused.
 */
bool tp_sequence_init(struct tp_sequence *sequence, const struct tp_pass *pass,
    LLVMModuleRef module, unsigned gate_count);
void tp_sequence_begin(struct tp_sequence *sequence, struct tp_target *target);
void tp_sequence_finish(struct tp_sequence *sequence);

/*
 * A record at the builder's place. Returns its position (i64; 0 if it was lost,
 * TEEPERF_POSITION_OFF if nothing is recorded) if that is wanted, else NULL.
 */
LLVMValueRef tp_sequence_record(struct tp_sequence *sequence, LLVMBuilderRef builder,
    const struct tp_target *target, enum teeperf_kind kind, bool position);

/* The position of an activation that has no record (log.h, TEEPERF_POSITION_BETWEEN), as i64. */
LLVMValueRef tp_sequence_between(struct tp_sequence *sequence, LLVMBuilderRef builder);

/*
 * The function's name in characters that no assembler takes for its own, and the suffix; to be
 * freed, NULL: no memory.
 */
char *tp_sequence_plain_name(LLVMValueRef function, const char *suffix);

/* Whether functions with records must keep off the memory below their stack pointer. */
bool tp_sequence_needs_no_red_zone(const struct tp_sequence *sequence);

/* Only declare what instrumented code will refer to, so that an LTO link fetches the runtime. */
void tp_sequence_declare(LLVMModuleRef module);

/* Assembly at the builder's place with its arguments; returns the call. */
LLVMValueRef tp_sequence_assemble(struct tp_sequence *sequence, LLVMBuilderRef builder,
    const struct tp_text *text, LLVMValueRef *arguments, unsigned count);

/* A variable of this object file, of words. `initializer` may be NULL: it comes later. */
LLVMValueRef tp_sequence_own(const struct tp_sequence *sequence, LLVMTypeRef type, const char *name,
    LLVMValueRef initializer);

/* void name(): a hidden function, one when linked, or one of this object file (`own`). */
LLVMValueRef tp_sequence_caller(struct tp_sequence *sequence, const char *name, bool own,
    const char *callee, LLVMValueRef *arguments, unsigned count);

/*
 * Call `function` before the program's own constructors. Where one thread is all that a platform
 * has, its linker script may know no constructors with a priority, or none at all: there it is one
 * without, and one of those that entering calls, too (abi.h). So it may be called more than once.
 */
void tp_sequence_construct(struct tp_sequence *sequence, LLVMValueRef function);

#endif
