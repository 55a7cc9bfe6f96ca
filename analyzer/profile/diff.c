// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has changed between runs.
#include "diff.h"

#include "analyzer/profile/paths.h"
#include "common/hash.h"
#include "common/index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct builder {
	struct tp_diff *diff;
	const struct tp_analysis *const *runs;
	struct tp_index index;          // of items
	struct tp_diff_item *functions; // of paths: of all runs
	uint32_t function_count;
	struct tp_index function_index;
	const char
	    *programs[TP_DIFF_RUNS_MAX]; // of each run the module that is the program, or NULL
	uint32_t *item_functions;        // of paths: of each item
};

// What a function is known by: its name in the symbol table, or the shown one if there is none.
static const char *key_of(const struct tp_symbol *symbol)
{
	return symbol->linkage[0] ? symbol->linkage : symbol->name;
}

static bool has_module(const struct tp_analysis *analysis, const char *module)
{
	for (uint32_t i = 0; i < analysis->function_count; i++)
		if (strcmp(analysis->functions[i].symbol.module, module) == 0)
			return true;
	return false;
}

// The module that has the name of the program that was run; if none has, the first one, unless it
// is a library.
static const char *program_of(const struct tp_analysis *analysis)
{
	const char *program = tp_tracefile_program(analysis->trace);
	const char *first = NULL;
	for (uint32_t i = 0; i < analysis->function_count; i++) {
		const struct tp_symbol *symbol = &analysis->functions[i].symbol;
		if (symbol->module[0] && strcmp(symbol->module, program) == 0)
			return symbol->module;
		if (symbol->place == 0 && symbol->module[0] && !strstr(symbol->module, ".so"))
			first = symbol->module;
	}
	return first;
}

// Files may have been renamed: in all runs the program goes by the name that it has in the first.
static const char *module_of(const struct builder *builder, uint32_t run, const char *module)
{
	const char *program = builder->programs[run];
	return program && strcmp(module, program) == 0 ? builder->programs[0] : module;
}

static void find_programs(struct builder *builder)
{
	builder->programs[0] = program_of(builder->runs[0]);
	for (uint32_t i = 1; builder->programs[0] && i < builder->diff->runs; i++) {
		const char *program = program_of(builder->runs[i]);
		// What has that name already is something else.
		if (program && !has_module(builder->runs[i], builder->programs[0]))
			builder->programs[i] = program;
	}
}

static uint32_t find_function(struct tp_index *index, struct tp_diff_item *items, uint32_t *count,
    const struct tp_symbol *symbol, const char *module)
{
	const char *key = key_of(symbol);
	uint32_t *slot =
	    tp_index_first(index, tp_hash_string(tp_hash_string(TEEPERF_HASH_START, key), module));
	while (*slot && (strcmp(items[*slot - 1].linkage, key) != 0 ||
			    strcmp(items[*slot - 1].module, module) != 0))
		slot = tp_index_next(index, slot);
	if (!*slot) {
		items[*count] = (struct tp_diff_item){symbol->name, key, module, UINT32_MAX};
		*slot = ++*count;
	}
	return *slot - 1;
}

static uint32_t find_path(struct builder *builder, uint32_t parent, uint32_t function)
{
	struct tp_diff *diff = builder->diff;
	uint32_t *slot = tp_index_first(&builder->index, tp_hash_pair(parent, function));
	while (*slot && (diff->items[*slot - 1].parent != parent ||
			    builder->item_functions[*slot - 1] != function))
		slot = tp_index_next(&builder->index, slot);
	if (!*slot) {
		diff->items[diff->count] = builder->functions[function];
		diff->items[diff->count].parent = parent;
		builder->item_functions[diff->count] = function;
		*slot = ++diff->count;
	}
	return *slot - 1;
}

static double *values_of(const struct tp_diff *diff, uint32_t item, uint32_t run)
{
	return &diff->values[((size_t)item * diff->runs + run) * TP_DIFF_METRICS];
}

