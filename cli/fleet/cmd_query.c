// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf fleet query: SQL over a fleet, and the questions that come with it.
#include "fleet/clickhouse.h"
#include "fleet/questions/questions.h"
#include "cli/analyze/query.h"
#include "cli/command/command.h"
#include "cli/fleet/filters.h"

#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"table", "csv", "json", "tsv", NULL};

static int format;
static const char *sql;
static bool show;
static const char *const dialects[] = {"sqlite", "clickhouse", NULL};
enum { CLICKHOUSE = 1 };
static int dialect;
static const char *database;
static struct tp_fleet_filters filters;
static struct tp_option_list parameters = {.most = TP_QUERY_PARAMETERS_MAX - 8};

static const struct tp_option options[] = {
    TP_OPT_CHOICE(0, "format", &format, formats, NULL, "output format"),
    TP_OPT_STRING(0, "sql", &sql, "SQL", "run SQL instead of a named question"),
    TP_OPT_BOOL(0, "show", &show, "print the SQL of the question instead of running it"),
    TP_OPT_CHOICE(0, "dialect", &dialect, dialects, NULL,
	"with --show, print SQL for SQLite and DuckDB, or for ClickHouse with the parameters' "
	"values inserted"),
    TP_OPT_STRING(0, "database", &database, "NAME",
	"with --dialect clickhouse, the database of the tables (default: teeperf)"),
    TP_OPT_LIST('p', "param", &parameters, "NAME=VALUE",
	"set the parameter $NAME in the SQL, to NULL without a VALUE; can be repeated"),
    TP_FLEET_FILTERS(filters),
    TP_OPT_END,
};

static int list(void)
{
	for (const struct tp_fleet_question *each = tp_fleet_questions; each->name; each++)
		printf(
		    "%-12s  %.*s\n", each->name, (int)strcspn(each->sql + 3, "\n"), each->sql + 3);
	return TP_EXIT_DONE;
}

static int set_parameters(
    struct tp_query_session *session, const struct tp_fleet_question *question, char **copies)
{
	const char *text = question ? question->sql : sql;
	uint32_t count = 0;
	for (uint32_t i = 0; i < parameters.count; i++) {
		copies[count] = strdup(parameters.items[i]);
		if (!copies[count] || !tp_query_session_set(session, copies[count++]))
			return tp_options_usage(
			    "--param: '%s' is not NAME=VALUE", parameters.items[i]);
		const char *name = session->parameters[session->parameter_count - 1].name;
		if (!tp_query_find_parameter(text, name))
			return tp_options_usage("--param: the SQL has no $%s%s", name,
			    question ? "; --show prints it" : "");
	}
	for (uint32_t i = 0; question && tp_fleet_question_parameters[i]; i++) {
		const char *name = tp_fleet_question_parameters[i];
		bool given = false;
		for (uint32_t j = 0; j < session->parameter_count; j++)
			given |= strcmp(session->parameters[j].name, name) == 0;
		if (!given && (copies[count] = strdup(name)))
			tp_query_session_set(session, copies[count++]);
	}
	return TP_EXIT_DONE;
}

static int ask(const char *directory, const struct tp_fleet_question *question)
{
	static struct tp_query_session session;
	static struct tp_fleet_tables tables;
	const struct tp_query_options query_options = {0};
	char *copies[TP_QUERY_PARAMETERS_MAX] = {NULL};
	struct tp_fleet_chosen chosen;
	struct tp_err err;
	tp_query_printer_init(&session.printer, (enum tp_query_format)format);
	int status = tp_fleet_filters_choose(&filters, &chosen);
	if (!status)
		status = set_parameters(&session, question, copies);
	if (!status && (tp_query_open(&session.query, &query_options, &err) ||
			   tp_fleet_tables_add(&tables, directory, &chosen, session.query, &err)))
		status = tp_command_fail(&err);
	if (!status)
		status = tp_query_session_run(&session, question ? question->sql : sql);
	tp_query_close(session.query);
	tp_fleet_tables_release(&tables);
	tp_query_printer_release(&session.printer);
	for (uint32_t i = 0; i < TP_QUERY_PARAMETERS_MAX; i++)
		free(copies[i]);
	return status;
}

