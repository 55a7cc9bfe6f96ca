// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The marks of a trace, and ranges of time between them.
#define _GNU_SOURCE
#include "marks.h"

#include "common/array.h"
#include "common/buf.h"
#include "common/chunks/records.h"
#include "common/clean.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
	OPEN_MAX = 1 << 16, // phases of a thread that are open: of more, the older half never ends
	// A phase that ends is among the last ones: a hostile trace could make us search a deep
	// stack again and again.
	SEARCH_MAX = 1000,
};
#define LEFT_OUT UINT32_MAX
// Names in an error.
enum { NAMED_MAX = 20 };

// A phase that has begun.
struct open_phase {
	uint64_t name;   // hash
	uint32_t number; // of marks->items; LEFT_OUT: it is not among them
};

struct scan {
	struct tp_marks *marks;
	uint32_t thread;
	uint64_t last; // time of the record before
	// The mark whose name is being read.
	struct tp_mark mark;
	uint32_t control; // of it, 0: there is none
	uint32_t length;  // of its name so far
	// Phases that are open, the last one on top.
	struct open_phase *open;
	uint32_t depth;
	uint32_t room;
	int code;
};

// Where text ends that was cut behind END bytes, and maybe within a character.
static uint32_t end_of_characters(const char *text, uint32_t end)
{
	uint32_t lead = end;
	while (lead && end - lead < 3 && !tp_begins_character(text[lead - 1]))
		lead--;
	const unsigned char first = lead ? (unsigned char)text[lead - 1] : 0;
	const uint32_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
	return size > end - lead + 1 ? lead - 1 : end;
}

static void name_it(struct tp_mark *mark, uint32_t length)
{
	uint32_t end = length < TEEPERF_MARK_NAME ? length : TEEPERF_MARK_NAME;
	mark->cut = length > TEEPERF_MARK_NAME;
	if (mark->cut)
		end = end_of_characters(mark->name, end);
	mark->name[end] = '\0';
	end = (uint32_t)strlen(mark->name);
	tp_clean(mark->name, end);
	if (!end)
		memcpy(mark->name, "unnamed", sizeof("unnamed"));
}

static bool keep(struct tp_marks *marks, const struct tp_mark *mark)
{
	if (marks->count >= TP_MARKS_MAX) {
		marks->left_out++;
		return true;
	}
	if (!TP_GROW(marks->items, marks->room, marks->count + 1))
		return false;
	marks->items[marks->count] = *mark;
	marks->items[marks->count].number = (uint32_t)marks->count;
	marks->count++;
	return true;
}

// A phase begins: NUMBER of marks->items. False: out of memory.
static bool begin_phase(struct scan *scan, uint32_t number)
{
	if (scan->depth == OPEN_MAX) {
		scan->depth /= 2;
		memmove(scan->open, scan->open + scan->depth, scan->depth * sizeof(*scan->open));
	}
	if (!TP_GROW(scan->open, scan->room, scan->depth + UINT64_C(1)))
		return false;
	scan->open[scan->depth++] = (struct open_phase){tp_hash_text(scan->mark.name), number};
	return true;
}

// A phase ends: the last one of that name. False: it has not begun.
static bool end_phase(struct scan *scan)
{
	const uint64_t name = tp_hash_text(scan->mark.name);
	const uint32_t low = scan->depth > SEARCH_MAX ? scan->depth - SEARCH_MAX : 0;
	for (uint32_t i = scan->depth; i-- > low;) {
		const struct open_phase *phase = &scan->open[i];
		struct tp_mark *mark =
		    phase->number == LEFT_OUT ? NULL : &scan->marks->items[phase->number];
		if (phase->name != name || (mark && strcmp(mark->name, scan->mark.name) != 0))
			continue;
		if (mark)
			mark->end = scan->mark.time;
		scan->depth = i;
		return true;
	}
	return false;
}

// The name of the mark is complete.
static void finish(struct scan *scan)
{
	struct tp_mark *mark = &scan->mark;
	const uint32_t control = scan->control;
	if (!control)
		return;
	scan->control = 0;
	name_it(mark, scan->length);
	if (control == TEEPERF_CONTROL_PHASE_END && end_phase(scan))
		return;
	mark->kind = control == TEEPERF_CONTROL_PHASE_BEGIN ? TP_MARK_PHASE
		     : control == TEEPERF_CONTROL_PHASE_END ? TP_MARK_END
							    : TP_MARK_MOMENT;
	mark->end = mark->kind == TP_MARK_PHASE ? TP_MARK_OPEN : mark->time;
	const uint32_t number = (uint32_t)scan->marks->count;
	if (!keep(scan->marks, mark) ||
	    (mark->kind == TP_MARK_PHASE &&
		!begin_phase(scan, scan->marks->count > number ? number : LEFT_OUT)))
		scan->code = TP_ERR_MEMORY;
}

static void begin(struct scan *scan, uint32_t control, uint64_t time)
{
	scan->control = control;
	scan->length = 0;
	scan->mark = (struct tp_mark){.time = time, .thread = scan->thread, .timed = true};
}

