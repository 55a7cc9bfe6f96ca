// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options that choose among the runs of a fleet.
#include "filters.h"

#include <stdio.h>
#include <string.h>

static bool is_day(const char *text)
{
	return strlen(text) == 10 && strspn(text, "0123456789-") == 10 && text[4] == '-' &&
	       text[7] == '-';
}

int tp_fleet_filters_choose(struct tp_fleet_filters *filters, struct tp_fleet_chosen *chosen)
{
	*chosen = (struct tp_fleet_chosen){
	    .programs = filters->programs.items,
	    .program_count = filters->programs.count,
	    .builds = filters->builds.items,
	    .build_count = filters->builds.count,
	    .labels = filters->labels.items,
	    .label_count = filters->labels.count,
	};
	for (uint32_t i = 0; i < filters->labels.count; i++)
		if (strcspn(filters->labels.items[i], "=") == 0 ||
		    !strchr(filters->labels.items[i], '='))
			return tp_options_usage(
			    "--label: '%s' is not of the form KEY=VALUE, such as "
			    "environment=canary",
			    filters->labels.items[i]);
	if (!filters->day)
		return TP_EXIT_DONE;
	snprintf(filters->days, sizeof(filters->days), "%s", filters->day);
	char *dots = strstr(filters->days, "..");
	chosen->day_from = filters->days;
	chosen->day_to = dots ? dots + 2 : filters->days;
	if (dots)
		*dots = '\0';
	return is_day(chosen->day_from) && is_day(chosen->day_to)
		   ? TP_EXIT_DONE
		   : tp_options_usage(
			 "--day: '%s' is not a day such as 2026-11-26, or two with '..' between "
			 "them",
			 filters->day);
}
