// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queries over fleets that come with us.
#include "questions.h"

#include <string.h>

#define TP_QUESTION(name, sql) {name, sql},
const struct tp_fleet_question tp_fleet_questions[] = {
#include "fleet_questions.inc"
    {NULL, NULL},
};

const char *const tp_fleet_question_parameters[] = {
    "program", "function", "old", "new", "least", "most", "quantile", NULL};

const struct tp_fleet_question *tp_fleet_question_find(const char *name)
{
	for (const struct tp_fleet_question *each = tp_fleet_questions; each->name; each++)
		if (strcmp(each->name, name) == 0)
			return each;
	return NULL;
}
