// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an analysed trace is in a fleet: keys, groups of threads, its name; its rows in runs.
#define _GNU_SOURCE
#include "run.h"

#include "analyzer/output/completeness.h"
#include "common/array.h"
#include "common/clean.h"
#include "common/hash.h"
#include "common/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <teeperf/version.h>
#include <time.h>
#include <xxhash.h>

enum { PIECE = 1 << 20 };
enum { SHARE = 100 }; // paths with at least 1/SHARE of the self time have a histogram

uint64_t tp_fleet_path_hash(uint64_t caller, int64_t fn_key)
{
	uint8_t bytes[8];
	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)((uint64_t)fn_key >> (8 * i));
	return tp_hash_bytes(caller, bytes, sizeof(bytes));
}

void tp_fleet_group_name(char group[40], const char *name)
{
	size_t size = 0;
	for (; *name && size < 39; name++) {
		const bool digit = *name >= '0' && *name <= '9';
		if (digit && size && group[size - 1] == '#')
			continue;
		group[size++] = digit ? '#' : *name;
	}
	group[size] = '\0';
}

// ---- keys

static int compare_keys(const void *a, const void *b, void *context)
{
	const int64_t *keys = context;
	const uint32_t one = *(const uint32_t *)a;
	const uint32_t other = *(const uint32_t *)b;
	const int order = TP_COMPARE(keys[one], keys[other]);
	return order ? order : TP_COMPARE(one, other);
}

// For each function the first one with its key.
static void find_first(const struct tp_fleet_run *run, uint32_t *first)
{
	for (uint32_t i = 0; i < run->analysis->function_count; i++) {
		const uint32_t at = run->functions[i];
		const bool again = i && run->fn_keys[run->functions[i - 1]] == run->fn_keys[at];
		first[at] = again ? first[run->functions[i - 1]] : at;
	}
}

// Paths are numbered in preorder, so those that a path is in are a stack.
static void number_paths(struct tp_fleet_run *run, uint64_t *hashes, uint32_t *stack,
    const uint32_t *first, uint32_t *active)
{
	const struct tp_path *items = run->paths.items;
	uint32_t deep = 0;
	hashes[0] = TEEPERF_HASH_START;
	for (uint32_t i = 1; i < run->paths.count; i++) {
		const uint32_t function = items[i].function;
		while (deep && items[stack[deep - 1]].last < i)
			active[first[items[stack[--deep]].function]]--;
		hashes[i] = tp_fleet_path_hash(hashes[items[i].parent], run->fn_keys[function]);
		run->path_keys[i] = (int64_t)hashes[i];
		run->recursions[i] = active[first[function]]++;
		stack[deep++] = i;
		run->by_key[i - 1] = i;
	}
	qsort_r(
	    run->by_key, run->paths.count - 1, sizeof(*run->by_key), compare_keys, run->path_keys);
}

static bool make_keys(struct tp_fleet_run *run)
{
	const struct tp_analysis *analysis = run->analysis;
	const size_t functions = (size_t)analysis->function_count + 1;
	const size_t paths = (size_t)run->paths.count + 1;
	run->fn_keys = calloc(functions, sizeof(*run->fn_keys));
	run->functions = calloc(functions, sizeof(*run->functions));
	run->path_keys = calloc(paths, sizeof(*run->path_keys));
	run->recursions = calloc(paths, sizeof(*run->recursions));
	run->by_key = calloc(paths, sizeof(*run->by_key));
	uint64_t *hashes = calloc(paths, sizeof(*hashes));
	uint32_t *stack = calloc(paths, sizeof(*stack));
	uint32_t *first = calloc(functions, sizeof(*first));
	uint32_t *active = calloc(functions, sizeof(*active));
	const bool ok = run->fn_keys && run->functions && run->path_keys && run->recursions &&
			run->by_key && hashes && stack && first && active;
	for (uint32_t i = 0; ok && i < analysis->function_count; i++) {
		run->fn_keys[i] = tp_function_stable_key(&analysis->functions[i]);
		run->functions[i] = i;
	}
	if (ok) {
		qsort_r(run->functions, analysis->function_count, sizeof(*run->functions),
		    compare_keys, run->fn_keys);
		find_first(run, first);
		number_paths(run, hashes, stack, first, active);
	}
	free(hashes);
	free(stack);
	free(first);
	free(active);
	return ok;
}

