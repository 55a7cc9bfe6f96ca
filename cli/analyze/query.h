/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * SQL from the command line and from standard input, and its rows on standard output, in one of
 * four forms.
 */
#ifndef TP_CLI_QUERY_H
#define TP_CLI_QUERY_H

#include "cli/command/command.h"
#include "common/buf.h"
#include "analyzer/query/query.h"

enum tp_query_format {
	TP_QUERY_TABLE = 0,
	TP_QUERY_CSV,
	TP_QUERY_JSON,
	TP_QUERY_TSV,
};

struct tp_query_printer {
	enum tp_query_format format;
	bool open; /* a result is being written */
	uint64_t results;
	uint64_t rows; /* of the last result */
	uint32_t columns;
	struct tp_buf names; /* NUL-ended */
	struct tp_buf out;
	/* A table: the first rows wait until it is known how wide its columns are. */
	struct tp_buf cells; /* NUL-ended */
	uint32_t *widths;    /* 0 until then */
	bool *right;         /* numbers only */
	uint64_t waiting;    /* rows in cells */
	bool printed_titles;
	bool failed; /* standard output takes no more, or no memory */
	int error;   /* if it has failed: errno of the write, 0 for memory */
};

void tp_query_printer_init(struct tp_query_printer *printer, enum tp_query_format format);
void tp_query_printer_release(struct tp_query_printer *printer);
/* To give to tp_query_run; the printer must stay where it is. */
struct tp_query_sink tp_query_printer_sink(struct tp_query_printer *printer);
/* Write the rest; after each tp_query_run. False: it could not be written: see error. */
bool tp_query_printer_finish(struct tp_query_printer *printer);

#define TP_QUERY_PARAMETERS_MAX 32

struct tp_query_session {
	struct tp_query *query;
	struct tp_query_printer printer;
	struct tp_query_parameter parameters[TP_QUERY_PARAMETERS_MAX];
	uint32_t parameter_count;
	bool noted;        /* that times differ; said once */
	bool noted_tid;    /* that it is another number than before */
	bool noted_having; /* that a column is no alias */
};

/*
 * Run SQL and print what it gives; Ctrl-C ends it. Returns an exit code; errors have been printed.
 */
int tp_query_session_run(struct tp_query_session *session, const char *sql);
/*
 * The same for an example, whose parameters need no value. A function that the trace does not have
 * is an error.
 */
int tp_query_session_run_example(
    struct tp_query_session *session, const struct tp_query_example *example);
/*
 * Set the parameter "NAME=VALUE", or "NAME" to NULL; the text must outlive the session. False: it
 * is none, or one too many.
 */
bool tp_query_session_set(struct tp_query_session *session, char *text);
/* Print the examples, the one called NAME, or an error. Returns an exit code. */
int tp_query_list_examples(void);
const struct tp_query_example *tp_query_find_example(const char *name);

/* Read standard input to its end. Returns an exit code. */
int tp_query_shell(struct tp_query_session *session);

#endif
