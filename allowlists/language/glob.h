/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Globs with the meaning of LLVM 19's GlobPattern:
 *
 *   *      any bytes, also none; '/' is nothing special
 *   ?      one byte
 *   [set]  one byte of a set: members and ranges a-z; [^set] and [!set]: one byte that is not in it.
 *          A ']' right behind the '[' is a member; a backslash is an ordinary member
 *   {a,b}  one of two or more globs; not nested
 *   \x     the byte x
 *
 * A glob matches a whole text. Braces are expanded when the glob is compiled, so that what remains
 * is matched without recursion in at most length of text times length of glob steps.
 */
#ifndef TP_GLOB_H
#define TP_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most globs without braces that one glob may stand for (LLVM's limit, too). */
enum { TP_GLOB_EXPANSIONS_MAX = 1024 };

/* A compiled glob without braces. */
struct tp_glob {
	size_t prefix_size; /* literal bytes that it starts with */
	bool literal;       /* it is its prefix and matches nothing else */
	size_t min_size;    /* shortest text that it matches */
	size_t token_count;
	uint16_t *tokens;      /* a byte, or one of enum tp_glob_token */
	size_t tail;           /* index of the first token behind the last star */
	uint8_t (*sets)[32];   /* bit maps of 256 */
	unsigned char *prefix; /* prefix_size bytes, and a NUL */
};

enum tp_glob_token {
	TP_GLOB_ANY = 256,
	TP_GLOB_STAR,
	TP_GLOB_SET, /* TP_GLOB_SET + n: sets[n] */
};

/* What is wrong with a glob; what is a constant string. */
struct tp_glob_error {
	size_t offset; /* of the byte in the glob at which it is */
	const char *what;
};

/*
 * Compile SIZE bytes of TEXT. Calls `take` for each glob that the braces expand to, in order; `take`
 * owns it from then on and returns 0, or a negative tp_error to stop. Returns 0, what `take`
 * returned, TP_ERR_MEMORY, or TP_ERR_SYNTAX with *error set and nothing passed to `take`.
 */
int tp_glob_compile(const char *text, size_t size, int (*take)(void *context, struct tp_glob *glob),
    void *context, struct tp_glob_error *error);
/* Frees the glob; NULL is allowed. */
void tp_glob_free(struct tp_glob *glob);

bool tp_glob_match(const struct tp_glob *glob, const char *text, size_t size);

#endif
