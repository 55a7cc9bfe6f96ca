// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which notes an analysis gets: the facts of which notes.def makes them.
#include "analyzer/output/notes.h"
#include "analyzer/output/text.h"
#include "analyzer/output/view.h"
#include "analyzer/trace/host_threads.h"
#include "analyzer/trace/marks.h"
#include "analyzer/trace/switches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Threads that the note 'open' names, and that have a note 'ring' of their own.
enum { OPEN_THREADS_SHOWN = 3, RINGS_SHOWN = 8 };
// Each thread may make a few records of a function while it is being switched off, and one for each
// call that runs.
enum { ON_WAY_EACH = 4 };

// What notes.def cannot take from the analysis as it is. Texts are in the arena of the notes.
struct facts {
	bool never_on;      // it was started switched off
	bool nothing;       // no event, and no counted call
	uint64_t lasted_ns; // the recording; 0: unknown
	uint64_t last;      // ticks from the first record to the first of the last chunk
	const char *focus;  // the patterns, quoted
	const char *ignore;
	// Switches of the whole recording: in ns, or in ticks if no rate is known.
	uint32_t off_times;
	bool off_at_first;
	uint64_t recorded;
	uint64_t duration;
	// Changes of the selection; all 0 without a clock.
	uint32_t changes;
	uint32_t changed; // functions that were recorded for a part of the time only
	const char *most; // of these, the one that took the most time, as a part of a sentence
	uint64_t on_way_usual;
	uint32_t windows_least; // of a function whose calls were estimated
	uint32_t windows_most;
	uint32_t measured; // functions with a cost of their own
	uint32_t timed;
	double budget;   // 0: none
	double overhead; // of the live budget; -1: unknown
	// A flight recorder.
	struct {
		const struct tp_thread *thread;
		uint64_t last; // ticks that it still has; 0: unknown
		uint64_t gone; // events
	} rings[RINGS_SHOWN];
	uint32_t ring_count;
	uint64_t rings_more; // threads, and their events
	uint64_t rings_more_gone;
	uint64_t rings_whole; // threads of which nothing is left, and their chunks
	uint64_t rings_whole_gone;
	const char *where; // open calls are, of the first threads
	bool end_unknown;  // of a thread with open calls
	uint32_t foreign;  // threads of which the kernel's events do not tell the function
	uint32_t waitless; // threads whose waiting is unknown
	const char *waitless_why;
	uint32_t late; // threads that recorded before the kernel reported switches
	uint64_t late_ticks;
	uint32_t unsure; // self times that are smaller than their uncertainty
};

struct fact {
	uint64_t number;
	const char *text; // NULL: the number
};

struct words {
	const char *text;
	struct fact a, b, c, d;
};

static const char *keep(struct tp_notes *notes, const char *text)
{
	const char *copy = tp_arena_copy(&notes->arena, text, strlen(text));
	notes->failed |= !copy;
	return copy ? copy : "";
}

static const char *keep_buf(struct tp_notes *notes, struct tp_buf *buf)
{
	const char *copy = keep(notes, buf->failed || !buf->size ? "" : buf->data);
	notes->failed |= buf->failed;
	tp_buf_release(buf);
	return copy;
}

// A word in braces (notes.def); AT is behind the first one. Returns where it ends.
static const char *fill_one(
    struct tp_buf *out, const char *at, uint64_t count, const struct words *words)
{
	const char *end = strchr(at, '}');
	const struct fact facts[] = {words->a, words->b, words->c, words->d};
	struct fact fact = {.number = count};
	char number[TP_TEXT_NUMBER];
	if (*at >= 'a' && *at <= 'd')
		fact = facts[*at++ - 'a'];
	if (*at == '?') {
		const char *bar = strchr(++at, '|');
		if (fact.number == 1)
			tp_buf_add(out, at, (size_t)(bar - at));
		else
			tp_buf_add(out, bar + 1, (size_t)(end - bar - 1));
	} else {
		tp_buf_add_string(out, fact.text ? fact.text : tp_text_count(number, fact.number));
	}
	return end + 1;
}

static const char *fill(struct tp_notes *notes, uint64_t count, const struct words *words)
{
	struct tp_buf out;
	tp_buf_init(&out);
	for (const char *at = words->text; *at;) {
		const size_t plain = strcspn(at, "{");
		tp_buf_add(&out, at, plain);
		at += plain;
		if (*at)
			at = fill_one(&out, at + 1, count, words);
	}
	return keep_buf(notes, &out);
}

