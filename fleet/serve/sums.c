// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sums of a set of runs: read once, and kept while there is room.
#include "store.h"

#include "analyzer/output/format/parquet_read.h"
#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint32_t hash_key(const struct tp_serve_sums *sums, int64_t key)
{
	const uint64_t half = (uint64_t)key * sums->secret;
	return (uint32_t)(((half ^ half >> 32) * sums->secret) >> 32);
}

static uint32_t hash_function(const void *sums, uint32_t number)
{
	const struct tp_serve_sums *it = sums;
	return hash_key(it, it->functions[number - 1].key);
}

static uint32_t hash_path(const void *sums, uint32_t number)
{
	const struct tp_serve_sums *it = sums;
	return hash_key(it, it->paths[number - 1].key);
}

static int64_t bucket_key(uint32_t function, int32_t bucket)
{
	return (int64_t)((uint64_t)function << 32 | (uint32_t)bucket);
}

static uint32_t hash_bucket(const void *sums, uint32_t number)
{
	const struct tp_serve_sums *it = sums;
	const struct tp_serve_bucket *bucket = &it->buckets[number - 1];
	return hash_key(it, bucket_key(bucket->function, bucket->bucket));
}

// Take the extremes of a row into *MIN and *MAX, if it has them.
static void take_extremes(uint64_t *min, uint64_t *max, const struct tp_parquet_values *mins,
    const struct tp_parquet_values *maxs, uint64_t row)
{
	if (!tp_parquet_has(mins, row))
		return;
	const uint64_t least = tp_serve_count(mins, row);
	const uint64_t most = tp_serve_count(maxs, row);
	*min = least < *min ? least : *min;
	*max = most > *max ? most : *max;
}

// ---- functions

uint32_t tp_serve_sums_find(const struct tp_serve_sums *sums, int64_t key)
{
	if (!sums->functions_by_key.slots)
		return TP_SERVE_NONE;
	const uint32_t *slot = tp_index_first(&sums->functions_by_key, hash_key(sums, key));
	while (*slot && sums->functions[*slot - 1].key != key)
		slot = tp_index_next(&sums->functions_by_key, slot);
	return *slot ? *slot - 1 : TP_SERVE_NONE;
}

enum {
	F_KEY,
	F_NAME,
	F_MODULE,
	F_FILE,
	F_LINE,
	F_CALLS,
	F_TIMED,
	F_SELF,
	F_INCLUSIVE,
	F_TOTAL,
	F_MIN,
	F_MAX,
	F_CPU,
};

// The function of KEY, made if it is not there; its texts are those of the first row that has it.
static struct tp_serve_function *have_function(
    struct tp_serve_sums *sums, const struct tp_serve_rows *rows, uint64_t row, struct tp_err *err)
{
	const struct tp_parquet_values *columns = rows->columns;
	const int64_t key = tp_parquet_has(&columns[F_KEY], row) ? columns[F_KEY].numbers[row] : 0;
	uint32_t found = tp_serve_sums_find(sums, key);
	if (found != TP_SERVE_NONE)
		return &sums->functions[found];
	if (sums->function_count == TP_SERVE_PATHS_MAX) {
		tp_err_set(err, TP_ERR_LIMIT, NULL,
		    "these runs have more than %d different functions: choose fewer",
		    TP_SERVE_PATHS_MAX);
		return NULL;
	}
	if (!TP_GROW(sums->functions, sums->function_room, sums->function_count + UINT64_C(1)) ||
	    !tp_index_reserve(&sums->functions_by_key, sums->function_count, hash_function, sums)) {
		tp_err_memory(err, NULL);
		return NULL;
	}
	struct tp_serve_function made = {.key = key, .min_ns = UINT64_MAX};
	const char **texts[] = {&made.name, &made.module, &made.file};
	for (uint32_t i = 0; i < 3; i++) {
		*texts[i] = tp_serve_copy(&sums->texts, &sums->text_bytes,
		    tp_parquet_text(&columns[F_NAME + i], row), err);
		if (!*texts[i])
			return NULL;
	}
	if (tp_parquet_has(&columns[F_LINE], row))
		made.line = columns[F_LINE].numbers[row];
	uint32_t *slot = tp_index_first(&sums->functions_by_key, hash_key(sums, key));
	while (*slot)
		slot = tp_index_next(&sums->functions_by_key, slot);
	sums->functions[sums->function_count++] = made;
	*slot = sums->function_count;
	return &sums->functions[sums->function_count - 1];
}

