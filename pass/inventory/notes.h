/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The inventory (docs/inventory.md) that the pass leaves in what it compiles. At the start of the
 * pipeline a note in the module says which functions there are; it outlives functions that are
 * inlined and go to the linker with LTO. At the end the notes of all that is in the module become
 * the inventory.
 */
#ifndef TP_INVENTORY_NOTES_H
#define TP_INVENTORY_NOTES_H

#include "common/buf.h"
#include "pass/llvm_compat.h"
#include "pass/pass.h"

/* What the variables are called that hold notes, with numbers behind. */
#define TP_NOTE_NAME "teeperf.note"
/*
 * Metadata of internal functions, which the linker may rename: two words, the hash of the note and
 * the number of the function in it.
 */
#define TP_NOTE_KIND "teeperf.note"

/*
 * A note under construction: lines of fields between tabs, strings escaped as in docs/inventory.md.
 *   unit  MAIN-FILE COMPILER LEVEL LISTS MODULE
 *   file  NAME
 *   fun   NAME LINKAGE FILE LINE INSTRUCTIONS FORCED LIST LIST-LINE CALLEE...
 * FILE is the number of a file line, or empty. Callees are noted only without debug information.
 */
struct tp_note {
	LLVMModuleRef module;
	struct tp_buf text;
	struct tp_buf files;     /* uint64_t hashes of the names that have lines, in their order */
	struct tp_buf functions; /* LLVMValueRef of the noted functions, in their order */
	bool callees;
};

void tp_note_begin(struct tp_note *note, const struct tp_pass *pass, LLVMModuleRef module);
void tp_note_function(
    struct tp_note *note, LLVMValueRef function, const struct tp_verdict *verdict);
/* Leave the note in the module; `renamed`: an LTO link is to come. */
void tp_note_end(struct tp_note *note, bool renamed);

/* Which note it is; and of names. */
static inline uint64_t tp_note_hash(const char *text, size_t size)
{
	return teeperf_hash_bytes(TEEPERF_HASH_START, text, size);
}

/* Escaped as in docs/inventory.md: a text, and the linkage name of a function. */
void tp_note_add_string(struct tp_buf *out, const char *text, size_t size);
void tp_note_add_name(struct tp_buf *out, LLVMValueRef function);

/* LLVM's word for the linkage of a function. */
const char *tp_note_linkage(LLVMValueRef function);

/*
 * ---- At the end of the pipeline: the notes of a module, and what has become of the functions in
 * them.
 */

#define TP_NOTE_NONE UINT32_MAX

/* A function of a note. Strings are still escaped; NULL if a damaged note lacks them. */
struct tp_noted {
	const char *name, *linkage, *line, *instructions, *list, *list_line;
	uint32_t file;    /* of the notes' files, or TP_NOTE_NONE if it is not known */
	char *callees;    /* names between tabs, or NULL */
	uint32_t unit;    /* of the notes; TP_NOTE_NONE: it is defined elsewhere (ThinLTO) */
	uint32_t emitted; /* as which function it is there, or TP_NOTE_NONE */
	uint32_t next;    /* with the same hash of its name, or TP_NOTE_NONE */
	uint32_t number;  /* in the inventory, or TP_NOTE_NONE */
	uint32_t copies;  /* how many copies entries it has */
	bool forced;
	bool has_made; /* optimisation has made functions of it, such as cold parts */
};

/* A function that is there after optimisation. */
struct tp_emitted {
	LLVMValueRef function;
	uint32_t noted; /* or TP_NOTE_NONE: made by an optimisation */
	/* what it was called when it was decided about, if it has another name; or NULL */
	char *origin;
	uint32_t made_of;   /* the noted function of that name if it was made, or TP_NOTE_NONE */
	uint32_t next_made; /* in the same unit, or TP_NOTE_NONE */
	uint32_t number;    /* in the inventory */
	struct tp_llvm_facts facts;
	bool decided_again; /* by the facts, or the new name: */
	struct tp_verdict verdict;
	uint32_t first_call, call_count; /* in calls */
};

struct tp_noted_unit {
	const char *line; /* the text after "unit" */
	char *main_file;  /* its first field */
	uint64_t hash;
	uint32_t first, count; /* in noted */
	uint32_t
	    first_made; /* of the emitted functions that optimisation made here, or TP_NOTE_NONE */
};

struct tp_noted_call {
	LLVMValueRef callee;
	uint32_t sites;
	double frequency;
};

/* A noted function was inlined into an emitted one. */
struct tp_noted_copy {
	uint32_t noted;
	uint32_t into;
	uint32_t sites;
	bool guessed;
};

/* Any function of the module; sorted by address. */
struct tp_module_function {
	LLVMValueRef function;
	uint32_t emitted; /* or TP_NOTE_NONE */
	uint32_t number;  /* in the inventory, once it has one */
};

/* The notes of a module, and what has become of the functions in them. */
struct tp_notes {
	const struct tp_pass *pass;
	LLVMModuleRef module;
	char *text;   /* of the notes, cut up */
	char **files; /* that functions are in */
	struct tp_noted_unit *units;
	struct tp_noted *noted;
	struct tp_emitted *emitted;
	struct tp_module_function *functions;
	uint32_t *slots; /* hash table of names: index of noted, or TP_NOTE_NONE */
	struct tp_noted_call *calls;
	struct tp_noted_copy *copies; /* in the end sorted by noted, each pair once */
	uint32_t file_count, unit_count, noted_count, emitted_count, function_count;
	uint32_t call_count, copy_count, noted_room, call_room, copy_room;
	uint32_t slot_mask;
	bool failed; /* out of memory */
};

/* Take the notes out of the module; without any, unit_count is 0. To be released in any case. */
void tp_notes_take(struct tp_notes *notes, const struct tp_pass *pass, LLVMModuleRef module);
void tp_notes_release(struct tp_notes *notes);
/* The first noted function of this name (escaped), then the others; TP_NOTE_NONE at the end. */
uint32_t tp_notes_find(const struct tp_notes *notes, const char *name, size_t size);
uint32_t tp_notes_find_next(const struct tp_notes *notes, uint32_t noted);
/*
 * Add a function (escaped name) that no note has. Its number; TP_NOTE_NONE if there is no memory.
 */
uint32_t tp_notes_add_elsewhere(struct tp_notes *notes, const char *name, size_t size);
bool tp_notes_is_internal(const struct tp_noted *noted);
/* The place of a function in notes->functions. */
struct tp_module_function *tp_notes_function(const struct tp_notes *notes, LLVMValueRef function);

/* Look at the functions that are left, and find where the rest has gone (emit.c). */
void tp_notes_look(struct tp_notes *notes);
/* Write the inventory into the module, and into a file if that is wanted (output.c). */
void tp_notes_write(struct tp_notes *notes);
/* Warn of lines of allowlists that name functions which are not there any more (warn.c). */
void tp_warn_of_vanished(const struct tp_notes *notes);
/* Warn that a forced function will be inlined all the same. */
void tp_warn_of_always_inline(
    const struct tp_pass *pass, LLVMValueRef function, const struct tp_verdict *verdict);

#endif
