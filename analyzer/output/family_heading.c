// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands above the views of a family: what was recorded, and what limits the meaning of the
// sums.
#include "family.h"

#include "analyzer/output/view.h"

#include <inttypes.h>
#include <string.h>

// Number of a heading's lines that may be about single processes.
#define LINES_MAX 20

static const char *file_of(const struct tp_family_member *member)
{
	const char *name = member->analysis->trace->source.name;
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
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
	uint64_t events = 0;
	for (uint32_t i = 0; i < family->count; i++) {
		threads += family->members[i].analysis->thread_count;
		events += family->members[i].analysis->counts.events;
	}
	tp_buf_addf(out, "family     of %s: %" PRIu32 " process%s\n", first->source.name,
	    family->count, tp_by_count(family->count, "", "es"));
	tp_buf_addf(out, "threads    %s\n", tp_text_count(text, threads));
	tp_buf_addf(out, "events     %s\n", tp_text_count(text, events));
	tp_buf_addf(out, "clock      %s\n",
	    first->has_clock ? teeperf_clock_name(first->clock.kind) : "unknown");
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
		    " more such lines: run 'teeperf analyze' on a single trace\n",
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
		    " trace%s that could not be used: sums do not include their calls and times\n",
		    family->left_out, tp_plural(family->left_out));
	if (lost)
		tp_buf_addf(out,
		    "lost       %s events in %" PRIu32 " of %" PRIu32
		    " processes: times and counts are too low\n",
		    tp_text_count(text, lost), losers, family->count);
	add_state(family, "damaged", "not all of their traces could be read", out);
	add_state(family, "unfinished",
	    "their traces have no end: the recorder was killed or is still running, or the file "
	    "was truncated",
	    out);
	add_state(family, "recovered", "their recorder was killed", out);
	add_members(family, out);
	if (!only_trouble)
		tp_buf_add_string(out,
		    "note       functions that are not instrumented are part of their caller's "
		    "self time; percentiles do not add up over processes and are left out\n\n");
}

void tp_family_add_json(struct tp_json *json, const void *context)
{
	const struct tp_family *family = context;
	uint32_t losers;
	tp_json_text(json, "unit", tp_view_unit(&family->sums));
	tp_json_uint(json, "left_out_traces", family->left_out);
	tp_json_uint(json, "lost", count_lost(family, &losers));
	tp_json_bool(json, "complete",
	    !family->left_out && count_state(family, "complete") == family->count);
	tp_json_array(json, "family");
	for (uint32_t i = 0; i < family->count; i++) {
		const struct tp_family_member *member = &family->members[i];
		tp_json_line(json, 0);
		tp_json_object(json, NULL);
		tp_json_text(json, "file", member->analysis->trace->source.name);
		tp_json_uint_if(json, "process", member->process, member->process);
		tp_json_uint_if(json, "parent", member->parent, member->parent);
		tp_json_text(json, "state", tp_family_state(member));
		tp_view_add_json(json, member->analysis);
		tp_json_end(json);
	}
	tp_json_end(json);
}