// B. P. Welford, "Note on a method for calculating corrected sums of squares and products", 1962.
static void add_value(struct tp_serve_mean *mean, double x)
{
	const double before = x - mean->mean;
	mean->n++;
	mean->mean += before / (double)mean->n;
	mean->spread += before * (x - mean->mean);
}

static int take_functions(void *context, const struct tp_serve_rows *rows, struct tp_err *err)
{
	struct tp_serve_sums *sums = context;
	const struct tp_parquet_values *columns = rows->columns;
	for (uint64_t row = 0; row < rows->count; row++) {
		if (rows->runs[row] == TP_SERVE_NONE)
			continue;
		struct tp_serve_function *it = have_function(sums, rows, row, err);
		if (!it)
			return err->code;
		const uint64_t timed = tp_serve_count(&columns[F_TIMED], row);
		const uint64_t self = tp_serve_count(&columns[F_SELF], row);
		it->runs++;
		tp_serve_add(&it->calls, tp_serve_count(&columns[F_CALLS], row));
		tp_serve_add(&it->timed_calls, timed);
		tp_serve_add(&it->self_ns, self);
		tp_serve_add(&it->inclusive_ns, tp_serve_count(&columns[F_INCLUSIVE], row));
		tp_serve_add(&it->total_ns, tp_serve_count(&columns[F_TOTAL], row));
		tp_serve_add(&it->cpu_ns, tp_parquet_has(&columns[F_CPU], row)
					      ? tp_serve_count(&columns[F_CPU], row)
					      : self);
		take_extremes(&it->min_ns, &it->max_ns, &columns[F_MIN], &columns[F_MAX], row);
		if (timed && tp_parquet_has(&columns[F_SELF], row)) {
			const uint64_t cpu = tp_serve_count(&columns[F_CPU], row);
			add_value(&it->wall, (double)self / (double)timed);
			if (tp_parquet_has(&columns[F_CPU], row))
				add_value(&it->cpu, (double)cpu / (double)timed);
		}
	}
	return 0;
}

static int begin_functions(void *context, struct tp_err *err)
{
	struct tp_serve_sums *sums = context;
	(void)err;
	sums->function_count = 0;
	tp_index_release(&sums->functions_by_key);
	tp_arena_release(&sums->texts);
	tp_arena_init(&sums->texts);
	sums->text_bytes = 0;
	return 0;
}

// ---- paths

enum { P_KEY, P_FUNCTION, P_RECURSION, P_CALLS, P_SELF, P_MIN, P_MAX };
enum { D_KEY, D_PARENT, D_FUNCTION, D_DEPTH, D_RECURSION };

struct summing {
	struct tp_serve_sums *sums;
	uint8_t *has_new; // of each run of the fleet: it has a path that none before it had
	uint32_t runs;
};

static struct tp_serve_path *have_path(struct tp_serve_sums *sums, int64_t key, bool *is_new)
{
	*is_new = false;
	// Rows are sorted by path, so the next one is mostly that which came next in the run
	// before.
	if (sums->next_path < sums->path_count && sums->paths[sums->next_path].key == key)
		return &sums->paths[sums->next_path++];
	if (!tp_index_reserve(&sums->paths_by_key, sums->path_count, hash_path, sums))
		return NULL;
	uint32_t *slot = tp_index_first(&sums->paths_by_key, hash_key(sums, key));
	while (*slot && sums->paths[*slot - 1].key != key)
		slot = tp_index_next(&sums->paths_by_key, slot);
	if (*slot) {
		sums->next_path = *slot;
		return &sums->paths[*slot - 1];
	}
	if (!TP_GROW(sums->paths, sums->path_room, sums->path_count + UINT64_C(1)))
		return NULL;
	sums->paths[sums->path_count++] =
	    (struct tp_serve_path){.key = key, .min_ns = UINT64_MAX, .parent = TP_SERVE_NONE};
	*slot = sums->path_count;
	sums->next_path = sums->path_count;
	*is_new = true;
	return &sums->paths[sums->path_count - 1];
}

static int too_many(struct tp_err *err)
{
	return tp_err_set(err, TP_ERR_LIMIT, NULL,
	    "these runs have more than %d different call paths: choose fewer", TP_SERVE_PATHS_MAX);
}

static int64_t number(const struct tp_parquet_values *values, uint64_t row)
{
	return tp_parquet_has(values, row) ? values->numbers[row] : 0;
}

