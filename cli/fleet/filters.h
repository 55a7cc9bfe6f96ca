/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Options that choose among the runs of a fleet, for the commands that read one. */
#ifndef TP_FLEET_FILTERS_H
#define TP_FLEET_FILTERS_H

#include "fleet/questions/questions.h"
#include "cli/command/command.h"

/* Starts as {0}. */
struct tp_fleet_filters {
	const char *day;
	struct tp_option_list programs;
	struct tp_option_list builds;
	struct tp_option_list labels;
	char days[32]; /* the copy that is cut in two */
};

/* Rows of an option table. */
#define TP_FLEET_FILTERS(filters)                                                        \
	TP_OPT_STRING(0, "day", &(filters).day, "DAY",                                   \
	    "read only this day (UTC), such as 2026-11-26, or a range of days, such as " \
	    "2026-11-01..2026-11-26"),                                                   \
	    TP_OPT_LIST(0, "program", &(filters).programs, "NAME",                       \
		"read only this program's files; can be repeated"),                      \
	    TP_OPT_LIST(0, "build", &(filters).builds, "ID",                             \
		"only runs of this build: a build ID or git revision; can be repeated"), \
	    TP_OPT_LIST(0, "label", &(filters).labels, "KEY=VALUE",                      \
		"only runs with this label; with several keys, a label of each; can be repeated")

/* What they choose; FILTERS must outlive it. Returns an exit code: a wrong one is reported. */
int tp_fleet_filters_choose(struct tp_fleet_filters *filters, struct tp_fleet_chosen *chosen);

#endif
