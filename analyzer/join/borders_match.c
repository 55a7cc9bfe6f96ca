// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which call of the host into the TEE is which there: by number, and else by time if that leaves no
// doubt.
#include "splice.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// More calls at a time than this come from no program's threads: then nothing is said of them.
#define ACTIVE_MAX 512
// In larger groups nobody looks for those that can be only one.
#define GROUP_MAX 64

// A call into the TEE, as one of the sides has it.
struct call {
	uint64_t from;
	uint64_t to;
	uint32_t thread;
	uint32_t border;
	uint32_t number;
	uint32_t group; // of calls that come into question for each other: index of one of them
	bool done;
};

struct calls {
	struct call *items;
	uint32_t count;
};

struct matching {
	struct tp_border_match *match;
	struct tp_borders *host_borders;
	struct tp_borders *tee_borders;
	struct calls host;
	struct calls tee;
	uint32_t *groups; // union-find: of the host's calls, then of the TEE's
};

static int by_place(const struct call *x, const struct call *y)
{
	int order = TP_COMPARE(x->from, y->from);
	order = order ? order : TP_COMPARE(x->thread, y->thread);
	return order ? order : TP_COMPARE(x->border, y->border);
}

static int by_number(const void *a, const void *b)
{
	const struct call *x = a;
	const struct call *y = b;
	const int order = TP_COMPARE(x->number, y->number);
	return order ? order : by_place(x, y);
}

static int by_time(const void *a, const void *b)
{
	const struct call *x = a;
	const struct call *y = b;
	const int order = TP_COMPARE(x->done, y->done);
	return order ? order : by_place(x, y);
}

static int by_group(const void *a, const void *b)
{
	const struct call *x = a;
	const struct call *y = b;
	const int order = TP_COMPARE(x->group, y->group);
	return order ? order : by_time(a, b);
}

static bool collect(
    struct calls *calls, const struct tp_borders *borders, uint32_t threads, uint16_t kind)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < threads; i++)
		for (uint32_t j = 0; j < borders[i].count; j++)
			count += borders[i].items[j].kind == kind;
	if (count > UINT32_MAX / 4)
		return false;
	calls->items = malloc((count + 1) * sizeof(*calls->items));
	if (!calls->items)
		return false;
	for (uint32_t i = 0; i < threads; i++)
		for (uint32_t j = 0; j < borders[i].count; j++) {
			const struct tp_border *border = &borders[i].items[j];
			if (border->kind != kind)
				continue;
			calls->items[calls->count++] = (struct call){
			    .from = border->time,
			    // One that was cut ended before that.
			    .to = border->cut && kind == TEEPERF_CONTROL_CALL_IN
				      ? UINT64_MAX
				      : tp_border_end(&borders[i], j),
			    .thread = i,
			    .border = j,
			    .number = border->number,
			};
		}
	return true;
}

static bool is_around(const struct call *host, const struct call *tee)
{
	// Who has not come back from the TEE may still be there; a call that the TEE has not ended
	// is over with the host's.
	return host->from <= tee->from && tee->from <= host->to &&
	       (tee->to == UINT64_MAX || tee->to <= host->to);
}

static void pair(struct matching *of, struct call *host, struct call *tee)
{
	const uint32_t at = of->match->count++;
	of->match->pairs[at] = (struct tp_border_pair){
	    .host_thread = host->thread,
	    .host_border = host->border,
	    .tee_thread = tee->thread,
	    .tee_border = tee->border,
	};
	of->host_borders[host->thread].items[host->border].match = at;
	of->tee_borders[tee->thread].items[tee->border].match = at;
	host->done = tee->done = true;
}

/*
 * Those with a number. It is drawn again after a long time, and a TEE may write any number: then
 * the times decide, and if several fit, nothing is paired.
 */
static void match_numbers(struct matching *of)
{
	struct calls *host = &of->host;
	struct calls *tee = &of->tee;
	qsort(host->items, host->count, sizeof(*host->items), by_number);
	qsort(tee->items, tee->count, sizeof(*tee->items), by_number);
	uint32_t first = 0;
	for (uint32_t i = 0, next; i < tee->count; i = next) {
		const uint32_t number = tee->items[i].number;
		for (next = i; next < tee->count && tee->items[next].number == number; next++)
			;
		while (first < host->count && host->items[first].number < number)
			first++;
		uint32_t last = first;
		while (last < host->count && host->items[last].number == number)
			last++;
		if (!number)
			continue;
		// Both ascend by time, and each is in one other.
		for (uint32_t j = i, k = first; j < next; j++) {
			struct call *call = &tee->items[j];
			while (k < last && host->items[k].to < call->from)
				k++;
			const bool fits = k < last && is_around(&host->items[k], call);
			const bool second =
			    fits && k + 1 < last && is_around(&host->items[k + 1], call);
			const bool shared =
			    fits && j + 1 < next && is_around(&host->items[k], call + 1);
			if (fits && !second && !shared && !host->items[k].done)
				pair(of, &host->items[k], call);
			else if (fits && shared)
				host->items[k].done = true; // nobody can know whose it is
		}
	}
}

static uint32_t find(uint32_t *groups, uint32_t at)
{
	while (groups[at] != at) {
		groups[at] = groups[groups[at]];
		at = groups[at];
	}
	return at;
}

