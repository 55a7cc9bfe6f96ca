/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What differs between the complete command and the recorder for targets, which is linked without the
 * analyzer: that one takes the files of target/ in place of those of cli/ that are named there.
 */
#ifndef TP_EDITION_H
#define TP_EDITION_H

struct tp_edition {
	const char *summary;       /* the command in one line */
	const char *start;         /* the end of the list of commands; lines end in \n */
	const char *unknown;       /* printed after an unknown command; "" or a line */
	const char *next;          /* before the command line that a recording goes on with */
	const char *no_inventory;  /* after a program's name: why its inventory is not known */
	const char *get_inventory; /* "" or what to do about it, after a semicolon */
};

extern const struct tp_edition tp_edition;

#endif
