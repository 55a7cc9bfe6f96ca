// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records in IR: one call of inline assembly each, and what a module needs besides.
#include "sequence.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Comdat.h>

#include "allowlists/language/reading.h"
#include "pass/function.h"
#include "pass/llvm_compat.h"

enum { OUTPUTS_MAX = 3, ARGUMENTS_MAX = 3 };

static const struct tp_text_machine *find_machine(LLVMModuleRef module)
{
	return tp_text_find(LLVMGetTarget(module));
}

const char *tp_sequence_refuse(LLVMModuleRef module, enum tp_threads threads)
{
	const char *triple = LLVMGetTarget(module);
	if (!find_machine(module))
		return "teeperf: cannot instrument for this processor: x86-64, aarch64 and riscv64 "
		       "are supported; compile this file without the plugin";
	if (strstr(triple, "gnux32") || strstr(triple, "ilp32"))
		return "teeperf: cannot instrument for 32-bit pointers; compile this file without "
		       "the plugin";
	if (!find_machine(module)->thread[threads])
		return "teeperf: TEEPERF_THREADS=apart is for x86-64: choose another port";
	return NULL;
}

// Assembly refers to the runtime by name, which no optimiser sees: the first reference that it does
// see makes a link with LTO fetch the runtime.
void tp_sequence_declare(LLVMModuleRef module)
{
	const LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef nothing = LLVMVoidTypeInContext(context);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	LLVMTypeRef two[2] = {i64, i64};
	tp_runtime_function(module, TEEPERF_SYMBOL_RESYNC, LLVMFunctionType(nothing, two, 2, 0));
	two[1] = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
	tp_llvm_keep(module, tp_runtime_function(module, TEEPERF_SYMBOL_MODULE,
				 LLVMFunctionType(nothing, two, 2, 0)));
}

static void make_hidden_once(LLVMModuleRef module, LLVMValueRef global)
{
	size_t length;
	LLVMSetLinkage(global, LLVMLinkOnceODRLinkage);
	LLVMSetVisibility(global, LLVMHiddenVisibility);
	LLVMSetComdat(global, LLVMGetOrInsertComdat(module, LLVMGetValueName2(global, &length)));
}

// A symbol that the linker makes for one end of the section of teeperf_functions, if there is one.
static LLVMValueRef section_end(const struct tp_sequence *sequence, const char *name)
{
	LLVMValueRef global = LLVMGetNamedGlobal(sequence->module, name);
	if (!global)
		global = LLVMAddGlobal(sequence->module, sequence->i8, name);
	LLVMSetLinkage(global, LLVMExternalWeakLinkage);
	LLVMSetVisibility(global, LLVMHiddenVisibility);
	return LLVMConstBitCast(global, sequence->pointer);
}

// The module's teeperf_module_block.
static LLVMValueRef module_block(const struct tp_sequence *sequence)
{
	const LLVMModuleRef module = sequence->module;
	LLVMValueRef block = LLVMGetNamedGlobal(module, TEEPERF_SYMBOL_ANCHOR);
	if (block)
		return block;
	LLVMValueRef fields[4] = {section_end(sequence, "__start_" TEEPERF_FUNCTIONS_SECTION),
	    section_end(sequence, "__stop_" TEEPERF_FUNCTIONS_SECTION),
	    LLVMConstNull(sequence->pointer), LLVMConstInt(sequence->i64, 0, 0)};
	LLVMValueRef value = LLVMConstStructInContext(sequence->context, fields, 4, 0);
	block = LLVMAddGlobal(module, LLVMTypeOf(value), TEEPERF_SYMBOL_ANCHOR);
	LLVMSetInitializer(block, value);
	LLVMSetAlignment(block, sizeof(struct teeperf_module_block));
	make_hidden_once(module, block);
	return block;
}

// The bytes of COUNT gates with what fills the last word.
static unsigned room_of(unsigned count)
{
	return (count + 7) / 8 * 8;
}