static int take_profile(void *context, const struct tp_serve_rows *rows, struct tp_err *err)
{
	struct summing *summing = context;
	const struct tp_parquet_values *columns = rows->columns;
	for (uint64_t row = 0; row < rows->count; row++) {
		bool is_new;
		if (rows->runs[row] == TP_SERVE_NONE)
			continue;
		struct tp_serve_path *it =
		    have_path(summing->sums, number(&columns[P_KEY], row), &is_new);
		if (!it)
			return tp_err_memory(err, NULL);
		if (is_new) {
			if (summing->sums->path_count > TP_SERVE_PATHS_MAX)
				return too_many(err);
			summing->has_new[rows->runs[row]] = 1;
			it->function_key = number(&columns[P_FUNCTION], row);
			it->recursion = (int32_t)number(&columns[P_RECURSION], row);
		}
		tp_serve_add(&it->calls, tp_serve_count(&columns[P_CALLS], row));
		tp_serve_add(&it->self_ns, tp_serve_count(&columns[P_SELF], row));
		take_extremes(&it->min_ns, &it->max_ns, &columns[P_MIN], &columns[P_MAX], row);
	}
	return 0;
}

static int begin_profile(void *context, struct tp_err *err)
{
	struct summing *summing = context;
	(void)err;
	summing->sums->path_count = 0;
	tp_index_release(&summing->sums->paths_by_key);
	memset(summing->has_new, 0, summing->runs);
	return 0;
}

static int take_parents(void *context, const struct tp_serve_rows *rows, struct tp_err *err)
{
	struct summing *summing = context;
	const struct tp_parquet_values *columns = rows->columns;
	for (uint64_t row = 0; row < rows->count; row++) {
		bool is_new;
		if (rows->runs[row] == TP_SERVE_NONE)
			continue;
		struct tp_serve_path *it =
		    have_path(summing->sums, number(&columns[D_KEY], row), &is_new);
		if (!it)
			return tp_err_memory(err, NULL);
		if (is_new && summing->sums->path_count > TP_SERVE_PATHS_MAX)
			return too_many(err);
		it->parent_key = number(&columns[D_PARENT], row);
		it->function_key = number(&columns[D_FUNCTION], row);
		it->depth = (int32_t)number(&columns[D_DEPTH], row);
		it->recursion = (int32_t)number(&columns[D_RECURSION], row);
	}
	return 0;
}

static int compare_depths(const void *a, const void *b)
{
	const struct tp_serve_path *x = a;
	const struct tp_serve_path *y = b;
	const int by_depth = TP_COMPARE(x->depth, y->depth);
	return by_depth ? by_depth : TP_COMPARE(x->key, y->key);
}

const struct tp_serve_path *tp_serve_sums_find_path(const struct tp_serve_sums *sums, int64_t key)
{
	const uint32_t *slot = tp_index_first(&sums->paths_by_key, hash_key(sums, key));
	while (*slot && sums->paths[*slot - 1].key != key)
		slot = tp_index_next(&sums->paths_by_key, slot);
	return *slot ? &sums->paths[*slot - 1] : NULL;
}

// Sort so that a parent is before its children, and number the parents. A file may say anything:
// one that is not before its child is none.
static int link_paths(struct tp_serve_sums *sums, struct tp_err *err)
{
	if (sums->path_count)
		qsort(sums->paths, sums->path_count, sizeof(*sums->paths), compare_depths);
	tp_index_release(&sums->paths_by_key);
	if (!tp_index_init(&sums->paths_by_key, sums->path_count + UINT64_C(1)))
		return tp_err_memory(err, NULL);
	for (uint32_t i = 0; i < sums->path_count; i++) {
		uint32_t *slot = tp_index_first(&sums->paths_by_key, hash_path(sums, i + 1));
		while (*slot)
			slot = tp_index_next(&sums->paths_by_key, slot);
		*slot = i + 1;
	}
	sums->lost_paths = 0;
	for (uint32_t i = 0; i < sums->path_count; i++) {
		struct tp_serve_path *it = &sums->paths[i];
		const struct tp_serve_path *parent = NULL;
		it->parent = TP_SERVE_NONE;
		if (it->parent_key)
			parent = tp_serve_sums_find_path(sums, it->parent_key);
		if (parent >= it)
			parent = NULL;
		if (parent)
			it->parent = (uint32_t)(parent - sums->paths);
		sums->lost_paths += (it->parent_key && !parent) || it->depth == 0;
	}
	return 0;
}

