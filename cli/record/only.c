// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which functions `teeperf record --only LIST` keeps.
#include "record.h"

#include "allowlists/language/reading.h"
#include "common/array.h"
#include "allowlists/inventory/inventory.h"
#include "common/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <teeperf/abi.h>

struct choice {
	uint64_t *hashes;
	uint32_t count;
	uint32_t capacity;
	bool failed;    /* no memory */
	bool listed;    /* what is gathered are functions that record; else those that do not */
	uint32_t seen;  /* functions in inventories */
	uint32_t finer; /* functions that the list would count or sample, but that are not */
};

// Whether nothing but the suffix follows that link-time optimisation adds to internal functions which it makes
// public: .llvm.N.
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

/*
 * Whether a function that was compiled as FUNCTION says is to record under VERDICT. Its code is what it
 * is: a list that only wants it counted does so to save what its events cost.
 */
static bool keeps(struct choice *choice, const struct tp_verdict *verdict,
    const struct tp_inventory_function *function)
{
	if (!records(verdict->category))
		return false;
	const bool wants_events =
	    verdict->category == TP_CATEGORY_ALLOW || verdict->category == TP_CATEGORY_FORCE;
	const bool has_events =
	    function->decision == TP_CATEGORY_ALLOW || function->decision == TP_CATEGORY_FORCE;
	if (!has_events || wants_events)
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

// The inventories of MODULES, which must have them, and of PROGRAM, which may. 0: *has tells if any.
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
			    "'%s' %s, so only lines of '--only' that name one function outright "
			    "(fun:NAME) count%s",
			    program ? program : "the program", tp_edition.no_inventory,
			    tp_edition.get_inventory);
		decide_named(choice, list, has ? &inventory : NULL);
	}
	tp_inventory_release(&inventory);
	return status;
}

int tp_record_only(const struct tp_option_list *lists, const struct tp_option_list *modules,
    const char *program, struct tp_region_only *only)
{
	struct tp_err err;
	struct tp_allowlist *list = NULL;
	if (tp_allowlist_load(&list, lists->items, lists->count, &err))
		return tp_command_fail(&err);
	struct choice choice = {.listed = !records(tp_allowlist_default(list).category)};
	int status = choose(list, modules, program, &choice, &err);
	tp_allowlist_free(list);
	if (!status && choice.failed)
		status = tp_err_memory(&err, NULL);
	if (!status && choice.listed && !choice.count)
		status = tp_err_set(&err, TP_ERR_NOT_FOUND, lists->items[0],
		    "none of the %u instrumented functions that are known is on the list: 'teeperf "
		    "allowlist check' says why",
		    choice.seen);
	if (status) {
		free(choice.hashes);
		return tp_command_fail(&err);
	}
	if (choice.finer)
		tp_command_warn(
		    "%u function%s of the list %s to be counted or sampled, but compiled with events for "
		    "each call: left out; build with '--allowlist' for that",
		    choice.finer, choice.finer == 1 ? "" : "s", choice.finer == 1 ? "is" : "are");
	sort(&choice);
	*only =
	    (struct tp_region_only){.kind = choice.listed ? TEEPERF_ONLY_LISTED : TEEPERF_ONLY_REST,
		.hashes = choice.hashes,
		.count = choice.count};
	return TP_EXIT_DONE;
}
