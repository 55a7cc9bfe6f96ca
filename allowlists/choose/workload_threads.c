// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What threads do to the times of a profile: events that ran at the same time, and time in which a
// thread waited.
#include "allowlists/choose/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A function whose stretches between two records are shorter than this, on the average, does not
// wait: to give the processor up and to get it back takes about as long.
#define LONG_NS 10000.0
// Clocks of two kinds: less than this is no waiting.
#define WAITED_PART 0.02
#define WAITED_NS 100000.0

static int compare_start(const void *a, const void *b)
{
	const struct tp_workload_thread *x = *(struct tp_workload_thread *const *)a;
	const struct tp_workload_thread *y = *(struct tp_workload_thread *const *)b;
	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

// What the events of a thread are of the time in which it was there.
static double rate(const struct tp_workload_thread *thread, double event_ns)
{
	return (double)thread->pairs * event_ns / (thread->last_ns - thread->first_ns);
}

// The highest rate of the COUNT threads that are there at NOW; those that are not any more leave
// the list. *end: the time up to which that holds.
static double highest_rate(const struct tp_workload_thread **there, uint32_t *count, double now,
    double event_ns, double *end)
{
	double highest = 0;
	uint32_t left = 0;
	for (uint32_t i = 0; i < *count; i++) {
		const struct tp_workload_thread *thread = there[i];
		if (thread->last_ns <= now)
			continue;
		there[left++] = thread;
		if (thread->last_ns < *end)
			*end = thread->last_ns;
		const double its = rate(thread, event_ns);
		if (its > highest)
			highest = its;
	}
	*count = left;
	return highest;
}

double tp_workload_events_ns(const struct tp_workload *workload, double event_ns)
{
	const uint32_t count = workload->thread_time_count;
	const struct tp_workload_thread **order = malloc(2 * ((size_t)count + 1) * sizeof(*order));
	if (!order)
		return -1;
	const struct tp_workload_thread **there = order + count;
	double sum = 0;
	uint32_t left = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_workload_thread *thread = &workload->thread_times[i];
		if (thread->last_ns > thread->first_ns)
			order[left++] = thread;
		else
			sum += (double)thread->pairs * event_ns;
	}
	qsort(order, left, sizeof(*order), compare_start);
	uint32_t there_count = 0;
	double now = left ? order[0]->first_ns : 0;
	for (uint32_t next = 0; next < left || there_count;) {
		while (next < left && order[next]->first_ns <= now)
			there[there_count++] = order[next++];
		double end = next < left ? order[next]->first_ns : INFINITY;
		const double highest = highest_rate(there, &there_count, now, event_ns, &end);
		if (end == INFINITY)
			break;
		sum += highest * (end - now);
		now = end;
	}
	free(order);
	return sum;
}

// A function in one thread.
struct part {
	uint32_t function;
	double own_ns;
	double stretches;
	double off_ns;
	double kept_ns;
	double sure_ns;
};

struct parts {
	struct part *parts;
	uint32_t count;
	uint32_t *of; // by function: its part + 1 in this thread, or 0
};

static void collect(struct parts *parts, const struct tp_workload *workload,
    const struct tp_workload_thread *thread)
{
	parts->count = 0;
	for (uint32_t i = 0; i < thread->node_count; i++) {
		const struct tp_workload_node *node = &workload->nodes[thread->first_node + i];
		uint32_t *of = &parts->of[node->function];
		if (!*of) {
			parts->parts[parts->count] = (struct part){.function = node->function};
			*of = ++parts->count;
		}
		struct part *part = &parts->parts[*of - 1];
		part->own_ns += node->self_ns;
		part->off_ns += node->off_ns < node->self_ns ? node->off_ns : node->self_ns;
		part->stretches += (double)node->calls + (double)node->child_calls;
	}
}

static bool is_long(const struct part *part)
{
	return part->own_ns > LONG_NS * part->stretches;
}

// Descending.
static int compare_own(const void *a, const void *b)
{
	const struct part *x = a;
	const struct part *y = b;
	return (x->own_ns < y->own_ns) - (x->own_ns > y->own_ns);
}

// The level to which the times of the COUNT parts, largest first, have to be cut so that WAITED is
// taken off.
static double find_level(const struct part *parts, uint32_t count, double waited)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		sum += parts[i].own_ns;
		const double level = (sum - waited) / (i + 1);
		if (i + 1 == count || level >= parts[i + 1].own_ns)
			return level > 0 ? level : 0;
	}
	return 0;
}

