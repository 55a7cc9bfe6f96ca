// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runs of a fleet, read again when their files have changed.
#include "store.h"

#include "analyzer/output/format/parquet_read.h"
#include "common/array.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- the table

enum {
	RUN_ID,
	HOST,
	BUILD_ID,
	GIT_REVISION,
	LABELS,
	TRACE,
	COMMAND,
	UNIT,
	FIRST_NUMBER,
	NUMBERS = 11,
};

static int begin_runs(void *context, struct tp_err *err)
{
	struct tp_serve_runs *runs = context;
	(void)err;
	runs->count = 0;
	tp_arena_release(&runs->texts);
	tp_arena_init(&runs->texts);
	runs->text_bytes = 0;
	return 0;
}

const char *tp_serve_copy(
    struct tp_arena *texts, uint64_t *bytes, const char *text, struct tp_err *err)
{
	const size_t size = strlen(text);
	if (!size)
		return "";
	if (size >= TP_SERVE_TEXTS_MAX - *bytes) {
		tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "names, labels and commands of more than %d MiB: "
		    "a table of the fleet is damaged",
		    TP_SERVE_TEXTS_MAX >> 20);
		return NULL;
	}
	const char *copied = tp_arena_copy(texts, text, size);
	if (!copied)
		tp_err_memory(err, NULL);
	*bytes += size + 1;
	return copied;
}

static const char *copy(struct tp_serve_runs *runs, const char *text, struct tp_err *err)
{
	return tp_serve_copy(&runs->texts, &runs->text_bytes, text, err);
}

static int take_runs(void *context, const struct tp_serve_rows *rows, struct tp_err *err)
{
	struct tp_serve_runs *runs = context;
	const char *day = copy(runs, rows->day, err);
	const char *program = day ? copy(runs, rows->program, err) : NULL;
	if (!program)
		return err->code;
	if (rows->count > TP_SERVE_RUNS_MAX - runs->count)
		return tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "more than %d runs: 'teeperf fleet expire' removes old ones",
		    TP_SERVE_RUNS_MAX);
	if (!TP_GROW(runs->items, runs->room, runs->count + rows->count))
		return tp_err_memory(err, NULL);
	for (uint64_t row = 0; row < rows->count; row++) {
		struct tp_serve_run run = {.day = day, .program = program};
		const char **texts[] = {&run.run_id, &run.host, &run.build_id, &run.git_revision,
		    &run.labels, &run.trace, &run.command, &run.unit};
		struct tp_serve_number *numbers[NUMBERS] = {&run.start_unix_ns, &run.duration_ns,
		    &run.processor_ns, &run.processor_delay_ns, &run.self_ns, &run.cost_ns,
		    &run.events, &run.calls, &run.threads, &run.missing_events, &run.complete};
		for (uint32_t i = 0; i < FIRST_NUMBER; i++) {
			*texts[i] = copy(runs, tp_parquet_text(&rows->columns[i], row), err);
			if (!*texts[i])
				return err->code;
		}
		for (uint32_t i = 0; i < NUMBERS; i++) {
			const struct tp_parquet_values *values = &rows->columns[FIRST_NUMBER + i];
			numbers[i]->known = tp_parquet_has(values, row);
			numbers[i]->value = numbers[i]->known ? values->numbers[row] : 0;
		}
		runs->items[runs->count++] = run;
	}
	return 0;
}

static int compare_runs(const void *a, const void *b)
{
	const struct tp_serve_run *x = a;
	const struct tp_serve_run *y = b;
	const int by_start = TP_COMPARE(x->start_unix_ns.value, y->start_unix_ns.value);
	return by_start ? by_start : strcmp(x->run_id, y->run_id);
}

static bool index_runs(struct tp_serve_runs *runs)
{
	if (!tp_index_init(&runs->by_id, runs->count))
		return false;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < runs->count; i++) {
		uint32_t *slot = tp_index_first(&runs->by_id, tp_hash_text(runs->items[i].run_id));
		while (*slot && strcmp(runs->items[*slot - 1].run_id, runs->items[i].run_id) != 0)
			slot = tp_index_next(&runs->by_id, slot);
		// A run that is there twice is damage: it counts once.
		if (*slot)
			continue;
		runs->items[kept++] = runs->items[i];
		*slot = kept;
	}
	runs->count = kept;
	return true;
}

static void release_runs(struct tp_serve_runs *runs)
{
	free(runs->items);
	tp_index_release(&runs->by_id);
	tp_arena_release(&runs->texts);
	*runs = (struct tp_serve_runs){0};
}

// ---- whether they have changed

static int add_state(uint64_t *state, const char *folder, int depth, struct tp_err *err)
{
	static const char *const prefixes[] = {"day=", "program=", "run="};
	struct tp_fleet_names names;
	struct stat status;
	char path[TP_FLEET_PATH];
	int code = tp_fleet_names_read(&names, folder, prefixes[depth], err);
	for (uint32_t i = 0; !code && i < names.count; i++) {
		*state = tp_hash_string(*state, names.items[i]);
		code = tp_fleet_path(path, err, "%s/%s", folder, names.items[i]);
		if (!code && depth < 2)
			code = add_state(state, path, depth + 1, err);
		else if (!code && stat(path, &status) == 0)
			*state = tp_hash_bytes(*state, &status.st_mtim, sizeof(status.st_mtim));
	}
	tp_fleet_names_release(&names);
	return code;
}

int tp_serve_store_refresh(struct tp_serve_store *store, struct tp_err *err)
{
	static const struct tp_serve_scan scan = {
	    .table = TP_FLEET_RUNS,
	    .columns = {"run_id", "host", "build_id", "git_revision", "labels", "trace", "command",
		"unit", "start_unix_ns", "duration_ns", "processor_ns", "processor_delay_ns",
		"self_ns", "cost_ns", "events", "calls", "threads", "missing_events", "complete"},
	    .begin = begin_runs,
	    .take = take_runs,
	};
	struct tp_serve_runs runs = {0};
	struct tp_serve_scan mine = scan;
	char folder[TP_FLEET_PATH];
	uint64_t state = TEEPERF_HASH_START;
	mine.context = &runs;
	tp_arena_init(&runs.texts);
	int code = tp_fleet_path(folder, err, "%s/runs", store->directory);
	if (!code)
		code = add_state(&state, folder, 0, err);
	if (code || (store->has_runs && state == store->runs_state))
		return code;
	code = tp_serve_store_scan(store, &mine, NULL, err);
	if (!code && runs.count)
		qsort(runs.items, runs.count, sizeof(*runs.items), compare_runs);
	if (!code && !index_runs(&runs))
		code = tp_err_memory(err, store->directory);
	if (code) {
		release_runs(&runs);
		return code;
	}
	release_runs(&store->runs);
	store->runs = runs;
	store->has_runs = true;
	store->runs_state = state;
	store->generation++;
	return 0;
}

void tp_serve_store_init(struct tp_serve_store *store, const char *directory, uint64_t memory_limit)
{
	*store = (struct tp_serve_store){.directory = directory, .memory_limit = memory_limit};
	tp_arena_init(&store->runs.texts);
}

void tp_serve_store_release(struct tp_serve_store *store)
{
	store->memory_limit = 0;
	tp_serve_store_done(store);
	release_runs(&store->runs);
}
