// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far an autotune is: which build of how many, and how long it may still take.
#include "stages.h"

#include <stdio.h>

// Of the recorder alone, and of the counts, in turn with native runs; of events for all; and two of the native program.
enum { SERIES_RUNS = 10, EVENT_RUNS = 3, FIRST_RUNS = 2 };

void tp_autotune_plan_progress(struct tp_autotune *tune)
{
	const struct tp_autotune_options *options = &tune->options;
	struct tp_autotune_progress *progress = &tune->progress;
	const bool counts = !options->from;
	const bool events = !tune->given_times && options->samples != TP_AUTOTUNE_PERF;
	// The last one makes the best list's build again if another one was tried behind it.
	progress->most_builds = 1 + counts + events + options->rounds + (options->rounds > 1);
	progress->most_runs = FIRST_RUNS + SERIES_RUNS + (counts ? SERIES_RUNS : 0) +
			      (events ? EVENT_RUNS : 0) + 2 * options->rounds * options->runs;
}

static double left_of(uint32_t done, uint32_t most, double ns)
{
	return done && most > done ? ns / done * (most - done) : 0;
}

char *tp_autotune_progress_text(
    const struct tp_autotune *tune, char text[TP_AUTOTUNE_PROGRESS_TEXT])
{
	const struct tp_autotune_progress *progress = &tune->progress;
	const double seconds =
	    (left_of(progress->builds, progress->most_builds, progress->build_ns) +
		left_of(progress->runs, progress->most_runs, progress->run_ns)) /
	    1e9;
	const int size = snprintf(text, TP_AUTOTUNE_PROGRESS_TEXT, "build %u of at most %u",
	    progress->builds + 1, progress->most_builds);
	char *end = text + size;
	const size_t room = TP_AUTOTUNE_PROGRESS_TEXT - (size_t)size;
	if (!progress->builds)
		return text;
	if (seconds < 90)
		snprintf(end, room, "; at most about %.0f s left", seconds);
	else if (seconds < 90 * 60)
		snprintf(end, room, "; at most about %.0f min left", seconds / 60);
	else
		snprintf(end, room, "; at most about %.1f h left", seconds / 3600);
	return text;
}
