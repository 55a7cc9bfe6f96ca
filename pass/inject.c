// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stage 2 for one function: the places of enter, exit and resync records, and the calls around
// switches of stacks.
#include "inject.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "function.h"
#include "llvm_compat.h"
#include "tail_calls.h"

// Calling conventions that promise tail calls (llvm/IR/CallingConv.h).
enum { CC_GHC = 10, CC_TAIL = 18, CC_SWIFT_TAIL = 20 };

struct injection {
	struct tp_sequence *sequence;
	LLVMValueRef function;
	LLVMBuilderRef builder;
	LLVMMetadataRef scope_location; /* NULL without debug information */
	const struct tp_target *target;
	bool switches;     /* it has calls that switch stacks: */
	LLVMValueRef home; /* i64: in which thread the activation begins */
	LLVMValueRef left; /* alloca of an i64, for what leaving tells arriving */
};

// Insert before `at`, at its own line if it has one, else at line 0 of the function.
static void position(struct injection *in, LLVMValueRef at)
{
	LLVMPositionBuilderBefore(in->builder, at);
	LLVMMetadataRef line = LLVMInstructionGetDebugLoc(at);
	LLVMSetCurrentDebugLocation2(in->builder, !in->scope_location ? NULL
						  : line              ? line
								      : in->scope_location);
}

static bool promises_tail_call(LLVMValueRef call)
{
	if (tp_llvm_is_musttail(call))
		return true;
	const unsigned convention = LLVMGetInstructionCallConv(call);
	return tp_llvm_is_tail(call) &&
	       (convention == CC_GHC || convention == CC_TAIL || convention == CC_SWIFT_TAIL);
}

// Where the exit record of the return `ret` goes: before it, or before the tail call it belongs to.
static LLVMValueRef exit_place(LLVMValueRef ret)
{
	LLVMValueRef call = tp_tail_call_before(ret);
	return call && (promises_tail_call(call) || tp_tail_call_is_kept(call)) ? call : ret;
}

static LLVMValueRef tell(
    struct injection *in, const char *symbol, bool returns, LLVMValueRef *arguments, unsigned count)
{
	return tp_runtime_tell(
	    in->sequence->module, in->builder, symbol, returns, arguments, count);
}

static LLVMValueRef name_word(const struct injection *in)
{
	return LLVMConstPtrToInt(in->target->name, in->sequence->i64);
}

static void resync(struct injection *in, LLVMValueRef at, LLVMValueRef where)
{
	LLVMValueRef arguments[2] = {where, name_word(in)};
	position(in, at);
	tell(in, TEEPERF_SYMBOL_RESYNC, false, arguments, 2);
}

// Whether it is a call of __builtin_setjmp.
static bool is_builtin_setjmp(LLVMValueRef instruction)
{
	static const char name[] = "llvm.eh.sjlj.setjmp";
	return LLVMIsAIntrinsicInst(instruction) &&
	       LLVMGetIntrinsicID(LLVMGetCalledValue(instruction)) ==
		   LLVMLookupIntrinsicID(name, strlen(name));
}

// Functions that return twice, by name, and whether what they return is 0 when they return for the
// first time, and then only. (getcontext always returns 0.)
static const struct {
	const char *name;
	bool tells;
} twice[] = {
    {"setjmp", true},
    {"_setjmp", true},
    {"sigsetjmp", true},
    {"__sigsetjmp", true},
    {"setjmp_syscall", true},
    {"qsetjmp", true},
    {"savectx", true},
    {"vfork", true},
    {"getcontext", false},
};
enum { TWICE = sizeof(twice) / sizeof(twice[0]) };

// The place in `twice` of the called function, or TWICE. One with a body is the program's own.
static size_t find_twice(LLVMValueRef call)
{
	size_t i = 0;
	LLVMValueRef function = tp_function_of(LLVMGetCalledValue(call));
	const char *name = function ? tp_function_name(function, NULL) : "";
	while (i < TWICE && strcmp(name, twice[i].name))
		i++;
	if (i < TWICE && !LLVMIsDeclaration(function) && !tp_llvm_function_has(function, "naked"))
		return TWICE;
	return i;
}

// Clang says so itself, but not with -fno-builtin and -ffreestanding.
static bool may_return_twice(LLVMValueRef instruction)
{
	return tp_instruction_calls(instruction) &&
	       (tp_llvm_call_has(instruction, "returns_twice") || is_builtin_setjmp(instruction) ||
		   find_twice(instruction) < TWICE);
}

static bool tells_first_return(LLVMValueRef instruction)
{
	if (!LLVMIsACallInst(instruction) ||
	    LLVMGetTypeKind(LLVMTypeOf(instruction)) != LLVMIntegerTypeKind)
		return false;
	if (is_builtin_setjmp(instruction))
		return true;
	const size_t i = find_twice(instruction);
	return i < TWICE && twice[i].tells;
}

// Functions of the C library and of widespread fiber libraries. getcontext is not among them: it
// returns twice.
static const char *const switching[] = {
    "swapcontext", "setcontext",
    "jump_fcontext", // Boost.Context, and what has copied it
    "ontop_fcontext",
    "co_switch",     // libco
    "coro_transfer", // libcoro
    "acosw",         // libaco
    "_mco_switch",   // minicoro
};

