// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs by their ids, and sets of them.
#include "store.h"

#include "fleet/run.h"
#include "common/hash.h"

#include <stdlib.h>
#include <string.h>

const char *const tp_serve_criteria[TP_SERVE_CRITERIA] = {
    "program", "build", "day", "host", "label", "run", "not"};

uint32_t tp_serve_runs_find(const struct tp_serve_runs *runs, const char *run_id)
{
	if (!runs->by_id.slots)
		return TP_SERVE_NONE;
	const uint32_t *slot = tp_index_first(&runs->by_id, tp_hash_text(run_id));
	while (*slot && strcmp(runs->items[*slot - 1].run_id, run_id) != 0)
		slot = tp_index_next(&runs->by_id, slot);
	return *slot ? *slot - 1 : TP_SERVE_NONE;
}

// ---- sets

static bool is_day(const char *text, size_t size)
{
	return size == 10 && strspn(text, "0123456789-") >= 10 && text[4] == '-' && text[7] == '-';
}

static bool fits(const struct tp_serve_run *run, const struct tp_serve_wish *wish)
{
	const char *value = wish->value;
	const char *dots;
	switch (wish->criterion) {
	case TP_SERVE_PROGRAM:
		return strcmp(run->program, value) == 0;
	case TP_SERVE_BUILD:
		return strcmp(run->build_id, value) == 0 || strcmp(run->git_revision, value) == 0;
	case TP_SERVE_DAY:
		dots = strstr(value, "..");
		return dots ? strncmp(run->day, value, 10) >= 0 && strcmp(run->day, dots + 2) <= 0
			    : strcmp(run->day, value) == 0;
	case TP_SERVE_HOST:
		return strcmp(run->host, value) == 0;
	case TP_SERVE_LABEL:
		return false; // those of all keys together: is_chosen
	default:
		return strcmp(run->run_id, value) == 0;
	}
}

static int check_wishes(const struct tp_serve_runs *runs, const struct tp_serve_wish *wishes,
    uint32_t count, struct tp_err *err)
{
	for (uint32_t i = 0; i < count; i++) {
		const char *value = wishes[i].value;
		const char *dots = strstr(value, "..");
		const size_t size = dots ? (size_t)(dots - value) : strlen(value);
		switch (wishes[i].criterion) {
		case TP_SERVE_DAY:
			if (!is_day(value, size) || (dots && !is_day(dots + 2, strlen(dots + 2))))
				return tp_err_set(err, TP_ERR_SYNTAX, NULL,
				    "'%s' is not a day such as 2026-11-26, or two with '..' "
				    "between them",
				    value);
			break;
		case TP_SERVE_LABEL:
			if (!strchr(value, '='))
				return tp_err_set(err, TP_ERR_SYNTAX, NULL,
				    "'%s' is not a label KEY=VALUE", value);
			break;
		case TP_SERVE_RUN:
		case TP_SERVE_NOT:
			if (tp_serve_runs_find(runs, value) == TP_SERVE_NONE)
				return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
				    "unknown run '%s': it may have expired", value);
			break;
		default:
			break;
		}
	}
	return 0;
}

static bool is_chosen(const struct tp_serve_run *run, const struct tp_serve_wish *wishes,
    uint32_t count, const char *const *labels, uint32_t label_count)
{
	bool asked[TP_SERVE_CRITERIA] = {false};
	bool met[TP_SERVE_CRITERIA] = {false};
	for (uint32_t i = 0; i < count; i++) {
		const enum tp_serve_criterion it = wishes[i].criterion;
		asked[it] = true;
		met[it] = met[it] || fits(run, &wishes[i]);
	}
	met[TP_SERVE_LABEL] = tp_fleet_fits_labels(run->labels, labels, label_count);
	bool any = false;
	bool all = true;
	for (int i = 0; i < TP_SERVE_RUN; i++) {
		any |= asked[i];
		all &= !asked[i] || met[i];
	}
	return !met[TP_SERVE_NOT] && (met[TP_SERVE_RUN] || (any ? all : !asked[TP_SERVE_RUN]));
}

int tp_serve_set_choose(struct tp_serve_set *set, const struct tp_serve_runs *runs,
    const struct tp_serve_wish *wishes, uint32_t count, struct tp_err *err)
{
	*set = (struct tp_serve_set){.hash = {TEEPERF_HASH_START, ~TEEPERF_HASH_START}};
	const int code = check_wishes(runs, wishes, count, err);
	if (code)
		return code;
	const char **labels = malloc((count + (size_t)1) * sizeof(*labels));
	uint32_t label_count = 0;
	set->items = malloc((runs->count + (size_t)1) * sizeof(*set->items));
	if (!set->items || !labels) {
		free(labels);
		return tp_err_memory(err, NULL);
	}
	for (uint32_t i = 0; i < count; i++)
		if (wishes[i].criterion == TP_SERVE_LABEL)
			labels[label_count++] = wishes[i].value;
	for (uint32_t i = 0; i < runs->count; i++) {
		if (!is_chosen(&runs->items[i], wishes, count, labels, label_count))
			continue;
		set->items[set->count++] = i;
		for (int j = 0; j < 2; j++)
			set->hash[j] = tp_hash_string(set->hash[j], runs->items[i].run_id);
	}
	free(labels);
	return 0;
}

void tp_serve_set_release(struct tp_serve_set *set)
{
	free(set->items);
	*set = (struct tp_serve_set){0};
}
