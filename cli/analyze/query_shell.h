/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* SQL from standard input. */
#ifndef TP_QUERY_SHELL_H
#define TP_QUERY_SHELL_H

#include "cli/command/command.h"
#include "cli/analyze/query_print.h"

#define TP_QUERY_PARAMETERS_MAX 32

struct tp_query_session {
	struct tp_query *query;
	struct tp_query_printer printer;
	struct tp_query_parameter parameters[TP_QUERY_PARAMETERS_MAX];
	uint32_t parameter_count;
	bool noted;     /* that times differ; said once */
	bool noted_tid; /* that it is another number than before */
};

/* Run SQL and print what it gives; Ctrl-C ends it. Returns an exit code; errors have been printed. */
int tp_query_session_run(struct tp_query_session *session, const char *sql);
/* The same for an example, whose parameters need no value. A function that the trace does not have is an error. */
int tp_query_session_run_example(
    struct tp_query_session *session, const struct tp_query_example *example);
/*
 * Set the parameter "NAME=VALUE", or "NAME" to NULL; the text must outlive the session. False: it is none, or one
 * too many.
 */
bool tp_query_session_set(struct tp_query_session *session, char *text);
/* Print the examples, the one called NAME, or an error. Returns an exit code. */
int tp_query_list_examples(void);
const struct tp_query_example *tp_query_find_example(const char *name);

/* Read standard input to its end. Returns an exit code. */
int tp_query_shell(struct tp_query_session *session);

#endif