// ---- groups of threads

static int compare_groups(const void *a, const void *b)
{
	return strcmp(
	    ((const struct tp_thread_group *)a)->name, ((const struct tp_thread_group *)b)->name);
}

static bool make_groups(struct tp_fleet_run *run)
{
	const struct tp_analysis *analysis = run->analysis;
	const size_t room = (size_t)analysis->thread_count + 1;
	run->groups = calloc(room, sizeof(*run->groups));
	run->group_of = calloc(room, sizeof(*run->group_of));
	if (!run->groups || !run->group_of)
		return false;
	for (uint32_t t = 0; t < analysis->thread_count; t++)
		tp_fleet_group_name(run->groups[t].name, analysis->threads[t].thread->name);
	qsort(run->groups, analysis->thread_count, sizeof(*run->groups), compare_groups);
	for (uint32_t t = 0; t < analysis->thread_count; t++)
		if (!t || compare_groups(&run->groups[run->group_count - 1], &run->groups[t]))
			run->groups[run->group_count++] = run->groups[t];
	for (uint32_t t = 0; t < analysis->thread_count; t++) {
		struct tp_thread_group group;
		tp_fleet_group_name(group.name, analysis->threads[t].thread->name);
		const struct tp_thread_group *found =
		    bsearch(&group, run->groups, run->group_count, sizeof(group), compare_groups);
		run->group_of[t] = (uint32_t)(found - run->groups);
	}
	return true;
}

// ---- its name

// All bytes of the trace. What differs in any way is another run.
static int hash_trace(const struct tp_source *source, uint64_t *hash, struct tp_err *err)
{
	const uint64_t starts[] = {0, TP_SOURCE_MORE};
	const uint64_t sizes[] = {source->size, source->more_size};
	XXH64_state_t *state = XXH64_createState();
	uint8_t *piece = malloc(PIECE);
	int code = state && piece ? 0 : tp_err_memory(err, source->name);
	if (!code)
		XXH64_reset(state, 0);
	for (int part = 0; part < 2; part++)
		for (uint64_t at = 0; !code && at < sizes[part]; at += PIECE) {
			const uint64_t left = sizes[part] - at;
			const size_t size = left < PIECE ? (size_t)left : PIECE;
			code = tp_source_read(source, starts[part] + at, piece, size, err);
			if (!code)
				XXH64_update(state, piece, size);
		}
	*hash = code ? 0 : XXH64_digest(state);
	XXH64_freeState(state);
	free(piece);
	return code;
}

int tp_fleet_run_name(
    struct tp_fleet_run *run, const struct tp_analysis *analysis, struct tp_err *err)
{
	const struct tp_tracefile *trace = analysis->trace;
	const time_t start = (time_t)(trace->header.created_unix_ns / 1000000000);
	struct tm tm = {0};
	char second[32];
	uint64_t hash;
	const int code = hash_trace(&trace->source, &hash, err);
	gmtime_r(&start, &tm);
	strftime(run->day, sizeof(run->day), "%Y-%m-%d", &tm);
	strftime(second, sizeof(second), "%Y%m%d-%H%M%S", &tm);
	snprintf(run->id, sizeof(run->id), "%.22s-%016" PRIx64, second, hash);
	return code;
}

// ---- durations

