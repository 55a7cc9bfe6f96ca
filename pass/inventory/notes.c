// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes the notes out of a module again, and finds the functions in them that are still there.
#define _GNU_SOURCE
#include "notes.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "pass/function.h"

// Code that the plugin makes is in no inventory.
static bool is_ours(LLVMValueRef function)
{
	const char *name = tp_function_name(function, NULL);
	return !strncmp(name, TEEPERF_SYMBOL_PREFIX, strlen(TEEPERF_SYMBOL_PREFIX));
}

static bool is_note(LLVMValueRef global)
{
	size_t size;
	const char *section = LLVMGetSection(global);
	return section && !strcmp(section, "llvm.metadata") &&
	       !strncmp(LLVMGetValueName2(global, &size), TP_NOTE_NAME, strlen(TP_NOTE_NAME));
}

// Copy the notes' text, each with a NUL behind, and delete their variables; sets unit_count.
static void take_text(struct tp_notes *notes)
{
	struct tp_buf text;
	struct tp_buf variables;
	tp_buf_init(&text);
	tp_buf_init(&variables);
	for (LLVMValueRef g = LLVMGetFirstGlobal(notes->module); g; g = LLVMGetNextGlobal(g)) {
		size_t size;
		const char *bytes = is_note(g) ? tp_llvm_bytes(g, &size) : NULL;
		if (!bytes)
			continue;
		tp_buf_add(&text, bytes, size);
		tp_buf_add_char(&text, '\0');
		tp_buf_add(&variables, &g, sizeof(g));
		notes->unit_count++;
	}
	notes->failed = text.failed || variables.failed;
	if (notes->unit_count && !notes->failed)
		tp_llvm_delete_kept(notes->module, (LLVMValueRef *)(void *)variables.data,
		    (unsigned)(variables.size / sizeof(LLVMValueRef)));
	if (notes->unit_count && !notes->failed)
		notes->text = text.data;
	else
		tp_buf_release(&text);
	tp_buf_release(&variables);
}

// Cut the next field off, "" if there is none.
static char *take_field(char **at)
{
	char *field = *at;
	char *tab = strchr(field, '\t');
	if (tab)
		*tab = '\0';
	*at = tab ? tab + 1 : field + strlen(field);
	return field;
}

static void put_slot(struct tp_notes *notes, uint32_t index)
{
	struct tp_noted *noted = &notes->noted[index];
	const uint64_t hash = tp_note_hash(noted->name, strlen(noted->name));
	noted->next = notes->slots[hash & notes->slot_mask];
	notes->slots[hash & notes->slot_mask] = index;
}

static void read_function(struct tp_notes *notes, char *at, uint32_t first_file)
{
	struct tp_noted *noted = &notes->noted[notes->noted_count++];
	*noted = (struct tp_noted){
	    .emitted = TP_NOTE_NONE, .number = TP_NOTE_NONE, .unit = notes->unit_count};
	noted->name = take_field(&at);
	noted->linkage = take_field(&at);
	const char *file = take_field(&at);
	const unsigned long number = first_file + strtoul(file, NULL, 10);
	noted->file = *file && number < notes->file_count ? (uint32_t)number : TP_NOTE_NONE;
	noted->line = take_field(&at);
	noted->instructions = take_field(&at);
	noted->forced = *take_field(&at) == '1';
	noted->list = take_field(&at);
	noted->list_line = take_field(&at);
	noted->callees = *at ? at : NULL;
	put_slot(notes, notes->noted_count - 1);
}

uint32_t tp_notes_add_elsewhere(struct tp_notes *notes, const char *name, size_t size)
{
	if (!TP_GROW(notes->noted, notes->noted_room, notes->noted_count + UINT64_C(1)))
		return TP_NOTE_NONE;
	char *copy = strndup(name, size);
	if (!copy)
		return TP_NOTE_NONE;
	notes->noted[notes->noted_count] = (struct tp_noted){
	    .name = copy,
	    .linkage = "external",
	    .line = "0",
	    .instructions = "",
	    .list = "",
	    .list_line = "0",
	    .file = TP_NOTE_NONE,
	    .unit = TP_NOTE_NONE,
	    .emitted = TP_NOTE_NONE,
	    .number = TP_NOTE_NONE,
	};
	put_slot(notes, notes->noted_count);
	return notes->noted_count++;
}

