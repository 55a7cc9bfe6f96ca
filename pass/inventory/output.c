// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the inventory (docs/inventory.md): into a section of the object file that is not loaded,
// by assembly, as LLVM's variables cannot do without memory at run time; and into a file.
#define _GNU_SOURCE
#include "notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/linkage_name.h"
#include "common/zipped_text.h"
#include "pass/function.h"

// Whether another unit's definition of the same function has been kept (LTO).
static bool is_replaced(const struct tp_notes *notes, const struct tp_noted *noted)
{
	if (noted->emitted != TP_NOTE_NONE || tp_notes_is_internal(noted))
		return false;
	for (uint32_t i = tp_notes_find(notes, noted->name, strlen(noted->name)); i != TP_NOTE_NONE;
	     i = tp_notes_find_next(notes, i))
		if (notes->noted[i].emitted != TP_NOTE_NONE &&
		    !tp_notes_is_internal(&notes->noted[i]))
			return true;
	return false;
}

static void number_emitted(struct tp_notes *notes, struct tp_emitted *emitted, uint32_t number)
{
	emitted->number = number;
	tp_notes_function(notes, emitted->function)->number = number;
}

// What nobody called of a standard library; there is so much of it that it would be most of the
// inventory.
static bool is_of_no_interest(const struct tp_notes *notes, const struct tp_noted *noted)
{
	return noted->emitted == TP_NOTE_NONE && !noted->copies && !noted->has_made &&
	       !noted->forced &&
	       tp_is_from_system(
		   noted->file == TP_NOTE_NONE ? "" : notes->files[noted->file], noted->name);
}

// Number all functions in the order in which they are written: a unit's, then those that
// optimisation has made of them. Functions of elsewhere follow, as they come up.
static uint32_t number_functions(struct tp_notes *notes)
{
	uint32_t number = 0;
	for (uint32_t u = 0; u < notes->unit_count; u++) {
		const struct tp_noted_unit *unit = &notes->units[u];
		for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
			struct tp_noted *noted = &notes->noted[i];
			if (is_replaced(notes, noted) || is_of_no_interest(notes, noted))
				continue;
			noted->number = number++;
			if (noted->emitted != TP_NOTE_NONE)
				number_emitted(
				    notes, &notes->emitted[noted->emitted], noted->number);
		}
		for (uint32_t i = unit->first_made; i != TP_NOTE_NONE;
		     i = notes->emitted[i].next_made)
			number_emitted(notes, &notes->emitted[i], number++);
	}
	return number;
}

// Everything that the text needs while it is made.
struct output {
	struct tp_notes *notes;
	struct tp_buf text;
	struct tp_buf externals; // LLVMValueRef of the functions of elsewhere, in their order
	uint32_t next_number;
	uint32_t next_file;
	uint32_t *files; // numbers of the files that have lines, + 1
	uint32_t copy;   // first that has not been written
};

static void add_value(struct tp_buf *text, const char *key, const char *value)
{
	if (value && *value)
		tp_buf_addf(text, "\t%s=%s", key, value);
}

static void add_number(struct tp_buf *text, const char *key, uint64_t number)
{
	if (number)
		tp_buf_addf(text, "\t%s=%llu", key, (unsigned long long)number);
}

static void add_unit(struct tp_buf *text, const struct tp_noted_unit *unit)
{
	static const char *const keys[] = {"compiler", "level", "lists", "module"};
	const char *at = unit->line;
	size_t size = strcspn(at, "\t");
	tp_buf_add_string(text, "unit\t");
	tp_buf_add(text, at, size);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && at[size]; i++) {
		at += size + 1;
		size = strcspn(at, "\t");
		if (!size)
			continue;
		tp_buf_addf(text, "\t%s=", keys[i]);
		tp_buf_add(text, at, size);
	}
	tp_buf_add_char(text, '\n');
}

static void add_file(struct output *output, uint32_t file)
{
	if (output->files[file])
		return;
	output->files[file] = ++output->next_file;
	tp_buf_addf(&output->text, "file\t%s\n", output->notes->files[file]);
}

// What it was instrumented as, in the words of allowlists.
static void add_decision(struct tp_buf *text, LLVMValueRef function, bool forced)
{
	unsigned length;
	const char *decision = tp_function_decision(function, &length);
	if (tp_function_is(function, TP_ATTRIBUTE_EVENT))
		tp_buf_add_string(text, forced ? "\tdid=force" : "\tdid=allow");
	else if (length && !tp_function_is(function, TP_ATTRIBUTE_SKIP) &&
		 !tp_function_is(function, TP_ATTRIBUTE_NEVER))
		tp_buf_addf(text, "\tdid=%.*s", (int)length, decision);
}

static void add_place(struct tp_buf *text, const struct tp_verdict *verdict)
{
	if (!verdict->line)
		return;
	tp_buf_add_string(text, "\tby=");
	tp_note_add_string(text, verdict->file, strlen(verdict->file));
	tp_buf_addf(text, ":%u", verdict->line);
}

