// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions `teeperf record --only LIST` and `teeperf ctl only`, `add` and `drop` mean.
#include "record.h"

#include "allowlists/language/reading.h"
#include "common/array.h"
#include "allowlists/inventory/inventory.h"
#include "common/process.h"
#include "common/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <teeperf/abi.h>

struct choice {
	uint64_t *hashes;
	uint32_t count;
	uint32_t capacity;
	bool failed;    /* no memory */
	bool listed;    /* `hashes` are functions that record; else those that do not */
	bool events;    /* ... and of these, those with events for each call */
	uint32_t seen;  /* functions in inventories */
	uint32_t finer; /* functions that the list would count or sample, but that are not */
};

// Whether nothing but the suffix follows that link-time optimisation adds to internal functions
// which it makes public: .llvm.N.
static bool is_public_suffix(const char *text)
{
	return !strncmp(text, ".llvm.", 6) && !text[6 + strspn(text + 6, "0123456789")];
}

// Of the name that the source has.
static uint64_t hash_of(const char *name)
{
	const char *end = name;
	while (*end && !is_public_suffix(end))
		end++;
	return teeperf_name_hash(name, (uint64_t)(end - name));
}

static void gather(struct choice *choice, const char *name)
{
	if (!TP_GROW(choice->hashes, choice->capacity, choice->count + UINT64_C(1))) {
		choice->failed = true;
		return;
	}
	choice->hashes[choice->count++] = hash_of(name);
}

static bool records(enum tp_category category)
{
	return category != TP_CATEGORY_SKIP && category != TP_CATEGORY_FORBID;
}

static bool has_events(const struct tp_inventory_function *function)
{
	return function->decision == TP_CATEGORY_ALLOW || function->decision == TP_CATEGORY_FORCE;
}

/*
 * Whether a function that was compiled as FUNCTION says is to record under VERDICT. Its code is
 * what it is: a list that only wants it counted does so to save what its events cost.
 */
static bool keeps(struct choice *choice, const struct tp_verdict *verdict,
    const struct tp_inventory_function *function)
{
	if (!records(verdict->category))
		return false;
	const bool wants_events =
	    verdict->category == TP_CATEGORY_ALLOW || verdict->category == TP_CATEGORY_FORCE;
	if (!has_events(function) || wants_events)
		return true;
	choice->finer++;
	return false;
}

static void decide_inventory(
    struct choice *choice, const struct tp_allowlist *list, const struct tp_inventory *inventory)
{
	for (uint32_t i = 0; i < inventory->function_count; i++) {
		const struct tp_inventory_function *function = &inventory->functions[i];
		if (!records(function->decision))
			continue;
		const struct tp_subject subject = tp_inventory_subject(function);
		const struct tp_verdict verdict = tp_allowlist_match(list, &subject);
		choice->seen++;
		if (choice->events && !has_events(function))
			continue;
		if (keeps(choice, &verdict, function) == choice->listed)
			// What link-time optimisation has renamed has the hash of its first name.
			gather(choice,
			    function->origin && tp_name_is_renamed(function->name, function->origin)
				? function->origin
				: function->name);
	}
}

// Functions that the list names, whether or not an inventory has them.
static void decide_named(
    struct choice *choice, const struct tp_allowlist *list, const struct tp_inventory *inventory)
{
	const uint32_t count = tp_allowlist_line_count(list);
	for (uint32_t i = 0; i < count; i++) {
		const struct tp_allowlist_line line = tp_allowlist_line(list, i);
		if (!line.exact || (inventory && tp_inventory_find(inventory, line.exact)))
			continue;
		const struct tp_subject subject = {.function = line.exact, .demangled = line.exact};
		const struct tp_verdict verdict = tp_allowlist_match(list, &subject);
		if (records(verdict.category) == choice->listed)
			gather(choice, line.exact);
	}
}

static bool has_globs(const struct tp_allowlist *list)
{
	for (uint32_t i = 0; i < tp_allowlist_line_count(list); i++)
		if (!tp_allowlist_line(list, i).exact)
			return true;
	return false;
}

static void sort(struct choice *choice)
{
	uint32_t kept = 0;
	if (!choice->count)
		return;
	qsort(choice->hashes, choice->count, sizeof(*choice->hashes), tp_compare_u64);
	for (uint32_t i = 0; i < choice->count; i++)
		if (!i || choice->hashes[i] != choice->hashes[kept - 1])
			choice->hashes[kept++] = choice->hashes[i];
	choice->count = kept;
}

// PROGRAM where execvp would find it, in `path`; false: nowhere.
static bool find_program(const char *program, char path[PATH_MAX])
{
	if (!strchr(program, '/'))
		return tp_find_program(program, path);
	snprintf(path, PATH_MAX, "%s", program);
	return access(path, R_OK) == 0;
}

