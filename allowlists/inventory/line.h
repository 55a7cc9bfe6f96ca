/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One line of an inventory's text: fields between tabs, KEY=VALUE behind the first ones. */
#ifndef TP_INVENTORY_LINE_H
#define TP_INVENTORY_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

enum { TP_INVENTORY_FIELDS = 64 }; /* more are not looked at */

struct tp_inventory_line {
	const char *file;
	struct tp_err *err;
	uint32_t number;
	char *
	    fields[TP_INVENTORY_FIELDS]; /* in the text, which is changed; [0] is the line's kind */
	uint32_t count;
};

/* Cut TEXT into fields; they are still escaped. */
void tp_inventory_line_split(struct tp_inventory_line *line, char *text);

/* Fill the error, of this line, and return `code`. */
int tp_inventory_line_fail(struct tp_inventory_line *line, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Unescape the first COUNT fields behind the kind; an error saying WHAT they are if there are fewer. */
int tp_inventory_line_need(struct tp_inventory_line *line, uint32_t count, const char *what);

/* A decimal number; false if it is none, or too large. */
bool tp_inventory_line_parse(const char *text, uint64_t *value);

/* The value behind KEY= in the fields from FIRST on, still escaped; NULL without one. */
char *tp_inventory_line_option(
    const struct tp_inventory_line *line, uint32_t first, const char *key);

/* The same as a string or as a number up to MAX; without one, the value stays as it is. */
int tp_inventory_line_string(
    struct tp_inventory_line *line, uint32_t first, const char *key, const char **text);
int tp_inventory_line_number(struct tp_inventory_line *line, uint32_t first, const char *key,
    uint64_t max, uint64_t *number);

#endif
