/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The inventory (docs/inventory.md) that the pass leaves in what it compiles. At the start of the
 * pipeline a note in the module says which functions there are; it outlives what is inlined and goes
 * to the linker with LTO. At the end the notes of all that is in the module become the inventory.
 */
#ifndef TP_INVENTORY_NOTE_H
#define TP_INVENTORY_NOTE_H

#include "common/buf.h"
#include "pass/options.h"

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

/* Which note it is. */
uint64_t tp_note_hash(const char *text, size_t size);

/* Escaped as in docs/inventory.md: a text, and the linkage name of a function. */
void tp_note_add_string(struct tp_buf *out, const char *text, size_t size);
void tp_note_add_name(struct tp_buf *out, LLVMValueRef function);

/* LLVM's word for the linkage of a function. */
const char *tp_note_linkage(LLVMValueRef function);

#endif