static double ns_of(const struct tp_analysis *analysis, uint64_t ticks)
{
	return analysis->timeless ? 0 : (double)tp_timebase_ns(&analysis->time, ticks);
}

// The part of TICKS, or of the wall time that PARTS make up, that is compared.
static uint64_t compared(const struct tp_diff *diff, const struct tp_analysis *analysis,
    uint64_t ticks, uint64_t cpu, const struct tp_off *off)
{
	if (analysis->options.time == diff->time)
		return ticks;
	return diff->time == TP_TIME_CPU    ? cpu
	       : diff->time == TP_TIME_WAIT ? off->blocked
					    : off->preempted;
}

static uint64_t compared_self(const struct tp_diff *diff, const struct tp_analysis *analysis,
    uint64_t ticks, const struct tp_node_parts *parts)
{
	return compared(diff, analysis, ticks, parts->self_cpu, &parts->self_off);
}

static uint64_t compared_inclusive(const struct tp_diff *diff, const struct tp_analysis *analysis,
    uint64_t ticks, const struct tp_node_parts *parts)
{
	return compared(diff, analysis, ticks, parts->inclusive_cpu, &parts->inclusive_off);
}

static bool allocate(struct builder *builder, uint64_t items)
{
	struct tp_diff *diff = builder->diff;
	if (items > UINT32_MAX / 4)
		return false;
	diff->items = calloc(items + 1, sizeof(*diff->items));
	diff->values =
	    calloc(items + 1, (size_t)diff->runs * TP_DIFF_METRICS * sizeof(*diff->values));
	return diff->items && diff->values && tp_index_init(&builder->index, items);
}

static uint64_t count_functions(const struct builder *builder)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < builder->diff->runs; i++)
		count += builder->runs[i]->function_count;
	return count;
}

static bool add_functions(struct builder *builder)
{
	struct tp_diff *diff = builder->diff;
	if (!allocate(builder, count_functions(builder)))
		return false;
	for (uint32_t i = 0; i < diff->runs; i++) {
		const struct tp_analysis *analysis = builder->runs[i];
		for (uint32_t j = 0; j < analysis->function_count; j++) {
			const struct tp_function *function = &analysis->functions[j];
			const uint32_t item =
			    find_function(&builder->index, diff->items, &diff->count,
				&function->symbol, module_of(builder, i, function->symbol.module));
			double *values = values_of(diff, item, i);
			const uint64_t self =
			    compared_self(diff, analysis, function->self, &function->parts);
			const uint64_t inclusive = compared_inclusive(
			    diff, analysis, function->inclusive, &function->parts);
			values[TP_DIFF_SELF] += ns_of(analysis, tp_function_scaled(function, self));
			values[TP_DIFF_INCLUSIVE] +=
			    ns_of(analysis, tp_function_scaled(function, inclusive));
			values[TP_DIFF_CALLS] += (double)function->calls;
			values[TP_DIFF_WALL_SELF] += ns_of(analysis, function->scaled_self);
			values[TP_DIFF_WALL_INCLUSIVE] +=
			    ns_of(analysis, function->scaled_inclusive);
		}
	}
	return true;
}

// The items of a run's paths, whose parents come before them.
static bool add_run(struct builder *builder, uint32_t run, const struct tp_paths *paths)
{
	const struct tp_analysis *analysis = builder->runs[run];
	uint32_t *items = calloc(paths->count, sizeof(*items));
	uint32_t *functions = calloc((size_t)analysis->function_count + 1, sizeof(*functions));
	const bool ok = items && functions;
	for (uint32_t i = 0; ok && i < analysis->function_count; i++)
		functions[i] = find_function(&builder->function_index, builder->functions,
		    &builder->function_count, &analysis->functions[i].symbol,
		    module_of(builder, run, analysis->functions[i].symbol.module));
	if (ok)
		items[0] = UINT32_MAX;
	for (uint32_t i = 1; ok && i < paths->count; i++) {
		const struct tp_path *path = &paths->items[i];
		items[i] = find_path(builder, items[path->parent], functions[path->function]);
		const struct tp_diff *diff = builder->diff;
		double *values = values_of(diff, items[i], run);
		values[TP_DIFF_SELF] +=
		    ns_of(analysis, compared_self(diff, analysis, path->self, &path->parts));
		values[TP_DIFF_INCLUSIVE] += ns_of(
		    analysis, compared_inclusive(diff, analysis, path->inclusive, &path->parts));
		values[TP_DIFF_CALLS] += (double)path->calls;
		values[TP_DIFF_WALL_SELF] += ns_of(analysis, path->self);
		values[TP_DIFF_WALL_INCLUSIVE] += ns_of(analysis, path->inclusive);
	}
	free(items);
	free(functions);
	return ok;
}

