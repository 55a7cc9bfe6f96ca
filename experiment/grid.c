// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cells, their names, and the order of runs.
#include "grid.h"

#include "common/array.h"
#include "common/hash.h"
#include "common/spelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- random numbers

uint64_t tp_random_next(struct tp_random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t tp_random_below(struct tp_random *random, uint64_t below)
{
	// The remainder at the end of the range would favour small numbers.
	const uint64_t usable = UINT64_MAX - UINT64_MAX % below;
	uint64_t number;
	do
		number = tp_random_next(random);
	while (number >= usable);
	return number % below;
}

// ---- placeholders

const char *tp_grid_value(
    const struct tp_plan *plan, const struct tp_grid_cell *cell, const char *name)
{
	for (uint32_t i = 0; i < plan->column_count; i++)
		if (strcmp(plan->columns[i], name) == 0)
			return cell->values[i];
	return NULL;
}

// Names that are no factors. The existing harness writes num_threads; here threads is the same.
enum { NAMES_MOST = 8 };
static const char *const own_names[] = {"output_directory", "build_directory", "cell_directory",
    "plan_directory", "iteration", "task", "variant", NULL};

// What NAME stands for: into *VALUE, NULL if it stays as it is. False: nothing.
static bool find_value(
    const struct tp_expansion *in, const char *name, char number[16], const char **value)
{
	const struct tp_grid_cell *cell = in->cell;
	const char *const values[] = {in->output_directory, in->build_directory, in->cell_directory,
	    in->plan->folder, number, cell->task->name, cell->variant->name};
	_Static_assert(sizeof(values) / sizeof(*values) + 1 == NAMES_MOST, "a value for each name");
	if (in->output_directory)
		snprintf(number, 16, "%u", in->iteration);
	for (int i = 0; own_names[i]; i++) {
		if (strcmp(name, own_names[i]))
			continue;
		*value = values[i] == number && !in->output_directory ? NULL : values[i];
		return true;
	}
	*value = tp_grid_value(in->plan, cell, name);
	if (!*value && strcmp(name, "threads") == 0)
		*value = tp_grid_value(in->plan, cell, TP_FACTOR_THREADS);
	else if (!*value && strcmp(name, TP_FACTOR_THREADS) == 0)
		*value = tp_grid_value(in->plan, cell, "threads");
	return *value != NULL;
}

static int fail_unknown(const struct tp_expansion *in, const struct tp_plan_text *text,
    const char *name, struct tp_err *err)
{
	const char *known[128] = {NULL};
	uint32_t count = 0;
	struct tp_buf list;
	tp_buf_init(&list);
	for (uint32_t i = 0; i < in->plan->column_count && count < 100; i++)
		if (in->cell->values[i])
			known[count++] = in->plan->columns[i];
	for (int i = 0; own_names[i]; i++)
		known[count++] = own_names[i];
	for (uint32_t i = 0; i < count; i++)
		tp_buf_addf(&list, "%s%s", i ? ", " : "", known[i]);
	const char *nearest = tp_spelling_nearest(name, known);
	tp_plan_fail(in->plan, text->place, err,
	    "'{{ %s }}' is not a placeholder of task '%s', variant '%s'%s%s%s; there are %s", name,
	    in->cell->task->name, in->cell->variant->name, nearest ? "; did you mean '{{ " : "",
	    nearest ? nearest : "", nearest ? " }}'?" : "", list.data);
	tp_buf_release(&list);
	return TP_ERR_SYNTAX;
}

int tp_expand(const struct tp_expansion *in, const struct tp_plan_text *text, struct tp_buf *out,
    struct tp_err *err)
{
	const char *at = text->text;
	for (const char *open; (open = strstr(at, "{{"));) {
		const char *close = strstr(open, "}}");
		if (!close)
			return tp_plan_fail(in->plan, text->place, err,
			    "'{{' has no '}}'; write {{ name }}, or pass such text in a file");
		tp_buf_add(out, at, (size_t)(open - at));
		const char *name_at = open + 2 + strspn(open + 2, " \t");
		size_t size = (size_t)(close - name_at);
		while (size && (name_at[size - 1] == ' ' || name_at[size - 1] == '\t'))
			size--;
		char name[64];
		char number[16];
		const char *value = NULL;
		snprintf(name, sizeof(name), "%.*s", (int)(size < 1000 ? size : 1000), name_at);
		if (name_at > close || !find_value(in, name, number, &value))
			return fail_unknown(in, text, name, err);
		if (value)
			tp_buf_add_string(out, value);
		else
			tp_buf_addf(out, "{{ %s }}", name);
		at = close + 2;
	}
	tp_buf_add_string(out, at);
	return 0;
}

// ---- cells

// The part of a folder's name: what others than these would have to be quoted for, or hide it.
static void add_part(struct tp_buf *out, const char *text)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+=-";
	for (; *text; text++)
		tp_buf_add_char(out,
		    strchr(plain, *text) && !((*text == '.' || *text == '-') && !out->size) ? *text
											    : '_');
}

