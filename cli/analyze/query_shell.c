// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SQL from standard input. There is no prompt, as no line editor is linked: rlwrap and sqlite3 have
// one.
#include "query.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tp_query *volatile running; // what Ctrl-C ends

static void on_interrupt(int signal)
{
	(void)signal;
	struct tp_query *query = running;
	if (query)
		tp_query_interrupt(query);
}

static void note_once(bool *noted, bool applies, const char *text)
{
	if (applies && !*noted)
		tp_command_tell("note: %s\n", text);
	*noted |= applies;
}

// What matters to what was asked: times of both kinds may be compared, or added up and found to
// differ; and for one release, a query with a condition on tid finds other rows than before.
static void add_notes(struct tp_query_session *session)
{
	note_once(&session->noted, tp_query_mixes_times(session->query),
	    "duration_ns and self_raw_ns of calls, and times of events, are as recorded; "
	    "inclusive_ns and self_ns of calls, and all other tables, are without the cost of "
	    "recording; with --raw all are as recorded");
	note_once(&session->noted_tid, tp_query_reads_tid(session->query),
	    "tid is the system's number of a thread in all tables now; thread is the number in the "
	    "trace, which calls, events and thread_paths had as tid");
	const char *column = tp_query_shadowed(session->query);
	char text[256];
	snprintf(text, sizeof(text),
	    "%s in HAVING is the column of that name, of some row of each group, not the result's: "
	    "give that another name, or repeat the expression",
	    column ? column : "");
	note_once(&session->noted_having, column, text);
}

static int run_with(struct tp_query_session *session, const char *sql,
    const struct tp_query_parameter *parameters, uint32_t parameter_count)
{
	const struct tp_query_sink sink = tp_query_printer_sink(&session->printer);
	const struct sigaction action = {.sa_handler = on_interrupt};
	struct sigaction before;
	struct tp_err err;
	running = session->query;
	sigaction(SIGINT, &action, &before);
	const int code =
	    tp_query_run(session->query, sql, parameters, parameter_count, &sink, &err);
	sigaction(SIGINT, &before, NULL);
	running = NULL;
	if (!tp_query_printer_finish(&session->printer)) {
		struct tp_err out_err;
		if (session->printer.error)
			tp_err_system(
			    &out_err, session->printer.error, "standard output", "cannot write");
		else
			tp_err_memory(&out_err, NULL);
		tp_command_drop_output();
		return tp_command_fail(&out_err);
	}
	if (code)
		return tp_command_fail(&err);
	add_notes(session);
	return TP_EXIT_DONE;
}

int tp_query_session_run(struct tp_query_session *session, const char *sql)
{
	return run_with(session, sql, session->parameters, session->parameter_count);
}

static const struct tp_query_parameter *find_parameter(
    const struct tp_query_session *session, const char *name)
{
	for (uint32_t i = 0; i < session->parameter_count; i++)
		if (strcmp(session->parameters[i].name, name) == 0)
			return &session->parameters[i];
	return NULL;
}

static bool ignore_columns(void *context, const char *const *names, uint32_t count)
{
	(void)context;
	(void)names;
	(void)count;
	return true;
}

static bool see_row(void *context, const struct tp_value *values, uint32_t count)
{
	(void)values;
	(void)count;
	*(bool *)context = true;
	return false;
}

// That there is a function of the name that the parameter has. An exit code.
static int check_function(
    struct tp_query_session *session, const struct tp_query_parameter *parameter)
{
	bool found = false;
	const struct tp_query_sink sink = {&found, ignore_columns, see_row};
	struct tp_err err;
	const int code = tp_query_run(session->query,
	    "SELECT 1 FROM functions WHERE function = :function", parameter, 1, &sink, &err);
	if (!code && !found)
		tp_err_set(&err, TP_ERR_NOT_FOUND, NULL,
		    "no called function is named '%s' (give the whole name, as SELECT function "
		    "FROM functions shows it)",
		    parameter->value);
	return code || !found ? tp_command_fail(&err) : TP_EXIT_DONE;
}

int tp_query_session_run_example(
    struct tp_query_session *session, const struct tp_query_example *example)
{
	struct tp_query_parameter all[TP_QUERY_PARAMETERS_MAX + 8];
	uint32_t count = session->parameter_count;
	memcpy(all, session->parameters, count * sizeof(*all));
	for (int i = 0; tp_query_example_parameters[i]; i++)
		if (!find_parameter(session, tp_query_example_parameters[i]))
			all[count++] =
			    (struct tp_query_parameter){tp_query_example_parameters[i], NULL};
	const struct tp_query_parameter *function = find_parameter(session, "function");
	int status = TP_EXIT_DONE;
	if (function && function->value && tp_query_find_parameter(example->sql, "function"))
		status = check_function(session, function);
	return status ? status : run_with(session, example->sql, all, count);
}

bool tp_query_session_set(struct tp_query_session *session, char *text)
{
	char *equals = strchr(text, '=');
	if (equals == text || !*text)
		return false;
	if (equals)
		*equals = '\0';
	uint32_t i = 0;
	while (i < session->parameter_count && strcmp(session->parameters[i].name, text) != 0)
		i++;
	if (i == TP_QUERY_PARAMETERS_MAX)
		return false;
	session->parameters[i] = (struct tp_query_parameter){text, equals ? equals + 1 : NULL};
	session->parameter_count += i == session->parameter_count;
	return true;
}

int tp_query_list_examples(void)
{
	for (int i = 0; tp_query_examples[i].name; i++)
		printf("%-20s  %s\n", tp_query_examples[i].name, tp_query_examples[i].answers);
	return TP_EXIT_DONE;
}

