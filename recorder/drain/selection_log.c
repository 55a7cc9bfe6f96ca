// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions record, as asked for while the recording runs, and since when the program has
// obeyed.
#include "drain.h"

#include <stdlib.h>
#include <string.h>

void tp_selection_log_init(struct tp_selection_log *log)
{
	*log = (struct tp_selection_log){.lock = PTHREAD_MUTEX_INITIALIZER};
	tp_buf_init(&log->entries);
	tp_buf_init(&log->asked);
	tp_buf_init(&log->windows);
}

void tp_selection_log_release(struct tp_selection_log *log)
{
	tp_buf_release(&log->entries);
	tp_buf_release(&log->asked);
	tp_buf_release(&log->windows);
	free(log->hashes);
	log->hashes = NULL;
}

struct hashes {
	const uint64_t *items;
	uint32_t count;
};

// Of two ascending lists, into TO: hashes that are in the first alone, in both, and in the second
// alone, as wanted.
static uint32_t combine(
    uint64_t *to, struct hashes a, struct hashes b, bool first, bool both, bool second)
{
	uint32_t count = 0;
	for (uint32_t i = 0, j = 0; i < a.count || j < b.count;) {
		const bool has_a = i < a.count && (j == b.count || a.items[i] <= b.items[j]);
		const bool has_b = j < b.count && (i == a.count || b.items[j] <= a.items[i]);
		const uint64_t hash = has_a ? a.items[i] : b.items[j];
		if (has_a && has_b ? both : has_a ? first : second)
			to[count++] = hash;
		i += has_a;
		j += has_b;
	}
	return count;
}

// The entries of a selection whose list is NOW, where it was BEFORE. False: no memory.
static bool add_entries(
    struct tp_buf *entries, uint64_t word, struct hashes before, struct hashes now)
{
	uint64_t *changed = malloc(((size_t)before.count + now.count + 1) * sizeof(*changed));
	if (!changed)
		return false;
	const uint32_t count = combine(changed, before, now, true, false, true);
	struct teeperf_trace_selection entry = {
	    .number = TEEPERF_SELECTION_NUMBER(word), .only = TEEPERF_SELECTION_ONLY(word)};
	tp_buf_add(entries, &entry, sizeof(entry));
	for (uint32_t i = 0; i < count; i++) {
		entry.hash = changed[i];
		tp_buf_add(entries, &entry, sizeof(entry));
	}
	free(changed);
	return !entries->failed;
}

// What recording began with, before anything else was asked for.
static bool begin(struct tp_selection_log *log, const struct tp_region *region)
{
	const struct hashes first = {region->only, region->only_count};
	log->hashes = malloc(((size_t)first.count + 1) * sizeof(*log->hashes));
	if (!log->hashes)
		return false;
	memcpy(log->hashes, first.items, first.count * sizeof(*log->hashes));
	log->count = first.count;
	log->only = region->only_kind;
	return add_entries(&log->asked, TEEPERF_SELECTION(0, log->only, first.count),
	    (struct hashes){NULL, 0}, first);
}

// What the list is to be: into TO, which has room for both. Returns its kind.
static enum teeperf_only change(const struct tp_selection_log *log, enum tp_selection_verb verb,
    const struct tp_region_only *wanted, uint64_t *to, uint32_t *count)
{
	const struct hashes now = {log->hashes, log->count};
	const struct hashes named = {wanted->hashes, wanted->count};
	const struct hashes none = {NULL, 0};
	if (verb == TP_SELECTION_ONLY) {
		*count = combine(to, named, none, true, true, true);
		return wanted->kind;
	}
	const bool add = verb == TP_SELECTION_ADD;
	if (log->only == TEEPERF_ONLY_ALL) {
		*count = add ? 0 : combine(to, named, none, true, true, true);
		return add ? TEEPERF_ONLY_ALL : TEEPERF_ONLY_REST;
	}
	const bool grows = add == (log->only == TEEPERF_ONLY_LISTED);
	*count = combine(to, now, named, true, grows, grows);
	return (enum teeperf_only)log->only;
}

static int ask(struct tp_selection_log *log, struct tp_region *region, enum tp_selection_verb verb,
    const struct tp_region_only *wanted, struct tp_err *err)
{
	struct teeperf_log_header *header = region->header;
	if (!log->hashes && !begin(log, region))
		return tp_err_memory(err, NULL);
	uint64_t *list = malloc(((size_t)log->count + wanted->count + 1) * sizeof(*list));
	if (!list)
		return tp_err_memory(err, NULL);
	uint32_t count;
	const enum teeperf_only only = change(log, verb, wanted, list, &count);
	if (count > region->selection_capacity) {
		free(list);
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "the list would have %u functions, but the log has room for %u: choose fewer, "
		    "or name the functions to leave out",
		    count, region->selection_capacity);
	}
	const uint64_t word =
	    TEEPERF_SELECTION(TEEPERF_SELECTION_NUMBER(log->word) + 1, only, count);
	const struct hashes before = {log->hashes, log->count};
	if (!add_entries(&log->asked, word, before, (struct hashes){list, count})) {
		free(list);
		return tp_err_memory(err, NULL);
	}
	uint64_t *to =
	    region->selection + TEEPERF_SELECTION_LIST(word) * region->selection_capacity;
	for (uint32_t i = 0; i < count; i++)
		tp_store_relaxed(&to[i], list[i]);
	free(log->hashes);
	log->hashes = list;
	log->count = count;
	log->only = only;
	log->word = word;
	tp_store_release(&header->selection, word);
	return 0;
}

