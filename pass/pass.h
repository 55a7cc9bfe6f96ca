/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The pass in two stages. tag (select.c): at the start of the pipeline, decide for each function
 * and leave the decision on it as an attribute. instrument: at the end, put the sequence of
 * include/teeperf/abi.h into those that survived. Between them, at link time with LTO, anything may
 * be inlined or cloned.
 */
#ifndef TP_PASS_H
#define TP_PASS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#include <teeperf/abi.h>

#include "allowlists/language/allowlist.h"
#include "pass/sequence/text.h"

enum tp_tail_calls {
	TP_TAIL_CALLS_AUTO = 0, /* as CALL, but as KEEP in circles of tail calls */
	TP_TAIL_CALLS_CALL,     /* a tail call becomes a call and a return: exact nesting */
	TP_TAIL_CALLS_KEEP,     /* it stays a jump: the callee appears beside its caller */
};

/* The most lists that may be given. */
enum { TP_PASS_ALLOWLISTS_MAX = 64 };

struct tp_pass {
	struct tp_allowlist *allowlist; /* NULL: every function */
	enum teeperf_compiled_clock clock;
	enum tp_tail_calls tail_calls;
	enum tp_shape shape;
	enum tp_threads threads;
	bool untimed_exits; /* the clock is read on entry only */
	/* of functions that would have events: 1 call of this number has them, 0: none */
	uint32_t sample;
	const char *module; /* what it will be linked into, for mod: lines; NULL: not known */
	const char
	    *switches; /* names with "," between them: these functions switch stacks; or NULL */
	const char *inventory_folder; /* inventories are also written as files there; or NULL */
	uint64_t lists_hash;          /* of the allowlist's lines */
	bool inventory;               /* leave inventories in objects (inventory_pass.h) */
	/*
	 * More passes may inline what we instrument (LTO on a linker that cannot load the plugin).
	 */
	bool inlined_later;
};

/* The options of the plugin, by their rows. */
enum tp_pass_option {
#define TP_CC_OPTION(id, ...) TP_PASS_OPTION_##id,
#include "cli/driver/cc_options.def"
#undef TP_CC_OPTION
	TP_PASS_OPTIONS
};

/*
 * 0, or a negative tp_error with *err. `given`: options as text, each NULL or empty if not given;
 * the environment variable in its row then counts.
 */
int tp_pass_init(
    struct tp_pass *pass, const char *const given[TP_PASS_OPTIONS], struct tp_err *err);

/* Stage 1: tag all functions; `before_link`: of LTO. Returns whether the module changed. */
bool tp_pass_tag(const struct tp_pass *pass, LLVMModuleRef module, bool before_link);
bool tp_pass_is_tagged(LLVMModuleRef module);
/*
 * Between the stages, for a linker: leave a note that the functions are not recorded, if any are to
 * be (abi.h, TEEPERF_NOTE_TYPE_BITCODE). Stage 2 takes it out.
 */
void tp_pass_mark_bitcode(LLVMModuleRef module);
/* Stage 2, idempotent. Returns whether the module changed. */
bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module);

/*
 * Decide again, and change the attribute, now that facts and names will stay; `main_file` is what
 * was compiled, NULL for the module's.
 */
struct tp_verdict tp_select_again(const struct tp_pass *pass, LLVMValueRef function,
    const char *main_file, const struct tp_facts *facts);

/* Give functions that are called over the border of a TEE an attribute (TP_ATTRIBUTE_BRIDGE). */
void tp_border_note(LLVMModuleRef module);

/*
 * Mark calls over the border of a TEE, and functions that are called over it, as the SDKs' tools
 * generate them (crossings.c). Returns whether there are any. pre: the module's processor is
 * supported.
 */
bool tp_border_mark(LLVMModuleRef module);

#endif
