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

/* The most lists that may be given. */
enum { TP_PASS_ALLOWLISTS_MAX = 64 };

struct tp_pass {
	struct tp_allowlist *allowlist; /* NULL: every function */
	enum teeperf_compiled_clock clock;
	enum tp_tail_calls tail_calls;
	enum tp_shape shape;
	bool one_thread;    /* for a platform that runs one thread (abi.h) */
	bool untimed_exits; /* the clock is read on entry only */
	uint32_t sample; /* of functions that would have events: 1 of so many calls has, 0: none */
	const char *module; /* what it will be linked into, for mod: lines; NULL: not known */
	const char
	    *switches; /* names with "," between them: these functions switch stacks; or NULL */
	const char *inventory_folder; /* inventories are also written as files there; or NULL */
	uint64_t lists_hash;          /* of the allowlist's lines */
	bool inventory;               /* leave inventories in what is compiled (inventory_pass.h) */
	/* More passes may inline what we instrument (LTO on a linker that cannot load the plugin). */
	bool inlined_later;
};

/* String attribute on functions: the decision, then (once instrumented) TP_ATTRIBUTE_DONE. */
#define TP_ATTRIBUTE "teeperf"
#define TP_ATTRIBUTE_EVENT "event"
#define TP_ATTRIBUTE_COUNT "count"
#define TP_ATTRIBUTE_SAMPLE "sample/" /* and a number behind it */
/* Not recorded; but if control may come back to it from above, it says so (resync). */
#define TP_ATTRIBUTE_SKIP "skip"
#define TP_ATTRIBUTE_NEVER "never" /* no code of ours at all */
#define TP_ATTRIBUTE_DONE "done"
/*
 * String attribute: the linkage name about which the decision was made. Copies inherit both, and link-time
 * optimisation renames internal functions.
 */
#define TP_ATTRIBUTE_NAME "teeperf-name"
/* Module flag: this module has been through the tag stage. */
#define TP_FLAG_TAGGED "teeperf.tagged"

/* Options as text, each NULL or empty if not given; the environment variable behind it then counts. */
struct tp_pass_options {
	const char *allowlist;  /* TEEPERF_ALLOWLIST: files, with ":" between them */
	const char *clock;      /* TEEPERF_CLOCK: auto, tsc or soft */
	const char *exits;      /* TEEPERF_EXITS: timed or untimed */
	const char *inventory;  /* TEEPERF_INVENTORY: a folder, or none */
	const char *level;      /* TEEPERF_LEVEL: event, count, sample or sample/N */
	const char *module;     /* TEEPERF_MODULE: a name */
	const char *shape;      /* TEEPERF_SHAPE: inline or call */
	const char *switches;   /* TEEPERF_SWITCHES: names of functions, with "," between them */
	const char *tail_calls; /* TEEPERF_TAIL_CALLS: call or keep */
	const char *threads;    /* TEEPERF_THREADS: many or one */
};

/* 0, or a negative tp_error with *err. */
int tp_pass_init(struct tp_pass *pass, const struct tp_pass_options *options, struct tp_err *err);

/* Stage 1; `before_link`: of LTO. Returns whether the module changed. */
bool tp_pass_tag(const struct tp_pass *pass, LLVMModuleRef module, bool before_link);
bool tp_pass_is_tagged(LLVMModuleRef module);

/* Stage 2, idempotent. Returns whether the module changed. */
bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module);

/* ---- between the files of the pass ---------------------------------------------------------- */

/* The attribute's value on a function, "" if it has none; as long as the function lives. */
const char *tp_select_decision(LLVMValueRef function, unsigned *length);
bool tp_select_is(LLVMValueRef function, const char *decision);
void tp_select_set(LLVMValueRef function, const char *decision);
/* What is called, behind casts and aliases: a function or something else. */
LLVMValueRef tp_select_callee(LLVMValueRef called);
/* The linkage name. */
const char *tp_select_name(LLVMValueRef function, size_t *length);
/* The name about which the decision was made if it is another one, to be freed; else NULL. */
char *tp_select_origin(LLVMValueRef function);
/* Decide again, and change the attribute, now that facts and names will stay; `main_file` is what was
 * compiled, NULL for the module's. */
struct tp_verdict tp_select_again(const struct tp_pass *pass, LLVMValueRef function,
    const char *main_file, const struct tp_facts *facts);

/* What records in one module have in common. */
struct tp_sequence {
	LLVMModuleRef module;
	LLVMContextRef context;
	const struct tp_pass *pass;
	const struct tp_text_machine *machine;
	LLVMValueRef block;      /* the module's teeperf_module_block */
	LLVMValueRef functions;  /* the object file's teeperf_functions */
	LLVMValueRef *hashes;    /* of the functions' names, so far */
	unsigned function_count; /* that will get code of ours, those that are watched included */
	unsigned gate_count;     /* that will have gates of their own */
	unsigned next;           /* ... and have them */
	LLVMTypeRef resync_type; /* void (i64 position, i64 name), in the runtime */
	LLVMValueRef resync;
	bool has_records; /* functions with events were instrumented */
};

