// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child of vfork runs on its parent's stack and in its memory: what it calls belongs to the calls
// of its parent, which goes on where the child began.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow.h"

KEEP void work(void)
{
	DONE;
}
KEEP void child(int n)
{
	work();
	if (n % 2)
		execl("/bin/true", "true", (char *)NULL);
	_exit(0);
}
KEEP void starts(int n)
{
	const pid_t pid = vfork();
	if (pid == 0)
		child(n);
	work();
	int status = 1;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		abort();
}
int main(void)
{
	for (int i = 0; i < 10; i++)
		starts(i);
	work();
	return 0;
}

// want: main 1
// want: main;starts 10
// want: main;starts;child 10
// want: main;starts;child;work 10
// want: main;starts;work 10
// want: main;work 1