static const char *name_cell(
    const struct tp_plan *plan, const struct tp_grid_cell *cell, struct tp_arena *arena)
{
	struct tp_buf name;
	tp_buf_init(&name);
	add_part(&name, cell->task->name);
	tp_buf_add_char(&name, '-');
	add_part(&name, cell->variant->name);
	for (uint32_t i = 0; i < plan->column_count; i++)
		if (cell->values[i]) {
			tp_buf_add_char(&name, '-');
			add_part(&name, cell->values[i]);
		}
	// A name has 255 bytes; a suffix may follow.
	const size_t size = name.size < 200 ? name.size : 200;
	const char *copy = name.failed ? NULL : tp_arena_copy(arena, name.data, size);
	tp_buf_release(&name);
	return copy;
}

static int compare_names(const void *a, const void *b)
{
	const struct tp_grid_cell *x = *(struct tp_grid_cell *const *)a;
	const struct tp_grid_cell *y = *(struct tp_grid_cell *const *)b;
	const int order = strcmp(x->name, y->name);
	return order ? order : TP_COMPARE(x, y);
}

// What was not fit for a name, or was cut, may have made two of them alike: those end in a hash of
// their values.
static bool part_names(struct tp_grid *grid, struct tp_arena *arena)
{
	struct tp_grid_cell **sorted =
	    malloc((grid->cell_count + 1) * sizeof(struct tp_grid_cell *));
	bool ok = sorted;
	for (uint32_t i = 0; ok && i < grid->cell_count; i++)
		sorted[i] = &grid->cells[i];
	if (ok)
		qsort(sorted, grid->cell_count, sizeof(*sorted), compare_names);
	for (uint32_t i = 0; ok && i < grid->cell_count;) {
		uint32_t end = i + 1;
		while (end < grid->cell_count && !strcmp(sorted[i]->name, sorted[end]->name))
			end++;
		for (uint32_t j = i; ok && end - i > 1 && j < end; j++) {
			uint64_t hash = tp_hash_string(TEEPERF_HASH_START, sorted[j]->task->name);
			hash = tp_hash_string(hash, sorted[j]->variant->name);
			for (uint32_t k = 0; k < grid->plan->column_count; k++)
				hash = tp_hash_string(
				    hash, sorted[j]->values[k] ? sorted[j]->values[k] : "\x01");
			char name[240];
			const int size = snprintf(name, sizeof(name), "%s-%016llx", sorted[j]->name,
			    (unsigned long long)hash);
			sorted[j]->name = tp_arena_copy(arena, name, (size_t)size);
			ok = sorted[j]->name;
		}
		i = end;
	}
	free(sorted);
	return ok;
}

