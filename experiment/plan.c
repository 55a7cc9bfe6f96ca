// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan out of its file: the keys, their values, and messages about wrong ones.
//
// One file above 600 lines: a key's row, its check and its message stand together, and most checks
// look at several keys.
#include "plan.h"

#include "common/array.h"
#include "common/read_all.h"
#include "common/spelling.h"
#include "common/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAN_BYTES_MOST = 16 << 20, SAMPLES_MOST = 1000000, KEYS_MOST = 40 };

#define DEFAULT_ENERGY_INTERVAL_NS UINT64_C(100000000)

const char *const tp_variant_kinds[] = {
    "native", "teeperf", "perf-stat", "gramine-direct", "gramine-sgx", NULL};

int tp_plan_fail(const struct tp_plan *plan, struct tp_toml_place place, struct tp_err *err,
    const char *format, ...)
{
	char what[sizeof(err->what)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	tp_err_set_line(err, TP_ERR_SYNTAX, plan->file, place.line, place.column, "%s", what);
	const char *line = plan->text;
	for (uint32_t i = 1; i < place.line && line; i++) {
		line = memchr(line, '\n', plan->size - (size_t)(line - plan->text));
		line = line ? line + 1 : NULL;
	}
	if (line && place.line)
		tp_err_set_excerpt(err, line, strcspn(line, "\n"));
	return TP_ERR_SYNTAX;
}

static void *take(struct tp_plan *plan, size_t size, struct tp_err *err)
{
	void *memory = tp_arena_alloc(&plan->arena, size);
	if (!memory)
		tp_err_memory(err, plan->file);
	return memory;
}

// ---- values

enum field_type {
	FIELD_TEXT,   // struct tp_plan_text
	FIELD_NAME,   // the same, and not empty
	FIELD_TEXTS,  // struct tp_plan_texts: a list of texts
	FIELD_VALUES, // struct tp_plan_texts: a list of texts and numbers, or one of them
	FIELD_COUNT,  // uint64_t
	FIELD_NUMBER, // double, from 0 on
	FIELD_BOOL,   // bool
	FIELD_TIME,   // uint64_t, ns: "1.5s", or a number of seconds
	FIELD_MS,     // the same, of milliseconds
	FIELD_ENV,    // struct tp_variables
	FIELD_OTHER,  // is read by another function
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	uint64_t least; // of FIELD_COUNT
	uint64_t most;
};

static const struct {
	const char *name;
	const char *example;
} wanted[] = {
    [FIELD_TEXT] = {"a text", "\"...\""},
    [FIELD_NAME] = {"a text", "\"...\""},
    [FIELD_TEXTS] = {"a list of texts", "[\"a\", \"b\"]"},
    [FIELD_VALUES] = {"a list of numbers or texts", "[1, 2, 4]"},
    [FIELD_COUNT] = {"a whole number", "5"},
    [FIELD_NUMBER] = {"a number", "1.5"},
    [FIELD_BOOL] = {"true or false", "true"},
    [FIELD_TIME] = {"a time", "\"30s\""},
    [FIELD_MS] = {"a time", "\"100ms\""},
    [FIELD_ENV] = {"a table of texts", "{ NAME = \"value\" }"},
    [FIELD_OTHER] = {"a table", "{ ... }"},
};

static const char *const type_names[] = {
    [TP_TOML_TEXT] = "a text",
    [TP_TOML_INTEGER] = "a whole number",
    [TP_TOML_REAL] = "a number with a fraction",
    [TP_TOML_BOOL] = "true or false",
    [TP_TOML_TIME] = "a date or time",
    [TP_TOML_ARRAY] = "a list",
    [TP_TOML_TABLE] = "a table",
};

static int fail_type(const struct tp_plan *plan, const struct tp_toml *node, const char *key,
    enum field_type type, struct tp_err *err)
{
	return tp_plan_fail(plan, node->place, err, "'%s' takes %s, as in %s = %s; this is %s", key,
	    wanted[type].name, key, wanted[type].example, type_names[node->type]);
}

// A text, or a number as the file would have it.
static int read_value(struct tp_plan *plan, const struct tp_toml *node, const char *key,
    struct tp_plan_text *text, struct tp_err *err)
{
	char number[40];
	text->place = node->place;
	if (node->type == TP_TOML_TEXT) {
		text->text = node->text;
		return 0;
	}
	if (node->type == TP_TOML_INTEGER)
		snprintf(number, sizeof(number), "%" PRId64, node->integer);
	else if (node->type == TP_TOML_REAL)
		snprintf(number, sizeof(number), "%.15g", node->real);
	else if (node->type == TP_TOML_BOOL)
		snprintf(number, sizeof(number), "%s", node->truth ? "true" : "false");
	else
		return fail_type(plan, node, key, FIELD_VALUES, err);
	text->text = tp_arena_copy(&plan->arena, number, strlen(number));
	return text->text ? 0 : tp_err_memory(err, plan->file);
}

static int read_texts(struct tp_plan *plan, const struct tp_toml *node, const char *key,
    enum field_type type, struct tp_plan_texts *texts, struct tp_err *err)
{
	const bool one = type == FIELD_VALUES && node->type != TP_TOML_ARRAY;
	if (!one && node->type != TP_TOML_ARRAY)
		return fail_type(plan, node, key, type, err);
	*texts = (struct tp_plan_texts){
	    .items = take(plan, (node->count + 1) * sizeof(*texts->items), err), .given = true};
	if (!texts->items)
		return TP_ERR_MEMORY;
	int code = 0;
	for (const struct tp_toml *item = one ? node : node->first; item && !code;
	     item = one ? NULL : item->next) {
		if (type == FIELD_TEXTS && item->type != TP_TOML_TEXT)
			return fail_type(plan, item, key, type, err);
		code = read_value(plan, item, key, &texts->items[texts->count++], err);
	}
	return code;
}

static int read_time(const struct tp_plan *plan, const struct tp_toml *node,
    const struct field *field, uint64_t *ns, struct tp_err *err)
{
	const double unit = field->type == FIELD_MS ? 1e6 : 1e9;
	double found = node->real * unit;
	if (node->type == TP_TOML_TEXT) {
		struct tp_err why;
		const size_t size = strlen(node->text);
		if (!size || (node->text[size - 1] >= '0' && node->text[size - 1] <= '9') ||
		    tp_units_ns_or_zero(node->text, &found, &why))
			return tp_plan_fail(plan, node->place, err,
			    "'%s' takes a time with its unit, as in \"1.5s\" or \"200ms\"",
			    field->key);
	} else if (node->type != TP_TOML_INTEGER && node->type != TP_TOML_REAL) {
		return fail_type(plan, node, field->key, field->type, err);
	}
	if (!(found >= 0 && found < 1e18))
		return tp_plan_fail(
		    plan, node->place, err, "'%s' takes a time from 0 to 31 years", field->key);
	*ns = (uint64_t)found;
	return 0;
}

static int read_env(struct tp_plan *plan, const struct tp_toml *node, const char *key,
    struct tp_variables *env, struct tp_err *err)
{
	if (node->type != TP_TOML_TABLE)
		return fail_type(plan, node, key, FIELD_ENV, err);
	env->items = take(plan, (node->count + 1) * sizeof(*env->items), err);
	if (!env->items)
		return TP_ERR_MEMORY;
	int code = 0;
	for (const struct tp_toml *item = node->first; item && !code; item = item->next) {
		if (!*item->key || strchr(item->key, '='))
			return tp_plan_fail(plan, item->key_place, err,
			    "this cannot be the name of a variable; leave out '='");
		env->items[env->count].name = item->key;
		code = read_value(plan, item, item->key, &env->items[env->count++].value, err);
	}
	return code;
}

static int read_field(struct tp_plan *plan, const struct tp_toml *node, const struct field *field,
    void *to, struct tp_err *err)
{
	char *at = (char *)to + field->offset;
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_NAME:
		if (node->type != TP_TOML_TEXT)
			return fail_type(plan, node, field->key, field->type, err);
		if (field->type == FIELD_NAME && !*node->text)
			return tp_plan_fail(
			    plan, node->place, err, "'%s' must not be empty", field->key);
		*(struct tp_plan_text *)(void *)at = (struct tp_plan_text){node->text, node->place};
		return 0;
	case FIELD_TEXTS:
	case FIELD_VALUES:
		return read_texts(
		    plan, node, field->key, field->type, (struct tp_plan_texts *)(void *)at, err);
	case FIELD_COUNT:
		if (node->type != TP_TOML_INTEGER)
			return fail_type(plan, node, field->key, field->type, err);
		if (node->integer < 0 || (uint64_t)node->integer < field->least ||
		    (uint64_t)node->integer > field->most)
			return tp_plan_fail(plan, node->place, err,
			    "'%s' takes a number from %" PRIu64 " to %" PRIu64, field->key,
			    field->least, field->most);
		*(uint64_t *)(void *)at = (uint64_t)node->integer;
		return 0;
	case FIELD_NUMBER:
		if (node->type != TP_TOML_INTEGER && node->type != TP_TOML_REAL)
			return fail_type(plan, node, field->key, field->type, err);
		if (!(node->real >= 0 && node->real < 1e18))
			return tp_plan_fail(plan, node->place, err,
			    "'%s' takes a number of at least 0", field->key);
		*(double *)(void *)at = node->real;
		return 0;
	case FIELD_BOOL:
		if (node->type != TP_TOML_BOOL)
			return fail_type(plan, node, field->key, field->type, err);
		*(bool *)at = node->truth;
		return 0;
	case FIELD_TIME:
	case FIELD_MS:
		return read_time(plan, node, field, (uint64_t *)(void *)at, err);
	case FIELD_ENV:
		return read_env(plan, node, field->key, (struct tp_variables *)(void *)at, err);
	case FIELD_OTHER:
		return 0;
	}
	return 0;
}

