// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processes of a recording as tables, CSV and JSON: their functions, their threads, and they themselves.
#define _GNU_SOURCE
#include "family.h"

#include "analyzer/output/grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// So many lines of a heading are about single processes.
#define LINES_MAX 20

static const char *file_of(const struct tp_family_member *member)
{
	const char *name = member->analysis->trace->source.name;
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

static const char *program_of(const struct tp_family_member *member)
{
	return tp_tracefile_program(member->analysis->trace);
}

// The members' sums are nanoseconds, or ticks: one is one.
static struct tp_analysis in_ns(const struct tp_family *family)
{
	const struct tp_analysis *first = family->members[0].analysis;
	return (struct tp_analysis){
	    .trace = first->trace,
	    .timeless = first->timeless,
	    .time = {.ns = 1, .ticks = 1, .known = first->time.known},
	};
}

// ---- heading

static uint64_t count_events(const struct tp_family *family)
{
	uint64_t events = 0;
	for (uint32_t i = 0; i < family->count; i++)
		events += family->members[i].analysis->counts.events;
	return events;
}

static uint64_t count_lost(const struct tp_family *family, uint32_t *processes)
{
	uint64_t lost = 0;
	*processes = 0;
	for (uint32_t i = 0; i < family->count; i++) {
		lost += family->members[i].analysis->lost;
		*processes += family->members[i].analysis->lost != 0;
	}
	return lost;
}

static uint32_t count_state(const struct tp_family *family, const char *state)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < family->count; i++)
		count += strcmp(tp_family_state(&family->members[i]), state) == 0;
	return count;
}

static void add_facts(const struct tp_family *family, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	const struct tp_tracefile *first = family->members[0].analysis->trace;
	uint64_t threads = 0;
	for (uint32_t i = 0; i < family->count; i++)
		threads += family->members[i].analysis->thread_count;
	tp_buf_addf(out, "family     of %s: %" PRIu32 " process%s\n", first->source.name,
	    family->count, family->count == 1 ? "" : "es");
	tp_buf_addf(out, "threads    %s\n", tp_text_count(text, threads));
	tp_buf_addf(out, "events     %s\n", tp_text_count(text, count_events(family)));
	tp_buf_addf(out, "clock      %s\n",
	    first->has_clock ? tp_timebase_clock_name(first->clock.kind) : "unknown");
}

static void add_state(
    const struct tp_family *family, const char *state, const char *what, struct tp_buf *out)
{
	const uint32_t count = count_state(family, state);
	if (count)
		tp_buf_addf(out, "%-10s %" PRIu32 " of %" PRIu32 " processes: %s\n", state, count,
		    family->count, what);
}

// What the heading of each trace would say, a line each, with the name of the file.
static void add_members(const struct tp_family *family, struct tp_buf *out)
{
	struct tp_buf lines;
	tp_buf_init(&lines);
	uint32_t shown = 0;
	uint64_t more = 0;
	for (uint32_t i = 0; i < family->count; i++) {
		tp_buf_reset(&lines);
		tp_view_add_header(family->members[i].analysis, true, &lines);
		for (const char *line = lines.data; *line;) {
			const char *end = strchr(line, '\n');
			if (shown < LINES_MAX) {
				tp_buf_addf(out, "%.*s [%s]\n", (int)(end - line), line,
				    file_of(&family->members[i]));
				shown++;
			} else {
				more++;
			}
			line = end + 1;
		}
	}
	out->failed |= lines.failed;
	tp_buf_release(&lines);
	if (more)
		tp_buf_addf(out,
		    "           %" PRIu64
		    " more such lines: 'teeperf analyze' of a single trace shows them\n",
		    more);
}