static void add_text(struct scan *scan, uint32_t piece)
{
	for (int i = 0; i < 4 && scan->control; i++) {
		const char c = (char)(piece >> 8 * i);
		// Zeroes are behind the name.
		if (!c || scan->length > TEEPERF_MARK_NAME)
			return;
		if (scan->length < TEEPERF_MARK_NAME)
			scan->mark.name[scan->length] = c;
		scan->length++;
	}
}

static void scan_words(struct scan *scan, struct tp_record_cursor at)
{
	for (struct tp_record record; !scan->code && tp_record_next(&at, &record);) {
		if (record.tagged == TEEPERF_CONTROL_TEXT)
			add_text(scan, record.value);
		if (record.tagged == TEEPERF_CONTROL_TEXT || record.form == TP_RECORD_HIGH ||
		    record.tagged == TEEPERF_CONTROL_PAD)
			continue;
		finish(scan);
		if (record.timed && record.form != TP_RECORD_BORDER && record.time > scan->last)
			scan->last = record.time;
		if (record.form == TP_RECORD_NAMED)
			begin(scan, record.tagged, scan->last);
	}
}

static int scan_thread(
    struct scan *scan, struct tp_chunk_reader *reader, const struct tp_thread *thread)
{
	struct tp_err ignored;
	scan->depth = 0;
	scan->last = 0;
	for (uint64_t i = 0; i < thread->chunk_count && !scan->code; i++) {
		const struct tp_chunk *chunk = &thread->chunks[i];
		const int code = tp_chunk_reader_read(reader, chunk, &ignored);
		if (code == TP_ERR_MEMORY)
			return code;
		// The replay of the thread reports the damage.
		if (code)
			break;
		scan_words(
		    scan, tp_records_begin(reader->words, chunk->word_count, chunk->first_time));
	}
	finish(scan);
	return scan->code;
}

static int add_outside(struct tp_marks *marks, const struct tp_tracefile *trace)
{
	struct tp_timebase base;
	tp_timebase_init(&base, &trace->clock, trace->points);
	const struct tp_section_parts *kept = &trace->kept[TEEPERF_SECTION_MARKS];
	const struct teeperf_trace_mark *from = kept->items;
	for (uint32_t i = 0; i < kept->count; i++, from++) {
		struct tp_mark mark = {
		    .time = UINT64_MAX,
		    .thread = TP_MARK_OUTSIDE,
		    .kind = TP_MARK_MOMENT,
		    .timed = base.has_origin,
		};
		if (mark.timed)
			mark.time = tp_timebase_find(
			    &base, &trace->clock, trace->points, from->monotonic_ns);
		mark.end = mark.time;
		memcpy(mark.name, from->name, sizeof(from->name));
		name_it(&mark, (uint32_t)strnlen(from->name, sizeof(from->name)));
		if (!keep(marks, &mark))
			return TP_ERR_MEMORY;
	}
	return 0;
}

static int compare(const void *a, const void *b, void *items)
{
	(void)items;
	const struct tp_mark *x = a;
	const struct tp_mark *y = b;
	const int times = TP_COMPARE(x->time, y->time);
	const int threads = TP_COMPARE(x->thread, y->thread);
	return times ? times : threads ? threads : TP_COMPARE(x->number, y->number);
}

int tp_marks_read(struct tp_marks *marks, const struct tp_tracefile *trace, const bool *wanted,
    struct tp_err *err)
{
	struct tp_chunk_reader reader;
	struct scan scan = {.marks = marks};
	*marks = (struct tp_marks){0};
	int code = tp_chunk_reader_init(&reader, trace, err);
	if (code)
		goto out;
	// Of these there are few, and none is to be left out for others.
	code = add_outside(marks, trace);
	for (uint32_t i = 0; i < trace->thread_count && !code; i++) {
		scan.thread = i;
		if (!wanted || wanted[i])
			code = scan_thread(&scan, &reader, &trace->threads[i]);
	}
	if (trace->has_clock && trace->clock.kind == TEEPERF_CLOCK_NONE)
		for (uint64_t i = 0; i < marks->count; i++)
			marks->items[i].timed = false;
	else if (marks->count)
		qsort_r(marks->items, marks->count, sizeof(*marks->items), compare, NULL);
	if (code)
		tp_err_memory(err, trace->source.name);
out:
	free(scan.open);
	tp_chunk_reader_release(&reader);
	return code;
}

void tp_marks_release(struct tp_marks *marks)
{
	free(marks->items);
	*marks = (struct tp_marks){0};
}

const char *tp_mark_kind_name(const struct tp_mark *mark)
{
	static const char *const names[] = {"mark", "phase", "end"};
	return names[mark->kind];
}

// ---- ranges

static bool is_called(const struct tp_mark *mark, const char *name, size_t length)
{
	return mark->timed && strlen(mark->name) == length && memcmp(mark->name, name, length) == 0;
}

