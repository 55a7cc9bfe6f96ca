/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Globs with the meaning of LLVM 19's GlobPattern:
 *
 *   *      any bytes, also none; '/' is nothing special
 *   ?      one byte
 *   [set]  one byte of a set: members and ranges a-z; [^set] and [!set]: one byte that is not in
 *          it. A ']' right behind the '[' is a member; a backslash is an ordinary member
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

/* The error in a glob: a constant string. */
struct tp_glob_error {
	size_t offset; /* of the byte in the glob at which it is */
	const char *what;
};

/* What one glob with braces stands for: one of these must match. Starts as {0}. */
struct tp_globs {
	struct tp_glob **items;
	uint32_t count;
};

/*
 * Compile SIZE bytes of TEXT: *globs gets those that the braces expand to, in order. 0,
 * TP_ERR_MEMORY, or TP_ERR_SYNTAX with *error set. Release it in any case.
 */
int tp_globs_compile(
    struct tp_globs *globs, const char *text, size_t size, struct tp_glob_error *error);
void tp_globs_release(struct tp_globs *globs);

bool tp_globs_match(const struct tp_globs *globs, const char *text, size_t size);
bool tp_glob_match(const struct tp_glob *glob, const char *text, size_t size);
/* Whether TOKEN of the glob, which is no star, matches a byte. */
bool tp_glob_token_has(const struct tp_glob *glob, uint16_t token, unsigned char byte);

#endif
