// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that end deep in a stack, in each way there is. Handlers of atexit are called below what
// called exit.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow.h"

static const char *how;

KEEP void work(void)
{
	DONE;
}
KEEP void last(void)
{
	work();
}
KEEP void quick(void)
{
	work();
}
KEEP void ends(int n)
{
	if (n)
		ends(n - 1);
	else if (!strcmp(how, "exit"))
		exit(3);
	else if (!strcmp(how, "quick_exit"))
		quick_exit(4);
	else if (!strcmp(how, "_exit"))
		_exit(5);
	else
		abort();
	DONE;
}
int main(int argc, char **argv)
{
	how = argv[argc - 1];
	atexit(last);
	at_quick_exit(quick);
	work();
	ends(2);
	return 0;
}

// args: exit
// ends: 3
// says: open
// want: main 1
// want: main;ends 1
// want: main;ends;ends 1
// want: main;ends;ends;ends 1
// want: main;ends;ends;ends;last 1
// want: main;ends;ends;ends;last;work 1
// want: main;work 1
// args: quick_exit
// ends: 4
// says: open
// want: main 1
// want: main;ends 1
// want: main;ends;ends 1
// want: main;ends;ends;ends 1
// want: main;ends;ends;ends;quick 1
// want: main;ends;ends;ends;quick;work 1
// want: main;work 1
// args: _exit
// ends: 5
// says: open
// want: main 1
// want: main;ends 1
// want: main;ends;ends 1
// want: main;ends;ends;ends 1
// want: main;work 1
// args: abort
// ends: 134
// says: open
// want: main 1
// want: main;ends 1
// want: main;ends;ends 1
// want: main;ends;ends;ends 1
// want: main;work 1