static bool is_listed(const char *list, const char *name)
{
	const size_t length = strlen(name);
	while (list && *list) {
		const size_t size = strcspn(list, ",");
		if (size == length && !memcmp(list, name, length))
			return true;
		list += size + (list[size] == ',');
	}
	return false;
}

// Whether the call leaves for another stack, and we can say so behind it too.
static bool switches_stack(const struct tp_pass *pass, LLVMValueRef instruction)
{
	LLVMValueRef function = tp_instruction_calls(instruction)
				    ? tp_function_of(LLVMGetCalledValue(instruction))
				    : NULL;
	if (!function)
		return false;
	const char *name = tp_function_name(function, NULL);
	bool switches = is_listed(pass->switches, name);
	for (size_t i = 0; !switches && i < sizeof(switching) / sizeof(switching[0]); i++)
		switches = !strcmp(switching[i], name);
	return switches && !(LLVMIsACallInst(instruction) && promises_tail_call(instruction));
}

bool tp_inject_needs_position(const struct tp_pass *pass, LLVMValueRef instruction)
{
	return may_return_twice(instruction) || switches_stack(pass, instruction);
}

// Whether the program ends where an exception lands, as behind noexcept: nothing is called there
// but what ends it.
static bool ends_program(LLVMValueRef pad)
{
	static const char *const ending[] = {
	    "__clang_call_terminate", "_ZSt9terminatev", "__cxa_begin_catch"};
	LLVMValueRef i = pad;
	for (; i && !LLVMIsAUnreachableInst(i); i = LLVMGetNextInstruction(i)) {
		if (LLVMIsATerminatorInst(i))
			return false;
		if (!LLVMIsACallInst(i) || LLVMIsAIntrinsicInst(i))
			continue;
		LLVMValueRef function = tp_function_of(LLVMGetCalledValue(i));
		const char *name = function ? tp_function_name(function, NULL) : "";
		bool known = false;
		for (size_t e = 0; e < sizeof(ending) / sizeof(ending[0]); e++)
			known |= !strcmp(name, ending[e]);
		if (!known)
			return false;
	}
	return i != NULL;
}

// Whether an exception may end at a landing pad, and the function go on.
static bool may_catch(LLVMValueRef pad)
{
	return LLVMGetNumClauses(pad) && !ends_program(pad);
}

// Whether control can come back into a function from above it without a return: at landing pads
// (if `catching`, at those only that may catch), and behind calls that may return twice or switch
// stacks.
static bool comes_back(const struct tp_pass *pass, LLVMValueRef function, bool catching)
{
	for (LLVMValueRef i = tp_instruction_first(function); i; i = tp_instruction_next(i))
		if ((LLVMIsALandingPadInst(i) && (!catching || may_catch(i))) ||
		    tp_inject_needs_position(pass, i))
			return true;
	return false;
}

bool tp_inject_catches(const struct tp_pass *pass, LLVMValueRef function)
{
	return comes_back(pass, function, true);
}

// Behind a call that may return twice. The first return finds the stack as it was, and without a
// position nothing is recorded.
static void resync_behind(struct injection *in, LLVMValueRef call, LLVMValueRef where)
{
	LLVMValueRef at = tp_instruction_behind(call);
	position(in, at);
	if (tells_first_return(call)) {
		LLVMValueRef first = LLVMBuildICmp(
		    in->builder, LLVMIntEQ, call, LLVMConstNull(LLVMTypeOf(call)), "");
		where = LLVMBuildSelect(
		    in->builder, first, LLVMConstNull(in->sequence->i64), where, "");
	}
	resync(in, at, where);
}

// Resync records: behind each landing pad and each call that may return twice.
static void inject_resyncs(struct injection *in, LLVMValueRef where)
{
	for (LLVMValueRef i = tp_instruction_first(in->function); i; i = tp_instruction_next(i)) {
		if (LLVMIsALandingPadInst(i))
			resync(in, LLVMGetNextInstruction(i), where);
		else if (may_return_twice(i) && !(LLVMIsACallInst(i) && tp_llvm_is_musttail(i)))
			resync_behind(in, i, where);
	}
}

// Before there is any code of ours: what such a call tells when it is back comes before the
// function's exit.
static void prepare_switches(struct injection *in)
{
	for (LLVMValueRef i = tp_instruction_first(in->function); i; i = tp_instruction_next(i))
		if (switches_stack(in->sequence->pass, i)) {
			in->switches = true;
			if (LLVMIsACallInst(i))
				LLVMSetTailCall(i, 0);
		}
}

// Before there is any code of ours. What comes back there needs the activation's position, in whose
// place on the stack code generation may put something else behind a call that does not say so.
static void prepare_jumps(struct injection *in)
{
	static const char name[] = "returns_twice";
	for (LLVMValueRef i = tp_instruction_first(in->function); i; i = tp_instruction_next(i))
		if (may_return_twice(i) && !tp_llvm_call_has(i, name))
			LLVMAddCallSiteAttribute(i, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
			    LLVMCreateEnumAttribute(in->sequence->context,
				LLVMGetEnumAttributeKindForName(name, strlen(name)), 0));
}

