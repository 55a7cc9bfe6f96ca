// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page of an experiment: in words and a table what was measured, for everybody; and the data
// that its script plots.
#include "results.h"

#include "analyzer/output/text.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>

enum { ROWS_MOST = 2000 };

static void add_start(const struct tp_results *results, struct tp_buf *out)
{
	tp_text_add_page_start(out, tp_experiment_script_hash, tp_experiment_style_hash);
	const char *file = results->experiment->plan.file;
	const char *slash = strrchr(file, '/');
	tp_text_add_xml(out, slash ? slash + 1 : file);
	tp_buf_addf(out,
	    " \xe2\x80\x93 TeePerf experiment</title>\n<style>%s</style>\n</head>\n<body>\n%s<h1>",
	    tp_experiment_style, tp_experiment_before);
	tp_text_add_xml(out, slash ? slash + 1 : file);
	tp_buf_add_string(out, "</h1>\n");
}

// What experiment.tsv says of the machine.
static void add_machine(const struct tp_results *results, struct tp_buf *out)
{
	static const char *const keys[] = {"host", "system", "processor", "cores", NULL};
	char path[PATH_MAX];
	char line[512];
	snprintf(path, sizeof(path), "%s/experiment.tsv", results->experiment->output);
	FILE *file = fopen(path, "re");
	tp_buf_add_string(out, "<p class=\"dim\">");
	bool any = false;
	while (file && fgets(line, sizeof(line), file)) {
		char *tab = strchr(line, '\t');
		line[strcspn(line, "\n")] = 0;
		for (int i = 0; tab && keys[i]; i++)
			if (strncmp(line, keys[i], (size_t)(tab - line)) == 0) {
				tp_buf_add_string(out, any ? "; " : "");
				tp_text_add_xml(out, tab + 1);
				tp_buf_add_string(out, strcmp(keys[i], "cores") ? "" : " cores");
				any = true;
			}
	}
	if (file)
		fclose(file);
	tp_buf_add_string(out, "</p>\n");
}

static const struct tp_summary *find(
    const struct tp_results *results, uint32_t cell, const char *figure)
{
	const uint32_t first =
	    TP_LOWER_BOUND(0u, results->summary_count, at, results->summaries[at].cell < cell);
	for (uint32_t i = first; i < results->summary_count && results->summaries[i].cell == cell;
	     i++)
		if (strcmp(results->figures[results->summaries[i].figure].name, figure) == 0)
			return &results->summaries[i];
	return NULL;
}

static void add_facts(const struct tp_results *results, struct tp_buf *out)
{
	const struct tp_experiment *experiment = results->experiment;
	uint32_t planned = 0;
	for (uint32_t i = 0; i < experiment->grid.run_count; i++)
		planned += !experiment->grid.cells[experiment->grid.runs[i].cell].skipped;
	tp_buf_addf(out, "<p>%u of %u runs of %u experiments", results->count, planned,
	    experiment->grid.cell_count);
	for (int i = TP_RUN_FAILED; i < TP_RUN_STATUSES; i++)
		if (results->bad[i])
			tp_buf_addf(out, ", <b class=\"bad\">%u %s</b>", results->bad[i],
			    tp_run_statuses[i]);
	if (experiment->skipped)
		tp_buf_addf(out, ", <b class=\"bad\">%u experiment%s cannot run here</b>",
		    experiment->skipped, experiment->skipped == 1 ? "" : "s");
	tp_buf_addf(out, "; in random order, seed %" PRIu64 "; TeePerf %s</p>\n", experiment->seed,
	    TEEPERF_VERSION);
}

static void add_notes(const struct tp_results *results, struct tp_buf *out)
{
	if (!results->note_count)
		return;
	tp_buf_addf(out,
	    "<details open><summary>%u note%s on what was not measured, "
	    "or limits it</summary>\n<ul>\n",
	    results->note_count, results->note_count == 1 ? "" : "s");
	for (uint32_t i = 0; i < results->note_count; i++) {
		const struct tp_result_note *note = &results->notes[i];
		tp_buf_add_string(out, "<li>");
		tp_text_add_xml(out, note->text);
		if (note->runs)
			tp_buf_addf(out, " <span class=\"dim\">(%u run%s, first of ", note->runs,
			    note->runs == 1 ? "" : "s");
		else
			tp_buf_addf(out, " <span class=\"dim\">(%u experiment%s, first ",
			    note->cells, note->cells == 1 ? "" : "s");
		tp_text_add_xml(out, note->cell->name);
		tp_buf_add_string(out, ")</span></li>\n");
	}
	tp_buf_add_string(out, "</ul></details>\n");
}

