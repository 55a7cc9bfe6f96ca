// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A chosen list and the tables about it.
#include "write_chosen.h"

#include "cli/analyze/open_trace.h"
#include "cli/command/command.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Columns of the terminal that the tables go to, 0 if they go elsewhere.
static uint32_t width_of(int fd)
{
	struct winsize size;
	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

int tp_write_chosen(const struct tp_generated *generated, const char *output, bool json)
{
	const bool list_to_stdout = !output || strcmp(output, "-") == 0;
	struct tp_buf list;
	struct tp_buf tables;
	tp_buf_init(&list);
	tp_buf_init(&tables);
	tp_generated_add_list(generated, &list);
	if (json)
		tp_generated_add_json(generated, &tables);
	else
		tp_generated_add_tables(
		    generated, width_of(list_to_stdout ? STDERR_FILENO : STDOUT_FILENO), &tables);
	int status = tp_write_out(&list, output);
	if (!status && list_to_stdout && !tables.failed)
		fputs(tables.data, stderr);
	else if (!status)
		status = tp_write_out(&tables, NULL);
	tp_buf_release(&list);
	tp_buf_release(&tables);
	return status;
}
