// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record helper: the sequence of abi.h as LLVM IR, once per module, to be inlined everywhere.
#include "pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Comdat.h>

#include "llvm_compat.h"

// Inline assembly for one processor.
struct machine {
	const char *prefix; /* of the target triple */
	const char *clock;  /* hardware clock: x86 gives {low, high}, the others one 64-bit value */
	const char *clock_constraints;
	bool clock_in_halves;
	/* To the cold path with an alternate link register: LLVM sees no call, so a leaf function stays
	 * one, without frame and spills. (A preserve_most call costs a frame and, on LLVM 14 and 16,
	 * loses the result; a plain C call costs 2.7 % more text and 18 % more unwind tables.) */
	const char *slow;
	const char *slow_constraints;
};

static const struct machine machines[] = {
    {.prefix = "x86_64",
	.clock = "rdtsc",
	.clock_constraints = "={ax},={dx},~{memory},~{dirflag},~{fpsr},~{flags}",
	.clock_in_halves = true,
	.slow = "leaq 1f(%rip), %r11\n\tjmpq *" TEEPERF_SYMBOL_SLOW "@GOTPCREL(%rip)\n1:",
	.slow_constraints = "={ax},{ax},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"},
    {.prefix = "aarch64",
	.clock = "mrs $0, cntvct_el0",
	.clock_constraints = "=r,~{memory}",
	.slow = "adr x15, 1f\n\tadrp x17, :got:" TEEPERF_SYMBOL_SLOW
		"\n\tldr x17, [x17, :got_lo12:" TEEPERF_SYMBOL_SLOW "]\n\tbr x17\n1:",
	.slow_constraints = "={x16},{x16},~{x15},~{x17},~{memory},~{cc}"},
};

static const struct machine *find_machine(LLVMModuleRef module)
{
	const char *triple = LLVMGetTarget(module);
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strncmp(triple, machines[i].prefix, strlen(machines[i].prefix)))
			return &machines[i];
	return NULL;
}

const char *tp_sequence_refuse(LLVMModuleRef module)
{
	const char *triple = LLVMGetTarget(module);
	if (!find_machine(module))
		return "teeperf: cannot instrument for this processor: x86-64 and aarch64 are "
		       "supported; compile this file without the plugin";
	if (strstr(triple, "gnux32") || strstr(triple, "ilp32"))
		return "teeperf: cannot instrument for 32-bit pointers; compile this file without "
		       "the plugin";
	return NULL;
}

// Types and values that the building functions share.
struct build {
	LLVMContextRef context;
	LLVMBuilderRef builder;
	LLVMTypeRef i8, i16, i32, i64, i64_pointer;
	LLVMValueRef function;
};

static struct build build_new(LLVMModuleRef module)
{
	const LLVMContextRef context = LLVMGetModuleContext(module);
	struct build b = {.context = context, .builder = LLVMCreateBuilderInContext(context)};
	b.i8 = LLVMInt8TypeInContext(context);
	b.i16 = LLVMInt16TypeInContext(context);
	b.i32 = LLVMInt32TypeInContext(context);
	b.i64 = LLVMInt64TypeInContext(context);
	b.i64_pointer = LLVMPointerType(b.i64, 0);
	return b;
}

static LLVMBasicBlockRef block(const struct build *b, const char *name)
{
	return LLVMAppendBasicBlockInContext(b->context, b->function, name);
}

static void start(const struct build *b, LLVMBasicBlockRef at)
{
	LLVMPositionBuilderAtEnd(b->builder, at);
}

// The address of the field at `offset` of the thread block, as a pointer to `type`.
static LLVMValueRef field(const struct build *b, size_t offset, LLVMTypeRef type)
{
	const LLVMModuleRef module = LLVMGetGlobalParent(b->function);
	LLVMValueRef thread = LLVMGetNamedGlobal(module, TEEPERF_SYMBOL_THREAD);
	LLVMValueRef bytes = LLVMBuildBitCast(b->builder, thread, LLVMPointerType(b->i8, 0), "");
	LLVMValueRef index = LLVMConstInt(b->i64, offset, 0);
	LLVMValueRef at = LLVMBuildInBoundsGEP2(b->builder, b->i8, bytes, &index, 1, "");
	return LLVMBuildBitCast(b->builder, at, LLVMPointerType(type, 0), "");
}