static void begin_switches(struct injection *in)
{
	in->left = LLVMBuildAlloca(in->builder, in->sequence->i64, "");
	in->home = tell(in, TEEPERF_SYMBOL_HOME, true, NULL, 0);
	LLVMBuildStore(in->builder, LLVMConstInt(in->sequence->i64, 0, 0), in->left);
}

static void inject_switches(struct injection *in, LLVMValueRef where)
{
	LLVMTypeRef i64 = in->sequence->i64;
	for (LLVMValueRef i = tp_instruction_first(in->function); i; i = tp_instruction_next(i)) {
		if (!switches_stack(in->sequence->pass, i))
			continue;
		LLVMValueRef arguments[3] = {where, name_word(in), in->home};
		position(in, i);
		LLVMBuildStore(
		    in->builder, tell(in, TEEPERF_SYMBOL_LEAVE, true, arguments, 3), in->left);
		position(in, tp_instruction_behind(i));
		// In memory, and 0 again: the block where an invoke continues may have other
		// predecessors.
		arguments[2] = LLVMBuildLoad2(in->builder, i64, in->left, "");
		tell(in, TEEPERF_SYMBOL_ARRIVE, false, arguments, 3);
		LLVMBuildStore(in->builder, LLVMConstInt(i64, 0, 0), in->left);
	}
}

static void inject_exits(struct injection *in)
{
	const enum teeperf_kind kind =
	    in->sequence->pass->untimed_exits ? TEEPERF_KIND_UNTIMED : TEEPERF_KIND_EXIT;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(in->function); b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef ret = LLVMGetBasicBlockTerminator(b);
		if (!ret || !LLVMIsAReturnInst(ret))
			continue;
		position(in, exit_place(ret));
		tp_sequence_record(in->sequence, in->builder, in->target, kind, false);
	}
}

// Earlier passes may have found that the function, or a call of it, touches no memory: it does now,
// and link-time optimisation would reorder and drop records.
static void strip_memory(LLVMValueRef function)
{
	tp_llvm_strip_memory(function);
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (tp_instruction_calls(user))
			tp_llvm_strip_memory(user);
	}
}

// What applies to every function that gets code of ours, ...
static void prepare(LLVMValueRef function)
{
	// Two low bits of the name carry the kind.
	if (LLVMGetAlignment(function) < 4)
		LLVMSetAlignment(function, 4);
	// A private symbol is not in the object's table, and the function would have no name in a
	// profile.
	if (LLVMGetLinkage(function) == LLVMPrivateLinkage)
		LLVMSetLinkage(function, LLVMInternalLinkage);
	strip_memory(function);
}

// Behind the function's fixed allocations. Line 0, not the first line: debuggers stop at the first
// line behind the prologue, and at -O0 the arguments are only stored behind us.
static void position_at_entry(struct injection *in)
{
	LLVMPositionBuilderBefore(in->builder, tp_function_behind_allocations(in->function));
	LLVMSetCurrentDebugLocation2(in->builder, in->scope_location);
}

void tp_inject(struct tp_sequence *sequence, struct tp_target *target)
{
	LLVMValueRef function = target->function;
	struct injection in = {.sequence = sequence,
	    .function = function,
	    .builder = LLVMCreateBuilderInContext(sequence->context),
	    .scope_location = tp_llvm_function_location(function),
	    .target = target};
	prepare(function);
	// ... and with sequences, whose cold path is a call that LLVM does not see.
	if (tp_sequence_needs_no_red_zone(sequence))
		tp_function_add(function, "noredzone");
	// Looked for before there is any code of ours. What only cleans up goes on to whoever
	// catches.
	const bool with_position = comes_back(sequence->pass, function, target->sample == 0);
	prepare_switches(&in);
	prepare_jumps(&in);
	position_at_entry(&in);
	if (target->group)
		tp_count_at_entry(sequence, in.builder, target);
	LLVMValueRef where = NULL;
	if (target->sample)
		where = tp_sequence_record(
		    sequence, in.builder, target, TEEPERF_KIND_ENTER, with_position);
	else if (with_position)
		where = tp_sequence_between(sequence, in.builder);
	if (in.switches)
		begin_switches(&in);
	if (target->sample)
		inject_exits(&in);
	if (in.switches)
		inject_switches(&in, where);
	if (with_position)
		inject_resyncs(&in, where);
	LLVMDisposeBuilder(in.builder);
}

void tp_inject_off(struct tp_sequence *sequence, const struct tp_target *target)
{
	struct injection in = {.sequence = sequence,
	    .function = target->function,
	    .builder = LLVMCreateBuilderInContext(sequence->context),
	    .scope_location = tp_llvm_function_location(target->function),
	    .target = target};
	prepare(in.function);
	if (tp_inject_catches(sequence->pass, in.function))
		inject_resyncs(&in, LLVMConstInt(sequence->i64, TEEPERF_POSITION_OFF, 0));
	LLVMDisposeBuilder(in.builder);
}
