/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* By what a module without a build ID is known: the hash of its code and of its functions' names (log.h). */
#ifndef TP_ELF_CODE_H
#define TP_ELF_CODE_H

#include <stdint.h>

/*
 * That hash, of the ELF file PATH: SIZE bytes from ADDRESS (as in the file) on are the code. 0 if the file has no such
 * code, or cannot be read. It is the same for a file and what strip leaves of it. The file is untrusted.
 */
uint64_t tp_elf_code_hash(const char *path, uint64_t address, uint64_t size);

#endif