static int show_clickhouse(const struct tp_fleet_question *question)
{
	static struct tp_query_session session;
	char *copies[TP_QUERY_PARAMETERS_MAX] = {NULL};
	struct tp_fleet_chosen chosen;
	struct tp_buf out;
	struct tp_err err;
	int status = tp_fleet_filters_choose(&filters, &chosen);
	if (!database)
		database = TP_CLICKHOUSE_DATABASE;
	if (!tp_clickhouse_is_name(database))
		return tp_options_usage(
		    "--database: '%s' has characters other than letters, digits and '_'", database);
	tp_buf_init(&out);
	for (uint32_t i = 0; !status && i < parameters.count; i++) {
		copies[i] = strdup(parameters.items[i]);
		if (!copies[i] || !tp_query_session_set(&session, copies[i]))
			status = tp_options_usage(
			    "--param: '%s' is not NAME=VALUE", parameters.items[i]);
	}
	if (!status && tp_fleet_question_clickhouse(&out, question, database, &chosen,
			   session.parameters, session.parameter_count, &err))
		status = err.code == TP_ERR_SYNTAX ? tp_options_usage("--param: %s", err.what)
						   : tp_command_fail(&err);
	if (!status && fputs(out.data, stdout) < 0)
		status = TP_EXIT_FAILED;
	tp_buf_release(&out);
	for (uint32_t i = 0; i < TP_QUERY_PARAMETERS_MAX; i++)
		free(copies[i]);
	return status;
}

static int show_question(const struct tp_fleet_question *question)
{
	if (!question)
		return tp_options_usage(
		    "--show needs a question: 'teeperf fleet query' without a name lists them");
	if (dialect == CLICKHOUSE)
		return show_clickhouse(question);
	struct tp_fleet_chosen chosen;
	struct tp_buf out;
	struct tp_err err;
	tp_buf_init(&out);
	int status = tp_fleet_filters_choose(&filters, &chosen);
	if (!status && tp_fleet_question_chosen(&out, question, &chosen, &err))
		status = tp_command_fail(&err);
	if (!status && fputs(out.data, stdout) < 0)
		status = TP_EXIT_FAILED;
	tp_buf_release(&out);
	return status;
}

static int run(int argc, char **argv)
{
	if (database && dialect != CLICKHOUSE)
		return tp_options_usage("--database is for '--show --dialect clickhouse'");
	if (dialect == CLICKHOUSE && !show)
		return tp_options_usage(
		    "--dialect clickhouse prints the statement of a question: give --show, too");
	if (show)
		return show_question(argc ? tp_fleet_question_find(argv[argc - 1]) : NULL);
	if (!sql && argc < 2)
		return list();
	if (argc != (sql ? 1 : 2))
		return tp_options_usage(sql ? "name the fleet's folder, and no question with --sql"
					    : "name the fleet's folder and one question");
	const struct tp_fleet_question *question = sql ? NULL : tp_fleet_question_find(argv[1]);
	if (!sql && !question)
		return tp_options_usage(
		    "unknown question '%s': 'teeperf fleet query' without a name lists them; SQL "
		    "goes after --sql",
		    argv[1]);
	return ask(argv[0], question);
}

const struct tp_command tp_fleet_query = {
    .name = "fleet query",
    .summary = "query a fleet, in SQL or by name",
    .usage = "[options] DIR [NAME]",
    .operands = TP_OPERANDS_FOLDERS,
    .description =
	"Answer the question NAME about the fleet in DIR, or run SQL (SQLite's dialect). Without "
	"either,\n"
	"list the questions.\n"
	"\n"
	"Each table of docs/fleet.md is a table here, with the columns day and program from the "
	"names of\n"
	"folders. Only tables and columns that the SQL names are read into memory; --day and "
	"--program\n"
	"restrict which folders are opened. With --show, the statement includes the choice of "
	"runs.\n",
    .examples =
	"teeperf fleet query /srv/profiles top\n"
	"teeperf fleet query --program redis-server --param function=dictFind /srv/profiles p99\n"
	"teeperf fleet query --label environment=canary --build 1234abcd /srv/profiles top\n"
	"teeperf fleet query --show --dialect clickhouse --param most=9 top | clickhouse-client\n"
	"teeperf fleet query --sql 'SELECT host, count(*) FROM runs GROUP BY host' /srv/profiles\n",
    .options = options,
    .run = run,
};
