// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf check-release: refuse to ship what was built for profiling.
#include "analyzer/symbols/release_mark.h"
#include "cli/command/command.h"
#include "common/clean.h"
#include "common/units.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool quiet;

static const struct tp_option options[] = {
    TP_OPT_BOOL('q', "quiet", &quiet, "print nothing about files without a mark"),
    TP_OPT_END,
};

// Whether FILE may be released.
static bool check(const char *file)
{
	struct tp_release_mark mark;
	struct tp_err err;
	if (tp_release_mark_read(&mark, file, &err)) {
		tp_command_fail(&err);
		return false;
	}
	char name[PATH_MAX];
	tp_shown_name(name, file);
	tp_clean(mark.symbol, strlen(mark.symbol));
	if (mark.notes)
		printf("%s: made for profiling: %" PRIu64 " %s, the first at offset %" PRIu64 "\n",
		    name, mark.notes,
		    tp_by_count(mark.notes, "note of TeePerf", "notes of TeePerf"), mark.first);
	else if (mark.symbol[0])
		printf("%s: made for profiling: it has the symbol '%s', but no note\n", name,
		    mark.symbol);
	else if (!quiet)
		printf("%s: no mark in %" PRIu64 " bytes%s\n", name, mark.size,
		    mark.elf ? ""
			     : "; it is not an ELF file, so packed or encrypted contents were not "
			       "examined");
	if (mark.inventory)
		printf("%s: has the names and sources of all functions: an inventory of %" PRIu64
		       " bytes; 'strip -R .teeperf.inventory' removes it\n",
		    name, mark.inventory);
	return !mark.notes && !mark.symbol[0] && !mark.inventory;
}

static int run(int argc, char **argv)
{
	int status = TP_EXIT_DONE;
	if (!argc)
		return tp_options_usage("which files? Name those to be signed or shipped");
	for (int i = 0; i < argc; i++)
		if (!check(argv[i]))
			status = TP_EXIT_FAILED;
	if (status)
		tp_command_tell("not for release: build without the plugin and its runtime\n");
	return status;
}

const struct tp_command tp_cmd_check_release = {
    .name = "check-release",
    .summary = "fail if a file was built for profiling",
    .usage = "[options] FILE...",
    .description =
	"A recorded program shows its host when it runs which function, so a TEE must not be "
	"recorded\n"
	"in production. 'teeperf cc' and the runtime therefore leave a mark, an ELF note. Before "
	"you\n"
	"sign, use this command to search for the mark, and for symbols of instrumented code, in\n"
	"programs, libraries, objects, archives, and files that contain them unchanged, such as a\n"
	"signed trusted application or an image. Exits with 1 if it finds one, or if a file "
	"cannot\n"
	"be read.\n",
    .examples = "teeperf check-release enclave.so && sign enclave.so\n",
    .options = options,
    .run = run,
};