// The inventories of MODULES, which must have them, and of PROGRAM, which may. 0: *has tells if
// any.
static int open_inventories(struct tp_inventory *inventory, const struct tp_option_list *modules,
    const char *program, bool *has, struct tp_err *err)
{
	char path[PATH_MAX];
	const char **paths = calloc(modules->count + 1, sizeof(*paths));
	if (!paths)
		return tp_err_memory(err, NULL);
	uint32_t count = 0;
	for (; count < modules->count; count++)
		paths[count] = modules->items[count];
	if (program && find_program(program, path))
		paths[count++] = path;
	*has = count != 0;
	int status = count ? tp_inventory_open(inventory, paths, count, err) : 0;
	if (status == TP_ERR_NOT_FOUND && count > modules->count) {
		// The program itself may have been stripped of its inventory.
		tp_inventory_release(inventory);
		*has = modules->count != 0;
		status = *has ? tp_inventory_open(inventory, paths, modules->count, err) : 0;
	}
	free(paths);
	return status;
}

static int choose(const struct tp_allowlist *list, const struct tp_option_list *modules,
    const char *program, struct choice *choice, struct tp_err *err)
{
	struct tp_inventory inventory = {0};
	bool has = false;
	const int status = open_inventories(&inventory, modules, program, &has, err);
	if (!status) {
		if (has)
			decide_inventory(choice, list, &inventory);
		else if (has_globs(list))
			tp_command_warn(
			    "'%s' %s, so only lines of '--only' that name one function exactly "
			    "(fun:NAME) are used%s",
			    program ? program : "the program", tp_edition.no_inventory,
			    tp_edition.get_inventory);
		decide_named(choice, list, has ? &inventory : NULL);
	}
	tp_inventory_release(&inventory);
	return status;
}

// What became of the choice. An exit code.
static int finish(struct choice *found, int status, const char *name, bool is_list,
    struct tp_region_only *only, struct tp_err *err)
{
	struct choice choice = *found;
	if (!status && choice.failed)
		status = tp_err_memory(err, NULL);
	if (!status && choice.listed && !choice.count)
		status = tp_err_set(err, TP_ERR_NOT_FOUND, name,
		    is_list
			? "the list selects none of the %u known instrumented functions: 'teeperf "
			  "allowlist check' says why"
			: "matches none of the %u known instrumented functions: 'teeperf "
			  "inventory' lists them; for a library that is loaded later, or was "
			  "stripped, give its file with '--module'",
		    choice.seen);
	if (status) {
		free(choice.hashes);
		return tp_command_fail(err);
	}
	if (choice.finer)
		tp_command_warn(
		    "%u function%s of the list %s to be counted or sampled, but compiled with "
		    "events for each call: left out; build with '--allowlist' for that",
		    choice.finer, tp_plural(choice.finer), tp_by_count(choice.finer, "is", "are"));
	sort(&choice);
	*only =
	    (struct tp_region_only){.kind = choice.listed ? TEEPERF_ONLY_LISTED : TEEPERF_ONLY_REST,
		.hashes = choice.hashes,
		.count = choice.count};
	return TP_EXIT_DONE;
}

int tp_record_only(const struct tp_option_list *lists, const struct tp_option_list *modules,
    const char *program, struct tp_region_only *only)
{
	struct tp_err err;
	struct tp_allowlist *list = NULL;
	if (tp_allowlist_load(&list, lists->items, lists->count, &err))
		return tp_command_fail(&err);
	struct choice choice = {.listed = !records(tp_allowlist_default(list).category)};
	const int status = choose(list, modules, program, &choice, &err);
	tp_allowlist_free(list);
	return finish(&choice, status, lists->items[0], true, only, &err);
}

int tp_record_measured(const struct tp_option_list *lists, const struct tp_option_list *modules,
    const char *program, struct tp_region_only *measured)
{
	static const char all[] = "default:allow\n";
	struct tp_err err;
	struct tp_allowlist *list = NULL;
	struct choice choice = {.listed = true, .events = true};
	const int wrong =
	    lists->count ? tp_allowlist_load(&list, lists->items, lists->count, &err)
			 : tp_allowlist_parse(&list, all, sizeof(all) - 1, "--calibrate", &err);
	if (wrong)
		return tp_command_fail(&err);
	int status = choose(list, modules, program, &choice, &err);
	if (!status && !choice.failed && !choice.count)
		status = tp_err_set(&err, TP_ERR_NOT_FOUND, program,
		    "has no inventory with functions that record events, so '--calibrate' does not "
		    "know which to leave out: build it with 'teeperf cc', and do not strip it");
	tp_allowlist_free(list);
	return finish(&choice, status, program, true, measured, &err);
}

// ---- of a program that runs

// Files that hold inventories, each once.
struct files {
	char **paths;
	struct stat *infos;
	uint32_t count;
	uint32_t path_room;
	uint32_t info_room;
};

