// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which notes an analysis gets, and what they say.
#include "analyzer/output/notes.h"
#include "analyzer/trace/marks.h"
#include "analyzer/trace/switches.h"
#include "analyzer/trace/host_threads.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Number of threads with a note of their own.
// Threads that the note 'open' names.
#define OPEN_THREADS_SHOWN 3
#define RINGS_SHOWN 8

static const char *why_empty(const struct tp_tracefile *trace)
{
	char text[16];
	if (trace->lacks.chunks)
		return "all recorded events are missing";
	if (trace->has_end && trace->end.attach == TEEPERF_ATTACH_NONE)
		return "the program is not built with 'teeperf cc', or its allowlist selects "
		       "nothing";
	if (!trace->gaps.count && tp_tracefile_host(trace, "on_start", text, sizeof(text)) &&
	    strcmp(text, "off") == 0)
		return "recording was never switched on: see teeperf-ctl(1)";
	if (tp_tracefile_host(trace, "attached", text, sizeof(text)))
		return "no instrumented function was called, or returned: the program waited, or "
		       "each thread stayed in one call";
	if (!trace->has_end)
		return "no thread has handed over its records yet: 'teeperf analyze --watch' "
		       "reads them from the log";
	return "no instrumented function was called";
}

// A range that is behind the end, most likely: how long the recording is.
static void note_empty_range(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	static const char what[] =
	    "no call begins or ends in this time range: the recording lasted";
	char text[TP_TEXT_NUMBER];
	const struct tp_tracefile *trace = analysis->trace;
	const struct teeperf_trace_end *end = &trace->end;
	if (trace->has_end && end->end_ns > end->start_ns) {
		tp_notes_add(notes, TP_NOTE_ID_EMPTY, 1, "%s %s", what,
		    tp_text_ns(text, end->end_ns - end->start_ns));
		return;
	}
	uint64_t last = 0;
	for (uint64_t i = 0; i < trace->chunk_count; i++)
		if (trace->chunks[i].first_time > last)
			last = trace->chunks[i].first_time;
	tp_notes_add(notes, TP_NOTE_ID_EMPTY, 1, "%s at least %s", what,
	    tp_view_time(analysis, text, last > analysis->origin ? last - analysis->origin : 0));
}

static void note_patterns(struct tp_notes *notes, const char *before, const char *after,
    const char *const *patterns, uint32_t count)
{
	struct tp_buf list;
	tp_buf_init(&list);
	for (uint32_t i = 0; i < count; i++)
		tp_buf_addf(&list, "%s'%s'", i ? ", " : "", patterns[i]);
	if (count)
		tp_notes_add(
		    notes, TP_NOTE_ID_PART, count, "%s %s, by %s", before, list.data, after);
	notes->failed |= list.failed;
	tp_buf_release(&list);
}

// That these are not the numbers of the whole trace, and of which part they are.
static void note_part(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char text[TP_TEXT_NUMBER];
	char to[TP_TEXT_NUMBER];
	const uint64_t origin = analysis->origin;
	if (analysis->options.one_thread && analysis->thread_count)
		tp_notes_add(notes, TP_NOTE_ID_PART, 1, "thread %" PRIu32 ", by --thread",
		    analysis->threads[0].thread->number);
	if (analysis->ranged) {
		const uint64_t from = analysis->from > origin ? analysis->from - origin : 0;
		const bool open = analysis->to == UINT64_MAX;
		tp_notes_add(notes, TP_NOTE_ID_PART, 1,
		    "from %s%s%s since the first record, by --time-range: of calls that began "
		    "before or ended after, only the part in this range",
		    tp_view_time(analysis, text, from), open ? "" : " to ",
		    open ? "" : tp_view_time(analysis, to, analysis->to - origin));
	}
	if (analysis->least)
		tp_notes_add(notes, TP_NOTE_ID_PART, 1,
		    "calls of at least %s, by --min-time: shorter ones are part of their callers",
		    tp_view_time(analysis, text, analysis->least));
	if (analysis->options.time)
		tp_notes_add(notes, TP_NOTE_ID_PART, 1, "the time of calls %s, by --time %s",
		    tp_time_meaning(analysis->options.time), tp_time_name(analysis->options.time));
	if (analysis->options.depth)
		tp_notes_add(notes, TP_NOTE_ID_PART, 1,
		    "calls down to depth %" PRIu64
		    ", by --depth: deeper ones are part of their callers",
		    analysis->options.depth);
	note_patterns(notes, "paths through", "--focus", analysis->options.focus,
	    analysis->options.focus_count);
	note_patterns(notes, "paths without", "--ignore", analysis->options.ignore,
	    analysis->options.ignore_count);
}