// Volatile: a signal handler may have changed it since the last sequence in the same function.
static LLVMValueRef load(
    const struct build *b, LLVMTypeRef type, LLVMValueRef pointer, const char *name)
{
	LLVMValueRef value = LLVMBuildLoad2(b->builder, type, pointer, name);
	LLVMSetVolatile(value, 1);
	return value;
}

static void store(const struct build *b, LLVMValueRef value, LLVMValueRef pointer)
{
	LLVMSetVolatile(LLVMBuildStore(b->builder, value, pointer), 1);
}

// Branch to `likely` if the condition holds, else to `unlikely`.
static void branch(const struct build *b, LLVMValueRef condition, LLVMBasicBlockRef likely,
    LLVMBasicBlockRef unlikely, unsigned weight)
{
	LLVMValueRef jump = LLVMBuildCondBr(b->builder, condition, likely, unlikely);
	LLVMMetadataRef weights[3] = {
	    LLVMMDStringInContext2(b->context, "branch_weights", strlen("branch_weights")),
	    LLVMValueAsMetadata(LLVMConstInt(b->i32, weight, 0)),
	    LLVMValueAsMetadata(LLVMConstInt(b->i32, 1, 0))};
	LLVMMetadataRef node = LLVMMDNodeInContext2(b->context, weights, 3);
	LLVMSetMetadata(jump, LLVMGetMDKindIDInContext(b->context, "prof", 4),
	    LLVMMetadataAsValue(b->context, node));
}