const struct tp_query_example *tp_query_find_example(const char *name)
{
	for (int i = 0; tp_query_examples[i].name; i++)
		if (strcmp(tp_query_examples[i].name, name) == 0)
			return &tp_query_examples[i];
	return NULL;
}

// ---- lines that begin with a dot

static const char *const help = ".help             show this help\n"
				".tables           the tables\n"
				".schema [TABLE]   their columns, with units\n"
				".example [NAME]   the queries that come with teeperf, or run one\n"
				".show NAME        the SQL of one\n"
				".param NAME=TEXT  the value of :NAME; NAME alone: NULL\n"
				".format FORMAT    table, csv, json or tsv\n"
				".quit             or the end of input\n"
				"Everything else is SQL, up to a semicolon. Ctrl-C ends a query.\n";

static int complain(const char *format, const char *word)
{
	return tp_command_refuse(TP_ERR_NOT_FOUND, NULL, format, word);
}

static int describe(const char *table)
{
	struct tp_buf text;
	tp_buf_init(&text);
	const bool found = tp_query_describe(table, &text);
	if (found)
		fputs(text.data, stdout);
	tp_buf_release(&text);
	return found ? TP_EXIT_DONE : complain("unknown table '%s'; .tables lists them", table);
}

static int run_example(struct tp_query_session *session, const char *name, bool show)
{
	const struct tp_query_example *example = tp_query_find_example(name);
	if (!example)
		return complain("unknown example '%s'; .example lists them", name);
	if (show) {
		fputs(example->sql, stdout);
		return TP_EXIT_DONE;
	}
	return tp_query_session_run_example(session, example);
}

static int set_format(struct tp_query_session *session, const char *name)
{
	static const char *const names[] = {"table", "csv", "json", "tsv"};
	for (int i = 0; name && i < 4; i++)
		if (strcmp(names[i], name) == 0) {
			session->printer.format = (enum tp_query_format)i;
			return TP_EXIT_DONE;
		}
	return complain("'%s' is not a format; expected table, csv, json or tsv", name ? name : "");
}

// Do what LINE, which begins with a dot, says. *quit: no more is to be read.
static int do_command(struct tp_query_session *session, char *line, bool *quit)
{
	char *rest;
	const char *word = strtok_r(line, " \t\n", &rest);
	char *argument = strtok_r(NULL, "\n", &rest);
	while (argument && (*argument == ' ' || *argument == '\t'))
		argument++;
	for (char *end = argument ? argument + strlen(argument) : NULL;
	     end && end > argument && (end[-1] == ' ' || end[-1] == '\t'); end--)
		end[-1] = '\0';
	if (argument && !*argument)
		argument = NULL;
	if (strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0) {
		*quit = true;
		return TP_EXIT_DONE;
	}
	if (strcmp(word, ".help") == 0)
		return fputs(help, stdout) < 0 ? TP_EXIT_FAILED : TP_EXIT_DONE;
	if (strcmp(word, ".tables") == 0)
		return tp_query_session_run(session,
		    "SELECT schema, name, type FROM pragma_table_list WHERE schema <> 'temp' AND "
		    "name NOT LIKE 'sqlite_%' ORDER BY schema <> 'main', schema, type, name;");
	if (strcmp(word, ".schema") == 0)
		return describe(argument);
	if (strcmp(word, ".example") == 0 || strcmp(word, ".examples") == 0)
		return argument ? run_example(session, argument, false) : tp_query_list_examples();
	if (strcmp(word, ".show") == 0 && argument)
		return run_example(session, argument, true);
	if (strcmp(word, ".format") == 0)
		return set_format(session, argument);
	if (strcmp(word, ".param") == 0 && argument) {
		// It stays as long as the session, which may be to the end of the process.
		char *copy = strdup(argument);
		if (copy && tp_query_session_set(session, copy))
			return TP_EXIT_DONE;
		free(copy);
		return complain("'%s' is not NAME=TEXT", argument);
	}
	return complain("unknown command '%s'; .help lists them", word);
}

// ---- reading

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

static int run_one(struct tp_query_session *session, const char *sql)
{
	session->printer.results = 0; // no empty line in front
	return tp_query_session_run(session, sql);
}

int tp_query_shell(struct tp_query_session *session)
{
	// There an error is not the end, so that the next line can do better.
	const bool terminal = isatty(STDIN_FILENO);
	struct tp_buf sql;
	char *line = NULL;
	size_t capacity = 0;
	int status = TP_EXIT_DONE;
	bool quit = false;
	tp_buf_init(&sql);
	if (terminal)
		tp_command_tell(
		    "reading SQL from the terminal, without a prompt; for editing and history, "
		    "use 'rlwrap teeperf query FILE', or sqlite3 on the file of 'teeperf export "
		    "--format sqlite'\n");
	while (!quit && (terminal || !status) && getline(&line, &capacity, stdin) >= 0) {
		if (is_blank(sql.data) && line[0] == '.') {
			status = do_command(session, line, &quit);
		} else {
			tp_buf_add(&sql, line, strlen(line));
			if (!is_blank(sql.data) && tp_query_is_complete(sql.data)) {
				status = run_one(session, sql.data);
				tp_buf_reset(&sql);
			}
		}
		fflush(stdout);
	}
	if (!quit && !is_blank(sql.data) && (terminal || !status))
		status = run_one(session, sql.data);
	free(line);
	tp_buf_release(&sql);
	return status;
}
