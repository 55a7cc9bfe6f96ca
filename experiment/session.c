// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs what has no result yet, and makes what that needs.
//
// One file above 600 lines: the steps of a session share its state, which nobody else has to know.
#define _GNU_SOURCE
#include "session.h"

#include "common/hash.h"
#include "common/out_file.h"
#include "common/process.h"
#include "common/read_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define STATE_FILE "experiment.tsv"
#define LOCK_FILE ".lock"

// Changes when the same settings make other figures.
enum { KEY_VERSION = 1 };

// ---- opening

// Without a word in the plan: beside it, under its name.
static int find_output(struct tp_experiment *experiment, struct tp_err *err)
{
	const struct tp_plan *plan = &experiment->plan;
	const char *given = experiment->options.output;
	char folder[PATH_MAX];
	char name[PATH_MAX];
	if (given) {
		if (!getcwd(folder, sizeof(folder)))
			return tp_err_system(err, errno, NULL, "cannot find the current folder");
		snprintf(name, sizeof(name), "%s", given);
	} else {
		const char *slash = strrchr(plan->file, '/');
		const char *file = slash ? slash + 1 : plan->file;
		const char *dot = strrchr(file, '.');
		snprintf(folder, sizeof(folder), "%s", plan->folder);
		if (plan->output_directory.text)
			snprintf(name, sizeof(name), "%s", plan->output_directory.text);
		else
			snprintf(name, sizeof(name), "%.*s.results",
			    (int)(dot && dot > file ? dot - file : (ptrdiff_t)strlen(file)), file);
	}
	const int size = snprintf(experiment->output, sizeof(experiment->output), "%s%s%s",
	    *name == '/' ? "" : folder, *name == '/' ? "" : "/", name);
	if (size >= (int)sizeof(experiment->output))
		return tp_err_set(err, TP_ERR_LIMIT, name, "the name of the folder is too long");
	for (size_t end = (size_t)size; end > 1 && experiment->output[end - 1] == '/';)
		experiment->output[--end] = 0;
	return 0;
}

static void find_missing(struct tp_experiment *experiment)
{
	char path[PATH_MAX];
	const char *why[TP_VARIANT_KINDS] = {NULL};
	if (!tp_find_program("perf", path))
		why[TP_VARIANT_PERF_STAT] = "perf is not installed (on Debian: linux-perf)";
	for (int i = TP_VARIANT_GRAMINE_DIRECT; i <= TP_VARIANT_GRAMINE_SGX; i++)
		why[i] = tp_gramine_missing((enum tp_variant_kind)i);
	for (uint32_t i = 0; i < experiment->grid.cell_count; i++) {
		struct tp_grid_cell *cell = &experiment->grid.cells[i];
		cell->skipped = why[cell->variant->kind];
		experiment->skipped += cell->skipped != NULL;
	}
}

int tp_experiment_open(struct tp_experiment *experiment,
    const struct tp_experiment_options *options, struct tp_err *err)
{
	*experiment = (struct tp_experiment){.options = *options, .lock = -1};
	int code = tp_plan_read(&experiment->plan, options->plan, err);
	if (!code)
		code = find_output(experiment, err);
	if (!code)
		code = tp_grid_make(&experiment->grid, &experiment->plan, err);
	if (!code)
		find_missing(experiment);
	return code;
}

void tp_experiment_close(struct tp_experiment *experiment)
{
	if (experiment->lock >= 0)
		close(experiment->lock);
	tp_grid_release(&experiment->grid);
	tp_plan_release(&experiment->plan);
}

// ---- the folder

// The seed of the session before, if there was one.
static bool read_seed(const struct tp_experiment *experiment, uint64_t *seed)
{
	char path[PATH_MAX];
	char line[256];
	bool found = false;
	snprintf(path, sizeof(path), "%s/" STATE_FILE, experiment->output);
	FILE *file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "seed\t%" SCNu64, seed) == 1;
	if (file)
		fclose(file);
	return found;
}

static void add_processor(struct tp_buf *out)
{
	char line[512];
	FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
			tp_buf_addf(out, "processor\t%s", strchr(line, ':') + 2);
			break;
		}
	if (file)
		fclose(file);
}