static void note_switches(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char text[TP_TEXT_NUMBER];
	char all[TP_TEXT_NUMBER];
	char times[TP_TEXT_NUMBER];
	bool at_first;
	const uint32_t count = tp_gaps_switches(&analysis->trace->gaps, &at_first);
	const uint64_t recorded = tp_analysis_recorded_ns(analysis);
	const uint64_t duration = tp_analysis_duration_ns(analysis);
	struct tp_buf line;
	if (!count && !at_first)
		return;
	tp_buf_init(&line);
	if (analysis->time.known && !analysis->timeless)
		tp_buf_addf(
		    &line, "%s of %s: ", tp_text_ns(text, recorded), tp_text_ns(all, duration));
	else if (!analysis->timeless)
		tp_buf_addf(&line, "%s of %s ticks: ", tp_text_count(text, recorded),
		    tp_text_count(all, duration));
	tp_buf_add_string(&line, at_first ? "off at first" : "");
	if (count)
		tp_buf_addf(&line, "%sswitched off %s time%s", at_first ? ", " : "",
		    tp_text_count(times, count), tp_plural(count));
	tp_notes_add(notes, TP_NOTE_ID_SWITCHED_OFF, (uint64_t)count + at_first, "%s; %s",
	    line.data,
	    analysis->timeless
		? "without a clock, the calls running then are not known, so call paths may be "
		  "wrong"
		: "times and shares refer to the recorded part");
	notes->failed |= line.failed;
	tp_buf_release(&line);
}

// Each thread may make a few records of a function while it is being switched off, and one for each
// call that runs.
enum { ON_WAY_EACH = 4 };

static bool is_calibrated(const struct tp_tracefile *trace)
{
	char value[8];
	return tp_tracefile_host(trace, "calibrate", value, sizeof(value));
}

// Functions whose cost '--costs' tells.
static void note_measured(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	uint32_t count = 0;
	uint32_t all = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		count += analysis->functions[i].cost != NULL;
		all += tp_function_timed(&analysis->functions[i]) != 0;
	}
	if (analysis->compensation.applied && analysis->options.costs)
		tp_notes_add(notes, TP_NOTE_ID_MEASURED, count,
		    "the cost of recording was measured in the program for %" PRIu32 " of %" PRIu32
		    " functions; the others have the cost of a loop of calls",
		    count, all);
}

// Each window has some of the functions that are off, so they have different numbers of them.
static void note_estimates(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char low[TP_TEXT_NUMBER];
	char high[TP_TEXT_NUMBER];
	uint32_t least = UINT32_MAX;
	uint32_t most = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_function_estimate *estimate = &analysis->functions[i].estimate;
		if (!estimate->has_calls)
			continue;
		least = estimate->windows < least ? estimate->windows : least;
		most = estimate->windows > most ? estimate->windows : most;
	}
	tp_notes_add(notes, TP_NOTE_ID_ESTIMATED, analysis->estimated_count,
	    "all calls of %" PRIu32
	    " of these functions were estimated from %s%s%s windows each, in which they were on, "
	    "as were inclusive times where calls are short; with 95%% confidence they are within "
	    "+/-",
	    analysis->estimated_count, least < most ? tp_text_count(low, least) : "",
	    least < most ? " to " : "", tp_text_count(high, most));
}