static void add_facts(struct tp_buf *text, const struct tp_llvm_facts *facts)
{
	add_number(text, "instrs", facts->instructions);
	add_number(text, "blocks", facts->blocks);
	add_number(text, "loops", facts->loops);
	add_number(text, "depth", facts->depth);
	add_number(text, "calls", facts->calls);
	add_number(text, "indirect", facts->indirect_calls);
	add_number(text, "trips", facts->constant_trips);
}

static void add_origin(struct tp_buf *text, const struct tp_emitted *emitted)
{
	if (!emitted->origin)
		return;
	tp_buf_add_string(text, "\tof=");
	tp_note_add_string(text, emitted->origin, strlen(emitted->origin));
}

static void add_source(struct output *output, const struct tp_noted *noted)
{
	if (noted->file != TP_NOTE_NONE)
		tp_buf_addf(&output->text, "\tfile=#%u", output->files[noted->file] - 1);
	if (strcmp(noted->line, "0") != 0)
		add_value(&output->text, "line", noted->line);
}

static void add_calls(struct output *output, const struct tp_emitted *emitted)
{
	const struct tp_notes *notes = output->notes;
	for (uint32_t i = 0; i < emitted->call_count; i++) {
		const struct tp_noted_call *call = &notes->calls[emitted->first_call + i];
		struct tp_module_function *callee = tp_notes_function(notes, call->callee);
		if (!callee)
			continue;
		if (callee->number == TP_NOTE_NONE) {
			callee->number = output->next_number++;
			tp_buf_add(&output->externals, &call->callee, sizeof(call->callee));
		}
		tp_buf_addf(&output->text, "call\t#%u", callee->number);
		if (call->sites != 1)
			add_number(&output->text, "sites", call->sites);
		tp_buf_addf(&output->text, "\tfreq=%.4g\n", call->frequency);
	}
}

static void add_copies(struct output *output, uint32_t noted)
{
	const struct tp_notes *notes = output->notes;
	const struct tp_noted_copy *copies = notes->copies;
	const uint32_t count = notes->copy_count;
	// Both are in the order of noted functions; those without a number are passed over.
	while (output->copy < count && copies[output->copy].noted < noted)
		output->copy++;
	for (; output->copy < count && copies[output->copy].noted == noted; output->copy++) {
		const struct tp_noted_copy *copy = &copies[output->copy];
		tp_buf_addf(&output->text, "into\t#%u", notes->emitted[copy->into].number);
		if (copy->sites != 1)
			add_number(&output->text, "sites", copy->sites);
		add_number(&output->text, "guessed", copy->guessed);
		tp_buf_add_char(&output->text, '\n');
	}
}

// A function of a note, whether it is there or not; or one that optimisation has made, such as a
// cold part, of a noted one or of none.
static void add_function(
    struct output *output, const struct tp_noted *noted, const struct tp_emitted *emitted)
{
	const bool made = emitted && emitted->noted == TP_NOTE_NONE;
	struct tp_buf *text = &output->text;
	if (noted && noted->file != TP_NOTE_NONE)
		add_file(output, noted->file);
	tp_buf_add_string(text, "fun\t");
	if (emitted) // LTO may have given it another name.
		tp_note_add_name(text, emitted->function);
	else
		tp_buf_add_string(text, noted->name);
	tp_buf_addf(text, "\t%s\t%s", made ? tp_note_linkage(emitted->function) : noted->linkage,
	    made             ? "emitted"
	    : !noted->copies ? emitted ? "emitted" : "removed"
	    : emitted        ? "partly"
			     : "inlined");
	if (noted)
		add_source(output, noted);
	if (!made)
		add_value(text, "start", noted->instructions);
	if (emitted) {
		add_origin(text, emitted);
		add_facts(text, &emitted->facts);
		add_decision(text, emitted->function,
		    emitted->decided_again ? emitted->verdict.category == TP_CATEGORY_FORCE
					   : !made && noted->forced);
	}
	if (emitted && emitted->decided_again)
		add_place(text, &emitted->verdict);
	else if (!made && *noted->list)
		tp_buf_addf(text, "\tby=%s:%s", noted->list, noted->list_line);
	tp_buf_add_char(text, '\n');
	if (emitted)
		add_calls(output, emitted);
}

