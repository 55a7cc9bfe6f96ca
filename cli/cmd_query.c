// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf query: SQL over traces.
#include "cli/command/command.h"
#include "cli/analyze/open_trace.h"
#include "cli/analyze/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTACH_MAX 9 // SQLite has room for ten

static const char *const formats[] = {"table", "csv", "json", "tsv", NULL};

static int format;
static struct tp_option_list attach = {.most = ATTACH_MAX};
static struct tp_option_list parameters = {.most = TP_QUERY_PARAMETERS_MAX};
static const char *example;
static const char *schema;
static bool show;
static uint64_t memory;
static struct tp_open_options open_options = {.symbol_cache = true};

static const struct tp_option options[] = {
    TP_OPT_CHOICE(0, "format", &format, formats, NULL, "output format"),
    TP_OPT_LIST(0, "attach", &attach, "NAME=FILE",
	"attach another trace, with tables NAME.functions, NAME.calls and so on; can be repeated"),
    TP_OPT_WORD(
	"example", &example, "NAME", "run a built-in query, or list them if NAME is omitted"),
    TP_OPT_BOOL(0, "show", &show, "print the SQL of the example instead of running it"),
    TP_OPT_LIST('p', "param", &parameters, "NAME=VALUE",
	"set the parameter :NAME in the SQL, to NULL without a VALUE; can be repeated"),
    TP_OPT_WORD(
	"schema", &schema, "TABLE", "describe all tables, or one, with their columns, and exit"),
    TP_OPT_SIZE(0, "memory", &memory, "SIZE",
	"keep single calls, 32 bytes each, in memory up to SIZE, and beyond that in a file in "
	"$TMPDIR (default: 1G)"),
    TP_OPEN_OPTIONS(open_options),
    TP_OPEN_FAIL_IF(open_options),
    TP_OPT_PAGER,
    TP_OPT_END,
};

// Everything that is to be released.
struct opened {
	struct tp_open_trace traces[ATTACH_MAX + 1];
	uint32_t count;
	struct tp_query_session session;
	char *copies[TP_QUERY_PARAMETERS_MAX];
	bool damaged;
};

// Open FILE and have it known as NAME.
static int add_trace(struct opened *opened, const char *name, const char *file)
{
	struct tp_open_trace *open = &opened->traces[opened->count++];
	struct tp_err err;
	const int status = tp_open_trace(open, file, &open_options);
	if (status)
		return status;
	tp_open_trace_warn(open);
	opened->damaged |= open->damaged;
	return tp_query_add(opened->session.query, name, &open->analysis, &err)
		   ? tp_command_fail(&err)
		   : TP_EXIT_DONE;
}

static int add_attached(struct opened *opened, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[64];
	if (!equals || !equals[1] || (size_t)(equals - text) >= sizeof(name))
		return tp_options_usage("--attach: '%s' is not NAME=FILE", text);
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	return add_trace(opened, name, equals + 1);
}

static int add_parameters(struct opened *opened)
{
	for (uint32_t i = 0; i < parameters.count; i++) {
		opened->copies[i] = strdup(parameters.items[i]);
		if (!opened->copies[i] ||
		    !tp_query_session_set(&opened->session, opened->copies[i]))
			return tp_options_usage(
			    "--param: '%s' is not NAME=VALUE", parameters.items[i]);
	}
	return TP_EXIT_DONE;
}

// That the SQL which is to be run has each parameter that is given; what standard input will say is
// not known.
static int check_parameters(const struct opened *opened, int argc, char **argv)
{
	const struct tp_query_session *session = &opened->session;
	for (uint32_t i = 0; i < session->parameter_count && (example || argc > 1); i++) {
		const char *name = session->parameters[i].name;
		bool known =
		    example && tp_query_find_parameter(tp_query_find_example(example)->sql, name);
		for (int j = 1; j < argc && !known; j++)
			known = tp_query_find_parameter(argv[j], name);
		if (!known)
			return tp_options_usage(
			    example
				? "--param: this example has no parameter :%s; --show prints its "
				  "SQL"
				: "--param: the SQL has no :%s",
			    name);
	}
	return TP_EXIT_DONE;
}

static int print_schema(void)
{
	struct tp_buf text;
	tp_buf_init(&text);
	int status = TP_EXIT_DONE;
	const bool known = tp_query_describe(*schema ? schema : NULL, &text);
	if (known) {
		tp_pager_start(TP_EXIT_DONE);
		status = tp_write_out(&text, NULL);
	} else {
		status = tp_options_usage(
		    "--schema: unknown table '%s'; without a name, all are described", schema);
	}
	tp_buf_release(&text);
	return status;
}

