// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rows of a run in the tables of a fleet. What has the same key is one row.
#define _GNU_SOURCE
#include "run.h"

#include "analyzer/profile/call_store.h"
#include "common/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- functions

struct function_sum {
	const struct tp_function *function; // the first
	uint32_t same;
	uint64_t calls;
	uint64_t timed;
	uint64_t counted;
	uint64_t sampled;
	uint64_t self;
	uint64_t inclusive;
	uint64_t total;
	uint64_t min;
	uint64_t max;
	struct tp_node_parts parts;
	bool has_no_parts;
	uint64_t uncertainty; // UINT64_MAX: not known
};

static void add_function(struct function_sum *sum, const struct tp_function *function)
{
	const uint64_t off = function->uncertainty;
	sum->same++;
	sum->calls += function->calls;
	sum->timed += tp_function_timed(function);
	sum->counted += function->counted;
	sum->sampled += function->sampled;
	sum->self += function->self;
	sum->inclusive += function->inclusive;
	sum->total += function->total;
	sum->min = function->min < sum->min ? function->min : sum->min;
	sum->max = function->max > sum->max ? function->max : sum->max;
	tp_node_parts_add(&sum->parts, &function->parts);
	sum->has_no_parts |= function->has_no_parts;
	if (off == UINT64_MAX || sum->uncertainty == UINT64_MAX)
		sum->uncertainty = UINT64_MAX;
	else
		sum->uncertainty += off;
}

static const struct teeperf_module *module_of(
    const struct tp_analysis *analysis, const struct tp_symbol *symbol)
{
	const struct tp_module_map *map = &analysis->trace->map;
	return symbol->place < map->count ? &map->modules[symbol->place] : NULL;
}

