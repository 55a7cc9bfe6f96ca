// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At the start of the pipeline: notes in the module which functions there are.
#include "notes.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <llvm/Config/llvm-config.h>

#include "pass/function.h"

void tp_note_add_string(struct tp_buf *out, const char *text, size_t size)
{
	size_t plain = 0;
	for (size_t i = 0; i <= size; i++) {
		const unsigned char c = i < size ? (unsigned char)text[i] : '\0';
		if (i < size && c >= ' ' && c != '\\' && !(c == '#' && i == 0))
			continue;
		tp_buf_add(out, text + plain, i - plain);
		plain = i + 1;
		if (i < size && c)
			tp_buf_addf(out, "\\x%02x", c);
	}
}

void tp_note_add_name(struct tp_buf *out, LLVMValueRef function)
{
	size_t size;
	const char *name = tp_function_name(function, &size);
	tp_note_add_string(out, name, size);
}

const char *tp_note_linkage(LLVMValueRef function)
{
	switch (LLVMGetLinkage(function)) {
	case LLVMAvailableExternallyLinkage:
		return "available_externally";
	case LLVMLinkOnceAnyLinkage:
		return "linkonce";
	case LLVMLinkOnceODRLinkage:
		return "linkonce_odr";
	case LLVMWeakAnyLinkage:
		return "weak";
	case LLVMWeakODRLinkage:
		return "weak_odr";
	case LLVMInternalLinkage:
		return "internal";
	case LLVMPrivateLinkage:
		return "private";
	default:
		return "external";
	}
}

static void add_tab_string(struct tp_buf *out, const char *text)
{
	tp_buf_add_char(out, '\t');
	if (text)
		tp_note_add_string(out, text, strlen(text));
}

// Which lists decide, as a number that changes with them.
static void add_lists(struct tp_buf *out, const struct tp_pass *pass)
{
	tp_buf_add_char(out, '\t');
	if (pass->allowlist)
		tp_buf_addf(out, "%016llx", (unsigned long long)pass->lists_hash);
}

void tp_note_begin(struct tp_note *note, const struct tp_pass *pass, LLVMModuleRef module)
{
	*note = (struct tp_note){
	    .module = module,
	    .callees = !LLVMGetNamedMetadata(module, "llvm.dbg.cu", strlen("llvm.dbg.cu")),
	};
	tp_buf_init(&note->text);
	tp_buf_init(&note->files);
	tp_buf_init(&note->functions);
	size_t size;
	const char *source = LLVMGetSourceFileName(module, &size);
	tp_buf_add_string(&note->text, "unit\t");
	tp_note_add_string(&note->text, source, size);
	add_tab_string(&note->text, "LLVM " LLVM_VERSION_STRING);
	tp_buf_add_char(&note->text, '\t');
	if (pass->sample > 1)
		tp_buf_addf(&note->text, "sample/%u", pass->sample);
	else
		tp_buf_add_string(&note->text, pass->sample ? "event" : "count");
	add_lists(&note->text, pass);
	add_tab_string(&note->text, pass->module);
	tp_buf_add_char(&note->text, '\n');
}

// The number of a source file, which gets a line if it has none yet.
static size_t file_number(struct tp_note *note, const char *file)
{
	const uint64_t hash = tp_note_hash(file, strlen(file));
	const uint64_t *known = (const uint64_t *)(const void *)note->files.data;
	const size_t count = note->files.size / sizeof(hash);
	for (size_t i = 0; i < count; i++)
		if (known[i] == hash)
			return i;
	tp_buf_add(&note->files, &hash, sizeof(hash));
	tp_buf_add_string(&note->text, "file");
	add_tab_string(&note->text, file);
	tp_buf_add_char(&note->text, '\n');
	return count;
}

static void add_callees(struct tp_buf *out, LLVMValueRef function)
{
	for (LLVMValueRef i = tp_instruction_first(function); i; i = tp_instruction_next(i)) {
		const LLVMValueRef callee = tp_instruction_calls(i) ? LLVMGetCalledValue(i) : NULL;
		if (!callee || !LLVMIsAFunction(callee) || LLVMIsDeclaration(callee))
			continue;
		tp_buf_add_char(out, '\t');
		tp_note_add_name(out, callee);
	}
}

void tp_note_function(struct tp_note *note, LLVMValueRef function, const struct tp_verdict *verdict)
{
	char *file = tp_llvm_function_source(function);
	const size_t number = file && *file ? file_number(note, file) : 0;
	tp_buf_add_string(&note->text, "fun\t");
	tp_note_add_name(&note->text, function);
	tp_buf_addf(&note->text, "\t%s\t", tp_note_linkage(function));
	if (file && *file)
		tp_buf_addf(&note->text, "%zu", number);
	const LLVMMetadataRef scope = LLVMGetSubprogram(function);
	tp_buf_addf(&note->text, "\t%u\t%llu\t%d", scope ? LLVMDISubprogramGetLine(scope) : 0,
	    (unsigned long long)tp_llvm_count_instructions(function),
	    verdict->category == TP_CATEGORY_FORCE);
	add_tab_string(&note->text, verdict->line ? verdict->file : NULL);
	tp_buf_addf(&note->text, "\t%u", verdict->line);
	if (note->callees)
		add_callees(&note->text, function);
	tp_buf_add_char(&note->text, '\n');
	tp_buf_add(&note->functions, &function, sizeof(function));
	free(file);
}

// Tell internal functions where in the note they are.
static void attach_numbers(const struct tp_note *note, LLVMContextRef context)
{
	const uint64_t hash = tp_note_hash(note->text.data, note->text.size);
	const unsigned kind = LLVMGetMDKindIDInContext(context, TP_NOTE_KIND, strlen(TP_NOTE_KIND));
	const LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	const LLVMValueRef *functions = (const LLVMValueRef *)(const void *)note->functions.data;
	for (size_t i = 0; i < note->functions.size / sizeof(*functions); i++) {
		const LLVMLinkage linkage = LLVMGetLinkage(functions[i]);
		if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage)
			continue;
		LLVMMetadataRef words[] = {LLVMValueAsMetadata(LLVMConstInt(i64, hash, 0)),
		    LLVMValueAsMetadata(LLVMConstInt(i64, i, 0))};
		LLVMGlobalSetMetadata(functions[i], kind, LLVMMDNodeInContext2(context, words, 2));
	}
}

void tp_note_end(struct tp_note *note, bool renamed)
{
	const LLVMContextRef context = LLVMGetModuleContext(note->module);
	if (note->text.failed || note->files.failed || note->functions.failed) {
		tp_llvm_error(note->module, "teeperf: out of memory for the inventory");
	} else {
		if (renamed)
			attach_numbers(note, context);
		const LLVMValueRef text = LLVMConstStringInContext(
		    context, note->text.data, (unsigned)note->text.size, true);
		const LLVMValueRef variable =
		    LLVMAddGlobal(note->module, LLVMTypeOf(text), TP_NOTE_NAME);
		LLVMSetInitializer(variable, text);
		LLVMSetGlobalConstant(variable, true);
		LLVMSetLinkage(variable, LLVMPrivateLinkage);
		// Code generation leaves this section out, should nobody take the note out before.
		LLVMSetSection(variable, "llvm.metadata");
		tp_llvm_keep(note->module, variable);
	}
	tp_buf_release(&note->text);
	tp_buf_release(&note->files);
	tp_buf_release(&note->functions);
}