void tp_family_add_heading(const struct tp_family *family, bool only_trouble, struct tp_buf *out)
{
	char text[TP_TEXT_NUMBER];
	uint32_t losers;
	const uint64_t lost = count_lost(family, &losers);
	if (!only_trouble)
		add_facts(family, out);
	if (family->left_out)
		tp_buf_addf(out,
		    "left out   %" PRIu32
		    " trace%s that could not be used: sums are too low by what they hold\n",
		    family->left_out, family->left_out == 1 ? "" : "s");
	if (lost)
		tp_buf_addf(out,
		    "lost       %s events in %" PRIu32 " of %" PRIu32
		    " processes: times and counts are too low\n",
		    tp_text_count(text, lost), losers, family->count);
	add_state(family, "damaged", "not all of their traces could be read", out);
	add_state(family, "unfinished",
	    "their traces have no end, as the recorder was killed or records still, or the file was cut",
	    out);
	add_state(family, "recovered", "their recorder was killed", out);
	add_members(family, out);
	if (!only_trouble)
		tp_buf_add_string(out,
		    "note       functions that are not instrumented are part of their caller's self "
		    "time; percentiles do not add up over processes and are left out\n\n");
}

static void add_optional(struct tp_buf *out, const char *key, uint64_t number)
{
	if (number)
		tp_buf_addf(out, ",\"%s\":%" PRIu64, key, number);
	else
		tp_buf_addf(out, ",\"%s\":null", key);
}

static void add_json_members(const struct tp_family *family, struct tp_buf *out)
{
	uint32_t losers;
	tp_buf_addf(out, "\"unit\":\"%s\",\"left_out_traces\":%" PRIu32 ",\"lost\":%" PRIu64,
	    tp_view_unit(family->members[0].analysis), family->left_out,
	    count_lost(family, &losers));
	tp_buf_addf(out, ",\"complete\":%s,\"family\":[",
	    !family->left_out && count_state(family, "complete") == family->count ? "true"
										  : "false");
	for (uint32_t i = 0; i < family->count; i++) {
		const struct tp_family_member *member = &family->members[i];
		tp_buf_add_string(out, i ? ",\n{\"file\":" : "\n{\"file\":");
		tp_json_quote(out, member->analysis->trace->source.name);
		add_optional(out, "process", member->process);
		add_optional(out, "parent", member->parent);
		tp_buf_addf(out, ",\"state\":\"%s\",", tp_family_state(member));
		tp_view_add_json_header(member->analysis, out);
		// It ends in a comma.
		if (!out->failed)
			out->data[--out->size] = '\0';
		tp_buf_add_char(out, '}');
	}
	tp_buf_add_string(out, "],");
}

// ---- functions

static uint64_t rank_of(enum tp_sort key, const struct tp_family_function *function)
{
	switch (key) {
	case TP_SORT_INCLUSIVE:
		return function->scaled_inclusive;
	case TP_SORT_MIN:
		return function->min;
	case TP_SORT_MAX:
		return function->max;
	case TP_SORT_CALLS:
		return function->calls;
	default:
		return function->scaled_self;
	}
}

static int compare(const void *a, const void *b, void *context)
{
	const enum tp_sort key = *(const enum tp_sort *)context;
	const struct tp_family_function *x = a;
	const struct tp_family_function *y = b;
	const bool by_time = key != TP_SORT_CALLS && key != TP_SORT_NAME;
	// What has no times comes last, and then by calls.
	if (by_time && !x->timed != !y->timed)
		return x->timed ? -1 : 1;
	uint64_t p = rank_of(key, x);
	uint64_t q = rank_of(key, y);
	if (by_time && !x->timed) {
		p = x->calls;
		q = y->calls;
	} else if (key == TP_SORT_MEAN) {
		const double r = (double)x->total / (double)x->timed;
		const double s = (double)y->total / (double)y->timed;
		p = r > s;
		q = s > r;
	} else if (key == TP_SORT_NAME) {
		p = q = 0;
	}
	if (p != q)
		return p > q ? -1 : 1;
	int order = strcmp(x->symbol->name, y->symbol->name);
	if (!order)
		order = strcmp(x->symbol->module, y->symbol->module);
	if (order)
		return order;
	return x->symbol->address < y->symbol->address ? -1
						       : x->symbol->address > y->symbol->address;
}