static void add_figure_cell(
    const struct tp_results *results, uint32_t cell, const char *figure, struct tp_buf *out)
{
	const struct tp_summary *summary = find(results, cell, figure);
	char text[TP_TEXT_NUMBER];
	tp_buf_add_string(out, "<td class=\"number\">");
	if (summary && strcmp(results->figures[summary->figure].unit, "s") == 0)
		tp_buf_add_string(out, tp_text_ns_fixed(text, summary->median * 1e9));
	else if (summary)
		tp_buf_add_string(out, tp_text_bytes(text, summary->median));
	if (summary && summary->has_interval && summary->median > 0)
		tp_buf_addf(out, " <span class=\"dim\">%+.1f %+.1f %%</span>",
		    (summary->low / summary->median - 1) * 100,
		    (summary->high / summary->median - 1) * 100);
	tp_buf_add_string(out, "</td>");
}

// What there is of a cell.
struct shares {
	uint32_t good;
	uint32_t bad;
	bool traced;
};

static void count_result(struct shares *of, const struct tp_result *result)
{
	const struct tp_measured *measured = &result->measured;
	if (result->run->kind == TP_RUN_MEASURED) {
		of->good += measured->status == TP_RUN_DONE;
		of->bad += measured->status != TP_RUN_DONE;
		return;
	}
	for (uint32_t i = 0; i < measured->metric_count; i++)
		of->traced |= strcmp(measured->metrics[i].name, "trace_bytes") == 0;
}

static void add_cell_row(
    const struct tp_results *results, uint32_t at, const struct shares *of, struct tp_buf *out)
{
	const struct tp_grid_cell *cell = &results->experiment->grid.cells[at];
	tp_buf_add_string(out, "<tr><td>");
	tp_text_add_xml(out, cell->task->name);
	tp_buf_add_string(out, "</td><td>");
	tp_text_add_xml(out, cell->variant->name);
	tp_buf_add_string(out, "</td>");
	for (uint32_t i = 0; i < results->experiment->plan.column_count; i++) {
		tp_buf_add_string(out, "<td>");
		tp_text_add_xml(out, cell->values[i] ? cell->values[i] : "");
		tp_buf_add_string(out, "</td>");
	}
	if (cell->skipped)
		tp_buf_add_string(out, "<td class=\"bad\">not run</td>");
	else if (of->bad)
		tp_buf_addf(out, "<td class=\"bad\">%u, %u not done</td>", of->good, of->bad);
	else
		tp_buf_addf(out, "<td>%u</td>", of->good);
	add_figure_cell(results, at, "wall_time", out);
	add_figure_cell(results, at, "user_time", out);
	add_figure_cell(results, at, "system_time", out);
	add_figure_cell(results, at, "max_rss", out);
	tp_buf_add_string(out, "<td>");
	if (of->traced) {
		tp_text_add_xml(out, cell->name);
		tp_buf_add_string(out, "/deep-trace/teeperf.trace");
	}
	tp_buf_add_string(out, "</td></tr>\n");
}

static bool add_cells(const struct tp_results *results, struct tp_buf *out)
{
	const struct tp_experiment *experiment = results->experiment;
	struct shares *shares = calloc((size_t)experiment->grid.cell_count + 1, sizeof(*shares));
	if (!shares)
		return false;
	for (uint32_t i = 0; i < results->count; i++)
		count_result(&shares[results->items[i].run->cell], &results->items[i]);
	tp_buf_addf(out,
	    "<details%s><summary>%u experiments</summary><div class=\"scroll\"><table>\n"
	    "<caption>medians, and how far the ends of their 95&nbsp;%% bootstrap intervals "
	    "are from them</caption>\n"
	    "<tr><th>task</th><th>variant</th>",
	    experiment->grid.cell_count <= 12 ? " open" : "", experiment->grid.cell_count);
	for (uint32_t i = 0; i < experiment->plan.column_count; i++)
		tp_buf_addf(out, "<th>%s</th>", experiment->plan.columns[i]);
	tp_buf_add_string(out,
	    "<th>runs</th><th class=\"number\">wall time</th><th class=\"number\">user time</th>"
	    "<th class=\"number\">system time</th><th class=\"number\">peak memory</th><th>deep "
	    "trace</th></tr>\n");
	for (uint32_t i = 0; i < experiment->grid.cell_count && i < ROWS_MOST; i++)
		add_cell_row(results, i, &shares[i], out);
	tp_buf_add_string(out, "</table></div>");
	if (experiment->grid.cell_count > ROWS_MOST)
		tp_buf_addf(out, "<p class=\"dim\">%u more are in summary.csv.</p>",
		    experiment->grid.cell_count - ROWS_MOST);
	tp_buf_add_string(out, "</details>\n");
	free(shares);
	return true;
}

