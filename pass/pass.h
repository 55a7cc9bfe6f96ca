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

enum tp_tail_calls {
	TP_TAIL_CALLS_CALL = 0, /* a tail call becomes a call and a return: exact nesting */
	TP_TAIL_CALLS_KEEP,     /* it stays a jump: the callee appears beside its caller */
};

struct tp_pass {
	struct tp_allowlist *allowlist; /* NULL: every function */
	enum teeperf_compiled_clock clock;
	enum tp_tail_calls tail_calls;
	/* More passes may inline what we instrument (LTO on a linker that cannot load the plugin). */
	bool inlined_later;
};

/* String attribute on functions: the decision, then (once instrumented) TP_ATTRIBUTE_DONE. */
#define TP_ATTRIBUTE "teeperf"
#define TP_ATTRIBUTE_EVENT "event"
#define TP_ATTRIBUTE_SKIP "skip"
#define TP_ATTRIBUTE_DONE "done"
/* Module flag: this module has been through the tag stage. */
#define TP_FLAG_TAGGED "teeperf.tagged"

/*
 * Read options from text (each NULL if not given) and the environment variables TEEPERF_ALLOWLIST,
 * TEEPERF_CLOCK and TEEPERF_TAIL_CALLS behind them. 0, or a negative tp_error with *err.
 */
int tp_pass_init(struct tp_pass *pass, const char *allowlist, const char *clock,
    const char *tail_calls, struct tp_err *err);

/* Stage 1. Returns whether the module changed. */
bool tp_pass_tag(const struct tp_pass *pass, LLVMModuleRef module);
bool tp_pass_is_tagged(LLVMModuleRef module);

/* Stage 2, idempotent. Queue the always-inliner behind it. Returns whether the module changed. */
bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module);

/* ---- between the files of the pass ---------------------------------------------------------- */

/* The attribute's value on a function, "" if it has none; as long as the function lives. */
const char *tp_select_decision(LLVMValueRef function, unsigned *length);
bool tp_select_is(LLVMValueRef function, const char *decision);
void tp_select_set(LLVMValueRef function, const char *decision);

/* The record helpers of one module: internal functions that are inlined away right after us. */
struct tp_sequence {
	LLVMModuleRef module;
	LLVMContextRef context;
	const struct tp_pass *pass;
	LLVMTypeRef record_type; /* void (i64 name) */
	LLVMValueRef record;
	LLVMTypeRef position_type; /* i64 (i64 name): the record's position */
	LLVMValueRef record_position;
	LLVMTypeRef resync_type; /* void (i64 position, i64 name), in the runtime */
	LLVMValueRef resync;
};

/* NULL if the module's processor is supported, else what to say about it. */
const char *tp_sequence_refuse(LLVMModuleRef module);

/* Build the helpers in `module`. Declares the runtime's symbols. */
void tp_sequence_init(
    struct tp_sequence *sequence, const struct tp_pass *pass, LLVMModuleRef module);

/* The i64 constant that names `function` in a record of `kind` (log.h). */
LLVMValueRef tp_sequence_name(
    struct tp_sequence *sequence, LLVMValueRef function, enum teeperf_kind kind);

/* The constructor that registers this module with the runtime. */
void tp_sequence_add_constructor(struct tp_sequence *sequence);

/* Only declare what instrumented code will refer to, so that an LTO link fetches the runtime. */
void tp_sequence_declare(LLVMModuleRef module);

/* Put enter, exit and resync records into one function. */
void tp_inject(struct tp_sequence *sequence, LLVMValueRef function);

#endif
