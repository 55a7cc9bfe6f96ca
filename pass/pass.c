// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module driver: options, then the two stages over all functions.
#include "pass.h"

#include <stdlib.h>
#include <string.h>

#include "inventory_pass.h"
#include "llvm_compat.h"

// The option if given, else the environment's value, else NULL; empty counts as not given.
static const char *setting(const char *option, const char *variable)
{
	const char *value = option && *option ? option : getenv(variable);
	return value && *value ? value : NULL;
}

// The index of `value` in NULL-ended `words` (0 for NULL), or an error.
static int choose(const char *value, const char *variable, const char *const *words,
    const char *expected, struct tp_err *err)
{
	if (!value)
		return 0;
	for (int i = 0; words[i]; i++)
		if (!strcmp(value, words[i]))
			return i;
	return tp_err_set(err, TP_ERR_SYNTAX, NULL, TP_ERR_NO_OFFSET,
	    "teeperf: '%s' is no value for %s: expected %s", value, variable, expected);
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
		return tp_err_set(err, TP_ERR_SYNTAX, NULL, TP_ERR_NO_OFFSET,
		    "teeperf: '%s' is no value for TEEPERF_LEVEL (-teeperf-level): expected event, "
		    "count, sample or sample/N, N being 1 to %u",
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
			return tp_err_set(err, TP_ERR_LIMIT, NULL, TP_ERR_NO_OFFSET,
			    "teeperf: more than %d allowlists; put them into one file",
			    TP_PASS_ALLOWLISTS_MAX);
		}
		names[count++] = name;
	}
	const int status =
	    copy ? tp_allowlist_load(&pass->allowlist, names, count, err)
		 : tp_err_set(err, TP_ERR_MEMORY, NULL, TP_ERR_NO_OFFSET, "teeperf: out of memory");
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

int tp_pass_init(struct tp_pass *pass, const struct tp_pass_options *options, struct tp_err *err)
{
	static const char *const clocks[] = {"auto", "tsc", "soft", NULL};
	static const char *const exits[] = {"timed", "untimed", NULL};
	static const char *const shapes[] = {"inline", "call", NULL};
	static const char *const tails[] = {"call", "keep", NULL};
	static const char *const threads[] = {"many", "one", NULL};
	*pass = (struct tp_pass){0};
	const int clock = choose(setting(options->clock, "TEEPERF_CLOCK"),
	    "TEEPERF_CLOCK (-teeperf-clock)", clocks, "auto, tsc or soft", err);
	if (clock < 0)
		return clock;
	const int exit = choose(setting(options->exits, "TEEPERF_EXITS"),
	    "TEEPERF_EXITS (-teeperf-exits)", exits, "timed or untimed", err);
	if (exit < 0)
		return exit;
	const int level = choose_level(setting(options->level, "TEEPERF_LEVEL"), pass, err);
	if (level < 0)
		return level;
	const int shape = choose(setting(options->shape, "TEEPERF_SHAPE"),
	    "TEEPERF_SHAPE (-teeperf-shape)", shapes, "inline or call", err);
	if (shape < 0)
		return shape;
	const int tail = choose(setting(options->tail_calls, "TEEPERF_TAIL_CALLS"),
	    "TEEPERF_TAIL_CALLS (-teeperf-tail-calls)", tails, "call or keep", err);
	if (tail < 0)
		return tail;
	const int how_many = choose(setting(options->threads, "TEEPERF_THREADS"),
	    "TEEPERF_THREADS (-teeperf-threads)", threads, "many or one", err);
	if (how_many < 0)
		return how_many;
	const char *inventory = setting(options->inventory, "TEEPERF_INVENTORY");
	pass->inventory = !inventory || strcmp(inventory, "none") != 0;
	pass->inventory_folder = pass->inventory ? inventory : NULL;
	pass->module = setting(options->module, "TEEPERF_MODULE");
	pass->switches = setting(options->switches, "TEEPERF_SWITCHES");
	pass->clock = (enum teeperf_compiled_clock)clock;
	pass->one_thread = how_many == 1;
	pass->untimed_exits = exit == 1;
	pass->shape = (enum tp_shape)shape;
	pass->tail_calls = (enum tp_tail_calls)tail;
	const char *files = setting(options->allowlist, "TEEPERF_ALLOWLIST");
	const int code = files ? load_allowlists(pass, files, err) : 0;
	if (pass->allowlist)
		pass->lists_hash = hash_lists(pass->allowlist);
	return code;
}

