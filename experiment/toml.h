/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * TOML as a tree of C. The parser is toml++, which is C++: toml.cpp turns what it found into these
 * nodes and is all that sees it. Items of a table stand in the order of the file.
 */
#ifndef TP_TOML_H
#define TP_TOML_H

#ifdef __cplusplus
extern "C" {
#endif

#include "common/arena.h"
#include "common/err.h"

enum tp_toml_type {
	TP_TOML_TEXT,
	TP_TOML_INTEGER,
	TP_TOML_REAL,
	TP_TOML_BOOL,
	TP_TOML_TIME, /* dates and times; what they say is not kept */
	TP_TOML_ARRAY,
	TP_TOML_TABLE,
};

struct tp_toml_place {
	uint32_t line; /* 1-based */
	uint32_t column;
};

struct tp_toml {
	enum tp_toml_type type;
	const char *key; /* in a table; NULL in an array */
	struct tp_toml_place key_place;
	struct tp_toml_place place;
	const char *text; /* of a text: without NUL bytes in it */
	int64_t integer;
	double real;
	bool truth;
	struct tp_toml *first; /* of an array or a table */
	struct tp_toml *next;
	uint32_t count; /* of items */
};

/*
 * Parse SIZE bytes of TEXT; FILE is its name in errors. *ROOT is a table and lives in ARENA. 0,
 * TP_ERR_SYNTAX with the place, TP_ERR_MEMORY.
 */
int tp_toml_parse(struct tp_arena *arena, const char *file, const char *text, size_t size,
    const struct tp_toml **root, struct tp_err *err);

#ifdef __cplusplus
}
#endif

#endif