static int sum_paths(struct tp_serve_store *store, struct tp_serve_sums *sums,
    const struct tp_serve_set *set, struct tp_err *err)
{
	struct summing summing = {
	    sums, calloc(store->runs.count + (size_t)1, 1), store->runs.count};
	struct tp_serve_set first = {0};
	const struct tp_serve_scan profile = {
	    .table = TP_FLEET_PROFILE,
	    .columns = {"path_key", "fn_key", "recursion", "calls", "self_ns", "min_ns", "max_ns"},
	    .begin = begin_profile,
	    .take = take_profile,
	    .context = &summing,
	};
	const struct tp_serve_scan parents = {
	    .table = TP_FLEET_PATHS,
	    .columns = {"path_key", "parent_key", "fn_key", "depth", "recursion"},
	    .take = take_parents,
	    .context = &summing,
	};
	first.items = malloc((set->count + (size_t)1) * sizeof(*first.items));
	int code = summing.has_new && first.items ? 0 : tp_err_memory(err, NULL);
	if (!code)
		code = tp_serve_store_scan(store, &profile, set, err);
	for (uint32_t i = 0; !code && i < set->count; i++)
		if (summing.has_new[set->items[i]])
			first.items[first.count++] = set->items[i];
	if (!code)
		code = tp_serve_store_scan(store, &parents, &first, err);
	if (!code)
		code = link_paths(sums, err);
	free(first.items);
	free(summing.has_new);
	sums->has_paths = !code;
	return code;
}

// ---- histograms

enum { H_FUNCTION, H_BUCKET, H_VALUE, H_CALLS };

static int take_buckets(void *context, const struct tp_serve_rows *rows, struct tp_err *err)
{
	struct tp_serve_sums *sums = context;
	const struct tp_parquet_values *columns = rows->columns;
	for (uint64_t row = 0; row < rows->count; row++) {
		if (rows->runs[row] == TP_SERVE_NONE)
			continue;
		const uint32_t function =
		    tp_serve_sums_find(sums, number(&columns[H_FUNCTION], row));
		const int32_t bucket = (int32_t)number(&columns[H_BUCKET], row);
		const int64_t key = bucket_key(function, bucket);
		if (function == TP_SERVE_NONE)
			continue;
		if (!tp_index_reserve(&sums->buckets_by_key, sums->bucket_count, hash_bucket, sums))
			return tp_err_memory(err, NULL);
		uint32_t *slot = tp_index_first(&sums->buckets_by_key, hash_key(sums, key));
		while (*slot && (sums->buckets[*slot - 1].function != function ||
				    sums->buckets[*slot - 1].bucket != bucket))
			slot = tp_index_next(&sums->buckets_by_key, slot);
		if (!*slot) {
			if (sums->bucket_count >= TP_SERVE_BUCKETS_MAX)
				return tp_err_set(err, TP_ERR_LIMIT, NULL,
				    "the histograms of these runs have more than %d buckets: "
				    "choose fewer",
				    TP_SERVE_BUCKETS_MAX);
			if (!TP_GROW(
				sums->buckets, sums->bucket_room, sums->bucket_count + UINT64_C(1)))
				return tp_err_memory(err, NULL);
			sums->buckets[sums->bucket_count++] = (struct tp_serve_bucket){
			    function, bucket, number(&columns[H_VALUE], row), 0};
			*slot = sums->bucket_count;
		}
		tp_serve_add(
		    &sums->buckets[*slot - 1].calls, tp_serve_count(&columns[H_CALLS], row));
	}
	return 0;
}

static int begin_buckets(void *context, struct tp_err *err)
{
	struct tp_serve_sums *sums = context;
	(void)err;
	sums->bucket_count = 0;
	tp_index_release(&sums->buckets_by_key);
	return 0;
}

static int compare_buckets(const void *a, const void *b)
{
	const struct tp_serve_bucket *x = a;
	const struct tp_serve_bucket *y = b;
	const int by_function = TP_COMPARE(x->function, y->function);
	return by_function ? by_function : TP_COMPARE(x->bucket, y->bucket);
}

static void sort_buckets(struct tp_serve_sums *sums)
{
	if (sums->bucket_count)
		qsort(sums->buckets, sums->bucket_count, sizeof(*sums->buckets), compare_buckets);
	tp_index_release(&sums->buckets_by_key);
	for (uint32_t i = 0; i < sums->bucket_count; i++) {
		struct tp_serve_function *function = &sums->functions[sums->buckets[i].function];
		if (!function->bucket_to)
			function->bucket_from = i;
		function->bucket_to = i + 1;
	}
}

int64_t tp_serve_quantile(const struct tp_serve_bucket *buckets, uint32_t count, double quantile)
{
	uint64_t all = 0;
	uint64_t below = 0;
	for (uint32_t i = 0; i < count; i++)
		tp_serve_add(&all, buckets[i].calls);
	const double wanted = ceil(quantile * (double)all);
	for (uint32_t i = 0; i < count; i++) {
		tp_serve_add(&below, buckets[i].calls);
		if (all && (double)below >= wanted)
			return buckets[i].value_ns;
	}
	return -1;
}

