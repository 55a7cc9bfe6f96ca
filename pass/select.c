// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stage 1: decide for each function whether to instrument it, and leave the decision on it.
#include "pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Comdat.h>

#include "function.h"
#include "pass/inventory/notes.h"
#include "llvm_compat.h"

// Module flag: this module has been through the tag stage.
static const char tagged[] = "teeperf.tagged";

// The C++ runtime that every LLVM host process contains.
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

// Never instrumented, whatever a list says.
static bool is_impossible(LLVMValueRef function)
{
	size_t length;
	const char *name = LLVMGetValueName2(function, &length);
	// Ours, compiler-made module constructors, and code that must not have a prologue.
	return !strncmp(name, TEEPERF_SYMBOL_PREFIX, strlen(TEEPERF_SYMBOL_PREFIX)) ||
	       tp_llvm_function_has(function, "naked") ||
	       tp_llvm_function_has(function, "no_caller_saved_registers") ||
	       LLVMGetFunctionCallConv(function) == LLVMX86INTRCallConv;
}

// Whether `features`, words with "," between them, enable `word` (`whole`), or one that begins so.
static bool enables(const char *features, unsigned length, const char *word, bool whole)
{
	const size_t size = strlen(word);
	for (unsigned at = 0; at < length;) {
		unsigned end = at;
		while (end < length && features[end] != ',')
			end++;
		if (end - at > size && features[at] == '+' &&
		    !memcmp(features + at + 1, word, size) && (!whole || end - at == size + 1))
			return true;
		at = end + 1;
	}
	return false;
}

/*
 * Whether the function may hold values in vector registers whose size the processor decides. The
 * runtime's cold path does not keep them, and system calls clear them. Not only where there are
 * such types: code generation takes these registers for others too.
 */
static bool has_scalable_vectors(LLVMValueRef function)
{
	unsigned length;
	const char *features = tp_function_text(function, "target-features", &length);
	if (!features)
		return false;
	const char *triple = LLVMGetTarget(LLVMGetGlobalParent(function));
	if (!strncmp(triple, "aarch64", strlen("aarch64")))
		return enables(features, length, "sve", false) ||
		       enables(features, length, "sme", false);
	return !strncmp(triple, "riscv64", strlen("riscv64")) &&
	       (enables(features, length, "v", true) || enables(features, length, "zve", false));
}

/*
 * Whether the function begins where two low bits of its address are not free, which carry a
 * record's kind: behind instructions that do nothing, which -fpatchable-function-entry=N,M puts
 * before it. Alignment is that of the first of them.
 */
static bool begins_oddly(LLVMValueRef function)
{
	unsigned length;
	unsigned count = 0;
	const char *text = tp_function_text(function, "patchable-function-prefix", &length);
	for (unsigned i = 0; text && i < length; i++)
		count = count * 10 + (unsigned)(text[i] - '0');
	const char *triple = LLVMGetTarget(LLVMGetGlobalParent(function));
	const unsigned size = !strncmp(triple, "aarch64", strlen("aarch64"))   ? 4
			      : !strncmp(triple, "riscv64", strlen("riscv64")) ? 2
									       : 1;
	return count * size % 4 != 0;
}

// `main_file`: what was compiled, NULL for the module's; `facts`: NULL as long as they may change.
static struct tp_verdict decide(const struct tp_pass *pass, LLVMValueRef function,
    const char *main_file, const struct tp_facts *facts)
{
	if (!pass->allowlist)
		return (struct tp_verdict){.category = TP_CATEGORY_ALLOW, .sample = 1};
	char *origin = tp_function_origin(function);
	struct tp_subject subject = {
	    .function = tp_function_name(function, NULL),
	    .origin = origin,
	    .main_file = main_file,
	    .module = pass->module,
	    .facts = facts,
	};
	char *demangled = NULL;
	char *origin_demangled = NULL;
	if (tp_allowlist_needs(pass->allowlist, TP_NEEDS_NAMES)) {
		int status;
		demangled = __cxa_demangle(subject.function, NULL, NULL, &status);
		subject.demangled = demangled ? demangled : subject.function;
		if (origin)
			origin_demangled = __cxa_demangle(origin, NULL, NULL, &status);
		subject.origin_demangled = origin_demangled ? origin_demangled : origin;
	}
	char *source = tp_llvm_function_source(function);
	size_t length;
	if (!subject.main_file)
		subject.main_file = LLVMGetSourceFileName(LLVMGetGlobalParent(function), &length);
	subject.source = source && *source ? source : subject.main_file;
	const struct tp_verdict verdict = tp_allowlist_match(pass->allowlist, &subject);
	free(source);
	free(demangled);
	free(origin_demangled);
	free(origin);
	return verdict;
}

