/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The notes that pass and runtime leave in programs and libraries (abi.h, TEEPERF_NOTE_NAME), which
 * stripped files have, too. The bytes are untrusted.
 */
#ifndef TP_OWN_NOTES_H
#define TP_OWN_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A note of TYPE, whose content of SIZE bytes is at place AT of the file that is read. */
typedef void tp_own_note(
    void *context, uint32_t type, uint64_t at, const unsigned char *content, size_t size);

/*
 * Call SEE for each of them in the 64-bit ELF file at START of FILE: as it is loaded there, if that
 * is a process's memory.
 */
void tp_own_notes_read(int file, uint64_t start, bool loaded, tp_own_note *see, void *context);

/* Whether the file PATH has any; false as well if it cannot be read. */
bool tp_own_notes_are_in(const char *path);

#endif