// Functions that were recorded for a part of the run, those that took the most time first.
static void note_selections(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char text[TP_TEXT_NUMBER];
	char share[TP_TEXT_NUMBER];
	const uint32_t changes = analysis->trace->selections.count;
	const struct tp_function *most = NULL;
	uint32_t count = 0;
	if (!changes || analysis->timeless)
		return;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_function *function = &analysis->functions[i];
		if (!function->selected ||
		    function->selected == &analysis->trace->selections.unknown)
			continue;
		count++;
		most = !most || function->self > most->self ? function : most;
	}
	struct tp_buf line;
	tp_buf_init(&line);
	if (most)
		tp_buf_addf(&line, ", %s%s for %s of the time", count > 1 ? "among them " : "",
		    most->symbol.name,
		    tp_text_percent(share, tp_analysis_selected_share(analysis, most)));
	if (is_calibrated(analysis->trace))
		tp_notes_add(notes, TP_NOTE_ID_CALIBRATED, changes,
		    "%" PRIu32
		    " function%s left out in turn, in %s windows%s, and that time is in their "
		    "callers' self time: record again without '--calibrate', and analyze the "
		    "new trace with '--costs' and this one",
		    count, tp_by_count(count, " was", "s were"), tp_text_count(text, changes),
		    line.size ? line.data : "");
	else
		tp_notes_add(notes, TP_NOTE_ID_SELECTIONS, changes,
		    "the choice of functions changed %s time%s: %" PRIu32
		    " of those with calls %s recorded for a part of the time only%s; the rest of "
		    "their time is in their callers' self time",
		    tp_text_count(text, changes), tp_plural(changes), count,
		    tp_by_count(count, "was", "were"), line.size ? line.data : "");
	notes->failed |= line.failed;
	tp_buf_release(&line);
	if (analysis->estimated_count)
		note_estimates(notes, analysis);
	if (analysis->selected_unknown)
		tp_notes_add(notes, TP_NOTE_ID_SELECTIONS_UNKNOWN, analysis->selected_unknown,
		    "%" PRIu32
		    " function%s ha%s no name, so it is unknown when %s: calls that were "
		    "running at a change end there, and some call paths may be wrong",
		    analysis->selected_unknown, tp_plural(analysis->selected_unknown),
		    tp_by_count(analysis->selected_unknown, "s", "ve"),
		    tp_by_count(
			analysis->selected_unknown, "it was recorded", "they were recorded"));
	const struct tp_stack_counts *counts = &analysis->counts;
	const uint64_t usual = counts->left_out + counts->came_back +
			       (uint64_t)ON_WAY_EACH * analysis->thread_count * changes;
	if (counts->on_way > usual)
		tp_notes_add(notes, TP_NOTE_ID_DROPPED_FUNCTIONS, counts->on_way,
		    "%s records of functions that were off are left out: the trace may lack later "
		    "changes of the selection, because its recorder was killed or is still running",
		    tp_text_count(text, counts->on_way));
}

// The part of a thread that a flight recorder still has.
static void note_ring(struct tp_notes *notes, const struct tp_analysis *analysis,
    const struct tp_thread_result *result)
{
	char text[TP_TEXT_NUMBER];
	char count[TP_TEXT_NUMBER];
	const struct tp_thread *thread = result->thread;
	const uint64_t gone = tp_analysis_overwritten(analysis, thread);
	const bool timed = result->last > result->first && !analysis->timeless;
	tp_notes_add(notes, TP_NOTE_ID_RING, gone,
	    "the last %s of thread %" PRIu32 "%s%s; %s records before that were overwritten",
	    timed ? tp_view_time(analysis, text, result->last - result->first) : "records",
	    thread->number, thread->name[0] ? " " : "", thread->name, tp_text_count(count, gone));
}

// A flight recorder: nothing of this is a loss.
static void note_rings(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char text[TP_TEXT_NUMBER];
	char count[TP_TEXT_NUMBER];
	uint64_t shown = 0;
	uint64_t more = 0;
	uint64_t more_gone = 0;
	uint64_t whole = 0;
	uint64_t whole_gone = 0;
	if (!analysis->trace->rings)
		return;
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		if (!thread->overwritten)
			continue;
		if (!thread->chunk_count) {
			whole++;
			whole_gone += thread->overwritten;
		} else if (shown < RINGS_SHOWN) {
			shown++;
			note_ring(notes, analysis, &analysis->threads[i]);
		} else {
			more++;
			more_gone += tp_analysis_overwritten(analysis, thread);
		}
	}
	if (more)
		tp_notes_add(notes, TP_NOTE_ID_RING, more_gone,
		    "%s more threads: %s records were overwritten", tp_text_count(count, more),
		    tp_text_count(text, more_gone));
	if (whole)
		tp_notes_add(notes, TP_NOTE_ID_RING, whole_gone,
		    "all of %s thread%s that had ended was overwritten: %s chunks",
		    tp_text_count(count, whole), tp_plural(whole), tp_text_count(text, whole_gone));
	if (!shown && !whole)
		tp_notes_add(notes, TP_NOTE_ID_RING, 0, "nothing was overwritten");
}