// Gates in i8s, hashes in i64s: the type of the teeperf_functions.
static LLVMTypeRef functions_type(const struct tp_sequence *sequence)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(sequence->context);
	LLVMTypeRef fields[4] = {i32, i32,
	    LLVMArrayType(sequence->i8, room_of(sequence->gate_count)),
	    LLVMArrayType(sequence->i64, sequence->gate_count)};
	return LLVMStructTypeInContext(sequence->context, fields, 4, 0);
}

LLVMValueRef tp_sequence_own(const struct tp_sequence *sequence, LLVMTypeRef type, const char *name,
    LLVMValueRef initializer)
{
	LLVMValueRef global = LLVMAddGlobal(sequence->module, type, name);
	if (initializer)
		LLVMSetInitializer(global, initializer);
	LLVMSetLinkage(global, LLVMInternalLinkage);
	LLVMSetAlignment(global, 8);
	return global;
}

bool tp_sequence_init(struct tp_sequence *sequence, const struct tp_pass *pass,
    LLVMModuleRef module, unsigned gate_count)
{
	const LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef i8 = LLVMInt8TypeInContext(context);
	*sequence = (struct tp_sequence){.module = module,
	    .context = context,
	    .i8 = i8,
	    .i64 = LLVMInt64TypeInContext(context),
	    .pointer = LLVMPointerType(i8, 0),
	    .pass = pass,
	    .machine = find_machine(module),
	    .gate_count = gate_count + 1,
	    .hashes = calloc(gate_count + (size_t)1, sizeof(LLVMValueRef))};
	if (!sequence->hashes)
		return false;
	sequence->hashes[sequence->next++] = LLVMConstInt(sequence->i64, TEEPERF_HASH_ALWAYS, 0);
	tp_sequence_declare(module);
	sequence->block = module_block(sequence);
	sequence->functions = tp_sequence_own(
	    sequence, functions_type(sequence), TEEPERF_SYMBOL_PREFIX "functions", NULL);
	LLVMSetSection(sequence->functions, TEEPERF_FUNCTIONS_SECTION);
	return true;
}

static void set_functions(struct tp_sequence *sequence)
{
	const unsigned count = sequence->gate_count;
	const unsigned room = room_of(count);
	LLVMTypeRef i32 = LLVMInt32TypeInContext(sequence->context);
	char *gates = calloc(room + (size_t)1, 1);
	if (!gates) {
		tp_llvm_error(sequence->module, "teeperf: out of memory");
		return;
	}
	memset(gates, TEEPERF_GATE_SOFT, count);
	LLVMValueRef values[4] = {LLVMConstInt(i32, TEEPERF_GATE_OFFSET + room + 8 * count, 0),
	    LLVMConstInt(i32, count, 0),
	    LLVMConstStringInContext(sequence->context, gates, room, 1),
	    LLVMConstArray(sequence->i64, sequence->hashes, count)};
	free(gates);
	LLVMSetInitializer(
	    sequence->functions, LLVMConstStructInContext(sequence->context, values, 4, 0));
}

bool tp_sequence_needs_no_red_zone(const struct tp_sequence *sequence)
{
	return sequence->machine->needs_no_red_zone && !sequence->pass->inlined_later;
}

// Assemblers take other characters for their own, even where names are quoted, and a version behind
// @.
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$';
}

char *tp_sequence_plain_name(LLVMValueRef function, const char *suffix)
{
	size_t length;
	const char *name = tp_function_name(function, &length);
	const size_t size = strlen(suffix) + 1;
	char *plain = malloc(length + size);
	if (!plain)
		return NULL;
	for (size_t i = 0; i < length; i++)
		plain[i] = is_plain(name[i]) ? name[i] : '_';
	memcpy(plain + length, suffix, size);
	return plain;
}

/*
 * The name is the function's own address through a private alias: no relocation, no table, and it
 * survives COMDAT, identical code folding, --gc-sections and PIC. What may still be inlined
 * elsewhere must name the symbol itself: an alias into a discarded COMDAT does not link.
 */