// The mark of that name, or "NAME#N", from number FIRST on; of phases only those, if so wanted.
// NULL: there is none.
static const struct tp_mark *find(
    const struct tp_marks *marks, uint64_t first, const char *name, size_t length, bool phases)
{
	for (uint64_t i = first; i < marks->count; i++)
		if (is_called(&marks->items[i], name, length) &&
		    (!phases || marks->items[i].kind == TP_MARK_PHASE))
			return &marks->items[i];
	const char *hash = memrchr(name, '#', length);
	char *end;
	const uint64_t wanted = hash && hash + 1 < name + length && hash[1] >= '1' && hash[1] <= '9'
				    ? strtoull(hash + 1, &end, 10)
				    : 0;
	if (!wanted || end != name + length)
		return NULL;
	uint64_t seen = 0;
	for (uint64_t i = 0; i < marks->count; i++) {
		const struct tp_mark *mark = &marks->items[i];
		if (is_called(mark, name, (size_t)(hash - name)) &&
		    (!phases || mark->kind == TP_MARK_PHASE) && ++seen == wanted)
			return i >= first ? mark : NULL;
	}
	return NULL;
}

static bool was_named(const struct tp_marks *marks, uint64_t at)
{
	for (uint64_t i = 0; i < at; i++)
		if (strcmp(marks->items[i].name, marks->items[at].name) == 0)
			return true;
	return false;
}

// The different names, some of them.
static void add_names(const struct tp_marks *marks, struct tp_buf *out)
{
	uint32_t count = 0;
	// A name may come a hundred thousand times: a look at the first ones has to do.
	const uint64_t looked = marks->count < 4096 ? marks->count : 4096;
	for (uint64_t i = 0; i < looked; i++) {
		if (!marks->items[i].timed || was_named(marks, i))
			continue;
		if (count == NAMED_MAX) {
			tp_buf_add_string(out, ", ...");
			return;
		}
		tp_buf_addf(out, "%s'%s'", count++ ? ", " : "", marks->items[i].name);
	}
}

static int refuse(const struct tp_marks *marks, const char *file, struct tp_err *err,
    const char *name, size_t length, const char *why)
{
	struct tp_buf names;
	tp_buf_init(&names);
	add_names(marks, &names);
	const int code =
	    names.size ? tp_err_set(err, TP_ERR_NOT_FOUND, file,
			     "--time-range: no %s '%.*s'; the trace has %s", why, (int)length, name,
			     names.data)
		       : tp_err_set(err, TP_ERR_NOT_FOUND, file,
			     "--time-range: no %s '%.*s': the trace has no marks; set them with "
			     "teeperf_mark() or 'teeperf ctl mark'",
			     why, (int)length, name);
	tp_buf_release(&names);
	return code;
}

static uint64_t number_of(const struct tp_marks *marks, const struct tp_mark *mark)
{
	return (uint64_t)(mark - marks->items);
}

// "A..B", cut at DOTS. *WRONG: the missing part, and *WHY: what it should be.
static bool between(const struct tp_marks *marks, const char *range, const char *dots,
    uint64_t *from, uint64_t *to, const char **wrong, size_t *length, const char **why)
{
	uint64_t next = 0;
	const char *last = dots + 2;
	*from = 0;
	*to = UINT64_MAX;
	if (dots > range) {
		const struct tp_mark *first = find(marks, 0, range, (size_t)(dots - range), false);
		if (!first) {
			*wrong = range;
			*length = (size_t)(dots - range);
			*why = "mark";
			return false;
		}
		*from = first->time;
		next = number_of(marks, first) + 1;
	}
	if (strncmp(last, "mark:", 5) == 0)
		last += 5;
	if (!*last)
		return true;
	const struct tp_mark *second = find(marks, next, last, strlen(last), false);
	// A mark that is set twice in one tick would not make a range.
	while (second && second->time <= *from && !strchr(last, '#'))
		second = find(marks, number_of(marks, second) + 1, last, strlen(last), false);
	if (!second || second->time <= *from) {
		*wrong = last;
		*length = strlen(last);
		*why = next ? "mark after the first one named" : "mark";
		return false;
	}
	*to = second->time;
	return true;
}

int tp_marks_range(const struct tp_marks *marks, const char *range, const char *file,
    uint64_t *from, uint64_t *to, struct tp_err *err)
{
	const char *wrong = range;
	size_t length = strlen(range);
	const char *why = "finished phase named";
	const struct tp_mark *phase = find(marks, 0, range, length, true);
	while (phase && phase->end == TP_MARK_OPEN && !strchr(range, '#'))
		phase = find(marks, number_of(marks, phase) + 1, range, length, true);
	if (phase && phase->end != TP_MARK_OPEN) {
		*from = phase->time;
		*to = phase->end;
		return 0;
	}
	// Names may have dots, too.
	for (const char *dots = strstr(range, ".."); dots; dots = strstr(dots + 1, ".."))
		if (between(marks, range, dots, from, to, &wrong, &length, &why))
			return 0;
	return refuse(marks, file, err, wrong, length, why);
}
