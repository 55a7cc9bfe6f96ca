/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs for another processor, which an emulator runs: their hardware clock is not that of the recorder. */
#ifndef TP_RECORD_FOREIGN_H
#define TP_RECORD_FOREIGN_H

/*
 * The first word of a command line that is the path of a program for another processor (an emulator's argument, or
 * the command itself where the kernel knows the emulator), and in *machine which; NULL if there is none.
 */
const char *tp_record_foreign(char *const *argv, const char **machine);

#endif