// Take WAITED off the parts: off those with long stretches, the largest first, as far as they have
// it, and off all others alike.
static void take(struct parts *parts, double waited)
{
	double all_long = 0;
	double all_short = 0;
	uint32_t longs = 0;
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part part = parts->parts[i];
		*(is_long(&part) ? &all_long : &all_short) += part.own_ns;
		if (!is_long(&part))
			continue;
		parts->parts[i] = parts->parts[longs];
		parts->parts[longs++] = part;
	}
	qsort(parts->parts, longs, sizeof(*parts->parts), compare_own);
	const double level = find_level(parts->parts, longs, waited);
	const double rest = waited > all_long ? waited - all_long : 0;
	const double scale = all_short > rest ? (all_short - rest) / all_short : 0;
	for (uint32_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->parts[i];
		const double least = part->own_ns > waited ? part->own_ns - waited : 0;
		if (i < longs)
			part->kept_ns = part->own_ns < level ? part->own_ns : level;
		else
			part->kept_ns = part->own_ns * scale;
		part->sure_ns = i < longs || rest > 0 ? least : part->kept_ns;
		if (part->sure_ns > part->kept_ns)
			part->sure_ns = part->kept_ns;
	}
}

// Whoever was kept from running would have run: that is off all alike.
static void take_delay(struct parts *parts, double delayed)
{
	double all = 0;
	for (uint32_t i = 0; i < parts->count; i++)
		all += parts->parts[i].kept_ns;
	const double scale = all > delayed ? (all - delayed) / all : 0;
	for (uint32_t i = 0; i < parts->count; i++) {
		parts->parts[i].kept_ns *= scale;
		parts->parts[i].sure_ns *= scale;
	}
}

// It is known who waited.
static void take_told(struct parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->parts[i];
		part->kept_ns = part->sure_ns = part->own_ns - part->off_ns;
	}
}

static void find_waiting(struct tp_workload *workload, struct tp_workload_thread *thread)
{
	thread->waited_ns = thread->delayed_ns = 0;
	double waited = thread->raw_ns - thread->cpu_ns;
	double delayed = thread->delay_ns;
	if (thread->tells) {
		waited = delayed = 0;
		for (uint32_t i = 0; i < thread->node_count; i++) {
			waited += workload->nodes[thread->first_node + i].off_ns;
			delayed += workload->nodes[thread->first_node + i].delayed_ns;
		}
	} else if (thread->cpu_ns <= 0) {
		return;
	}
	if (waited < WAITED_NS || waited < WAITED_PART * thread->raw_ns)
		return;
	thread->waited_ns = waited;
	thread->delayed_ns = delayed < waited ? delayed : waited;
	workload->waited_ns += waited;
	workload->delayed_ns += thread->delayed_ns;
	workload->waiting++;
	workload->telling += thread->tells;
}

int tp_workload_take_waiting(struct tp_workload *workload, double *kept, double *sure)
{
	const uint32_t count = workload->function_count;
	double *own = calloc((size_t)count + 1, sizeof(*own));
	struct parts parts = {
	    .parts = malloc(((size_t)count + 1) * sizeof(*parts.parts)),
	    .of = calloc((size_t)count + 1, sizeof(*parts.of)),
	};
	int code = TP_ERR_MEMORY;
	if (!own || !parts.parts || !parts.of)
		goto out;
	memset(kept, 0, count * sizeof(*kept));
	memset(sure, 0, count * sizeof(*sure));
	workload->waited_ns = workload->delayed_ns = 0;
	workload->waiting = workload->telling = 0;
	for (uint32_t t = 0; t < workload->thread_time_count; t++) {
		struct tp_workload_thread *thread = &workload->thread_times[t];
		find_waiting(workload, thread);
		collect(&parts, workload, thread);
		if (thread->tells) {
			take_told(&parts);
		} else {
			take(&parts, thread->waited_ns - thread->delayed_ns);
			take_delay(&parts, thread->delayed_ns);
		}
		for (uint32_t i = 0; i < parts.count; i++) {
			const struct part *part = &parts.parts[i];
			own[part->function] += part->own_ns;
			kept[part->function] += part->kept_ns;
			sure[part->function] += part->sure_ns;
			parts.of[part->function] = i + 1; // they have changed places
		}
		for (uint32_t i = 0; i < thread->node_count; i++) {
			struct tp_workload_node *node = &workload->nodes[thread->first_node + i];
			const struct part *part = &parts.parts[parts.of[node->function] - 1];
			if (thread->tells)
				node->self_ns =
				    node->self_ns > node->off_ns ? node->self_ns - node->off_ns : 0;
			else if (part->own_ns > 0)
				node->self_ns *= part->kept_ns / part->own_ns;
		}
		for (uint32_t i = 0; i < parts.count; i++)
			parts.of[parts.parts[i].function] = 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		kept[i] = own[i] > 0 ? kept[i] / own[i] : 1;
		sure[i] = own[i] > 0 ? sure[i] / own[i] : 1;
	}
	code = 0;
out:
	free(own);
	free(parts.parts);
	free(parts.of);
	return code;
}