// ---- data of the script

static void add_number(struct tp_json *json, bool known, double number)
{
	char text[32];
	if (!known) {
		tp_json_null(json, NULL);
		return;
	}
	tp_json_value(json, NULL);
	tp_buf_add_string(json->out, tp_plain_number(text, number));
}

static void add_summaries(const struct tp_results *results, struct tp_json *json)
{
	tp_json_array(json, "summaries");
	for (uint32_t i = 0; i < results->summary_count; i++) {
		const struct tp_summary *summary = &results->summaries[i];
		tp_json_array(json, NULL);
		tp_json_uint(json, NULL, summary->cell);
		tp_json_uint(json, NULL, summary->figure);
		tp_json_uint(json, NULL, summary->count);
		add_number(json, true, summary->median);
		add_number(json, summary->has_interval, summary->low);
		add_number(json, summary->has_interval, summary->high);
		add_number(json, true, summary->min);
		add_number(json, true, summary->max);
		tp_json_array(json, NULL);
		for (uint32_t j = 0; j < summary->count; j++)
			add_number(json, true, summary->values[j]);
		tp_json_end(json);
		tp_json_end(json);
	}
	tp_json_end(json);
}

static void add_data(const struct tp_results *results, struct tp_buf *out)
{
	const struct tp_experiment *experiment = results->experiment;
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_COMPACT);
	tp_json_object(&json, NULL);
	tp_json_array(&json, "columns");
	for (uint32_t i = 0; i < experiment->plan.column_count; i++)
		tp_json_text(&json, NULL, experiment->plan.columns[i]);
	tp_json_end(&json);
	tp_json_array(&json, "figures");
	for (uint32_t i = 0; i < results->figure_count; i++) {
		tp_json_object(&json, NULL);
		tp_json_text(&json, "name", results->figures[i].name);
		tp_json_text(&json, "unit", results->figures[i].unit);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	tp_json_array(&json, "cells");
	for (uint32_t i = 0; i < experiment->grid.cell_count; i++) {
		const struct tp_grid_cell *cell = &experiment->grid.cells[i];
		tp_json_object(&json, NULL);
		tp_json_text(&json, "name", cell->name);
		tp_json_text(&json, "task", cell->task->name);
		tp_json_text(&json, "variant", cell->variant->name);
		tp_json_array(&json, "values");
		for (uint32_t j = 0; j < experiment->plan.column_count; j++)
			tp_json_text(&json, NULL, cell->values[j]);
		tp_json_end(&json);
		tp_json_end(&json);
	}
	tp_json_end(&json);
	add_summaries(results, &json);
	tp_json_end(&json);
}

// Nothing in the data can end the element that it is in: JSON has no '<' outside of its strings.
static void add_data_element(const struct tp_buf *data, struct tp_buf *out)
{
	tp_buf_add_string(out, "<script type=\"application/json\" id=\"data\">");
	for (size_t at = 0; at < data->size;) {
		const char *stop = memchr(data->data + at, '<', data->size - at);
		const size_t end = stop ? (size_t)(stop - data->data) : data->size;
		tp_buf_add(out, data->data + at, end - at);
		if (stop)
			tp_buf_add_string(out, "\\u003c");
		at = end + (stop != NULL);
	}
	tp_buf_add_string(out, "</script>\n");
}

int tp_results_page(const struct tp_results *results, struct tp_buf *out, struct tp_err *err)
{
	struct tp_buf data;
	tp_buf_init(&data);
	add_start(results, out);
	add_facts(results, out);
	add_machine(results, out);
	add_notes(results, out);
	bool ok = add_cells(results, out);
	tp_buf_add_string(out, tp_experiment_behind);
	add_data(results, &data);
	add_data_element(&data, out);
	tp_buf_add_string(out, "<noscript><p>The plots need JavaScript; "
			       "summary.csv has their numbers.</p></noscript>\n<script>");
	tp_buf_add_string(out, tp_experiment_script);
	tp_buf_add_string(out, "</script>\n</body>\n</html>\n");
	ok = ok && !data.failed && !out->failed;
	tp_buf_release(&data);
	return ok ? 0 : tp_err_memory(err, "report.html");
}