/* A function that is being instrumented. */
struct tp_target {
	LLVMValueRef function;
	LLVMValueRef name; /* the pointer that names it in records (log.h), without a kind */
	unsigned gate;     /* offset in the object file's teeperf_functions */
	uint32_t sample;   /* one call of so many has records, 1: each, 0: none */
	bool watched;      /* nothing is recorded of it */
	/* Of a function that is counted or sampled. */
	const struct tp_count_group *group;
	unsigned number; /* in the group */
	/* i64: whether this activation has records; NULL: always. Set by tp_count_at_entry. */
	LLVMValueRef sampled;
};

/* NULL if the module's processor is supported, else what to say about it. */
const char *tp_sequence_refuse(LLVMModuleRef module);

/*
 * Declares the runtime's symbols in `module`, and the module's own. Each target is begun with
 * tp_sequence_begin, GATE_COUNT of them not watched; tp_sequence_finish comes last. False: no memory.
 * pre: not refused.
 */
bool tp_sequence_init(struct tp_sequence *sequence, const struct tp_pass *pass,
    LLVMModuleRef module, unsigned gate_count);
struct tp_target tp_sequence_begin(
    struct tp_sequence *sequence, LLVMValueRef function, uint32_t sample, bool watched);
void tp_sequence_finish(struct tp_sequence *sequence);

/*
 * A record at the builder's place. Returns its position (i64; 0 if it was lost, TEEPERF_POSITION_OFF
 * if nothing is recorded) if that is wanted, else NULL.
 */
LLVMValueRef tp_sequence_record(struct tp_sequence *sequence, LLVMBuilderRef builder,
    const struct tp_target *target, enum teeperf_kind kind, bool position);

/* The position of an activation that has no record (log.h, TEEPERF_POSITION_BETWEEN), as i64. */
LLVMValueRef tp_sequence_between(struct tp_sequence *sequence, LLVMBuilderRef builder);

/* Whether functions with records must keep off the memory below their stack pointer. */
bool tp_sequence_needs_no_red_zone(const struct tp_sequence *sequence);

/* Mark the module as made for profiling (abi.h, teeperf_note). May be called again. */
void tp_mark_module(LLVMModuleRef module);

/* Only declare what instrumented code will refer to, so that an LTO link fetches the runtime. */
void tp_sequence_declare(LLVMModuleRef module);

/* Assembly at the builder's place with its arguments; returns the call. */
LLVMValueRef tp_sequence_assemble(struct tp_sequence *sequence, LLVMBuilderRef builder,
    const struct tp_text *text, LLVMValueRef *arguments, unsigned count);

/* void name(): a hidden function, one when linked, or one of this object file (`own`). */
LLVMValueRef tp_sequence_caller(struct tp_sequence *sequence, const char *name, bool own,
    const char *callee, LLVMTypeRef callee_type, LLVMValueRef *arguments, unsigned count);

/*
 * Call `function` before the program's own constructors. Where one thread is all that a platform has, its linker script
 * may know no constructors with a priority, or none at all: there it is one without, and one of those that entering
 * calls, too (abi.h). So it may be called more than once.
 */
void tp_sequence_construct(struct tp_sequence *sequence, LLVMValueRef function);

/* The counted and sampled functions of an object file, at most TEEPERF_COUNTED_MAX of them. */
struct tp_count_group {
	LLVMValueRef counted; /* the teeperf_counted */
	LLVMValueRef place;   /* the thread-local pointer */
};

/* Make the group of these targets and set their .group and .number; false: no memory. */
bool tp_count_group_init(struct tp_count_group *group, struct tp_sequence *sequence,
    struct tp_target *targets, unsigned count);
/* Count a call at the builder's place; sets target->sampled if the target is sampled. */
void tp_count_at_entry(
    struct tp_sequence *sequence, LLVMBuilderRef builder, struct tp_target *target);

/* Whether a call or invoke may leave for another stack (swapcontext and the like). */
bool tp_stacks_switched_by(const struct tp_pass *pass, LLVMValueRef instruction);
/* At the function's entry: in which thread the activation begins, and room for what leaving tells arriving. */
struct tp_stacks_entry {
	LLVMValueRef home; /* i64 */
	LLVMValueRef left; /* alloca of an i64 */
};
struct tp_stacks_entry tp_stacks_enter(struct tp_sequence *sequence, LLVMBuilderRef builder);
/* Say at the builder's place, before such a call or behind it, that the stack is left or come back to.
 * `where`: position of the activation; `name`: of its function, as i64. */
void tp_stacks_tell(struct tp_sequence *sequence, LLVMBuilderRef builder, bool behind,
    LLVMValueRef where, LLVMValueRef name, const struct tp_stacks_entry *entry);

/*
 * Mark calls over the border of a TEE, and functions that are called over it, as the SDKs' tools generate them.
 * Returns whether there are any. pre: the module's processor is supported.
 */
bool tp_border_mark(LLVMModuleRef module);

/* Whether control can come back into the function from above, other than to clean up on its way. */
bool tp_inject_catches(const struct tp_pass *pass, LLVMValueRef function);

/* Put count, enter, exit and resync records into one function. */
void tp_inject(struct tp_sequence *sequence, struct tp_target *target);

#endif