static LLVMValueRef assemble(const struct build *b, LLVMTypeRef type, const char *text,
    const char *constraints, LLVMValueRef *arguments, unsigned count)
{
	LLVMValueRef code = LLVMGetInlineAsm(type, (char *)(uintptr_t)text, strlen(text),
	    (char *)(uintptr_t)constraints, strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
	return LLVMBuildCall2(b->builder, type, code, arguments, count, "");
}

struct time {
	LLVMValueRef low;  /* i64, upper half 0 */
	LLVMValueRef high; /* i32 */
};

static struct time split(const struct build *b, LLVMValueRef ticks)
{
	LLVMValueRef mask = LLVMConstInt(b->i64, UINT32_MAX, 0);
	LLVMValueRef shift = LLVMConstInt(b->i64, 32, 0);
	LLVMValueRef upper = LLVMBuildLShr(b->builder, ticks, shift, "");
	return (struct time){LLVMBuildAnd(b->builder, ticks, mask, "low"),
	    LLVMBuildTrunc(b->builder, upper, b->i32, "high")};
}

static struct time read_hardware(const struct build *b, const struct machine *machine)
{
	if (!machine->clock_in_halves) {
		LLVMTypeRef type = LLVMFunctionType(b->i64, NULL, 0, 0);
		return split(
		    b, assemble(b, type, machine->clock, machine->clock_constraints, NULL, 0));
	}
	// llvm.readcyclecounter would join the halves, only for us to split them again.
	// The low half as 64 bits: rdtsc clears the upper ones.
	LLVMTypeRef halves[2] = {b->i64, b->i32};
	LLVMTypeRef pair = LLVMStructTypeInContext(b->context, halves, 2, 0);
	LLVMTypeRef type = LLVMFunctionType(pair, NULL, 0, 0);
	LLVMValueRef both = assemble(b, type, machine->clock, machine->clock_constraints, NULL, 0);
	return (struct time){LLVMBuildExtractValue(b->builder, both, 0, "low"),
	    LLVMBuildExtractValue(b->builder, both, 1, "high")};
}

static struct time read_soft(const struct build *b, LLVMValueRef counter)
{
	LLVMValueRef ticks = load(b, b->i64, counter, "ticks");
	LLVMSetAlignment(ticks, 8);
	LLVMSetOrdering(ticks, LLVMAtomicOrderingMonotonic);
	return split(b, ticks);
}

// Read the clock for which the code is compiled; ends at a new block. To `cold` if it is not to be read.
static struct time read_clock(const struct build *b, const struct machine *machine,
    enum teeperf_compiled_clock clock, LLVMBasicBlockRef cold)
{
	LLVMValueRef counter = load(b, b->i64_pointer,
	    field(b, offsetof(struct teeperf_thread_block, counter), b->i64_pointer), "counter");
	if (clock == TEEPERF_COMPILED_SOFT) {
		// A library that is loaded late finds threads that already use the hardware's clock.
		LLVMBasicBlockRef soft = block(b, "soft");
		branch(b, LLVMBuildIsNotNull(b->builder, counter, ""), soft, cold, 2000);
		start(b, soft);
		return read_soft(b, counter);
	}
	LLVMValueRef is_null = LLVMBuildIsNull(b->builder, counter, "hardware");
	LLVMBasicBlockRef hardware = block(b, "hardware");
	if (clock == TEEPERF_COMPILED_HARDWARE) {
		branch(b, is_null, hardware, cold, 2000);
		start(b, hardware);
		return read_hardware(b, machine);
	}
	LLVMBasicBlockRef soft = block(b, "soft");
	LLVMBasicBlockRef join = block(b, "clock");
	branch(b, is_null, hardware, soft, 1);
	start(b, hardware);
	const struct time from_hardware = read_hardware(b, machine);
	LLVMBuildBr(b->builder, join);
	start(b, soft);
	const struct time from_soft = read_soft(b, counter);
	LLVMBuildBr(b->builder, join);
	start(b, join);
	LLVMBasicBlockRef blocks[2] = {hardware, soft};
	LLVMValueRef lows[2] = {from_hardware.low, from_soft.low};
	LLVMValueRef highs[2] = {from_hardware.high, from_soft.high};
	const struct time time = {
	    LLVMBuildPhi(b->builder, b->i64, "low"), LLVMBuildPhi(b->builder, b->i32, "high")};
	LLVMAddIncoming(time.low, lows, blocks, 2);
	LLVMAddIncoming(time.high, highs, blocks, 2);
	return time;
}

/*
 * void or i64 helper(i64 name). The cold path is one block that jumps to the runtime, which writes
 * the record itself and comes back behind the sequence: no loop depends on what the host does to the
 * counter. (Going back to read the clock again saves 5 % of text, and can go round for ever.)
 */
static LLVMValueRef build_record(
    LLVMModuleRef module, const char *name, enum teeperf_compiled_clock clock, bool gives_position)
{
	struct build b = build_new(module);
	const struct machine *machine = find_machine(module);
	LLVMTypeRef result = gives_position ? b.i64 : LLVMVoidTypeInContext(b.context);
	b.function = LLVMAddFunction(module, name, LLVMFunctionType(result, &b.i64, 1, 0));
	LLVMSetLinkage(b.function, LLVMInternalLinkage);
	const char *const attributes[] = {"alwaysinline", "nounwind"};
	for (size_t i = 0; i < 2; i++)
		LLVMAddAttributeAtIndex(b.function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
		    LLVMCreateEnumAttribute(b.context,
			LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i])), 0));
	tp_select_set(b.function, TP_ATTRIBUTE_SKIP);
	LLVMValueRef id = LLVMGetParam(b.function, 0);

	LLVMBasicBlockRef entry = block(&b, "entry");
	LLVMBasicBlockRef have_time = block(&b, "time");
	LLVMBasicBlockRef write = block(&b, "write");
	LLVMBasicBlockRef cold = block(&b, "cold");
	LLVMBasicBlockRef done = block(&b, "done");

	start(&b, entry);
	LLVMValueRef skip =
	    load(&b, b.i32, field(&b, offsetof(struct teeperf_thread_block, skip), b.i32), "skip");
	LLVMBasicBlockRef record_it = block(&b, "on");
	branch(&b, LLVMBuildICmp(b.builder, LLVMIntEQ, skip, LLVMConstInt(b.i32, 0, 0), ""),
	    record_it, done, 2000);

	start(&b, record_it);
	const struct time time = read_clock(&b, machine, clock, cold);
	LLVMValueRef high = load(&b, b.i32,
	    field(&b, offsetof(struct teeperf_thread_block, clock_high), b.i32), "known");
	branch(&b, LLVMBuildICmp(b.builder, LLVMIntEQ, time.high, high, ""), have_time, cold, 2000);

	start(&b, have_time);
	LLVMValueRef cursor_field = field(&b, offsetof(struct teeperf_thread_block, cursor), b.i64);
	LLVMValueRef cursor = load(&b, b.i64, cursor_field, "cursor");
	LLVMValueRef in_chunk = LLVMBuildICmp(b.builder, LLVMIntNE,
	    LLVMBuildTrunc(b.builder, cursor, b.i16, ""), LLVMConstInt(b.i16, 0, 0), "");
	branch(&b, in_chunk, write, cold, 2000);

	start(&b, write);
	store(&b, LLVMBuildAdd(b.builder, cursor, LLVMConstInt(b.i64, 8, 0), ""), cursor_field);
	LLVMValueRef upper = LLVMBuildShl(b.builder, id, LLVMConstInt(b.i64, 32, 0), "");
	LLVMValueRef record = LLVMBuildOr(b.builder, upper, time.low, "record");
	store(&b, record, LLVMBuildIntToPtr(b.builder, cursor, b.i64_pointer, ""));
	LLVMValueRef position = NULL;
	if (gives_position) {
		LLVMValueRef bias = load(&b, b.i64,
		    field(&b, offsetof(struct teeperf_thread_block, bias), b.i64), "bias");
		position = LLVMBuildAdd(b.builder, cursor, bias, "position");
	}
	LLVMBuildBr(b.builder, done);

	start(&b, cold);
	LLVMTypeRef slow_type = LLVMFunctionType(b.i64, &b.i64, 1, 0);
	LLVMValueRef slow_position =
	    assemble(&b, slow_type, machine->slow, machine->slow_constraints, &id, 1);
	LLVMBuildBr(b.builder, done);

	start(&b, done);
	if (gives_position) {
		LLVMValueRef phi = LLVMBuildPhi(b.builder, b.i64, "");
		LLVMValueRef values[3] = {position, slow_position, LLVMConstInt(b.i64, 0, 0)};
		LLVMBasicBlockRef from[3] = {write, cold, entry};
		LLVMAddIncoming(phi, values, from, 3);
		LLVMBuildRet(b.builder, phi);
	} else {
		LLVMBuildRetVoid(b.builder);
	}
	LLVMDisposeBuilder(b.builder);
	return b.function;
}

