// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command of a run: the task's program inside of the variant's wrapper.
#include "session.h"

#include "common/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tp_cmdline_release(struct tp_cmdline *line)
{
	tp_arena_release(&line->arena);
	*line = (struct tp_cmdline){0};
}

void tp_cmdline_output_directory(const struct tp_cmdline_place *place, char path[PATH_MAX])
{
	const char *storage =
	    tp_grid_value(&place->experiment->plan, place->cell, TP_FACTOR_STORAGE);
	snprintf(path, PATH_MAX, "%s/%s", place->folder, storage ? storage : "data");
}

void tp_cmdline_build_directory(
    const struct tp_experiment *experiment, const struct tp_variant *variant, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/build/%s", experiment->output, variant->name);
}

void tp_cmdline_cell_directory(
    const struct tp_experiment *experiment, const struct tp_grid_cell *cell, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", experiment->output, cell->name);
}

// The words of a line as they are put together.
struct words {
	struct tp_cmdline *line;
	const struct tp_cmdline_place *place;
	struct tp_expansion expansion;
	char **items;
	uint32_t count;
	uint32_t room;
	struct tp_err *err;
	int code;
};

static void add(struct words *words, const char *text)
{
	if (words->code)
		return;
	char *copy = tp_arena_copy(&words->line->arena, text, strlen(text));
	if (!copy || !TP_GROW(words->items, words->room, words->count + 2)) {
		words->code = tp_err_memory(words->err, NULL);
		return;
	}
	words->items[words->count++] = copy;
	words->items[words->count] = NULL;
}

// What a text is: programs without slashes are looked for along PATH; paths are relative to the
// plan's folder.
enum meaning { IS_TEXT, IS_PROGRAM, IS_PATH };

// TEXT with its placeholders replaced, behind BEFORE.
static void add_expanded(
    struct words *words, const char *before, const struct tp_plan_text *text, enum meaning meaning)
{
	struct tp_buf out;
	tp_buf_init(&out);
	if (!words->code)
		words->code = tp_expand(&words->expansion, text, &out, words->err);
	if (!words->code) {
		struct tp_buf all;
		tp_buf_init(&all);
		tp_buf_add_string(&all, before);
		const bool relative =
		    meaning == IS_PATH || (meaning == IS_PROGRAM && strchr(out.data, '/'));
		if (relative && out.data[0] != '/' && out.data[0] != '{')
			tp_buf_addf(&all, "%s/", words->place->experiment->plan.folder);
		tp_buf_add_string(
		    &all, out.data + (relative && !strncmp(out.data, "./", 2) ? 2 : 0));
		if (all.failed || out.failed)
			words->code = tp_err_memory(words->err, NULL);
		else
			add(words, all.data);
		tp_buf_release(&all);
	}
	tp_buf_release(&out);
}

static void add_texts(struct words *words, const struct tp_plan_texts *texts)
{
	for (uint32_t i = 0; i < texts->count; i++)
		add_expanded(words, "", &texts->items[i], IS_TEXT);
}

// "FOLDER/NAME" of the run.
static const char *in_folder(const struct words *words, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s",
	    words->place->folder ? words->place->folder : "{{ folder }}", name);
	return path;
}

static void add_recorder(struct words *words, const struct tp_plan_texts *options, bool deep)
{
	char path[PATH_MAX];
	add(words, words->place->folder ? words->place->experiment->options.teeperf : "teeperf");
	add(words, "record");
	add(words, "-o");
	add(words, in_folder(words, "teeperf.trace", path));
	if (deep) {
		add(words, "--events");
		add(words, "sched,syscalls,io,faults");
	}
	add_texts(words, options);
	add(words, "--");
}

static void add_perf(struct words *words, const struct tp_plan_texts *options)
{
	char path[PATH_MAX];
	struct tp_buf events;
	tp_buf_init(&events);
	add(words, "perf");
	add(words, "stat");
	// In some languages a comma is in the numbers.
	add(words, "-x");
	add(words, ";");
	add(words, "-o");
	add(words, in_folder(words, "perf.csv", path));
	add(words, "-e");
	// And how long the program itself ran.
	tp_buf_add_string(&events, "duration_time,");
	add(words, tp_plan_events(&words->place->experiment->plan, &events));
	add_texts(words, options);
	add(words, "--");
	tp_buf_release(&events);
}