// The words of notes.def.
#define WORDS(...) (&(const struct words){.text = __VA_ARGS__})
#define FILL(...) fill(notes, 0, WORDS(__VA_ARGS__))
#define N(value) ((struct fact){.number = (value)})
#define S(value) ((struct fact){.text = (value)})
#define PLAIN(value) S(plain(notes, value))
#define NS(value) S(keep(notes, tp_text_ns(text, value)))
#define TIME(value) S(keep(notes, tp_view_time(analysis, text, value)))
#define SHARE(value) S(keep(notes, tp_text_percent(text, value)))
#define HAS(key) (host(notes, trace, key) != NULL)
#define HOST_TEXT(key) host(notes, trace, key)
#define HOST(key) host_number(trace, key)

static const char *list(struct tp_notes *notes, const char *const *patterns, uint32_t count)
{
	struct tp_buf out;
	tp_buf_init(&out);
	for (uint32_t i = 0; i < count; i++)
		tp_buf_addf(&out, "%s'%s'", i ? ", " : "", patterns[i]);
	return keep_buf(notes, &out);
}

static void find_length(struct facts *f, const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	const struct teeperf_trace_end *end = &trace->end;
	f->nothing = !analysis->counts.events && !analysis->counts.counted;
	if (trace->has_end && end->end_ns > end->start_ns)
		f->lasted_ns = end->end_ns - end->start_ns;
	for (uint64_t i = 0; i < trace->chunk_count; i++)
		if (trace->chunks[i].first_time > f->last)
			f->last = trace->chunks[i].first_time;
	f->last = f->last > analysis->origin ? f->last - analysis->origin : 0;
	char word[8];
	f->never_on = !trace->gaps.count &&
		      tp_tracefile_host(trace, "on_start", word, sizeof(word)) &&
		      !strcmp(word, "off");
	f->off_times = tp_gaps_switches(&trace->gaps, &f->off_at_first);
	f->recorded = tp_analysis_recorded_ns(analysis);
	f->duration = tp_analysis_duration_ns(analysis);
}

// What the recorder wrote of a share is not believed if it is no number.
static double share_of(const struct tp_tracefile *trace, const char *key, double least, double most)
{
	char value[32];
	const double share =
	    tp_tracefile_host(trace, key, value, sizeof(value)) ? strtod(value, NULL) : -1;
	return share >= least && share < most ? share : -1;
}

// Functions that were recorded for a part of the run, and those with numbers of their own.
static void find_functions(
    struct tp_notes *notes, struct facts *f, const struct tp_analysis *analysis)
{
	const struct tp_function *most = NULL;
	char share[TP_TEXT_NUMBER];
	f->changes = analysis->timeless ? 0 : analysis->trace->selections.count;
	f->windows_least = UINT32_MAX;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_function *function = &analysis->functions[i];
		const struct tp_function_estimate *estimate = &function->estimate;
		f->measured += function->cost != NULL;
		f->timed += tp_function_timed(function) != 0;
		// Those of single calls are as they were recorded.
		f->unsure += analysis->compensation.applied &&
			     function->uncertainty != UINT64_MAX &&
			     function->uncertainty > function->self;
		if (estimate->has_calls && estimate->windows < f->windows_least)
			f->windows_least = estimate->windows;
		if (estimate->has_calls && estimate->windows > f->windows_most)
			f->windows_most = estimate->windows;
		if (!function->selected ||
		    function->selected == &analysis->trace->selections.unknown)
			continue;
		f->changed++;
		most = !most || function->self > most->self ? function : most;
	}
	f->most = "";
	if (most && f->changes)
		f->most = FILL(", {a?|among them }{b} for {c} of the time", N(f->changed),
		    S(most->symbol.name),
		    S(tp_text_percent(share, tp_analysis_selected_share(analysis, most))));
	f->on_way_usual = analysis->counts.left_out + analysis->counts.came_back +
			  (uint64_t)ON_WAY_EACH * analysis->thread_count * f->changes;
}

// A flight recorder: nothing of this is a loss.
static void find_rings(struct facts *f, const struct tp_analysis *analysis)
{
	for (uint32_t i = 0; analysis->trace->rings && i < analysis->thread_count; i++) {
		const struct tp_thread_result *result = &analysis->threads[i];
		const struct tp_thread *thread = result->thread;
		const uint64_t gone = tp_analysis_overwritten(analysis, thread);
		if (!thread->overwritten)
			continue;
		if (!thread->chunk_count) {
			f->rings_whole++;
			f->rings_whole_gone += thread->overwritten;
		} else if (f->ring_count < RINGS_SHOWN) {
			f->rings[f->ring_count].thread = thread;
			f->rings[f->ring_count].gone = gone;
			if (result->last > result->first && !analysis->timeless)
				f->rings[f->ring_count].last = result->last - result->first;
			f->ring_count++;
		} else {
			f->rings_more++;
			f->rings_more_gone += gone;
		}
	}
}