static LLVMValueRef declare_function(LLVMModuleRef module, const char *name, LLVMTypeRef type)
{
	LLVMValueRef function = LLVMGetNamedFunction(module, name);
	return function ? function : LLVMAddFunction(module, name, type);
}

static LLVMTypeRef two_words(LLVMContextRef context, LLVMTypeRef second)
{
	LLVMTypeRef words[2] = {LLVMInt64TypeInContext(context), second};
	return LLVMFunctionType(LLVMVoidTypeInContext(context), words, 2, 0);
}

void tp_sequence_declare(LLVMModuleRef module)
{
	const LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	if (!LLVMGetNamedGlobal(module, TEEPERF_SYMBOL_THREAD)) {
		LLVMValueRef thread = LLVMAddGlobal(module,
		    LLVMArrayType(i64, sizeof(struct teeperf_thread_block) / 8),
		    TEEPERF_SYMBOL_THREAD);
		// Initial exec in every case: the linker relaxes it where it can. Local exec, forced
		// here, was slower in a prototype.
		LLVMSetThreadLocalMode(thread, LLVMInitialExecTLSModel);
		LLVMSetAlignment(thread, 8);
	}
	LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
	declare_function(module, TEEPERF_SYMBOL_RESYNC, two_words(context, i64));
	LLVMValueRef attach =
	    declare_function(module, TEEPERF_SYMBOL_MODULE, two_words(context, pointer));
	tp_llvm_keep(module, attach);
}

void tp_sequence_init(
    struct tp_sequence *sequence, const struct tp_pass *pass, LLVMModuleRef module)
{
	const LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	tp_sequence_declare(module);
	*sequence = (struct tp_sequence){.module = module, .context = context, .pass = pass};
	sequence->record_type = LLVMFunctionType(LLVMVoidTypeInContext(context), &i64, 1, 0);
	sequence->record = build_record(module, TEEPERF_SYMBOL_PREFIX "record", pass->clock, false);
	sequence->position_type = LLVMFunctionType(i64, &i64, 1, 0);
	sequence->record_position =
	    build_record(module, TEEPERF_SYMBOL_PREFIX "record_position", pass->clock, true);
	sequence->resync_type = two_words(context, i64);
	sequence->resync = LLVMGetNamedFunction(module, TEEPERF_SYMBOL_RESYNC);
}