// Read the table NODE, which WHERE names, by FIELDS; a key that has none is an error.
static int read_table(struct tp_plan *plan, const struct tp_toml *node, const char *where,
    const struct field *fields, void *to, struct tp_err *err)
{
	if (node->type != TP_TOML_TABLE)
		return tp_plan_fail(plan, node->place, err, "%s is a table of keys; this is %s",
		    where, type_names[node->type]);
	int code = 0;
	for (const struct tp_toml *item = node->first; item && !code; item = item->next) {
		const struct field *field = fields;
		while (field->key && strcmp(field->key, item->key))
			field++;
		if (field->key) {
			code = read_field(plan, item, field, to, err);
			continue;
		}
		const char *keys[KEYS_MOST + 1] = {NULL};
		for (int i = 0; i < KEYS_MOST && fields[i].key; i++)
			keys[i] = fields[i].key;
		const char *nearest = tp_spelling_nearest(item->key, keys);
		return tp_plan_fail(plan, item->key_place, err, "%s has no key '%s'%s%s%s", where,
		    item->key,
		    nearest ? "; did you mean '" : "; teeperf help experiment lists them",
		    nearest ? nearest : "", nearest ? "'?" : "");
	}
	return code;
}

static const struct tp_toml *find(const struct tp_toml *table, const char *key)
{
	for (const struct tp_toml *item = table->first; item; item = item->next)
		if (strcmp(item->key, key) == 0)
			return item;
	return NULL;
}

