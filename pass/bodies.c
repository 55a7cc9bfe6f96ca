// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape "dual": a second body with the records, beside that which the optimiser has left.
#include "bodies.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "inject.h"
#include "llvm_compat.h"

/*
 * All linkers put sections with this prefix with other code. Those that sort put them with code
 * that seldom runs: so the code in between, which runs when nobody records, is not spread over more
 * lines and pages than without TeePerf. Each body has a section of its own, or --gc-sections would
 * keep all functions of an object file for the sake of one.
 */
#define SECTION ".text.unlikely.teeperf."

/*
 * A function of more instructions keeps its records in line: for a call of that length the two
 * extra tests cost nothing, but a copy of it would be large.
 */
enum { LARGE = 600 };

enum { CC_C = 0, CC_FAST = 8 };

static bool has(LLVMValueRef function, LLVMAttributeIndex index, const char *attribute)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
	return kind && LLVMGetEnumAttributeAtIndex(function, index, kind);
}

// Whether it is in one register on every processor.
static bool is_word(LLVMTypeRef type)
{
	const LLVMTypeKind kind = LLVMGetTypeKind(type);
	return kind == LLVMPointerTypeKind || kind == LLVMFloatTypeKind ||
	       kind == LLVMDoubleTypeKind ||
	       (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64);
}

// Whether LLVM returns it in registers. What it returns in memory that it provides itself makes a
// jump a call.
static bool is_in_registers(LLVMTypeRef type)
{
	enum { ELEMENTS = 2 };
	if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
		return LLVMGetTypeKind(type) == LLVMVoidTypeKind || is_word(type);
	if (LLVMCountStructElementTypes(type) > ELEMENTS)
		return false;
	for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
		if (!is_word(LLVMStructGetTypeAtIndex(type, i)))
			return false;
	return true;
}

/*
 * Whether a call with the same arguments can take the function's place on the stack. LLVM gives up
 * (a fatal error) where the stack or memory is involved.
 */
static bool can_hand_over(LLVMValueRef function)
{
	static const char *const special[] = {"byval", "byref", "inalloca", "preallocated",
	    "swifterror", "swiftasync", "swiftself", "nest", "sret"};
	enum { IN_REGISTERS = 8 };
	const unsigned count = LLVMCountParams(function);
	const unsigned convention = LLVMGetFunctionCallConv(function);
	LLVMTypeRef type = LLVMGlobalGetValueType(function);
	if (LLVMIsFunctionVarArg(type) || (convention != CC_C && convention != CC_FAST) ||
	    !is_in_registers(LLVMGetReturnType(type)) || count > IN_REGISTERS)
		return false;
	for (unsigned i = 0; i < count; i++) {
		for (size_t s = 0; s < sizeof(special) / sizeof(special[0]); s++)
			if (has(function, i + 1, special[s]))
				return false;
		if (!is_word(LLVMTypeOf(LLVMGetParam(function, i))))
			return false;
	}
	return true;
}

static bool begins(const char *text, size_t size, const char *word)
{
	return size >= strlen(word) && !memcmp(text, word, strlen(word));
}

static bool ends(const char *text, size_t size, const char *word)
{
	const size_t length = strlen(word);
	return size >= length && !memcmp(text + size - length, word, length);
}

static bool is_in_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.$@", c));
}

/*
 * Whether the text of inline assembly may be there once only, as it defines a label or a macro. Any
 * ":" is taken for a label's but that of a number, which may be there more than once, of a
 * segment's register, of an operand, ${0:c}, and behind ${:uid}, which is another one in each
 * place.
 */
static bool is_once(const char *text, size_t size)
{
	bool is_operand = false;
	for (size_t at = 0; at < size; at++) {
		if (begins(text + at, size - at, ".macro") ||
		    begins(text + at, size - at, ".equiv"))
			return true;
		is_operand = (is_operand || begins(text + at, size - at, "${")) && text[at] != '}';
		if (text[at] != ':' || is_operand)
			continue;
		size_t start = at;
		bool is_number = true;
		while (start > 0 && is_in_name(text[start - 1]))
			is_number &= isdigit((unsigned char)text[--start]) != 0;
		if (start == at && ends(text, at, "${:uid}"))
			continue;
		if (start == at || !(is_number || (start > 0 && text[start - 1] == '%')))
			return true;
	}
	return false;
}

// Whether the code may be in the program once only.
static bool is_single(const struct tp_pass *pass, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
	     b = LLVMGetNextBasicBlock(b))
		if (tp_llvm_block_is_taken(b))
			return true;
	for (LLVMValueRef i = tp_instruction_first(function); i; i = tp_instruction_next(i)) {
		size_t size = 0;
		const char *text = tp_llvm_assembly(i, &size);
		if ((text && is_once(text, size)) || tp_llvm_call_has(i, "noduplicate") ||
		    tp_inject_needs_position(pass, i))
			return true;
	}
	return false;
}

// Where the test is bytes of ours before all that the compiler makes of a function.
static bool begins_in_bytes(LLVMValueRef function)
{
	return tp_text_find(LLVMGetTarget(LLVMGetGlobalParent(function))) == &tp_text_x86_64;
}