// What of a joined trace is not where it belongs.
static void note_apart(struct tp_notes *notes, const struct tp_tracefile *trace)
{
	static const struct {
		const char *key;
		const char *what;
	} facts[] = {
	    {"joined_ambiguous",
		"calls in the TEE could belong to several calls of the host: shown in separate "
		"threads"},
	    {"joined_alone",
		"calls in the TEE belong to no recorded call of the host: shown in separate "
		"threads"},
	};
	char text[32];
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (tp_tracefile_host(trace, facts[i].key, text, sizeof(text)) &&
		    strcmp(text, "0") != 0)
			tp_notes_add(notes, TP_NOTE_ID_JOINED_APART, strtoull(text, NULL, 10),
			    "%s %s", text, facts[i].what);
}

// What the recorder wrote down about the run.
static void note_run(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char budget[32];
	const struct tp_tracefile *trace = analysis->trace;
	char text[TP_TEXT_NUMBER];
	char all[TP_TEXT_NUMBER];
	char count[TP_TEXT_NUMBER];
	if (tp_tracefile_host(trace, "switches_missed", text, sizeof(text))) {
		const uint64_t missed = strtoull(text, NULL, 10);
		tp_notes_add(notes, TP_NOTE_ID_SWITCHES_MISSED, missed,
		    "%s switches were too quick to be recorded: calls near them may have wrong "
		    "callers, and that time counts as recorded",
		    tp_text_count(count, missed));
	}
	if (tp_tracefile_host(trace, "recovered", text, sizeof(text))) {
		const uint64_t chunks = strtoull(text, NULL, 10);
		const bool soft = trace->has_clock && TEEPERF_CLOCK_IS_SOFT(trace->clock.kind);
		tp_notes_add(notes, TP_NOTE_ID_RECOVERED, chunks,
		    "the recorder was killed; %s chunks were added from its log%s",
		    tp_text_count(count, chunks),
		    soft ? ", and the clock stood still from then on" : "");
	}
	if (tp_tracefile_host(trace, "selections_lost", text, sizeof(text))) {
		const uint64_t lost = strtoull(text, NULL, 10);
		tp_notes_add(notes, TP_NOTE_ID_SELECTIONS_LOST, lost,
		    "%s selection%s unknown, because the recorder was killed: near its end, "
		    "calls of some functions may be missing",
		    tp_text_count(count, lost), tp_by_count(lost, " is", "s are"));
	}
	if (trace->has_end && trace->end.lost_early)
		tp_notes_add(notes, TP_NOTE_ID_BEFORE_LOG, trace->end.lost_early,
		    "%s events came before the program had its log and are not in the trace",
		    tp_text_count(text, trace->end.lost_early));
	if (trace->has_end && trace->end.forked)
		tp_notes_add(notes, TP_NOTE_ID_FORKED, trace->end.forked,
		    "%s child%s not recorded: see 'record --follow-fork'",
		    tp_text_count(text, trace->end.forked),
		    tp_by_count(trace->end.forked, " was", "ren were"));
	if (trace->has_end && trace->end.refused)
		tp_notes_add(notes, TP_NOTE_ID_REFUSED, trace->end.refused,
		    "%s more instrumented process%s not recorded (a library with its own "
		    "runtime counts as one)",
		    tp_text_count(text, trace->end.refused),
		    tp_by_count(trace->end.refused, " was", "es were"));
	if (tp_tracefile_host(trace, "unrecorded", text, sizeof(text))) {
		const uint64_t programs = strtoull(text, NULL, 10);
		tp_notes_add(notes, TP_NOTE_ID_UNRECORDED, programs,
		    "%s instrumented program%s run without the variables TEEPERF_*, and not "
		    "recorded",
		    tp_text_count(count, programs), tp_by_count(programs, " was", "s were"));
	}
	if (tp_tracefile_host(trace, "log_gone_bytes", text, sizeof(text))) {
		const uint64_t bytes = strtoull(text, NULL, 10);
		tp_notes_add(notes, TP_NOTE_ID_LOG_GONE, bytes,
		    "%" PRIu64
		    " KiB of the log were lost during the recording: the program truncated its "
		    "file, or memory ran out",
		    bytes / 1024);
	}
	note_apart(notes, trace);
	if (analysis->timeless)
		tp_notes_add(notes, TP_NOTE_ID_NO_CLOCK, 1,
		    "none, without a clock: only calls and call paths");
	if (tp_tracefile_host(trace, "functions", all, sizeof(all)) &&
	    tp_tracefile_host(trace, "functions_left_out", text, sizeof(text)))
		tp_notes_add(notes, TP_NOTE_ID_LEFT_OUT, strtoull(text, NULL, 10),
		    "%s of %s instrumented functions%s", text, all,
		    !trace->selections.count || is_calibrated(trace) ? ", by 'record --only'"
		    : tp_tracefile_host(trace, "budget", budget, sizeof(budget))
			? " when they were loaded; 'record --budget' changed that later"
			: " when they were loaded; 'teeperf ctl' changed that later");
}