// ---- factors

static int add_factor(
    struct tp_plan *plan, struct tp_factors *to, const struct tp_toml *node, struct tp_err *err)
{
	static const char *const reserved[] = {"task", "variant", "iteration", "cell", "status",
	    "metric", "unit", "value", "output_directory", "build_directory", "cell_directory",
	    "plan_directory", NULL};
	for (int i = 0; reserved[i]; i++)
		if (strcmp(node->key, reserved[i]) == 0)
			return tp_plan_fail(plan, node->key_place, err,
			    "'%s' has a meaning already; give the factor another name", node->key);
	if (!*node->key || strlen(node->key) > 60 ||
	    node->key[strspn(
		node->key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")])
		return tp_plan_fail(plan, node->key_place, err,
		    "a factor's name has 1 to 60 letters, digits and _");
	struct tp_factor factor = {.name = node->key};
	const int code = read_texts(plan, node, node->key, FIELD_VALUES, &factor.values, err);
	if (code)
		return code;
	for (uint32_t i = 0; i < factor.values.count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (!strcmp(factor.values.items[i].text, factor.values.items[j].text))
				return tp_plan_fail(plan, factor.values.items[i].place, err,
				    "'%s' has the value '%s' twice; leave one out", node->key,
				    factor.values.items[i].text);
	for (uint32_t i = 0; i < to->count; i++)
		if (strcmp(to->items[i].name, factor.name) == 0) {
			to->items[i] = factor;
			return 0;
		}
	struct tp_factor *items = take(plan, (to->count + 1) * sizeof(*items), err);
	if (!items)
		return TP_ERR_MEMORY;
	if (to->count)
		memcpy(items, to->items, to->count * sizeof(*items));
	items[to->count++] = factor;
	to->items = items;
	return 0;
}

// Those of a table "factors", and the two that the existing harness has as keys of their own.
static int read_factors(struct tp_plan *plan, const struct tp_toml *table,
    const struct tp_toml *own, struct tp_factors *to, struct tp_err *err)
{
	static const char *const names[] = {TP_FACTOR_THREADS, TP_FACTOR_ENCLAVE};
	int code = 0;
	if (own && own->type != TP_TOML_TABLE)
		return tp_plan_fail(plan, own->place, err,
		    "'factors' is a table of lists, as in factors = { size = [1, 2] }; this is %s",
		    type_names[own->type]);
	for (const struct tp_toml *item = own ? own->first : NULL; item && !code; item = item->next)
		code = add_factor(plan, to, item, err);
	for (int i = 0; i < 2 && !code; i++) {
		const struct tp_toml *item = table ? find(table, names[i]) : NULL;
		code = item ? add_factor(plan, to, item, err) : 0;
	}
	return code;
}

static int add_column(struct tp_plan *plan, const char *name, struct tp_err *err)
{
	for (uint32_t i = 0; i < plan->column_count; i++)
		if (strcmp(plan->columns[i], name) == 0)
			return 0;
	const char **columns = take(plan, (plan->column_count + 2) * sizeof(*columns), err);
	if (!columns)
		return TP_ERR_MEMORY;
	if (plan->column_count)
		memcpy(columns, plan->columns, plan->column_count * sizeof(*columns));
	columns[plan->column_count++] = name;
	plan->columns = columns;
	return 0;
}

// ---- variants

static const struct field variant_fields[] = {
    {"kind", FIELD_NAME, offsetof(struct tp_variant, kind_name), 0, 0},
    {"executable", FIELD_NAME, offsetof(struct tp_variant, executable), 0, 0},
    {"options", FIELD_TEXTS, offsetof(struct tp_variant, options), 0, 0},
    {"env", FIELD_ENV, offsetof(struct tp_variant, env), 0, 0},
    {"build_executable", FIELD_NAME, offsetof(struct tp_variant, build.executable), 0, 0},
    {"build_args", FIELD_TEXTS, offsetof(struct tp_variant, build.args), 0, 0},
    {"allowlist", FIELD_NAME, offsetof(struct tp_variant, allowlist), 0, 0},
    {"manifest", FIELD_NAME, offsetof(struct tp_variant, manifest), 0, 0},
    {"keep_traces", FIELD_BOOL, offsetof(struct tp_variant, keep_traces), 0, 0},
    {0},
};

static int set_kind(struct tp_plan *plan, struct tp_variant *variant, struct tp_err *err)
{
	const struct tp_plan_text name = variant->kind_name.text
					     ? variant->kind_name
					     : (struct tp_plan_text){variant->name, variant->place};
	for (int i = 0; tp_variant_kinds[i]; i++)
		if (strcmp(name.text, tp_variant_kinds[i]) == 0) {
			variant->kind = (enum tp_variant_kind)i;
			if (variant->build.args.given && !variant->build.executable.text)
				return tp_plan_fail(plan, variant->place, err,
				    "variant '%s' has build_args, but no build_executable",
				    variant->name);
			return 0;
		}
	const char *nearest = tp_spelling_nearest(name.text, tp_variant_kinds);
	return tp_plan_fail(plan, name.place, err,
	    "'%s' is not a kind of variant%s%s%s; kinds are native, teeperf, perf-stat, "
	    "gramine-direct and gramine-sgx",
	    name.text, nearest ? "; did you mean '" : "", nearest ? nearest : "",
	    nearest ? "'?" : "");
}

// Those that the file has, and behind them one of each kind that is named like its kind.
static int read_variants(struct tp_plan *plan, const struct tp_toml *node, struct tp_err *err)
{
	const uint32_t own = node && node->type == TP_TOML_TABLE ? node->count : 0;
	if (node && node->type != TP_TOML_TABLE)
		return tp_plan_fail(plan, node->place, err,
		    "'variants' is a table of tables, as in [variants.NAME]; this is %s",
		    type_names[node->type]);
	plan->variants = take(plan, (own + TP_VARIANT_KINDS) * sizeof(*plan->variants), err);
	if (!plan->variants)
		return TP_ERR_MEMORY;
	int code = 0;
	for (const struct tp_toml *item = own ? node->first : NULL; item && !code;
	     item = item->next) {
		struct tp_variant *variant = &plan->variants[plan->variant_count++];
		char where[100];
		snprintf(where, sizeof(where), "[variants.%s]", item->key);
		variant->name = item->key;
		variant->place = item->key_place;
		code = read_table(plan, item, where, variant_fields, variant, err);
		if (!code)
			code = set_kind(plan, variant, err);
	}
	for (int i = 0; i < TP_VARIANT_KINDS && !code; i++)
		if (!own || !find(node, tp_variant_kinds[i]))
			plan->variants[plan->variant_count++] = (struct tp_variant){
			    .name = tp_variant_kinds[i], .kind = (enum tp_variant_kind)i};
	return code;
}

static int add_variant(
    struct tp_plan *plan, struct tp_task *task, const struct tp_plan_text *name, struct tp_err *err)
{
	for (uint32_t i = 0; i < plan->variant_count; i++) {
		if (strcmp(plan->variants[i].name, name->text))
			continue;
		for (uint32_t j = 0; j < task->variant_count; j++)
			if (task->variants[j] == &plan->variants[i])
				return tp_plan_fail(plan, name->place, err,
				    "variant '%s' is named twice; leave one out", name->text);
		task->variants[task->variant_count++] = &plan->variants[i];
		return 0;
	}
	const char **names = take(plan, (plan->variant_count + 1) * sizeof(*names), err);
	if (!names)
		return TP_ERR_MEMORY;
	for (uint32_t i = 0; i < plan->variant_count; i++)
		names[i] = plan->variants[i].name;
	const char *nearest = tp_spelling_nearest(name->text, names);
	return tp_plan_fail(plan, name->place, err,
	    "unknown variant '%s'%s%s%s; write [variants.%s] with its kind", name->text,
	    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
	    name->text);
}

// Who names none wants the program as it is; and under Gramine, if it says what only that needs.
static int choose_variants(struct tp_plan *plan, struct tp_task *task, struct tp_err *err)
{
	static const struct tp_plan_text native = {"native", {0, 0}};
	static const struct tp_plan_text sgx = {"gramine-sgx", {0, 0}};
	bool enclave = task->storage.count;
	task->variants = take(plan, (task->variant_names.count + 2) * sizeof(*task->variants), err);
	if (!task->variants)
		return TP_ERR_MEMORY;
	int code = 0;
	for (uint32_t i = 0; i < task->variant_names.count && !code; i++)
		code = add_variant(plan, task, &task->variant_names.items[i], err);
	if (code || task->variant_names.count)
		return code;
	for (uint32_t i = 0; i < task->factors.count; i++)
		enclave |= task->factors.items[i].values.count &&
			   !strcmp(task->factors.items[i].name, TP_FACTOR_ENCLAVE);
	code = add_variant(plan, task, &native, err);
	return code || !enclave ? code : add_variant(plan, task, &sgx, err);
}

// ---- tasks

#define REPEAT_FIELDS(of)                                                                   \
	{"sample_size", FIELD_COUNT, offsetof(struct of, repeat.samples), 1, SAMPLES_MOST}, \
	    {"warm_up", FIELD_COUNT, offsetof(struct of, repeat.warm_up), 0, 1000},         \
	    {"timeout", FIELD_TIME, offsetof(struct of, repeat.timeout_ns), 0, 0},          \
	    {"deep_trace", FIELD_BOOL, offsetof(struct of, repeat.deep_trace), 0, 0},       \
	    {TP_FACTOR_THREADS, FIELD_OTHER, 0, 0, 0},                                      \
	{                                                                                   \
		TP_FACTOR_ENCLAVE, FIELD_OTHER, 0, 0, 0                                     \
	}

static const struct field task_fields[] = {
    {"name", FIELD_NAME, offsetof(struct tp_task, name_text), 0, 0},
    {"executable", FIELD_NAME, offsetof(struct tp_task, program.executable), 0, 0},
    {"args", FIELD_TEXTS, offsetof(struct tp_task, program.args), 0, 0},
    {"env", FIELD_ENV, offsetof(struct tp_task, env), 0, 0},
    {"cwd", FIELD_NAME, offsetof(struct tp_task, cwd), 0, 0},
    {"pre_run_executable", FIELD_NAME, offsetof(struct tp_task, pre_run.executable), 0, 0},
    {"pre_run_args", FIELD_TEXTS, offsetof(struct tp_task, pre_run.args), 0, 0},
    {"post_run_executable", FIELD_NAME, offsetof(struct tp_task, post_run.executable), 0, 0},
    {"post_run_args", FIELD_TEXTS, offsetof(struct tp_task, post_run.args), 0, 0},
    {TP_FACTOR_STORAGE, FIELD_VALUES, offsetof(struct tp_task, storage), 0, 0},
    {"variants", FIELD_TEXTS, offsetof(struct tp_task, variant_names), 0, 0},
    {"factors", FIELD_OTHER, 0, 0, 0},
    REPEAT_FIELDS(tp_task),
    {0},
};

static const struct field global_fields[] = {
    {"output_directory", FIELD_NAME, offsetof(struct tp_plan, output_directory), 0, 0},
    {"extra_perf_events", FIELD_TEXTS, offsetof(struct tp_plan, events), 0, 0},
    {"debug", FIELD_BOOL, offsetof(struct tp_plan, debug), 0, 0},
    {"system_events", FIELD_BOOL, offsetof(struct tp_plan, system_events), 0, 0},
    {"energy", FIELD_BOOL, offsetof(struct tp_plan, energy), 0, 0},
    {"energy_sample_interval", FIELD_MS, offsetof(struct tp_plan, energy_interval_ns), 0, 0},
    {"disk_read_nj_per_byte", FIELD_NUMBER, offsetof(struct tp_plan, disk_read_nj), 0, 0},
    {"disk_write_nj_per_byte", FIELD_NUMBER, offsetof(struct tp_plan, disk_write_nj), 0, 0},
    {"seed", FIELD_COUNT, offsetof(struct tp_plan, seed), 0, INT64_MAX},
    REPEAT_FIELDS(tp_plan),
    {0},
};

// A task without a name has that of its program.
static int name_task(struct tp_plan *plan, struct tp_task *task, struct tp_err *err)
{
	const char *program = task->program.executable.text;
	const char *slash = strrchr(program, '/');
	task->name = task->name_text.text ? task->name_text.text : slash ? slash + 1 : program;
	if (!*task->name)
		return tp_plan_fail(plan, task->program.executable.place, err,
		    "'%s' is a folder, not a program", program);
	for (const struct tp_task *other = plan->tasks; other < task; other++)
		if (strcmp(other->name, task->name) == 0)
			return tp_plan_fail(plan,
			    task->name_text.text ? task->name_text.place : task->place, err,
			    "two tasks are called '%s'; give this one a name, as in name = "
			    "\"%s-2\"",
			    task->name, task->name);
	return 0;
}

static int check_storage(struct tp_plan *plan, const struct tp_task *task, struct tp_err *err)
{
	static const char *const kinds[] = {"encrypted", "untrusted", NULL};
	for (uint32_t i = 0; i < task->storage.count; i++) {
		const struct tp_plan_text *kind = &task->storage.items[i];
		if (strcmp(kind->text, kinds[0]) && strcmp(kind->text, kinds[1]))
			return tp_plan_fail(plan, kind->place, err,
			    "'%s' is not a storage_type; expected \"encrypted\" and \"untrusted\"",
			    kind->text);
		for (uint32_t j = 0; j < i; j++)
			if (!strcmp(kind->text, task->storage.items[j].text))
				return tp_plan_fail(plan, kind->place, err,
				    "'%s' is named twice; leave one out", kind->text);
	}
	return 0;
}

static int check_steps(struct tp_plan *plan, const struct tp_task *task, struct tp_err *err)
{
	static const char *const names[] = {"pre_run", "post_run"};
	const struct tp_step *const steps[] = {&task->pre_run, &task->post_run};
	for (int i = 0; i < 2; i++)
		if (steps[i]->args.given && !steps[i]->executable.text)
			return tp_plan_fail(plan, task->place, err,
			    "task '%s' has %s_args, but no %s_executable", task->name, names[i],
			    names[i]);
	return 0;
}

static int read_task(struct tp_plan *plan, const struct tp_toml *node, struct tp_err *err)
{
	struct tp_task *task = &plan->tasks[plan->task_count];
	*task = (struct tp_task){.repeat = plan->repeat, .place = node->place};
	int code = read_table(plan, node, "a task", task_fields, task, err);
	if (code)
		return code;
	if (!task->program.executable.text)
		return tp_plan_fail(plan, node->place, err,
		    "a task needs an executable, as in executable = \"/bin/true\"");
	task->factors.count = plan->factors.count;
	task->factors.items =
	    take(plan, (plan->factors.count + 1) * sizeof(*task->factors.items), err);
	if (!task->factors.items)
		return TP_ERR_MEMORY;
	if (plan->factors.count)
		memcpy(task->factors.items, plan->factors.items,
		    plan->factors.count * sizeof(*task->factors.items));
	code = name_task(plan, task, err);
	if (!code)
		code = read_factors(plan, node, find(node, "factors"), &task->factors, err);
	if (!code)
		code = check_storage(plan, task, err);
	if (!code)
		code = check_steps(plan, task, err);
	if (!code)
		code = choose_variants(plan, task, err);
	for (uint32_t i = 0; i < task->factors.count && !code; i++)
		if (task->factors.items[i].values.count)
			code = add_column(plan, task->factors.items[i].name, err);
	if (!code && task->storage.count)
		code = add_column(plan, TP_FACTOR_STORAGE, err);
	plan->task_count++;
	return code;
}

static int read_tasks(struct tp_plan *plan, const struct tp_toml *node, struct tp_err *err)
{
	if (!node || node->type != TP_TOML_ARRAY || !node->count)
		return tp_plan_fail(plan, node ? node->place : (struct tp_toml_place){1, 1}, err,
		    "the plan has no tasks; write [[tasks]] and a program to run, as in "
		    "executable = \"/bin/true\"");
	plan->tasks = take(plan, node->count * sizeof(*plan->tasks), err);
	if (!plan->tasks)
		return TP_ERR_MEMORY;
	int code = 0;
	for (const struct tp_toml *item = node->first; item && !code; item = item->next)
		code = read_task(plan, item, err);
	return code;
}

// ---- the whole

static int read_root(struct tp_plan *plan, const struct tp_toml *root, struct tp_err *err)
{
	static const struct field sections[] = {
	    {"globals", FIELD_OTHER, 0, 0, 0},
	    {"factors", FIELD_OTHER, 0, 0, 0},
	    {"variants", FIELD_OTHER, 0, 0, 0},
	    {"tasks", FIELD_OTHER, 0, 0, 0},
	    {0},
	};
	const struct tp_toml *globals = find(root, "globals");
	int code = read_table(plan, root, "the plan", sections, plan, err);
	if (!code && globals)
		code = read_table(plan, globals, "[globals]", global_fields, plan, err);
	plan->has_seed = globals && globals->type == TP_TOML_TABLE && find(globals, "seed");
	if (!code && plan->energy_interval_ns < 1000000)
		code = tp_plan_fail(plan, find(globals, "energy_sample_interval")->place, err,
		    "'energy_sample_interval' must be at least 1 ms: the counters change no "
		    "faster");
	if (!code)
		code = read_factors(plan, globals, find(root, "factors"), &plan->factors, err);
	if (!code)
		code = read_variants(plan, find(root, "variants"), err);
	return code ? code : read_tasks(plan, find(root, "tasks"), err);
}

// The absolute path of the folder that FILE is in.
static int find_folder(struct tp_plan *plan, struct tp_err *err)
{
	char path[PATH_MAX];
	char real[PATH_MAX];
	const char *slash = strrchr(plan->file, '/');
	const int size = slash ? (int)(slash - plan->file) + 1 : 2;
	if (snprintf(path, sizeof(path), "%.*s", size, slash ? plan->file : "./") >=
		(int)sizeof(path) ||
	    !realpath(path, real))
		return tp_err_system(err, errno, plan->file, "cannot find its folder");
	plan->folder = tp_arena_copy(&plan->arena, real, strlen(real));
	return plan->folder ? 0 : tp_err_memory(err, plan->file);
}

int tp_plan_parse(
    struct tp_plan *plan, const char *file, const char *text, size_t size, struct tp_err *err)
{
	*plan = (struct tp_plan){
	    .repeat = {.samples = 1},
	    .energy = true,
	    .energy_interval_ns = DEFAULT_ENERGY_INTERVAL_NS,
	    .disk_read_nj = -1,
	    .disk_write_nj = -1,
	};
	tp_arena_init(&plan->arena);
	plan->file = tp_arena_copy(&plan->arena, file, strlen(file));
	plan->text = tp_arena_copy(&plan->arena, text, size);
	plan->size = size;
	if (!plan->file || !plan->text)
		return tp_err_memory(err, file);
	const struct tp_toml *root = NULL;
	int code = tp_toml_parse(&plan->arena, plan->file, plan->text, size, &root, err);
	if (code == TP_ERR_SYNTAX && err->line) {
		char what[sizeof(err->what)];
		snprintf(what, sizeof(what), "%s", err->what);
		tp_plan_fail(plan, (struct tp_toml_place){err->line, err->column}, err, "%s", what);
	}
	if (!code)
		code = find_folder(plan, err);
	return code ? code : read_root(plan, root, err);
}

int tp_plan_read(struct tp_plan *plan, const char *file, struct tp_err *err)
{
	struct tp_buf text;
	memset(plan, 0, sizeof(*plan));
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tp_err_system(err, errno, file, "cannot open the plan");
	tp_buf_init(&text);
	int code = tp_read_all(&text, fd, file, "the plan", PLAN_BYTES_MOST, err);
	close(fd);
	if (!code)
		code = tp_plan_parse(plan, file, text.data, text.size, err);
	tp_buf_release(&text);
	return code;
}

void tp_plan_release(struct tp_plan *plan)
{
	tp_arena_release(&plan->arena);
}

const char *tp_plan_events(const struct tp_plan *plan, struct tp_buf *list)
{
	tp_buf_add_string(list, TP_PLAN_USUAL_EVENTS);
	for (uint32_t i = 0; i < plan->events.count; i++)
		tp_buf_addf(list, ",%s", plan->events.items[i].text);
	return list->data;
}