// Calls that were running at the end, and where the first threads were.
static void find_open(struct tp_notes *notes, struct facts *f, const struct tp_analysis *analysis)
{
	struct tp_buf where;
	uint32_t threads = 0;
	tp_buf_init(&where);
	for (uint32_t i = 0; analysis->counts.open && i < analysis->thread_count; i++) {
		const struct tp_thread_result *thread = &analysis->threads[i];
		if (!thread->open_count)
			continue;
		f->end_unknown |= !thread->thread->ended && thread->last != thread->thread->until;
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
	f->where = keep_buf(notes, &where);
}

// Threads of which the kernel's reports are incomplete. Whoever attaches to a program does not know
// what its threads waited for until then.
static void find_waits(struct tp_notes *notes, struct facts *f, const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	const uint64_t from = trace->sched.from;
	char why[160];
	for (uint32_t i = 0; i < analysis->thread_count; i++) {
		const struct tp_thread *thread = analysis->threads[i].thread;
		f->waitless += !thread->off && thread->chunk_count;
		if (!thread->off || !thread->chunk_count || thread->chunks->first_time >= from)
			continue;
		f->late++;
		if (from - thread->chunks->first_time > f->late_ticks)
			f->late_ticks = from - thread->chunks->first_time;
	}
	tp_analysis_why_no_parts(trace, why, sizeof(why));
	f->waitless_why = keep(notes, why);
	if (trace->system.has && tp_tracefile_host(trace, "ids", why, sizeof(why)))
		f->foreign = tp_host_threads_unknown(trace);
}

static const char *host(struct tp_notes *notes, const struct tp_tracefile *trace, const char *key)
{
	char value[256];
	return tp_tracefile_host(trace, key, value, sizeof(value)) ? keep(notes, value) : NULL;
}

static uint64_t host_number(const struct tp_tracefile *trace, const char *key)
{
	char value[32];
	return tp_tracefile_host(trace, key, value, sizeof(value)) ? strtoull(value, NULL, 10) : 0;
}

static bool has(const struct tp_notes *notes, enum tp_note_id id)
{
	for (uint32_t i = 0; i < notes->count; i++)
		if (notes->items[i].kind == &tp_note_kinds[id])
			return true;
	return false;
}

static void say(
    struct tp_notes *notes, enum tp_note_id id, uint64_t count, const struct words *words)
{
	tp_notes_add(notes, id, count, "%s", fill(notes, count, words));
}

#define TP_SAY(name, when, count, ...) \
	if (when)                      \
		say(notes, TP_NOTE_ID_##name, count, WORDS(__VA_ARGS__));
#define TP_OR(name, when, count, ...) \
	TP_SAY(name, (when) && !has(notes, TP_NOTE_ID_##name), count, __VA_ARGS__)
#define TP_COUNT(name, count, ...) TP_SAY(name, (count) != 0, count, __VA_ARGS__)
#define TP_EACH(name, number, count, ...)       \
	for (uint32_t i = 0; i < (number); i++) \
		say(notes, TP_NOTE_ID_##name, count, WORDS(__VA_ARGS__));

static const char *plain(struct tp_notes *notes, uint64_t number)
{
	char text[TP_TEXT_NUMBER];
	snprintf(text, sizeof(text), "%" PRIu64, number);
	return keep(notes, text);
}

static void say_all(
    struct tp_notes *notes, const struct facts *f, const struct tp_analysis *analysis)
{
	const struct tp_tracefile *trace = analysis->trace;
	const struct teeperf_trace_end *end = &trace->end;
	const struct tp_stack_counts *counts = &analysis->counts;
	const struct tp_analysis_options *options = &analysis->options;
	const struct tp_compensation *costs = &analysis->compensation;
	const struct tp_starvation *starvation = &analysis->starvation;
	const struct teeperf_trace_system *kernel = &trace->system.head;
	char text[TP_TEXT_NUMBER];
#include "analyzer/output/notes.def"
}

void tp_notes_init(struct tp_notes *notes, const struct tp_analysis *analysis)
{
	struct facts f = {
	    .budget = share_of(analysis->trace, "budget", 0, 1),
	    .overhead = share_of(analysis->trace, "budget_overhead", 0, 1000),
	};
	memset(notes, 0, sizeof(*notes));
	tp_arena_init(&notes->arena);
	f.focus = list(notes, analysis->options.focus, analysis->options.focus_count);
	f.ignore = list(notes, analysis->options.ignore, analysis->options.ignore_count);
	find_length(&f, analysis);
	find_functions(notes, &f, analysis);
	find_rings(&f, analysis);
	find_open(notes, &f, analysis);
	find_waits(notes, &f, analysis);
	say_all(notes, &f, analysis);
}