// The notes' lines, one unit after another.
static void read_text(struct tp_notes *notes, uint32_t unit_count)
{
	char *text = notes->text;
	for (notes->unit_count = 0; notes->unit_count < unit_count; notes->unit_count++) {
		struct tp_noted_unit *unit = &notes->units[notes->unit_count];
		const size_t size = strlen(text);
		const uint32_t first_file = notes->file_count;
		*unit = (struct tp_noted_unit){.line = "",
		    .hash = tp_note_hash(text, size),
		    .first = notes->noted_count,
		    .first_made = TP_NOTE_NONE};
		for (char *line = text, *next; *line; line = next) {
			char *end = strchr(line, '\n');
			next = end ? end + 1 : line + strlen(line);
			if (end)
				*end = '\0';
			const char *kind = take_field(&line);
			if (!strcmp(kind, "unit"))
				unit->line = line;
			else if (!strcmp(kind, "file"))
				notes->files[notes->file_count++] = line;
			else if (!strcmp(kind, "fun"))
				read_function(notes, line, first_file);
		}
		unit->count = notes->noted_count - unit->first;
		unit->main_file = strndup(unit->line, strcspn(unit->line, "\t"));
		notes->failed |= !unit->main_file;
		text += size + 1;
	}
}

uint32_t tp_notes_find_next(const struct tp_notes *notes, uint32_t noted)
{
	const char *name = notes->noted[noted].name;
	do
		noted = notes->noted[noted].next;
	while (noted != TP_NOTE_NONE && strcmp(notes->noted[noted].name, name) != 0);
	return noted;
}

uint32_t tp_notes_find(const struct tp_notes *notes, const char *name, size_t size)
{
	uint32_t noted = notes->slots[tp_note_hash(name, size) & notes->slot_mask];
	while (noted != TP_NOTE_NONE && (strncmp(notes->noted[noted].name, name, size) != 0 ||
					    notes->noted[noted].name[size]))
		noted = notes->noted[noted].next;
	return noted;
}

bool tp_notes_is_internal(const struct tp_noted *noted)
{
	return !strcmp(noted->linkage, "internal") || !strcmp(noted->linkage, "private");
}

// The two words that the tag stage has attached to an internal function, for the linker's sake.
static bool attached(LLVMValueRef function, uint64_t words[2])
{
	const LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	const unsigned kind = LLVMGetMDKindIDInContext(context, TP_NOTE_KIND, strlen(TP_NOTE_KIND));
	size_t count;
	bool found = false;
	LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(function, &count);
	for (unsigned i = 0; i < count; i++) {
		if (LLVMValueMetadataEntriesGetKind(entries, i) != kind)
			continue;
		const LLVMValueRef node =
		    LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i));
		LLVMValueRef operands[2];
		if (LLVMGetMDNodeNumOperands(node) != 2)
			continue;
		LLVMGetMDNodeOperands(node, operands);
		found = LLVMIsAConstantInt(operands[0]) && LLVMIsAConstantInt(operands[1]);
		for (int j = 0; found && j < 2; j++)
			words[j] = LLVMConstIntGetZExtValue(operands[j]);
	}
	LLVMDisposeValueMetadataEntries(entries);
	return found;
}

// The first noted function that has this name, which is not escaped.
static uint32_t find_plain(const struct tp_notes *notes, const char *name, size_t size)
{
	struct tp_buf escaped;
	tp_buf_init(&escaped);
	tp_note_add_string(&escaped, name, size);
	const uint32_t noted = tp_notes_find(notes, escaped.data, escaped.size);
	tp_buf_release(&escaped);
	return noted;
}

// Which noted function is attached, or which that has not been found; TP_NOTE_NONE: none.
static uint32_t find_attached(
    const struct tp_notes *notes, const uint64_t words[2], bool only_missing)
{
	for (uint32_t i = 0; i < notes->unit_count; i++) {
		const struct tp_noted_unit *unit = &notes->units[i];
		const uint32_t noted = unit->first + (uint32_t)words[1];
		if (unit->hash == words[0] && words[1] < unit->count &&
		    (!only_missing || notes->noted[noted].emitted == TP_NOTE_NONE))
			return noted;
	}
	return TP_NOTE_NONE;
}

// The noted function that `emitted` was made of: it inherits what the tag stage has left there.
static uint32_t find_origin(const struct tp_notes *notes, const struct tp_emitted *emitted)
{
	uint64_t words[2];
	if (!emitted->origin)
		return TP_NOTE_NONE;
	return attached(emitted->function, words)
		   ? find_attached(notes, words, false)
		   : find_plain(notes, emitted->origin, strlen(emitted->origin));
}

// Which noted function it is, if it is one that has not been found yet.
static uint32_t identify(const struct tp_notes *notes, LLVMValueRef function)
{
	uint64_t words[2];
	if (attached(function, words))
		return find_attached(notes, words, true);
	size_t size;
	const char *name = tp_function_name(function, &size);
	uint32_t noted = find_plain(notes, name, size);
	while (noted != TP_NOTE_NONE && notes->noted[noted].emitted != TP_NOTE_NONE)
		noted = tp_notes_find_next(notes, noted);
	return noted;
}