static void add_all(struct output *output)
{
	const struct tp_notes *notes = output->notes;
	tp_buf_add_string(&output->text, "teeperf-inventory\t1\n");
	for (uint32_t u = 0; u < notes->unit_count; u++) {
		const struct tp_noted_unit *unit = &notes->units[u];
		add_unit(&output->text, unit);
		for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
			const struct tp_noted *noted = &notes->noted[i];
			if (noted->number == TP_NOTE_NONE)
				continue;
			add_function(output, noted,
			    noted->emitted == TP_NOTE_NONE ? NULL
							   : &notes->emitted[noted->emitted]);
			add_copies(output, i);
		}
		for (uint32_t i = unit->first_made; i != TP_NOTE_NONE;
		     i = notes->emitted[i].next_made) {
			const uint32_t of = notes->emitted[i].made_of;
			add_function(output, of == TP_NOTE_NONE ? NULL : &notes->noted[of],
			    &notes->emitted[i]);
		}
	}
	const LLVMValueRef *externals = (const LLVMValueRef *)(const void *)output->externals.data;
	for (size_t i = 0; i < output->externals.size / sizeof(*externals); i++) {
		tp_buf_add_string(&output->text, "ext\t");
		tp_note_add_name(&output->text, externals[i]);
		tp_buf_add_char(&output->text, '\n');
	}
	for (uint32_t i = 0; i < notes->noted_count; i++) {
		if (notes->noted[i].unit != TP_NOTE_NONE)
			continue;
		tp_buf_addf(&output->text, "ext\t%s\n", notes->noted[i].name);
		add_copies(output, i);
	}
}

// Packed, in a section that is not allocated. The linker puts such frames behind one another.
static void add_assembly(struct tp_buf *assembly, const struct tp_buf *text)
{
	enum { BYTES_A_LINE = 64 };
	struct tp_buf packed;
	tp_buf_init(&packed);
	tp_zipped_add(&packed, text->data, text->size);
	tp_buf_add_string(assembly, "\t.pushsection\t.teeperf.inventory,\"\",%progbits\n");
	for (size_t i = 0; i < packed.size; i++) {
		const unsigned char c = (unsigned char)packed.data[i];
		tp_buf_add_string(assembly, i % BYTES_A_LINE ? "" : "\t.ascii\t\"");
		if (c >= ' ' && c < 127 && c != '"' && c != '\\')
			tp_buf_add_char(assembly, (char)c);
		else
			tp_buf_addf(assembly, "\\%03o", c);
		if (i % BYTES_A_LINE == BYTES_A_LINE - 1 || i + 1 == packed.size)
			tp_buf_add_string(assembly, "\"\n");
	}
	tp_buf_add_string(assembly, "\t.popsection\n");
	assembly->failed |= packed.failed;
	tp_buf_release(&packed);
}

// DIR/NAME-HASH.tpinv, where the hash tells files of one name apart. Written aside and renamed: a
// reader finds all or nothing.
static void write_file(const struct tp_notes *notes, const struct tp_buf *text)
{
	char *folder = getcwd(NULL, 0);
	char *path = NULL;
	char *aside = NULL;
	struct tp_buf identity;
	tp_buf_init(&identity);
	tp_buf_add_string(&identity, folder ? folder : "");
	for (uint32_t i = 0; i < notes->unit_count; i++) {
		tp_buf_add_char(&identity, '\n');
		tp_buf_add_string(&identity, notes->units[i].main_file);
	}
	size_t size;
	const char *name = LLVMGetSourceFileName(notes->module, &size);
	const char *slash = strrchr(name, '/');
	const unsigned hash = (unsigned)tp_note_hash(identity.data, identity.size);
	bool ok = asprintf(&path, "%s/%s-%08x.tpinv", notes->pass->inventory_folder,
		      slash ? slash + 1 : name, hash) > 0 &&
		  asprintf(&aside, "%s.%ld", path, (long)getpid()) > 0;
	if (ok) {
		FILE *file = fopen(aside, "we");
		ok = file && fwrite(text->data, 1, text->size, file) == text->size;
		ok = file && fclose(file) == 0 && ok && rename(aside, path) == 0;
	}
	if (!ok) {
		char message[1024];
		snprintf(message, sizeof(message),
		    "teeperf: cannot write the inventory to %s (from TEEPERF_INVENTORY): %s",
		    notes->pass->inventory_folder, strerror(errno));
		tp_llvm_error(notes->module, message);
		if (aside)
			unlink(aside);
	}
	tp_buf_release(&identity);
	free(folder);
	free(path);
	free(aside);
}

void tp_notes_write(struct tp_notes *notes)
{
	struct output output = {
	    .notes = notes, .files = calloc(notes->file_count + (size_t)1, sizeof(*output.files))};
	struct tp_buf assembly;
	tp_buf_init(&output.text);
	tp_buf_init(&output.externals);
	tp_buf_init(&assembly);
	notes->failed |= !output.files;
	if (!notes->failed) {
		output.next_number = number_functions(notes);
		add_all(&output);
		add_assembly(&assembly, &output.text);
		notes->failed |= output.text.failed || output.externals.failed || assembly.failed;
	}
	if (!notes->failed) {
		LLVMAppendModuleInlineAsm(notes->module, assembly.data, assembly.size);
		if (notes->pass->inventory_folder)
			write_file(notes, &output.text);
	}
	tp_buf_release(&output.text);
	tp_buf_release(&output.externals);
	tp_buf_release(&assembly);
	free(output.files);
}
