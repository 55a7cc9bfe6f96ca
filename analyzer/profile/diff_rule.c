// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fails a comparison.
#include "analyzer/profile/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
		    "'%s' is no rule such as self>+5%%, calls>+0, total>+1ms or parse_*:inclusive>+10%%",
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