static void add_build_id(
    const struct tp_analysis *analysis, const struct tp_symbol *symbol, struct tp_parquet *out)
{
	const struct teeperf_module *module = module_of(analysis, symbol);
	char text[2 * TEEPERF_BUILD_ID_SIZE + 1] = "";
	for (uint32_t i = 0; module && i < module->build_id_size && i < TEEPERF_BUILD_ID_SIZE; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", module->build_id[i]);
	tp_parquet_add_text(out, text);
}

static void put_function(const struct tp_fleet_run *run, const struct function_sum *sum,
    int64_t key, struct tp_parquet *out)
{
	const struct tp_symbol *symbol = &sum->function->symbol;
	const struct tp_node_parts *parts = &sum->parts;
	const uint64_t split[] = {parts->self_cpu, parts->self_off.blocked,
	    parts->self_off.preempted, parts->inclusive_cpu, parts->inclusive_off.blocked,
	    parts->inclusive_off.preempted};
	tp_parquet_add_text(out, run->id);
	tp_parquet_add(out, key);
	tp_parquet_add_text(out, symbol->name);
	tp_parquet_add_text(out, symbol->linkage);
	tp_parquet_add_text(out, symbol->module);
	add_build_id(run->analysis, symbol, out);
	tp_parquet_add_text(out, symbol->file);
	tp_fleet_put(out, symbol->line);
	tp_fleet_put(out, sum->same);
	tp_fleet_put(out, sum->calls);
	tp_fleet_put(out, sum->timed);
	tp_fleet_put(out, sum->counted);
	tp_fleet_put(out, sum->sampled);
	tp_fleet_put_time(run, out, true, sum->self);
	tp_fleet_put_time(run, out, true, sum->inclusive);
	tp_fleet_put_time(run, out, true, sum->total);
	tp_fleet_put_time(run, out, sum->timed, sum->min);
	tp_fleet_put_time(run, out, sum->timed, sum->max);
	for (size_t i = 0; i < sizeof(split) / sizeof(split[0]); i++)
		tp_fleet_put_time(
		    run, out, !sum->has_no_parts && (sum->timed || !sum->calls), split[i]);
	tp_fleet_put_time(run, out, sum->timed && sum->uncertainty != UINT64_MAX, sum->uncertainty);
}

static void write_functions(struct tp_fleet_run *run, struct tp_parquet *out)
{
	const struct tp_analysis *analysis = run->analysis;
	for (uint32_t from = 0, to; from < analysis->function_count; from = to) {
		const int64_t key = run->fn_keys[run->functions[from]];
		struct function_sum sum = {
		    .function = &analysis->functions[run->functions[from]],
		    .min = UINT64_MAX,
		};
		for (to = from;
		     to < analysis->function_count && run->fn_keys[run->functions[to]] == key; to++)
			add_function(&sum, &analysis->functions[run->functions[to]]);
		put_function(run, &sum, key, out);
	}
}

// ---- paths and profile

// Those with the key of path number FROM of run->by_key end before this one.
static uint32_t end_of_key(const struct tp_fleet_run *run, uint32_t from)
{
	const int64_t key = run->path_keys[run->by_key[from]];
	uint32_t to = from + 1;
	while (to + 1 < run->paths.count && run->path_keys[run->by_key[to]] == key)
		to++;
	return to;
}

static int64_t key_of_function(const struct tp_fleet_run *run, uint32_t path)
{
	return path ? run->fn_keys[run->paths.items[path].function] : 0;
}

static void write_paths(struct tp_fleet_run *run, struct tp_parquet *out)
{
	for (uint32_t at = 0; at + 1 < run->paths.count; at = end_of_key(run, at)) {
		const uint32_t path = run->by_key[at];
		const struct tp_path *item = &run->paths.items[path];
		tp_parquet_add_text(out, run->id);
		tp_parquet_add(out, run->path_keys[path]);
		tp_parquet_add(out, run->path_keys[item->parent]);
		tp_parquet_add(out, key_of_function(run, path));
		tp_fleet_put(out, item->depth);
		tp_fleet_put(out, run->recursions[path]);
	}
}

struct path_sum {
	bool used;
	uint64_t calls;
	uint64_t self;
	uint64_t inclusive;
	uint64_t min;
	uint64_t max;
	bool has_no_parts;
	uint64_t cpu;
	uint64_t wait;
};

static void add_row(const struct tp_fleet_run *run, struct path_sum *sums, uint32_t row)
{
	const struct tp_path_row *at = &run->paths.rows[row];
	const struct tp_profile *profile = &run->analysis->threads[at->thread].profile;
	const struct tp_node *node = &profile->nodes[at->node];
	struct path_sum *sum = &sums[run->group_of[at->thread]];
	if (!sum->used)
		*sum = (struct path_sum){.used = true, .min = UINT64_MAX};
	sum->calls += node->calls;
	sum->self += node->self;
	sum->inclusive += node->inclusive;
	sum->min = node->min < sum->min ? node->min : sum->min;
	sum->max = node->max > sum->max ? node->max : sum->max;
	sum->has_no_parts |= !profile->parts_of;
	if (profile->parts_of) {
		const struct tp_node_parts parts = tp_profile_parts(profile, at->node);
		sum->cpu += parts.self_cpu;
		sum->wait += parts.self_off.blocked;
	}
}

static void put_sum(const struct tp_fleet_run *run, const struct path_sum *sum, uint32_t group,
    uint32_t path, struct tp_parquet *out)
{
	tp_parquet_add_text(out, run->id);
	tp_parquet_add_text(out, run->groups[group].name);
	tp_parquet_add(out, run->path_keys[path]);
	tp_parquet_add(out, key_of_function(run, path));
	tp_fleet_put(out, run->recursions[path]);
	tp_fleet_put(out, sum->calls);
	tp_fleet_put_time(run, out, true, sum->self);
	tp_fleet_put_time(run, out, true, sum->inclusive);
	tp_fleet_put_time(run, out, sum->calls, sum->min);
	tp_fleet_put_time(run, out, sum->calls, sum->max);
	tp_fleet_put_time(run, out, !sum->has_no_parts, sum->cpu);
	tp_fleet_put_time(run, out, !sum->has_no_parts, sum->wait);
}

static int write_profile(struct tp_fleet_run *run, struct tp_parquet *out, struct tp_err *err)
{
	struct path_sum *sums = calloc((size_t)run->group_count + 1, sizeof(*sums));
	if (!sums)
		return tp_err_memory(err, NULL);
	for (uint32_t from = 0, to; from + 1 < run->paths.count; from = to) {
		to = end_of_key(run, from);
		for (uint32_t i = from; i < to; i++) {
			const uint32_t path = run->by_key[i];
			const uint32_t end = tp_paths_rows_end(&run->paths, path);
			for (uint32_t row = run->paths.items[path].row; row < end; row++)
				add_row(run, sums, row);
		}
		for (uint32_t group = 0; group < run->group_count; group++)
			if (sums[group].used) {
				put_sum(run, &sums[group], group, run->by_key[from], out);
				sums[group].used = false;
			}
	}
	free(sums);
	return 0;
}

// ---- histograms

static void put_counts(const struct tp_fleet_run *run, const struct tp_duration_counts *counts,
    int64_t fn_key, const int64_t *path_key, struct tp_parquet *out)
{
	for (uint32_t i = 0; i < counts->size; i++) {
		if (!counts->counts[i])
			continue;
		tp_parquet_add_text(out, run->id);
		if (path_key)
			tp_parquet_add(out, *path_key);
		tp_parquet_add(out, fn_key);
		tp_fleet_put(out, counts->first + i);
		tp_fleet_put(out, tp_fleet_bucket_value(counts->first + i));
		tp_fleet_put(out, counts->counts[i]);
	}
}

static void write_histograms(struct tp_fleet_run *run, struct tp_parquet *out)
{
	uint32_t slot = 0;
	for (uint32_t i = 0; i < run->analysis->function_count; i++) {
		const int64_t key = run->fn_keys[run->functions[i]];
		if (i && run->fn_keys[run->functions[i - 1]] == key)
			continue;
		put_counts(run, &run->durations.slots[slot++], key, NULL, out);
	}
}

static void write_path_histograms(struct tp_fleet_run *run, struct tp_parquet *out)
{
	for (uint32_t at = 0; at + 1 < run->paths.count; at = end_of_key(run, at)) {
		const uint32_t path = run->by_key[at];
		const uint32_t slot = run->path_slots[path];
		if (slot != TP_FLEET_NO_SLOT)
			put_counts(run, &run->durations.slots[slot], key_of_function(run, path),
			    &run->path_keys[path], out);
	}
}

// ---- calls

static void put_calls(const struct tp_fleet_run *run, const struct tp_stored_thread *stored,
    uint32_t thread, struct tp_parquet *out)
{
	const struct tp_analysis *analysis = run->analysis;
	const char *group = run->groups[run->group_of[thread]].name;
	for (uint64_t i = 0; i < stored->rows && !out->failed && !out->file.error; i++) {
		struct tp_stored_call call;
		tp_call_store_get(stored, i, &call);
		tp_parquet_add_text(out, run->id);
		tp_fleet_put(out, analysis->threads[thread].thread->number);
		tp_parquet_add_text(out, group);
		tp_parquet_add(out, key_of_function(run, call.path));
		tp_parquet_add(out, run->path_keys[call.path]);
		tp_fleet_put(out, run->paths.items[call.path].depth);
		tp_fleet_put(out, run->recursions[call.path]);
		tp_fleet_put_if(
		    out, run->timed, run->timed ? tp_analysis_at_ns(analysis, call.start) : 0);
		tp_fleet_put_time(run, out, true, call.duration);
		tp_fleet_put_time(run, out, true, call.self);
		tp_parquet_add_text(out, tp_call_end_name(call.how));
	}
}

static int write_calls(struct tp_fleet_run *run, struct tp_parquet *out, struct tp_err *err)
{
	struct tp_call_store store;
	int code = tp_call_store_init(&store, run->analysis, &run->paths, err);
	for (uint32_t i = 0; !code && i < run->analysis->thread_count; i++) {
		code = tp_call_store_load(&store, i, err);
		if (code)
			break;
		put_calls(run, &store.threads[i], i, out);
		tp_parquet_end_group(out);
		tp_call_store_forget(&store, i);
	}
	tp_call_store_release(&store);
	return code;
}

// ---- waits and io

struct event_sum {
	int64_t path_key;
	int64_t fn_key;
	int64_t waker_path_key;
	int64_t waker_fn_key;
	char call[64];
	uint64_t count;
	uint64_t bytes;
	uint64_t total;
	uint64_t max;
};

static int compare_events(const void *a, const void *b)
{
	const struct event_sum *one = a;
	const struct event_sum *other = b;
	int order = TP_COMPARE(one->path_key, other->path_key);
	order = order ? order : strcmp(one->call, other->call);
	return order ? order : TP_COMPARE(one->waker_path_key, other->waker_path_key);
}

static struct event_sum event_of(const struct tp_fleet_run *run, uint64_t number, bool waits)
{
	const struct tp_system_item *item = &run->system.items[number];
	struct event_sum sum = {
	    .path_key = run->path_keys[item->at.path],
	    .fn_key = key_of_function(run, item->at.path),
	    .count = 1,
	    .total = item->event->duration_ns,
	    .max = item->event->duration_ns,
	};
	char text[64];
	snprintf(sum.call, sizeof(sum.call), "%s",
	    waits ? tp_system_event_name(run->analysis, item->event, text)
		  : tp_system_item_name(run->analysis, item->event, item->sequential, text));
	if (waits && item->waker.thread != TP_SYSTEM_NOBODY) {
		sum.waker_path_key = run->path_keys[item->waker.path];
		sum.waker_fn_key = key_of_function(run, item->waker.path);
	}
	if (!waits && !tp_system_event_bytes(run->analysis, item->event, &sum.bytes))
		sum.bytes = 0;
	return sum;
}

static void put_event(
    const struct tp_fleet_run *run, const struct event_sum *sum, bool waits, struct tp_parquet *out)
{
	tp_parquet_add_text(out, run->id);
	tp_parquet_add(out, sum->path_key);
	tp_parquet_add(out, sum->fn_key);
	tp_parquet_add_text(out, sum->call);
	if (waits) {
		tp_parquet_add(out, sum->waker_path_key);
		tp_parquet_add(out, sum->waker_fn_key);
	}
	tp_fleet_put(out, sum->count);
	if (!waits)
		tp_fleet_put(out, sum->bytes);
	tp_fleet_put(out, sum->total);
	tp_fleet_put(out, sum->max);
}

static int write_events(
    struct tp_fleet_run *run, bool waits, struct tp_parquet *out, struct tp_err *err)
{
	const struct tp_system_list *list =
	    &run->system.lists[waits ? TP_SYSTEM_WAITS : TP_SYSTEM_IO];
	struct event_sum *sums = calloc(list->count + 1, sizeof(*sums));
	if (!sums)
		return tp_err_memory(err, NULL);
	for (uint64_t i = 0; i < list->count; i++)
		sums[i] = event_of(run, list->numbers[i], waits);
	qsort(sums, list->count, sizeof(*sums), compare_events);
	for (uint64_t i = 0; i < list->count; i++) {
		struct event_sum sum = sums[i];
		for (; i + 1 < list->count && compare_events(&sum, &sums[i + 1]) == 0; i++) {
			sum.count++;
			sum.bytes += sums[i + 1].bytes;
			sum.total += sums[i + 1].total;
			sum.max = sums[i + 1].max > sum.max ? sums[i + 1].max : sum.max;
		}
		put_event(run, &sum, waits, out);
	}
	free(sums);
	return 0;
}

// ---- files

bool tp_fleet_run_has(const struct tp_fleet_run *run, enum tp_fleet_table_id id)
{
	if (id == TP_FLEET_EXPERIMENTS)
		return false;
	if (id == TP_FLEET_CALLS)
		return run->said->calls;
	if (id == TP_FLEET_WAITS)
		return run->system.lists[TP_SYSTEM_WAITS].count != 0;
	if (id == TP_FLEET_IO)
		return run->system.lists[TP_SYSTEM_IO].count != 0;
	return true;
}

static int write_rows(
    struct tp_fleet_run *run, enum tp_fleet_table_id id, struct tp_parquet *out, struct tp_err *err)
{
	switch (id) {
	case TP_FLEET_FUNCTIONS:
		write_functions(run, out);
		return 0;
	case TP_FLEET_PATHS:
		write_paths(run, out);
		return 0;
	case TP_FLEET_PROFILE:
		return write_profile(run, out, err);
	case TP_FLEET_HISTOGRAMS:
		if (run->timed)
			write_histograms(run, out);
		return 0;
	case TP_FLEET_PATH_HISTOGRAMS:
		if (run->timed)
			write_path_histograms(run, out);
		return 0;
	case TP_FLEET_CALLS:
		return write_calls(run, out, err);
	case TP_FLEET_WAITS:
	case TP_FLEET_IO:
		return write_events(run, id == TP_FLEET_WAITS, out, err);
	default:
		tp_fleet_run_facts(run, out);
		return 0;
	}
}

int tp_fleet_run_write(struct tp_fleet_run *run, enum tp_fleet_table_id id, const char *directory,
    const char *name, struct tp_err *err)
{
	struct tp_fleet_file file;
	int code = tp_fleet_file_open(&file, &tp_fleet_tables[id], directory, name, err);
	if (!code)
		code = write_rows(run, id, &file.parquet, err);
	run->rows[id] = file.parquet.rows;
	return tp_fleet_file_close(&file, code, err);
}
