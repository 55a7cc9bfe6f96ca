// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options of the pass: given, or from the environment.
#include "pass.h"

#include <stdlib.h>
#include <string.h>

#include "pass/inventory/notes.h"

static const struct {
	const char *name, *variable;
} rows[TP_PASS_OPTIONS] = {
#define TP_CC_OPTION(id, name, reader, value, variable, ...) {name, variable},
#include "cli/driver/cc_options.def"
#undef TP_CC_OPTION
};

// The option if given, else the environment's value, else NULL; empty counts as not given.
static const char *setting(const char *const given[], enum tp_pass_option option)
{
	const char *value = given[option];
	if (!value || !*value)
		value = getenv(rows[option].variable);
	return value && *value ? value : NULL;
}

enum { CLOCK, EXITS, SHAPE, TAIL_CALLS, THREADS, CHOICES };

// The options that have one of a few words, the first of which is the default.
static const struct choice {
	enum tp_pass_option option;
	const char *words[5], *expected;
} choices[CHOICES] = {
    [CLOCK] = {TP_PASS_OPTION_clock, {"auto", "tsc", "soft"}, "auto, tsc or soft"},
    [EXITS] = {TP_PASS_OPTION_exits, {"timed", "untimed"}, "timed or untimed"},
    [SHAPE] = {TP_PASS_OPTION_shape, {"auto", "inline", "call", "dual"},
	"auto, inline, call or dual"},
    [TAIL_CALLS] = {TP_PASS_OPTION_tail_calls, {"auto", "call", "keep"}, "auto, call or keep"},
    [THREADS] = {TP_PASS_OPTION_threads, {"many", "one", "apart"}, "many, one or apart"},
};

// The number of the word that was chosen, or an error.
static int choose(const struct choice *choice, const char *const given[], struct tp_err *err)
{
	const char *value = setting(given, choice->option);
	if (!value)
		return 0;
	for (int i = 0; choice->words[i]; i++)
		if (!strcmp(value, choice->words[i]))
			return i;
	return tp_err_set(err, TP_ERR_SYNTAX, NULL,
	    "teeperf: invalid value '%s' for %s (-teeperf-%s): expected %s", value,
	    rows[choice->option].variable, rows[choice->option].name, choice->expected);
}

// Set pass->sample to what functions with events are to have.
static int choose_level(const char *value, struct tp_pass *pass, struct tp_err *err)
{
	static const char sample[] = "sample";
	pass->sample = 1;
	if (!value || !strcmp(value, "event"))
		return 0;
	pass->sample = 0;
	if (!strcmp(value, "count"))
		return 0;
	pass->sample = TP_SAMPLE_DEFAULT;
	if (!strcmp(value, sample))
		return 0;
	char *end = NULL;
	unsigned long number = 0;
	if (!strncmp(value, sample, strlen(sample)) && value[strlen(sample)] == '/')
		number = strtoul(value + strlen(sample) + 1, &end, 10);
	if (!end || *end || number == 0 || number > TP_SAMPLE_MAX)
		return tp_err_set(err, TP_ERR_SYNTAX, NULL,
		    "teeperf: invalid value '%s' for TEEPERF_LEVEL (-teeperf-level): expected "
		    "event, count, sample or sample/N, with N from 1 to %u",
		    value, TP_SAMPLE_MAX);
	pass->sample = (uint32_t)number;
	return 0;
}

// Load the lists named in `files`, with ':' between them.
static int load_allowlists(struct tp_pass *pass, const char *files, struct tp_err *err)
{
	const char *names[TP_PASS_ALLOWLISTS_MAX];
	uint32_t count = 0;
	char *copy = strdup(files);
	char *rest = copy;
	for (char *name; copy && (name = strsep(&rest, ":")) != NULL;) {
		if (!*name)
			continue;
		if (count == TP_PASS_ALLOWLISTS_MAX) {
			free(copy);
			return tp_err_set(err, TP_ERR_LIMIT, NULL,
			    "teeperf: more than %d allowlists; put them into one file",
			    TP_PASS_ALLOWLISTS_MAX);
		}
		names[count++] = name;
	}
	const int status = copy ? tp_allowlist_load(&pass->allowlist, names, count, err)
				: tp_err_memory(err, NULL);
	free(copy);
	return status;
}

// The lists as they are read: a comment or another name changes nothing.
static uint64_t hash_lists(const struct tp_allowlist *list)
{
	const struct tp_verdict otherwise = tp_allowlist_default(list);
	const uint32_t standard[] = {otherwise.category, otherwise.sample};
	uint64_t hash = tp_note_hash((const char *)standard, sizeof(standard));
	for (uint32_t i = 0; i < tp_allowlist_line_count(list); i++) {
		const struct tp_allowlist_line line = tp_allowlist_line(list, i);
		hash = hash * 31 + tp_note_hash(line.text, strlen(line.text));
	}
	return hash;
}

int tp_pass_init(struct tp_pass *pass, const char *const given[TP_PASS_OPTIONS], struct tp_err *err)
{
	int chosen[CHOICES];
	*pass = (struct tp_pass){0};
	for (int i = 0; i < CHOICES; i++)
		if ((chosen[i] = choose(&choices[i], given, err)) < 0)
			return chosen[i];
	const int level = choose_level(setting(given, TP_PASS_OPTION_level), pass, err);
	if (level < 0)
		return level;
	const char *inventory = setting(given, TP_PASS_OPTION_inventory);
	pass->inventory = !inventory || strcmp(inventory, "none") != 0;
	pass->inventory_folder = pass->inventory ? inventory : NULL;
	pass->module = setting(given, TP_PASS_OPTION_module);
	pass->switches = setting(given, TP_PASS_OPTION_switches);
	pass->clock = (enum teeperf_compiled_clock)chosen[CLOCK];
	pass->threads = (enum tp_threads)chosen[THREADS];
	pass->untimed_exits = chosen[EXITS] == 1;
	pass->shape = (enum tp_shape)chosen[SHAPE];
	pass->tail_calls = (enum tp_tail_calls)chosen[TAIL_CALLS];
	const char *files = setting(given, TP_PASS_OPTION_allowlist);
	const int code = files ? load_allowlists(pass, files, err) : 0;
	if (pass->allowlist)
		pass->lists_hash = hash_lists(pass->allowlist);
	return code;
}