static bool in_gramine(const struct tp_variant *variant)
{
	return variant->kind == TP_VARIANT_GRAMINE_DIRECT ||
	       variant->kind == TP_VARIANT_GRAMINE_SGX;
}

// The factors of a task in a variant: its own, and of Gramine the kinds of folders.
static uint32_t list_factors(
    const struct tp_task *task, const struct tp_variant *variant, struct tp_factor *list)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < task->factors.count; i++)
		if (task->factors.items[i].values.count)
			list[count++] = task->factors.items[i];
	if (task->storage.count && in_gramine(variant))
		list[count++] = (struct tp_factor){TP_FACTOR_STORAGE, task->storage};
	return count;
}

// All combinations, the last factor changing fastest.
static int add_cells(struct tp_grid *grid, uint64_t *room, const struct tp_task *task,
    const struct tp_variant *variant, struct tp_err *err)
{
	struct tp_plan *plan = grid->plan;
	struct tp_arena *arena = &plan->arena;
	struct tp_factor *factors = calloc(task->factors.count + 1, sizeof(*factors));
	uint32_t *at = calloc(task->factors.count + 1, sizeof(*at));
	int code = factors && at ? 0 : tp_err_memory(err, plan->file);
	const uint32_t count = code ? 0 : list_factors(task, variant, factors);
	for (bool more = !code; more && !code;) {
		const char **values =
		    tp_arena_alloc(arena, (plan->column_count + 1) * sizeof(*values));
		if (!values || !TP_GROW(grid->cells, *room, grid->cell_count + 1)) {
			code = tp_err_memory(err, plan->file);
			break;
		}
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t j = 0; j < plan->column_count; j++)
				if (strcmp(plan->columns[j], factors[i].name) == 0)
					values[j] = factors[i].values.items[at[i]].text;
		struct tp_grid_cell *cell = &grid->cells[grid->cell_count++];
		*cell = (struct tp_grid_cell){.task = task, .variant = variant, .values = values};
		cell->name = name_cell(plan, cell, arena);
		if (!cell->name)
			code = tp_err_memory(err, plan->file);
		else if (grid->cell_count > TP_GRID_CELLS_MOST)
			code = tp_plan_fail(plan, task->place, err,
			    "more than %d experiments; give factors fewer values",
			    TP_GRID_CELLS_MOST);
		more = false;
		for (uint32_t i = count; i-- && !more;) {
			more = ++at[i] < factors[i].values.count;
			if (!more)
				at[i] = 0;
		}
	}
	free(factors);
	free(at);
	return code;
}

// Placeholders are wrong before anything runs, or never.
static int check_text(const struct tp_expansion *in, const struct tp_plan_text *text,
    struct tp_buf *out, struct tp_err *err)
{
	tp_buf_reset(out);
	return text->text ? tp_expand(in, text, out, err) : 0;
}

static int check_texts(const struct tp_expansion *in, const struct tp_plan_texts *texts,
    struct tp_buf *out, struct tp_err *err)
{
	int code = 0;
	for (uint32_t i = 0; i < texts->count && !code; i++)
		code = check_text(in, &texts->items[i], out, err);
	return code;
}

static int check_step(const struct tp_expansion *in, const struct tp_step *step, struct tp_buf *out,
    struct tp_err *err)
{
	const int code = check_text(in, &step->executable, out, err);
	return code ? code : check_texts(in, &step->args, out, err);
}

static int check_cell(
    const struct tp_grid *grid, const struct tp_grid_cell *cell, struct tp_err *err)
{
	const struct tp_expansion in = {.plan = grid->plan, .cell = cell};
	const struct tp_task *task = cell->task;
	const struct tp_variant *variant = cell->variant;
	const struct tp_variables *env[] = {&task->env, &variant->env};
	struct tp_buf out;
	tp_buf_init(&out);
	int code = check_step(&in, &task->program, &out, err);
	for (int i = 0; i < 2; i++)
		for (uint32_t j = 0; j < env[i]->count && !code; j++)
			code = check_text(&in, &env[i]->items[j].value, &out, err);
	if (!code)
		code = check_text(&in, &task->cwd, &out, err);
	if (!code)
		code = check_step(&in, &task->pre_run, &out, err);
	if (!code)
		code = check_step(&in, &task->post_run, &out, err);
	if (!code)
		code = check_text(&in, &variant->executable, &out, err);
	if (!code)
		code = check_texts(&in, &variant->options, &out, err);
	tp_buf_release(&out);
	return code;
}