// An ifunc's resolver runs while the program is being relocated, before thread-local storage works;
// so does what it calls. (Not what it merely refers to: that is what it chooses from.)
static void skip_resolver(LLVMValueRef value)
{
	LLVMValueRef function = tp_function_of(value);
	if (!function || LLVMIsDeclaration(function) ||
	    tp_function_is(function, TP_ATTRIBUTE_NEVER))
		return;
	tp_function_set(function, TP_ATTRIBUTE_NEVER);
	for (LLVMValueRef i = tp_instruction_first(function); i; i = tp_instruction_next(i))
		if (tp_instruction_calls(i))
			skip_resolver(LLVMGetCalledValue(i));
}

// Keep a function from being inlined away; but its author's word weighs more.
static void force(
    const struct tp_pass *pass, LLVMValueRef function, const struct tp_verdict *verdict)
{
	if (tp_llvm_function_has(function, "alwaysinline"))
		tp_warn_of_always_inline(pass, function, verdict);
	else
		tp_function_add(function, "noinline");
}

// Such as what initialises a static member of a template: the linker keeps it in one object file
// only, and by a name that others cannot refer to, so no table of counted functions can have it.
static bool is_discarded_elsewhere(LLVMValueRef function)
{
	const LLVMLinkage linkage = LLVMGetLinkage(function);
	return (linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage) &&
	       LLVMGetComdat(function);
}

static void keep_name(LLVMValueRef function)
{
	size_t length;
	const char *name = tp_function_name(function, &length);
	tp_function_set_text(function, TP_ATTRIBUTE_NAME, name, length);
}

// Leave on `function` how often its calls are to be recorded.
static void decide_level(
    const struct tp_pass *pass, LLVMValueRef function, const struct tp_verdict *verdict)
{
	char text[32];
	uint32_t sample;
	if (begins_oddly(function)) {
		tp_function_set(function, TP_ATTRIBUTE_NEVER);
		return;
	}
	switch (verdict->category) {
	case TP_CATEGORY_ALLOW:
	case TP_CATEGORY_FORCE:
		sample = pass->sample;
		break;
	case TP_CATEGORY_SAMPLE:
		// Where all are only to be counted, so are these.
		sample = pass->sample ? verdict->sample : 0;
		break;
	case TP_CATEGORY_COUNT:
		sample = 0;
		break;
	case TP_CATEGORY_SKIP:
		tp_function_set(function, TP_ATTRIBUTE_SKIP);
		return;
	default:
		tp_function_set(function, TP_ATTRIBUTE_NEVER);
		return;
	}
	if (has_scalable_vectors(function)) {
		tp_function_set(function, TP_ATTRIBUTE_SKIP);
		return;
	}
	if (is_discarded_elsewhere(function))
		sample = 1;
	snprintf(text, sizeof(text), TP_ATTRIBUTE_SAMPLE "%u", sample);
	tp_function_set(function, sample == 0   ? TP_ATTRIBUTE_COUNT
				  : sample == 1 ? TP_ATTRIBUTE_EVENT
						: text);
}