static int compare_functions(const void *a, const void *b)
{
	const struct tp_module_function *x = a;
	const struct tp_module_function *y = b;
	return TP_COMPARE(x->function, y->function);
}

struct tp_module_function *tp_notes_function(const struct tp_notes *notes, LLVMValueRef function)
{
	const struct tp_module_function wanted = {.function = function};
	return bsearch(&wanted, notes->functions, notes->function_count, sizeof(*notes->functions),
	    compare_functions);
}

static void find_functions(struct tp_notes *notes)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(notes->module); f; f = LLVMGetNextFunction(f)) {
		struct tp_module_function *any = &notes->functions[notes->function_count++];
		*any = (struct tp_module_function){
		    .function = f, .emitted = TP_NOTE_NONE, .number = TP_NOTE_NONE};
		if (LLVMIsDeclaration(f) || is_ours(f) ||
		    LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage)
			continue;
		any->emitted = notes->emitted_count++;
		struct tp_emitted *emitted = &notes->emitted[any->emitted];
		*emitted = (struct tp_emitted){.function = f,
		    .noted = identify(notes, f),
		    .origin = tp_function_origin(f),
		    .made_of = TP_NOTE_NONE,
		    .next_made = TP_NOTE_NONE};
		if (emitted->noted != TP_NOTE_NONE)
			notes->noted[emitted->noted].emitted = any->emitted;
		else
			emitted->made_of = find_origin(notes, emitted);
		if (emitted->made_of != TP_NOTE_NONE)
			notes->noted[emitted->made_of].has_made = true;
	}
	for (uint32_t i = notes->emitted_count; i-- > 0;) {
		struct tp_emitted *emitted = &notes->emitted[i];
		if (emitted->noted != TP_NOTE_NONE)
			continue;
		const uint32_t unit =
		    emitted->made_of == TP_NOTE_NONE ? 0 : notes->noted[emitted->made_of].unit;
		emitted->next_made = notes->units[unit].first_made;
		notes->units[unit].first_made = i;
	}
	qsort(
	    notes->functions, notes->function_count, sizeof(*notes->functions), compare_functions);
}

static uint32_t count_lines(const char *text, uint32_t notes)
{
	uint32_t count = 0;
	for (; notes; text++) {
		count += *text == '\n';
		notes -= !*text;
	}
	return count;
}

void tp_notes_take(struct tp_notes *notes, const struct tp_pass *pass, LLVMModuleRef module)
{
	*notes = (struct tp_notes){.pass = pass, .module = module};
	take_text(notes);
	const uint32_t unit_count = notes->unit_count;
	if (!unit_count || notes->failed)
		return;
	const uint32_t lines = count_lines(notes->text, unit_count);
	uint32_t functions = 0;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		functions++;
	notes->slot_mask = 1;
	while (notes->slot_mask < lines)
		notes->slot_mask = notes->slot_mask * 2 + 1;
	notes->files = calloc(lines + 1, sizeof(*notes->files));
	notes->units = calloc(unit_count, sizeof(*notes->units));
	notes->noted_room = lines + 1;
	notes->noted = calloc(notes->noted_room, sizeof(*notes->noted));
	notes->emitted = calloc(functions + 1, sizeof(*notes->emitted));
	notes->functions = calloc(functions + 1, sizeof(*notes->functions));
	notes->slots = calloc((size_t)notes->slot_mask + 1, sizeof(*notes->slots));
	notes->failed = !notes->files || !notes->units || !notes->noted || !notes->emitted ||
			!notes->functions || !notes->slots;
	if (!notes->failed) {
		memset(notes->slots, 0xff, ((size_t)notes->slot_mask + 1) * sizeof(*notes->slots));
		read_text(notes, unit_count);
		find_functions(notes);
	}
}

void tp_notes_release(struct tp_notes *notes)
{
	free(notes->text);
	free(notes->files);
	for (uint32_t i = 0; notes->units && i < notes->unit_count; i++)
		free(notes->units[i].main_file);
	free(notes->units);
	for (uint32_t i = 0; notes->noted && i < notes->noted_count; i++)
		if (notes->noted[i].unit == TP_NOTE_NONE)
			free((void *)(uintptr_t)notes->noted[i].name);
	free(notes->noted);
	for (uint32_t i = 0; notes->emitted && i < notes->emitted_count; i++)
		free(notes->emitted[i].origin);
	free(notes->emitted);
	free(notes->functions);
	free(notes->slots);
	free(notes->calls);
	free(notes->copies);
}
