// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view "inverted": functions by their self time, and below each of them who called it, who
// called that, and so on. Threads are summed.
#define _GNU_SOURCE
#include "analyzer/output/grid.h"
#include "analyzer/profile/paths.h"
#include "common/array.h"

#include <inttypes.h>
#include <stdlib.h>

// Without a limit by --min-share, the output grows with the depth of all paths together.
#define STEPS_MAX (UINT64_C(1) << 26)
#define ROWS_MAX (UINT64_C(1) << 22)

// A path, and how far up from it the tree has come. Each is in one branch at a time.
struct entry {
	uint32_t path;
	uint32_t at;
};

// Entries of one function that stand in a row.
struct branch {
	uint32_t function;
	size_t first;
	size_t count;
	uint32_t depth;
	uint64_t self;
	uint64_t calls;
};

struct inverted {
	const struct tp_analysis *analysis;
	struct tp_paths paths;
	struct entry *entries;
	struct branch *branches;
	size_t branch_count;
	size_t branch_capacity;
	uint64_t steps;
	uint64_t least;
	struct tp_grid grid;
};

static uint64_t weight_of(const struct inverted *inverted, const struct branch *branch)
{
	return inverted->analysis->timeless ? branch->calls : branch->self;
}

static uint32_t function_of(const struct inverted *inverted, const struct entry *entry)
{
	return inverted->paths.items[entry->at].function;
}

static int by_function(const void *a, const void *b, void *context)
{
	const struct entry *x = a;
	const struct entry *y = b;
	const int order = TP_COMPARE(function_of(context, x), function_of(context, y));
	return order ? order : TP_COMPARE(x->path, y->path);
}

// Ascending, as the heaviest must be last to be printed first.
static int by_weight(const void *a, const void *b, void *context)
{
	const struct branch *x = a;
	const struct branch *y = b;
	const int order = TP_COMPARE(weight_of(context, x), weight_of(context, y));
	return order ? order : TP_COMPARE(y->function, x->function);
}

// Most often they are in order already: the callers of what was sorted by callees.
static void sort(struct inverted *inverted, struct entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (by_function(&entries[i - 1], &entries[i], inverted) > 0) {
			qsort_r(entries, count, sizeof(*entries), by_function, inverted);
			return;
		}
}

// The branches that COUNT entries from FIRST on make, at DEPTH. False: no memory.
static bool split(struct inverted *inverted, size_t first, size_t count, uint32_t depth)
{
	const struct entry *entries = inverted->entries + first;
	const size_t before = inverted->branch_count;
	sort(inverted, inverted->entries + first, count);
	for (size_t i = 0; i < count;) {
		const uint32_t function = function_of(inverted, &entries[i]);
		struct branch branch = {.function = function, .first = first + i, .depth = depth};
		for (; i < count && function_of(inverted, &entries[i]) == function; i++) {
			branch.self += inverted->paths.items[entries[i].path].self;
			branch.calls += inverted->paths.items[entries[i].path].calls;
			branch.count++;
		}
		if (!TP_GROW(
			inverted->branches, inverted->branch_capacity, inverted->branch_count + 1))
			return false;
		inverted->branches[inverted->branch_count++] = branch;
	}
	if (inverted->branch_count > before)
		qsort_r(inverted->branches + before, inverted->branch_count - before,
		    sizeof(*inverted->branches), by_weight, inverted);
	return true;
}

static void add_row(struct inverted *inverted, const struct branch *branch)
{
	const struct tp_analysis *analysis = inverted->analysis;
	struct tp_grid *grid = &inverted->grid;
	tp_grid_number(grid, branch->depth);
	tp_grid_time(grid, true, branch->self);
	tp_grid_share(grid, branch->self, analysis->self);
	tp_grid_count(grid, branch->calls);
	tp_grid_indented(grid, analysis->functions[branch->function].symbol.name, branch->depth);
}

// Add the row of the topmost branch, and put its callers in its place.
static int expand(struct inverted *inverted, struct tp_err *err)
{
	const struct branch branch = inverted->branches[--inverted->branch_count];
	if (weight_of(inverted, &branch) < inverted->least || tp_grid_full(&inverted->grid)) {
		inverted->grid.more++;
		return 0;
	}
	add_row(inverted, &branch);
	inverted->steps += branch.count;
	if (inverted->steps > STEPS_MAX || inverted->grid.rows > ROWS_MAX)
		return tp_err_set(err, TP_ERR_LIMIT, inverted->analysis->trace->source.name,
		    "too many callers to show: use --min-share, --limit or --depth");
	size_t count = 0;
	struct entry *entries = inverted->entries + branch.first;
	for (size_t i = 0; i < branch.count; i++) {
		const uint32_t parent = inverted->paths.items[entries[i].at].parent;
		if (parent)
			entries[count++] = (struct entry){entries[i].path, parent};
	}
	if (split(inverted, branch.first, count, branch.depth + 1))
		return 0;
	return tp_err_memory(err, inverted->analysis->trace->source.name);
}

static int render(const struct tp_analysis *analysis, const struct tp_view_options *options,
    bool *marks, struct tp_buf *out, struct tp_err *err)
{
	(void)marks;
	static const struct tp_column columns[] = {
	    {NULL, "depth", 'r', 0, false, false},
	    {"self", "self_ns", 'r', 0, true, false},
	    {"share", NULL, 'r', 0, true, false},
	    {"calls", "calls", 'r', 0, false, false},
	    {"function", "function", 'l', 0, false, true},
	    {0},
	};
	struct inverted inverted = {.analysis = analysis};
	int code = tp_paths_init(&inverted.paths, analysis, err);
	if (code)
		goto out;
	inverted.entries = calloc(inverted.paths.count, sizeof(*inverted.entries));
	if (!inverted.entries) {
		code = tp_err_memory(err, analysis->trace->source.name);
		goto out;
	}
	size_t count = 0;
	uint64_t calls = 0;
	for (uint32_t i = 1; i < inverted.paths.count; i++) {
		calls += inverted.paths.items[i].calls;
		if (inverted.paths.items[i].calls || inverted.paths.items[i].self)
			inverted.entries[count++] = (struct entry){i, i};
	}
	inverted.least =
	    (uint64_t)((double)(analysis->timeless ? calls : analysis->self) * options->min_share);
	tp_grid_init(&inverted.grid, analysis, options, columns, "inverted", NULL, out);
	inverted.grid.left_out = "lighter branches left out: see --min-share and --limit";
	if (!split(&inverted, 0, count, 1))
		code = tp_err_memory(err, analysis->trace->source.name);
	while (!code && inverted.branch_count)
		code = expand(&inverted, err);
	code = tp_grid_end(&inverted.grid, code, err);
out:
	free(inverted.branches);
	free(inverted.entries);
	tp_paths_release(&inverted.paths);
	return code;
}

const struct tp_view tp_view_inverted = {
    .name = "inverted",
    .summary = "functions by self time, with their callers below",
    .render = render,
};