int tp_grid_make(struct tp_grid *grid, struct tp_plan *plan, struct tp_err *err)
{
	uint64_t room = 0;
	int code = 0;
	*grid = (struct tp_grid){.plan = plan};
	for (uint32_t i = 0; i < plan->task_count && !code; i++)
		for (uint32_t j = 0; j < plan->tasks[i].variant_count && !code; j++)
			code = add_cells(
			    grid, &room, &plan->tasks[i], plan->tasks[i].variants[j], err);
	if (!code && !part_names(grid, &plan->arena))
		code = tp_err_memory(err, plan->file);
	for (uint32_t i = 0; i < grid->cell_count && !code; i++)
		code = check_cell(grid, &grid->cells[i], err);
	return code;
}

void tp_grid_release(struct tp_grid *grid)
{
	free(grid->cells);
	free(grid->runs);
	*grid = (struct tp_grid){0};
}

// ---- order

static void shuffle(struct tp_run *runs, uint32_t count, struct tp_random *random)
{
	for (uint32_t i = count; i > 1; i--) {
		const uint32_t other = (uint32_t)tp_random_below(random, i);
		const struct tp_run run = runs[i - 1];
		runs[i - 1] = runs[other];
		runs[other] = run;
	}
}

// Of a variant that measures something of its own, the trace would be that of the program as it is.
static bool is_traced(const struct tp_grid_cell *cell)
{
	return cell->task->repeat.deep_trace && (cell->variant->kind == TP_VARIANT_NATIVE ||
						    cell->variant->kind == TP_VARIANT_TEEPERF);
}

int tp_grid_order(struct tp_grid *grid, uint64_t seed, struct tp_err *err)
{
	uint64_t count = 0;
	uint64_t rounds = 0;
	for (uint32_t i = 0; i < grid->cell_count; i++) {
		const struct tp_repeat *repeat = &grid->cells[i].task->repeat;
		count += repeat->samples + is_traced(&grid->cells[i]);
		rounds = repeat->samples > rounds ? repeat->samples : rounds;
		if (count > TP_GRID_RUNS_MOST)
			return tp_plan_fail(grid->plan, grid->cells[i].task->place, err,
			    "more than %d runs; give factors fewer values, or a smaller "
			    "sample_size",
			    TP_GRID_RUNS_MOST);
	}
	free(grid->runs);
	grid->runs = calloc(count + 1, sizeof(*grid->runs));
	grid->run_count = 0;
	if (!grid->runs)
		return tp_err_memory(err, grid->plan->file);
	for (uint32_t round = 1; round <= rounds; round++) {
		// A round's order depends on its number alone, not on how many there are.
		struct tp_random random = {seed + round * UINT64_C(0xd1342543de82ef95)};
		struct tp_run *first = &grid->runs[grid->run_count];
		for (uint32_t i = 0; i < grid->cell_count; i++)
			if (round <= grid->cells[i].task->repeat.samples)
				grid->runs[grid->run_count++] =
				    (struct tp_run){i, round, TP_RUN_MEASURED};
		shuffle(first, (uint32_t)(&grid->runs[grid->run_count] - first), &random);
	}
	for (uint32_t i = 0; i < grid->cell_count; i++)
		if (is_traced(&grid->cells[i]))
			grid->runs[grid->run_count++] = (struct tp_run){i, 0, TP_RUN_DEEP_TRACE};
	return 0;
}