static const struct tp_column top_columns[] = {
    {NULL, "function", 'l', 0, false, false},
    {"calls", "calls", 'r', 0, false, false},
    {NULL, "self_ns", 'r', 0, true, false},
    {NULL, "inclusive_ns", 'r', 0, true, false},
    {"self", NULL, 'r', 0, true, false},
    {"+/-", NULL, 'r', 4, true, false},
    {"share", NULL, 'r', 2, true, false},
    {"inclusive", NULL, 'r', 1, true, false},
    {"mean", NULL, 'r', 0, true, false},
    {"min", "min_ns", 'r', 6, true, false},
    {"max", "max_ns", 'r', 5, true, false},
    {"processes", NULL, 'r', 3, false, false},
    {"function", NULL, 'l', 0, false, true},
    {"module", "module", 'l', 0, false, false},
    {NULL, "file", 'l', 0, false, false},
    {NULL, "line", 'r', 0, false, false},
    {NULL, "linkage", 'l', 0, false, false},
    {NULL, "address", 'r', 0, false, false},
    {NULL, "timed_calls", 'r', 0, false, false},
    {NULL, "p50_ns", 'r', 0, false, false},
    {NULL, "p90_ns", 'r', 0, false, false},
    {NULL, "p99_ns", 'r', 0, false, false},
    {NULL, "self_uncertainty_ns", 'r', 0, false, false},
    {NULL, "processes", 'r', 0, false, false},
};

// A time of all calls; of a sampled function an estimate.
static void add_scaled(
    struct tp_grid *grid, const struct tp_family_function *function, uint64_t time)
{
	char text[TP_TEXT_NUMBER];
	char marked[TP_TEXT_NUMBER + 1];
	if (!function->timed) {
		tp_grid_blank(grid);
		return;
	}
	tp_view_time(grid->analysis, text, time);
	snprintf(marked, sizeof(marked), "%s%s", function->sampled ? "~" : "", text);
	tp_grid_text(grid, marked);
}

// In parts of the self time; more than all of it says no more than that.
static void add_uncertainty(struct tp_grid *grid, const struct tp_family_function *function)
{
	char text[TP_TEXT_NUMBER];
	if (!function->timed || function->is_unsure)
		tp_grid_blank(grid);
	else if (function->uncertainty > function->self)
		tp_grid_text(grid, ">100%");
	else
		tp_grid_text(grid, tp_view_share(text, function->uncertainty, function->self));
}

static void add_function(
    struct tp_grid *grid, const struct tp_family *family, const struct tp_family_function *function)
{
	char address[TP_TEXT_NUMBER];
	const struct tp_symbol *symbol = function->symbol;
	const bool timed = function->timed != 0;
	tp_grid_text(grid, symbol->name);
	tp_grid_count(grid, function->calls);
	tp_grid_time(grid, timed, function->self);
	tp_grid_time(grid, timed, function->inclusive);
	add_scaled(grid, function, function->scaled_self);
	add_uncertainty(grid, function);
	if (timed)
		tp_grid_share(grid, function->scaled_self, family->scaled_self);
	else
		tp_grid_blank(grid);
	add_scaled(grid, function, function->scaled_inclusive);
	tp_grid_mean(grid, function->total, function->timed);
	tp_grid_time(grid, timed, function->min);
	tp_grid_time(grid, timed, function->max);
	tp_grid_count(grid, function->processes);
	tp_grid_text(grid, symbol->name);
	tp_grid_text(grid, symbol->module);
	tp_grid_text(grid, symbol->file);
	tp_grid_number(grid, symbol->line);
	tp_grid_text(grid, symbol->linkage);
	snprintf(address, sizeof(address), "0x%" PRIx64, symbol->address);
	tp_grid_text(grid, address);
	tp_grid_number(grid, function->timed);
	for (int i = 0; i < 3; i++)
		tp_grid_blank(grid);
	tp_grid_time(grid, timed && !function->is_unsure, function->uncertainty);
	tp_grid_number(grid, function->processes);
}

