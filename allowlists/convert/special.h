/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists in the syntax of Clang's SpecialCaseList, whichever of its tools reads them: sections, and
 * lines PREFIX:GLOB or PREFIX:GLOB=CATEGORY.
 */
#ifndef TP_LIST_SPECIAL_H
#define TP_LIST_SPECIAL_H

#include "import.h"

struct tp_special_entry {
	uint32_t section;        /* index in the words that were asked for */
	struct tp_span prefix;   /* before the ':' */
	struct tp_span category; /* behind the '=', or empty */
	bool used;               /* for the caller: it has become a line */
};

struct tp_special_list {
	struct tp_import import; /* patterns, which are our globs; group: index in entries */
	struct tp_special_entry *entries; /* import.count of them */
	uint32_t room;                    /* for entries */
	struct tp_buf patterns;           /* of lists with regular expressions */
};

/*
 * Read the list. Of sections whose names match none of WORDS (ended by NULL) only a warning remains;
 * of several words that match, the first counts. 0, or a negative tp_error. Release it in any case.
 */
int tp_special_read(struct tp_special_list *list, const char *const *words);
void tp_special_release(struct tp_special_list *list);

/* Write the entries of section, prefix and category that are given as lines KIND:GLOB=BECOMES. */
void tp_special_write(struct tp_special_list *list, uint32_t section, const char *prefix,
    const char *category, const char *kind, enum tp_category becomes);

/* Report the entries that nothing has used. */
void tp_special_finish(struct tp_special_list *list, const char *why);

#endif