/*
 * The name is the function's own address through a private alias: one lea, no relocation, no table,
 * and it survives COMDAT, identical code folding, --gc-sections and PIC. An alias for each kind,
 * since an addition would be an instruction of its own. What may still be inlined elsewhere must
 * name the symbol itself: an alias into a discarded COMDAT does not link.
 */
LLVMValueRef tp_sequence_name(
    struct tp_sequence *sequence, LLVMValueRef function, enum teeperf_kind kind)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(sequence->context);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(sequence->context);
	LLVMValueRef base = LLVMConstBitCast(function, LLVMPointerType(i8, 0));
	LLVMValueRef offset = LLVMConstInt(i64, (unsigned long long)kind, 0);
	LLVMValueRef at = kind ? LLVMConstGEP2(i8, base, &offset, 1) : base;
	if (sequence->pass->inlined_later)
		return LLVMConstPtrToInt(at, i64);
	size_t length;
	const char *name = LLVMGetValueName2(function, &length);
	char *alias_name = malloc(length + 16);
	if (!alias_name)
		return LLVMConstPtrToInt(at, i64);
	snprintf(alias_name, length + 16, "%s.teeperf%d", name[0] == '\1' ? name + 1 : name, kind);
	LLVMValueRef alias = LLVMAddAlias2(sequence->module, i8, 0, at, alias_name);
	free(alias_name);
	LLVMSetLinkage(alias, LLVMPrivateLinkage);
	return LLVMConstPtrToInt(alias, i64);
}

static void make_hidden_once(LLVMModuleRef module, LLVMValueRef global)
{
	size_t length;
	LLVMSetLinkage(global, LLVMLinkOnceODRLinkage);
	LLVMSetVisibility(global, LLVMHiddenVisibility);
	LLVMSetComdat(global, LLVMGetOrInsertComdat(module, LLVMGetValueName2(global, &length)));
}

void tp_sequence_add_constructor(struct tp_sequence *sequence)
{
	static const char *const names[] = {TEEPERF_SYMBOL_CONSTRUCTOR "auto",
	    TEEPERF_SYMBOL_CONSTRUCTOR "hardware", TEEPERF_SYMBOL_CONSTRUCTOR "soft"};
	const LLVMModuleRef module = sequence->module;
	const enum teeperf_compiled_clock clock = sequence->pass->clock;
	if (LLVMGetNamedFunction(module, names[clock]))
		return;
	LLVMTypeRef i8 = LLVMInt8TypeInContext(sequence->context);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(sequence->context);
	LLVMTypeRef nothing = LLVMVoidTypeInContext(sequence->context);

	LLVMValueRef anchor = LLVMGetNamedGlobal(module, TEEPERF_SYMBOL_ANCHOR);
	if (!anchor) {
		anchor = LLVMAddGlobal(module, i8, TEEPERF_SYMBOL_ANCHOR);
		LLVMSetInitializer(anchor, LLVMConstInt(i8, 0, 0));
		LLVMSetGlobalConstant(anchor, 1);
		make_hidden_once(module, anchor);
	}
	LLVMValueRef function =
	    LLVMAddFunction(module, names[clock], LLVMFunctionType(nothing, NULL, 0, 0));
	make_hidden_once(module, function);
	tp_select_set(function, TP_ATTRIBUTE_SKIP);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(sequence->context);
	LLVMPositionBuilderAtEnd(
	    builder, LLVMAppendBasicBlockInContext(sequence->context, function, "entry"));
	LLVMValueRef arguments[2] = {LLVMConstInt(i64, TEEPERF_ABI << 8 | clock, 0), anchor};
	LLVMBuildCall2(builder, two_words(sequence->context, LLVMPointerType(i8, 0)),
	    LLVMGetNamedFunction(module, TEEPERF_SYMBOL_MODULE), arguments, 2, "");
	LLVMBuildRetVoid(builder);
	LLVMDisposeBuilder(builder);
	// The first priority that is ours to take: before the program's own constructors.
	tp_llvm_add_constructor(module, function, 1);
}