static int write_state(const struct tp_experiment *experiment, struct tp_err *err)
{
	struct tp_out_file out;
	struct utsname system;
	int code = tp_out_file_open_in(&out, experiment->output, "plan.toml", err);
	if (!code) {
		tp_buf_add(&out.buf, experiment->plan.text, experiment->plan.size);
		code = tp_out_file_close(&out, err);
	}
	if (!code)
		code = tp_out_file_open_in(&out, experiment->output, STATE_FILE, err);
	if (code)
		return code;
	tp_buf_addf(&out.buf, "teeperf experiment\t1\nseed\t%" PRIu64 "\n", experiment->seed);
	if (uname(&system) == 0)
		tp_buf_addf(&out.buf, "host\t%s\nsystem\t%s %s %s\n", system.nodename,
		    system.sysname, system.release, system.machine);
	tp_buf_addf(&out.buf, "cores\t%ld\n", sysconf(_SC_NPROCESSORS_ONLN));
	add_processor(&out.buf);
	return tp_out_file_close(&out, err);
}

static int take_lock(struct tp_experiment *experiment, struct tp_err *err)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" LOCK_FILE, experiment->output);
	experiment->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (experiment->lock < 0)
		return tp_err_system(err, errno, path, "cannot write to the folder of results");
	if (flock(experiment->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return tp_err_system(err, errno, path, "cannot lock the folder of results");
	return tp_err_set(err, TP_ERR_LIMIT, experiment->output,
	    "another 'teeperf experiment' works in this folder; wait for its end, or give another "
	    "one with --output");
}

int tp_experiment_begin(struct tp_experiment *experiment, struct tp_err *err)
{
	int code = tp_folder_make(experiment->output, err);
	if (!code)
		code = take_lock(experiment, err);
	if (code)
		return code;
	if (experiment->options.has_seed)
		experiment->seed = experiment->options.seed;
	else if (experiment->plan.has_seed)
		experiment->seed = experiment->plan.seed;
	else if (!read_seed(experiment, &experiment->seed)) {
		experiment->seed_is_new = true;
		// Short enough to be typed again.
		uint32_t seed = 0;
		if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
			seed = (uint32_t)time(NULL);
		experiment->seed = seed;
	}
	code = tp_grid_order(&experiment->grid, experiment->seed, err);
	return code ? code : write_state(experiment, err);
}

int tp_experiment_folder(const struct tp_experiment *experiment, const struct tp_run *run,
    char path[PATH_MAX], struct tp_err *err)
{
	char number[16];
	snprintf(number, sizeof(number), "%u", run->iteration);
	const int size = snprintf(path, PATH_MAX, "%s/%s/%s", experiment->output,
	    experiment->grid.cells[run->cell].name,
	    run->kind == TP_RUN_WARM_UP      ? "warm-up"
	    : run->kind == TP_RUN_DEEP_TRACE ? "deep-trace"
					     : number);
	// Room for the names of files in it.
	return size < PATH_MAX - 64 ? 0
				    : tp_err_set(err, TP_ERR_LIMIT, experiment->output,
					  "the name of the folder is too long");
}

// ---- keys: all that decides on the measurement

static uint64_t hash_words(uint64_t hash, char *const *words)
{
	uint32_t count = 0;
	for (; words && words[count]; count++)
		hash = tp_hash_string(hash, words[count]);
	return tp_hash_bytes(hash, &count, sizeof(count));
}

// Files are read once, as many cells have the same.
struct file_hash {
	char path[PATH_MAX];
	uint64_t hash;
};

static bool hash_file(struct file_hash *last, const char *path)
{
	if (strcmp(last->path, path) == 0)
		return true;
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	static unsigned char block[1 << 16];
	size_t size;
	last->hash = TEEPERF_HASH_START;
	while ((size = fread(block, 1, sizeof(block), file)) > 0)
		last->hash = tp_hash_bytes(last->hash, block, size);
	snprintf(last->path, sizeof(last->path), "%s", path);
	const bool ok = !ferror(file);
	fclose(file);
	return ok;
}

static int hash_line(const struct tp_experiment *experiment, const struct tp_grid_cell *cell,
    enum tp_cmdline_what what, uint64_t *hash, struct tp_err *err)
{
	struct tp_cmdline line;
	const struct tp_cmdline_place place = {.experiment = experiment, .cell = cell};
	const int code = tp_cmdline_make(&line, &place, what, err);
	if (!code) {
		*hash = hash_words(*hash, line.argv);
		*hash = hash_words(*hash, line.variables);
		*hash = tp_hash_string(*hash, line.cwd);
	}
	tp_cmdline_release(&line);
	return code;
}

// The program itself: other code makes other figures.
static int hash_program(const struct tp_experiment *experiment, const struct tp_grid_cell *cell,
    struct file_hash *last, uint64_t *hash, struct tp_err *err)
{
	struct tp_cmdline line;
	char folder[PATH_MAX];
	char path[PATH_MAX];
	const struct tp_run run = {(uint32_t)(cell - experiment->grid.cells), 1, TP_RUN_MEASURED};
	int code = tp_experiment_folder(experiment, &run, folder, err);
	if (code)
		return code;
	const struct tp_cmdline_place place = {experiment, cell, &run, folder};
	code = tp_cmdline_make(&line, &place, TP_CMDLINE_PROGRAM, err);
	if (!code && !tp_find_program(line.program, path)) {
		const struct tp_plan_text *name = cell->variant->executable.text
						      ? &cell->variant->executable
						      : &cell->task->program.executable;
		tp_plan_fail(&experiment->plan, name->place, err, "program '%s' does not exist%s",
		    line.program, strchr(line.program, '/') ? "" : " in PATH");
		code = err->code = TP_ERR_NOT_FOUND;
	}
	if (!code && hash_file(last, path))
		*hash = tp_hash_bytes(*hash, &last->hash, sizeof(last->hash));
	else if (!code)
		*hash = tp_hash_string(*hash, path); // may be run, but not read
	tp_cmdline_release(&line);
	return code;
}

// A file that the plan names, relative to its folder.
static void hash_named(const struct tp_experiment *experiment, const struct tp_plan_text *name,
    struct file_hash *last, uint64_t *hash)
{
	char path[PATH_MAX];
	if (!name->text)
		return;
	snprintf(path, sizeof(path), "%s%s%s", *name->text == '/' ? "" : experiment->plan.folder,
	    *name->text == '/' ? "" : "/", name->text);
	if (hash_file(last, path))
		*hash = tp_hash_bytes(*hash, &last->hash, sizeof(last->hash));
}

static int set_keys(struct tp_experiment *experiment, struct tp_err *err)
{
	static struct file_hash program;
	static struct file_hash manifest;
	int code = 0;
	program.path[0] = manifest.path[0] = 0;
	for (uint32_t i = 0; i < experiment->grid.cell_count && !code; i++) {
		struct tp_grid_cell *cell = &experiment->grid.cells[i];
		struct tp_buf events;
		if (cell->skipped)
			continue;
		const uint64_t numbers[] = {
		    KEY_VERSION, cell->variant->kind, cell->task->repeat.timeout_ns};
		uint64_t hash = tp_hash_bytes(TEEPERF_HASH_START, numbers, sizeof(numbers));
		tp_buf_init(&events);
		hash = tp_hash_string(hash, tp_plan_events(&experiment->plan, &events));
		tp_buf_release(&events);
		static const enum tp_cmdline_what lines[] = {
		    TP_CMDLINE_PROGRAM, TP_CMDLINE_PRE_RUN, TP_CMDLINE_POST_RUN};
		for (size_t j = 0; j < sizeof(lines) / sizeof(lines[0]) && !code; j++)
			code = hash_line(experiment, cell, lines[j], &hash, err);
		if (!code)
			code = hash_program(experiment, cell, &program, &hash, err);
		hash_named(experiment, &cell->variant->manifest, &manifest, &hash);
		cell->key = hash;
	}
	return code;
}

// ---- builds

static bool is_built(const char *folder, uint64_t key)
{
	char path[PATH_MAX + 16];
	uint64_t found = 0;
	snprintf(path, sizeof(path), "%s/.built", folder);
	FILE *file = fopen(path, "re");
	const bool read = file && fscanf(file, "%" SCNx64, &found) == 1;
	if (file)
		fclose(file);
	return read && found == key;
}

// Once for all sessions: two builds of one source may differ, and so would the measurements.
static int build(const struct tp_experiment *experiment, const struct tp_grid_cell *cell,
    const struct tp_experiment_watch *watch, struct tp_err *err)
{
	static struct file_hash list;
	const struct tp_variant *variant = cell->variant;
	char folder[PATH_MAX];
	char log[PATH_MAX + 16];
	uint64_t key = TEEPERF_HASH_START;
	int code = hash_line(experiment, cell, TP_CMDLINE_BUILD, &key, err);
	list.path[0] = 0;
	hash_named(experiment, &variant->allowlist, &list, &key);
	tp_cmdline_build_directory(experiment, variant, folder);
	if (code || is_built(folder, key))
		return code;
	snprintf(log, sizeof(log), "building variant '%s'", variant->name);
	watch->makes(watch->context, log);
	snprintf(log, sizeof(log), "%s/build.log", folder);
	code = tp_folder_remove(folder, err);
	if (!code)
		code = tp_folder_make(folder, err);
	struct tp_cmdline line = {0};
	const struct tp_cmdline_place place = {experiment, cell, NULL, folder};
	if (!code)
		code = tp_cmdline_make(&line, &place, TP_CMDLINE_BUILD, err);
	struct tp_measured ended = {0};
	const struct tp_execution what = {.argv = line.argv,
	    .variables = line.variables,
	    .cwd = line.cwd,
	    .output = log,
	    .errors = log};
	if (!code)
		code = tp_execute(&what, &ended, err);
	if (!code && ended.status)
		code = tp_err_set(err, TP_ERR_SYSTEM, log,
		    "building variant '%s' failed (%s); its output is in this file", variant->name,
		    ended.how ? ended.how : "");
	struct tp_out_file out;
	if (!code)
		code = tp_out_file_open_in(&out, folder, ".built", err);
	if (!code) {
		tp_buf_addf(&out.buf, "%016" PRIx64 "\n", key);
		code = tp_out_file_close(&out, err);
	}
	tp_measured_release(&ended);
	tp_cmdline_release(&line);
	return code;
}

static int build_all(const struct tp_experiment *experiment,
    const struct tp_experiment_watch *watch, struct tp_err *err)
{
	const struct tp_variant *built[TP_GRID_BUILDS_MOST] = {NULL};
	uint32_t count = 0;
	int code = 0;
	for (uint32_t i = 0; i < experiment->grid.cell_count && !code; i++) {
		const struct tp_grid_cell *cell = &experiment->grid.cells[i];
		bool known = cell->skipped || !cell->variant->build.executable.text;
		for (uint32_t j = 0; j < count; j++)
			known |= built[j] == cell->variant;
		if (known)
			continue;
		if (count == TP_GRID_BUILDS_MOST)
			return tp_plan_fail(&experiment->plan, cell->variant->place, err,
			    "more than %d variants are built", TP_GRID_BUILDS_MOST);
		built[count++] = cell->variant;
		code = build(experiment, cell, watch, err);
	}
	return code;
}

// ---- existing results

enum found { FOUND_NONE, FOUND_DONE, FOUND_OTHER };

static enum found find_result(
    const struct tp_experiment *experiment, const struct tp_run *run, enum tp_run_status *status)
{
	char folder[PATH_MAX];
	struct tp_measured measured = {0};
	struct tp_err err;
	enum found found = FOUND_NONE;
	if (tp_experiment_folder(experiment, run, folder, &err) == 0 &&
	    tp_measured_read(&measured, folder, &err) == 0)
		found = measured.key == experiment->grid.cells[run->cell].key ? FOUND_DONE
									      : FOUND_OTHER;
	*status = measured.status;
	tp_measured_release(&measured);
	return found;
}

// Set *WANTED to 1 for each run that is to be made.
static int find_wanted(struct tp_experiment *experiment, uint8_t *wanted, struct tp_err *err)
{
	const struct tp_grid *grid = &experiment->grid;
	const struct tp_grid_cell *first = NULL;
	uint32_t others = 0;
	experiment->done = experiment->left = experiment->not_done = 0;
	for (uint32_t i = 0; i < grid->run_count; i++) {
		enum tp_run_status status;
		const struct tp_grid_cell *cell = &grid->cells[grid->runs[i].cell];
		if (cell->skipped)
			continue;
		const enum found found = find_result(experiment, &grid->runs[i], &status);
		others += found == FOUND_OTHER;
		if (found == FOUND_OTHER && !first)
			first = cell;
		wanted[i] = found != FOUND_DONE || (status && experiment->options.retry);
		experiment->left += wanted[i];
		experiment->done += !wanted[i];
		experiment->not_done += !wanted[i] && status;
	}
	if (others && !experiment->options.replace)
		return tp_err_set(err, TP_ERR_LIMIT, experiment->output,
		    "%u result%s of other settings or another program (the first is of '%s'); "
		    "give --replace to repeat the changed experiments, or another folder with "
		    "--output",
		    others, others == 1 ? " is" : "s are", first->name);
	return 0;
}

// ---- running

static int run_step(const struct tp_experiment *experiment, const struct tp_cmdline_place *place,
    enum tp_cmdline_what what, struct tp_measured *to, bool *failed, struct tp_err *err)
{
	const char *name = what == TP_CMDLINE_PRE_RUN ? "pre_run" : "post_run";
	char log[PATH_MAX + 16];
	struct tp_cmdline line;
	struct tp_measured ended = {0};
	snprintf(log, sizeof(log), "%s/%s.log", place->folder, name);
	int code = tp_cmdline_make(&line, place, what, err);
	const struct tp_execution execution = {.argv = line.argv,
	    .variables = line.variables,
	    .cwd = line.cwd,
	    .output = log,
	    .errors = log,
	    .timeout_ns = place->cell->task->repeat.timeout_ns};
	(void)experiment;
	if (!code && line.argv) {
		code = tp_execute(&execution, &ended, err);
		*failed = !code && ended.status;
		if (*failed)
			tp_measured_note(to, "%s failed: %s", name, ended.how ? ended.how : "");
	}
	tp_measured_release(&ended);
	tp_cmdline_release(&line);
	return code;
}

static void set_started(struct tp_measured *to)
{
	char text[32];
	const time_t now = time(NULL);
	struct tm parts;
	const size_t size =
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
	to->started = tp_arena_copy(&to->arena, text, size);
	to->failed |= !to->started;
}

// The program with what belongs before and behind it.
static int run_program(struct tp_experiment *experiment, const struct tp_cmdline_place *place,
    const struct tp_cmdline *line, struct tp_measured *to, struct tp_err *err)
{
	char output[PATH_MAX + 16];
	char errors[PATH_MAX + 16];
	bool failed = false;
	snprintf(output, sizeof(output), "%s/stdout", place->folder);
	snprintf(errors, sizeof(errors), "%s/stderr", place->folder);
	const struct tp_execution execution = {.argv = line->argv,
	    .variables = line->variables,
	    .cwd = line->cwd,
	    .output = output,
	    .errors = errors,
	    .timeout_ns = place->cell->task->repeat.timeout_ns,
	    .collectors = tp_collectors(experiment, place->cell, place->run, place->folder)};
	int code = run_step(experiment, place, TP_CMDLINE_PRE_RUN, to, &failed, err);
	if (!code && failed) {
		to->status = TP_RUN_FAILED;
		to->how = "not run, as pre_run failed";
		return 0;
	}
	if (!code)
		code = tp_execute(&execution, to, err);
	if (!code)
		tp_collect_rest(experiment, place->cell, place->run, place->folder, to);
	if (!code)
		code = run_step(experiment, place, TP_CMDLINE_POST_RUN, to, &failed, err);
	return code;
}

static int run_one(struct tp_experiment *experiment, const struct tp_run *run, uint32_t n,
    const struct tp_experiment_watch *watch, struct tp_err *err)
{
	const struct tp_grid_cell *cell = &experiment->grid.cells[run->cell];
	char folder[PATH_MAX];
	char output[PATH_MAX];
	struct tp_cmdline line = {0};
	struct tp_measured measured = {.key = cell->key};
	int code = tp_experiment_folder(experiment, run, folder, err);
	const struct tp_cmdline_place place = {experiment, cell, run, folder};
	if (!code)
		code = tp_folder_remove(folder, err);
	tp_cmdline_output_directory(&place, output);
	if (!code)
		code = tp_folder_make(output, err);
	if (!code)
		code = tp_cmdline_make(&line, &place, TP_CMDLINE_PROGRAM, err);
	if (!code) {
		watch->begins(watch->context, cell, run, n, experiment->left, line.argv);
		set_started(&measured);
		if (run->kind != TP_RUN_WARM_UP)
			measured.position = (uint64_t)(run - experiment->grid.runs) + 1;
		code = run_program(experiment, &place, &line, &measured, err);
	}
	if (!code && run->kind != TP_RUN_WARM_UP)
		code = tp_measured_write(&measured, folder, err);
	// A folder that nothing was put into says nothing.
	rmdir(output);
	if (!code && run->kind == TP_RUN_WARM_UP)
		code = tp_folder_remove(folder, err);
	if (!code) {
		watch->ends(watch->context, run, &measured);
		experiment->made += run->kind != TP_RUN_WARM_UP;
		experiment->not_done += run->kind != TP_RUN_WARM_UP && measured.status;
	}
	tp_cmdline_release(&line);
	tp_measured_release(&measured);
	return code;
}

// What comes before the first run of a cell in this session, when caches may be as the boot left
// them.
static int prepare_cell(struct tp_experiment *experiment, uint32_t at, uint32_t n,
    const struct tp_experiment_watch *watch, struct tp_err *err)
{
	const struct tp_grid_cell *cell = &experiment->grid.cells[at];
	const struct tp_run run = {at, 0, TP_RUN_WARM_UP};
	int code = 0;
	if (cell->variant->kind >= TP_VARIANT_GRAMINE_DIRECT) {
		char text[PATH_MAX];
		snprintf(text, sizeof(text), "making the manifest of '%s'", cell->name);
		watch->makes(watch->context, text);
		code = tp_gramine_make(experiment, cell, err);
	}
	for (uint64_t i = 0; i < cell->task->repeat.warm_up && !code; i++)
		code = run_one(experiment, &run, n, watch, err);
	return code;
}

static int run_wanted(struct tp_experiment *experiment, const uint8_t *wanted, bool *prepared,
    const struct tp_experiment_watch *watch, struct tp_err *err)
{
	int code = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < experiment->grid.run_count && !code; i++) {
		const struct tp_run *run = &experiment->grid.runs[i];
		if (!wanted[i])
			continue;
		n++;
		if (!prepared[run->cell])
			code = prepare_cell(experiment, run->cell, n, watch, err);
		prepared[run->cell] = true;
		if (!code)
			code = run_one(experiment, run, n, watch, err);
	}
	return code;
}

int tp_experiment_run(
    struct tp_experiment *experiment, const struct tp_experiment_watch *watch, struct tp_err *err)
{
	uint8_t *wanted = calloc(experiment->grid.run_count + 1, sizeof(*wanted));
	bool *prepared = calloc(experiment->grid.cell_count + 1, sizeof(*prepared));
	int code = wanted && prepared ? 0 : tp_err_memory(err, NULL);
	tp_signals_take();
	if (!code)
		code = build_all(experiment, watch, err);
	if (!code)
		code = set_keys(experiment, err);
	if (!code)
		code = find_wanted(experiment, wanted, err);
	if (!code)
		code = run_wanted(experiment, wanted, prepared, watch, err);
	tp_signals_restore();
	experiment->left -=
	    experiment->made < experiment->left ? experiment->made : experiment->left;
	free(wanted);
	free(prepared);
	return code;
}
