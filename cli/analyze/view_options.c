// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What commands that show tables know of the terminal.
#include "view_options.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

uint32_t tp_terminal_width(void)
{
	struct winsize size;
	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return 80;
}

bool tp_terminal_color(void)
{
	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
}

bool tp_parse_limit(const char *text, uint64_t without, uint64_t *limit)
{
	char *end;
	*limit = without;
	if (!text)
		return true;
	*limit = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end;
}
