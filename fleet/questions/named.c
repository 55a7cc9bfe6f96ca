// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queries over fleets that come with us.
#include "questions.h"

#include <stdlib.h>
#include <string.h>

#define TP_QUESTION(name, sql, clickhouse) {name, sql, clickhouse},
const struct tp_fleet_question tp_fleet_questions[] = {
#include "fleet_questions.inc"
    {NULL, NULL, NULL},
};

const char *const tp_fleet_question_parameters[] = {
    "program", "function", "old", "new", "least", "most", "quantile", NULL};

const struct tp_fleet_question *tp_fleet_question_find(const char *name)
{
	for (const struct tp_fleet_question *each = tp_fleet_questions; each->name; each++)
		if (strcmp(each->name, name) == 0)
			return each;
	return NULL;
}

// ---- for ClickHouse

// What the tables are called in the questions' files.
static const char tables[] = "teeperf.";

// Numbers, which have a value in any case: as the files for SQLite have them.
static const struct {
	const char *name;
	const char *otherwise;
} numbers[] = {{"least", "5"}, {"most", "25"}, {"quantile", "0.99"}};

static void add_text(struct tp_buf *out, const char *text)
{
	if (!text) {
		tp_buf_add_string(out, "CAST(NULL, 'Nullable(String)')");
		return;
	}
	tp_buf_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			tp_buf_add_char(out, '\\');
		tp_buf_add_char(out, *text);
	}
	tp_buf_add_char(out, '\'');
}

static int add_number(
    struct tp_buf *out, const char *name, size_t size, const char *text, struct tp_err *err)
{
	for (size_t i = 0; !text && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strlen(numbers[i].name) == size && memcmp(numbers[i].name, name, size) == 0)
			text = numbers[i].otherwise;
	if (!text || !*text || strspn(text, "0123456789.") != strlen(text))
		return tp_err_set(err, TP_ERR_SYNTAX, NULL, "$%.*s: '%s' is not a number",
		    (int)size, name, text ? text : "");
	tp_buf_add_string(out, text);
	return 0;
}

// The parameter at AT, "{NAME:TYPE}". Sets *AT behind it.
static int add_parameter(struct tp_buf *out, const char **at,
    const struct tp_query_parameter *parameters, uint32_t count, struct tp_err *err)
{
	const char *name = *at + 1;
	const size_t size = strcspn(name, ":");
	const char *value = NULL;
	for (uint32_t i = 0; i < count; i++)
		if (strlen(parameters[i].name) == size &&
		    memcmp(parameters[i].name, name, size) == 0)
			value = parameters[i].value;
	const bool is_text = strncmp(name + size, ":Nullable(String)", 17) == 0;
	*at = strchr(name, '}') + 1;
	if (!is_text)
		return add_number(out, name, size, value, err);
	add_text(out, value);
	return 0;
}

static bool has_parameter(const char *sql, const char *name)
{
	const size_t size = strlen(name);
	for (const char *at = strchr(sql, '{'); at; at = strchr(at + 1, '{'))
		if (strncmp(at + 1, name, size) == 0 && at[1 + size] == ':')
			return true;
	return false;
}

// The table at AT, "teeperf.NAME" or "teeperf.NAME FINAL", with the rows that CONDITION leaves.
// Sets *AT behind it.
static void add_table(
    struct tp_buf *out, const char **at, const char *database, const struct tp_buf *condition)
{
	const char *name = *at + sizeof(tables) - 1;
	const size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
	const char *final = strncmp(name + size, " FINAL", 6) == 0 ? " FINAL" : "";
	const int shown = (int)size;
	*at = name + size + strlen(final);
	if (!condition->size)
		tp_buf_addf(out, "%s.%.*s%s", database, shown, name, final);
	else if (size == 4 && memcmp(name, "runs", 4) == 0)
		tp_buf_addf(
		    out, "(SELECT * FROM %s.runs%s WHERE %s)", database, final, condition->data);
	else
		tp_buf_addf(out,
		    "(SELECT * FROM %s.%.*s%s WHERE run_id GLOBAL IN (SELECT run_id FROM %s.runs "
		    "WHERE %s))",
		    database, shown, name, final, database, condition->data);
}

int tp_fleet_question_clickhouse(struct tp_buf *out, const struct tp_fleet_question *question,
    const char *database, const struct tp_fleet_chosen *chosen,
    const struct tp_query_parameter *parameters, uint32_t count, struct tp_err *err)
{
	const char *at = question->clickhouse;
	struct tp_buf condition;
	int code = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!has_parameter(at, parameters[i].name))
			return tp_err_set(err, TP_ERR_SYNTAX, NULL,
			    "this question has no $%s; --show prints it", parameters[i].name);
	tp_buf_init(&condition);
	tp_fleet_chosen_add_sql(&condition, chosen, true);
	while (!code && *at) {
		const char *end = strpbrk(at, "{t\n");
		if (!end)
			end = at + strlen(at);
		tp_buf_add(out, at, (size_t)(end - at));
		at = end;
		if (*at == '{' && strcspn(at, ":") < strcspn(at, "}")) {
			code = add_parameter(out, &at, parameters, count, err);
		} else if (strncmp(at, tables, sizeof(tables) - 1) == 0) {
			add_table(out, &at, database, &condition);
		} else if (*at) {
			tp_buf_add_char(out, *at++);
		}
	}
	out->failed |= condition.failed;
	tp_buf_release(&condition);
	return code ? code : out->failed ? tp_err_memory(err, NULL) : 0;
}