static void add_total(struct tp_grid *grid, const struct tp_family *family)
{
	char text[64];
	uint64_t calls = 0;
	for (uint32_t i = 0; i < family->function_count; i++)
		calls += family->functions[i].calls;
	tp_grid_blank(grid);
	tp_grid_count(grid, calls);
	tp_grid_blank(grid);
	tp_grid_blank(grid);
	tp_grid_time(grid, true, family->self);
	tp_grid_blank(grid);
	tp_grid_share(grid, family->self, family->self);
	for (int i = 7; i < 11; i++)
		tp_grid_blank(grid);
	tp_grid_count(grid, family->count);
	snprintf(text, sizeof(text), "total of %" PRIu32 " functions", family->function_count);
	tp_grid_text(grid, text);
	for (size_t i = 13; i < sizeof(top_columns) / sizeof(top_columns[0]); i++)
		tp_grid_blank(grid);
}

static void show_top(struct tp_grid *grid, const struct tp_family *family)
{
	enum tp_sort key = tp_view_sort(grid->analysis, grid->options->sort);
	qsort_r(
	    family->functions, family->function_count, sizeof(*family->functions), compare, &key);
	for (uint32_t i = 0; i < family->function_count; i++) {
		if (tp_grid_full(grid))
			grid->more++;
		else
			add_function(grid, family, &family->functions[i]);
	}
	if (grid->options->format == TP_FORMAT_TABLE)
		add_total(grid, family);
}

// ---- threads and processes

static void add_process(struct tp_grid *grid, uint64_t number)
{
	if (number)
		tp_grid_number(grid, number);
	else
		tp_grid_blank(grid);
}

static const struct tp_column thread_columns[] = {
    {"pid", "process", 'r', 0, false, false},
    {"program", "program", 'l', 0, false, false},
    {"thread", "thread", 'r', 0, false, false},
    {"tid", "tid", 'r', 0, false, false},
    {NULL, "name", 'l', 0, false, false},
    {"events", "events", 'r', 0, false, false},
    {"lost", "lost", 'r', 0, false, false},
    {"calls", "calls", 'r', 0, false, false},
    {"busy", "busy_ns", 'r', 0, true, false},
    {"cpu", "cpu_ns", 'r', 1, false, false},
    {"delay", "delay_ns", 'r', 2, false, false},
    {NULL, "file", 'l', 0, false, false},
    {"name", NULL, 'l', 0, false, true},
};

static void add_thread(struct tp_grid *grid, const struct tp_family_member *member,
    const struct tp_thread_result *result)
{
	const struct tp_thread *thread = result->thread;
	add_process(grid, member->process);
	tp_grid_text(grid, program_of(member));
	tp_grid_number(grid, thread->number);
	tp_grid_number(grid, thread->os_tid);
	tp_grid_text(grid, thread->name);
	tp_grid_count(grid, result->counts.events);
	tp_grid_count(
	    grid, thread->lost > result->counts.lost ? thread->lost : result->counts.lost);
	tp_grid_count(grid, result->call_count);
	tp_grid_time(grid, true, tp_timebase_ns(&member->analysis->time, result->busy));
	tp_grid_duration(grid, thread->has_cpu, thread->cpu_ns);
	tp_grid_duration(grid, thread->has_delay, thread->delay_ns);
	tp_grid_text(grid, member->analysis->trace->source.name);
	tp_grid_text(grid, tp_view_thread_name(thread));
}