static LLVMValueRef name_of(struct tp_sequence *sequence, LLVMValueRef function)
{
	LLVMValueRef base = LLVMConstBitCast(function, sequence->pointer);
	if (sequence->pass->inlined_later)
		return base;
	// Of two that become the same one gets a number behind it.
	char *alias_name = tp_sequence_plain_name(function, ".teeperf");
	if (!alias_name)
		return base;
	LLVMValueRef alias = LLVMAddAlias2(sequence->module, sequence->i8, 0, base, alias_name);
	free(alias_name);
	LLVMSetLinkage(alias, LLVMPrivateLinkage);
	return alias;
}

// Of the linkage name as it is in the source, if link-time optimisation has renamed the function.
// Copies have names of their own.
static uint64_t hash_of(LLVMValueRef function)
{
	size_t length;
	const char *name = tp_function_name(function, &length);
	char *origin = tp_function_origin(function);
	if (origin && tp_name_is_renamed(name, origin)) {
		name = origin;
		length = strlen(origin);
	}
	const uint64_t hash = teeperf_name_hash(name, length);
	free(origin);
	return hash;
}

void tp_sequence_begin(struct tp_sequence *sequence, struct tp_target *target)
{
	// What we make thread-local is where the block's pointer is.
	if (sequence->pass->threads == TP_THREADS_APART)
		tp_function_set_text(target->function, "indirect-tls-seg-refs", "", 0);
	target->name = name_of(sequence, target->function);
	target->gate = TEEPERF_GATE_OFFSET;
	sequence->has_records |= target->sample != 0;
	if (target->watched)
		return;
	sequence->hashes[sequence->next] =
	    LLVMConstInt(sequence->i64, hash_of(target->function), 0);
	target->gate += sequence->next++;
}

