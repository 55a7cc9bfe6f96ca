/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The pass in two stages. tag: at the start of the pipeline, decide for each function and leave the
 * decision on it as an attribute. instrument: at the end, put the sequence of include/teeperf/abi.h
 * into those that survived. Between them, at link time with LTO, anything may be inlined or cloned.
 */
#ifndef TP_PASS_H
#define TP_PASS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#include <teeperf/abi.h>

#include "allowlists/allowlist.h"
#include "sequence_text.h"

enum tp_tail_calls {
	TP_TAIL_CALLS_CALL = 0, /* a tail call becomes a call and a return: exact nesting */
	TP_TAIL_CALLS_KEEP,     /* it stays a jump: the callee appears beside its caller */
};

struct tp_pass {
	struct tp_allowlist *allowlist; /* NULL: every function */
	enum teeperf_compiled_clock clock;
	enum tp_tail_calls tail_calls;
	enum tp_shape shape;
	bool untimed_exits; /* the clock is read on entry only */
	bool count_only;    /* functions that would have events are only counted */
	/* More passes may inline what we instrument (LTO on a linker that cannot load the plugin). */
	bool inlined_later;
};

/* String attribute on functions: the decision, then (once instrumented) TP_ATTRIBUTE_DONE. */
#define TP_ATTRIBUTE "teeperf"
#define TP_ATTRIBUTE_EVENT "event"
#define TP_ATTRIBUTE_COUNT "count"
#define TP_ATTRIBUTE_SKIP "skip"
#define TP_ATTRIBUTE_DONE "done"
/* Module flag: this module has been through the tag stage. */
#define TP_FLAG_TAGGED "teeperf.tagged"

/* Options as text, each NULL or empty if not given; the environment variable behind it then counts. */
struct tp_pass_options {
	const char *allowlist;  /* TEEPERF_ALLOWLIST: a file */
	const char *clock;      /* TEEPERF_CLOCK: auto, tsc or soft */
	const char *exits;      /* TEEPERF_EXITS: timed or untimed */
	const char *level;      /* TEEPERF_LEVEL: event or count */
	const char *shape;      /* TEEPERF_SHAPE: inline or call */
	const char *tail_calls; /* TEEPERF_TAIL_CALLS: call or keep */
};

/* 0, or a negative tp_error with *err. */
int tp_pass_init(struct tp_pass *pass, const struct tp_pass_options *options, struct tp_err *err);

/* Stage 1. Returns whether the module changed. */
bool tp_pass_tag(const struct tp_pass *pass, LLVMModuleRef module);
bool tp_pass_is_tagged(LLVMModuleRef module);

/* Stage 2, idempotent. Returns whether the module changed. */
bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module);

/* ---- between the files of the pass ---------------------------------------------------------- */

/* The attribute's value on a function, "" if it has none; as long as the function lives. */
const char *tp_select_decision(LLVMValueRef function, unsigned *length);
bool tp_select_is(LLVMValueRef function, const char *decision);
void tp_select_set(LLVMValueRef function, const char *decision);

/* What records in one module have in common. */
struct tp_sequence {
	LLVMModuleRef module;
	LLVMContextRef context;
	const struct tp_pass *pass;
	const struct tp_text_machine *machine;
	LLVMValueRef block;      /* the module's teeperf_module_block */
	LLVMTypeRef resync_type; /* void (i64 position, i64 name), in the runtime */
	LLVMValueRef resync;
	bool has_records; /* functions with events were instrumented */
};

/* NULL if the module's processor is supported, else what to say about it. */
const char *tp_sequence_refuse(LLVMModuleRef module);

/* Declares the runtime's symbols in `module`, and the module's own. pre: not refused. */
void tp_sequence_init(
    struct tp_sequence *sequence, const struct tp_pass *pass, LLVMModuleRef module);

/* The pointer that names `function` in records (log.h), without a kind. */
LLVMValueRef tp_sequence_name(struct tp_sequence *sequence, LLVMValueRef function);

/*
 * A record at the builder's place; `name` from tp_sequence_name. Returns its position (i64; 0 if it
 * was lost, TEEPERF_POSITION_OFF if nothing is recorded) if that is wanted, else NULL.
 */
LLVMValueRef tp_sequence_record(struct tp_sequence *sequence, LLVMBuilderRef builder,
    LLVMValueRef name, enum teeperf_kind kind, bool position);

/* Whether functions with records must keep off the memory below their stack pointer. */
bool tp_sequence_needs_no_red_zone(const struct tp_sequence *sequence);

/* The constructor that registers this module with the runtime, and the destructor. */
void tp_sequence_add_constructor(struct tp_sequence *sequence);

/* Only declare what instrumented code will refer to, so that an LTO link fetches the runtime. */
void tp_sequence_declare(LLVMModuleRef module);

/*
 * Assembly at the builder's place with two arguments that are symbols, behind an optional first one;
 * returns the call.
 */
LLVMValueRef tp_sequence_assemble(struct tp_sequence *sequence, LLVMBuilderRef builder,
    const struct tp_text *text, LLVMValueRef *arguments, unsigned count);

/* void name(): a hidden function, one when linked, or one of this object file (`own`). */
LLVMValueRef tp_sequence_caller(struct tp_sequence *sequence, const char *name, bool own,
    const char *callee, LLVMTypeRef callee_type, LLVMValueRef *arguments, unsigned count);

/* Count the calls of the `count` functions, at most TEEPERF_COUNTED_MAX. */
void tp_count_calls(struct tp_sequence *sequence, LLVMValueRef *functions, unsigned count);

/* What applies to every function that gets code of ours. */
void tp_inject_prepare(struct tp_sequence *sequence, LLVMValueRef function);
/* The place behind a function's fixed allocations, where it begins for us; sets its line too. */
void tp_inject_position_at_entry(LLVMBuilderRef builder, LLVMValueRef function);

/* Put enter, exit and resync records into one function. */
void tp_inject(struct tp_sequence *sequence, LLVMValueRef function);

#endif