// Put calls that come into question for each other into one group.
static void make_groups(struct matching *of)
{
	const struct calls *host = &of->host;
	const struct calls *tee = &of->tee;
	uint32_t active[ACTIVE_MAX];
	uint32_t active_count = 0;
	uint32_t next = 0;
	for (uint32_t i = 0; i < tee->count && !tee->items[i].done; i++) {
		const struct call *call = &tee->items[i];
		uint32_t kept = 0;
		for (uint32_t j = 0; j < active_count; j++)
			if (host->items[active[j]].to >= call->from)
				active[kept++] = active[j];
		active_count = kept;
		for (; next < host->count && !host->items[next].done &&
		       host->items[next].from <= call->from;
		     next++)
			if (host->items[next].to >= call->from && active_count < ACTIVE_MAX)
				active[active_count++] = next;
		if (call->number || active_count == ACTIVE_MAX)
			continue; // its own call is not recorded; or there is no telling
		for (uint32_t j = 0; j < active_count; j++)
			if (is_around(&host->items[active[j]], call))
				of->groups[find(of->groups, host->count + i)] =
				    find(of->groups, active[j]);
	}
	for (uint32_t i = 0; i < host->count; i++)
		host->items[i].group = find(of->groups, i);
	for (uint32_t i = 0; i < tee->count; i++)
		tee->items[i].group = find(of->groups, host->count + i);
}

// The only call of the host's that comes into question; UINT32_MAX: there is none, or more.
static uint32_t only_around(const struct call *host, uint32_t host_count, const struct call *tee)
{
	uint32_t only = UINT32_MAX;
	for (uint32_t i = 0; i < host_count; i++) {
		if (host[i].done || !is_around(&host[i], tee))
			continue;
		if (only != UINT32_MAX)
			return UINT32_MAX;
		only = i;
	}
	return only;
}

/*
 * Pair calls of the TEE with the only ones of the host's that are left for them, and again, as that
 * may leave only one for others. If two have the same one, something is missing, and no more is
 * believed.
 */
static void match_only(struct matching *of, struct call *host, uint32_t host_count,
    struct call *tee, uint32_t tee_count)
{
	uint32_t found[GROUP_MAX];
	for (bool some = true; some;) {
		some = false;
		for (uint32_t i = 0; i < tee_count; i++) {
			found[i] =
			    tee[i].done ? UINT32_MAX : only_around(host, host_count, &tee[i]);
			for (uint32_t j = 0; j < i && found[i] != UINT32_MAX; j++)
				if (found[j] == found[i])
					return;
		}
		for (uint32_t i = 0; i < tee_count; i++)
			if (found[i] != UINT32_MAX) {
				pair(of, &host[found[i]], &tee[i]);
				some = true;
			}
	}
}

/*
 * A group of as many calls of one thread of the host as of one of the TEE: they come in the same
 * order. (More than one are in a group if the clock stood still between them, or if they are inside
 * each other.) Of another one, those that can be only one.
 */
static void match_group(struct matching *of, struct call *host, uint32_t host_count,
    struct call *tee, uint32_t tee_count)
{
	bool fits = host_count == tee_count;
	for (uint32_t i = 0; fits && i < tee_count; i++)
		fits = host[i].thread == host[0].thread && tee[i].thread == tee[0].thread &&
		       is_around(&host[i], &tee[i]);
	for (uint32_t i = 0; fits && i < tee_count; i++)
		pair(of, &host[i], &tee[i]);
	if (!fits && host_count <= GROUP_MAX && tee_count <= GROUP_MAX)
		match_only(of, host, host_count, tee, tee_count);
	for (uint32_t i = 0; host_count && i < tee_count; i++)
		of->match->ambiguous += !tee[i].done;
}

static bool match_times(struct matching *of)
{
	struct calls *host = &of->host;
	struct calls *tee = &of->tee;
	const uint32_t count = host->count + tee->count;
	qsort(host->items, host->count, sizeof(*host->items), by_time);
	qsort(tee->items, tee->count, sizeof(*tee->items), by_time);
	of->groups = malloc(((size_t)count + 1) * sizeof(*of->groups));
	if (!of->groups)
		return false;
	for (uint32_t i = 0; i < count; i++)
		of->groups[i] = i;
	make_groups(of);
	qsort(host->items, host->count, sizeof(*host->items), by_group);
	qsort(tee->items, tee->count, sizeof(*tee->items), by_group);
	uint32_t first = 0;
	for (uint32_t i = 0, next; i < tee->count; i = next) {
		const uint32_t group = tee->items[i].group;
		for (next = i; next < tee->count && tee->items[next].group == group; next++)
			;
		while (first < host->count && host->items[first].group < group)
			first++;
		uint32_t last = first;
		while (last < host->count && host->items[last].group == group)
			last++;
		if (tee->items[i].done)
			continue;
		match_group(of, &host->items[first], last - first, &tee->items[i], next - i);
		first = last;
	}
	for (uint32_t i = 0; i < tee->count; i++)
		of->match->alone += !tee->items[i].done;
	of->match->alone -= of->match->ambiguous;
	return true;
}

int tp_border_match_find(struct tp_border_match *match, struct tp_borders *host,
    uint32_t host_count, struct tp_borders *tee, uint32_t tee_count, struct tp_err *err)
{
	*match = (struct tp_border_match){0};
	struct matching of = {.match = match, .host_borders = host, .tee_borders = tee};
	bool ok = collect(&of.host, host, host_count, TEEPERF_CONTROL_CALL_OUT) &&
		  collect(&of.tee, tee, tee_count, TEEPERF_CONTROL_CALL_IN);
	if (ok) {
		match->pairs = malloc(((size_t)of.tee.count + 1) * sizeof(*match->pairs));
		ok = match->pairs != NULL;
	}
	if (ok)
		match_numbers(&of);
	ok = ok && match_times(&of);
	free(of.groups);
	free(of.host.items);
	free(of.tee.items);
	return ok ? 0 : tp_err_memory(err, NULL);
}

void tp_border_match_release(struct tp_border_match *match)
{
	free(match->pairs);
	*match = (struct tp_border_match){0};
}