struct tp_verdict tp_select_again(const struct tp_pass *pass, LLVMValueRef function,
    const char *main_file, const struct tp_facts *facts)
{
	const struct tp_verdict verdict = decide(pass, function, main_file, facts);
	if (!tp_function_is(function, TP_ATTRIBUTE_NEVER) &&
	    !tp_function_is(function, TP_ATTRIBUTE_DONE))
		decide_level(pass, function, &verdict);
	return verdict;
}

// Functions that would be recorded but for ...
struct lost {
	unsigned oddly;   // ... where they begin
	unsigned vectors; // ... their registers
};

static void count_lost(struct lost *lost, LLVMValueRef function, const struct tp_verdict *verdict)
{
	if (verdict->category == TP_CATEGORY_SKIP || verdict->category == TP_CATEGORY_FORBID ||
	    LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage)
		return;
	if (begins_oddly(function))
		lost->oddly++;
	else if (has_scalable_vectors(function))
		lost->vectors++;
}

static void warn_of_odd_beginnings(LLVMModuleRef module, unsigned count)
{
	char text[320];
	snprintf(text, sizeof(text),
	    "teeperf: %u function%s at an address that records cannot hold, and %s not recorded: "
	    "in -fpatchable-function-entry=N,M let M be a multiple of 4 (bytes on x86-64), or "
	    "leave %s out with =skip in an allowlist to silence this",
	    count, count == 1 ? " begins" : "s begin", count == 1 ? "is" : "are",
	    count == 1 ? "it" : "them");
	tp_llvm_warn(module, text);
}

static void warn_of_scalable_vectors(LLVMModuleRef module, unsigned count)
{
	const bool is_arm = !strncmp(LLVMGetTarget(module), "aarch64", strlen("aarch64"));
	char text[320];
	snprintf(text, sizeof(text),
	    "teeperf: %u function%s compiled for scalable vectors (%s), whose registers recording "
	    "would overwrite, and %s not recorded: compile without %s, or leave %s out with =skip "
	    "in an allowlist to silence this",
	    count, count == 1 ? " is" : "s are", is_arm ? "SVE or SME" : "V",
	    count == 1 ? "is" : "are", is_arm ? "+sve and +sme" : "v and zve",
	    count == 1 ? "it" : "them");
	tp_llvm_warn(module, text);
}

bool tp_pass_is_tagged(LLVMModuleRef module)
{
	return LLVMGetModuleFlag(module, tagged, strlen(tagged)) != NULL;
}

bool tp_pass_tag(const struct tp_pass *pass, LLVMModuleRef module, bool before_link)
{
	static const struct tp_verdict impossible = {.category = TP_CATEGORY_SKIP};
	if (tp_pass_is_tagged(module))
		return false;
	// For the inventory, or to decide by facts and to warn.
	const bool has_notes = pass->inventory || pass->allowlist;
	struct tp_note note;
	struct lost lost = {0};
	if (has_notes)
		tp_note_begin(&note, pass, module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		unsigned length;
		tp_function_decision(f, &length);
		if (LLVMIsDeclaration(f) || length)
			continue;
		struct tp_verdict verdict = impossible;
		if (is_impossible(f)) {
			tp_function_set(f, TP_ATTRIBUTE_NEVER);
		} else {
			verdict = decide(pass, f, NULL, NULL);
			decide_level(pass, f, &verdict);
			keep_name(f);
			count_lost(&lost, f, &verdict);
		}
		if (verdict.category == TP_CATEGORY_FORCE)
			force(pass, f, &verdict);
		if (has_notes && LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage)
			tp_note_function(&note, f, &verdict);
	}
	if (lost.oddly)
		warn_of_odd_beginnings(module, lost.oddly);
	if (lost.vectors)
		warn_of_scalable_vectors(module, lost.vectors);
	if (has_notes)
		tp_note_end(&note, before_link);
	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(module); i; i = LLVMGetNextGlobalIFunc(i))
		skip_resolver(LLVMGetGlobalIFuncResolver(i));
	const LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
	LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorOverride, tagged, strlen(tagged),
	    LLVMValueAsMetadata(LLVMConstInt(i32, 1, 0)));
	return true;
}