// What a live budget did. The trace has shares, of which nothing is believed that is no number.
static void note_budget(struct tp_notes *notes, const struct tp_tracefile *trace)
{
	char value[32];
	char asked[TP_TEXT_NUMBER];
	char cost[TP_TEXT_NUMBER];
	if (!tp_tracefile_host(trace, "budget", value, sizeof(value)))
		return;
	const double share = strtod(value, NULL);
	if (!(share > 0 && share < 1))
		return;
	const bool known = tp_tracefile_host(trace, "budget_overhead", value, sizeof(value));
	const double overhead = known ? strtod(value, NULL) : -1;
	const uint64_t off = tp_tracefile_host(trace, "budget_off", value, sizeof(value))
				 ? strtoull(value, NULL, 10)
				 : 0;
	tp_notes_add(notes, TP_NOTE_ID_BUDGET, off,
	    "%s; %s%s%" PRIu64
	    " function%s switched off for a part of the time, with totals of the rest only; "
	    "those of all others are complete",
	    tp_text_share_exact(asked, share),
	    overhead >= 0 && overhead < 1000 ? tp_text_share(cost, overhead) : "",
	    overhead >= 0 && overhead < 1000
		? " of the running time is the estimated cost of events after the first second; "
		: "",
	    off, tp_by_count(off, " was", "s were"));
}

// Functions that were not recorded call by call.
static void note_levels(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	const struct {
		uint32_t count;
		enum tp_note_id id;
		const char *what;
	} levels[] = {
	    {analysis->counted_count, TP_NOTE_ID_COUNTED,
		"without times: their time is part of their callers'"},
	    {analysis->sampled_count, TP_NOTE_ID_SAMPLED,
		"with times of some calls: ~ marks scaled values; the other calls are part of "
		"their callers' self time"},
	    {analysis->left_out_count, TP_NOTE_ID_COUNTED_LEFT_OUT,
		"left out: calls that were only counted have no call paths or times to select by"},
	    {analysis->unscaled_count, TP_NOTE_ID_UNSCALED,
		"with the recorded calls only: in a time range they cannot be scaled up, so "
		"calls and times are too low"},
	};
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (levels[i].count)
			tp_notes_add(notes, levels[i].id, levels[i].count,
			    "%" PRIu32 " function%s %s", levels[i].count,
			    tp_plural(levels[i].count), levels[i].what);
}

// What could not be written or is not there.
static void note_missing(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char text[TP_TEXT_NUMBER];
	char calls[TP_TEXT_NUMBER];
	char chunks[TP_TEXT_NUMBER];
	const struct tp_lacks *lacks = &analysis->trace->lacks;
	const uint64_t others = lacks->chunks - lacks->counted;
	if (lacks->counted)
		tp_notes_add(notes, TP_NOTE_ID_MISSING, lacks->events,
		    "%s events%s%s%s in %s chunk%s could not be written: times and counts are too "
		    "low",
		    tp_text_count(text, lacks->events), lacks->calls ? " and " : "",
		    lacks->calls ? tp_text_count(calls, lacks->calls) : "",
		    lacks->calls ? " counted calls" : "", tp_text_count(chunks, lacks->counted),
		    tp_plural(lacks->counted));
	if (others)
		tp_notes_add(notes, TP_NOTE_ID_MISSING, lacks->more,
		    "%s%s chunk%s missing from the file, with up to %s events: times and counts "
		    "are too low",
		    tp_text_count(chunks, others), lacks->counted ? " more" : "",
		    tp_by_count(others, " is", "s are"), tp_text_count(text, lacks->more));
	// A trace without an end is cut off or still being written, which another note reports.
	if (lacks->open && analysis->trace->has_end)
		tp_notes_add(notes, TP_NOTE_ID_MISSING, 1,
		    "chunks with an unknown number of events: times and counts are too low");
}