// ---- the sets that were asked for last

static uint64_t size_of(const struct tp_serve_sums *sums)
{
	const uint64_t index = 2 * sizeof(uint32_t);
	return sizeof(*sums) + (uint64_t)sums->function_room * (sizeof(*sums->functions) + index) +
	       sums->text_bytes + (uint64_t)sums->path_room * (sizeof(*sums->paths) + index) +
	       (uint64_t)sums->bucket_room * sizeof(*sums->buckets);
}

static void release(struct tp_serve_sums *sums)
{
	free(sums->functions);
	free(sums->paths);
	free(sums->buckets);
	tp_index_release(&sums->functions_by_key);
	tp_index_release(&sums->paths_by_key);
	tp_index_release(&sums->buckets_by_key);
	tp_arena_release(&sums->texts);
	free(sums);
}

void tp_serve_store_done(struct tp_serve_store *store)
{
	uint64_t bytes = 0;
	struct tp_serve_sums **at = &store->sums;
	while (*at) {
		struct tp_serve_sums *it = *at;
		it->used = false;
		bytes += size_of(it);
		if (bytes > store->memory_limit) {
			*at = it->next;
			release(it);
		} else {
			at = &it->next;
		}
	}
}

// Those of the set, made empty if they are not there; first of all.
static struct tp_serve_sums *have_sums(struct tp_serve_store *store, const struct tp_serve_set *set)
{
	struct tp_serve_sums **at = &store->sums;
	while (*at && (memcmp((*at)->hash, set->hash, sizeof(set->hash)) != 0 ||
			  (*at)->runs != set->count))
		at = &(*at)->next;
	struct tp_serve_sums *found = *at;
	if (found) {
		*at = found->next;
	} else {
		found = calloc(1, sizeof(*found));
		if (!found)
			return NULL;
		memcpy(found->hash, set->hash, sizeof(set->hash));
		found->runs = set->count;
		found->secret = UINT64_C(0x9e3779b97f4a7c15);
		uint64_t random;
		if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
			found->secret = random | 1;
		tp_arena_init(&found->texts);
	}
	found->next = store->sums;
	store->sums = found;
	return found;
}

// Before more is read, what no request uses goes if there is too much of it.
static void make_room(struct tp_serve_store *store)
{
	uint64_t bytes = 0;
	struct tp_serve_sums **at = &store->sums;
	while (*at) {
		struct tp_serve_sums *it = *at;
		bytes += size_of(it);
		if (bytes > store->memory_limit && !it->used) {
			*at = it->next;
			release(it);
		} else {
			at = &it->next;
		}
	}
}

struct tp_serve_sums *tp_serve_store_sums(struct tp_serve_store *store,
    const struct tp_serve_set *set, uint32_t parts, struct tp_err *err)
{
	const struct tp_serve_scan functions = {
	    .table = TP_FLEET_FUNCTIONS,
	    .columns = {"fn_key", "function", "module", "file", "line", "calls", "timed_calls",
		"self_ns", "inclusive_ns", "total_ns", "min_ns", "max_ns", "self_cpu_ns"},
	    .begin = begin_functions,
	    .take = take_functions,
	};
	const struct tp_serve_scan buckets = {
	    .table = TP_FLEET_HISTOGRAMS,
	    .columns = {"fn_key", "bucket", "value_ns", "calls"},
	    .begin = begin_buckets,
	    .take = take_buckets,
	};
	struct tp_serve_scan scan;
	struct tp_serve_sums *sums = have_sums(store, set);
	int code = sums ? 0 : tp_err_memory(err, NULL);
	if (code)
		return NULL;
	sums->used = true;
	make_room(store);
	// Buckets are numbered by functions, so those come first.
	if (!sums->has_functions) {
		scan = functions;
		scan.context = sums;
		code = tp_serve_store_scan(store, &scan, set, err);
		sums->has_functions = !code;
	}
	if (!code && (parts & TP_SERVE_PATHS) && !sums->has_paths)
		code = sum_paths(store, sums, set, err);
	if (!code && (parts & TP_SERVE_BUCKETS) && !sums->has_buckets) {
		scan = buckets;
		scan.context = sums;
		code = tp_serve_store_scan(store, &scan, set, err);
		if (!code)
			sort_buckets(sums);
		sums->has_buckets = !code;
	}
	return code ? NULL : sums;
}
