/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What LLVM-C lacks in some supported major (14 to 22), as C functions. */
#ifndef TP_LLVM_COMPAT_H
#define TP_LLVM_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Is this call marked musttail? pre: a call instruction. */
bool tp_llvm_is_musttail(LLVMValueRef call);

/* Is this call marked tail, musttail excluded? pre: a call instruction. */
bool tp_llvm_is_tail(LLVMValueRef call);

/* Promise that the call throws nothing, as none of the runtime's functions does. */
void tp_llvm_throws_nothing(LLVMValueRef call);

/* Does the function, or the call itself, have the enum or string attribute `name`? */
bool tp_llvm_function_has(LLVMValueRef function, const char *name);
bool tp_llvm_call_has(LLVMValueRef call, const char *name);

/* Report an error at no particular line; the compilation fails once the pipeline has run. */
void tp_llvm_error(LLVMModuleRef module, const char *message);

/* Show a warning at no particular line. */
void tp_llvm_warn(LLVMModuleRef module, const char *message);

/*
 * The same at a place in a text file, which clang shows as it shows places in sources:
 * FILE:LINE:COLUMN: error. `text` is the line there, or a piece of it in which the place is behind
 * `before` bytes.
 */
struct tp_llvm_place {
	const char *file;
	uint32_t line, column;
	const char *text;
	uint32_t before;
};
void tp_llvm_report_at(
    LLVMModuleRef module, const struct tp_llvm_place *place, bool is_error, const char *message);

/* Drop what says that a function touches no memory but some, from a function or a call. */
void tp_llvm_strip_memory(LLVMValueRef function_or_call);

/* Remember that codegen must keep the declaration `global` (llvm.compiler.used). */
void tp_llvm_keep(LLVMModuleRef module, LLVMValueRef global);

/* Undo that, and delete the `count` variables, which nothing else may refer to. */
void tp_llvm_delete_kept(LLVMModuleRef module, LLVMValueRef *variables, unsigned count);

/* Run `function` before other constructors of the module; of those in a COMDAT, one per name
 * and module when linked. */
void tp_llvm_add_constructor(LLVMModuleRef module, LLVMValueRef function, int priority);

/* Run `function` behind other destructors of the module; one per name and module when linked. */
void tp_llvm_add_destructor(LLVMModuleRef module, LLVMValueRef function, int priority);

/* A line-0 location in the function's own scope, NULL if it has no debug information. */
LLVMMetadataRef tp_llvm_function_location(LLVMValueRef function);

/* The source file of a function from its debug information, "" if it has none; malloc'd. */
char *tp_llvm_function_source(LLVMValueRef function);

/* How many instructions a function has, without those for debuggers and profiles. */
uint64_t tp_llvm_count_instructions(LLVMValueRef function);

/* Facts about a function's code. Calls do not include intrinsics and inline assembly. */
struct tp_llvm_facts {
	uint64_t instructions, blocks, loops, depth, calls, indirect_calls, constant_trips;
};

/*
 * Fill *facts; for each direct call, call `called` with the callee (behind casts and aliases) and
 * how often it is called for each time that the function is. `called` may be NULL.
 */
void tp_llvm_function_facts(LLVMValueRef function, struct tp_llvm_facts *facts,
    void (*called)(void *context, LLVMValueRef callee, double frequency), void *context);

/*
 * For each copy of another function in this one, call `found` with what debug information says of
 * the copied function: its linkage name, file and line. Not for copies that have left no trace.
 */
void tp_llvm_inlined_functions(LLVMValueRef function,
    void (*found)(void *context, const char *name, size_t length, const char *file,
	size_t file_length, uint32_t line),
    void *context);

/*
 * Let `block`, which jumps to `common`, return there itself; `common` is deleted if no other block
 * leads to it. pre: `common` does nothing but return.
 */
void tp_llvm_return_here(LLVMBasicBlockRef block, LLVMBasicBlockRef common);

/* Does a block address lead to it? */
bool tp_llvm_block_is_taken(LLVMBasicBlockRef block);

/* The text of a call of inline assembly, NULL if it is something else. */
const char *tp_llvm_assembly(LLVMValueRef instruction, size_t *size);

/*
 * A copy of the function in this module, internal, never inlined, and linked or discarded with the
 * original. Calls of itself are calls of the original.
 */
LLVMValueRef tp_llvm_clone(LLVMValueRef function, const char *name, const char *section);

/*
 * Before all else: go on in `other` with the same arguments unless the byte at `gate` is 0, which
 * it mostly is.
 * pre: a call of `other` can take the function's place (musttail).
 */
void tp_llvm_lead_to(LLVMValueRef function, LLVMValueRef other, LLVMValueRef gate);

/*
 * Bytes that run before the function's own code, frame and all (prologue data): whether it has
 * some; set them.
 */
bool tp_llvm_has_bytes_before(LLVMValueRef function);
void tp_llvm_set_bytes_before(LLVMValueRef function, LLVMValueRef bytes);

/* The bytes that a constant global variable consists of; NULL if it has no such initializer. */
const char *tp_llvm_bytes(LLVMValueRef variable, size_t *size);

/* Is the allocation of a size known at compile time, in the entry block? pre: an alloca. */
bool tp_llvm_is_static_alloca(LLVMValueRef alloca_instruction);

#ifdef __cplusplus
}
#endif

#endif