// What needs no trace. True: that was all.
static bool is_help(int *status)
{
	if (schema) {
		*status = print_schema();
		return true;
	}
	if (show && (!example || !*example)) {
		*status = tp_options_usage("--show: of which example? --example=NAME");
		return true;
	}
	if (!example)
		return false;
	const struct tp_query_example *found = *example ? tp_query_find_example(example) : NULL;
	if (!*example || (found && show))
		tp_pager_start(TP_EXIT_DONE);
	if (!*example)
		*status = tp_query_list_examples();
	else if (!found)
		*status = tp_options_usage(
		    "--example: unknown example '%s'; --example alone lists them", example);
	else if (show)
		*status = fputs(found->sql, stdout) < 0 ? TP_EXIT_FAILED : TP_EXIT_DONE;
	else
		return false;
	return true;
}

static int run_all(struct opened *opened, int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	struct tp_query_session *session = &opened->session;
	if (example || argc > 1)
		tp_pager_start(opened->damaged ? TP_EXIT_FAILED : TP_EXIT_DONE);
	if (example)
		return tp_query_session_run_example(session, tp_query_find_example(example));
	if (argc == 1)
		return tp_query_shell(session);
	for (int i = 1; i < argc && !status; i++)
		status = tp_query_session_run(session, argv[i]);
	return status;
}

// No file has this name, so it is a query of the default trace.
static bool is_sql(const char *word)
{
	return strpbrk(word, " \t\n") && access(word, F_OK);
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	if (is_help(&status))
		return status;
	char **sql = argv;
	const int sql_count = argc && is_sql(argv[0]) ? argc : 0;
	for (int i = 1; i < sql_count; i++)
		if (access(argv[i], F_OK) == 0)
			return tp_options_usage(
			    "name the trace first: teeperf query '%s' SQL", argv[i]);
	argc -= sql_count;
	status = tp_default_trace(&argc, &argv, NULL);
	if (status)
		return status;
	if (sql_count) {
		// Operands lie behind the command's name, or behind options.
		sql[-1] = argv[0];
		argv = sql - 1;
		argc += sql_count;
	}
	if (example && argc > 1)
		return tp_options_usage("'%s' and an example cannot be combined", argv[1]);

	static struct opened opened;
	struct tp_err err;
	const struct tp_query_options query_options = {.memory_limit = memory};
	tp_query_printer_init(&opened.session.printer, (enum tp_query_format)format);
	status = add_parameters(&opened);
	if (!status)
		status = check_parameters(&opened, argc, argv);
	if (!status && tp_query_open(&opened.session.query, &query_options, &err))
		status = tp_command_fail(&err);
	if (!status)
		status = add_trace(&opened, NULL, argv[0]);
	for (uint32_t i = 0; i < attach.count && !status; i++)
		status = add_attached(&opened, attach.items[i]);
	if (!status)
		status = run_all(&opened, argc, argv);
	if (!status && opened.damaged)
		status = TP_EXIT_FAILED;
	tp_query_close(opened.session.query);
	tp_query_printer_release(&opened.session.printer);
	for (uint32_t i = 0; i < opened.count; i++)
		tp_open_trace_release(&opened.traces[i]);
	for (uint32_t i = 0; i < parameters.count; i++)
		free(opened.copies[i]);
	return status;
}

const struct tp_command tp_cmd_query = {
    .name = "query",
    .summary = "query a trace in SQL",
    .usage = "[options] [FILE] [SQL ...]",
    .operands = TP_OPERANDS_TRACES,
    .description =
	"Run SQL (SQLite's dialect) over the trace FILE. Threads, functions, call paths, single "
	"calls\n"
	"and records are tables; --schema describes them. Nothing is imported or written. Without "
	"SQL\n"
	"arguments, SQL and commands are read from standard input; .help lists the commands.\n",
    .examples =
	"teeperf query teeperf.trace 'SELECT function, calls, self_ns FROM functions ORDER BY "
	"self_ns DESC'\n"
	"teeperf query --example=latency-by-caller --param function=parse teeperf.trace\n"
	"teeperf query --example=diff --attach b=before.trace teeperf.trace\n",
    .options = options,
    .run = run,
};
