/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Errors: a library function returns 0 or a negative tp_error and fills a tp_err; only cli/ prints.
 */
#ifndef TP_ERR_H
#define TP_ERR_H

#include <stdint.h>

/* Never renumber: exit reports and tests name them. */
enum tp_error {
	TP_OK = 0,
	TP_ERR_SYSTEM = -1,    /* a system call failed; the message holds strerror */
	TP_ERR_MEMORY = -2,    /* out of memory */
	TP_ERR_FORMAT = -3,    /* the input violates its format: damaged or hostile */
	TP_ERR_VERSION = -4,   /* a format version that this program does not read */
	TP_ERR_TRUNCATED = -5, /* the input ends too early; what precedes the end is usable */
	TP_ERR_SYNTAX = -6,    /* text that a person wrote does not parse */
	TP_ERR_NOT_FOUND = -7, /* a requested file, function or thread does not exist */
	TP_ERR_LIMIT = -8,     /* more than this program, or this machine, can take */
};

#define TP_ERR_NO_OFFSET UINT64_MAX

struct tp_err {
	int code;        /* enum tp_error */
	uint64_t offset; /* byte offset in file, TP_ERR_NO_OFFSET if it does not apply */
	uint32_t line;   /* 1-based line and column for text, 0 if they do not apply */
	uint32_t column;
	char file[256];   /* path or empty; the tail of a longer one */
	char what[512];   /* lower case, no full stop; says the value found and what to do */
	char excerpt[96]; /* the text at column, or empty */
	uint32_t caret;   /* where column is in excerpt, 0 for its first byte */
};

/*
 * Fill *err (which may be NULL) and return code, so that callers write
 * `return tp_err_set(err, TP_ERR_LIMIT, path, "%u threads, at most ...", n);`
 * file may be NULL. Clears line and column.
 */
int tp_err_set(struct tp_err *err, int code, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same at OFFSET of the file. */
int tp_err_set_at(struct tp_err *err, int code, const char *file, uint64_t offset,
    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same for a place in a text. */
int tp_err_set_line(struct tp_err *err, int code, const char *file, uint32_t line, uint32_t column,
    const char *format, ...) __attribute__((format(printf, 6, 7)));

/*
 * Add the text at err->column (err may be NULL): LINE of SIZE bytes is the whole line; of a long
 * one, the part near the column is kept.
 */
void tp_err_set_excerpt(struct tp_err *err, const char *line, uint64_t size);

/* Out of memory, wherever that was; FILE may be NULL. Returns TP_ERR_MEMORY. */
int tp_err_memory(struct tp_err *err, const char *file);

/* Like tp_err_set with code TP_ERR_SYSTEM; appends ": " and strerror(errno_value). */
int tp_err_system(struct tp_err *err, int errno_value, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Faults of an input that is analysed nevertheless. A damaged file can have as many problems as
 * bytes, so only the first ones are kept; the rest is counted.
 */
#define TP_PROBLEMS_KEPT 32
struct tp_problems {
	struct tp_err kept[TP_PROBLEMS_KEPT];
	uint64_t count; /* in all */
};
/* As tp_err_set and tp_err_set_at, without a result: note the problem and go on. */
void tp_problems_add(struct tp_problems *problems, int code, const char *file, const char *format,
    ...) __attribute__((format(printf, 4, 5)));
void tp_problems_add_at(struct tp_problems *problems, int code, const char *file, uint64_t offset,
    const char *format, ...) __attribute__((format(printf, 5, 6)));
uint32_t tp_problems_kept(const struct tp_problems *problems);

/*
 * Write err as one line without newline into text: "'FILE' at offset N: what", "FILE:L:C: what" or
 * "what". Always NUL-terminates. Returns text.
 */
char *tp_err_format(const struct tp_err *err, char *text, uint64_t size);

/*
 * The same, and if there is an excerpt two more lines below: it, and a caret below its column. No
 * newline at the end. TP_ERR_TEXT_SIZE bytes are always enough. Returns text.
 */
enum { TP_ERR_TEXT_SIZE = 1280 };
char *tp_err_render(const struct tp_err *err, char *text, uint64_t size);

#endif
