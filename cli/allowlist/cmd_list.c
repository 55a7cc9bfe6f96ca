// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf allowlist list: the lists that come with TeePerf.
#define _GNU_SOURCE
#include "cli/driver/list_file.h"

#include "allowlists/convert/text.h"
#include "common/clean.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv);

const struct tp_command tp_allowlist_list = {
    .name = "allowlist list",
    .summary = "show the lists that come with TeePerf",
    .usage = "",
    .operands = TP_OPERANDS_NONE,
    .description = "Print the name and purpose of each shipped list. "
		   "Wherever a command or the compiler takes\n"
		   "an allowlist, you can write shipped:NAME.\n",
    .examples = "  teeperf allowlist list\n"
		"  teeperf c++ --allowlist shipped:cxx-std -O2 -c app.cc\n",
    .run = run,
};

static int is_list(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');
	return dot && dot != entry->d_name && !strcmp(dot, ".allow");
}

// The first comment line of the list says what it is for; the licence does not count.
static int print_one(const char *file)
{
	char name[TP_DRIVER_PATH_SIZE];
	struct tp_err err;
	struct tp_buf text;
	tp_buf_init(&text);
	const size_t size = strlen(file) - strlen(".allow");
	snprintf(name, sizeof(name), "shipped:%.*s", (int)size, file);
	const int status = tp_list_file_read(name, &text, &err);
	if (status) {
		tp_buf_release(&text);
		return tp_command_fail(&err);
	}
	struct tp_lines lines;
	struct tp_span line;
	tp_lines_init(&lines, text.data, text.size);
	while (tp_lines_next(&lines, &line)) {
		if (!line.size || tp_span_starts(line, "# SPDX"))
			continue;
		struct tp_buf shown;
		tp_buf_init(&shown);
		tp_buf_addf_clean(&shown, "%-20s %.*s\n", name, (int)line.size - 2, line.text + 2);
		fputs(shown.data, stdout);
		tp_buf_release(&shown);
		break;
	}
	tp_buf_release(&text);
	return TP_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	int status;
	if (argc)
		return tp_options_usage("expected no '%s'", argv[0]);
	char folder[TP_DRIVER_PATH_SIZE];
	struct tp_err err;
	if (tp_shipped_folder(folder, &err))
		return tp_command_fail(&err);
	struct dirent **entries;
	const int count = scandir(folder, &entries, is_list, alphasort);
	if (count < 0) {
		tp_err_system(&err, errno, folder, "cannot read the folder of the shipped lists");
		return tp_command_fail(&err);
	}
	status = TP_EXIT_DONE;
	for (int i = 0; i < count; i++) {
		if (!status)
			status = print_one(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return status;
}