static void release_files(struct files *files)
{
	for (uint32_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
	free(files->infos);
}

// Keep PATH if it holds an inventory; 0, or why it does not.
static int keep_file(struct files *files, const char *path, struct tp_err *err)
{
	struct tp_inventory inventory = {0};
	struct stat info;
	const bool there = !stat(path, &info);
	for (uint32_t i = 0; there && i < files->count; i++)
		if (files->infos[i].st_dev == info.st_dev && files->infos[i].st_ino == info.st_ino)
			return 0;
	const int status = tp_inventory_open(&inventory, &path, 1, err);
	tp_inventory_release(&inventory);
	if (status)
		return status;
	char *copy = strdup(path);
	if (!copy || !TP_GROW(files->paths, files->path_room, files->count + UINT64_C(1)) ||
	    !TP_GROW(files->infos, files->info_room, files->count + UINT64_C(1))) {
		free(copy);
		return tp_err_memory(err, NULL);
	}
	files->infos[files->count] = there ? info : (struct stat){0};
	files->paths[files->count++] = copy;
	return 0;
}

// The file that process PID knows as PATH, which may be in a container.
static int keep_mapped(struct files *files, pid_t pid, const char *path, struct tp_err *err)
{
	char below[PATH_MAX + 64];
	snprintf(below, sizeof(below), "/proc/%d/root%s", (int)pid, path);
	return keep_file(files, access(below, R_OK) ? path : below, err);
}

// The program, *has tells if it has an inventory, and each library that process PID has mapped to
// run its code. What has been replaced or removed meanwhile, or is no program, is as if it had
// none.
static int find_mapped(struct files *files, pid_t pid, bool *has, struct tp_err *err)
{
	char path[PATH_MAX + 128];
	char program[PATH_MAX];
	char last[PATH_MAX] = "";
	struct tp_err ignored;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	// By its own name, which an allowlist may compare (mod:).
	const ssize_t length = readlink(path, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	*has = (length > 0 && !keep_mapped(files, pid, program, &ignored)) ||
	       !keep_file(files, path, &ignored);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	int status = 0;
	while (maps && !status && fgets(path, sizeof(path), maps)) {
		char mode[8];
		int at = 0;
		path[strcspn(path, "\n")] = '\0';
		if (sscanf(path, "%*s %7s %*s %*s %*s %n", mode, &at) != 1 || !at ||
		    !strchr(mode, 'x') || path[at] != '/' || !strcmp(path + at, last) ||
		    !strcmp(path + at, program))
			continue;
		snprintf(last, sizeof(last), "%s", path + at);
		if (keep_mapped(files, pid, last, &ignored) == TP_ERR_MEMORY)
			status = tp_err_memory(err, NULL);
	}
	if (maps)
		fclose(maps);
	return status;
}

// By all inventories together, as 'record --only' does. What a pattern names is looked up; where
// the program's inventory is not known, a name is as good as a function.
static int choose_running(const struct tp_allowlist *list, bool is_file, const struct files *files,
    bool complete, struct choice *choice, struct tp_err *err)
{
	struct tp_inventory inventory = {0};
	const bool has = files->count != 0;
	const int status = has ? tp_inventory_open(&inventory, (const char *const *)files->paths,
				     files->count, err)
			       : 0;
	if (!status && has)
		decide_inventory(choice, list, &inventory);
	if (!status && !has && has_globs(list) && is_file)
		tp_command_warn(
		    "the program's inventory was not found, so only names without a glob are used: "
		    "give the program or library with '--module'");
	if (!status && (is_file || (!choice->count && !complete)))
		decide_named(choice, list, has ? &inventory : NULL);
	tp_inventory_release(&inventory);
	return status;
}

int tp_record_only_running(const char *pattern, bool is_file, const struct tp_option_list *modules,
    pid_t pid, struct tp_region_only *only)
{
	struct tp_err err;
	struct tp_allowlist *list = NULL;
	struct tp_buf text;
	tp_buf_init(&text);
	if (strchr(pattern, ':') && strchr(pattern, ':')[1] != ':')
		tp_buf_addf(&text, "%s\n", pattern);
	else
		tp_buf_addf(&text, "fun:%s\nname:%s\n", pattern, pattern);
	int status = is_file       ? tp_allowlist_load(&list, &pattern, 1, &err)
		     : text.failed ? tp_err_memory(&err, NULL)
				   : tp_allowlist_parse(&list, text.data, text.size, pattern, &err);
	tp_buf_release(&text);
	if (status)
		return tp_command_fail(&err);
	struct choice choice = {.listed = !records(tp_allowlist_default(list).category)};
	struct files files = {0};
	bool complete = false;
	for (uint32_t i = 0; !status && i < modules->count; i++) {
		status = keep_file(&files, modules->items[i], &err);
		if (status == TP_ERR_NOT_FOUND)
			status = tp_err_set(&err, TP_ERR_NOT_FOUND, modules->items[i],
			    "holds no inventory: it was not built by 'teeperf cc', or it was "
			    "stripped");
	}
	if (!status && pid)
		status = find_mapped(&files, pid, &complete, &err);
	if (!status)
		status = choose_running(list, is_file, &files, complete, &choice, &err);
	release_files(&files);
	tp_allowlist_free(list);
	return finish(&choice, status, pattern, is_file, only, &err);
}
