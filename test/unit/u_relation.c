// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relations: one name is one thing everywhere, a column that a format does not have carries its
// reason, and docs/columns.md is what they say. TEEPERF_UPDATE=1 writes that page anew.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "analyzer/query/sql.h"

static const struct {
	uint8_t form;
	const char *name;
} forms[] = {
    {TP_FORM_TEXT, "text"},
    {TP_FORM_CSV, "CSV, JSON"},
    {TP_FORM_SQL, "SQL"},
    {TP_FORM_PARQUET, "Parquet"},
    {TP_FORM_REPORT, "report"},
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static bool has(const struct tp_relation *relation, uint32_t column, uint8_t form)
{
	uint8_t list[TP_RELATION_COLUMNS];
	const uint32_t count = tp_relation_list(relation, form, list);
	return memchr(list, (int)column, count) != NULL;
}

// Text and the report choose; the others have all that they can carry.
static bool is_complete(uint8_t form)
{
	return form == TP_FORM_CSV || form == TP_FORM_SQL || form == TP_FORM_PARQUET;
}

static void test_no_gap_without_a_reason(void **state)
{
	(void)state;
	for (int t = 0; tp_sql_tables[t].relation; t++) {
		const struct tp_relation *relation = tp_sql_tables[t].relation;
		assert_true(relation->count <= TP_RELATION_COLUMNS);
		assert_true(relation->forms == TP_FORM_ALL || relation->reason);
		assert_true(!(relation->forms & TP_FORM_TEXT) == !relation->text);
		assert_true(!(relation->forms & TP_FORM_REPORT) == !relation->report);
		for (uint32_t c = 0; c < relation->count; c++) {
			const struct tp_relation_column *column = &relation->columns[c];
			bool anywhere = false;
			for (size_t f = 0; f < FORMS; f++) {
				const bool here = has(relation, c, forms[f].form);
				anywhere |= here;
				if (here && forms[f].form == TP_FORM_TEXT)
					assert_non_null(column->title);
				if (!here && is_complete(forms[f].form) &&
				    (relation->forms & forms[f].form) && !column->reason)
					fail_msg("%s.%s is not in %s, for no reason",
					    relation->name, column->key, forms[f].name);
			}
			assert_true(anywhere);
			assert_true(column->help && *column->help);
			// Columns of the virtual table are those of the relation by number.
			if (c && has(relation, c, TP_FORM_SQL))
				assert_true(has(relation, c - 1, TP_FORM_SQL));
		}
	}
}

// But for parent, which is a row of its own table, and the pairs of meta.
static void test_a_name_is_one_thing(void **state)
{
	(void)state;
	uint32_t compared = 0;
	for (int t = 0; tp_sql_tables[t].relation; t++)
		for (uint32_t c = 0; c < tp_sql_tables[t].relation->count; c++) {
			const struct tp_relation *relation = tp_sql_tables[t].relation;
			const struct tp_relation_column *one = &relation->columns[c];
			for (uint32_t d = 0; d < relation->count; d++) {
				assert_true(
				    c == d || strcmp(one->key, relation->columns[d].key) != 0);
				for (int k = 0; k < 2 && relation->columns[d].old[k]; k++)
					assert_string_not_equal(
					    one->key, relation->columns[d].old[k]);
			}
			for (int u = t + 1; tp_sql_tables[u].relation; u++)
				for (uint32_t d = 0; d < tp_sql_tables[u].relation->count; d++) {
					const struct tp_relation_column *other =
					    &tp_sql_tables[u].relation->columns[d];
					if (strcmp(one->key, other->key) != 0 ||
					    strcmp(one->key, "parent") == 0 ||
					    tp_sql_tables[u].relation == &tp_relation_meta)
						continue;
					compared++;
					if (one->type != other->type || one->unit != other->unit)
						fail_msg("%s is one thing in %s, another in %s",
						    one->key, relation->name,
						    tp_sql_tables[u].relation->name);
				}
		}
	assert_true(compared > 20);
}

// ---- the page

static void add_cell(
    struct tp_buf *page, const struct tp_relation *relation, uint32_t c, uint8_t form)
{
	static const char *const types[] = {"int64", "int32", "text"};
	const struct tp_relation_column *column = &relation->columns[c];
	const bool here = has(relation, c, form);
	if (here && form == TP_FORM_TEXT)
		tp_buf_addf(page, " %s |", column->title);
	else if (here && form == TP_FORM_PARQUET)
		tp_buf_addf(page, " %s |", types[column->type]);
	else
		tp_buf_addf(page, " %s |",
		    !here                                   ? "–"
		    : form == TP_FORM_SQL && column->hidden ? "by name"
							    : "yes");
}

static void add_reasons(struct tp_buf *page, const struct tp_relation *relation)
{
	for (uint32_t c = 0; c < relation->count; c++) {
		const struct tp_relation_column *column = &relation->columns[c];
		const char *before = " is not in ";
		if (!column->reason)
			continue;
		tp_buf_addf(page, "- `%s`", column->key);
		for (size_t f = 0; f < FORMS; f++)
			if (is_complete(forms[f].form) && (relation->forms & forms[f].form) &&
			    !has(relation, c, forms[f].form)) {
				tp_buf_addf(page, "%s%s", before, forms[f].name);
				before = ", ";
			}
		if (column->hidden) {
			tp_buf_addf(page, "%s`SELECT *`, SQLite", before);
		}
		tp_buf_addf(page, ": %s.\n", column->reason);
	}
	const char *before = "- not in ";
	for (size_t f = 0; f < FORMS; f++)
		if (!(relation->forms & forms[f].form)) {
			tp_buf_addf(page, "%s%s", before, forms[f].name);
			before = ", ";
		}
	if (relation->reason)
		tp_buf_addf(page, ": %s.\n", relation->reason);
}

static void add_relation(struct tp_buf *page, const struct tp_relation *relation)
{
	tp_buf_addf(
	    page, "\n## %s\n\n%s.\n\n| column | was in SQL |", relation->name, relation->summary);
	for (size_t f = 0; f < FORMS; f++)
		if (relation->forms & forms[f].form)
			tp_buf_addf(page, " %s |", forms[f].name);
	tp_buf_add_string(page, "\n|---|---|");
	for (size_t f = 0; f < FORMS; f++)
		if (relation->forms & forms[f].form)
			tp_buf_add_string(page, "---|");
	tp_buf_add_char(page, '\n');
	for (uint32_t c = 0; c < relation->count; c++) {
		const struct tp_relation_column *column = &relation->columns[c];
		tp_buf_addf(page, "| `%s` |", column->key);
		for (int k = 0; k < 2 && column->old[k]; k++)
			tp_buf_addf(page, "%s `%s`", k ? "," : "", column->old[k]);
		tp_buf_add_string(page, " |");
		for (size_t f = 0; f < FORMS; f++)
			if (relation->forms & forms[f].form)
				add_cell(page, relation, c, forms[f].form);
		tp_buf_add_char(page, '\n');
	}
	tp_buf_add_char(page, '\n');
	add_reasons(page, relation);
}

static void make_page(struct tp_buf *page)
{
	tp_buf_add_string(page,
	    "<!-- Generated: TEEPERF_UPDATE=1 ctest -R u_relation -->\n"
	    "# Tables and their columns, in each format\n\n"
	    "A column has one name in every format. `teeperf query --schema` explains each one.\n\n"
	    "| format | written by |\n|---|---|\n"
	    "| text | `teeperf analyze --view top` (functions), `--view threads`; the headings |\n"
	    "| CSV, JSON | the same with `--format csv` or `--format json`; "
	    "of calls, `teeperf export --format csv` |\n"
	    "| SQL | `teeperf query`; `by name`: not in `SELECT *`. "
	    "`teeperf export --format sqlite` has what `SELECT *` has, "
	    "of all tables but events |\n"
	    "| Parquet | `teeperf export --format parquet`; a number without a value is 0, "
	    "or -1 where 0 is a value |\n"
	    "| report | `teeperf report`: the numbers in the page's data |\n\n"
	    "Text and the report have the columns that people read; "
	    "the other formats have all that they can carry. "
	    "Old names go on working in `teeperf query` for one release. "
	    "`tid` is the system's number of a thread everywhere, "
	    "and `thread` the trace's: `tid` was the trace's in the SQL tables calls, events, "
	    "thread_paths and threads, "
	    "so a query that compares `tid` with a number has to say `thread`.\n");
	for (int t = 0; tp_sql_tables[t].relation; t++)
		add_relation(page, tp_sql_tables[t].relation);
}

static void test_page(void **state)
{
	(void)state;
	const char *root = getenv("TEEPERF_SOURCE");
	struct tp_buf page;
	struct tp_buf found;
	char path[4096];
	assert_non_null(root);
	snprintf(path, sizeof(path), "%s/docs/columns.md", root);
	tp_buf_init(&page);
	tp_buf_init(&found);
	make_page(&page);
	if (getenv("TEEPERF_UPDATE")) {
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(page.data, 1, page.size, file), page.size);
		assert_int_equal(fclose(file), 0);
	}
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	for (int c = getc(file); c != EOF; c = getc(file))
		tp_buf_add_char(&found, (char)c);
	fclose(file);
	if (strcmp(page.data, found.data) != 0)
		fail_msg("docs/columns.md is not what the relations say: "
			 "TEEPERF_UPDATE=1 writes it anew");
	tp_buf_release(&page);
	tp_buf_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_gap_without_a_reason),
	    cmocka_unit_test(test_a_name_is_one_thing),
	    cmocka_unit_test(test_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