LLVMValueRef tp_sequence_assemble(struct tp_sequence *sequence, LLVMBuilderRef builder,
    const struct tp_text *text, LLVMValueRef *arguments, unsigned count)
{
	LLVMTypeRef i64 = sequence->i64;
	LLVMTypeRef outputs[OUTPUTS_MAX] = {i64, i64, i64};
	LLVMTypeRef result = text->output_count == 0   ? LLVMVoidTypeInContext(sequence->context)
			     : text->output_count == 1 ? i64
						       : LLVMStructTypeInContext(sequence->context,
							     outputs, text->output_count, 0);
	LLVMTypeRef types[ARGUMENTS_MAX];
	for (unsigned i = 0; i < count; i++)
		types[i] = LLVMTypeOf(arguments[i]);
	LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
	char *const assembly = (char *)(uintptr_t)text->assembly;
	char *const constraints = (char *)(uintptr_t)text->constraints;
	LLVMValueRef code = LLVMGetInlineAsm(type, assembly, strlen(assembly), constraints,
	    strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
	LLVMValueRef call = LLVMBuildCall2(builder, type, code, arguments, count, "");
	tp_llvm_throws_nothing(call);
	return call;
}

LLVMValueRef tp_sequence_record(struct tp_sequence *sequence, LLVMBuilderRef builder,
    const struct tp_target *target, enum teeperf_kind kind, bool position)
{
	const struct tp_pass *pass = sequence->pass;
	const struct tp_text_request request = {.clock = pass->clock,
	    .shape = pass->inlined_later ? TP_SHAPE_INLINE : pass->shape,
	    .kind = kind,
	    .position = position,
	    .threads = pass->threads,
	    .name_in_register = pass->inlined_later,
	    .sampled = target->sampled != NULL,
	    .is_second = target->is_second,
	    .is_open = target->is_open && kind == TEEPERF_KIND_ENTER,
	    .gate = target->gate};
	struct tp_text text = {.output_count = 0};
	tp_text_write(&text, sequence->machine, &request);

	LLVMValueRef arguments[ARGUMENTS_MAX] = {
	    sequence->functions, target->name, target->sampled};
	LLVMValueRef call = tp_sequence_assemble(
	    sequence, builder, &text, arguments, target->sampled ? ARGUMENTS_MAX : 2);
	if (!position)
		return NULL;
	return text.output_count == 1 ? call : LLVMBuildExtractValue(builder, call, 0, "");
}

LLVMValueRef tp_sequence_between(struct tp_sequence *sequence, LLVMBuilderRef builder)
{
	struct tp_text text = {.output_count = 0};
	tp_text_write_between(&text, sequence->machine, sequence->pass->threads);
	return tp_sequence_assemble(sequence, builder, &text, &sequence->functions, 1);
}

LLVMValueRef tp_sequence_caller(struct tp_sequence *sequence, const char *name, bool own,
    const char *callee, LLVMValueRef *arguments, unsigned count)
{
	LLVMTypeRef nothing = LLVMVoidTypeInContext(sequence->context);
	LLVMValueRef function =
	    LLVMAddFunction(sequence->module, name, LLVMFunctionType(nothing, NULL, 0, 0));
	if (own)
		LLVMSetLinkage(function, LLVMInternalLinkage);
	else
		make_hidden_once(sequence->module, function);
	tp_function_set(function, TP_ATTRIBUTE_NEVER);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(sequence->context);
	LLVMPositionBuilderAtEnd(
	    builder, LLVMAppendBasicBlockInContext(sequence->context, function, "entry"));
	tp_runtime_call(sequence->module, builder, callee, false, arguments, count);
	LLVMBuildRetVoid(builder);
	LLVMDisposeBuilder(builder);
	return function;
}

void tp_sequence_construct(struct tp_sequence *sequence, LLVMValueRef function)
{
	enum { FIRST = 1, USUAL = 65535 };
	// The first priority that is ours to take: before the program's own constructors.
	tp_llvm_add_constructor(sequence->module, function, FIRST);
	if (sequence->pass->threads != TP_THREADS_ONE)
		return;
	tp_llvm_add_constructor(sequence->module, function, USUAL);
	LLVMValueRef entry = tp_sequence_own(sequence, sequence->pointer,
	    TEEPERF_SYMBOL_PREFIX "constructor", LLVMConstBitCast(function, sequence->pointer));
	LLVMSetSection(entry, TEEPERF_CONSTRUCTORS_SECTION);
	tp_llvm_keep(sequence->module, entry);
}

// The constructor that registers this module with the runtime, and the destructor.
static void add_constructor(struct tp_sequence *sequence)
{
	static const char *const names[] = {TEEPERF_SYMBOL_CONSTRUCTOR "auto",
	    TEEPERF_SYMBOL_CONSTRUCTOR "hardware", TEEPERF_SYMBOL_CONSTRUCTOR "soft"};
	const LLVMModuleRef module = sequence->module;
	// Counting needs no clock, so it goes with any.
	const enum teeperf_compiled_clock clock =
	    sequence->has_records ? sequence->pass->clock : TEEPERF_COMPILED_AUTO;
	LLVMValueRef arguments[2] = {LLVMConstInt(sequence->i64, TEEPERF_ABI << 8 | clock, 0),
	    LLVMConstBitCast(sequence->block, sequence->pointer)};
	if (!LLVMGetNamedFunction(module, names[clock]))
		tp_sequence_construct(sequence, tp_sequence_caller(sequence, names[clock], false,
						    TEEPERF_SYMBOL_MODULE, arguments, 2));
	// Behind its destructors.
	if (!LLVMGetNamedFunction(module, TEEPERF_SYMBOL_DESTRUCTOR))
		tp_llvm_add_destructor(module,
		    tp_sequence_caller(sequence, TEEPERF_SYMBOL_DESTRUCTOR, false,
			TEEPERF_SYMBOL_MODULE_GONE, &arguments[1], 1),
		    1);
}

void tp_sequence_finish(struct tp_sequence *sequence)
{
	set_functions(sequence);
	add_constructor(sequence);
	free(sequence->hashes);
}
