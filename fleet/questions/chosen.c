// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which runs a question is about: by what a row of runs says, and the same as a condition in SQL.
#include "questions.h"

#include "fleet/run.h"
#include "common/json.h"

#include <string.h>

bool tp_fleet_chosen_by_row(const struct tp_fleet_chosen *chosen)
{
	return chosen->build_count || chosen->label_count;
}

bool tp_fleet_chosen_fits(const struct tp_fleet_chosen *chosen, const char *build_id,
    const char *git_revision, const char *labels)
{
	bool found = !chosen->build_count;
	for (uint32_t i = 0; i < chosen->build_count; i++)
		found |= strcmp(chosen->builds[i], build_id) == 0 ||
			 strcmp(chosen->builds[i], git_revision) == 0;
	return found && tp_fleet_fits_labels(labels, chosen->labels, chosen->label_count);
}

// ---- as SQL

static void add_text(struct tp_buf *out, const char *text, bool clickhouse)
{
	tp_buf_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || (clickhouse && *text == '\\'))
			tp_buf_add_char(out, clickhouse ? '\\' : '\'');
		tp_buf_add_char(out, *text);
	}
	tp_buf_add_char(out, '\'');
}

static void add_and(struct tp_buf *out, size_t start)
{
	if (out->size > start)
		tp_buf_add_string(out, " AND ");
}

// Whether the column labels has LABEL: its first member, or a later one.
static void add_label(struct tp_buf *out, const char *label, bool clickhouse)
{
	static const char *const before[] = {"{", ", "};
	const char *equals = strchr(label, '=');
	struct tp_buf key;
	struct tp_buf member;
	tp_buf_init(&key);
	tp_buf_add(&key, label, (size_t)(equals - label));
	for (int i = 0; i < 2; i++) {
		tp_buf_init(&member);
		tp_buf_add_string(&member, before[i]);
		tp_json_quote(&member, key.failed ? "" : key.data);
		tp_buf_add_string(&member, ": ");
		tp_json_quote(&member, equals + 1);
		tp_buf_add_string(out, i ? " OR " : "");
		tp_buf_add_string(out, clickhouse ? "position(labels, " : "instr(labels, ");
		add_text(out, member.failed ? "" : member.data, clickhouse);
		tp_buf_add_string(out, i ? ") > 0" : ") = 1");
		out->failed |= member.failed;
		tp_buf_release(&member);
	}
	out->failed |= key.failed;
	tp_buf_release(&key);
}

static void add_labels(
    struct tp_buf *out, const struct tp_fleet_chosen *chosen, size_t start, bool clickhouse)
{
	for (uint32_t i = 0; i < chosen->label_count; i++) {
		bool before = false;
		for (uint32_t j = 0; j < i; j++)
			before |= tp_fleet_same_label(chosen->labels[i], chosen->labels[j]);
		if (before)
			continue;
		add_and(out, start);
		for (uint32_t j = i; j < chosen->label_count; j++)
			if (tp_fleet_same_label(chosen->labels[i], chosen->labels[j])) {
				tp_buf_add_string(out, j == i ? "(" : " OR ");
				add_label(out, chosen->labels[j], clickhouse);
			}
		tp_buf_add_char(out, ')');
	}
}

static void add_list(struct tp_buf *out, const char *const *texts, uint32_t count, bool clickhouse)
{
	tp_buf_add_string(out, " IN (");
	for (uint32_t i = 0; i < count; i++) {
		tp_buf_add_string(out, i ? ", " : "");
		add_text(out, texts[i], clickhouse);
	}
	tp_buf_add_char(out, ')');
}

void tp_fleet_chosen_add_sql(
    struct tp_buf *out, const struct tp_fleet_chosen *chosen, bool clickhouse)
{
	const size_t start = out->size;
	if (chosen->program_count) {
		tp_buf_add_string(out, "program");
		add_list(out, chosen->programs, chosen->program_count, clickhouse);
	}
	if (chosen->day_from) {
		// DuckDB makes a date of the folders' names.
		add_and(out, start);
		tp_buf_add_string(out, clickhouse ? "day >= " : "CAST(day AS VARCHAR) >= ");
		add_text(out, chosen->day_from, clickhouse);
	}
	if (chosen->day_to) {
		add_and(out, start);
		tp_buf_add_string(out, clickhouse ? "day <= " : "CAST(day AS VARCHAR) <= ");
		add_text(out, chosen->day_to, clickhouse);
	}
	if (chosen->build_count) {
		add_and(out, start);
		tp_buf_add_string(out, "(build_id");
		add_list(out, chosen->builds, chosen->build_count, clickhouse);
		tp_buf_add_string(out, " OR git_revision");
		add_list(out, chosen->builds, chosen->build_count, clickhouse);
		tp_buf_add_char(out, ')');
	}
	add_labels(out, chosen, start, clickhouse);
}

// Whether the statement reads the table.
static bool names(const char *sql, const char *table)
{
	static const char *const words[] = {"FROM ", "JOIN "};
	const size_t size = strlen(table);
	for (int i = 0; i < 2; i++)
		for (const char *at = strstr(sql, words[i]); at; at = strstr(at + 1, words[i]))
			if (strncmp(at + 5, table, size) == 0 && strchr(" \n);", at[5 + size]))
				return true;
	return false;
}

int tp_fleet_question_chosen(struct tp_buf *out, const struct tp_fleet_question *question,
    const struct tp_fleet_chosen *chosen, struct tp_err *err)
{
	struct tp_buf condition;
	const char *at = question->sql;
	tp_buf_init(&condition);
	tp_fleet_chosen_add_sql(&condition, chosen, false);
	while (condition.size && strncmp(at, "--", 2) == 0)
		at = strchr(at, '\n') + 1;
	tp_buf_add(out, question->sql, (size_t)(at - question->sql));
	if (condition.size) {
		// They stand for the tables of their names, which MAIN has.
		tp_buf_addf(out, "WITH runs AS (\n\tSELECT * FROM main.runs\n\tWHERE %s\n)",
		    condition.data);
		for (int id = 0; id < TP_FLEET_TABLES; id++)
			if (id != TP_FLEET_RUNS && names(at, tp_fleet_tables[id].name))
				tp_buf_addf(out,
				    ", %s AS (\n"
				    "\tSELECT * FROM main.%s WHERE run_id IN "
				    "(SELECT run_id FROM runs)\n)",
				    tp_fleet_tables[id].name, tp_fleet_tables[id].name);
		const bool more = strncmp(at, "WITH ", 5) == 0;
		tp_buf_add_string(out, more ? ", " : "\n");
		at += more ? 5 : 0;
	}
	tp_buf_add_string(out, at);
	const bool failed = condition.failed || out->failed;
	tp_buf_release(&condition);
	return failed ? tp_err_memory(err, NULL) : 0;
}