static uint32_t choose_slots(
    const struct tp_fleet_run *run, uint32_t *function_slots, uint32_t *path_slots)
{
	const struct tp_analysis *analysis = run->analysis;
	uint32_t count = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const uint32_t at = run->functions[i];
		count += i && run->fn_keys[run->functions[i - 1]] != run->fn_keys[at];
		function_slots[at] = count;
	}
	count += analysis->function_count != 0;
	path_slots[0] = TP_FLEET_NO_SLOT;
	for (uint32_t from = 0, to; from + 1 < run->paths.count; from = to) {
		const int64_t key = run->path_keys[run->by_key[from]];
		uint64_t inclusive = 0;
		for (to = from; to + 1 < run->paths.count && run->path_keys[run->by_key[to]] == key;
		     to++)
			inclusive += run->paths.items[run->by_key[to]].inclusive;
		const bool enough = inclusive >= analysis->self / SHARE && inclusive;
		for (uint32_t i = from; i < to; i++)
			path_slots[run->by_key[i]] = enough ? count : TP_FLEET_NO_SLOT;
		count += enough;
	}
	return count;
}

static int find_durations(struct tp_fleet_run *run, struct tp_err *err)
{
	uint32_t *functions = calloc((size_t)run->analysis->function_count + 1, sizeof(*functions));
	run->path_slots = calloc((size_t)run->paths.count + 1, sizeof(*run->path_slots));
	int code = 0;
	if (!functions || !run->path_slots)
		code = tp_err_memory(err, NULL);
	else
		code = tp_durations_init(&run->durations, run->analysis, &run->paths, functions,
		    run->path_slots, choose_slots(run, functions, run->path_slots), err);
	free(functions);
	return code;
}

int tp_fleet_run_init(struct tp_fleet_run *run, const struct tp_analysis *analysis,
    const struct tp_fleet_said *said, struct tp_err *err)
{
	const struct tp_fleet_run named = *run;
	*run = (struct tp_fleet_run){
	    .analysis = analysis,
	    .said = said,
	    .timed = analysis->time.known && !analysis->timeless,
	};
	memcpy(run->id, named.id, sizeof(run->id));
	memcpy(run->day, named.day, sizeof(run->day));
	int code = tp_paths_init(&run->paths, analysis, err);
	if (!code && analysis->trace->system.has)
		code = tp_system_items_init(&run->system, analysis, &run->paths, err);
	if (!code && (!make_keys(run) || !make_groups(run)))
		code = tp_err_memory(err, NULL);
	if (!code && run->timed)
		code = find_durations(run, err);
	return code;
}

void tp_fleet_run_release(struct tp_fleet_run *run)
{
	tp_durations_release(&run->durations);
	tp_system_items_release(&run->system);
	tp_paths_release(&run->paths);
	free(run->fn_keys);
	free(run->functions);
	free(run->path_keys);
	free(run->recursions);
	free(run->by_key);
	free(run->path_slots);
	free(run->groups);
	free(run->group_of);
	*run = (struct tp_fleet_run){0};
}

// ---- the row of runs

// A value that the recorder noted; "" without one.
static const char *fact(const struct tp_tracefile *trace, const char *key, char value[256])
{
	if (!tp_tracefile_host(trace, key, value, 256))
		value[0] = '\0';
	return value;
}

void tp_fleet_labels(struct tp_buf *out, const struct tp_fleet_said *said)
{
	struct tp_json json;
	tp_json_init(&json, out, TP_JSON_SPACED);
	tp_json_object(&json, NULL);
	for (uint32_t i = 0; i < said->label_count; i++) {
		const char *equals = strchr(said->labels[i], '=');
		struct tp_buf key;
		tp_buf_init(&key);
		tp_buf_addf(&key, "%.*s", (int)(equals - said->labels[i]), said->labels[i]);
		tp_json_text(&json, key.data, equals + 1);
		out->failed |= key.failed;
		tp_buf_release(&key);
	}
	tp_json_end(&json);
}