// Counts of the replay, each with what was counted.
// Calls that were running at the end, and where the first threads were.
static void note_open(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	const uint64_t open = analysis->counts.open;
	char text[TP_TEXT_NUMBER];
	struct tp_buf where;
	uint32_t threads = 0;
	bool unknown = false;
	if (!open)
		return;
	tp_buf_init(&where);
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		if (!thread->open_count)
			continue;
		unknown |= !thread->thread->ended && thread->last != thread->thread->until;
		if (threads++ >= OPEN_THREADS_SHOWN)
			continue;
		const struct tp_node *top =
		    &thread->profile.nodes[thread->open[thread->open_count - 1].node];
		tp_buf_addf(&where, "%sthread %" PRIu32 " in %s", threads > 1 ? ", " : ": ",
		    thread->thread->number,
		    tp_analysis_function(analysis, thread, top)->symbol.name);
	}
	if (threads > OPEN_THREADS_SHOWN)
		tp_buf_addf(&where, ", and %" PRIu32 " more", threads - OPEN_THREADS_SHOWN);
	tp_notes_add(notes, TP_NOTE_ID_OPEN, open, "%s call%s had not ended%s%s%s",
	    tp_text_count(text, open), tp_plural(open),
	    analysis->timeless ? ""
	    : !threads         ? ": times until their stack was left count"
	    : unknown          ? ": times until the last event of their thread count"
			       : ": times until their thread or the recording ended count",
	    where.failed || !where.size ? "" : where.data, threads ? "; see --view stacks" : "");
	tp_buf_release(&where);
}

static void note_counts(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	char text[TP_TEXT_NUMBER];
	const struct tp_stack_counts *counts = &analysis->counts;
	const struct {
		uint64_t count;
		enum tp_note_id id;
		const char *what;
	} counted[] = {
	    {counts->contexts, TP_NOTE_ID_CONTEXTS,
		"stacks besides the threads' own: calls on them start new call paths, not below "
		"the call that switched to them"},
	    {counts->left, TP_NOTE_ID_STACKS_LEFT,
		"stacks were left and never resumed: their calls end there"},
	    {counts->moved > counts->apart ? counts->moved - counts->apart : 0,
		TP_NOTE_ID_STACKS_MOVED,
		"times a stack moved to another thread: its calls continue there, and each "
		"thread gets the time that they ran in it"},
	    {counts->apart, TP_NOTE_ID_STACKS_APART,
		"times a stack moved to another thread, where its call paths start again"},
	    {analysis->lost, TP_NOTE_ID_LOST, "events: times and counts are too low"},
	    {counts->more, TP_NOTE_ID_MORE_PATHS,
		"calls came when their thread had all its call paths ('--max-paths'): they are "
		"those of [more paths], and the values of their functions, marked '>', are without "
		"them"},
	    {counts->cut, TP_NOTE_ID_CUT,
		"calls were running when recording was switched off: they count until then"},
	    {counts->early, TP_NOTE_ID_BEGAN_OFF,
		"exits of calls that began before recording was switched on are left out"},
	    {counts->forked, TP_NOTE_ID_BEGAN_FORKED,
		"exits belong to calls that began before the process was forked, and are in its "
		"parent's trace"},
	    {counts->overwritten, TP_NOTE_ID_BEGAN_OVERWRITTEN,
		"exits of calls that began in overwritten records are left out"},
	    {counts->dropped, TP_NOTE_ID_DROPPED, "records from when recording was switched off"},
	    {counts->left_out, TP_NOTE_ID_CUT_FUNCTIONS,
		"calls were running when their function was dropped: they count until then"},
	    {counts->came_back, TP_NOTE_ID_BEGAN_DROPPED,
		"exits of calls that began before their function was added are left out"},
	    {counts->unmatched_enters, TP_NOTE_ID_UNMATCHED_ENTERS, "calls without an exit"},
	    {counts->unmatched_exits, TP_NOTE_ID_UNMATCHED_EXITS, "exits without a call"},
	    {counts->unknown_resyncs, TP_NOTE_ID_UNKNOWN_RESYNCS, "resyncs to an unknown call"},
	    {counts->backwards, TP_NOTE_ID_BACKWARDS, "times that run backwards"},
	    {counts->holes, TP_NOTE_ID_HOLES, "words were never written"},
	    {counts->reserved, TP_NOTE_ID_RESERVED, "control records of an unknown kind"},
	    {counts->marks > TP_MARKS_MAX ? counts->marks - TP_MARKS_MAX : 0,
		TP_NOTE_ID_MARKS_LEFT_OUT, "marks and phases of the last threads are not shown"},
	};
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (counted[i].count)
			tp_notes_add(notes, counted[i].id, counted[i].count, "%s %s",
			    tp_text_count(text, counted[i].count), counted[i].what);
}