static int add_paths(struct builder *builder, struct tp_err *err)
{
	struct tp_diff *diff = builder->diff;
	struct tp_paths *paths = calloc(diff->runs, sizeof(*paths));
	uint64_t count = 0;
	int code = paths ? 0 : TP_ERR_MEMORY;
	uint32_t made = 0;
	for (; !code && made < diff->runs; made++) {
		code = tp_paths_init(&paths[made], builder->runs[made], err);
		count += paths[made].count;
	}
	const uint64_t functions = count_functions(builder);
	builder->functions = calloc(functions + 1, sizeof(*builder->functions));
	builder->item_functions = calloc(count + 1, sizeof(*builder->item_functions));
	bool ok = !code && builder->functions && builder->item_functions &&
		  tp_index_init(&builder->function_index, functions) && allocate(builder, count);
	for (uint32_t i = 0; ok && i < diff->runs; i++)
		ok = add_run(builder, i, &paths[i]);
	for (uint32_t i = 0; i < made; i++)
		tp_paths_release(&paths[i]);
	free(paths);
	return ok ? 0 : TP_ERR_MEMORY;
}

static void add_totals(struct tp_diff *diff, const struct tp_analysis *const *runs)
{
	for (uint32_t i = 0; i < diff->runs; i++) {
		const struct tp_analysis *analysis = runs[i];
		uint64_t self = 0;
		for (uint32_t j = 0; j < analysis->function_count; j++) {
			const struct tp_function *function = &analysis->functions[j];
			self += tp_function_scaled(function,
			    compared_self(diff, analysis, function->self, &function->parts));
		}
		diff->totals[i] = ns_of(analysis, self);
		diff->wall_totals[i] = ns_of(analysis, analysis->scaled_self);
	}
}

int tp_diff_init(struct tp_diff *diff, const struct tp_analysis *const *runs, uint32_t count,
    uint32_t before, bool by_path, enum tp_time time, struct tp_err *err)
{
	struct builder builder = {.diff = diff, .runs = runs};
	*diff = (struct tp_diff){.runs = count,
	    .before = before,
	    .time = time,
	    .has_wall = runs[0]->options.time == TP_TIME_WALL};
	add_totals(diff, runs);
	find_programs(&builder);
	const int code =
	    by_path ? add_paths(&builder, err) : (add_functions(&builder) ? 0 : TP_ERR_MEMORY);
	tp_index_release(&builder.index);
	tp_index_release(&builder.function_index);
	free(builder.functions);
	free(builder.item_functions);
	if (code)
		tp_err_set(
		    err, code, NULL, "out of memory while comparing %u traces", (unsigned)count);
	return code;
}

void tp_diff_release(struct tp_diff *diff)
{
	free(diff->items);
	free(diff->values);
	*diff = (struct tp_diff){0};
}

static double mean_of(const double *values, uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	return sum / count;
}

static struct tp_diff_change compare(const struct tp_diff *diff, const double *values)
{
	const uint32_t after = diff->runs - diff->before;
	struct tp_diff_change change = {
	    .before = mean_of(values, diff->before),
	    .after = mean_of(values + diff->before, after),
	    .significance =
		tp_significance_welch(values, diff->before, values + diff->before, after),
	};
	if (change.before > 0)
		change.relative = (change.after - change.before) / change.before;
	else
		change.relative = change.after > 0 ? INFINITY : 0;
	return change;
}