// Whether LABELS, JSON of texts, has KEY=VALUE. A quote within a text has a backslash before it, so
// that no text looks like a member.
static bool has_label(const char *labels, const char *label)
{
	const char *equals = strchr(label, '=');
	struct tp_buf key;
	struct tp_buf value;
	tp_buf_init(&key);
	tp_buf_init(&value);
	if (equals) {
		struct tp_buf name;
		tp_buf_init(&name);
		tp_buf_add(&name, label, (size_t)(equals - label));
		tp_json_quote(&key, name.failed ? "" : name.data);
		tp_buf_add_char(&key, ':');
		tp_json_quote(&value, equals + 1);
		tp_buf_release(&name);
	}
	bool found = false;
	const bool ok = equals && !key.failed && !value.failed;
	for (const char *at = labels; ok && !found && (at = strstr(at, key.data)); at++) {
		const char *behind = at + key.size;
		behind += *behind == ' ';
		const bool begins = at > labels && at[-1] != '\\';
		found = begins && strncmp(behind, value.data, value.size) == 0;
	}
	tp_buf_release(&key);
	tp_buf_release(&value);
	return found;
}

bool tp_fleet_same_label(const char *one, const char *other)
{
	const size_t size = strcspn(one, "=");
	return strcspn(other, "=") == size && memcmp(one, other, size) == 0;
}

bool tp_fleet_fits_labels(const char *labels, const char *const *wanted, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bool found = false;
		for (uint32_t j = 0; !found && j < count; j++)
			found = tp_fleet_same_label(wanted[i], wanted[j]) &&
				has_label(labels, wanted[j]);
		if (!found)
			return false;
	}
	return true;
}

// The lines "key=value" of the recorder.
static void add_facts(struct tp_buf *out, const struct tp_tracefile *trace)
{
	struct tp_json json;
	struct tp_buf key;
	struct tp_buf value;
	tp_buf_init(&key);
	tp_buf_init(&value);
	tp_json_init(&json, out, TP_JSON_SPACED);
	tp_json_object(&json, NULL);
	const char *line = trace->host;
	while (line && *line) {
		const char *end = strchrnul(line, '\n');
		const char *equals = memchr(line, '=', (size_t)(end - line));
		if (equals && equals - line < 100) {
			tp_buf_reset(&key);
			tp_buf_reset(&value);
			for (const char *c = line; c < equals; c++)
				tp_buf_add_char(&key, (*c >= 'a' && *c <= 'z') ||
							      (*c >= '0' && *c <= '9') || *c == '_'
							  ? *c
							  : '?');
			tp_buf_add(&value, equals + 1, (size_t)(end - equals - 1));
			tp_json_text(&json, key.data, value.data);
		}
		line = *end ? end + 1 : end;
	}
	tp_json_end(&json);
	out->failed |= key.failed || value.failed;
	tp_buf_release(&key);
	tp_buf_release(&value);
}

static void add_clean(struct tp_parquet *out, const char *text)
{
	struct tp_buf clean;
	tp_buf_init(&clean);
	tp_buf_add_clean(&clean, text);
	tp_parquet_add_text(out, clean.data);
	out->failed |= clean.failed;
	tp_buf_release(&clean);
}

static void add_program(const struct tp_fleet_run *run, struct tp_parquet *out)
{
	const struct tp_tracefile *trace = run->analysis->trace;
	struct tp_buf text;
	char value[256];
	tp_buf_init(&text);
	add_clean(out, run->said->host ? run->said->host : fact(trace, "host", value));
	add_clean(out, trace->arguments && trace->arguments[0] ? trace->arguments[0] : "");
	for (size_t i = 0; trace->arguments && trace->arguments[i]; i++)
		tp_buf_addf(&text, "%s%s", i ? " " : "", trace->arguments[i]);
	add_clean(out, text.data);
	tp_buf_reset(&text);
	// The program is the module that was there first.
	if (trace->module_count)
		for (uint32_t i = 0;
		     i < trace->modules[0].build_id_size && i < TEEPERF_BUILD_ID_SIZE; i++)
			tp_buf_addf(&text, "%02x", trace->modules[0].build_id[i]);
	tp_parquet_add_text(out, text.data);
	add_clean(out, run->said->git_revision ? run->said->git_revision : "");
	tp_buf_reset(&text);
	tp_fleet_labels(&text, run->said);
	tp_parquet_add_text(out, text.data);
	tp_buf_reset(&text);
	add_facts(&text, trace);
	tp_parquet_add_text(out, text.data);
	const char *slash = strrchr(trace->source.name, '/');
	add_clean(out, slash ? slash + 1 : trace->source.name);
	out->failed |= text.failed;
	tp_buf_release(&text);
}