bool tp_pass_is_tagged(LLVMModuleRef module)
{
	return LLVMGetModuleFlag(module, TP_FLAG_TAGGED, strlen(TP_FLAG_TAGGED)) != NULL;
}

static bool has_body(LLVMValueRef function)
{
	return !LLVMIsDeclaration(function) &&
	       LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage;
}

// How often calls of a function are recorded, by its decision; false if it gets no code of ours.
static bool is_target(
    const struct tp_pass *pass, LLVMValueRef function, uint32_t *sample, bool *watched)
{
	unsigned length;
	const char *decision = tp_select_decision(function, &length);
	const size_t prefix = strlen(TP_ATTRIBUTE_SAMPLE);
	*sample = 1;
	*watched = false;
	if (!has_body(function))
		return false;
	if (tp_select_is(function, TP_ATTRIBUTE_EVENT))
		return true;
	*sample = 0;
	if (tp_select_is(function, TP_ATTRIBUTE_COUNT))
		return true;
	if (tp_select_is(function, TP_ATTRIBUTE_SKIP)) {
		*watched = true;
		return tp_inject_catches(pass, function);
	}
	if (length <= prefix || memcmp(decision, TP_ATTRIBUTE_SAMPLE, prefix) != 0)
		return false;
	for (unsigned i = (unsigned)prefix; i < length; i++)
		*sample = *sample * 10 + (uint32_t)(decision[i] - '0');
	return *sample != 0;
}

// Those that are counted or sampled come first.
static struct tp_target *list_targets(struct tp_sequence *sequence, unsigned *counted)
{
	struct tp_target *targets = calloc(sequence->function_count + 1, sizeof(*targets));
	unsigned count = 0;
	for (int want = 1; targets && want >= 0; want--) {
		for (LLVMValueRef f = LLVMGetFirstFunction(sequence->module); f;
		     f = LLVMGetNextFunction(f)) {
			uint32_t sample;
			bool watched;
			if (!is_target(sequence->pass, f, &sample, &watched) ||
			    (sample != 1 && !watched) != (want == 1))
				continue;
			targets[count++] = tp_sequence_begin(sequence, f, sample, watched);
			sequence->has_records |= sample != 0;
		}
		if (want)
			*counted = count;
	}
	return targets;
}

static bool make_groups(struct tp_sequence *sequence, struct tp_count_group *groups,
    struct tp_target *targets, unsigned counted)
{
	for (unsigned at = 0; at < counted; at += TEEPERF_COUNTED_MAX) {
		const unsigned left = counted - at;
		if (!tp_count_group_init(groups++, sequence, &targets[at],
			left < TEEPERF_COUNTED_MAX ? left : TEEPERF_COUNTED_MAX))
			return false;
	}
	return true;
}

static bool instrument(struct tp_sequence *sequence)
{
	unsigned counted = 0;
	struct tp_target *targets = list_targets(sequence, &counted);
	struct tp_count_group *groups = calloc(counted / TEEPERF_COUNTED_MAX + 1, sizeof(*groups));
	const bool ok = targets && groups && make_groups(sequence, groups, targets, counted);
	for (unsigned i = 0; ok && i < sequence->function_count; i++) {
		tp_inject(sequence, &targets[i]);
		tp_select_set(targets[i].function, TP_ATTRIBUTE_DONE);
	}
	free(groups);
	free(targets);
	return ok;
}

bool tp_pass_instrument(const struct tp_pass *pass, LLVMModuleRef module)
{
	unsigned watched_count = 0;
	unsigned count = 0;
	// Decides again where a list looks at what optimisation has left.
	const bool has_notes = tp_inventory_emit(pass, module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		uint32_t sample;
		bool watched;
		if (is_target(pass, f, &sample, &watched)) {
			count += !watched;
			watched_count += watched;
		}
	}
	const char *refusal = tp_sequence_refuse(module);
	if (!count && !watched_count)
		return (!refusal && tp_border_mark(module)) || has_notes;
	if (refusal) {
		if (count)
			tp_llvm_error(module, refusal);
		return has_notes;
	}
	tp_mark_module(module);
	struct tp_sequence sequence;
	const bool ok = tp_sequence_init(&sequence, pass, module, count);
	sequence.function_count = count + watched_count;
	if (!ok || !instrument(&sequence))
		tp_llvm_error(module, "teeperf: out of memory");
	tp_sequence_finish(&sequence);
	// Outside of the functions' own records.
	tp_border_mark(module);
	return true;
}