// The default: where the test is before the frame, so that two bodies cost a recorded call nothing.
// What runs one thread is mostly an enclave or a board, whose memory is small.
static bool wants_two(const struct tp_pass *pass, LLVMValueRef function)
{
	return pass->shape == TP_SHAPE_DUAL ||
	       (pass->shape == TP_SHAPE_AUTO && pass->threads != TP_THREADS_ONE &&
		   begins_in_bytes(function));
}

bool tp_bodies_can(const struct tp_pass *pass, const struct tp_target *target)
{
	static const char *const kept[] = {"noreturn", "noduplicate", "returns_twice", "interrupt"};
	unsigned length;
	LLVMValueRef function = target->function;
	const char *section = LLVMGetSection(function);
	if (!wants_two(pass, function) || pass->inlined_later || target->sample != 1 ||
	    tp_function_text(function, TP_ATTRIBUTE_BRIDGE, &length))
		return false;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (tp_llvm_function_has(function, kept[i]))
			return false;
	// What has a place that its author chose, such as code that others run or that goes away,
	// stays there.
	if ((section && *section) || tp_llvm_count_instructions(function) > LARGE ||
	    is_single(pass, function))
		return false;
	return begins_in_bytes(function) ? !tp_llvm_has_bytes_before(function)
					 : can_hand_over(function);
}

static LLVMValueRef address_of_gate(const struct tp_sequence *sequence, unsigned gate)
{
	LLVMValueRef offset = LLVMConstInt(sequence->i64, gate, 0);
	return LLVMConstGEP2(
	    sequence->i8, LLVMConstBitCast(sequence->functions, sequence->pointer), &offset, 1);
}

// The bytes of a function's beginning: code whose operands the assembler or the linker works out.
struct bytes {
	const struct tp_sequence *sequence;
	LLVMValueRef start; // the function's own address
	LLVMValueRef parts[8];
	unsigned count, size;
};

static void add_code(struct bytes *bytes, const char *code, unsigned size)
{
	bytes->parts[bytes->count++] =
	    LLVMConstStringInContext(bytes->sequence->context, code, size, 1);
	bytes->size += size;
}

// 32 bits: how far `to` is from the end of the instruction, which `more` bytes follow until then.
static void add_distance(struct bytes *bytes, LLVMValueRef to, unsigned more)
{
	LLVMTypeRef i64 = bytes->sequence->i64;
	LLVMTypeRef i32 = LLVMInt32TypeInContext(bytes->sequence->context);
	bytes->size += 4;
	LLVMValueRef from = LLVMConstAdd(
	    LLVMConstPtrToInt(bytes->start, i64), LLVMConstInt(i64, bytes->size + more, 0));
	bytes->parts[bytes->count++] =
	    LLVMConstTrunc(LLVMConstSub(LLVMConstPtrToInt(to, i64), from), i32);
}

/*
 * On x86-64: before all else, before a frame is built and arguments are moved. With -fcf-protection
 * a function begins with endbr64, which would now come behind the test, so it is here.
 */
static void begin_with_test(const struct tp_sequence *sequence, const struct tp_target *first,
    LLVMValueRef second, LLVMValueRef gate)
{
	static const char flag[] = "cf-protection-branch", unchecked[] = "nocf_check";
	struct bytes bytes = {.sequence = sequence, .start = first->name};
	if (LLVMGetModuleFlag(sequence->module, flag, sizeof(flag) - 1) &&
	    !tp_llvm_function_has(first->function, unchecked)) {
		add_code(&bytes, "\xf3\x0f\x1e\xfa", 4);
		tp_function_add(first->function, unchecked);
	}
	add_code(&bytes, "\x80\x3d", 2); // cmpb $0, gate(%rip)
	add_distance(&bytes, gate, 1);
	add_code(&bytes, "\0\x0f\x85", 3); // jne second
	add_distance(&bytes, second, 0);
	tp_llvm_set_bytes_before(first->function,
	    LLVMConstStructInContext(sequence->context, bytes.parts, bytes.count, 1));
}

/*
 * Where exceptions may end in the function, both bodies report it. Then the function tests not its
 * own gate but gates[0]: so a call that is in the first body began while nothing was recorded, and
 * that is its position. Such a function, if left out while others are recorded, runs in the second
 * body, which looks at both gates. All others, also those that clean up and let exceptions pass,
 * run in the first body then and report nothing: whoever catches does.
 */
bool tp_bodies_inject(struct tp_sequence *sequence, const struct tp_target *target)
{
	LLVMValueRef function = target->function;
	const bool catches = tp_inject_catches(sequence->pass, function);
	char *name = tp_sequence_plain_name(function, ".recorded");
	char *section = name ? malloc(sizeof(SECTION) + strlen(name)) : NULL;
	if (section) {
		strcpy(section, SECTION);
		strcat(section, name);
		struct tp_target second = *target;
		second.function = tp_llvm_clone(function, name, section);
		second.is_second = true;
		second.is_open = !catches;
		tp_inject(sequence, &second);
		tp_function_set(second.function, TP_ATTRIBUTE_DONE);
		tp_inject_off(sequence, target);
		LLVMValueRef gate =
		    address_of_gate(sequence, catches ? TEEPERF_GATE_OFFSET : target->gate);
		if (begins_in_bytes(function))
			begin_with_test(sequence, target, second.function, gate);
		else
			tp_llvm_lead_to(function, second.function, gate);
	}
	free(section);
	free(name);
	return section != NULL;
}