static void add_clock(const struct tp_fleet_run *run, struct tp_parquet *out)
{
	const struct tp_analysis *analysis = run->analysis;
	const struct tp_tracefile *trace = analysis->trace;
	const struct tp_compensation *cost = &analysis->compensation;
	tp_parquet_add_text(
	    out, trace->has_clock ? teeperf_clock_name(trace->clock.kind) : "unknown");
	tp_parquet_add_text(out, analysis->timeless ? "none" : run->timed ? "ns" : "ticks");
	tp_fleet_put_if(out, trace->has_clock, trace->clock.max_gap_ns);
	tp_fleet_put_if(out, trace->has_clock, trace->clock.starved_ns);
	tp_fleet_put(out, cost->applied);
	tp_fleet_put_time(run, out, cost->applied, cost->taken);
}

// A share that the recorder noted.
static void add_share(const struct tp_tracefile *trace, const char *key, struct tp_parquet *out)
{
	char value[256];
	char *end;
	const double share = strtod(fact(trace, key, value), &end);
	if (end == value || *end || !isfinite(share))
		tp_parquet_add_missing(out);
	else
		tp_parquet_add_real(out, share);
}

static void add_counts(const struct tp_fleet_run *run, struct tp_parquet *out)
{
	const struct tp_analysis *analysis = run->analysis;
	const struct tp_tracefile *trace = analysis->trace;
	uint64_t most = 0;
	uint64_t calls = 0;
	uint64_t selected = 0;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		calls += analysis->functions[i].calls;
		selected += analysis->functions[i].selected != NULL;
	}
	tp_fleet_put(out, tp_analysis_is_complete(analysis));
	tp_fleet_put(out, tp_analysis_missing(analysis));
	const bool bounded = tp_analysis_missing_at_most(analysis, &most);
	tp_fleet_put_if(out, bounded, most);
	tp_fleet_put(out, trace->problems.count + analysis->damage.count);
	tp_fleet_put(out, analysis->counts.cut);
	add_share(trace, "budget", out);
	add_share(trace, "budget_overhead", out);
	tp_fleet_put(out, selected);
	tp_fleet_put_if(out, analysis->starvation.has_cpu, analysis->starvation.cpu_ns);
	tp_fleet_put_if(out, analysis->starvation.has_delay, analysis->starvation.delay_ns);
	tp_fleet_put(out, analysis->counts.events);
	tp_fleet_put(out, calls);
	tp_fleet_put(out, analysis->thread_count);
	tp_fleet_put(out, run->rows[TP_FLEET_FUNCTIONS]);
	tp_fleet_put(out, run->rows[TP_FLEET_PATHS]);
	tp_fleet_put_time(run, out, true, analysis->self);
}

void tp_fleet_run_facts(struct tp_fleet_run *run, struct tp_parquet *out)
{
	const struct tp_analysis *analysis = run->analysis;
	const struct tp_tracefile *trace = analysis->trace;
	char value[256];
	tp_parquet_add_text(out, run->id);
	tp_fleet_put(out, trace->header.created_unix_ns);
	tp_fleet_put_if(out, run->timed, tp_analysis_duration_ns(analysis));
	tp_fleet_put_if(out, run->timed, tp_analysis_recorded_ns(analysis));
	add_program(run, out);
	const bool has_code = trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_CODE;
	const bool has_signal = trace->has_end && trace->end.exit_kind == TEEPERF_EXIT_SIGNAL;
	tp_fleet_put_if(out, has_code, trace->end.exit_value);
	tp_fleet_put_if(out, has_signal, trace->end.exit_value);
	add_clean(out, fact(trace, "mode", value));
	add_clock(run, out);
	add_counts(run, out);
	tp_parquet_add_text(out, TEEPERF_VERSION);
}