static void show_threads(struct tp_grid *grid, const struct tp_family *family)
{
	for (uint32_t i = 0; i < family->count; i++) {
		const struct tp_analysis *analysis = family->members[i].analysis;
		for (uint32_t j = 0; j < analysis->thread_count; j++) {
			if (tp_grid_full(grid))
				grid->more++;
			else
				add_thread(grid, &family->members[i], &analysis->threads[j]);
		}
	}
}

static const struct tp_column process_columns[] = {
    {"pid", "process", 'r', 0, false, false},
    {"parent", "parent", 'r', 0, false, false},
    {"program", "program", 'l', 0, false, false},
    {"threads", "threads", 'r', 1, false, false},
    {"events", "events", 'r', 0, false, false},
    {"lost", "lost", 'r', 0, false, false},
    {"calls", "calls", 'r', 0, false, false},
    {"busy", "busy_ns", 'r', 0, true, false},
    {"state", "state", 'l', 0, false, false},
    {"file", NULL, 'l', 0, false, true},
    {NULL, "file", 'l', 0, false, false},
};

static void show_processes(struct tp_grid *grid, const struct tp_family *family)
{
	for (uint32_t i = 0; i < family->count; i++) {
		const struct tp_family_member *member = &family->members[i];
		const struct tp_analysis *analysis = member->analysis;
		if (tp_grid_full(grid)) {
			grid->more++;
			continue;
		}
		uint64_t calls = 0;
		uint64_t busy = 0;
		for (uint32_t j = 0; j < analysis->thread_count; j++) {
			calls += analysis->threads[j].call_count;
			busy += tp_timebase_ns(&analysis->time, analysis->threads[j].busy);
		}
		add_process(grid, member->process);
		add_process(grid, member->parent);
		tp_grid_text(grid, program_of(member));
		tp_grid_number(grid, analysis->thread_count);
		tp_grid_count(grid, analysis->counts.events);
		tp_grid_count(grid, analysis->lost);
		tp_grid_count(grid, calls);
		tp_grid_time(grid, true, busy);
		tp_grid_text(grid, tp_family_state(member));
		tp_grid_text(grid, file_of(member));
		tp_grid_text(grid, analysis->trace->source.name);
	}
}

// The column that is there if it is known of some function how far off its self time may be.
#define UNCERTAINTY 5

static bool has_uncertainty(const struct tp_family *family)
{
	for (uint32_t i = 0; i < family->function_count; i++)
		if (family->functions[i].timed && !family->functions[i].is_unsure)
			return true;
	return false;
}

int tp_family_show(const struct tp_family *family, enum tp_family_view view,
    const struct tp_view_options *options, struct tp_buf *out, struct tp_err *err)
{
	static const struct {
		const char *list;
		const struct tp_column *columns;
		uint32_t count;
		void (*show)(struct tp_grid *grid, const struct tp_family *family);
	} views[] = {
	    {"functions", top_columns, sizeof(top_columns) / sizeof(top_columns[0]), show_top},
	    {"threads", thread_columns, sizeof(thread_columns) / sizeof(thread_columns[0]),
		show_threads},
	    {"processes", process_columns, sizeof(process_columns) / sizeof(process_columns[0]),
		show_processes},
	};
	const struct tp_analysis sums = in_ns(family);
	struct tp_column columns[sizeof(top_columns) / sizeof(top_columns[0])];
	memcpy(columns, views[view].columns, views[view].count * sizeof(*columns));
	if (view == TP_FAMILY_TOP && !has_uncertainty(family))
		columns[UNCERTAINTY].title = NULL;
	struct tp_buf members;
	tp_buf_init(&members);
	if (options->format == TP_FORMAT_JSON)
		add_json_members(family, &members);
	out->failed |= members.failed;
	struct tp_grid grid;
	tp_grid_init_with(
	    &grid, &sums, options, columns, views[view].count, views[view].list, members.data, out);
	tp_buf_release(&members);
	views[view].show(&grid, family);
	return tp_grid_end(&grid, err);
}