struct tp_diff_change tp_diff_change(
    const struct tp_diff *diff, uint32_t item, enum tp_diff_metric metric)
{
	double values[TP_DIFF_RUNS_MAX];
	for (uint32_t i = 0; i < diff->runs; i++)
		values[i] = values_of(diff, item, i)[metric];
	return compare(diff, values);
}

struct tp_diff_change tp_diff_total(const struct tp_diff *diff)
{
	return compare(diff, diff->totals);
}

struct tp_diff_change tp_diff_wall_total(const struct tp_diff *diff)
{
	return compare(diff, diff->wall_totals);
}

// ---- what fails a comparison

// A suffix and what it makes of a number.
static bool parse_amount(struct tp_diff_rule *rule, const char *text)
{
	static const struct {
		const char *suffix;
		double factor;
		bool time;
	} units[] = {
	    {"%", 0.01, false},
	    {"ns", 1, true},
	    {"us", 1e3, true},
	    {"ms", 1e6, true},
	    {"s", 1e9, true},
	    {"", 1, false},
	};
	char *end;
	// Neither "nan" nor hexadecimal numbers.
	if (strpbrk(text, "xX") || strcspn(text, "0123456789") > 2 ||
	    strchr("+-.0123456789", text[0]) == NULL)
		return false;
	const double value = strtod(text, &end);
	if (end == text || !isfinite(value))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		rule->relative = units[i].suffix[0] == '%';
		rule->amount = value * units[i].factor;
		// Only calls have no unit, and only 0 needs none.
		const bool calls = rule->metric == TP_DIFF_CALLS;
		return rule->relative || value == 0 || units[i].time != calls;
	}
	return false;
}

static bool parse(struct tp_diff_rule *rule, const char *text)
{
	static const char *const metrics[] = {"self", "inclusive", "calls", "total"};
	const char *sign = text + strlen(text);
	while (sign > text && *sign != '<' && *sign != '>')
		sign--;
	if (sign == text)
		return false;
	const char *metric = sign;
	while (metric > text && metric[-1] != ':')
		metric--;
	const size_t length = (size_t)(sign - metric);
	for (int i = 0; i < 4; i++) {
		if (strlen(metrics[i]) != length || memcmp(metrics[i], metric, length) != 0)
			continue;
		rule->total = i == 3;
		rule->metric = rule->total ? TP_DIFF_SELF : (enum tp_diff_metric)i;
		rule->below = *sign == '<';
		if (rule->total && metric > text)
			return false;
		if (metric > text)
			rule->of = strndup(text, (size_t)(metric - 1 - text));
		return parse_amount(rule, sign + 1);
	}
	return false;
}

int tp_diff_rule_init(struct tp_diff_rule *rule, const char *text, struct tp_err *err)
{
	*rule = (struct tp_diff_rule){.text = text};
	if (!parse(rule, text))
		return tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "'%s' is not a rule such as self>+5%%, calls>+0, total>+1ms or "
		    "parse_*:inclusive>+10%%",
		    text);
	return rule->of ? tp_pattern_init(&rule->pattern, rule->of, err) : 0;
}

void tp_diff_rule_release(struct tp_diff_rule *rule)
{
	tp_pattern_release(&rule->pattern);
	free(rule->of);
	rule->of = NULL;
}

bool tp_diff_rule_matches(const struct tp_diff_rule *rule, const struct tp_diff_item *item)
{
	const struct tp_symbol symbol = {.name = item->name, .linkage = item->linkage};
	return !rule->of || tp_pattern_matches(&rule->pattern, &symbol);
}

bool tp_diff_rule_forbids(const struct tp_diff_rule *rule, const struct tp_diff_change *change)
{
	const double value = rule->relative ? change->relative : change->after - change->before;
	return rule->below ? value < rule->amount : value > rule->amount;
}