int tp_selection_ask(struct tp_selection_log *log, struct tp_region *region,
    enum tp_selection_verb verb, const struct tp_region_only *wanted, struct tp_err *err)
{
	const struct teeperf_log_header *header = region->header;
	pthread_mutex_lock(&log->lock);
	// Before a program has come nobody reads the lists: then the last choice may be changed at
	// will.
	const bool has_come = tp_load_acquire(&header->pid) || tp_load_acquire(&header->selected);
	const int r =
	    log->word != log->obeyed && has_come
		? tp_err_set(err, TP_ERR_LIMIT, NULL,
		      "the program has not read the last selection yet: try again when it has (see "
		      "'teeperf ctl status'); with 'record --control' or a call of teeperf_poll() "
		      "it reads it at once")
		: ask(log, region, verb, wanted, err);
	pthread_mutex_unlock(&log->lock);
	return r;
}

bool tp_selection_is_obeyed(struct tp_selection_log *log)
{
	pthread_mutex_lock(&log->lock);
	const bool obeyed = log->word == log->obeyed;
	pthread_mutex_unlock(&log->lock);
	return obeyed;
}

void tp_selection_note_window(struct tp_selection_log *log)
{
	// Only now: the trace of a recorder that is killed has no windows whose end is not known.
	pthread_mutex_lock(&log->lock);
	const struct teeperf_trace_window window = {
	    .selection = TEEPERF_SELECTION_NUMBER(log->obeyed) - 1};
	tp_buf_add(&log->windows, &window, sizeof(window));
	pthread_mutex_unlock(&log->lock);
}

uint64_t tp_selection_windows_bytes(struct tp_selection_log *log)
{
	pthread_mutex_lock(&log->lock);
	const uint64_t bytes = log->windows.size;
	pthread_mutex_unlock(&log->lock);
	return bytes;
}

bool tp_selection_log_follow(struct tp_selection_log *log, const struct teeperf_log_header *header)
{
	pthread_mutex_lock(&log->lock);
	const bool obeyed =
	    log->word != log->obeyed && tp_load_acquire(&header->selected) == log->word;
	if (obeyed) {
		const uint64_t time = tp_load_relaxed(&header->selected_time);
		struct teeperf_trace_selection *entries = (void *)log->asked.data;
		for (size_t i = 0; i < log->asked.size / sizeof(*entries); i++)
			entries[i].time = entries[i].number ? time : 0;
		tp_buf_add(&log->entries, log->asked.data, log->asked.size);
		tp_buf_reset(&log->asked);
		log->obeyed = log->word;
	}
	pthread_mutex_unlock(&log->lock);
	return obeyed;
}

static bool ascends(struct hashes list)
{
	for (uint32_t i = 1; i < list.count; i++)
		if (list.items[i] <= list.items[i - 1])
			return false;
	return true;
}

// The list that COUNT entries lead to, to be freed, and in *last the number of its selection; NULL:
// they are damaged, or there is no memory.
static uint64_t *replay(const struct teeperf_trace_selection *entries, size_t count,
    struct hashes *list, uint32_t *last)
{
	uint64_t *now = malloc((count + 1) * sizeof(*now));
	uint64_t *next = malloc((count + 1) * sizeof(*next));
	uint64_t *changed = malloc((count + 1) * sizeof(*changed));
	uint32_t length = 0;
	bool good = now && next && changed;
	for (size_t i = 0; good && i < count;) {
		struct hashes part = {changed, 0};
		*last = entries[i].number;
		for (i++; i < count && entries[i].hash; i++)
			changed[part.count++] = entries[i].hash;
		good = ascends(part);
		if (!good)
			break;
		length = combine(next, (struct hashes){now, length}, part, true, false, true);
		uint64_t *swap = now;
		now = next;
		next = swap;
	}
	free(next);
	free(changed);
	if (!good) {
		free(now);
		return NULL;
	}
	*list = (struct hashes){now, length};
	return now;
}

uint64_t tp_selection_log_recover(struct tp_buf *out, const struct tp_buf *entries,
    const struct tp_region_only *first, uint64_t word, uint64_t time, const uint64_t *hashes)
{
	const struct hashes list = {hashes, hashes ? TEEPERF_SELECTION_COUNT(word) : 0};
	const uint32_t number = TEEPERF_SELECTION_NUMBER(word);
	struct hashes before = {NULL, 0};
	uint32_t last = 0;
	tp_buf_add(out, entries->data,
	    entries->size / sizeof(struct teeperf_trace_selection) *
		sizeof(struct teeperf_trace_selection));
	if (!out->size && (!ascends((struct hashes){first->hashes, first->count}) ||
			      !add_entries(out, TEEPERF_SELECTION(0, first->kind, first->count),
				  before, (struct hashes){first->hashes, first->count})))
		return number;
	const size_t size = out->size;
	struct teeperf_trace_selection *all = (void *)out->data;
	if (!entries->size)
		for (size_t i = 0; i < size / sizeof(*all); i++)
			all[i].time = 0;
	uint64_t *known = replay(all, size / sizeof(*all), &before, &last);
	if (!known || number <= last) {
		free(known);
		return known ? 0 : number;
	}
	// Readers want numbers without gaps.
	const uint64_t next = TEEPERF_SELECTION(last + 1, TEEPERF_SELECTION_ONLY(word), list.count);
	if (!hashes || !ascends(list) || !add_entries(out, next, before, list)) {
		free(known);
		return number - last;
	}
	free(known);
	all = (void *)out->data;
	for (size_t i = size / sizeof(*all); i < out->size / sizeof(*all); i++)
		all[i].time = time;
	return number - last - 1;
}