static void add_program(struct words *words)
{
	const struct tp_grid_cell *cell = words->place->cell;
	const struct tp_variant *variant = cell->variant;
	const bool traced = words->place->run && words->place->run->kind == TP_RUN_DEEP_TRACE;
	char path[PATH_MAX];
	switch (variant->kind) {
	case TP_VARIANT_NATIVE:
		if (traced)
			add_recorder(words, &variant->options, true);
		break;
	case TP_VARIANT_TEEPERF:
		add_recorder(words, &variant->options, traced);
		break;
	case TP_VARIANT_PERF_STAT:
		add_perf(words, &variant->options);
		break;
	case TP_VARIANT_GRAMINE_DIRECT:
	case TP_VARIANT_GRAMINE_SGX:
		add(words, tp_variant_kinds[variant->kind]);
		tp_cmdline_cell_directory(words->place->experiment, cell, path);
		add(words, words->place->folder ? path : "{{ cell_directory }}");
		break;
	case TP_VARIANT_KINDS:
		break;
	}
	const uint32_t at = words->count;
	add_expanded(words, "",
	    variant->executable.text ? &variant->executable : &cell->task->program.executable,
	    IS_PROGRAM);
	if (words->code)
		return;
	words->line->program = words->items[at];
	// Gramine has the program in its manifest, beside which it finds the rest.
	if (variant->kind >= TP_VARIANT_GRAMINE_DIRECT) {
		snprintf(path, sizeof(path), "%s/manifest/program", words->items[at - 1]);
		words->count = at - 1;
		add(words, path);
	}
	add_texts(words, &cell->task->program.args);
}

static void add_step(struct words *words, const struct tp_step *step)
{
	if (!step->executable.text)
		return;
	add_expanded(words, "", &step->executable, IS_PROGRAM);
	add_texts(words, &step->args);
	if (!words->code)
		words->line->program = words->items[0];
}

static void add_variables(struct words *words, const struct tp_variables *variables)
{
	char name[256];
	for (uint32_t i = 0; i < variables->count; i++) {
		snprintf(name, sizeof(name), "%s=", variables->items[i].name);
		add_expanded(words, name, &variables->items[i].value, IS_TEXT);
	}
}

// The list so far becomes one of the line's, and is begun anew.
static char **finish(struct words *words)
{
	char **list = NULL;
	if (!words->code && (list = tp_arena_alloc(
				 &words->line->arena, (words->count + 1) * sizeof(*list))) == NULL)
		words->code = tp_err_memory(words->err, NULL);
	if (list && words->count)
		memcpy(list, words->items, words->count * sizeof(*list));
	words->count = 0;
	return list;
}

// An environment belongs to the program and, so that they can say who they work for, to what runs
// around it.
static void add_environment(struct words *words, enum tp_cmdline_what what)
{
	const struct tp_grid_cell *cell = words->place->cell;
	add_variables(words, &cell->task->env);
	add_variables(words, &cell->variant->env);
	if (what == TP_CMDLINE_BUILD && cell->variant->allowlist.text) {
		struct tp_plan_text list = cell->variant->allowlist;
		add_expanded(words, "TEEPERF_ALLOWLIST=", &list, IS_PATH);
	}
}

static void set_cwd(struct words *words, enum tp_cmdline_what what)
{
	const struct tp_plan_text *cwd = &words->place->cell->task->cwd;
	const char *folder = words->place->experiment->plan.folder;
	words->line->cwd = folder;
	if (!cwd->text || what == TP_CMDLINE_BUILD)
		return;
	add_expanded(words, "", cwd, IS_PATH);
	if (!words->code)
		words->line->cwd = words->items[0];
	words->count = 0;
}

int tp_cmdline_make(struct tp_cmdline *line, const struct tp_cmdline_place *place,
    enum tp_cmdline_what what, struct tp_err *err)
{
	char output[PATH_MAX];
	char build[PATH_MAX];
	char cell[PATH_MAX];
	*line = (struct tp_cmdline){0};
	struct words words = {
	    .line = line,
	    .place = place,
	    .err = err,
	    .expansion = {.plan = &place->experiment->plan, .cell = place->cell},
	};
	if (place->folder) {
		tp_cmdline_output_directory(place, output);
		tp_cmdline_build_directory(place->experiment, place->cell->variant, build);
		tp_cmdline_cell_directory(place->experiment, place->cell, cell);
		words.expansion.output_directory = output;
		words.expansion.build_directory = build;
		words.expansion.cell_directory = cell;
		words.expansion.iteration = place->run ? place->run->iteration : 0;
	}
	if (what == TP_CMDLINE_PROGRAM)
		add_program(&words);
	else if (what == TP_CMDLINE_BUILD)
		add_step(&words, &place->cell->variant->build);
	else
		add_step(&words, what == TP_CMDLINE_PRE_RUN ? &place->cell->task->pre_run
							    : &place->cell->task->post_run);
	const bool any = words.count;
	line->argv = finish(&words);
	add_environment(&words, what);
	line->variables = finish(&words);
	set_cwd(&words, what);
	free(words.items);
	if (!any)
		line->argv = NULL;
	return words.code;
}