// A clock that knows more of short calls, as the end of a sentence.
static const char *better_clock(const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	if (!trace->has_clock)
		return "";
	if (TEEPERF_CLOCK_IS_SOFT(trace->clock.kind))
		return ", or with 'record --clock tsc'";
	return trace->clock.kind == TEEPERF_CLOCK_TSC ? ", or with 'record --clock tsc-ordered'"
						      : "";
}

// Self times of which less is known than they are long: +/- above 100 %.
static void note_unsure(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	uint32_t count = 0;
	// Those of single calls are as they were recorded.
	for (uint32_t i = 0; analysis->compensation.applied && i < analysis->function_count; i++)
		count += analysis->functions[i].uncertainty != UINT64_MAX &&
			 analysis->functions[i].uncertainty > analysis->functions[i].self;
	if (count)
		tp_notes_add(notes, TP_NOTE_ID_UNSURE, count,
		    "the self time%s of %" PRIu32
		    " function%s %s smaller than %s uncertainty: compare calls, or record fewer "
		    "functions ('teeperf allowlist generate')%s",
		    tp_plural(count), count, tp_plural(count), tp_by_count(count, "is", "are"),
		    tp_by_count(count, "its", "their"), better_clock(analysis));
}

static void note_starved(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	const struct tp_starvation *starvation = &analysis->starvation;
	char part[TP_TEXT_NUMBER];
	char text[TP_TEXT_NUMBER];
	if (starvation->clock_share >= TP_STARVATION_COARSE)
		tp_notes_add(notes, TP_NOTE_ID_COARSE_CLOCK, 1,
		    "times are coarse for %s of the run: the clock's thread had no processor for "
		    "up to %s; reserve one for it, or use a hardware clock",
		    tp_text_percent(part, starvation->clock_share),
		    tp_text_ns(text, analysis->trace->clock.max_gap_ns));
	if (!analysis->timeless && analysis->options.time == TP_TIME_WALL &&
	    tp_starvation_is_news(starvation))
		tp_notes_add(notes, TP_NOTE_ID_STARVED, 1,
		    "the program had a processor for %s of the time that it could run: %s of "
		    "its times are waits for one; give it more processors, or look at %s",
		    tp_text_percent(part, 1 - starvation->delay_share),
		    tp_text_ns(text, starvation->delay_ns),
		    starvation->told ? "--time cpu" : "calls");
}

// Who joins a program that runs already knows nothing of what its threads waited for until then.
static void note_late_waits(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	const uint64_t from = analysis->trace->sched.from;
	uint64_t longest = 0;
	uint32_t threads = 0;
	char text[TP_TEXT_NUMBER];
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		if (!thread->off || !thread->chunk_count || thread->chunks->first_time >= from)
			continue;
		const uint64_t off = from - thread->chunks->first_time;
		longest = off > longest ? off : longest;
		threads++;
	}
	if (threads)
		tp_notes_add(notes, TP_NOTE_ID_WAITS_LATE, threads,
		    "%" PRIu32
		    " thread%s recorded up to %s before the kernel reported switches: that time "
		    "counts as running",
		    threads, tp_plural(threads),
		    tp_text_ns(text, tp_timebase_ns(&analysis->time, longest)));
}

// Threads whose running and waiting is unknown. A trace that does not mention the reason is older,
// or recorded without these.
static void note_waits(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	char why[160];
	uint32_t unknown = 0;
	for (uint32_t i = 0; i < analysis->thread_count; i++)
		unknown +=
		    !analysis->threads[i].thread->off && analysis->threads[i].thread->chunk_count;
	if (unknown && tp_tracefile_host(trace, "sched", why, sizeof(why))) {
		tp_analysis_why_no_parts(trace, why, sizeof(why));
		tp_notes_add(notes, TP_NOTE_ID_NO_WAITS, unknown,
		    "running and waiting times are not known%s: %s",
		    unknown < analysis->thread_count ? " in some threads" : "", why);
	}
	note_late_waits(notes, analysis);
	if (trace->sched.lost)
		tp_notes_add(notes, TP_NOTE_ID_WAITS_LOST, trace->sched.lost,
		    "%" PRIu64 " thread switch%s %s lost: some waiting counts as running",
		    trace->sched.lost, tp_by_count(trace->sched.lost, "", "es"),
		    tp_by_count(trace->sched.lost, "was", "were"));
}

