// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts what the processors report of a family's processes in order, and counts instrumented
// programs.
#include "programs.h"

#include "recorder/region/own_notes.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

// PID_MAX_LIMIT of Linux. The kernel gives memory only for the part of the bits that is used.
enum { PIDS_MAX = 1 << 22 };

void tp_programs_add(struct tp_programs *programs, const struct tp_programs_event *event)
{
	if (programs->failed || event->pid >= PIDS_MAX || event->parent >= PIDS_MAX)
		return;
	if (TP_GROW(programs->events, programs->event_room, programs->event_count + UINT64_C(1)))
		programs->events[programs->event_count++] = *event;
	else
		programs->failed = true;
}

static uint32_t hash_file(const void *programs, uint32_t number)
{
	return (uint32_t)((const struct tp_programs *)programs)->files[number - 1].key;
}

static bool is_instrumented(struct tp_programs *programs, const char *path, uint64_t key)
{
	if (!TP_GROW(programs->files, programs->file_room, programs->file_count + UINT64_C(1)) ||
	    !tp_index_reserve(&programs->index, programs->file_count, hash_file, programs)) {
		programs->failed = true;
		return false;
	}
	uint32_t *slot = tp_index_first(&programs->index, (uint32_t)key);
	while (*slot && programs->files[*slot - 1].key != key)
		slot = tp_index_next(&programs->index, slot);
	if (!*slot) {
		programs->files[programs->file_count] =
		    (struct tp_programs_file){key, tp_own_notes_are_in(path)};
		*slot = ++programs->file_count;
	}
	return programs->files[*slot - 1].instrumented;
}

void tp_programs_map(
    struct tp_programs *programs, uint64_t time_ns, uint32_t pid, const char *path, uint64_t key)
{
	// Memory without a file is "//anon", "[heap]" and the like.
	if (programs->failed || path[0] != '/' || path[1] == '/')
		return;
	if (is_instrumented(programs, path, key))
		tp_programs_add(
		    programs, &(struct tp_programs_event){
				  .time_ns = time_ns, .kind = TP_PROGRAMS_CODE, .pid = pid});
}

static int by_time(const void *a, const void *b)
{
	const struct tp_programs_event *first = a;
	const struct tp_programs_event *second = b;
	return (first->time_ns > second->time_ns) - (first->time_ns < second->time_ns);
}

static bool is_counted(const struct tp_programs *programs, uint32_t pid)
{
	return programs->counted[pid / 64] >> pid % 64 & 1;
}

static void set_counted(struct tp_programs *programs, uint32_t pid, bool counted)
{
	const uint64_t bit = UINT64_C(1) << pid % 64;
	uint64_t *word = &programs->counted[pid / 64];
	*word = counted ? *word | bit : *word & ~bit;
}

// A forked child has its parent's program.
static void settle(struct tp_programs *programs, const struct tp_programs_event *event)
{
	if (event->kind == TP_PROGRAMS_FORK)
		set_counted(programs, event->pid, is_counted(programs, event->parent));
	else if (event->kind == TP_PROGRAMS_EXEC)
		set_counted(programs, event->pid, false);
	else if (!is_counted(programs, event->pid)) {
		set_counted(programs, event->pid, true);
		programs->count++;
	}
}

void tp_programs_settle(struct tp_programs *programs, uint64_t now_ns)
{
	// A record is stamped a little before it can be read.
	const uint64_t before_ns = now_ns == UINT64_MAX ? now_ns : programs->round_ns;
	struct tp_programs_event *events = programs->events;
	uint32_t done = 0;
	programs->round_ns = now_ns;
	if (programs->failed || !programs->event_count)
		return;
	if (!programs->counted)
		programs->counted = calloc(PIDS_MAX / 64, sizeof(*programs->counted));
	if (!programs->counted) {
		programs->failed = true;
		return;
	}
	qsort(events, programs->event_count, sizeof(*events), by_time);
	while (done < programs->event_count && events[done].time_ns < before_ns)
		settle(programs, &events[done++]);
	programs->event_count -= done;
	memmove(events, events + done, programs->event_count * sizeof(*events));
}

void tp_programs_release(struct tp_programs *programs)
{
	free(programs->counted);
	free(programs->events);
	free(programs->files);
	tp_index_release(&programs->index);
	*programs = (struct tp_programs){.count = programs->count};
}
