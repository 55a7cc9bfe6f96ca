// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An exception that nobody may let out ends the program: all that was called is in the trace, and
// what was open ends there.
#include <stdexcept>

#include "flow.h"

KEEP void work(void)
{
	DONE;
}
KEEP void throws(int n)
{
	work();
	if (n == 0)
		throw std::runtime_error("out");
	throws(n - 1);
	DONE;
}
KEEP void promises(int n) noexcept
{
	throws(n);
	DONE;
}
KEEP void outer(int n)
{
	work();
	promises(n);
	DONE;
}
int main()
{
	for (int i = 0; i < 1000; i++)
		work();
	outer(3);
	return 0;
}

// ends: 134
// says: open
// want: main 1
// want: main;outer 1
// want: main;outer;promises 1
// want: main;outer;promises;throws 1
// want: main;outer;promises;throws;throws 1
// want: main;outer;promises;throws;throws;throws 1
// want: main;outer;promises;throws;throws;throws;throws 1
// want: main;outer;promises;throws;throws;throws;throws;work 1
// want: main;outer;promises;throws;throws;throws;work 1
// want: main;outer;promises;throws;throws;work 1
// want: main;outer;promises;throws;work 1
// want: main;outer;work 1
// want: main;work 1000