// Costs of recording that are not those of this program.
static void note_costs(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	const struct tp_compensation *compensation = &analysis->compensation;
	char all[TP_TEXT_NUMBER];
	char more[TP_TEXT_NUMBER];
	tp_text_ns(all, (compensation->in_ps + compensation->out_ps) / 1000);
	if (compensation->absurd && analysis->options.compensate)
		tp_notes_add(notes, TP_NOTE_ID_COST, 1,
		    "the recorder measured %s as the cost of a call, which no call has: the "
		    "machine was busy, and times are as recorded; record it again",
		    all);
	else if (compensation->applied && tp_compensation_is_far(compensation, &analysis->time))
		tp_notes_add(notes, TP_NOTE_ID_COST, 1,
		    "the cost of recording, %s a call as the recorder measured it, exceeds the "
		    "times of the functions by %s: times are too short; --raw shows them as "
		    "recorded, or record it again",
		    all, tp_text_ns(more, tp_timebase_ns(&analysis->time, compensation->missing)));
}

static void note_system(struct tp_notes *notes, const struct tp_tracefile *trace)
{
	const struct teeperf_trace_system *head = &trace->system.head;
	const struct {
		uint64_t count;
		const char *what;
	} lost[] = {
	    {head->lost_calls, "system calls"},
	    {head->lost_faults, "page faults"},
	    {head->lost_blocks, "requests to block devices"},
	    {head->lost_allocations, "kernel allocations"},
	    {head->lost_sgx, "calls of SGX functions"},
	    {head->lost_threads, "threads' system events"},
	    {trace->system.unknown, "system events of a newer version"},
	};
	char text[TP_TEXT_NUMBER];
	const uint32_t unknown = tp_host_threads_unknown(trace);
	const bool is_foreign = tp_tracefile_host(trace, "ids", text, sizeof(text)) && unknown;
	if (trace->system.has && is_foreign && unknown < trace->thread_count)
		tp_notes_add(notes, TP_NOTE_ID_SYSTEM_FOREIGN, trace->system.count,
		    "the kernel's events belong to the host's threads: no function of %" PRIu32
		    " of %" PRIu32
		    " threads is named, because the host threads that ran them are unknown",
		    unknown, trace->thread_count);
	else if (trace->system.has && is_foreign)
		tp_notes_add(notes, TP_NOTE_ID_SYSTEM_FOREIGN, trace->system.count,
		    "the kernel's events belong to the host's threads: no function is named, "
		    "because the recorded threads have different numbers");
	char why[256];
	if (tp_tracefile_host(trace, "sgx_refused", why, sizeof(why)))
		tp_notes_add(notes, TP_NOTE_ID_NO_SGX, 1, "there are no SGX events: %s", why);
	for (size_t i = 0; trace->system.has && i < sizeof(lost) / sizeof(lost[0]); i++)
		if (lost[i].count)
			tp_notes_add(notes, TP_NOTE_ID_SYSTEM_LOST, lost[i].count,
			    "%s %s are not shown: sums of the kernel's events are too low",
			    tp_text_count(text, lost[i].count), lost[i].what);
}

void tp_notes_init(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	memset(notes, 0, sizeof(*notes));
	tp_arena_init(&notes->arena);
	const bool nothing = !analysis->counts.events && !analysis->counts.counted;
	if (nothing && analysis->ranged)
		note_empty_range(notes, analysis);
	else if (nothing)
		tp_notes_add(notes, TP_NOTE_ID_EMPTY, 1, "%s", why_empty(analysis->trace));
	note_part(notes, analysis);
	note_switches(notes, analysis);
	note_selections(notes, analysis);
	note_budget(notes, analysis->trace);
	note_measured(notes, analysis);
	note_rings(notes, analysis);
	note_run(notes, analysis);
	note_levels(notes, analysis);
	note_counts(notes, analysis);
	note_open(notes, analysis);
	note_missing(notes, analysis);
	note_system(notes, analysis->trace);
	if (!analysis->time.known && !analysis->timeless)
		tp_notes_add(
		    notes, TP_NOTE_ID_TICKS, 1, "ticks: the rate of the clock is not known");
	note_costs(notes, analysis);
	note_starved(notes, analysis);
	note_waits(notes, analysis);
	note_unsure(notes, analysis);
}
